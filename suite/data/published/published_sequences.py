# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID's published sequences over ImageNet's images, which stay where they are.

FOLDER holds the published files (sequence3.npy, all_labels3.npy, ...), and the images of
ImageNet-1K and -22K as folders or tars, or `images` names where these are. All images are found,
and what is missing is named, before the first event of a run. With `cache`, a folder, this is done
once; the features of frozen backbones are kept there, too, for all learners and runs.

Without a folder, it is the data set fluid/sequence3 that `suite data build` has prepared.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib

from absl import logging
import numpy as np

from suite.contracts import rehearsal
from suite.data.images import example_arrays
from suite.data.published import base_validation_labels
from suite.data.published import image_places
from suite.data.published import numbered_samples
from suite.data.published import places_lt
from suite.data.published import prepared_records
from suite.data.published import published_plans
from suite.data.sequences import sequences
from suite.system import atomic_files

ALTERNATING, PLACES_LT = "alternating", "places_lt"
_TEST = (3, 4, 5)
_COMMAND = "see docs/fluid.md"


def sequence(number: int | str, *, folder: str | None, images: tuple[str, ...] = (),
             cache: str | None = None, num_samples: int | None = None) -> sequences.Sequence:
  """A published sequence, whose samples are numbers: learners need the transform `samples`.

  Args:
    number: 1 to 5; "alternating": the non-stationary one, of sequences 3 to 5 in turn; or
      "places_lt": see `suite.data.published.places_lt`.
    folder: of the published files, and of the images; None: of the prepared data set.
    images: folders and tars of the images, where they are not in the folder.
    cache: a folder for the places of the images, and for features; None: nothing is kept.
    num_samples: of a sequence cut short; None: all.
  """
  plan = _plan(number, folder, num_samples)
  planned = plan.planned
  _reader(number, folder, tuple(images), cache, num_samples)
  return sequences.Sequence(
      np.arange(len(planned)), planned.labels, planned.ids.tolist(), planned.num_base,
      num_classes=len(planned.classes), segments=planned.segments,
      codes_folder=None if cache is None else str(pathlib.Path(cache) / "features"))


def samples(number: int | str, *, folder: str | None, images: tuple[str, ...] = (),
            cache: str | None = None, num_samples: int | None = None, size: int = 224,
            resize: int = 256, interpolation: str = "bilinear", augments: bool = True
            ) -> numbered_samples.Samples:
  """The transform of a published sequence; arguments as of `sequence` and `Samples`."""
  return numbered_samples.Samples(_reader(number, folder, tuple(images), cache, num_samples), size,
                                  resize, interpolation, augments)


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
                    cache: str | None = None, num_samples: int | None = None
                    ) -> example_arrays.Examples:
  """ImageNet-1K's validation images of the base classes, for EWC and meta-trained learners.

  They are numbers that follow those of the sequence; `samples` makes images of them. Arguments as
  of `sequence`; the development kit with the labels is in the folder, or in one of `images`.
  """
  reader = _reader(number, folder, tuple(images), cache, num_samples)
  labels = reader.further().labels
  return example_arrays.Examples(len(reader.ids) + np.arange(len(labels)), labels)


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
    plan = places_lt.read(place) if number == PLACES_LT else published_plans.read(number, place)
  except FileNotFoundError as error:
    _note(_name(number), error)
    plan = places_lt.stand_in() if number == PLACES_LT else published_plans.stand_in(number)
  return _cut(plan, num_samples)


@functools.lru_cache(maxsize=4)
def _prepared(number: int | str
              ) -> tuple[published_plans.PublishedPlan, image_places.Places]:
  if number == PLACES_LT:
    raise ValueError("places_lt is read from a folder: give one.")
  return prepared_records.read(number)


def _of_records(number: int | str, plan: published_plans.PublishedPlan) -> image_places.Places:
  """The places of a plan's samples in prepared records."""
  found: dict[str, tuple[str, int, int]] = {}
  for one in _TEST if number == ALTERNATING else (number,):
    whole, places = _prepared(one)
    files = places.files
    found.update(zip(whole.planned.ids.tolist(), zip(
        (files[i] for i in places.file), places.first.tolist(), places.length.tolist())))
  return image_places.of_rows([found[identity] for identity in plan.planned.ids.tolist()])


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


@functools.lru_cache(maxsize=4)
def _reader(number: int | str, folder: str | None, images: tuple[str, ...], cache: str | None,
            num_samples: int | None) -> numbered_samples.Reader:
  plan, places = _plan(number, folder, num_samples), None
  further = functools.partial(_further, number, folder, images, cache, num_samples)
  try:
    if folder is None:
      return numbered_samples.Reader(
          _name(number), plan.planned.ids, _of_records(number, plan), further)
    places = _places(plan.names.tolist(), images or (folder,), cache, _name(number))
  except (image_places.MissingImagesError, FileNotFoundError) as error:
    _note(_name(number), error)
  return numbered_samples.Reader(_name(number), plan.planned.ids, places, further)


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
    found = base_validation_labels.read(planned, roots)
    places = _places(found.names, roots, cache, name)
    return numbered_samples.Further(np.array(found.names), found.labels, places)
  except (image_places.MissingImagesError, FileNotFoundError) as error:
    _note(name, error)
  found = base_validation_labels.stand_in(planned)
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
  if cache is None:
    return image_places.find(names, roots, where)
  key = hashlib.sha256("\n".join([*map(os.path.abspath, roots), "", *names]).encode()).hexdigest()
  path = pathlib.Path(cache) / f"places_{key[:16]}.npz"
  if path.is_file():
    with np.load(path, allow_pickle=False) as kept:
      found = image_places.Places(tuple(kept["files"].tolist()), kept["number"], kept["first"],
                                  kept["length"])
      stamps = json.loads(str(kept["stamps"]))
    if _stamps(found.files) == stamps:
      return found
    logging.info("The images of %s have changed; they are searched again.", where)
  found = image_places.find(names, roots, where)
  path.parent.mkdir(parents=True, exist_ok=True)
  with atomic_files.replacing(path) as temporary:
    np.savez(temporary, files=np.array(found.files), number=found.file, first=found.first,
             length=found.length, stamps=np.array(json.dumps(_stamps(found.files))))
  return found
