# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Closed forms on features: a block of single samples, answers in turn and then all updates.

D features, C classes, blocks of B samples, as a sequence has them; the sums hold some samples from
the start. Forms differ in what they compute for a sample, so each is measured by its own products,
multiply-adds, for each second of CPU time, beside SLDA's: below 1 a form takes more time beside its
products than SLDA. What takes whole sets alone adds one to a new state and solves; half of its
FLOPs count as products.
"""

from __future__ import annotations

from collections.abc import Callable
import os
import statistics
import time
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.training.statistics import class_covariances
from suite.training.statistics import class_means
from suite.training.statistics import neighbors
from suite.training.statistics import ridge_sums
from suite.training.statistics import shared_covariance
from suite.training.statistics import statistic
from suite.training.statistics import truncated_factors

BLOCK, CLASSES, WIDTH = 256, 100, 512
REFERENCE = "SLDA"
ROWS = 10000
# Each with its products of a sample: those of answers, and of the update.
Products = Callable[[int, int, int], float]  # Of D, C, B.
_LDA: Products = lambda d, c, b: (d * d + c * d + b * d) + (2 * d * d + b * d)
_MEANS: Products = lambda d, c, b: c * d + b * d / 2
_RIDGE: Products = lambda d, c, b: (
    (d * d + c * d + b * d + b * c) + (3 * d * d + 3 * c * d + 2 * b * d))
_CLASSES: Products = lambda d, c, b: (c * d * d + c * d + d * d + b * d) + 2 * d * d
FORMS: dict[str, tuple[statistic.Statistic, Products]] = {
    REFERENCE: (shared_covariance.SharedCovariance(), _LDA),
    "RanDumb": (shared_covariance.SharedCovariance(weights="class", oas=True), _LDA),
    "NCM": (class_means.ClassMeans(), _MEANS),
    "SimpleCIL": (class_means.ClassMeans("cosine"), _MEANS),
    "ridge": (ridge_sums.RidgeSums(), _RIDGE),
    "RanPAC, ACIL": (ridge_sums.RidgeSums(exact=True), _RIDGE),
    "kNN, 10,000 rows": (neighbors.Neighbors(ROWS), lambda d, c, b: ROWS * d + b * d),
    "Mahalanobis": (class_covariances.ClassCovariances(), _CLASSES),
    "FeCAM": (class_covariances.ClassCovariances(1e-6, "correlations"), _CLASSES)}
SETS: dict[str, statistic.Statistic] = {
    "RanPAC, rows": ridge_sums.RidgeRows(ridge_sums.RidgeSums(exact=True)),
    "LoRanPAC, 256 directions": truncated_factors.TruncatedFactors(256)}


class Rate(NamedTuple):
  """Samples per CPU second, and products of a sample."""

  samples: float
  products: float

  @property
  def products_per_second(self) -> float:
    return self.samples * self.products


def samples(num: int, width: int) -> tuple[tf.Tensor, tf.Tensor]:
  """Features float32 [n, D], not negative, and labels int64 [n]."""
  rng = np.random.default_rng(0)
  return (tf.constant(np.maximum(rng.normal(size=[num, width]), 0), tf.float32),
          tf.constant(rng.integers(0, CLASSES, num)))


def in_blocks(form: statistic.Statistic, width: int = WIDTH) -> Callable[[], Any]:
  """A block of a form as a sequence takes it."""
  model = statistic.Running(form, CLASSES, width)
  codes, labels = samples(BLOCK, width)
  model.add(codes, labels)
  model.solve()

  def block(given: tf.Tensor, of: tf.Tensor) -> tf.Tensor:
    found = model.answer_in_turn(given, of)
    model.add(given, of)
    return found

  graph = tf.function(block, autograph=False).get_concrete_function(codes, labels)
  return lambda: graph(codes, labels)


def in_sets(form: statistic.Statistic, width: int = WIDTH) -> tuple[Callable[[], Any], float]:
  """A set that is added to a new state and solved, and its products for a sample."""
  codes, labels = (part.numpy() for part in samples(BLOCK, width))
  model = statistic.Sets(form, CLASSES, width)
  first = [v.numpy() for v in model.state]
  total = model.add_set(codes, labels) + model.solve_cost()

  def whole() -> None:
    for variable, value in zip(model.state, first):
      variable.assign(value)
    model.add_set(codes, labels)
    model.solve()

  return whole, (total.flops or 0) / 2 / BLOCK


def measured(work: Callable[[], Any], each: float, seconds: float) -> Rate:
  work()  # Traced.
  began, num = time.process_time(), 0
  while num < 3 or time.process_time() - began < seconds:
    work()
    num += 1
  return Rate(num * BLOCK / (time.process_time() - began), each)


def run(rounds: int, seconds: float = 1.0) -> None:
  """Prints the table; forms take turns."""
  print(f"{rounds} rounds; {WIDTH} features, {CLASSES} classes, blocks of {BLOCK}; "
        f"load {os.getloadavg()[0]:.1f} at first")
  works = {name: (in_blocks(form), products(WIDTH, CLASSES, BLOCK))
           for name, (form, products) in FORMS.items()}
  works.update({name: in_sets(form) for name, form in SETS.items()})
  rates: dict[str, list[Rate]] = {name: [] for name in works}
  for _ in range(rounds):
    for name, (work, each) in works.items():
      rates[name].append(measured(work, each, seconds))
  print(f"load {os.getloadavg()[0]:.1f} at last\n\n"
        "| | samples per CPU second | million products a sample | billion per CPU second | "
        "beside SLDA (range) |"
        "\n| --- | ---: | ---: | ---: | ---: |")
  for name, found in rates.items():
    print(line(name, found, rates[REFERENCE]))


def line(name: str, found: list[Rate], reference: list[Rate]) -> str:
  """Formats medians over rounds; ratios are of rates within a round."""
  ratios = [a.products_per_second / b.products_per_second for a, b in zip(found, reference)]
  return (f"| {name} | {statistics.median(r.samples for r in found):,.0f} | "
          f"{found[0].products / 1e6:.2f} | "
          f"{statistics.median(r.products_per_second for r in found) / 1e9:.1f} | "
          f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |")
