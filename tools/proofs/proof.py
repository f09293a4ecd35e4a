# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A published benchmark in the settings of its authors, run by the suite's own protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
import functools
import gzip
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import learner as learner_lib
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.models import mlp
from suite.protocols import incremental
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer

Pair = tuple[image_set.ImageSet, image_set.ImageSet]
MEAN, DEVIATION = 0.1307, 0.3081  # Of MNIST's pixels in [0, 1], as PyTorch's examples have them.
_PREDICTED_AT_ONCE = 5000
PLAIN = image_ops.Plain(28, channels=1)
MLP_100 = functools.partial(mlp.of_images, hidden=(100, 100))


@dataclasses.dataclass(frozen=True)
class Benchmark:
  """Numbers of one table: final average accuracies, in percent.

  Attributes:
    title, about: of its part of docs/proofs.md.
    tasks: makes the tasks from (training set, test set) and a seed.
    scenario: of `incremental`.
    methods: make the learner of each method.
    outputs: of `incremental`.
    validation_share: of each task's training images; a gradient learner trains on these, too.
  """

  title: str
  about: str
  tasks: Callable[[Pair, int], buckets_lib.Buckets]
  scenario: incremental.Scenario
  methods: Mapping[str, Callable[[], learner_lib.Learner]]
  outputs: incremental.Outputs = incremental.ALL_SO_FAR
  validation_share: float = 0.1


def run(benchmark: Benchmark, method: str, buckets: buckets_lib.Buckets, seed: int) -> float:
  """The final average accuracy of a method, in percent."""
  with tempfile.TemporaryDirectory() as folder:
    writer = run_writer.RunWriter(pathlib.Path(folder), None, progress.Progress("proof"))
    state = run_state.RunState(pathlib.Path(folder), writer, name="proof", seed=seed,
                               distribution=distribution.build())
    learner, share = benchmark.methods[method](), benchmark.validation_share
    try:
      summary = incremental.run(
          learner, state=state, buckets=buckets, scenario=benchmark.scenario,
          outputs=benchmark.outputs, tested=incremental.LAST, validation_share=share,
          eval_batch_size=_PREDICTED_AT_ONCE)
    finally:
      writer.close()
  return 100 * float(summary["final_average_accuracy"])


@functools.lru_cache(maxsize=1)
def mnist(folder: pathlib.Path) -> Pair:
  """MNIST's training and test set, from the four idx files, gray [28, 28, 1]."""
  found = []
  for part in ("train", "t10k"):
    pixels, labels = (_idx(folder / f"{part}-{kind}.gz")
                      for kind in ("images-idx3-ubyte", "labels-idx1-ubyte"))
    found.append(image_set.ImageSet.from_arrays(
        f"mnist {part}", pixels[..., None], labels.astype(np.int64), kind=tasks.SINGLE_LABEL,
        num_classes=10))
  return found[0], found[1]


def _idx(path: pathlib.Path) -> np.ndarray:
  """The content of an idx file of bytes."""
  with gzip.open(path, "rb") as file:
    data = file.read()
  shape = [int.from_bytes(data[4 + 4 * d:8 + 4 * d], "big") for d in range(data[3])]
  return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def perceptron(image_shape: tuple[int, int, int], *, hidden: tuple[int, ...],
               activation: str = "relu", dropout: float = 0.0, normalized: bool = True,
               has_norms: bool = False) -> tf.keras.Model:
  """A net like PyTorch's: images of 0..255 to [B, hidden[-1]], with its first weights.

  Args:
    dropout: share of the units of each layer.
    normalized: whether pixels have mean 0 and deviation 1; else they are in [0, 1].
    has_norms: whether each layer has a batch norm before its activation, in place of offsets.
  """
  scale, offset = (1 / 255 / DEVIATION, -MEAN / DEVIATION) if normalized else (1 / 255, 0.0)
  inputs = tf.keras.Input(image_shape, name="images")
  x = tf.keras.layers.Flatten()(tf.keras.layers.Rescaling(scale, offset)(inputs))
  for size in hidden:
    reach = int(x.shape[1]) ** -0.5
    x = tf.keras.layers.Dense(
        size, use_bias=not has_norms,
        kernel_initializer=tf.keras.initializers.RandomUniform(-reach, reach),
        bias_initializer=tf.keras.initializers.RandomUniform(-reach, reach))(x)
    if has_norms:
      x = tf.keras.layers.BatchNormalization(momentum=0.9, epsilon=1e-6)(x)
    x = tf.keras.layers.Activation(activation)(x)
    if dropout:
      x = tf.keras.layers.Dropout(dropout)(x)
  return tf.keras.Model(inputs, x)
