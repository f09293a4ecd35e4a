# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID's sequence: the protocol in blocks compared with a loop of one sample at a time.

64x64 images of 1,000 classes, long-tailed as the paper's (counts proportional to 1 / (25 + rank)),
no base classes; nets with random weights. Rates are samples per second of wall-clock time, and of
CPU time of all threads, which other programs on the machine affect less.

    images    images to records on disk, by `protocols.fluid`. NCM has no offline phase; Exemplar
              Tuning (ET) has 18 of 4 epochs, as in the paper, or none. The first records, during
              which graphs are traced and samples encoded ahead, are not counted; nor are the last
              samples, after which nothing is left to encode.
    head      cached features of 512 numbers: steps in blocks of 1,000 without records (answers
              among known classes, each label learned before the next answer), then the whole
              protocol

The loop equals the authors' code without augmentation: per sample a forward pass of batch 1,
products with all centroids, one answer and one centroid update. It is faster than that code: its
forward pass is compiled and done once instead of twice, and only the row of the sample's class is
divided again. Offline phases are the suite's. The loop covers the first samples only, and thus the
shorter phases. On these samples its answers must equal the protocol's; a different one is accepted
as a tie, and counted, if the logits of the two classes are equal up to rounding. In the rows of the
head the loop has no forward pass; "Keras" is one call of a Dense layer for each sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import os
import pathlib
import statistics
import tempfile
import time
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import deliveries
from suite.contracts import learner as learner_lib
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.sequences import sequences
from suite.learners import exemplar_tuning
from suite.learners import gradient
from suite.learners import statistics_learner
from suite.metrics import sequence_log
from suite.models import conv4
from suite.models import resnet
from suite.protocols import fluid
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import trainable_parts
from suite.training.sequence import sequence_codes
from suite.training.sequence import sequence_steps
from suite.training.sequence import update_strategies
from suite.training.statistics import class_means

CLASSES, SIZE, WIDTH, PHASES = 1000, 64, 512, 18
RECORD, HEAD_BLOCK, HEAD_WARM_UP = 500, 1000, 2
WARM_UP = 4  # Number of records that are not counted.
ENCODE = 128  # Number of samples encoded at once.
# Largest number of samples encoded ahead; that many at the end are not counted.
AHEAD = (sequence_codes.AHEAD + 1) * ENCODE
LOOP = {"conv-4": 500, "ResNet-18": 250, "head": 1000}  # Number of samples of the loop.
NETS: dict[str, Callable[..., tf.keras.Model]] = {
    "conv-4": conv4.conv4, "ResNet-18": resnet.resnet18}
RATE = 1e-4  # Learning rate of ET; on random features the paper's 0.1 leads to constant answers.
TASK = tasks.Task("sequence", tasks.SINGLE_LABEL, CLASSES)
_ROUNDING = 1e-4  # Tolerance of logits, relative to the largest.
Features = Callable[[tf.Tensor], tf.Tensor]


class Mark(NamedTuple):
  """End of an event: samples so far, seconds, CPU seconds of all threads, whether it has steps."""

  samples: int
  wall: float
  cpu: float
  is_steps: bool = True


class Rate(NamedTuple):
  """Rate in samples per second of wall-clock time, and of CPU time."""

  wall: float
  cpu: float


def now(samples: int, is_steps: bool = True) -> Mark:
  return Mark(samples, time.perf_counter(), time.process_time(), is_steps)


def between(start: Mark, end: Mark) -> Rate:
  num = end.samples - start.samples
  return Rate(num / (end.wall - start.wall), num / (end.cpu - start.cpu))


class TimedState(run_state.RunState):
  """Run state that records the end of every event."""

  def __init__(self, folder: pathlib.Path):
    writer = run_writer.RunWriter(folder, None, progress.Progress("bench"))
    super().__init__(folder, writer, name="bench", seed=0, distribution=distribution.build())
    self.delivery = deliveries.SEQUENCE
    self.marks: list[Mark] = []

  def commit(self, record: Any, predictions: Any = None, **how: Any) -> None:
    super().commit(record, predictions, **how)
    last = self.records[-1]
    is_steps = "first_step" in last
    num = last["first_step"] + last["seen"] if is_steps else last["step"]
    self.marks.append(now(num, is_steps))


class Cached:
  """Transform and features for a sequence whose "images" are features [B, D]."""

  size, shape = 1, (1, 1, 3)

  def evaluate(self, images: Any) -> tf.Tensor:
    return tf.convert_to_tensor(images)

  def features(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features unchanged; learners call it with one image to find the width."""
    return tf.zeros([1, WIDTH]) if images.shape.rank == 4 else images


def labels_of(num: int) -> np.ndarray:
  """Draws long-tailed labels: int64 [n]."""
  weights = 1.0 / (25.0 + np.arange(1, CLASSES + 1))
  return np.random.default_rng(0).choice(CLASSES, num, p=weights / weights.sum())


def pictures(num: int) -> sequences.Sequence:
  """Sequence of images: coarse random patterns by class with noise, so classes are learnable."""
  rng, labels = np.random.default_rng(1), labels_of(num)
  coarse = rng.integers(0, 256, (CLASSES, 8, 8, 3), dtype=np.uint8)
  images = np.empty((num, SIZE, SIZE, 3), np.uint8)
  for i, label in enumerate(labels):
    noise = rng.integers(0, 128, (SIZE, SIZE, 3), dtype=np.uint8)
    images[i] = np.kron(coarse[label] // 2, np.ones((8, 8, 1), np.uint8)) + noise
  return _sequence(images, labels)


def vectors(num: int) -> sequences.Sequence:
  """Sequence of features float32 [n, D], not negative, as after a ReLU."""
  rng, labels = np.random.default_rng(2), labels_of(num)
  centres = rng.normal(size=(CLASSES, WIDTH)).astype(np.float32)
  noise = rng.normal(size=(num, WIDTH)).astype(np.float32)
  return _sequence(np.maximum(centres[labels] + 1.5 * noise, 0.0), labels)


def _sequence(images: np.ndarray, labels: np.ndarray) -> sequences.Sequence:
  return sequences.Sequence(images, labels, [str(i) for i in range(len(labels))], 0, CLASSES)


def learner_of(name: str, features: Features, transform: Any) -> Any:
  if name == "NCM":
    return statistics_learner.StatisticsLearner(
        class_means.ClassMeans(), transform=transform, features=features)
  if name == "linear":
    return gradient.GradientLearner(
        transform=transform, net=trainable_parts.HeadOnly(features), train_on="all", epochs=4,
        batch_size=256, learning_rate=0.1, base=composition.Base())
  return exemplar_tuning.ExemplarTuning(
      transform=transform, features=features, learning_rate=RATE)


def protocol(learner: Any, sequence: sequences.Sequence, interval: int | None,
             folder: pathlib.Path) -> tuple[Rate, np.ndarray]:
  """Runs the whole protocol; returns its rate and the answers int64 [n]."""
  state = TimedState(folder)
  update = update_strategies.Every(interval) if interval else update_strategies.Never()
  fluid.run(learner, state=state, sequence=sequence, update=update,
            blocks=fluid.Blocks(RECORD, RECORD, ENCODE))
  log = sequence_log.from_records(state.records)
  return steady(state.marks, len(sequence)), log.closed_answers


def steady(marks: Sequence[Mark], num: int) -> Rate:
  """Rate of a sequence of `num` samples while as many are encoded as answered."""
  steps = [mark for mark in marks if mark.is_steps]
  ends = [mark for mark in steps[WARM_UP:] if mark.samples <= num - AHEAD]
  if not ends:
    raise ValueError(f"A sequence of {num:,} samples has no record after the first {WARM_UP} and "
                     f"before the last {AHEAD:,} samples; take a longer one (--steps).")
  return between(steps[WARM_UP - 1], ends[-1])


def blocks(learner: Any, sequence: sequences.Sequence, folder: pathlib.Path) -> Rate:
  """Rate of the protocol's steps without decisions and records, with all codes computed."""
  learner.begin(TASK, TimedState(folder).context())
  sequence.rewind(0)
  steps = sequence_steps.SequenceSteps(
      learner_lib.adapted(learner, learner_lib.SequenceLearner), sequence, np.zeros(CLASSES, bool))
  steps.codes[0:len(sequence)]  # Encodes all samples.
  start = now(0)
  while steps.num_answered < len(sequence):
    stop = min(steps.num_answered + HEAD_BLOCK, len(sequence))
    steps.answer(stop)
    steps.accept(stop)
    if stop == HEAD_WARM_UP * HEAD_BLOCK:
      start = now(stop)
  return between(start, now(len(sequence)))


class Loop:
  """The loop of one sample at a time; see the module.

  Args:
    name: "NCM" or "ET".
    features, transform: as for a learner.
    folder: folder of a second learner, which runs the offline phases.
  """

  def __init__(self, name: str, features: Features, transform: Any, folder: pathlib.Path):
    self._name, self._transform = name, transform
    self._forward = tf.function(features)
    self._tuner, self._state, self._phases = learner_of(
        "ET", features, transform), TimedState(folder), 0
    self._tuner.begin(TASK, self._state.context())
    shape = self._tuner.head.residuals.shape
    self._sums, self._means = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    self._residuals, self._squares = np.zeros(shape, np.float32), np.zeros(CLASSES, np.float32)
    self._counts = np.zeros(CLASSES, np.float32)

  def run(self, sequence: sequences.Sequence, num: int, interval: int | None
          ) -> tuple[Rate, list[np.ndarray]]:
    """Runs over the first `num` samples; returns the rate after the first one, and logits [C]."""
    sequence.rewind(0)
    found, codes, labels, start = [], [], [], now(0)
    for t in range(num):
      sequence.deliver(t)
      image = self._transform.evaluate(sequence.images(t, t + 1))
      code = self._forward(image).numpy()[0]
      found.append(self._logits(code))
      int(np.argmax(found[-1]))  # The answer.
      label = sequence.reveal(t)
      self._learn(code, label)
      codes.append(code)
      labels.append(label)
      if interval and (t + 1) % interval == 0:
        self._tune(np.array(codes), np.array(labels), interval)
      if not t:
        start = now(1)
    return between(start, now(num)), found

  def _tune(self, codes: np.ndarray, labels: np.ndarray, num_new: int) -> None:
    """An offline phase of residuals on codes [n, D], the last `num_new` of which are new."""
    self._tuner.update(tf.constant(codes[-num_new:]), tf.constant(labels[-num_new:], tf.int64))
    self._phases += 1
    context = dataclasses.replace(
        self._state.context(), seeds=self._state.seeds.child("offline phase", self._phases))
    self._tuner.learn_stored(
        deliveries.Stored(codes, labels, self._counts > 0, len(labels) - num_new), context)
    self._residuals = self._tuner.head.residuals.numpy()

  def _logits(self, code: np.ndarray) -> np.ndarray:
    """Logits [C]; -inf for unknown classes."""
    if self._name == "NCM":
      logits = 2.0 * (self._means @ code) - self._squares - code @ code
    else:
      logits = self._means @ code + self._residuals @ code
    return np.where(self._counts > 0, logits, -np.inf)

  def _learn(self, code: np.ndarray, label: int) -> None:
    key = code if self._name == "NCM" else code / np.linalg.norm(code)
    self._sums[label] += key
    self._counts[label] += 1
    self._means[label] = self._sums[label] / self._counts[label]
    self._squares[label] = self._means[label] @ self._means[label]


def differing(answers: np.ndarray, logits: Sequence[np.ndarray]) -> int:
  """Counts answers that differ from the loop's as ties; raises an error if one is not a tie.

  While no class is known, the answer of either side is -1 or arbitrary.
  """
  num = 0
  for t, (answer, row) in enumerate(zip(answers, logits)):
    best = int(np.argmax(row))
    if answer == best or np.isneginf(row[best]):
      continue
    if row[best] - row[answer] > _ROUNDING * np.max(np.abs(row[np.isfinite(row)])):
      raise AssertionError(f"Step {t}: the protocol answers {answer}, the loop {best}; their "
                           f"logits in the loop are {row[answer]} and {row[best]}.")
    num += 1
  return num


def keras_rate(sequence: sequences.Sequence, num: int) -> Rate:
  """Rate of a Dense layer called for each sample."""
  layer, features = tf.keras.layers.Dense(CLASSES), sequence.images(0, num)
  layer(features[:1])
  start = now(0)
  for t in range(num):
    int(np.argmax(layer(features[t:t + 1])))
  return between(start, now(num))


class Row(NamedTuple):
  """A line of the table: rates of rounds, and numbers of ties."""

  suite: list[Rate]
  other: list[Rate]
  ties: list[int]


def add(rows: dict[str, Row], name: str, suite: Rate, other: Rate | None = None, ties: int = 0
        ) -> None:
  row = rows.setdefault(name, Row([], [], []))
  row.suite.append(suite)
  if other is not None:
    row.other.append(other)
  row.ties.append(ties)


def image_rates(rows: dict[str, Row], num: int, folder: pathlib.Path) -> None:
  """Measures a round over images."""
  sequence, transform = pictures(num), image_ops.Plain(SIZE)
  for net, make in NETS.items():
    features = frozen_backbone.FrozenBackbone(make, SIZE, seed=1)
    for number, (name, interval) in enumerate(
        [("NCM", None), ("ET", num // PHASES), ("ET", None)]):
      here = folder / f"{net}{number}"
      sequence.rewind(0)
      rate, answers = protocol(learner_of(name, features, transform), sequence, interval,
                               here / "suite")
      loop, logits = Loop(name, features, transform, here / "loop").run(
          sequence, min(num, LOOP[net]), interval)
      what = f", {PHASES} phases" if interval else ", no phase" if name == "ET" else ""
      add(rows, f"{net}, {name}{what}", rate, loop, differing(answers, logits))


def heads(rows: dict[str, Row], num: int, folder: pathlib.Path) -> None:
  """Measures a round over features."""
  sequence, cached = vectors(num), Cached()
  keras = keras_rate(sequence, min(num, LOOP["head"]))
  for name in ("linear", "NCM", "ET"):
    suite = blocks(learner_of(name, cached.features, cached), sequence, folder / f"{name}_blocks")
    if name == "linear":
      add(rows, "head, linear (Keras)", suite, keras)
      continue
    sequence.rewind(0)
    rate, answers = protocol(learner_of(name, cached.features, cached), sequence, None,
                             folder / f"{name}_suite")
    loop, logits = Loop(name, cached.features, cached, folder / f"{name}_loop").run(
        sequence, min(num, LOOP["head"]), None)
    ties = differing(answers, logits)
    add(rows, f"head, {name}", suite, loop, ties)
    add(rows, f"head, {name}, whole protocol", rate, loop, ties)


def run(rounds: int, thousands: int) -> None:
  """Prints the table."""
  num = 1000 * thousands
  print(f"{rounds} rounds; sequences of {num:,} images and {5 * num:,} features; "
        f"load {os.getloadavg()[0]:.1f} at first")
  rows: dict[str, Row] = {}
  for _ in range(rounds):
    with tempfile.TemporaryDirectory() as folder:
      image_rates(rows, num, pathlib.Path(folder))
      heads(rows, 5 * num, pathlib.Path(folder))
  print(f"load {os.getloadavg()[0]:.1f} at last\n\n"
        "| | suite, samples/s (range) | per CPU second | loop, samples/s | per CPU second | ratio "
        "| ties |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
  for name, row in rows.items():
    print(line(name, row))


def line(name: str, row: Row) -> str:
  """Formats medians over rounds; the ratio is the median of ratios within a round."""
  walls = [rate.wall for rate in row.suite]
  ratio = statistics.median(a.wall / b.wall for a, b in zip(row.suite, row.other))
  others = [statistics.median(rate[i] for rate in row.other) for i in range(2)]
  return (f"| {name} | {statistics.median(walls):,.0f} ({min(walls):,.0f} to {max(walls):,.0f}) | "
          f"{statistics.median(rate.cpu for rate in row.suite):,.0f} | {others[0]:,.0f} | "
          f"{others[1]:,.0f} | {ratio:.1f} | {max(row.ties)} |")
