# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tools/bench precision` and `settings`: steps in lower precisions, by XLA, deterministic.

Precisions alternate within a process. The other settings are a process's: processes alternate.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import json
import statistics
import subprocess
import sys
import time
from typing import Any

import cfsl_cases
import numpy as np
import suite_cfsl
import tensorflow as tf

from suite.compute import arithmetic
from suite.compute import distribution as distribution_lib
from suite.contracts import tasks
from suite.models import conv4
from suite.models import precision
from suite.models import resnet
from suite.training.gradient import network as network_lib

BATCH, SIZE, CLASSES = 64, 64, 10

Step = Callable[[int], Any]  # step(n) takes n steps.
SETTINGS: dict[str, Callable[[], Any]] = {
    "as it is": lambda: None,
    "--xla": lambda: arithmetic.compile_clusters(True),
    "--deterministic": tf.config.experimental.enable_op_determinism}
HEAD = "| net | setting | steps/s, median | range | ratio of rounds |\n|---|---|---:|---|---:|"


def supervised(backbone: Callable[..., tf.keras.Model]) -> Step:
  """Steps of NEVIS'22's loop on one batch of noise, which is at hand at no cost."""
  distribution = distribution_lib.build()
  network = network_lib.Network(
      backbone, image_size=SIZE, kind=tasks.SINGLE_LABEL, num_classes=CLASSES, momentum=0.9,
      weight_decay=1e-4, distribution=distribution)
  network.loop.configure(peak_rate=0.01, warmup_steps=1, total_steps=10 ** 6, label_smoothing=0.0)
  rng = np.random.default_rng(0)
  batch = {"image": rng.integers(0, 256, [BATCH, SIZE, SIZE, 3], np.uint8),
           "label": rng.integers(0, CLASSES, [BATCH]), "mask": np.ones([BATCH], bool)}
  batches = iter(distribution.dataset(
      lambda **_: tf.data.Dataset.from_tensors(batch).repeat()))
  return functools.partial(network.loop.run, batches)


def high_end() -> Step:
  """Meta-updates of MAML++ high-end, 5-way 1-shot on 28x28 pixels, one task each."""
  step = suite_cfsl.train(cfsl_cases.Case("", "high_train"))
  return lambda num: [step() for _ in range(num)]


NETS: dict[str, tuple[Callable[[], Step], int]] = {  # And steps of a round.
    "ResNet-18": (lambda: supervised(resnet.resnet18), 2),
    "conv-4": (lambda: supervised(conv4.conv4), 6),
    "MAML++ high-end": (high_end, 6)}


def made(net: str, name: str) -> Step:
  """A net's steps in a precision, of which the first is taken."""
  with precision.used(name):
    step = NETS[net][0]()
    step(1)
  return step


def rates(steps: dict[str, Step], num_steps: int, num_rounds: int) -> dict[str, list[float]]:
  """Steps per second of each candidate in rounds of alternating order."""
  found: dict[str, list[float]] = {name: [] for name in steps}
  for number in range(num_rounds):
    for name in list(steps)[::1 if number % 2 == 0 else -1]:
      start = time.perf_counter()
      steps[name](num_steps)
      found[name].append(num_steps / (time.perf_counter() - start))
  return found


def show(title: str, found: dict[str, list[float]]) -> None:
  """Prints medians, and the median of the ratios of rounds to the first candidate's."""
  base = next(iter(found.values()))
  for name, values in found.items():
    ratio = statistics.median(a / b for a, b in zip(values, base))
    print(f"| {title} | {name} | {statistics.median(values):.2f} | "
          f"{min(values):.2f} to {max(values):.2f} | {ratio:.2f} |", flush=True)


def run(num_rounds: int, nets: list[str]) -> None:
  """Compares the precisions."""
  print(HEAD)
  for net in nets:
    steps = {name: made(net, name) for name in precision.NAMES[:3]}
    show(net, rates(steps, NETS[net][1], num_rounds))


def run_settings(num_rounds: int, nets: list[str], program: str) -> None:
  """Compares settings of a process in float32, process by process in turn."""
  print(HEAD)
  for net in nets:
    found: dict[str, list[float]] = {name: [] for name in SETTINGS}
    firsts: dict[str, list[float]] = {name: [] for name in SETTINGS}
    for number in range(2):
      for name in list(SETTINGS)[::1 if number % 2 == 0 else -1]:
        command = [sys.executable, program, "setting_json", "--nets", net, "--rounds",
                   str(num_rounds), f"--setting={name}"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        first, values = json.loads(done.stdout.splitlines()[-1])
        firsts[name].append(first)
        found[name] += values
    show(net, found)
    print(f"| {net} | seconds until the fourth step: "
          f"{', '.join(f'{name} {min(values)}' for name, values in firsts.items())} | | | |",
          flush=True)


def as_json(num_rounds: int, net: str, setting: str) -> str:
  """The seconds of the first steps, and rates, of this process."""
  SETTINGS[setting]()
  start = time.perf_counter()
  step = made(net, precision.FLOAT32)
  step(3)  # Clusters are compiled after some calls.
  seconds = round(time.perf_counter() - start, 1)
  return json.dumps([seconds, rates({"": step}, NETS[net][1], num_rounds)[""]])
