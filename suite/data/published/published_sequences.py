# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID's published sequences over ImageNet's images, which stay where they are.

FOLDER holds the published files (sequence3.npy, all_labels3.npy, ...), and the images of
ImageNet-1K and -22K as folders or tars, or `images` names where these are. All images are found,
and what is missing is named, before the first event of a run. With `cache`, a folder, this is done
once; the features of frozen backbones are kept there, too, for all learners and runs.

Without a folder, it is the data set fluid/sequence3 that `suite data build` has prepared.

Which of ImageNet-1K's validation images are of a sequence's base classes.

FLUID's EWC has its Fisher information of these images (appendix E): 50 of each of 250 classes.
Meta-trained learners take them where the training images are not at hand (`base_images`). Their
labels are in the development kit that comes with them, so the images may lie in one folder or tar,
as they are distributed, or in folders of classes.

A published sequence that `suite data build fluid/sequence3` has prepared, read where it is.

Records are in the order of a hash; the feature `position` is that of delivery. One pass over the
files finds where each image is, so that samples are then read in their order, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import functools
import hashlib
import json
import os
import pathlib
import struct
from typing import Any, NamedTuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.contracts import rehearsal
from suite.data.images import example_arrays
from suite.data.images import tfds_source
from suite.data.published import image_places
from suite.data.published import numbered_samples
from suite.data.published import published_plans
from suite.data.sequences import fluid_sequences
from suite.data.sequences import sequences
from suite.system import atomic_files
from tfds_builders.parsers import fluid_sequence
from tfds_builders.parsers import imagenet_validation
from tfds_builders.rows import imagenet_classes

ALTERNATING, PLACES_LT = "alternating", "places_lt"
_TEST = (3, 4, 5)
_COMMAND = "see docs/fluid.md"
KIT = "ILSVRC2012_devkit_t12.tar.gz"
_PER_CLASS, _TRAINING_PER_CLASS = 50, 1300
_LENGTH, _CHECKSUM = 8, 4  # A record of a TFRecord file: length, checksum, bytes, checksum.


def sequence(number: int | str, *, folder: str | None, images: tuple[str, ...] = (),
             cache: str | None = None, num_samples: int | None = None, on_missing: str = "stop"
             ) -> sequences.Sequence:
  """A published sequence, whose samples are numbers: learners need the transform `samples`.

  Args:
    number: 1 to 5; "alternating": the non-stationary one, of sequences 3 to 5 in turn; or
      "places_lt": see `suite.data.published.published_plans`.
    folder: of the published files, and of the images; None: of the prepared data set.
    images: folders and tars of the images, where they are not in the folder.
    cache: a folder for the places of the images, and for features; None: nothing is kept.
    num_samples: of a sequence cut short; None: all.
    on_missing: "stop" if images are missing, or "leave_out" these samples, whose names and numbers
      are then in the records.
  """
  found = _found(number, folder, tuple(images), cache, num_samples, on_missing)
  planned = found.plan.planned
  return sequences.Sequence(
      np.arange(len(planned)), planned.labels, planned.ids.tolist(), planned.num_base,
      num_classes=len(planned.classes), segments=planned.segments,
      codes_folder=None if cache is None else str(pathlib.Path(cache) / "features"),
      left_out=found.left_out)


def samples(number: int | str, *, folder: str | None, images: tuple[str, ...] = (),
            cache: str | None = None, num_samples: int | None = None, size: int = 224,
            resize: int = 256, interpolation: str = "bilinear", augments: bool = True,
            on_missing: str = "stop", training: str | None = None, classes: str = "base"
            ) -> numbered_samples.Samples:
  """The transform of a published sequence; arguments as of `sequence`, `Samples`, `base_images`."""
  reader = _found(number, folder, tuple(images), cache, num_samples, on_missing).reader
  if training is not None:
    reader = _with_training(reader, number, folder, training, cache, num_samples, classes)
  return numbered_samples.Samples(reader, size, resize, interpolation, augments)


def columns(number: int | str, *, folder: str | None, novel: str = "zeros",
            num_samples: int | None = None) -> np.ndarray:
  """Which output of an ImageNet-1K classifier each class begins with: int64 [C], -1 for none.

  Args:
    number, folder: see `sequence`.
    novel: "zeros", none; or "published": that of the class whose slot it takes, as in the authors'
      code.
  """
  if novel not in ("zeros", "published"):
    raise ValueError(f"novel is {novel!r}; allowed are zeros, published.")
  plan = _plan(number, folder, num_samples)
  is_base = np.arange(len(plan.slots)) < plan.planned.num_base
  return np.where(is_base | (novel == "published"), plan.slots, -1)


def base_validation(number: int | str, *, folder: str | None, images: tuple[str, ...] = (),
                    cache: str | None = None, num_samples: int | None = None,
                    on_missing: str = "stop") -> example_arrays.Examples:
  """ImageNet-1K's validation images of the base classes, for EWC and meta-trained learners.

  They are numbers that follow those of the sequence; `samples` makes images of them. Arguments as
  of `sequence`; the development kit with the labels is in the folder, or in one of `images`.
  `on_missing` is that of the sequence; these images must be complete.
  """
  reader = _found(number, folder, tuple(images), cache, num_samples, on_missing).reader
  labels = reader.further().labels
  return example_arrays.Examples(len(reader.ids) + np.arange(len(labels)), labels)


def base_images(number: int | str, *, folder: str | None, images: tuple[str, ...] = (),
                cache: str | None = None, num_samples: int | None = None,
                on_missing: str = "stop", training: str | None = None, classes: str = "base"
                ) -> example_arrays.Examples:
  """The images to meta-train on: ImageNet-1K's training images where they are at hand.

  Those that the sequence itself delivers are left out. Labels are those of the sequence; classes
  that it does not have follow them.

  Args:
    number, folder, images, cache, num_samples, on_missing: see `sequence`.
    training: the folder or tar of ImageNet-1K's training images, as folders or tars of classes;
      None: `base_validation`, 50 images of each base class.
    classes: "base", those of the sequence (250); "all", ImageNet-1K's 1,000; or "found", those of
      the 1,000 that `training` has, such as the 64 of MiniImageNet.
  """
  if training is None:
    return base_validation(number, folder=folder, images=images, cache=cache,
                           num_samples=num_samples, on_missing=on_missing)
  found = _training(number, folder, training, cache, num_samples, classes)
  return example_arrays.Examples(
      numbered_samples.FIRST_TRAINING + np.arange(len(found.labels)), found.labels)


@functools.lru_cache(maxsize=4)
def _with_training(reader: numbered_samples.Reader, *of: Any) -> numbered_samples.Reader:
  return reader.with_training(functools.partial(_training, *of))


@functools.lru_cache(maxsize=4)
def _training(number: int | str, folder: str | None, training: str, cache: str | None,
              num_samples: int | None, classes: str) -> numbered_samples.Further:
  """ImageNet-1K's training images, less those of the sequence."""
  if classes not in ("base", "all", "found"):
    raise ValueError(f"classes is {classes!r}; allowed are base, all, found.")
  if number == PLACES_LT:
    raise ValueError("places_lt has no base classes of ImageNet. Take one of its sequences.")
  plan, name = _plan(number, folder, num_samples), f"training images of {_name(number)}"
  label_of = {f"n{wnid:08d}": label for wnid, label in _base_labels(plan.planned).items()}
  if classes != "base":
    others = [wnid for wnid in imagenet_classes.WNIDS if wnid not in label_of]
    label_of.update({wnid: len(plan.planned.classes) + i for i, wnid in enumerate(others)})
  try:
    names, places = _places_of_classes(
        sorted(label_of), training, cache, name, every=classes != "found")
  except (image_places.MissingImagesError, FileNotFoundError) as error:
    _note(name, error)
    labels = np.repeat(np.sort(list(label_of.values())), _TRAINING_PER_CLASS)
    ids = np.array([f"training_{i}.JPEG" for i in range(len(labels))])
    return numbered_samples.Further(ids, labels, None)
  delivered = {one.rsplit("/", 1)[-1] for one in plan.names.tolist()}
  kept = np.array([one not in delivered for one in names])
  ids = np.array(names)[kept]
  return numbered_samples.Further(
      ids, np.array([label_of[one[:9]] for one in ids.tolist()], np.int64),
      image_places.Places(places.files, places.file[kept], places.first[kept],
                          places.length[kept]))


@functools.lru_cache(maxsize=4)
def _plan(number: int | str, folder: str | None, num_samples: int | None
          ) -> published_plans.PublishedPlan:
  if number == ALTERNATING:
    return _cut(published_plans.alternating([_plan(one, folder, None) for one in _TEST]),
                num_samples)
  place = pathlib.Path(folder or "")
  try:
    if folder is None:
      return _cut(_prepared(number)[0], num_samples)
    plan = (
      published_plans.read_places_lt(place)
      if number == PLACES_LT
      else published_plans.read(number, place)
    )
  except FileNotFoundError as error:
    _note(_name(number), error)
    plan = (
      published_plans.stand_in_places_lt()
      if number == PLACES_LT
      else published_plans.stand_in(number)
    )
  return _cut(plan, num_samples)


@functools.lru_cache(maxsize=4)
def _prepared(number: int | str
              ) -> tuple[published_plans.PublishedPlan, image_places.Places]:
  if number == PLACES_LT:
    raise ValueError("places_lt is read from a folder: give one.")
  return read_records(number)


def _cut(plan: published_plans.PublishedPlan, num: int | None) -> published_plans.PublishedPlan:
  return plan if num is None else published_plans.first(plan, num)


def _name(number: int | str) -> str:
  return f"FLUID, sequence {number}"


def _note(name: str, error: Exception) -> None:
  """Notes in a rehearsal what is missing; raises the error in a run."""
  rehearsed = rehearsal.current()
  if rehearsed is None:
    raise error
  rehearsed.missing[name] = str(error)[:300], _COMMAND


class _Found(NamedTuple):
  """The available samples, their reader, and the missing images."""

  plan: published_plans.PublishedPlan
  reader: numbered_samples.Reader
  left_out: dict[str, list[str]]


@functools.lru_cache(maxsize=4)
def _found(number: int | str, folder: str | None, images: tuple[str, ...], cache: str | None,
           num_samples: int | None, on_missing: str) -> _Found:
  if on_missing not in ("stop", "leave_out"):
    raise ValueError(f"on_missing={on_missing!r}; allowed are 'stop' and 'leave_out'.")
  plan, where = _plan(number, folder, num_samples), _name(number)
  places, is_there = None, np.ones([len(plan.names)], bool)
  try:
    if folder is None:
      found: dict[str, tuple[str, int, int]] = {}  # In prepared records.
      for one in _TEST if number == ALTERNATING else (number,):
        whole, records = _prepared(one)
        found.update(zip(whole.planned.ids.tolist(), zip(
            (records.files[i] for i in records.file), records.first.tolist(),
            records.length.tolist())))
      places = image_places.of_rows([found[name] for name in plan.planned.ids.tolist()])
    elif on_missing == "stop":
      places = _places(plan.names.tolist(), images or (folder,), cache, where)
    else:  # Not from the cache, which does not know of images that have been added since.
      places, is_there = image_places.find_present(plan.names.tolist(), images or (folder,), where)
  except FileNotFoundError as error:
    _note(where, error)
  except image_places.MissingImagesError as error:
    _note(where, image_places.MissingImagesError(
        f"{error} Or leave these samples out, which the records then say: --gin_param "
        "\"ON_MISSING='leave_out'\".") if on_missing == "stop" else error)
  missing = plan.names[~is_there].tolist()
  if missing:
    logging.warning("%d of the %d samples of %s are left out, since their images are missing.",
                    len(missing), len(plan.names), where)
    plan = published_plans.part(plan, is_there)
  reader = numbered_samples.Reader(
      where, plan.planned.ids, places,
      functools.partial(_further, number, folder, images, cache, num_samples))
  return _Found(plan, reader, image_places.by_class(missing))


@functools.lru_cache(maxsize=4)
def _further(number: int | str, folder: str | None, images: tuple[str, ...], cache: str | None,
             num_samples: int | None) -> numbered_samples.Further:
  """The validation images of the base classes."""
  planned, name = _plan(number, folder, num_samples).planned, f"validation of {_name(number)}"
  roots = tuple(root for root in (*images, folder) if root is not None)
  if number == PLACES_LT:
    raise ValueError("places_lt has no validation images of its base classes. Leave EWC and "
                     "Simple CNAPS out (experiment.run.only), or take one of the ImageNet "
                     "sequences.")
  try:
    found = read_base_validation(planned, roots)
    places = _places(found.names, roots, cache, name)
    return numbered_samples.Further(np.array(found.names), found.labels, places)
  except (image_places.MissingImagesError, FileNotFoundError) as error:
    _note(name, error)
  found = stand_in_base_validation(planned)
  return numbered_samples.Further(np.array(found.names), found.labels, None)


def _stamps(files: tuple[str, ...]) -> list[list[int]]:
  """Sizes and times of files; [] if one is gone."""
  try:
    return [[found.st_size, found.st_mtime_ns] for found in map(os.stat, files)]
  except FileNotFoundError:
    return []


def _places(names: list[str], roots: tuple[str, ...], cache: str | None, where: str
            ) -> image_places.Places:
  """Finds the images, or reads where they were found before."""
  return _cached(cache, [*map(os.path.abspath, roots), "", *names], where,
                 lambda: (names, image_places.find(names, roots, where)))[1]


def _places_of_classes(wnids: list[str], root: str, cache: str | None, where: str, every: bool
                       ) -> tuple[list[str], image_places.Places]:
  """The same of all images of some classes, and their names."""
  return _cached(cache, ["classes" if every else "found", os.path.abspath(root), *wnids], where,
                 lambda: image_places.find_classes(wnids, root, where, every))


def _cached(cache: str | None, key: Sequence[str], where: str,
            find: Callable[[], tuple[list[str], image_places.Places]]
            ) -> tuple[list[str], image_places.Places]:
  """What `find` finds, kept in the folder `cache`; found again where its files have changed."""
  if cache is None:
    return find()
  digest = hashlib.sha256("\n".join(key).encode()).hexdigest()
  path = pathlib.Path(cache) / f"places_{digest[:16]}.npz"
  if path.is_file():
    with np.load(path, allow_pickle=False) as kept:
      places = image_places.Places(tuple(kept["files"].tolist()), kept["number"], kept["first"],
                                   kept["length"])
      stamps = json.loads(str(kept["stamps"]))
      # Files of an earlier version have no names; their images have those of the key.
      names = kept["names"].tolist() if "names" in kept else list(key[-len(places.file):])
    if _stamps(places.files) == stamps:
      return names, places
    logging.info("The images of %s have changed; they are searched again.", where)
  names, places = find()
  path.parent.mkdir(parents=True, exist_ok=True)
  with atomic_files.replacing(path) as temporary:
    np.savez(temporary, names=np.array(names), files=np.array(places.files), number=places.file,
             first=places.first, length=places.length,
             stamps=np.array(json.dumps(_stamps(places.files))))
  return names, places


class BaseValidation(NamedTuple):
  """Base names of M images, in the order of their numbers, and labels of the sequence, [M]."""

  names: list[str]
  labels: np.ndarray


def read_base_validation(
  planned: fluid_sequences.PlannedSequence, roots: Sequence[str]
) -> BaseValidation:
  """Reads the labels of the kit, which is anywhere in one of the folders `roots`."""
  label_of = _base_labels(planned)
  folders = [pathlib.Path(root) for root in roots if pathlib.Path(root).is_dir()]
  kit = next((path for path in (
      *(folder / KIT for folder in folders),
      *(path for folder in folders for path in sorted(folder.rglob(KIT)))) if path.is_file()), None)
  if kit is None:
    raise FileNotFoundError(
        f"EWC and meta-trained learners need ImageNet-1K's validation images and {KIT}, which has "
        "their labels and is not in "
        f"{', '.join(map(str, roots)) or 'FOLDER, which is None, nor in IMAGES'}. Copy it there, "
        "or name its folder in IMAGES.")
  wnids = [int(wnid[1:]) for wnid in imagenet_validation.read_kit(kit)]
  missing = sorted(set(label_of) - set(wnids))
  if missing:
    raise ValueError(
        f"{KIT} has no image of {len(missing)} of the {len(label_of)} base classes: "
        f"{', '.join(f'n{wnid:08d}' for wnid in missing[:5])}. Give the kit of ILSVRC 2012.")
  of_base = [(number, label_of[wnid]) for number, wnid in enumerate(wnids, 1) if wnid in label_of]
  return BaseValidation([f"ILSVRC2012_val_{number:08d}.JPEG" for number, _ in of_base],
                        np.array([label for _, label in of_base], np.int64))


def stand_in_base_validation(planned: fluid_sequences.PlannedSequence) -> BaseValidation:
  """As many images as the paper has, for a rehearsal."""
  labels = np.repeat(np.sort(list(_base_labels(planned).values())), _PER_CLASS)
  return BaseValidation([f"validation_{i}.JPEG" for i in range(len(labels))], labels)


def _base_labels(planned: fluid_sequences.PlannedSequence) -> dict[int, int]:
  """Label by number of the WordNet id; one class may have no sample, and so no WordNet id."""
  classes = planned.classes[:planned.num_base].tolist()
  return {wnid: label for label, wnid in enumerate(classes) if wnid >= 0}


def read_records(number: int | str, data_dir: str | None = None
         ) -> tuple[published_plans.PublishedPlan, image_places.Places]:
  """Reads the plan and the places of the images, in order of delivery."""
  number = published_plans.check_number(number)
  name = f"fluid/sequence{number}"
  reason, _ = tfds_source.why_missing(name, data_dir=data_dir)
  if reason:
    raise FileNotFoundError(f"{name} is not prepared: {reason}")
  source = tfds_source.open_split(name, fluid_sequence.STREAM, data_dir=data_dir)
  rows: list[tuple[fluid_sequence.Step, str, int, int, int]] = []
  files = [path for path, _, _ in source.files]
  for place, (path, skip, take) in enumerate(source.files):
    for index, (start, data) in enumerate(_records(path)):
      if not skip <= index < skip + take:
        continue
      features = tf.train.Example.FromString(data).features.feature
      image = features["image"].bytes_list.value[0]
      step = fluid_sequence.Step(
          _integer(features["position"]), _integer(features["label"]),
          features["wnid"].bytes_list.value[0].decode(), bool(_integer(features["novel"])))
      name = features["id"].bytes_list.value[0].decode().rsplit("/", 1)[-1] + ".JPEG"
      rows.append((step, name, place, start + data.index(image), len(image)))
  rows.sort(key=lambda row: row[0].position)
  steps, names, numbers, firsts, lengths = zip(*rows)
  if [step.position for step in steps] != list(range(len(rows))):
    raise ValueError(f"{name} has {len(rows)} records with positions up to "
                     f"{steps[-1].position}; each comes once. Build it again.")
  plan = published_plans.of_steps(number, list(steps), list(names))
  return plan, image_places.Places(
      tuple(files), np.array(numbers, np.int32), np.array(firsts, np.int64),
      np.array(lengths, np.int64))


def _integer(feature: Any) -> int:
  return int(feature.int64_list.value[0])


def _records(path: str) -> Iterator[tuple[int, bytes]]:
  """Yields (first byte, bytes) of the records of a TFRecord file."""
  with open(path, "rb") as stream:
    while head := stream.read(_LENGTH + _CHECKSUM):
      length, = struct.unpack("<Q", head[:_LENGTH])
      start = stream.tell()
      data = stream.read(length)
      if len(data) < length or len(stream.read(_CHECKSUM)) < _CHECKSUM:
        raise ValueError(f"{path} ends within a record. Build the data set again.")
      yield start, data
