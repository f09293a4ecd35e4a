# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR: the nine methods of its table beside Avalanche, with which the table was made.

Inputs are five buckets of features whose classes drift, drawn from a seed; the net is a linear
layer that begins at zero. With whole buckets as batches nothing is drawn at random, and methods
that train on the current bucket alone must end with the same weights. Methods that draw from what
they store are compared by accuracy over seeds, in mini-batches. Penalties are strong enough to act:
CLEAR's own hardly do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
import pathlib
import tempfile
from typing import Any, NamedTuple

import authors as authors_lib
import numpy as np
import parity_rows

from suite.compute import distribution
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.streams import buckets as buckets_lib
from suite.learners import gradient
from suite.protocols import clear
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.gradient import class_heads
from suite.training.gradient import schedules
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import ewc
from suite.training.objectives import gem
from suite.training.objectives import lwf
from suite.training.objectives import si

BUCKETS, TRAIN, TEST, CLASSES, WIDTH = 5, 300, 400, 10, 64
EPOCHS, FALLS_EVERY, RATE, SEEDS = 20, 12, 0.05, range(3)
BATCH = 30  # Divides a bucket: the last batch is short there, and filled from the next epoch here.
SLOTS = 300  # Of memories.
ROUNDING = 1e-4  # Of weights after 200 steps in float32.
Row = parity_rows.Row

_SI = ("Avalanche's `extract_weights` keeps views of the weights on the CPU, which follow every "
       "step: no path is ever measured, and the penalty stays 0. With copies both agree (row "
       "above).")


class Series(NamedTuple):
  """Features float32 [T, N, D] and labels int64 [T, N]."""

  train: np.ndarray
  train_labels: np.ndarray
  test: np.ndarray
  test_labels: np.ndarray


class Method(NamedTuple):
  """Avalanche's strategy and the arguments of both sides, new ones for each run."""

  title: str
  strategy: str
  arguments: Callable[[], dict[str, Any]]
  ours: Callable[[], dict[str, Any]]
  is_determined: bool = True  # With whole buckets as batches; others draw from a memory.
  copies: bool = False


METHODS = (
    Method("fine-tuning", "Naive", lambda: {}, lambda: {}),
    Method("online EWC", "EWC",
           lambda: {"ewc_lambda": 1000.0, "mode": "online", "decay_factor": 0.1},
           lambda: {"objective": ewc.Ewc(1000.0, decay=0.1, fisher="avalanche")}),
    Method("SI, weights copied", "SynapticIntelligence",
           lambda: {"si_lambda": 2000.0, "eps": 1e-7},
           lambda: {"objective": si.Si(2000.0, 1e-7, 1e-3, path="whole")}, copies=True),
    Method("LwF", "LwF",
           lambda: {"alpha": lwf.ramp(BUCKETS), "temperature": 1.0},
           lambda: {"objective": lwf.Lwf(lwf.ramp(BUCKETS), temperature=1.0)}),
    Method("CWR*", "CWRStar", lambda: {"cwr_layer_name": None},
           lambda: {"head": class_heads.CwrStar(counts_first=True)}),
    Method("GDumb", "GDumb", lambda: {"mem_size": SLOTS},
           lambda: {"memory": memory.Memory(SLOTS, reservoir.GroupBalanced("class")),
                          "train_on": "memory", "reset": True}, is_determined=False),
    Method("ER, buckets in equal parts", "Replay", lambda: {"mem_size": SLOTS},
           lambda: {"memory": memory.Memory(SLOTS, reservoir.GroupBalanced("bucket")),
                          "replay_batch": BATCH}, is_determined=False),
    Method("A-GEM", "AGEM",
           lambda: {"patterns_per_exp": SLOTS // BUCKETS, "sample_size": SLOTS},
           lambda: {"memory": memory.Memory(SLOTS, reservoir.Reservoir()),
                          "objective": gem.Agem(None)}, is_determined=False),
    Method("cumulative", "Cumulative", lambda: {}, lambda: {"train_on": "all"},
           is_determined=False),
)


def drifting() -> Series:
  """Gaussian classes; their means turn into others from the first bucket to the last."""
  rng = np.random.default_rng(0)
  first, last = rng.normal(size=(2, CLASSES, WIDTH))

  def draw(num: int) -> tuple[np.ndarray, np.ndarray]:
    labels = np.stack([rng.permutation(np.arange(num) % CLASSES) for _ in range(BUCKETS)])
    angle = np.linspace(0, np.pi / 2, BUCKETS)[:, None, None]
    means = np.cos(angle) * first + np.sin(angle) * last
    features = np.stack([means[t][labels[t]] for t in range(BUCKETS)])
    return (features + 2.5 * rng.normal(size=features.shape)).astype(np.float32), labels

  return Series(*draw(TRAIN), *draw(TEST))


def ours(series: Series, settings: dict[str, Any], batch: int, seed: int) -> dict[str, np.ndarray]:
  """Runs the protocol: "accuracies" [T, T], and the last "kernel" [D, C] and "bias"."""
  def part(name: str, features: np.ndarray, labels: np.ndarray) -> feature_set.FeatureSet:
    return feature_set.FeatureSet.from_arrays(
        name, features, labels, kind=tasks.SINGLE_LABEL, num_classes=CLASSES)

  buckets = buckets_lib.Buckets(
      tasks.Task("drifting", tasks.SINGLE_LABEL, CLASSES),
      tuple(buckets_lib.Bucket(f"bucket_{t:02d}", part(f"train_{t}", train, train_labels),
                               part(f"test_{t}", test, test_labels))
            for t, (train, train_labels, test, test_labels) in enumerate(zip(*series))))
  learner = gradient.GradientLearner(**{
      "transform": feature_set.Features(WIDTH), "net": trainable_parts.HeadOnly(None),
      "head": class_heads.Linear(start="zeros"), "epochs": EPOCHS, "batch_size": batch,
      "learning_rate": RATE, "schedule": schedules.EpochSteps(FALLS_EVERY), **settings})
  with tempfile.TemporaryDirectory() as folder:
    writer = run_writer.RunWriter(pathlib.Path(folder), None, progress.Progress("parity"))
    state = run_state.RunState(pathlib.Path(folder), writer, name="parity", seed=seed,
                               distribution=distribution.build())
    summary = clear.run(learner, state=state, buckets=buckets, mode="iid")
  bias = learner.predict(np.zeros((1, WIDTH), np.float32)).numpy()[0]
  kernel = learner.predict(np.eye(WIDTH, dtype=np.float32)).numpy() - bias
  return {"accuracies": np.array(summary["matrix"], float), "kernel": kernel, "bias": bias}


def theirs(authors: authors_lib.Authors, series: Series, method: Method, batch: int,
           seeds: Sequence[int]) -> list[dict[str, np.ndarray]]:
  """What `ours` returns, of Avalanche and for each seed."""
  said = authors.ask(
      "public_clear", series._asdict(), method=method.strategy, arguments=method.arguments(),
      copies=method.copies, epochs=EPOCHS, rate_falls_every=FALLS_EVERY, rate=RATE, batch=batch,
      seeds=list(seeds))
  return [{name: values[i] for name, values in said.items()} for i in range(len(seeds))]


def _weights(found: dict[str, np.ndarray]) -> np.ndarray:
  return np.concatenate([found["kernel"].ravel(), found["bias"]])


def weights_row(what: str, inputs: str, said: dict[str, np.ndarray], mine: dict[str, np.ndarray],
                reason: str = "") -> Row:
  reference, weights = _weights(said), _weights(mine)
  size = float(np.linalg.norm(reference))
  return Row(f"{what}: weights after the last bucket", inputs, f"norm {size:.5f}",
             f"norm {np.linalg.norm(weights):.5f}",
             float(np.linalg.norm(weights - reference) / size), "norm of the difference, relative",
             ROUNDING, reason)


def _matrix_row(what: str, inputs: str, said: dict[str, np.ndarray], mine: dict[str, np.ndarray]
                ) -> Row:
  pair = [100 * found["accuracies"] for found in (said, mine)]
  return Row(f"{what}: accuracies after each bucket, on each", inputs,
             *(f"mean {values.mean():.2f}%" for values in pair),
             float(np.abs(pair[0] - pair[1]).max()), "largest difference, points", 100 / TEST)


def _determined_rows(said: Callable[..., list[dict[str, np.ndarray]]], series: Series
                     ) -> Iterator[Row]:
  """Rows of methods that draw nothing; said(method, copies, batch) is Avalanche's outcome."""
  inputs = f"{BUCKETS} buckets of {TRAIN} in whole batches, tests of {TEST}"
  for method in METHODS:
    if not method.is_determined:
      continue
    found, mine = said(method, method.copies, TRAIN)[0], ours(series, method.ours(), TRAIN, 0)
    yield weights_row(method.title, inputs, found, mine)
    yield _matrix_row(method.title, inputs, found, mine)
    if method.copies:
      as_published = said(method, False, TRAIN)[0]
      yield weights_row("SI as published", inputs, as_published, mine, _SI)
      yield weights_row("SI as published; ours is Avalanche's fine-tuning here", inputs,
                        as_published, said(METHODS[0], False, TRAIN)[0])


def compare(authors: authors_lib.Authors, data_dir: str | None) -> Iterator[Row]:
  """All rows, in about five minutes; `data_dir` is not used. Avalanche runs beside the suite."""
  del data_dir
  series = drifting()
  with futures.ThreadPoolExecutor(3) as pool:
    asked = {}
    for method in METHODS:
      batch, seeds = (TRAIN, [0]) if method.is_determined else (BATCH, SEEDS)
      for copies in {method.copies, False}:
        asked[method.title, copies, batch] = pool.submit(
            theirs, authors, series, method._replace(copies=copies), batch, seeds)

    def said(method: Method, copies: bool, batch: int) -> list[dict[str, np.ndarray]]:
      return asked[method.title, copies, batch].result()

    yield from _determined_rows(said, series)
    for method in METHODS:
      if method.is_determined:
        continue
      mine = [ours(series, method.ours(), BATCH, seed) for seed in SEEDS]
      yield parity_rows.within_seeds(
          f"{method.title}: mean accuracy after each bucket, on each",
          f"{BUCKETS} buckets of {TRAIN} in batches of {BATCH}, memory of {SLOTS}",
          *([float(found["accuracies"].mean()) for found in each]
            for each in (said(method, method.copies, BATCH), mine)))
