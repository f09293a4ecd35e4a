# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading of a prepared 64 x 64 data set of PNG records: `tfds.load` and the suite's image set.

TFDS caches decoded sets of up to 250 MB in memory ("autocached", after the first epoch); larger
ones are decoded in every epoch, as in the first line.
"""

from __future__ import annotations

from collections.abc import Callable
import tempfile
import time
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from suite.data.images import image_ops
from suite.data.images import prepared_sets
from tfds_builders.parsers import images

SIZE, NUM, BATCH = 64, 10_000, 64


class BenchPictures(tfds.core.GeneratorBasedBuilder):
  """Smooth random pictures, which compress about as well as photographs."""

  VERSION = tfds.core.Version("1.0.0")

  def _info(self) -> tfds.core.DatasetInfo:
    return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({
        "image": tfds.features.Image(shape=(SIZE, SIZE, 3)),
        "label": tfds.features.ClassLabel(num_classes=10), "id": tfds.features.Text()}))

  def _split_generators(self, dl_manager):
    del dl_manager
    return {"train": self._generate_examples()}

  def _generate_examples(self):
    rng = np.random.default_rng(0)
    for index in range(NUM):
      steps = rng.integers(-3, 4, (SIZE, SIZE, 3))
      pixels = np.clip(128 + steps.cumsum(0).cumsum(1) // 4, 0, 255).astype(np.uint8)
      yield index, {"image": images.png(pixels), "label": index % 10, "id": str(index)}


def candidates() -> dict[str, Callable[[int], None]]:
  """Candidates: functions that read a number of batches."""
  folder = tempfile.mkdtemp(prefix="lifelong-bench-")
  builder = BenchPictures(data_dir=folder)
  builder.download_and_prepare()

  def plain(cached: bool) -> Any:
    dataset = builder.as_dataset(split="train", shuffle_files=True,
                                 read_config=tfds.ReadConfig(try_autocache=cached))
    return dataset.repeat().shuffle(1000).batch(BATCH, drop_remainder=True).prefetch(
        tf.data.AUTOTUNE)

  began = time.perf_counter()
  held = prepared_sets.read("bench_pictures", "train", data_dir=folder)
  print(f"{NUM} records read and decoded once into memory in {time.perf_counter() - began:.1f} s")
  return {"tfds.load": _taker(plain(cached=False)),
          "tfds.load, autocached": _taker(plain(cached=True)),
          "suite, held in memory": _taker(held.train_batches(
              BATCH, seed=(0, 0), transform=image_ops.Plain(SIZE)))}


def _taker(dataset: Any) -> Callable[[int], None]:
  iterator = iter(dataset)

  def run(num_steps: int) -> None:
    for _ in range(num_steps):
      next(iterator)

  return run
