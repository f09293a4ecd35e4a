# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Training batches of NEVIS from JPEGs of several sizes: as prepared, and from a resized copy.

A data set of each size is prepared in a temporary folder and read as a NEVIS task is, with its crop
to 64 x 64. The pictures are smooth with a little noise, at quality 92. Rounds alternate between the
two; a rate is the median of the rounds. Every second picture has three quarters of the width: sets
whose images all have one size are decoded once into memory in any case, photographs are not.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from typing import Any, Callable, Iterator

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from suite.data.images import image_ops
from suite.data.images import prepared_sets
from suite.data.images import resized_copy

SIZE, QUALITY = 64, 92
SECONDS = 4.0  # Least duration of a round; buffers hold more than a few batches of a small copy.
# (height, width): the number of pictures, the batch, and the least batches of a round.
CASES = {(32, 32): (2000, 64, 20), (256, 256): (500, 64, 10), (800, 1000): (100, 32, 6),
         (3000, 5000): (12, 8, 4)}


def picture(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
  """Returns a smooth random picture with noise, uint8 [height, width, 3]."""
  coarse = rng.integers(0, 256, (max(2, height // 32), max(2, width // 32), 3)).astype(np.float32)
  pixels = tf.image.resize(coarse, (height, width), "bicubic").numpy()
  return np.clip(pixels + rng.normal(0, 4, (height, width, 1)), 0, 255).astype(np.uint8)


class BenchJpegs(tfds.core.GeneratorBasedBuilder):
  """JPEGs of one height and two widths."""

  VERSION = tfds.core.Version("1.0.0")
  BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=f"{width}x{height}", version="1.0.0")
                     for height, width in CASES]

  def _info(self) -> tfds.core.DatasetInfo:
    return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({
        "image": tfds.features.Image(shape=(None, None, 3), encoding_format="jpeg"),
        "label": tfds.features.ClassLabel(num_classes=10)}))

  def _split_generators(self, dl_manager: Any) -> dict[str, Any]:
    del dl_manager
    return {"train": self._generate_examples()}

  def _generate_examples(self) -> Iterator[tuple[int, dict[str, Any]]]:
    width, height = (int(side) for side in self.builder_config.name.split("x"))
    rng = np.random.default_rng(0)
    shown = picture(rng, height, width)
    for index in range(CASES[height, width][0]):
      columns = width * 3 // 4 if index % 2 else width
      pixels = np.roll(shown, rng.integers(height), axis=0)[:, :columns]
      yield index, {"image": _File(tf.io.encode_jpeg(pixels, quality=QUALITY).numpy()),
                    "label": index % 10}


class _File:
  """Encoded bytes, which TFDS stores as they are."""

  def __init__(self, data: bytes):
    self._data = data

  def read(self) -> bytes:
    """Returns the bytes."""
    return self._data


def run(num_rounds: int) -> None:
  """Prints the table."""
  side = resized_copy.least_side(SIZE)
  print(f"Batches of NEVIS's training crops at {SIZE} x {SIZE}, images/s; copies with a shorter "
        f"side of {side} pixels; {num_rounds} rounds")
  print("| JPEG | kB an image | as prepared | from the copy | ratio | making the copy | "
        "kB an image of the copy |\n|---|---:|---:|---:|---:|---:|---:|")
  with tempfile.TemporaryDirectory(prefix="lifelong-bench-") as folder:
    for (height, width), (num, batch, steps) in CASES.items():
      _case(folder, f"{width}x{height}", num, batch, steps, num_rounds, side)


def _case(folder: str, name: str, num: int, batch: int, steps: int, num_rounds: int, side: int
          ) -> None:
  BenchJpegs(config=name, data_dir=folder).download_and_prepare()
  source = prepared_sets.open_source(f"bench_jpegs/{name}", "train", data_dir=folder)
  began = time.perf_counter()
  copy = prepared_sets.open_source(
      f"bench_jpegs/{name}", "train", data_dir=folder, resized_side=side)
  seconds = time.perf_counter() - began
  takers = [_taker(one, batch) for one in (source, copy)]
  rates: list[list[float]] = [[], []]
  for number in range(num_rounds + 1):
    for which, take in enumerate(takers):
      began, taken = time.perf_counter(), 0
      while taken < steps or time.perf_counter() - began < SECONDS:
        take()
        taken += 1
      if number:  # The first round fills the buffers.
        rates[which].append(taken * batch / (time.perf_counter() - began))
  before, after = map(statistics.median, rates)
  ratio = statistics.median(b / a for a, b in zip(*rates))
  print(f"| {name} | {source.num_bytes / num / 1000:.1f} | {before:.1f} | {after:.1f} | "
        f"{ratio:.2f} | {num / seconds:.1f} images/s | {copy.num_bytes / num / 1000:.1f} |",
        flush=True)


def _taker(source: Any, batch: int) -> Callable[[], Any]:
  """Returns a function that takes a training batch."""
  held = prepared_sets.read_source(source)
  iterator = iter(held.train_batches(batch, seed=(0, 0), transform=image_ops.Nevis(SIZE)))
  return lambda: next(iterator)
