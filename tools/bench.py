# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Speed, always beside an alternative in the same run: medians of alternating rounds.

  python tools/bench.py train       ResNet-18, 64x64, batch 64: suite's loop against a bare compiled Keras loop
  python tools/bench.py pipeline    the cached input pipeline alone, images per second
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from typing import Callable, Dict, List

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.data import image_ops
from suite.data import image_set
from suite.data import tasks
from suite.models import resnet
from suite.training import network as network_lib

BATCH, SIZE, CLASSES = 64, 64, 10


def _images(num: int = 2000, size: int = 64) -> image_set.ImageSet:
  rng = np.random.default_rng(0)
  return image_set.ImageSet.from_arrays(
      "bench", rng.integers(0, 256, (num, size, size, 3), dtype=np.uint8), rng.integers(0, CLASSES, num),
      kind=tasks.SINGLE_LABEL, num_classes=CLASSES)


def _batches(steps_ahead: int = 0):
  return _images().train_batches(BATCH, seed=(0, 0), transform=image_ops.Nevis(SIZE), first_step=steps_ahead)


def bare_loop() -> Callable[[int], None]:
  """What a Keras user would write: one tf.function per step, same net, optimizer, decay and data."""
  backbone = resnet.resnet18(image_shape=(SIZE, SIZE, 3))
  model = tf.keras.Sequential([backbone, tf.keras.layers.Dense(CLASSES)])
  optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True, jit_compile=False)
  kernels = [v for v in model.trainable_variables if v.name.endswith("kernel:0")]
  loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
  iterator = iter(_batches())

  @tf.function
  def step(batch):
    with tf.GradientTape() as tape:
      loss = loss_fn(batch["label"], model(batch["image"], training=True))
      loss += 1e-4 * tf.add_n([tf.nn.l2_loss(k) for k in kernels])
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

  def run(num_steps: int) -> None:
    for _ in range(num_steps):
      loss = step(next(iterator))
    loss.numpy()

  return run


def suite_loop() -> Callable[[int], None]:
  distribution = distribution_lib.build("one_device")
  network = network_lib.Network(
      resnet.resnet18, image_size=SIZE, kind=tasks.SINGLE_LABEL, num_classes=CLASSES, momentum=0.9,
      weight_decay=1e-4, distribution=distribution)
  network.loop.configure(peak_rate=0.01, warmup_steps=10, total_steps=1000, label_smoothing=0.1)
  data = _images()
  iterator = iter(distribution.dataset(lambda **shard: data.train_batches(
      BATCH, seed=(0, 0), transform=image_ops.Nevis(SIZE), **shard)))
  return lambda num_steps: network.loop.run(iterator, num_steps)


def pipeline(size: int) -> Callable[[int], None]:
  iterator = iter(_images(size=size).train_batches(BATCH, seed=(0, 0), transform=image_ops.Nevis(SIZE)))

  def run(num_steps: int) -> None:
    for _ in range(num_steps):
      next(iterator)

  return run


def rounds(candidates: Dict[str, Callable[[int], None]], num_steps: int, num_rounds: int
           ) -> Dict[str, List[float]]:
  """Images per second of each candidate, taking turns; the first call of each is a warm-up."""
  rates: Dict[str, List[float]] = {name: [] for name in candidates}
  for run in candidates.values():
    run(2)
  for _ in range(num_rounds):
    for name, run in candidates.items():
      start = time.perf_counter()
      run(num_steps)
      rates[name].append(num_steps * BATCH / (time.perf_counter() - start))
  return rates


def _print(rates: Dict[str, List[float]], base: str) -> None:
  middle = statistics.median(rates[base])
  for name, values in rates.items():
    ratio = statistics.median(values) / middle
    print(f"{name:28s} median {statistics.median(values):9.0f} images/s   "
          f"range {min(values):.0f}..{max(values):.0f}   {ratio:.3f} x {base}")


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("what", choices=("train", "pipeline"))
  parser.add_argument("--steps", type=int, default=8)
  parser.add_argument("--rounds", type=int, default=7)
  args = parser.parse_args()
  print(f"{platform.processor() or platform.machine()}, {tf.config.threading.get_intra_op_parallelism_threads()}"
        f" intra-op threads (0 = all), TensorFlow {tf.__version__}, {args.rounds} rounds of {args.steps} steps")
  if args.what == "train":
    rates = rounds({"bare Keras loop": bare_loop(), "suite": suite_loop()}, args.steps, args.rounds)
    _print(rates, "bare Keras loop")
    pipes = rounds({"pipeline, 64x64 cached": pipeline(64)}, args.steps * 8, args.rounds)
    _print({**pipes, "suite": rates["suite"]}, "suite")
  else:
    _print(rounds({f"pipeline, {s}x{s} cached": pipeline(s) for s in (32, 64, 96)}, args.steps * 8,
                  args.rounds), "pipeline, 64x64 cached")
  return 0


if __name__ == "__main__":
  sys.exit(main())
