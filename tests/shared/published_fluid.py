# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Writes small sequences of the published layout: arrays of paths and labels, folders and tars."""

from __future__ import annotations

import pathlib

import numpy as np
import tensorflow as tf

from suite.data.published import published_plans
from tfds_builders.parsers import fixtures


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
