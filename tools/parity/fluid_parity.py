# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID: the suite's protocol and learners beside the authors' loop, trainers and models.

Inputs are sequences of features, so that both sides have the same backbone: 3,000 samples of 200
long-tailed classes in 64 dimensions, drawn from a seed, and the pixels of scikit-learn's digits.
Nothing is known before the first sample. Exemplar Tuning was not published; the suite is compared
with the paper's equation 1 by hand in float64, and without phases, where it is the authors' hybrid
classifier: unit sums, the dot product. What that classifier does otherwise than the paper, the time
of its first update and norms that drift, is compared by hand, too, on images of the digits.
"""

from __future__ import annotations

from collections.abc import Iterator
import pathlib
import tempfile
from typing import Any, NamedTuple

import authors as authors_lib
import fluid_novelty
import numpy as np
import parity_rows
import tensorflow as tf

from suite.compute import distribution
from suite.data.digits import digits
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.data.sequences import sequences
from suite.learners import exemplar_tuning
from suite.learners import gradient
from suite.learners import statistics_learner
from suite.metrics import sequence_log
from suite.protocols import fluid
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.gradient import class_heads
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.sequence import update_strategies
from suite.training.statistics import class_means

SEEDS = range(5)
INTERVAL, EPOCHS, BATCH, MOMENTUM = 250, 4, 256, 0.9
WHOLE = 1 << 14  # A batch larger than any store: no order of samples is drawn.
NEAR_TIES = 3  # Answers that rounding may change: one side trains in float32.
WAITS = 2  # Phases that train nothing in the authors' code.
NORM_MOMENTUM, NORM_EPSILON = 0.9, 1e-3
TUNING_RATE = 0.01  # Of Exemplar Tuning: at 0.1 the result depends on the order of batches most.
Row = parity_rows.Row

_CENTROIDS = ("The authors' code has no mask of the known classes: a slot without a sample is a "
              "centroid of zeros and may be the answer, as it is to the first sample. Among the "
              "classes that have a sample the answers are equal (rows above).")
_SLOTS = ("Without a mask the cross-entropy runs over 1,000 slots, of which 800 never get a sample "
          "here; the suite's runs over the classes known so far.")


class Stream(NamedTuple):
  """Samples in order: features float32 [T, D] and labels int64 [T], and how to print them.

  Samples with `images` uint8 [T, H, W, 3] are given to a backbone here.
  """

  name: str
  features: np.ndarray
  labels: np.ndarray
  images: np.ndarray | None = None

  @property
  def num_classes(self) -> int:
    return int(self.labels.max()) + 1


class Answers(NamedTuple):
  """The closed answer at each step, -1 for none, its logit; of the suite its open answers, too, and
  the summary.
  """

  answers: np.ndarray
  logits: np.ndarray
  open: np.ndarray | None = None
  summary: dict[str, Any] | None = None


def synthetic(num: int = 3000, num_classes: int = 200, width: int = 64) -> Stream:
  """Rectified Gaussian features; class counts fall with their rank."""
  rng = np.random.default_rng(0)
  chosen = rng.choice(num_classes, num, p=_tail(num_classes))
  means = rng.normal(size=(num_classes, width)) * 0.5
  features = np.maximum(0, means[chosen] + rng.normal(size=(num, width)) + 0.3)
  return Stream(f"{num:,} samples of {num_classes} synthetic classes, {width} features",
                features.astype(np.float32), chosen)


def _tail(num_classes: int) -> np.ndarray:
  weights = 1.0 / (5.0 + np.arange(1, num_classes + 1))
  return weights / weights.sum()


def pixels() -> Stream:
  """The digits in a random order, as vectors of pixels."""
  images, labels = digits.load()
  order = np.random.default_rng(0).permutation(len(labels))
  features = images[order].reshape(len(order), -1).astype(np.float32) / 255.0
  return Stream(f"{len(order):,} digits, {features.shape[1]} pixels", features, labels[order])


def images_of_digits(num: int | None = None) -> Stream:
  """The first `num` of the same digits as images; features are their pixels 0..255."""
  images, labels = digits.load()
  order = np.random.default_rng(0).permutation(len(labels))[:num]
  return Stream(f"{len(order):,} digits, images of 8 x 8 pixels",
                images[order].reshape(len(order), -1).astype(np.float32), labels[order],
                np.repeat(images[order], 3, axis=3))


def ours(learner: Any, stream: Stream, interval: int = 0, seed: int = 0,
         new_below: float | None = None) -> Answers:
  """Runs the suite's protocol on the stream."""
  with tempfile.TemporaryDirectory() as folder:
    writer = run_writer.RunWriter(pathlib.Path(folder), None, progress.Progress("parity"))
    state = run_state.RunState(
        pathlib.Path(folder), writer, name="parity", seed=seed,
        distribution=distribution.build())
    samples = stream.features if stream.images is None else stream.images
    sequence = sequences.Sequence(samples, stream.labels,
                                  [f"s{i}" for i in range(len(stream.labels))], 0)
    update = update_strategies.Every(interval) if interval else update_strategies.Never()
    summary = fluid.run(learner, state=state, sequence=sequence, update=update,
                        novelty=sequence_log.Novelty(new_below=new_below))
    log = sequence_log.from_records(state.records)
  return Answers(log.closed_answers, log.max_logits, log.answers, summary)


def masked(logits: np.ndarray, labels: np.ndarray) -> Answers:
  """The best class among those with a label so far, of logits [T, C]."""
  first = np.full(logits.shape[1], len(labels))
  np.minimum.at(first, labels, np.arange(len(labels)))
  logits = np.where(first < np.arange(len(labels))[:, None], logits.astype(np.float64), -np.inf)
  best = logits.max(axis=1)
  return Answers(np.where(np.isfinite(best), logits.argmax(axis=1), -1), best)


def accuracy(answers: np.ndarray, stream: Stream) -> float:
  return float(np.mean(answers == stream.labels))


def tuning_by_hand(stream: Stream, *, interval: int, rate: float, batch: int, seed: int) -> Answers:
  """Exemplar Tuning from the paper's equation 1, one sample at a time in float64.

  The class's row is the mean of its unit features plus a residual; residuals take gradient steps
  with momentum on the cross-entropy of all that is stored, among classes with a sample.
  """
  rng, features = np.random.default_rng(seed), stream.features.astype(np.float64)
  units = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
  sums, counts = np.zeros((stream.num_classes, features.shape[1])), np.zeros(stream.num_classes)
  moved, velocity, found = np.zeros_like(sums), np.zeros_like(sums), []
  for t, label in enumerate(stream.labels):
    rows, known = sums / np.maximum(counts, 1)[:, None] + moved, counts > 0
    logits = np.where(known, rows @ features[t], -np.inf)
    found.append((int(logits.argmax()) if known.any() else -1, logits.max()))
    sums[label] += units[t]
    counts[label] += 1
    if not interval or (t + 1) % interval:
      continue
    means, known = sums / np.maximum(counts, 1)[:, None], counts > 0
    for _ in range(EPOCHS):
      order = rng.permutation(t + 1)
      for start in range(0, t + 1, batch):
        rows = order[start:start + batch]
        logits = np.where(known, features[rows] @ (means + moved).T, -np.inf)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        shares[np.arange(len(rows)), stream.labels[rows]] -= 1
        velocity = MOMENTUM * velocity + shares.T @ features[rows] / len(rows)
        moved = moved - rate * velocity
  answers, best = zip(*found)
  return Answers(np.array(answers), np.array(best))


def tuning_by_hand_as_code(stream: Stream, *, interval: int, rate: float) -> Answers:
  """Exemplar Tuning by the rules of the authors' code, one sample at a time in float64.

  Features are inputs [T, D] normalized by running statistics, which follow those of the batch, all
  that is stored, in training. The first phases train nothing; with the last of these, centroids
  stay. A class without one is answered once its label has come.
  """
  inputs, labels = stream.features.astype(np.float64), stream.labels
  mean, variance = np.zeros(inputs.shape[1]), np.ones(inputs.shape[1])
  sums, counts = np.zeros((stream.num_classes, inputs.shape[1])), np.zeros(stream.num_classes)
  moved, velocity = np.zeros_like(sums), np.zeros_like(sums)
  seen, found = np.zeros(stream.num_classes, bool), []
  for t, label in enumerate(labels):
    feature = (inputs[t] - mean) / np.sqrt(variance + NORM_EPSILON)
    means = sums / np.maximum(counts, 1)[:, None]
    logits = np.where(seen, (means + moved) @ feature, -np.inf)
    found.append((int(logits.argmax()) if seen.any() else -1, logits.max()))
    seen[label] = True
    if t < WAITS * interval:
      sums[label] += feature / np.linalg.norm(feature)
      counts[label] += 1
    if (t + 1) % interval or t + 1 <= WAITS * interval:
      continue
    stored, means = inputs[:t + 1], sums / np.maximum(counts, 1)[:, None]
    spread = stored.var(axis=0)
    features = (stored - stored.mean(axis=0)) / np.sqrt(spread + NORM_EPSILON)
    for _ in range(EPOCHS):
      logits = np.where(seen, features @ (means + moved).T, -np.inf)
      shares = np.exp(logits - logits.max(axis=1, keepdims=True))
      shares /= shares.sum(axis=1, keepdims=True)
      shares[np.arange(t + 1), labels[:t + 1]] -= 1
      velocity = MOMENTUM * velocity + shares.T @ features / (t + 1)
      moved = moved - rate * velocity
      mean = NORM_MOMENTUM * mean + (1 - NORM_MOMENTUM) * stored.mean(axis=0)
      variance = NORM_MOMENTUM * variance + (1 - NORM_MOMENTUM) * spread * (t + 1) / t
  answers, best = zip(*found)
  return Answers(np.array(answers), np.array(best))


def _normalizing(image_shape: tuple[int, int, int]) -> tf.keras.Model:
  """Pixels [B, 8, 8, 3] -> those of the first channel, each normalized, [B, 64]."""
  images = tf.keras.Input(image_shape)
  gray = tf.keras.layers.Reshape((1, 1, -1))(
      tf.keras.layers.Lambda(lambda x: tf.cast(x[..., 0], tf.float32))(images))
  normalized = tf.keras.layers.BatchNormalization(
      momentum=NORM_MOMENTUM, epsilon=NORM_EPSILON)(gray)
  return tf.keras.Model(images, tf.keras.layers.Flatten()(normalized))


def exemplars_as_code() -> exemplar_tuning.ExemplarTuning:
  """Exemplar Tuning with the suite's switches for the authors' code, on images of the digits."""
  return exemplar_tuning.ExemplarTuning(
      transform=image_ops.Plain(8), rules="code", learning_rate=TUNING_RATE,
      net=trainable_parts.Drifting(lambda: frozen_backbone.FrozenBackbone(_normalizing, 8)),
      momentum=MOMENTUM, epochs=EPOCHS, batch_size=WHOLE)


def _transform(stream: Stream) -> feature_set.Features:
  return feature_set.Features(stream.features.shape[1])


def _means(stream: Stream, similarity: str = "euclidean") -> statistics_learner.StatisticsLearner:
  return statistics_learner.StatisticsLearner(
      class_means.ClassMeans(similarity), transform=_transform(stream))


def _tuner(stream: Stream, batch: int) -> gradient.GradientLearner:
  return gradient.GradientLearner(
      transform=_transform(stream), net=trainable_parts.HeadOnly(None),
      head=class_heads.Linear(start="zeros"), train_on="all", epochs=EPOCHS, batch_size=batch,
      learning_rate=0.1, optimizer=optimizers.Momentum(MOMENTUM, 1e-4, keep=True))


def _exemplars(stream: Stream, batch: int = BATCH) -> exemplar_tuning.ExemplarTuning:
  return exemplar_tuning.ExemplarTuning(
      transform=_transform(stream), learning_rate=TUNING_RATE, momentum=MOMENTUM, epochs=EPOCHS,
      batch_size=batch)


def _answers_row(what: str, stream: Stream, theirs: Answers, mine: Answers, allowed: int = 0,
                 **settings: Any) -> Row:
  """A row of the number of answers that differ; near-ties in float32 are `allowed`."""
  return Row(what, stream.name, f"accuracy {accuracy(theirs.answers, stream):.4f}",
             f"accuracy {accuracy(mine.answers, stream):.4f}",
             float(np.sum(theirs.answers != mine.answers)), "answers that differ", allowed,
             **settings)


def _logits_row(what: str, stream: Stream, theirs: Answers, mine: Answers) -> Row:
  there = np.isfinite(theirs.logits)
  size = np.abs(theirs.logits[there]).max()
  distance = np.abs(theirs.logits[there] - mine.logits[there]).max() / size
  shown = [f"mean {logits[there].mean():.6g}" for logits in (theirs.logits, mine.logits)]
  return Row(f"{what}, logit of the answer", stream.name, *shown, float(distance),
             "largest difference, relative to the largest", 1e-5)


def _score_rows(authors: authors_lib.Authors, name: str, stream: Stream, mine: Answers
                ) -> list[Row]:
  """Our scores of our answers beside those of their tracker."""
  said = authors.ask("public_fluid_answers", {"answers": mine.answers, "labels": stream.labels},
                     kind="metrics")
  of_classes = said["by_class"][np.bincount(stream.labels) > 0]
  closed = mine.summary["closed"]
  pairs = (("accuracy", said["overall"], "overall"),
           ("mean accuracy of classes", of_classes.mean(), "mean_per_class"))
  return [Row(f"{name}: {what} of the same answers", stream.name, f"{theirs:.6f}",
              f"{closed[key]:.6f}", float(abs(theirs - closed[key])), "difference", 1e-12)
          for what, theirs, key in pairs]


def _means_rows(authors: authors_lib.Authors, stream: Stream) -> list[Row]:
  found, given = [], {"features": stream.features, "labels": stream.labels}
  for kind, name in (("ncm", "NCM, squared distance"), ("cosine", "NCM, cosine")):
    said = authors.ask("public_fluid_answers", given, kind=kind, interval=1)
    theirs = masked(said["logits"], stream.labels)
    mine = ours(_means(stream, "euclidean" if kind == "ncm" else kind), stream)
    found += [_answers_row(name, stream, theirs, mine), _logits_row(name, stream, theirs, mine),
              *_score_rows(authors, name, stream, mine)]
    found.append(_answers_row(
        f"{name}, all 1,000 slots as published", stream,
        Answers(said["published"], theirs.logits), mine,
        reason=_CENTROIDS))
    if kind == "ncm":
      def thresholded(below: float) -> tuple[np.ndarray, dict[str, Any]]:
        run = ours(_means(stream), stream, new_below=below)
        return run.open, run.summary

      found += fluid_novelty.rows(
          stream.name, stream.labels, theirs.answers, theirs.logits, thresholded)
  return found


def _hybrid_rows(authors: authors_lib.Authors, stream: Stream) -> list[Row]:
  """The centroid phase of their hybrid classifier, and Exemplar Tuning without phases."""
  given = {"features": stream.features, "labels": stream.labels}
  theirs = masked(authors.ask("public_fluid_answers", given, kind="hybrid", interval=1)["logits"],
                  stream.labels)
  by_hand = tuning_by_hand(stream, interval=0, rate=0.0, batch=WHOLE, seed=0)
  mine = ours(_exemplars(stream), stream)
  return [
      _answers_row("hybrid classifier before it trains; here NCM, cosine", stream, theirs,
                   ours(_means(stream, "cosine"), stream)),
      _answers_row("Exemplar Tuning without phases, against equation 1 by hand", stream, by_hand,
                   mine),
      _logits_row("Exemplar Tuning without phases, against equation 1 by hand", stream, by_hand,
                  mine)]


def _tuned_rows(authors: authors_lib.Authors, stream: Stream) -> list[Row]:
  """Fine-tuning of the head: in whole batches answer by answer, in small ones by accuracy."""
  given = {"features": stream.features, "labels": stream.labels}

  def theirs(batch: int, seed: int, is_masked: bool) -> Answers:
    said = authors.ask("public_fluid_answers", given, kind="finetune", interval=INTERVAL, seed=seed,
                       epochs=EPOCHS, batch=batch, rate=0.1, momentum=MOMENTUM, masked=is_masked)
    return masked(said["logits"], stream.labels)

  def accuracies(is_masked: bool) -> list[float]:
    return [accuracy(theirs(BATCH, seed, is_masked).answers, stream) for seed in SEEDS]

  mine = [accuracy(ours(_tuner(stream, BATCH), stream, INTERVAL, seed).answers, stream)
          for seed in SEEDS]
  what = f"fine-tuning of the head, batches of {BATCH}"
  return [
      _answers_row("fine-tuning of the head, the whole store in a batch, known classes only",
                   stream, theirs(WHOLE, 0, True), ours(_tuner(stream, WHOLE), stream, INTERVAL),
                   allowed=NEAR_TIES),
      parity_rows.within_seeds(f"{what}, known classes only: accuracy", stream.name,
                               accuracies(True), mine),
      parity_rows.within_seeds(f"{what}, all 1,000 slots as published: accuracy", stream.name,
                               accuracies(False), mine, reason=_SLOTS)]


def _exemplar_rows(stream: Stream) -> list[Row]:
  def by_hand(batch: int, seed: int) -> Answers:
    return tuning_by_hand(stream, interval=INTERVAL, rate=TUNING_RATE, batch=batch, seed=seed)

  return [
      _answers_row("Exemplar Tuning, the whole store in a batch, against equation 1 by hand",
                   stream, by_hand(WHOLE, 0), ours(_exemplars(stream, WHOLE), stream, INTERVAL),
                   allowed=NEAR_TIES),
      parity_rows.within_seeds(
          f"Exemplar Tuning, batches of {BATCH}, against equation 1 by hand: accuracy",
          stream.name, [accuracy(by_hand(BATCH, seed).answers, stream) for seed in SEEDS],
          [accuracy(ours(_exemplars(stream), stream, INTERVAL, seed).answers, stream)
           for seed in SEEDS])]


def _as_code_rows(stream: Stream) -> list[Row]:
  by_hand = tuning_by_hand_as_code(stream, interval=INTERVAL, rate=TUNING_RATE)
  mine = ours(exemplars_as_code(), stream, INTERVAL)
  what = "Exemplar Tuning by the rules of the authors' code, against these by hand"
  return [_answers_row(what, stream, by_hand, mine, allowed=NEAR_TIES)]


def compare(authors: authors_lib.Authors, data_dir: str | None) -> Iterator[Row]:
  """All rows, in about two minutes; `data_dir` is not used."""
  del data_dir
  for stream in (synthetic(), pixels()):
    yield from _means_rows(authors, stream)
    yield from _hybrid_rows(authors, stream)
  yield from _tuned_rows(authors, synthetic())
  yield from _exemplar_rows(synthetic())
  yield from _as_code_rows(images_of_digits())
