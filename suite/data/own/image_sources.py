# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image sets of what a user has: arrays, a `tf.data.Dataset`, folders, tables, TFDS, Hugging Face.

All return an `image_set.ImageSet`, in memory. Pixels are 0..255: integers, or floats that are
rounded. Labels are class numbers 0..C-1, names of classes or one-hot rows, or for
kind="multi_label" multi-hot rows of 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
from typing import Any

from absl import logging
import numpy as np
from PIL import Image
import tensorflow as tf

from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import feature_set
from suite.data.images import file_damage
from suite.data.images import image_set
from suite.data.images import own_images
from suite.data.images import prepared_features
from suite.data.images import prepared_sets
from suite.data.images import tfds_source
from suite.data.own import image_folders
from suite.data.own import labeled_table
from suite.data.own import own_labels

_NAMES = (("image", "images", "img", "x", "pixel_values"),
          ("label", "labels", "target", "y", "fine_label"), ("id", "ids"))
_DARK = 16  # The digits of scikit-learn are 0..16.


class SplitSets(dict[str, Any]):
  """Image sets by the names of their splits ("train", "test") or periods ("2012", "2013").

  A value is an image set, or a `SplitSets` of a period.
  """

  def __init__(self, name: str, sets: Mapping[str, Any]):
    """`name`: of the source, for messages."""
    super().__init__(sets)
    self.name = name

  def __missing__(self, split: str) -> Any:
    raise KeyError(f"{self.name!r} has no set {split!r}; it has {', '.join(self)}.")

  def __getattr__(self, attribute: str) -> Any:
    if attribute.startswith("_"):  # copy and pickle look for these.
      raise AttributeError(attribute)
    raise AttributeError(
        f"{self.name!r} is not one image set but the sets {', '.join(self)}, and has no "
        f"{attribute!r}. Take one of them: sets[{next(iter(self), 'train')!r}].")


def from_arrays(images: Any, labels: Any, *, name: str = "mine", num_classes: int | None = None,
                kind: str = tasks.SINGLE_LABEL, ids: image_set.Ids = None,
                class_names: class_lists.ClassNames = None) -> image_set.ImageSet:
  """A set of images [N, H, W, C] or [N, H, W], C 1 or 3, and labels [N] or multi-hot [N, C].

  Args:
    images: pixels 0..255; or a list of images of several sizes, or of Pillow's.
    labels: class numbers, names of classes, or one-hot rows; see `own_labels`.
    name: for messages and records.
    num_classes: C; if not given, the number of `class_names`, else the largest label plus one.
    kind: "single_label" or "multi_label".
    ids: N different names; the numbers of the images if not given.
    class_names: C names in the order of the labels, by which sets are joined; None: by number.
  """
  reader = _Pixels(name)
  are_listed = isinstance(images, (list, tuple)) and (
      any(isinstance(one, Image.Image) for one in images)
      or len({np.shape(one) for one in images}) > 1)
  pixels: Any = ([_decoded(one, f"Image {i} of {name!r}", reader) for i, one in enumerate(images)]
                 if are_listed else reader.read(np.asarray(images)))
  reader.check()
  if labels is not None and len(labels) != len(pixels):
    raise ValueError(f"{name!r} has {len(pixels)} images and {len(labels)} labels; give as many of "
                     "each.")
  return _set(name, pixels, labels, ids, num_classes, kind, image_set.DEFAULT_MEMORY_LIMIT_BYTES,
              class_names)


def from_features(features: Any, labels: Any, *, name: str = "mine", num_classes: int | None = None,
                  kind: str = tasks.SINGLE_LABEL, ids: image_set.Ids = None,
                  class_names: class_lists.ClassNames = None) -> feature_set.FeatureSet:
  """A set of feature vectors [N, D] of any scale, for learners on `feature_set.Features(D)`.

  Other arguments as of `from_arrays`.
  """
  vectors = np.asarray(features)
  if vectors.ndim != 2 or vectors.dtype.kind not in "uif":
    raise ValueError(f"{name!r} has features of type {vectors.dtype} and shape "
                     f"{list(vectors.shape)}; expected numbers [N, D]. Images are for from_arrays.")
  read = own_labels.read(name, labels, kind, num_classes=num_classes, class_names=class_names)
  if len(read.values) != len(vectors):
    raise ValueError(f"{name!r} has {len(vectors)} feature vectors and {len(read.values)} labels; "
                     "give as many of each.")
  return feature_set.FeatureSet.from_arrays(
      name, vectors.astype(np.float32), read.values, kind=kind, ids=ids,
      num_classes=read.num_classes, class_names=read.class_names)


def with_features(images: image_set.ImageSet, folder: str | pathlib.Path, *,
                  split: str | None = None) -> feature_set.FeatureSet:
  """A set with the features that `suite data features` has written in place of its images.

  Args:
    images: the set, whose labels, names and ids stay.
    folder: the command's --out.
    split: of the folder; None: all of them, whose ids must be different.

  Raises:
    ValueError: images have no features, or have changed since; the message names one.
  """
  return prepared_features.of(images, prepared_features.Folder(str(folder)), split)


def from_dataset(dataset: tf.data.Dataset, *, name: str = "mine", num_classes: int | None = None,
                 kind: str = tasks.SINGLE_LABEL, class_names: class_lists.ClassNames = None,
                 memory_limit_bytes: int = image_set.DEFAULT_MEMORY_LIMIT_BYTES
                 ) -> image_set.ImageSet:
  """A set of a finite data set of (image, label) or {"image", "label", "id"}, batched or not.

  Images are pixels, or the bytes of files, which are decoded as `own_images` says; those of several
  sizes are kept as PNG. Arguments as of `from_arrays`; `class_names` are those of
  Keras's `image_dataset_from_directory`, if it made the data set and they are not given;
  `memory_limit_bytes`: size of all pixels above which the data set is refused, since it may have no
  end.
  """
  if not isinstance(dataset, tf.data.Dataset):
    raise ValueError(f"{name!r} was given {image_set.told(dataset)}; from_dataset takes a "
                     "tf.data.Dataset, such as tf.keras.utils.image_dataset_from_directory makes. "
                     "Arrays are for from_arrays, a Hugging Face set or rows for from_huggingface.")
  if int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY:
    raise ValueError(f"{name!r} is an endless data set; leave out .repeat(), or .take(n) of it.")
  images: list[np.ndarray] = []
  labels: list[np.ndarray] = []
  ids: list[str] = []
  size, reader = 0, _Pixels(name)
  if class_names is None:
    class_names = getattr(dataset, "class_names", None)  # An attribute that Keras adds.
  for image, label, example_id in _examples(dataset, name, reader, class_names is not None):
    images.append(image)
    labels.append(label)
    ids += [] if example_id is None else [example_id]
    size += image.nbytes
    if size > memory_limit_bytes:
      raise ValueError(
          f"{name!r} has not ended after {len(images)} images of {size / 1e9:.1f} GB. If it "
          "repeats, leave .repeat() out. Else raise memory_limit_bytes, or write it as a TFDS data "
          "set and use from_tfds, which reads large ones from disk.")
  if not images:
    raise ValueError(f"{name!r} is an empty data set; give one that has examples. (A data set made "
                     "from an iterator is empty when it is read again.)")
  reader.check()
  return _set(name, images, labels, ids or None, num_classes, kind, memory_limit_bytes, class_names)


def from_directory(directory: str | pathlib.Path, *, name: str | None = None,
                   classes: Sequence[str] | None = None) -> image_set.ImageSet:
  """A set of a folder with a folder of images for each class: DIR/CLASS/**/IMAGE.

  What `image_folders` says is left out, reported or refused. A file that is empty, cut off or no
  image is refused, too.

  Files have one of `own_images.ENDINGS`, and are decoded as `own_images` says.

  Args:
    directory: DIR.
    name: the directory's if not given.
    classes: names of the class folders in the order of their labels; sorted if not given.
  """
  root = pathlib.Path(directory).expanduser()
  folder = image_folders.read(root, classes)
  contents = [file.path.read_bytes() for file in folder.files]
  file_damage.check(
      str(root), zip((file.id for file in folder.files), contents),
      f"Replace or remove them. All images are decoded by: suite data check {root}")
  image_folders.warn_of_copies(str(root), [file.id for file in folder.files],
                               [file.label for file in folder.files], list(map(len, contents)),
                               contents.__getitem__)
  contents = [own_images.normalized(data, str(file.path))
              for file, data in zip(folder.files, contents)]
  return image_set.ImageSet.from_encoded(
      name or image_folders.safe(root.name), contents, [file.label for file in folder.files],
      kind=tasks.SINGLE_LABEL, num_classes=len(folder.class_names), class_names=folder.class_names,
      ids=[file.id for file in folder.files])


def from_csv(table: Any, *, split: str | None = None, by: str | None = None,
             images: str | pathlib.Path | None = None,
             columns: Mapping[str, str | None] | None = None, name: str | None = None,
             class_names: class_lists.ClassNames = None, labels: labeled_table.LabelsAs = "names",
             kind: str | None = None, separator: str | None = None
             ) -> image_set.ImageSet | SplitSets:
  """A set of the images that a table names, with the columns `path` and `label`.

      images = suite.images.from_csv("photos.csv")
      buckets = suite.buckets.of(suite.images.from_csv("photos.csv", by="year"))

  Args:
    table: a .csv (with commas, semicolons or tabs), .tsv or .parquet, or a pandas DataFrame; see
      `labeled_table`.
    split: of a table with a column `split`, the only one to read.
    by: "year" or "month": a set for each of these, by the column `time`.
    images: the folder that paths are relative to; that of the table (of a frame: the current one)
      if not given.
    columns: other names of the columns, {"label": "species"}; {"split": None}: there is none.
    name: of the set; the table's if not given.
    class_names: names of the classes in the order of their numbers; the sorted names if not given.
    labels: "names" of classes, of which numbers are sorted by value, or class "numbers" from 0.
    kind, separator: see `labeled_table.LabelForm`.

  Returns:
    The set; of a table with splits, or by a period, a dictionary of sets.
  """
  unknown = sorted(set(columns or {}) - {"path", "label", "split", "time"})
  if unknown:
    raise ValueError(f"columns has {unknown[0]!r}; it may name path, label, split and time.")
  asked: dict[str, Any] = dict(columns or {})
  found = labeled_table.read(table, images, labeled_table.Columns(**asked), by,
                             labeled_table.LabelForm(labels, kind, separator, class_names))
  title = name or found.name
  kind, named, given = kind or tasks.SINGLE_LABEL, found.class_names, found.labels
  if kind == tasks.MULTI_LABEL and any(isinstance(one, int) for row in given for one in row):
    given = own_labels.multi_hot(given, len(named) if named else None)
  read = own_labels.read(title, given, kind, class_names=named)
  contents = [one if isinstance(one, bytes) else one.read_bytes() for one in found.files]
  file_damage.check(found.title, zip(found.ids, contents),
                    "Replace them, or leave their rows out.")
  image_folders.warn_of_copies(found.title, found.ids, list(map(str, given)),
                               list(map(len, contents)), contents.__getitem__)
  contents = [own_images.normalized(data, f"Image {one!r} of {found.title}")
              for one, data in zip(found.ids, contents)]
  whole = image_set.ImageSet.from_encoded(
      title, contents, read.values, kind=kind, num_classes=read.num_classes,
      class_names=read.class_names, ids=found.ids)
  splits, periods = np.array(found.splits or ()), np.array(found.periods or ())
  if split is not None:
    wanted, = labeled_table.our_names(title, [split]).values()
    if wanted not in splits:
      has = ", ".join(dict.fromkeys(found.splits or ())) or "none, as there is no column 'split'"
      raise ValueError(f"{found.title} has no split {split!r}; it has {has}.")

  def chosen(rows: np.ndarray, title: str) -> image_set.ImageSet:
    one = whole.subset(rows)
    one.name = title
    return one

  def by_split(rows: np.ndarray, title: str) -> image_set.ImageSet | SplitSets:
    if found.splits is None or split is not None:
      return chosen(rows, title)
    return SplitSets(title, {
        one: chosen(rows[splits[rows] == one], f"{title} {one}")
        for one in dict.fromkeys(splits[rows].tolist())})

  rows = np.arange(whole.size) if split is None else np.flatnonzero(splits == wanted)
  if found.periods is None:
    return by_split(rows, title if split is None else f"{title} {wanted}")
  return SplitSets(title, {
      str(one): by_split(rows[periods[rows] == one], f"{title} {one}")
      for one in np.unique(periods[rows])})


def from_tfds(name: Any, split: Any = "train", *, data_dir: str | None = None
              ) -> image_set.ImageSet | prepared_sets.StreamedSet:
  """A split of any prepared TensorFlow data set with `image` and `label` or `labels`.

  Args:
    name: "mnist", "nevis/mnist", ...; it is not downloaded. Or a builder, such as
      `tfds.ImageFolder("photos")`.
    split: in TFDS's syntax: "train", "train[:80%]", "train+test", "all", one of `tfds.even_splits`.
    data_dir: of TFDS; for a name only.
  """
  if not isinstance(name, str):
    if data_dir is not None:
      raise ValueError(f"data_dir={data_dir!r} is for a name; leave it out with a builder.")
    return prepared_sets.read_source(tfds_source.open_builder(name, split))
  return prepared_sets.read(name, split, data_dir=data_dir)


def from_huggingface(dataset: Any, *, split: str | None = None, image: str = "image",
                     label: str = "label", name: str = "mine", num_classes: int | None = None,
                     kind: str = tasks.SINGLE_LABEL, class_names: class_lists.ClassNames = None
                     ) -> image_set.ImageSet | SplitSets:
  """A set of a Hugging Face `datasets.Dataset`, or of any sequence of dictionaries.

  Args:
    dataset: rows {image: PIL image, a file's bytes, path or {"bytes", "path"}, or array, label:
      class number or name}; images and files are decoded as `own_images` says. Of a `DatasetDict`,
      or another mapping of splits to rows, all splits are read.
    split: of a `DatasetDict`, the only one to read.
    image, label: names of its columns.
    name: as of `from_arrays`.
    kind: as of `from_arrays`; a sequence of ClassLabel is "multi_label".
    num_classes: C; that of the ClassLabel feature if not given, else the largest label plus one.
    class_names: C names in the order of the labels; those of the ClassLabel feature if not given.

  Returns:
    The set; of several splits a dictionary of sets, whose keys are "train", "dev", "validation" and
    "test", whatever the source calls them, and other names.
  """
  if isinstance(dataset, Mapping) and image in dataset and label in dataset:  # ds[:100]: columns.
    dataset = [{image: one, label: c} for one, c in zip(dataset[image], dataset[label])]

  def read(rows: Any, title: str) -> image_set.ImageSet:
    return _of_rows(rows, image, label, title, num_classes, kind, class_names)

  if isinstance(dataset, str):
    raise ValueError(f"from_huggingface was given the text {dataset!r}; it takes the data set: "
                     f"datasets.load_dataset({dataset!r}, split='train').")
  if isinstance(dataset, Mapping) and not dataset:
    raise ValueError(f"{name!r} has no splits; give a DatasetDict that has some.")
  if not isinstance(dataset, Mapping):
    if split is not None:
      raise ValueError(f"split={split!r} is for a DatasetDict, and {name!r} is one "
                       f"{type(dataset).__name__} without splits. Leave split out.")
    return read(dataset, name)
  if split is None:
    ours = labeled_table.our_names(name, list(map(str, dataset)))
    return SplitSets(name, {
        ours[str(one)]: read(rows, f"{name} {ours[str(one)]}") for one, rows in dataset.items()})
  if split not in dataset:
    raise ValueError(f"{name!r} has no split {split!r}; it has {', '.join(map(str, dataset))}.")
  return read(dataset[split], name)


def _of_rows(rows: Any, image: str, label: str, name: str, num_classes: int | None, kind: str,
             class_names: class_lists.ClassNames) -> image_set.ImageSet:
  images: list[np.ndarray] = []
  labels: list[np.ndarray] = []
  reader = _Pixels(name)
  for row in rows:
    if not isinstance(row, Mapping):
      raise ValueError(
          f"{name!r} has rows of type {type(row).__name__}; expected dictionaries with {image!r} "
          f"and {label!r}. Of pairs make them so: [{{{image!r}: x, {label!r}: y}} for x, y in "
          "rows]; of a pandas frame by frame.to_dict('records').")
    missing = [column for column in (image, label) if column not in row]
    if missing:
      raise ValueError(f"{name!r} has no column {missing[0]!r}; it has {', '.join(map(str, row))}. "
                       "Give image= and label=.")
    images.append(_decoded(row[image], f"Image {len(images)} of {name!r}", reader))
    labels.append(np.asarray(row[label]))
  if not images:
    raise ValueError(f"{name!r} is an empty data set; give one that has examples.")
  reader.check()
  feature = (getattr(rows, "features", None) or {}).get(label)
  element = getattr(feature, "feature", None)  # The ClassLabel of a sequence of them.
  if class_names is None:
    class_names = class_lists.known(getattr(element or feature, "names", None))
  num_classes = num_classes or getattr(element or feature, "num_classes", None)
  values = labels if element is None else own_labels.multi_hot(labels, num_classes)
  return _set(name, images, values, None, num_classes,
              kind if element is None else tasks.MULTI_LABEL,
              image_set.DEFAULT_MEMORY_LIMIT_BYTES, class_names)


def _set(name: str, images: Any, labels: Any, ids: image_set.Ids, num_classes: int | None,
         kind: str, memory_limit_bytes: int, class_names: class_lists.ClassNames
         ) -> image_set.ImageSet:
  read = own_labels.read(name, labels, kind, num_classes=num_classes, class_names=class_names)
  joined = sorted(own_labels.joined(read.class_names or ()))
  if joined and class_names is None:
    logging.warning("%s has %d classes that look like several ones, such as %r. If they are, give "
                    "lists of names and kind='multi_label'.", name, len(joined), joined[0])
  facts: dict[str, Any] = dict(kind=kind, ids=ids, num_classes=read.num_classes,
                               class_names=read.class_names)
  if isinstance(images, np.ndarray) or len({image.shape for image in images}) == 1:
    return image_set.ImageSet.from_arrays(name, np.asarray(images), read.values, **facts)
  encoded = [tf.io.encode_png(image).numpy() for image in images]
  return image_set.ImageSet.from_encoded(name, encoded, read.values,
                                         memory_limit_bytes=memory_limit_bytes, **facts)


def _examples(dataset: tf.data.Dataset, name: str, reader: _Pixels, is_named: bool
              ) -> Iterator[tuple[np.ndarray, np.ndarray, str | None]]:
  """(image uint8 [H, W, C], label, id) of each example, batched or not."""
  for element in dataset.as_numpy_iterator():
    parts: Sequence[Any] = (None, None, None)
    if isinstance(element, Mapping):
      if "image/filename" in element and not is_named:
        raise ValueError(f"{name!r} is of a TFDS builder, such as tfds.ImageFolder, and a data set "
                         "lacks its class names. Give suite.images.from_tfds(builder, split), or "
                         "class_names=builder.info.features['label'].names.")
      parts = [next((element[key] for key in keys if key in element), None) for keys in _NAMES]
    elif isinstance(element, tuple) and len(element) == 2:
      parts = (*element, None)
    image, label, example_id = parts
    if image is None or label is None:
      got = (f"a dictionary of {', '.join(map(str, element))}" if isinstance(element, Mapping)
             else f"a tuple of {len(element)}" if isinstance(element, tuple) else "one tensor")
      raise ValueError(f"{name!r} has elements that are {got}; expected (image, label), or a "
                       "dictionary with 'image' and 'label'. Map it to that, labels included.")
    if isinstance(image, bytes):
      yield _decoded(image, f"An image of {name!r}", reader), np.asarray(label), _text(example_id)
      continue
    image = np.asarray(image)
    is_files = image.dtype == object and image.ndim == 1
    if image.ndim not in (3, 4) and not is_files:
      raise ValueError(f"{name!r} has images of shape {list(image.shape)}; expected [H, W, C], or "
                       "batches [B, H, W, C]. Add an axis of 1 to gray images: x[..., None].")
    if image.ndim == 3:
      yield reader.read(image[None])[0], np.asarray(label), _text(example_id)
      continue
    if np.shape(label)[:1] != image.shape[:1]:
      raise ValueError(f"{name!r} has a batch of {len(image)} images with labels of shape "
                       f"{list(np.shape(label))}; give a label for each image.")
    for i, pixels in enumerate(
        (_decoded(file, f"An image of {name!r}", reader) for file in image) if is_files
        else reader.read(image)):
      yield pixels, np.asarray(label[i]), None if example_id is None else _text(example_id[i])


def _decoded(image: Any, where: str, reader: _Pixels) -> np.ndarray:
  """uint8 [H, W, 1 or 3] of an image in a form that Hugging Face has."""
  if isinstance(image, (str, pathlib.PurePath)):
    image = {"path": image}
  if isinstance(image, Mapping) and image.get("bytes") is None and image.get("path"):
    where, image = f"{where}, {image['path']}", pathlib.Path(image["path"]).read_bytes()
  elif isinstance(image, Mapping):
    image = image.get("bytes")
  if not isinstance(image, (bytes, Image.Image)):
    image = np.asarray(image)
    is_coded = image.dtype == np.bool_ or (
        image.dtype == np.uint8 and image.ndim == 3 and image.shape[-1] in (2, 4))
    if not is_coded:  # A mask, or with alpha.
      return reader.read(image[None])[0]
  return reader.read(own_images.pixels(image, where)[None])[0]


def _text(value: Any) -> str | None:
  return value.decode() if isinstance(value, bytes) else None if value is None else str(value)


class _Pixels:
  """Reads the pixels of one set, image by image or in batches.

  Whether floats are 0..1 or 0..255 is seen over the whole set: a dark image has small ones, too.
  """

  def __init__(self, name: str):
    self._name = name
    self._highest, self._is_float = 0.0, False

  def read(self, images: np.ndarray) -> np.ndarray:
    """uint8 [N, H, W, C] of pixels 0..255."""
    if images.dtype == np.bool_:  # Masks: False is black, and True white.
      images = images.astype(np.uint8) * 255
    side = round(images.shape[1] ** 0.5) if images.ndim == 2 else 0
    if side > 1 and side * side == images.shape[1]:
      raise ValueError(f"{self._name!r} has images of shape {list(images.shape)}, a row each; give "
                       f"pixels [N, H, W]: images.reshape(-1, {side}, {side}), if they are square. "
                       "Features are for from_features.")
    if images.dtype.kind not in "uif" or images.ndim not in (3, 4) or not images.size:
      raise ValueError(f"{self._name!r} has images of type {images.dtype} and shape "
                       f"{list(images.shape)}; expected pixels 0..255, [N, H, W, 1 or 3], at least "
                       "one.")
    if images.ndim == 3:
      images = images[..., None]
    if images.shape[-1] not in (1, 3):
      hint = " images.transpose(0, 2, 3, 1)." if images.shape[1] in (1, 3) else (
          " images[..., :3] leaves out alpha." if images.shape[-1] == 4 else "")
      raise ValueError(f"{self._name!r} has images with {images.shape[-1]} channels; allowed are 1 "
                       f"and 3. Channels come last: [N, H, W, C].{hint}")
    low, high = float(images.min()), float(images.max())
    if np.isnan(low):
      raise ValueError(f"{self._name!r} has pixels that are NaN; fill them in, or leave these "
                       "images out.")
    if not (low >= 0 and high <= 255):
      raise ValueError(f"{self._name!r} has pixels from {low:g} to {high:g}; give them as 0..255, "
                       "and let the model scale them, for example by a Rescaling layer.")
    self._highest = max(self._highest, high)
    self._is_float |= images.dtype.kind == "f"
    return images if images.dtype == np.uint8 else np.rint(images).astype(np.uint8)

  def check(self) -> None:
    """Refuses floats from 0 to 1, once all images are read; warns of other pixels that are dark."""
    if self._is_float and 0 < self._highest <= 1:
      raise ValueError(f"{self._name!r} has float pixels of at most {self._highest:g}; the suite "
                       "takes 0..255. Give (255 * images).round().astype('uint8'), and let the "
                       "model scale them.")
    if 0 < self._highest <= _DARK:
      logging.warning("%s has no pixel above %g of 255: nearly black images. If white is %g, give "
                      "(255 / %g * images).round().astype('uint8').", self._name, self._highest,
                      self._highest, self._highest)
