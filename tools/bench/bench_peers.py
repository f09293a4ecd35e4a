# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Replay on small nets and ResNet-18: the suite, an expert's bare loop, and Mammoth in PyTorch.

  er_mlp, der_mlp        a net of 784-100-100-10, 10 + 10 rows a step (DER++: 10 + 10 + 10)
  er_resnet, der_resnet  ResNet-18 of 32 x 32 images, 32 + 32 rows (DER++: 32 + 32 + 32)

Memory 200, SGD without momentum or augmentation; steps a second, medians of alternating rounds,
with all that a phase of the suite does besides its steps. The bare loop of TensorFlow is written
for this case alone: one graph, a reservoir of fixed slots, no costs, no seeds of rows, no classes
that are not known. Mammoth's models are the public code, `--checkout` of aimagelab/mammoth at the
commit of tools/parity/methods/repositories.csv, in the environment of `--torch_python`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import pathlib
import statistics
import subprocess
import tempfile
import time
from typing import Any

import bench_clear
import numpy as np
import tensorflow as tf

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

ALPHA, BETA, RATE, SLOTS, WIDTH, CLASSES = 0.3, 0.5, 0.03, 200, 784, 10
# Case: (method, net, rows of a batch, steps of a round).
CASES = {"er_mlp": ("er", "mlp", 10, 2000), "der_mlp": ("der_plus_plus", "mlp", 10, 2000),
         "er_resnet": ("er", "resnet", 32, 8), "der_resnet": ("der_plus_plus", "resnet", 32, 8)}
Run = Callable[[], float]  # Takes the steps of a round; returns their seconds.


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


def ours(method: str, net: str, batch: int, steps: int, folder: pathlib.Path) -> Run:
  """`GradientLearner.learn` of a bucket, memory and costs included."""
  rows, labels = rows_of(net, batch * steps)
  task = tasks.Task("bench", tasks.SINGLE_LABEL, CLASSES)
  if net == "mlp":
    data: Any = feature_set.FeatureSet.from_arrays(
        "bench", rows, labels, kind=tasks.SINGLE_LABEL, num_classes=CLASSES)
    transform: Any = feature_set.Features(WIDTH)
    backbone: Any = mlp
  else:
    data = image_set.ImageSet.from_arrays(
        "bench", rows, labels, kind=tasks.SINGLE_LABEL, num_classes=CLASSES)
    transform, backbone = clear_transform.Clear(32), lambda image_shape: resnet.resnet18(
        image_shape, stem="small")
  learner = gradient.GradientLearner(
      transform=transform, net=trainable_parts.AllLayers(backbone),
      head=class_heads.Linear("pytorch"), memory=memory.Memory(SLOTS, reservoir.Reservoir()),
      remember="each_step", replay_batch=batch, epochs=1, batch_size=batch, learning_rate=RATE,
      optimizer=optimizers.Momentum(0.0),
      objective=der.Der(ALPHA, BETA) if method == "der_plus_plus" else None)
  events = iter(range(10 ** 6))
  learner.begin(task, bench_clear.context(folder, 0))

  def run() -> float:
    began = time.perf_counter()
    learner.learn(deliveries.Experience(task, data, None, deliveries.History()),
                  bench_clear.context(folder, next(events)))
    return time.perf_counter() - began

  return run


def bare(method: str, net: str, batch: int, steps: int) -> Run:
  """A compiled loop written for the case."""
  rows, labels = rows_of(net, batch * steps)
  below = mlp(WIDTH) if net == "mlp" else resnet.resnet18((32, 32, 3), stem="small")
  model = tf.keras.Sequential([below, tf.keras.layers.Dense(CLASSES)])
  model.build([None, *rows.shape[1:]])
  variables, is_der = model.trainable_variables, method == "der_plus_plus"
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
  """The process of Mammoth's models."""

  def __init__(self, python: str, checkout: str, cases: dict[str, tuple[str, str, int, int]],
               threads: int):
    program = pathlib.Path(__file__).with_name("torch_peers.py")
    self._process = subprocess.Popen(
        [python, str(program), "--checkout", checkout, "--threads", str(threads), "--batches",
         " ".join(f"{name}={method},{net},{batch},{SLOTS}"
                  for name, (method, net, batch, _) in cases.items())],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if self._line() != "ready":
      raise SystemExit("Mammoth's models did not start, see above. Give --checkout a clone of "
                       "aimagelab/mammoth, and --torch_python a Python with PyTorch.")

  def _line(self) -> str:
    assert self._process.stdout is not None
    return self._process.stdout.readline().strip()

  def run(self, case: str, steps: int) -> float:
    assert self._process.stdin is not None
    self._process.stdin.write(f"{case} {steps}\n")
    self._process.stdin.flush()
    return float(self._line())

  def close(self) -> None:
    self._process.kill()


def run(args: argparse.Namespace) -> None:
  """Prints a table: steps a second of each side, and ratios of the suite to the others."""
  chosen = {name: CASES[name] for name in (args.cases.split(",") if args.cases else CASES)}
  peer = None
  if args.checkout:
    peer = _Peer(args.torch_python, args.checkout, chosen, args.threads or 2)
  print("| case | suite, steps/s | rows/s | bare TensorFlow | Mammoth | suite to bare | "
        "suite to Mammoth |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
  for name, (method, net, batch, steps) in chosen.items():
    with tempfile.TemporaryDirectory() as folder:
      sides: dict[str, Run] = {"suite": ours(method, net, batch, steps, pathlib.Path(folder)),
                               "bare": bare(method, net, batch, steps)}
      if peer is not None:
        sides["Mammoth"] = lambda name=name, steps=steps: peer.run(name, steps)
      for act in sides.values():
        act()
      rates: dict[str, list[float]] = {side: [] for side in sides}
      for number in range(args.rounds):
        for side in list(sides)[::1 if number % 2 == 0 else -1]:
          rates[side].append(steps / sides[side]())
    medians = {side: statistics.median(values) for side, values in rates.items()}
    ratios = {side: statistics.median(a / b for a, b in zip(rates["suite"], values))
              for side, values in rates.items()}
    rows = batch * (3 if method == "der_plus_plus" else 2)
    cells = [f"{medians[side]:,.{0 if net == 'mlp' else 2}f}" if side in medians else "not run"
             for side in ("bare", "Mammoth")]
    print(f"| {name} | {medians['suite']:,.{0 if net == 'mlp' else 2}f} "
          f"| {rows * medians['suite']:,.0f} | {cells[0]} | {cells[1]} | {ratios['bare']:.2f} | "
          f"{ratios['Mammoth'] if 'Mammoth' in ratios else float('nan'):.2f} |", flush=True)
  if peer is not None:
    peer.close()
