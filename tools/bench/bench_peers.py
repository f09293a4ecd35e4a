# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Common jobs of the field: the suite, an expert's bare loop, and public code in PyTorch.

  er_mlp, der_mlp        a net of 784-100-100-10, 10 + 10 rows a step (DER++: 10 + 10 + 10)
  er_resnet, der_resnet  ResNet-18 of 32 x 32 images, 32 + 32 rows (DER++: 32 + 32 + 32)
  ewc_mlp                the small net, 10 rows a step, then the Fisher information of 500 rows with
                         labels that are drawn
  ranpac, fecam          768 features: ten phases of ten classes and 200 rows, and predictions of
                         100 rows after each. RanPAC has 2,000 random features and 17 ridges.

Replay: memory 200, SGD without momentum or augmentation. A case counts its steps, or the rows that
it learns and predicts, a second, medians of alternating rounds, with all that a phase of the suite
does besides. The bare loop of TensorFlow is written for a case of replay alone: one graph, a
reservoir of fixed slots, no costs, no seeds of rows, no classes that are not known. Mammoth's
models, van de Ven's classifier and PILOT's learners are the public code, at the commits of
tools/parity/methods/repositories.csv, in the environment of `--torch_python`; `--checkout` has the
folders OWNER+NAME.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import contextlib
import functools
import pathlib
import statistics
import subprocess
import tempfile
import time
from typing import Any, NamedTuple

import bench_clear
import numpy as np
import tensorflow as tf

import suite
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import clear_transform
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.learners import gradient
from suite.models import resnet
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import der
from suite.training.objectives import ewc

ALPHA, BETA, RATE, SLOTS, WIDTH, CLASSES = 0.3, 0.5, 0.03, 200, 784, 10
FEATURES, PHASES = 768, 10
MAMMOTH, VAN_DE_VEN, PILOT = (
    "aimagelab/mammoth", "GMvandeVen/continual-learning", "sun-hailong/LAMDA-PILOT")


class Case(NamedTuple):
  """A job.

  Attributes:
    repository: of the public code.
    method: as in `suite list --methods`.
    net: "mlp", "resnet" or "features".
    batch: rows of a step, or of a phase.
    size: of the memory; rows of the Fisher information; random features.
    number: steps of a round, or predictions after a phase.
  """

  repository: str
  method: str
  net: str
  batch: int
  size: int
  number: int

  @property
  def counted(self) -> int:
    """Steps of a round; of features the rows that are learned and predicted."""
    return PHASES * (self.batch + self.number) if self.net == "features" else self.number


CASES = {
    "er_mlp": Case(MAMMOTH, "er", "mlp", 10, SLOTS, 2000),
    "der_mlp": Case(MAMMOTH, "der_plus_plus", "mlp", 10, SLOTS, 2000),
    "er_resnet": Case(MAMMOTH, "er", "resnet", 32, SLOTS, 8),
    "der_resnet": Case(MAMMOTH, "der_plus_plus", "resnet", 32, SLOTS, 8),
    "ewc_mlp": Case(VAN_DE_VEN, "ewc", "mlp", 10, 500, 1000),
    "ranpac": Case(PILOT, "ranpac", "features", 200, 2000, 100),
    "fecam": Case(PILOT, "fecam", "features", 200, FEATURES, 100)}
Run = Callable[[], float]  # Does a round; returns its seconds.


def mlp(feature_size: int) -> tf.keras.Model:
  rows = tf.keras.Input([feature_size])
  hidden = tf.keras.layers.Dense(100, "relu")(rows)
  return tf.keras.Model(rows, tf.keras.layers.Dense(100, "relu")(hidden))


def rows_of(net: str, num: int) -> tuple[np.ndarray, np.ndarray]:
  """Noise, and labels of 10 classes."""
  rng = np.random.default_rng(0)
  labels = rng.integers(0, CLASSES, num)
  if net == "mlp":
    return rng.normal(size=[num, WIDTH]).astype(np.float32), labels
  return rng.integers(0, 256, [num, 32, 32, 3]).astype(np.uint8), labels


def of_steps(case: Case, folder: pathlib.Path) -> Run:
  """`GradientLearner.learn` of a bucket, memory and costs included."""
  rows, labels = rows_of(case.net, case.batch * case.number if case.method != "ewc" else case.size)
  task = tasks.Task("bench", tasks.SINGLE_LABEL, CLASSES)
  if case.net == "mlp":
    data: Any = feature_set.FeatureSet.from_arrays(
        "bench", rows, labels, kind=tasks.SINGLE_LABEL, num_classes=CLASSES)
    transform: Any = feature_set.Features(WIDTH)
    backbone: Any = mlp
  else:
    data = image_set.ImageSet.from_arrays(
        "bench", rows, labels, kind=tasks.SINGLE_LABEL, num_classes=CLASSES)
    transform, backbone = clear_transform.Clear(32), lambda image_shape: resnet.resnet18(
        image_shape, stem="small")
  settings: dict[str, Any] = {
      "memory": memory.Memory(case.size, reservoir.Reservoir()), "remember": "each_step",
      "replay_batch": case.batch, "epochs": 1}
  if case.method == "der_plus_plus":
    settings["objective"] = der.Der(ALPHA, BETA)
  elif case.method == "ewc":
    settings = {"objective": ewc.Ewc(1.0, fisher="sample", anchor="each"),
                "epochs": case.number * case.batch // case.size}
  learner = gradient.GradientLearner(
      transform=transform, net=trainable_parts.AllLayers(backbone),
      head=class_heads.Linear("pytorch"), batch_size=case.batch, learning_rate=RATE,
      optimizer=optimizers.Momentum(0.0), **settings)
  events = iter(range(10 ** 6))
  learner.begin(task, bench_clear.context(folder, 0))

  def run() -> float:
    began = time.perf_counter()
    learner.learn(deliveries.Experience(task, data, None, deliveries.History()),
                  bench_clear.context(folder, next(events)))
    return time.perf_counter() - began

  return run


def of_phases(case: Case, folder: pathlib.Path) -> Run:
  """`StatisticsLearner.learn` of each phase, a fifth of which chooses the ridge, and answers."""
  task = tasks.Task("bench", tasks.SINGLE_LABEL, 10 * PHASES)
  learner = suite.learner(
      tf.keras.Sequential([tf.keras.layers.Input([FEATURES])]), case.method,
      transform=feature_set.Features(FEATURES),
      **({"size": case.size} if case.method == "ranpac" else {})).make(deliveries.BUCKETS)
  rng = np.random.default_rng(0)

  def of(places: range, phase: int) -> feature_set.FeatureSet:
    return feature_set.FeatureSet.from_arrays(
        f"{phase}, {places}", np.maximum(rng.normal(size=[len(places), FEATURES]), 0).astype(
            np.float32), 10 * phase + np.arange(len(places)) % 10,
        kind=tasks.SINGLE_LABEL, num_classes=task.num_classes)

  split = case.batch * 4 // 5 if case.method == "ranpac" else case.batch
  experiences = [deliveries.Experience(
      task, of(range(split), phase), of(range(split, case.batch), phase)
      if split < case.batch else None, deliveries.History()) for phase in range(PHASES)]
  asked = tf.constant(np.maximum(rng.normal(size=[case.number, FEATURES]), 0), tf.float32)
  events = iter(range(10 ** 6))
  learner.begin(task, bench_clear.context(folder, 0))
  predict = tf.function(learner.predict, autograph=False)

  def run() -> float:
    began = time.perf_counter()
    for experience in experiences:
      learner.learn(experience, bench_clear.context(folder, next(events)))
      _ = predict(asked).numpy()
    return time.perf_counter() - began

  return run


def bare(case: Case) -> Run:
  """A compiled loop written for the case."""
  batch, steps = case.batch, case.number
  rows, labels = rows_of(case.net, batch * steps)
  below = mlp(WIDTH) if case.net == "mlp" else resnet.resnet18((32, 32, 3), stem="small")
  model = tf.keras.Sequential([below, tf.keras.layers.Dense(CLASSES)])
  model.build([None, *rows.shape[1:]])
  variables, is_der = model.trainable_variables, case.method == "der_plus_plus"
  held = [tf.Variable(tf.zeros([SLOTS, *shape], kind), trainable=False) for shape, kind in (
      (rows.shape[1:], rows.dtype), ((), tf.int64), ((CLASSES,), tf.float32))]
  given, of_given = tf.constant(rows), tf.constant(labels, tf.int64)

  @tf.function(autograph=False)
  def loop(num: tf.Tensor) -> None:
    def drawn(i: tf.Tensor, purpose: int) -> list[tf.Tensor]:
      slots = tf.random.stateless_uniform(
          [batch], tf.stack([i, purpose]), 0, tf.minimum(SLOTS, tf.maximum(i * batch, 1)), tf.int32)
      return [tf.gather(part, slots) for part in held]

    def body(i: tf.Tensor) -> list[tf.Tensor]:
      new, of_new = given[i * batch:(i + 1) * batch], of_given[i * batch:(i + 1) * batch]
      new, of_new = tf.ensure_shape(new, [batch, *rows.shape[1:]]), tf.ensure_shape(of_new, [batch])
      sets = [drawn(i, purpose) for purpose in range(1 + is_der)]
      images = tf.cast(tf.concat([new, *(one[0] for one in sets)], 0), tf.float32)
      with tf.GradientTape() as tape:
        logits = model(images, training=True)
        if is_der:
          parts = tf.split(logits, 3)
          loss = (_loss(of_new, parts[0]) + BETA * _loss(sets[1][1], parts[2])
                  + ALPHA * tf.reduce_mean(tf.square(parts[1] - sets[0][2])))
        else:
          loss = _loss(tf.concat([of_new, sets[0][1]], 0), logits)
      for variable, slope in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(RATE * slope)
      seen = i * batch + tf.range(batch)
      slots = tf.random.stateless_uniform(
          [batch], tf.stack([i, 9]), 0, tf.maximum(i * batch, 1), tf.int32)
      slots = tf.where(seen < SLOTS, seen, slots)
      kept = tf.where(slots < SLOTS)[:, 0]
      for variable, values in zip(held, (new, of_new, logits[:batch])[:2 + is_der]):
        variable.scatter_update(tf.IndexedSlices(tf.gather(values, kept), tf.gather(slots, kept)))
      return [i + 1]

    tf.while_loop(lambda i: i < num, body, [tf.constant(0)])

  def run() -> float:
    began = time.perf_counter()
    loop(tf.constant(steps))
    _ = variables[0].numpy()
    return time.perf_counter() - began

  return run


def _loss(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
  return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


class _Peer:
  """The process of the public code of one repository."""

  def __init__(self, python: str, checkout: pathlib.Path, cases: dict[str, Case], threads: int):
    program = pathlib.Path(__file__).with_name("torch_peers.py")
    self._process = subprocess.Popen(
        [python, str(program), "--checkout", str(checkout), "--threads", str(threads), "--batches",
         " ".join(f"{name}={case.method},{case.net},{case.batch},{case.size}"
                  for name, case in cases.items())],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if self._line() != "ready":
      raise SystemExit(f"{checkout} did not start, see above. Give --checkout a folder of clones "
                       "OWNER+NAME, and --torch_python a Python with PyTorch.")

  def _line(self) -> str:
    assert self._process.stdout is not None
    return self._process.stdout.readline().strip()

  def run(self, name: str, number: int) -> float:
    assert self._process.stdin is not None
    self._process.stdin.write(f"{name} {number}\n")
    self._process.stdin.flush()
    return float(self._line())

  def close(self) -> None:
    self._process.kill()


def run(args: argparse.Namespace) -> None:
  """Prints a table: what each side does a second, and ratios of the suite to the others."""
  chosen = {name: CASES[name] for name in (args.cases.split(",") if args.cases else CASES)}
  print("| case | suite, a second | rows/s | bare TensorFlow | public code | suite to bare | "
        "suite to public |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
  for name, case in chosen.items():
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
      folder = pathlib.Path(temporary)
      sides: dict[str, Run] = {
          "suite": (of_phases if case.net == "features" else of_steps)(case, folder)}
      if case.repository == MAMMOTH:
        sides["bare"] = bare(case)
      if args.checkout:
        checkout = pathlib.Path(args.checkout) / case.repository.replace("/", "+")
        peer = _Peer(args.torch_python, checkout, {name: case}, args.threads or 2)
        stack.callback(peer.close)
        sides["public"] = functools.partial(peer.run, name, case.number)
      for side, act in sides.items():  # Nothing of closed forms in PyTorch is compiled.
        if (side, case.net) != ("public", "features"):
          act()
      rates: dict[str, list[float]] = {side: [] for side in sides}
      for number in range(args.rounds):
        for side in list(sides)[::1 if number % 2 == 0 else -1]:
          rates[side].append(case.counted / sides[side]())
    medians = {side: statistics.median(values) for side, values in rates.items()}
    ratios = {side: statistics.median(a / b for a, b in zip(rates["suite"], values))
              for side, values in rates.items()}
    rows = {"er": 2 * case.batch, "der_plus_plus": 3 * case.batch, "ewc": case.batch}.get(
        case.method, 1)

    def cell(values: dict[str, float], side: str, digits: int) -> str:
      return f"{values[side]:,.{digits}f}" if side in values else "not run"

    digits = 2 if case.net == "resnet" else 0
    print(f"| {name} | {cell(medians, 'suite', digits)} | {rows * medians['suite']:,.0f} "
          f"| {cell(medians, 'bare', digits)} | {cell(medians, 'public', digits)} "
          f"| {cell(ratios, 'bare', 2)} | {cell(ratios, 'public', 2)} |", flush=True)
