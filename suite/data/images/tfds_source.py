# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Access to TensorFlow Datasets: facts and encoded examples of a prepared data set.

TFDS and tfds_builders are slow to import, so they are imported when a function is called.

Black images in place of a data set that is not prepared, for a rehearsal of a run.

Numbers of images and classes are those that the row of the data set says of its published archive,
so that the costs of a run can be counted before anything is downloaded (`suite run --dry_run`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import difflib
import functools
import io
import os
import re
import types
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
import tensorflow as tf

from suite.compute import private_tensorflow
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import own_images

TIMELINE = "timeline/"  # Prefix of the names of data sets made of a user's own images.
_BATCH = 1024
_as_it_is = tf.autograph.experimental.do_not_convert
# Builders of prepared data sets: making one takes as long as reading a small data set. By name and
# folder, with what `_written` then returned.
_PREPARED: dict[tuple[str, str], tuple[Any, tuple[int, ...]]] = {}
# Images of a bucket (Lin et al., 2021), which the rows do not say; test images are as many at most.
_OF_CLEAR = {"clear10": 3300, "clear100": 10_000}
_BUCKET_0 = {"clear10": 700_000, "clear100": 3_600_000}  # Unlabelled ones.
_SIDES = {"cfsl_omniglot/images": 105, "nevis/cifar10": 32, "nevis/mnist": 28, "nevis/semeion": 16}
_SIDE, _SIDE_OF_CLEAR = 64, 224


@dataclasses.dataclass(frozen=True)
class LabelFacts:
  """The kind and number of a data set's labels; `key` is "label" or "labels"."""

  key: str
  kind: str
  num_classes: int


def label_facts(name: str, *, data_dir: str | None = None) -> LabelFacts:
  """The labels' kind and number, from the builder: the data need not be prepared."""
  return _label_facts(name, _builder(name, data_dir).info.features)


def label_names(name: str, *, data_dir: str | None = None) -> Sequence[str]:
  """The names of the classes, from the builder."""
  features = _builder(name, data_dir).info.features
  found = features[_label_facts(name, features).key]
  return list(getattr(found, "feature", found).names)


def is_known(name: str) -> bool:
  """Whether there is a builder of this name, variants such as "nevis/mnist_paper" included."""
  import tfds_builders  # pylint: disable=import-outside-toplevel
  return name.startswith(TIMELINE) or name in tfds_builders.names(variants=True)


def why_missing(name: str, *, data_dir: str | None = None) -> tuple[str, str]:
  """("", "") if the data set is prepared, else (the reason, the command that prepares it)."""
  import tfds_builders  # pylint: disable=import-outside-toplevel
  if not is_known(name):
    return "no builder yet", ""
  found = tfds_builders.status.inspect(name, data_dir)
  return ("", "") if found.state == tfds_builders.status.PREPARED else (found.reason, found.command)


def version(name: str, *, data_dir: str | None = None) -> str:
  """The builder's version, such as "1.0.0"; other versions have other examples."""
  return str(_builder(name, data_dir).version)


def num_examples(name: str, *, data_dir: str | None = None) -> dict[str, int]:
  """Number of examples by split, without reading them; {} if the data set is not prepared."""
  return {split: int(info.num_examples)
          for split, info in _builder(name, data_dir).info.splits.items()}


def metadata(name: str, *, data_dir: str | None = None) -> dict[str, Any]:
  """Metadata that the builder stored with the data set; {} if it is not prepared."""
  return dict(getattr(_builder(name, data_dir).info, "metadata", None) or {})


def folder(name: str, *, data_dir: str | None = None) -> str:
  """The directory in which the data set is, or would be, prepared."""
  return str(_builder(name, data_dir).data_dir)


def check_prepared(name: str, *, data_dir: str | None = None) -> None:
  """Raises FileNotFoundError with the next step unless the data set is prepared."""
  builder = _builder(name, data_dir)
  if not builder.info.splits:
    how = (f"suite data build {name}" if is_known(name) else
           f"python -c \"import tensorflow_datasets as t; t.load('{name}')\"")
    raise FileNotFoundError(f"Data set {name!r} is not prepared in {builder.data_dir_root}. "
                            f"Run: {how}")


class Slice(NamedTuple):
  """Examples first ... end - 1 of a split, in stored order."""

  split: str
  first: int
  end: int


def slices(name: str, split: Any, splits: Mapping[str, Any]) -> list[Slice]:
  """What a split in TFDS's syntax consists of.

  Args:
    name: of the data set, for messages.
    split: "train", "train[:80%]", "train+test", "all", or an object such as one of
      `tfds.even_splits`.
    splits: facts of the splits that the data set has, with `num_examples` and `shard_lengths`.

  Raises:
    ValueError: a split that is not there, cannot be read, is empty, or has an example twice.
  """
  if isinstance(split, str) and split in splits:
    found = [Slice(str(split), 0, splits[split].num_examples)]
  else:
    import tensorflow_datasets as tfds  # pylint: disable=import-outside-toplevel
    how = "Write one as 'train', 'train[:80%]', 'train[:50%]+test[50%:]', 'train+test' or 'all'."
    if not isinstance(split, (str, tfds.core.splits.AbstractSplit)):
      raise ValueError(f"The split of data set {name!r} is {split!r}; a set of images is of one "
                       f"split. {how}")
    try:
      absolute = tfds.core.ReadInstruction.from_spec(split).to_absolute(splits)
    except (ValueError, KeyError, TypeError, NotImplementedError) as error:
      asked = [part.split("[")[0].strip() for part in str(split).split("+")]
      unknown = [part for part in asked if part not in (*splits, "all")]
      if isinstance(split, str) and unknown:
        raise ValueError(f"Data set {name!r} has no split {unknown[0]!r}; it has "
                         f"{', '.join(sorted(splits))}. {how}") from error
      why = str(error).splitlines()[-1].rstrip(".")
      if "all" in asked:
        why = "'all' has no parts; write those of each split"
      raise ValueError(f"Data set {name!r} has the splits {', '.join(sorted(splits))}; "
                       f"{str(split)!r} of them cannot be read: {why}. {how}") from error
    found = [Slice(one.splitname, one.from_ or 0,
                   splits[one.splitname].num_examples if one.to is None else one.to)
             for one in absolute]
  ends: dict[str, int] = {}
  for one in sorted(found):
    if one.first < ends.get(one.split, 0):
      raise ValueError(f"The split {str(split)!r} of data set {name!r} has examples of "
                       f"{one.split!r} twice; each image is in a set once.")
    ends[one.split] = max(one.end, ends.get(one.split, 0))
  found = [one for one in found if one.end > one.first]
  if not found:
    raise ValueError(f"The split {str(split)!r} of data set {name!r} has no examples; it has "
                     f"{', '.join(f'{s} ({splits[s].num_examples})' for s in sorted(splits))}.")
  return found


def open_split(name: str, split: Any, *, data_dir: str | None = None) -> SplitSource:
  """A split of a prepared data set, in TFDS's syntax; see `slices`.

  Raises:
    FileNotFoundError: the data set is not prepared; it says the next step.
    ValueError: a split, or features, that cannot be read.
  """
  check_prepared(name, data_dir=data_dir)
  return _opened(_builder(name, data_dir), name, split)


def open_builder(builder: Any, split: Any) -> SplitSource:
  """A split of a TFDS builder, which has its data set prepared, or is a `tfds.ImageFolder`."""
  if not (hasattr(builder, "as_dataset") and hasattr(builder, "info")):
    raise ValueError(f"from_tfds was given {type(builder).__name__}; it takes the name of a "
                     "prepared data set, or a TFDS builder, such as tfds.ImageFolder('photos').")
  config = builder.builder_config
  name = f"{builder.name}/{config.name}" if config else builder.name
  if not builder.info.splits:
    raise FileNotFoundError(f"Data set {name!r} is not prepared in {builder.data_dir}. Call "
                            "builder.download_and_prepare() first.")
  return _opened(builder, name if _written(builder) else os.path.basename(
      os.path.abspath(builder.data_dir)), split)


def _opened(builder: Any, name: str, split: Any) -> SplitSource:
  splits = builder.info.splits
  if not {"image", "feature"} & set(builder.info.features):
    raise ValueError(f"Data set {name!r} has features {sorted(builder.info.features)}; needed is "
                     "`image`, or `feature`. Take suite.images.from_dataset of a data set that is "
                     "mapped to it.")
  found = slices(name, split, splits)
  # An object of TFDS is written as text, which names the set in records.
  return SplitSource(builder, name, str(split) if isinstance(split, str) else _text(found))


class SplitSource:
  """One split of a prepared data set; features `image`, `label` or `labels`, and optionally `id`.

  Attributes:
    name, split: "nevis/mnist" and "train".
    title: both, for messages.
    folder, version: where it is prepared, and the builder's version.
    size: N.
    num_bytes: of the encoded examples.
    kind: "single_label" or "multi_label".
    num_classes: C.
    class_names: C names; None where the data set has numbers only.
    is_own: whether images are decoded by `own_images`, since the data set is none of tfds_builders.
  """

  def __init__(self, builder: Any, name: str, split: str):
    self.builder, self.name, self.split = builder, name, split
    self.title = f"{name} {split}"
    self.folder, self.version = str(builder.data_dir), str(builder.version)
    splits = builder.info.splits
    self._slices = slices(name, split, splits)
    self.size = sum(one.end - one.first for one in self._slices)
    self.num_bytes = 0
    for one in self._slices:
      whole = splits[one.split]
      self.num_bytes += whole.num_bytes * (one.end - one.first) // max(1, whole.num_examples)
    facts = _label_facts(name, builder.info.features)
    self.kind, self.num_classes, self._label_key = facts.kind, facts.num_classes, facts.key
    feature = builder.info.features[facts.key]
    self.class_names = class_lists.known(
        getattr(_list_feature(feature) or feature, "names", None))
    self.has_id = "id" in builder.info.features
    self.is_own = "image" in builder.info.features and not is_known(name)

  def part(self, edges: str) -> SplitSource:
    """The examples "FIRST:END" of this split, in stored order; "" is its first or last."""
    low, _, high = edges.partition(":")
    first, end = int(low or 0), int(high or self.size)
    found, start = [], 0  # `start`: the place of a slice's first example in this split.
    for one in self._slices:
      here = Slice(one.split, one.first + max(0, first - start),
                   min(one.end, one.first + end - start))
      found += [here] if here.end > here.first else []
      start += one.end - one.first
    return SplitSource(self.builder, self.name, _text(found))

  @property
  def is_stand_in(self) -> bool:
    """Whether black images stand for those of the data set, with the feature "image" alone."""
    return isinstance(self.builder, StandInBuilder) and "image" in self.builder.info.features

  @property
  def decoders(self) -> dict[str, Any]:
    """The TFDS decoders that leave images encoded."""
    import tensorflow_datasets as tfds  # pylint: disable=import-outside-toplevel
    return {"image": tfds.decode.SkipDecoding()}

  def example(self, features: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """TFDS features -> {"image": encoded string, "label": [] or multi-hot [C], "id": string}."""
    label = features[self._label_key]
    if self.kind == tasks.SINGLE_LABEL:
      label = tf.cast(label, tf.int64)
    elif _list_feature(self.builder.info.features[self._label_key]) is not None:
      label = tf.cast(tf.math.bincount(tf.cast(label, tf.int32), minlength=self.num_classes,
                                       maxlength=self.num_classes, binary_output=True), tf.uint8)
    else:
      label = tf.cast(label, tf.uint8)
    name = features["id"] if self.has_id else tf.constant("")
    if name.dtype != tf.string:
      name = tf.as_string(name)
    return {"image": features["image"], "label": label, "id": name}

  def _normalized(self, example: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """The example with its image as `own_images` decodes it, where the data set is a user's own.

    What cannot be decoded stays, and is reported by its id where it is used.
    """
    if not self.is_own:
      return example

    def normalized(image: Any) -> bytes:
      try:
        return self._decoded(image, "an image")
      except ValueError:
        return image if isinstance(image, bytes) else b""

    image = tf.numpy_function(normalized, [example["image"]], tf.string, stateful=False)
    return {**example, "image": tf.ensure_shape(image, [])}

  def _decoded(self, image: Any, where: str) -> bytes:
    if not isinstance(image, bytes):  # Its feature is a Tensor of pixels.
      return own_images.png(own_images.pixels(image, where))
    if self.builder.info.features["image"].np_dtype != np.float32:
      return own_images.normalized(image, where)
    # TFDS stores the four bytes of a float32 as the colors of a pixel.
    colors = np.asarray(Image.open(io.BytesIO(image)).convert("RGBA"))
    return own_images.png(own_images.pixels(
        Image.fromarray(np.ascontiguousarray(colors).view("<f4")[..., 0]), where))

  @property
  def is_array_record(self) -> bool:
    """Whether the files are ArrayRecord's; else TensorFlow reads them."""
    file_format = getattr(self.builder.info, "file_format", None)
    return getattr(file_format, "value", "") == "array_record"

  @property
  def files(self) -> list[tuple[str, int, int]]:
    """(path, records to skip, records to take) of each file that has some of the examples."""
    if self.is_array_record:
      raise ValueError(
          f"{self.title!r} has {self.num_bytes / 1e9:.1f} GB in array_record files, which are read "
          "only if they fit into memory. Convert them to tfrecord, which is read as it is used: "
          "python -m tensorflow_datasets.scripts.convert_format --dataset_version_dir "
          f"{self.folder} --out_file_format tfrecord --out_dir DIR")
    return [(file.filename, file.skip, file.take)
            for file in self.builder.info.splits[self.split].file_instructions]

  def parse(self, serialized: tf.Tensor) -> dict[str, tf.Tensor]:
    """A record of a file -> what `example` returns."""
    return self._normalized(self._parsed(serialized))

  def _parsed(self, serialized: tf.Tensor) -> dict[str, tf.Tensor]:
    return self.example(self.builder.info.features.deserialize_example(
        serialized, decoders=self.decoders))

  @private_tensorflow.plain_data_functions()
  def examples(self) -> tf.data.Dataset:
    """All examples, in the order in which they are stored."""
    stored = self._stored()
    return stored if not self.is_own else stored.map(
        _as_it_is(self._normalized), num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)

  @private_tensorflow.plain_data_functions()
  def _stored(self) -> tf.data.Dataset:
    """As `examples`, with the bytes that are stored."""
    import tensorflow_datasets as tfds  # pylint: disable=import-outside-toplevel
    if self.is_array_record:  # `as_dataset` does not read these.
      from array_record.python import array_record_data_source
      stored = array_record_data_source.ArrayRecordDataSource(
          self.builder.info.splits[self.split].file_instructions)
      records = tf.data.Dataset.from_generator(
          lambda: (stored[i] for i in range(len(stored))),
          output_signature=tf.TensorSpec([], tf.string))
      return records.map(self._parsed, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    def read(split: str) -> tf.data.Dataset:
      return self.builder.as_dataset(
          split=split, decoders=self.decoders, shuffle_files=False,
          read_config=tfds.ReadConfig(interleave_cycle_length=1, try_autocache=False))

    dataset = None if isinstance(self.builder, tfds.ImageFolder) else read(self.split)
    if dataset is None:  # It has whole splits only.
      dataset = functools.reduce(tf.data.Dataset.concatenate, [
          read(one.split).skip(one.first).take(one.end - one.first) for one in self._slices])
    return dataset.map(
        _as_it_is(self.example), num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)

  def read(self) -> tuple[list[bytes], np.ndarray, list[str]]:
    """(encoded images, labels [N] or [N, C], ids) of the whole split.

    Where splits that are joined have ids in common, the ids begin with the splits' names.
    """
    encoded, labels, ids = (self.builder.read(self.split) if self.is_stand_in
                            else columns(self._stored()))
    if not self.has_id:
      ids = [str(i) for i in range(len(ids))]
    if self.is_own:
      encoded = [self._decoded(image, f"Image {one!r} of data set {self.title!r}")
                 for image, one in zip(encoded, ids)]
    if not self.has_id:
      return encoded, labels, ids
    if len({one.split for one in self._slices}) > 1 and len(set(ids)) < len(ids):
      names = [one.split for one in self._slices for _ in range(one.first, one.end)]
      ids = [f"{name}/{one}" for name, one in zip(names, ids)]
    return encoded, labels, ids


def _text(found: Sequence[Slice]) -> str:
  return "+".join(f"{one.split}[{one.first}:{one.end}]" for one in found)


def columns(examples: tf.data.Dataset) -> tuple[list[bytes], np.ndarray, list[str]]:
  """(encoded images, labels [N] or [N, C], ids) of a data set of examples."""
  encoded: list[bytes] = []
  labels: list[np.ndarray] = []
  ids: list[str] = []
  for batch in examples.batch(_BATCH).as_numpy_iterator():
    encoded.extend(batch["image"])
    labels.append(batch["label"])
    ids.extend(name.decode() for name in batch["id"])
  return encoded, np.concatenate(labels), ids


def _builder(name: str, data_dir: str | None) -> Any:
  import tensorflow_datasets as tfds  # pylint: disable=import-outside-toplevel

  import tfds_builders  # pylint: disable=import-outside-toplevel  # Registers "nevis/...".
  check_name(name)
  key = name, str(tfds_builders.status.data_directory(data_dir))
  if key in _PREPARED and _written(_PREPARED[key][0]) == _PREPARED[key][1]:
    return _PREPARED[key][0]
  try:
    builder = tfds.builder(name, data_dir=key[1])
  except ValueError as error:  # Its message lists a thousand names.
    if is_known(name):
      raise
    close = difflib.get_close_matches(name, [*tfds_builders.names(), *tfds.list_builders()], n=3)
    raise ValueError(
        f"There is no data set {name!r}, neither of TFDS nor prepared in {key[1]}."
        f"{' Did you mean ' + ', '.join(close) + '?' if close else ''} The suite's own are listed "
        "by: suite data list") from error
  if builder.info.splits and _written(builder):
    _PREPARED[key] = builder, _written(builder)
  rehearsed = rehearsal.current()
  if rehearsed is None or builder.info.splits:
    return builder
  title = name if "/" in name else f"{name}/{builder.builder_config.name}"
  rehearsed.missing[title] = why_missing(title, data_dir=data_dir)
  return of(name, builder) or builder


def check_name(name: str) -> None:
  """Refuses a name of TFDS's communities, "huggingface:mnist": their builders are downloaded code.

  "mnist:3.0.1" has a version.
  """
  if re.match(r"[\w-]+:[^\d*]", name):
    raise ValueError(f"Data set {name!r} has the builder of {name.partition(':')[0]!r}, whose code "
                     "TensorFlow Datasets would download and run. Prepare it yourself, and name "
                     "what is prepared.")


def _written(builder: Any) -> tuple[int, ...]:
  """Changes whenever the data set is prepared anew; () if it is not there."""
  try:
    facts = os.stat(os.path.join(builder.data_dir, "dataset_info.json"))
  except OSError:
    return ()
  return facts.st_ino, facts.st_mtime_ns, facts.st_size


def _label_facts(name: str, features: Any) -> LabelFacts:
  if "label" in features and hasattr(features["label"], "num_classes"):
    return LabelFacts("label", tasks.SINGLE_LABEL, features["label"].num_classes)
  if "labels" in features:
    listed = _list_feature(features["labels"])
    num_classes = listed.num_classes if listed else features["labels"].shape[0]
    return LabelFacts("labels", tasks.MULTI_LABEL, int(num_classes))
  raise ValueError(f"Data set {name!r} has features {sorted(features)}; needed is `label` (class) "
                   "or `labels` (a list of classes, or multi-hot).")


def _list_feature(feature: Any) -> Any:
  """The ClassLabel inside a sequence of class labels, else None."""
  inner = getattr(feature, "feature", None)
  return inner if hasattr(inner, "num_classes") else None


def of(name: str, builder: Any) -> StandInBuilder | None:
  """The stand-in of a data set; None if the numbers of its images are not known.

  Args:
    name: of the data set.
    builder: its TFDS builder, not prepared.
  """
  row = getattr(builder, "row", None)
  if row is None or "label" not in builder.info.features:
    return None
  clear = _OF_CLEAR.get(name.split("/")[0])
  counts: dict[str, int] = {}
  if clear is not None:
    counts = {split: clear for split in row.split_names if not split.endswith("bucket_00")}
    if "bucket_00" in row.split_names and not row.feature_size:
      counts["bucket_00"] = _BUCKET_0[name.split("/")[0]]
    if row.feature_size:
      counts = {split: num for split, num in counts.items() if not split.startswith("test_")}
  else:
    known: Mapping[str, int] = next(
        (layout.num_examples for layout in row.layouts if layout.num_examples), {})
    for source, num in known.items():
      for split, share in row.splits[source].items():
        counts[split] = counts.get(split, 0) + round(num * share)
  if not counts:
    return None
  title = name if "/" in name else f"{name}/{row.name}"
  side = _SIDE_OF_CLEAR if clear else _SIDES.get(title, _SIDE)
  return StandInBuilder(builder, row, counts, side, flags=clear is not None)


class _Splits(dict[str, Any]):
  """Facts of splits and, by "train[FIRST:END]" or "train+test", of their parts and sums."""

  def __missing__(self, split: str) -> Any:
    size = sum(one.end - one.first for one in slices("", split, self))
    return types.SimpleNamespace(num_examples=size)


class StandInBuilder:
  """A stand-in with the parts of a TFDS builder that `SplitSource` reads.

  Attributes:
    info: its features, and splits with numbers of examples.
  """

  def __init__(self, builder: Any, row: Any, counts: Mapping[str, int], side: int, flags: bool):
    self._features, self._row, self._flags = builder.info.features, row, flags
    self.data_dir, self.data_dir_root = builder.data_dir, builder.data_dir_root
    self.version, self._side = builder.version, side
    splits = _Splits({
        split: types.SimpleNamespace(num_examples=num, num_bytes=100 * num, shard_lengths=[num])
        for split, num in counts.items()})
    self.info = types.SimpleNamespace(splits=splits, features=self._features)

  def as_dataset(self, *, split: str, **options: Any) -> tf.data.Dataset:
    """The examples of a split, images encoded; their classes take turns."""
    del options
    parts = [self._columns(one) for one in slices(self._row.name, split, self.info.splits)]
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    places = columns.pop("place")
    if "image" in self._features:
      image, other = self._images()
      return tf.data.Dataset.from_tensor_slices({**columns, "image": places}).map(
          lambda one: {**one, "image": tf.where(one["image"] % 2 == 0, other, image)})
    feature = tf.zeros(self._features["feature"].shape)
    return tf.data.Dataset.from_tensor_slices(columns).map(lambda one: {**one, "feature": feature})

  def read(self, split: str) -> tuple[list[bytes], np.ndarray, list[str]]:
    """(encoded images, labels [N], ids) of a split, as `as_dataset` has them, in a moment."""
    parts = [self._columns(one) for one in slices(self._row.name, split, self.info.splits)]
    image, other = (one.numpy() for one in self._images())
    return ([other if place % 2 == 0 else image for part in parts for place in part["place"]],
            np.concatenate([part["label"] for part in parts]).astype(np.int64),
            [name for part in parts for name in part["id"].tolist()])

  def _images(self) -> list[tf.Tensor]:
    channels = self._features["image"].shape[-1] or self._row.channels
    # CLEAR's images are of many sizes: two keep them encoded in memory, as in a run.
    return [tf.io.encode_png(tf.zeros([side, self._side, channels], tf.uint8))
            for side in (self._side, self._side + self._flags)]

  def _columns(self, part: Slice) -> dict[str, np.ndarray]:
    """Values of all features but images of some examples, and their places in the split."""
    places = np.arange(part.first, part.end)
    low, high = 0, self._row.num_classes
    for layout in self._row.layouts:  # Where splits are by class, those of this split.
      sizes = layout.args.get("classes", layout.args.get("num_classes"))
      if isinstance(sizes, Mapping) and part.split in sizes:
        names = list(sizes)
        low = sum(sizes[one] for one in names[:names.index(part.split)])
        high = low + sizes[part.split]
        break
    columns: dict[str, Any] = {
        "place": places, "label": low + places % (high - low),
        "id": np.char.add(f"stand-in/{part.split}/", places.astype(str))}
    for key, feature in self._features.items():
      if key not in columns and key not in ("image", "feature"):
        dtype = feature.np_dtype if hasattr(feature, "np_dtype") else feature.dtype
        if not np.issubdtype(np.dtype(dtype), np.number) and np.dtype(dtype) != np.bool_:
          continue
        # Of the released splits of CLEAR: 3 of 10 images of each class are for testing.
        is_test = places // (high - low) % 10 < 3
        columns[key] = (is_test if key.startswith("iid_test_") else
                        np.zeros(len(places), np.dtype(dtype)))
    return columns
