# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Figures as images for TensorBoard."""

from __future__ import annotations

from typing import Any

import numpy as np

from suite.reporting import figures

_DPI = 110


def pixels(figure: Any) -> np.ndarray:
  """The figure on white, uint8 [1, H, W, 3], as `tf.summary.image` takes it."""
  with figures.style():
    figure.set_dpi(_DPI)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[None, ..., :3].copy()


def accuracy_matrix(acc: np.ndarray, learner: str) -> np.ndarray:
  """Pixels of the heat map of accuracies [T, T] of a learner."""
  return pixels(figures.accuracy_matrix(acc, title=f"Accuracy by bucket, {learner}"))
