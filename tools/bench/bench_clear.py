# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR's learners: linear on features, 10 buckets x 3,300 x 2,048, batch 64; ResNet-18 on images.

A line per method: samples of the bucket per second of `learn`, including all of its work (memory,
importance, layout of the batches), median over the buckets after the first two, in which graphs are
traced; the same per second of CPU time, which other programs on the machine affect less; and the
ratio to `tf.keras.Model.fit` of the same model on the same bucket. All methods learn a bucket
before the next one. Rows that a method takes from its memory are not counted as samples. Then the
evaluation of the 10 x 10 matrix, as `protocols.clear` does it, compared with Keras' `predict`.

Small operations are faster on one thread: `--threads 1`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import os
import pathlib
import statistics
import tempfile
import time
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger as ledger_lib
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import clear_transform
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.learners import gradient
from suite.models import resnet
from suite.state import context as context_lib
from suite.state import journal
from suite.state import snapshots
from suite.state import weight_store
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.memories import rows_on_disk
from suite.training.objectives import ewc
from suite.training.objectives import gem
from suite.training.objectives import lwf
from suite.training.objectives import si
from suite.training.scoring import evaluation
from suite.training.scoring import scoring

BUCKETS, NUM, WIDTH, CLASSES, BATCH, RATE = 10, 3300, 2048, 11, 64, 0.01
WARM_UP = 2
IMAGE_BUCKETS, IMAGES, IMAGE_SIZE, DECAY = 4, 256, 64, 1e-5
TASK = tasks.Task("bench", tasks.SINGLE_LABEL, CLASSES)
Make = Callable[[], dict[str, Any]]
Learn = Callable[[Any], int]  # learn(bucket) trains on it and returns its number of samples.
_SLOW = {"A-GEM, all of the memory": 1}  # Epochs; the others' number would take minutes.


class Rate(NamedTuple):
  """Rate in samples per second of wall-clock time, and of CPU time of all threads."""

  wall: float
  cpu: float


Rates = dict[str, list[Rate]]

def _held(rule: Any) -> memory.Memory:
  return memory.Memory(NUM, rule)


METHODS: dict[str, Make] = {
    "fine-tuning": dict,
    "EWC": lambda: {"objective": ewc.Ewc(fisher="avalanche")},
    "SI": lambda: {"objective": si.Si(1e-4, 1e-7, 1e-3)},
    "LwF": lambda: {"objective": lwf.Lwf(lwf.ramp(BUCKETS), temperature=1.0)},
    "CWR*": lambda: {"head": class_heads.CwrStar()},
    "GDumb": lambda: {"memory": _held(reservoir.GroupBalanced("class")), "reset": True,
                      "train_on": "memory"},
    "ER": lambda: {"memory": _held(reservoir.GroupBalanced("bucket")), "replay_batch": BATCH},
    "FT, biased reservoir": lambda: {
        "memory": _held(reservoir.BiasedReservoir(1.0, "dynamic")), "train_on": "memory"},
    "A-GEM, all of the memory": lambda: {
        "memory": _held(reservoir.Reservoir()), "objective": gem.Agem(None, chunk=NUM)},
    "A-GEM, 64 of it": lambda: {
        "memory": _held(reservoir.Reservoir()), "objective": gem.Agem(sample_size=64)},
}


def features() -> list[feature_set.FeatureSet]:
  rng = np.random.default_rng(0)
  return [feature_set.FeatureSet.from_arrays(
      f"bench {i}", rng.normal(size=[NUM, WIDTH]).astype(np.float32),
      rng.integers(0, CLASSES, NUM), kind=tasks.SINGLE_LABEL, num_classes=CLASSES)
          for i in range(BUCKETS)]


def images() -> list[image_set.ImageSet]:
  rng = np.random.default_rng(0)
  shape = (IMAGES, IMAGE_SIZE, IMAGE_SIZE, 3)
  return [image_set.ImageSet.from_arrays(
      f"bench {i}", rng.integers(0, 256, shape, dtype=np.uint8), rng.integers(0, CLASSES, IMAGES),
      kind=tasks.SINGLE_LABEL, num_classes=CLASSES) for i in range(IMAGE_BUCKETS)]


def context(folder: pathlib.Path, event: int) -> context_lib.Context:
  ledger = ledger_lib.Ledger()
  return context_lib.Context(
      event=event, ledger=ledger, seeds=seeds.Seeds(0).child("event", event),
      distribution=distribution.build(),
      store=weight_store.WeightStore(folder / "weights", event),
      journal=journal.Journal(event, ledger, snapshots.Snapshots(folder / "progress")),
      delivery=deliveries.BUCKETS)


def suite(folder: pathlib.Path, epochs: int, **arguments: Any) -> Learn:
  learner = gradient.GradientLearner(**{
      "net": trainable_parts.HeadOnly(), "optimizer": optimizers.Momentum(0.9),
      "schedule": schedules.EpochSteps(), "epochs": epochs, "batch_size": BATCH,
      "learning_rate": RATE, **arguments})
  events = iter(range(BUCKETS))

  def learn(bucket: Any) -> int:
    event = next(events)
    here = context(folder, event)
    learner.begin(TASK, here)
    train, validation = bucket.split(0.1, seed=event)
    learner.learn(deliveries.Experience(TASK, train, validation, deliveries.History()), here)
    return epochs * bucket.size

  return learn


def keras_fit(model: tf.keras.Model, epochs: int) -> Learn:
  """Builds the training by `tf.keras.Model.fit`."""
  model.compile(tf.keras.optimizers.SGD(RATE, momentum=0.9),
                tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

  def learn(bucket: Any) -> int:
    model.fit(inputs(bucket), bucket.labels, batch_size=BATCH, epochs=epochs, verbose=0)
    return epochs * bucket.size

  return learn


def inputs(bucket: Any) -> np.ndarray:
  """Returns all inputs of a set as one array."""
  if isinstance(bucket, feature_set.FeatureSet):
    return bucket.features
  batches = bucket.eval_batches(bucket.size, transform=clear_transform.Clear(IMAGE_SIZE))
  return next(iter(batches))["image"].numpy()


def linear() -> tf.keras.Model:
  return tf.keras.Sequential([tf.keras.Input([WIDTH]), tf.keras.layers.Dense(CLASSES)])


def on_features(folder: pathlib.Path, epochs: int) -> dict[str, Learn]:
  transform = feature_set.Features(WIDTH)
  return {"Keras fit": keras_fit(linear(), epochs), **{
      name: suite(folder / str(i), _SLOW.get(name, epochs), transform=transform, **make())
      for i, (name, make) in enumerate(METHODS.items())}}


def on_images(folder: pathlib.Path) -> dict[str, Learn]:
  """Candidates on images; Keras' side has no crops, mirrors or weight decay."""
  shape = (IMAGE_SIZE, IMAGE_SIZE, 3)
  model = tf.keras.Sequential([resnet.resnet18(image_shape=shape), tf.keras.layers.Dense(CLASSES)])
  return {"Keras fit, ResNet-18": keras_fit(model, 1), **{
      f"fine-tuning, ResNet-18, images on {place}": suite(
          folder / place, 1, transform=clear_transform.Clear(IMAGE_SIZE), examples_on=place,
          net=trainable_parts.AllLayers(resnet.resnet18), optimizer=optimizers.Momentum(0.9, DECAY))
      for place in rows_on_disk.PLACES}}


def matrices(data: Sequence[feature_set.FeatureSet]) -> dict[str, Callable[[], int]]:
  """Candidates that predict a whole matrix and return the number of samples."""
  learner, model = gradient.GradientLearner(
      transform=feature_set.Features(WIDTH), net=trainable_parts.HeadOnly()), linear()
  with tempfile.TemporaryDirectory() as folder:
    here = context(pathlib.Path(folder), 0)
    learner.begin(TASK, here)

  def evaluated() -> int:
    forward = scoring.Forward(learner.predict, here.distribution)
    for _ in data:
      for bucket in data:
        evaluation.evaluate(learner.predict, bucket, transform=learner.transform,
                            distribution=here.distribution, ledger=here.ledger, batch_size=NUM,
                            forward=forward)
    return len(data)**2 * NUM

  def predicted() -> int:
    for _ in data:
      for bucket in data:
        found = model.predict(bucket.features, batch_size=NUM, verbose=0).argmax(1)
        np.mean(found == bucket.labels)
    return len(data)**2 * NUM

  return {"Keras predict": predicted, "evaluation": evaluated}


def timed(act: Callable[[], int]) -> Rate:
  wall, cpu = time.perf_counter(), time.process_time()
  num = act()
  return Rate(num / (time.perf_counter() - wall), num / (time.process_time() - cpu))


def taking_turns(candidates: dict[str, Learn], data: Sequence[Any], warm_up: int, rates: Rates
                 ) -> None:
  """Adds the rates of each bucket after the warm-up; candidates alternate their order."""
  for name in candidates:
    rates.setdefault(name, [])
  for number, bucket in enumerate(data):
    for name in list(candidates)[::1 if number % 2 == 0 else -1]:
      rate = timed(functools.partial(candidates[name], bucket))
      if number >= warm_up:
        rates[name].append(rate)


def run(rounds: int, epochs: int) -> None:
  """Prints the table."""
  tables: list[Rates] = [{}, {}, {}]
  data, pictures = features(), images()
  evaluations = matrices(data)
  print(f"{rounds} rounds, {epochs} epochs a bucket; load {os.getloadavg()[0]:.1f} at first")
  for _ in range(rounds):
    with tempfile.TemporaryDirectory() as folder:
      parts = [pathlib.Path(folder) / part for part in ("features", "images")]
      taking_turns(on_features(parts[0], epochs), data, WARM_UP, tables[0])
      for name, act in evaluations.items():
        tables[1].setdefault(name, []).append(timed(act))
      taking_turns(on_images(parts[1]), pictures, 1, tables[2])
  print(f"load {os.getloadavg()[0]:.1f} at last\n\n"
        "| | samples/s (range) | samples per CPU second | ratio to Keras |\n"
        "| --- | ---: | ---: | ---: |")
  for rates in tables:
    base = next(iter(rates.values()))
    for name, values in rates.items():
      print(_row(name, values, base))


def _row(name: str, values: Sequence[Rate], base: Sequence[Rate]) -> str:
  walls = [value.wall for value in values]
  ratio = statistics.median(a.wall / b.wall for a, b in zip(values, base))
  return (f"| {name} | {statistics.median(walls):,.0f} ({min(walls):,.0f} to {max(walls):,.0f}) | "
          f"{statistics.median(value.cpu for value in values):,.0f} | {ratio:.2f} |")
