# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A user's Keras model in MAML and ProtoNets beside the same net written by hand.

    python tools/bench/own_model.py --rounds 7 --seconds 3

The cases are those of `tools/bench cfsl`. Both learners live in one process and work in alternating
rounds; the table has medians of their rates, and the medians [range] of the rounds' ratios: of
tasks a second, and of tasks a second of CPU time, which other processes disturb less.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from typing import Any

import cfsl_cases
import suite_cfsl
import tensorflow as tf

from suite.data.images import image_ops
from suite.learners import maml
from suite.learners import protonet
from suite.models import norms
from suite.models.episodic import embedding
from suite.models.episodic import functional_model
from suite.training.episodic import meta_schedules

CASES = ("maml_train", "maml_train_8", "proto_train")


def conv4(image_shape: Any, filters: int, leak: float) -> tf.keras.Model:
  """The four-block net as a user would write it."""
  layers = tf.keras.layers
  net = tf.keras.Sequential([layers.Rescaling(1 / 255, input_shape=image_shape)])
  for _ in range(4):
    net.add(layers.Conv2D(filters, 3, padding="same", use_bias=False))
    net.add(layers.BatchNormalization(epsilon=norms.EPSILON))
    net.add(layers.LeakyReLU(leak) if leak else layers.ReLU())
    net.add(layers.MaxPool2D(2))
  net.add(layers.Flatten())
  return net


def own_maml(case: cfsl_cases.Case, dtype: str = "float32") -> Any:
  del dtype
  net = functional_model.FunctionalModel(
      lambda image_shape: conv4(image_shape, cfsl_cases.MAML_FILTERS, 0.01))
  return maml.Maml(
      net, inner=suite_cfsl.inner(case), transform=image_ops.AsStored(case.size),
      channels=case.channels, training=meta_schedules.MetaTraining())


def own_proto(case: cfsl_cases.Case, dtype: str = "float32") -> Any:
  del dtype
  net = functional_model.FunctionalModel(
      lambda image_shape: conv4(image_shape, cfsl_cases.PROTO_FILTERS, 0.0))
  return protonet.ProtoNet(
      embedding.Embedding(net), transform=image_ops.AsStored(case.size), channels=case.channels,
      training=meta_schedules.MetaTraining())


OWN = {"maml": own_maml, "proto": own_proto}


def steps(case: cfsl_cases.Case) -> dict[str, cfsl_cases.Step]:
  """Both sides, warmed up."""
  kind = case.make.split("_")[0]
  sides = {}
  for name, make in (("by hand", suite_cfsl.LEARNERS[kind]), ("Keras model", OWN[kind])):
    suite_cfsl.LEARNERS[kind], before = make, suite_cfsl.LEARNERS[kind]
    sides[name] = suite_cfsl.MAKERS[case.make](case)
    suite_cfsl.LEARNERS[kind] = before
    for _ in range(3):
      sides[name]()
  return sides


def rate(step: cfsl_cases.Step, seconds: float) -> tuple[float, float]:
  """Tasks per second, and per second of CPU time, over about as many seconds."""
  began, cpu, done = time.monotonic(), time.process_time(), 0
  while time.monotonic() - began < seconds:
    done += step()
  return done / (time.monotonic() - began), done / (time.process_time() - cpu)


def ratios(rates: dict[str, list[tuple[float, float]]], which: int) -> str:
  found = [own[which] / ours[which] for ours, own in zip(*rates.values())]
  return f"{statistics.median(found):.2f} [{min(found):.2f} - {max(found):.2f}]"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--rounds", type=int, default=7)
  parser.add_argument("--seconds", type=float, default=3.0, help="of a round, about")
  parser.add_argument("--cases", default=",".join(CASES), metavar="A,B,C")
  parser.add_argument("--threads", type=int, default=2)
  args = parser.parse_args()
  tf.config.threading.set_intra_op_parallelism_threads(1)
  tf.config.threading.set_inter_op_parallelism_threads(args.threads)
  print(f"TensorFlow {tf.__version__}, {args.threads} operations of one thread at once, oneDNN "
        f"{os.environ['TF_ENABLE_ONEDNN_OPTS']}, {args.rounds} rounds of {args.seconds:g} s\n")
  print("| case | by hand, tasks/s | Keras model, tasks/s | ratio | ratio by CPU time |\n"
        "|---|---:|---:|---:|---:|")
  for name in args.cases.split(","):
    case, rates = cfsl_cases.CASES[name], {"by hand": [], "Keras model": []}
    sides = steps(case)
    for number in range(args.rounds):
      for side in list(sides)[::1 if number % 2 == 0 else -1]:
        rates[side].append(rate(sides[side], args.seconds))
    shown = [f"{statistics.median(wall for wall, _ in side):.3g}" for side in rates.values()]
    print(f"| {case.title} | {shown[0]} | {shown[1]} | {ratios(rates, 0)} | {ratios(rates, 1)} |",
          flush=True)
  return 0


if __name__ == "__main__":
  sys.exit(main())
