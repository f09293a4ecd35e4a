# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Figures of a cache: ranking with intervals, item curves, information (2PL)."""

from __future__ import annotations

from collections.abc import Sequence
import pathlib
from typing import Any

import numpy as np

_ABILITIES = np.linspace(-3.0, 3.0, 121)


def curves(items: np.ndarray) -> np.ndarray:
  """Probability of a correct answer at each ability, of items [n, 2] (a, b): [n, abilities]."""
  return 1.0 / (1.0 + np.exp(-(items[:, :1] * _ABILITIES + items[:, 1:])))


def information(items: np.ndarray) -> np.ndarray:
  """Fisher information about the ability, a^2 p (1 - p), of items [n, 2]: [n, abilities]."""
  chance = curves(items)
  return items[:, :1] ** 2 * chance * (1.0 - chance)


def draw_ranking(path: pathlib.Path, names: Sequence[str], accuracies: Sequence[float],
                 intervals: Sequence[tuple[float, float]], most: int = 60) -> None:
  """Draws the first `most` models of a ranking, best on top, with their intervals."""
  names, values = list(names)[:most], np.array(accuracies[:most])
  ends = np.array(intervals[:most]).reshape(-1, 2)
  figure, axes = _figure(figsize=(7, 1 + 0.18 * len(names)))
  places = np.arange(len(names))[::-1]
  axes.errorbar(100 * values, places, fmt="o", markersize=3, linewidth=1,
                xerr=100 * np.abs(np.stack([values - ends[:, 0], ends[:, 1] - values])))
  axes.set_yticks(places, names, fontsize=6)
  axes.set(xlabel="accuracy, %, with 95% intervals of partly evaluated models")
  _save(figure, path)


def draw_items(path: pathlib.Path, ids: Sequence[str], items: np.ndarray) -> None:
  """Draws the item curves of samples: items [n, 2]."""
  figure, axes = _figure(figsize=(7, 4))
  for identity, curve in zip(ids, curves(items)):
    axes.plot(_ABILITIES, curve, label=identity)
  axes.set(xlabel="ability", ylabel="probability of a correct answer", ylim=(0, 1))
  axes.legend(fontsize=6)
  _save(figure, path)


def draw_information(path: pathlib.Path, items: np.ndarray, abilities: np.ndarray) -> None:
  """Draws the information of all items together, and the abilities of the known models."""
  figure, axes = _figure(figsize=(7, 4))
  axes.plot(_ABILITIES, information(items).sum(axis=0))
  axes.plot(abilities, np.zeros(len(abilities)), "|", markersize=12, color="black",
            label="known models")
  axes.set(xlabel="ability", ylabel="information")
  axes.legend()
  _save(figure, path)


def _figure(**settings: Any) -> tuple[Any, Any]:
  import matplotlib
  matplotlib.use("Agg")
  matplotlib.rcParams["svg.hashsalt"] = "lifelong"
  from matplotlib import pyplot
  figure, axes = pyplot.subplots(**settings)
  axes.grid(alpha=0.3)
  return figure, axes


def _save(figure: Any, path: pathlib.Path) -> None:
  from matplotlib import pyplot
  figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
  pyplot.close(figure)
