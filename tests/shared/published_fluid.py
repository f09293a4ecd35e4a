# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Writes small sequences of the published layout: arrays of paths and labels, folders and tars."""

from __future__ import annotations

import pathlib

import numpy as np
import tensorflow as tf

from suite.data.published import published_plans
from suite.data.published import published_sequences
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import mat_files


def picture(label: int, number: int, sides: tuple[int, int]) -> bytes:
  """A JPEG [H, W, 3] of the color of its class."""
  rng = np.random.default_rng([label, number])
  color = np.random.default_rng(label).integers(0, 200, 3)
  pixels = color + rng.integers(0, 56, [*(side // 8 + 1 for side in sides), 3])
  large = np.repeat(np.repeat(pixels, 8, axis=0), 8, axis=1)[:sides[0], :sides[1]]
  return tf.io.encode_jpeg(large.astype(np.uint8)).numpy()


def write(folder: pathlib.Path, *, number: int = 3, num_classes: int = 8, num_base: int = 2,
          per_class: int = 3, sides: tuple[int, int] = (40, 48), form: str = "folders",
          first_wnid: int = 0) -> tuple[np.ndarray, np.ndarray]:
  """Writes a sequence; published labels of base classes are not the first.

  Args:
    folder: for sequenceN.npy, all_labelsN.npy and images.
    form: "folders", "tars" (one a class) or "nested" (tars within a tar).
    first_wnid: of novel classes; those of base classes are below 100.

  Returns:
    base names of the images and published labels, in order.
  """
  rng = np.random.default_rng(number)
  labels = rng.permutation(np.repeat(np.arange(num_classes), per_class))
  base = set(rng.permutation(num_classes)[:num_base].tolist())
  paths, names, members = [], [], {}
  for position, label in enumerate(labels.tolist()):
    wnid = f"n{label if label in base else 1000 * (1 + first_wnid) + label:08d}"
    names.append(f"{wnid}_{position}.JPEG")
    paths.append(f"{'1k_res' if label in base else 'S3/sequence3'}/{wnid}/{names[-1]}")
    members.setdefault(wnid, {})[names[-1]] = picture(label, position, sides)
  folder.mkdir(parents=True, exist_ok=True)
  for name, array in zip(published_plans.file_names(number), (np.array(paths), labels)):
    np.save(folder / name, array)
  tars = {wnid: fixtures.tar_bytes(found) for wnid, found in members.items()}
  if form == "nested":
    fixtures.write_archive(folder / "fall11_whole.tar", {f"{w}.tar": d for w, d in tars.items()})
  for wnid, found in members.items() if form == "folders" else ():
    (folder / wnid).mkdir()
    for name, data in found.items():
      (folder / wnid / name).write_bytes(data)
  for wnid, data in tars.items() if form == "tars" else ():
    (folder / f"{wnid}.tar").write_bytes(data)
  return np.array(names), labels


def write_validation(folder: pathlib.Path, number: int, per_class: int,
                     sides: tuple[int, int] = (40, 48)) -> None:
  """Writes validation images of a written sequence's base classes, and of one more, and the kit.

  Args:
    folder: where the sequence is; the images lie in a tar there, as they are distributed.
  """
  planned = published_plans.read(number, folder).planned
  slots = published_plans.read(number, folder).slots
  base = [label for label in range(planned.num_base) if planned.classes[label] >= 0]
  wnids = [f"n{planned.classes[label]:08d}" for label in base]
  labels = np.random.default_rng(1).permutation(
      np.repeat(np.arange(len(wnids) + 1), per_class)).tolist()
  numbers = {wnid: 7 + place for place, wnid in enumerate([*wnids, "n00000099"])}
  synsets = np.array([(number, wnid) for wnid, number in numbers.items()],
                     dtype=[("ILSVRC2012_ID", "f8"), ("WNID", "O")])
  fixtures.write_archive(folder / published_sequences.KIT, {
      "ILSVRC2012_devkit_t12/data/meta.mat": mat_files.packed({"synsets": synsets}),
      "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt": "".join(
          f"{7 + label}\n" for label in labels).encode()})
  fixtures.write_archive(folder / "ILSVRC2012_img_val.tar", {
      f"ILSVRC2012_val_{i:08d}.JPEG": picture(
          int(slots[base[label]]) if label < len(base) else 99, i, sides)
      for i, label in enumerate(labels, 1)})
