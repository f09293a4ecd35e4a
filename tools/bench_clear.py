# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR's learners on features: 10 buckets x 3,300 x 2,048, a linear model, batch 64.

A line a method: samples of the bucket per second of `learn`, everything in it counted (memory,
importance, layout of the batches), the median over the buckets after the first two, in which graphs
are traced; beside `tf.keras.Model.fit` of the same model on the same buckets. Rows that a method
takes from its memory are not counted as samples. Then the evaluation of the 10 x 10 matrix.

Small operations are sooner done by one thread than cut up: `--threads 1`.
"""

from __future__ import annotations

import pathlib
import statistics
import tempfile
import time
from typing import Any, Callable, Dict, List

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import ledger as ledger_lib
from suite.compute import seeds as seeds_lib
from suite.data import experience
from suite.data import feature_set
from suite.data import tasks
from suite.learners import bucket_learner
from suite.training import context as context_lib
from suite.training import evaluation
from suite.training import heads
from suite.training import journal
from suite.training import scoring
from suite.training import snapshots
from suite.training import weight_store
from suite.training.memories import biased_reservoir
from suite.training.memories import group_balanced
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.penalties import agem
from suite.training.penalties import ewc
from suite.training.penalties import lwf
from suite.training.penalties import si

BUCKETS, NUM, WIDTH, CLASSES, BATCH, RATE = 10, 3300, 2048, 11, 64, 0.01
WARM_UP, BATCH_EVALUATED = 2, NUM
TASK = tasks.Task("bench", tasks.SINGLE_LABEL, CLASSES)
Make = Callable[[], Dict[str, Any]]


def _held(rule: Any) -> memory.Memory:
  return memory.Memory(NUM, rule)


METHODS: Dict[str, Make] = {
    "fine-tuning": dict,
    "EWC": lambda: {"penalty": ewc.Ewc()},
    "SI": lambda: {"penalty": si.Si()},
    "LwF": lambda: {"penalty": lwf.Lwf(lwf.ramp(BUCKETS))},
    "CWR*": lambda: {"head": heads.Consolidated()},
    "GDumb": lambda: {"memory": _held(group_balanced.GroupBalanced("class")), "reset": True,
                      "train_on": "memory"},
    "ER": lambda: {"memory": _held(group_balanced.GroupBalanced("bucket")), "train_on": "both"},
    "FT, biased reservoir": lambda: {
        "memory": _held(biased_reservoir.BiasedReservoir(1.0, "dynamic")), "train_on": "memory"},
    "A-GEM, all of the memory": lambda: {
        "memory": _held(reservoir.Reservoir()), "penalty": agem.Agem(chunk=NUM)},
    "A-GEM, 64 of it": lambda: {
        "memory": _held(reservoir.Reservoir()), "penalty": agem.Agem(sample_size=64)},
}
_SLOW = {"A-GEM, all of the memory": 1}  # Epochs, where the others' would take minutes.


def buckets() -> List[feature_set.FeatureSet]:
  rng = np.random.default_rng(0)
  return [feature_set.FeatureSet.from_arrays(
      f"bench {i}", rng.normal(size=[NUM, WIDTH]).astype(np.float32),
      rng.integers(0, CLASSES, NUM), kind=tasks.SINGLE_LABEL, num_classes=CLASSES)
          for i in range(BUCKETS)]


def context(folder: pathlib.Path, event: int) -> context_lib.Context:
  ledger = ledger_lib.Ledger()
  return context_lib.Context(
      event=event, ledger=ledger, seeds=seeds_lib.Seeds(0).child("event", event),
      distribution=distribution_lib.build(),
      store=weight_store.WeightStore(folder / "weights", event),
      journal=journal.Journal(event, ledger, snapshots.Snapshots(folder / "progress")))


def suite(make: Make, data: List[feature_set.FeatureSet], epochs: int) -> List[float]:
  """Samples per second in each bucket after the warm-up."""
  learner = bucket_learner.BucketLearner(
      transform=feature_set.Features(WIDTH), epochs=epochs, batch_size=BATCH, learning_rate=RATE,
      **make())
  rates = []
  with tempfile.TemporaryDirectory() as folder:
    for event, bucket in enumerate(data):
      here = context(pathlib.Path(folder), event)
      learner.begin(TASK, here)
      delivered = experience.Experience(
          TASK, *bucket.split(0.1, seed=event), experience.History())
      start = time.perf_counter()
      learner.learn(delivered, here)
      rates.append(epochs * NUM / (time.perf_counter() - start))
  return rates[WARM_UP:]


def keras_fit(data: List[feature_set.FeatureSet], epochs: int) -> List[float]:
  """The same training as Keras users write it."""
  model = tf.keras.Sequential([tf.keras.Input([WIDTH]), tf.keras.layers.Dense(CLASSES)])
  model.compile(tf.keras.optimizers.SGD(RATE, momentum=0.9),
                tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
  rates = []
  for bucket in data:
    start = time.perf_counter()
    model.fit(bucket.features, bucket.labels, batch_size=BATCH, epochs=epochs, verbose=0)
    rates.append(epochs * NUM / (time.perf_counter() - start))
  return rates[WARM_UP:]


def matrices(data: List[feature_set.FeatureSet], per_cell: bool) -> float:
  """Samples per second over a 10 x 10 matrix: one compiled function a row, or one a cell."""
  learner = bucket_learner.BucketLearner(transform=feature_set.Features(WIDTH))
  with tempfile.TemporaryDirectory() as folder:
    here = context(pathlib.Path(folder), 0)
    learner.begin(TASK, here)
    start = time.perf_counter()
    for _ in data:
      forward = scoring.Forward(learner.predict, here.distribution)
      for bucket in data:
        if per_cell:
          evaluation.evaluate(learner.predict, bucket, transform=learner.transform,
                              distribution=here.distribution, ledger=here.ledger,
                              batch_size=BATCH_EVALUATED)
        else:
          evaluation.score(forward.run(
              bucket, transform=learner.transform, batch_size=BATCH_EVALUATED, ledger=here.ledger,
              phase="predict"), TASK.kind)
    return BUCKETS * BUCKETS * NUM / (time.perf_counter() - start)


def run(rounds: int, epochs: int) -> None:
  """Prints the table; the methods take turns in each round."""
  data = buckets()
  rates: Dict[str, List[float]] = {"Keras fit": [], **{name: [] for name in METHODS}}
  for _ in range(rounds):
    rates["Keras fit"] += keras_fit(data, epochs)
    for name, make in METHODS.items():
      rates[name] += suite(make, data, _SLOW.get(name, epochs))
  for name, values in rates.items():
    _show(name, values, statistics.median(rates["Keras fit"]))
  for name, per_cell in (("evaluation, graph a row", False), ("evaluation, graph a cell", True)):
    _show(name, [matrices(data, per_cell) for _ in range(rounds)])


def _show(name: str, values: List[float], base: float = 0.0) -> None:
  ratio = f"   {statistics.median(values) / base:5.2f} x Keras fit" if base else ""
  print(f"{name:28s} median {statistics.median(values):9,.0f} samples/s   "
        f"range {min(values):,.0f}..{max(values):,.0f}{ratio}")
