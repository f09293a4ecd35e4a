# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Training steps of four benchmarks on a GPU: NEVIS, CLEAR at 224 x 224, MAML and FLUID.

    NEVIS    ResNet-18, 64 x 64, batch 64, input pipeline included; and that pipeline alone
    CLEAR    ResNet-18, 224 x 224, batch 64, from stored images, cropped and mirrored in the graph
    FLUID    an offline phase of ER: ResNet-18, 64 x 64, batch 64 and 64 rows of the memory
    MAML     MAML++'s update: conv-4 of 48 filters, 28 x 28, 8 tasks, 5 steps, second order, 1 or 10
             support sets of 5 classes each; tasks in a loop, 1, 2 or 8 at once, and as grouped
             convolutions; and in a loop that XLA compiles (cfsl.Compute.compiled)

`--precisions float32 tf32` measures each step in several precisions, each in a process of its own,
`--cases NEVIS,grouped` those whose names hold one of these texts. Without a GPU nothing is
measured, unless `--on_cpu` asks for the same steps, small, on the CPU, without XLA, which takes
minutes to compile an update there. A round takes about a second; a rate is the median of the
rounds, which alternate between the cases on a CPU. "first" is the seconds of the first call, in
which a graph is traced and kernels are chosen. The "step" of a GPU is the whole of what the suite
does for it, so a rate far below what the net alone reaches points to the host: see "pipeline".
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import statistics
import subprocess
import sys
import time
import types
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.images import clear_transform
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import maml
from suite.models import conv4
from suite.models import precision as precision_lib
from suite.models import resnet
from suite.models.episodic import functional_conv4
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.gradient import array_loop
from suite.training.gradient import network
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.objectives import objective

CLASSES, IMAGES = 10, 512


class Case(NamedTuple):
  """A step, what it counts in, and how many of these it has."""

  step: Callable[[], Any]
  unit: str
  size: int


Cases = dict[str, Callable[[], Case]]  # Makers of cases, by name.


class Sizes(NamedTuple):
  """The sizes of the cases."""

  batch: int
  side: int
  clear_side: int
  filters: int
  tasks: int
  sets: tuple[int, ...]
  net: Callable[..., tf.keras.Model]


ON_GPU = Sizes(64, 64, 224, 48, 8, (1, 10), resnet.resnet18)
ON_CPU = Sizes(16, 16, 32, 48, 4, (1,), conv4.conv4)


def run(args: Any) -> None:
  """Prints a table, or why there is none."""
  found = tf.config.list_physical_devices("GPU")
  if not found and not args.on_cpu:
    print("Skipped: TensorFlow sees no GPU here. --on_cpu measures the same steps, small, on the "
          "CPU.")
    return
  if args.threads:
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
  if found and len(args.precisions) > 1:  # A process keeps the kernels that it has once chosen.
    at = sys.argv.index("--precisions")
    others = [*sys.argv[1:at], *sys.argv[at + 1 + len(args.precisions):]]
    for precision in args.precisions:
      subprocess.run([sys.executable, sys.argv[0], *others, "--precisions", precision], check=True)
    return
  sizes = ON_GPU if found else ON_CPU
  makers = {**_nevis(sizes), **_gathered(sizes), **_maml(sizes)}
  wanted = args.cases.split(",") if args.cases else [""]
  makers = {name: make for name, make in makers.items() if any(part in name for part in wanted)}
  print(f"{distribution.build().describe()}, TensorFlow {tf.__version__}, "
        f"{sizes._replace(net=sizes.net.__name__)}")
  print("| step | precision | first, s | median | range | unit |\n|---|---|---:|---:|---|---|")
  together = [makers] if not found else [{name: make} for name, make in makers.items()]
  for precision in args.precisions:
    for some in together:
      with precision_lib.used(precision):
        _show(some, precision, args.rounds)


def _show(makers: Cases, precision: str, rounds: int) -> None:
  """Prints a line for each case."""
  cases, firsts = {}, {}
  for name, make in makers.items():
    case = make()
    began = time.perf_counter()
    _wait(case.step())
    cases[name], firsts[name] = case, time.perf_counter() - began
  for name, values in _alternating(cases, rounds).items():
    print(f"| {name} | {precision} | {firsts[name]:.1f} | {statistics.median(values):.1f} | "
          f"{min(values):.1f} to {max(values):.1f} | {cases[name].unit}/s |", flush=True)


def _alternating(cases: dict[str, Case], rounds: int) -> dict[str, list[float]]:
  rates: dict[str, list[float]] = {name: [] for name in cases}
  for case in cases.values():
    _wait(case.step())
  for _ in range(rounds):
    for name, case in cases.items():
      began, steps = time.perf_counter(), 0
      while time.perf_counter() - began < 1.0:
        last = case.step()
        steps += 1
        if steps % 20 == 0:
          _wait(last)
      _wait(last)
      rates[name].append(steps * case.size / (time.perf_counter() - began))
  return rates


def _wait(result: Any) -> None:
  """Waits until the device has computed it: TensorFlow returns before that."""
  for part in tf.nest.flatten(result):
    if isinstance(part, tf.Tensor) and part.dtype != tf.string:
      part.numpy()


def _pixels(*shape: int) -> np.ndarray:
  return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def _nevis(sizes: Sizes) -> Cases:
  one, side = distribution.build(), sizes.side

  def iterator() -> Any:
    images = image_set.ImageSet.from_arrays(
        "bench", _pixels(IMAGES, side, side, 3), np.arange(IMAGES) % CLASSES,
        kind=tasks.SINGLE_LABEL, num_classes=CLASSES)
    return iter(one.dataset(lambda **shard: images.train_batches(
        sizes.batch, seed=(0, 0), transform=image_ops.Nevis(side), **shard)))

  def training() -> Case:
    net = network.Network(sizes.net, image_size=side, kind=tasks.SINGLE_LABEL, num_classes=CLASSES,
                          momentum=0.9, weight_decay=1e-4, distribution=one)
    net.loop.configure(peak_rate=0.01, warmup_steps=10, total_steps=10**6, label_smoothing=0.1)
    steps, batches = 10, iterator()
    return Case(lambda: net.loop.run(batches, steps), "images", steps * sizes.batch)

  def alone() -> Case:
    batches = iterator()
    return Case(lambda: next(batches)["label"], "images", sizes.batch)

  return {"NEVIS": training, "NEVIS, pipeline alone": alone}


def _gathered(sizes: Sizes) -> Cases:
  """The steps of CLEAR and FLUID, whose examples are an array."""
  of = functools.partial(functools.partial, _array_case, sizes)
  return {"CLEAR": of(clear_transform.Clear(sizes.clear_side), sizes.clear_side, 0),
          "FLUID": of(image_ops.Nevis(sizes.side), sizes.side, sizes.batch)}


def _array_case(sizes: Sizes, transform: Any, side: int, replayed: int) -> Case:
  storage = image_ops.of(transform)
  features = sizes.net(image_shape=(side, side, 3))
  model = tf.keras.Sequential([features, tf.keras.layers.Dense(CLASSES, dtype="float32")])
  step = train_step.TrainStep(model, objective=objective.Objective(),
                              optimizer=optimizers.Sgd(model.trainable_variables))
  loop = array_loop.ArrayLoop(step, augment=storage.train, replay_batch=replayed)
  rows = storage.store(tf.constant(_pixels(IMAGES // 2, side, side + side // 3, 3)))
  num = int(rows.shape[0])
  data = objective.Data(rows, tf.constant(np.arange(num) % CLASSES, tf.int64),
                        tf.range(num // 2, dtype=tf.int64), tf.zeros([num // 2, 0]))
  plan = array_loop.PhaseRows(num, 10 * sizes.batch / num, sizes.batch, (0, 0), held=num // 2,
                       replay_batch=replayed)
  part = next(plan.parts())
  rates = np.full([part.num_steps], 0.01, np.float32)
  return Case(lambda: loop.train(data, part, rates), "images",
              part.num_steps * (sizes.batch + replayed))


def _maml(sizes: Sizes) -> Cases:
  found: Cases = {}
  on_gpu = bool(tf.config.list_physical_devices("GPU"))
  for sets in sizes.sets:
    ways = {"in a loop, 2 at once": dict(at_once=2),
            f"in a loop, {sizes.tasks} at once": dict(at_once=sizes.tasks),
            "grouped": dict(batching=episode_graphs.GROUPED)}
    if on_gpu:
      ways.update({"compiled": dict(compiled=True),
                   "grouped, compiled": dict(compiled=True, batching=episode_graphs.GROUPED)})
    for name, named in ways.items():
      found[f"MAML, NSS {sets}, {name}"] = functools.partial(
          _maml_case, sizes.filters, sizes.tasks, sets, named)
    found[f"MAML, NSS {sets}, 1 task"] = functools.partial(
        _maml_case, sizes.filters, 1, sets, {})
    if on_gpu:
      found[f"MAML, NSS {sets}, 1 task, compiled"] = functools.partial(
          _maml_case, sizes.filters, 1, sets, dict(compiled=True))
  return found


def _maml_case(filters: int, num_tasks: int, sets: int, named: dict[str, Any]) -> Case:
  graphs, batch = maml_graphs(filters, num_tasks, sets, **named)
  return Case(lambda: graphs.update(batch), "tasks", num_tasks)


def maml_graphs(filters: int, num_tasks: int, sets: int, **named: Any
                ) -> tuple[episode_graphs.Graphs, episodes.Episode]:
  """The graphs of MAML++ low-end for tasks of type B, and a batch of tasks."""
  side, way, image = 28, 5, (28, 28, 1)
  rng = np.random.default_rng(0)
  labels = np.arange(way * sets).reshape(sets, way)
  batch = episodes.Episode(*map(tf.constant, (
      _pixels(num_tasks, sets, way, *image), np.tile(labels, [num_tasks, 1, 1]),
      _pixels(num_tasks, 25 * sets, *image),
      rng.integers(0, way * sets, [num_tasks, 25 * sets]))))
  learner = maml.Maml(
      functional_conv4.Conv4(filters=filters),
      inner=inner_loop.InnerLoop(steps=5, num_support_sets=sets),
      transform=types.SimpleNamespace(size=side), channels=1,
      training=meta_schedules.MetaTraining())
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, way * sets), types.SimpleNamespace(
      distribution=distribution.build(), seeds=seeds.Seeds(0)))
  return episode_graphs.Graphs(learner, way * sets, **named), batch
