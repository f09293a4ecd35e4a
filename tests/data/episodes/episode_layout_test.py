# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import numpy as np

from suite.data.episodes import episode_conventions
from suite.data.episodes import task_types


def test_a_grid_goes_by_set_class_and_number():
  grid = episode_conventions.episode_grid(task_types.Setting(2, 1, 2, 2))
  assert grid.s.shape == (2, 2, 3)
  assert grid.s[1, 0, 2] == 1 and grid.k[1, 0, 2] == 0 and grid.i[1, 0, 2] == 2
  assert grid.is_support[..., 0].all() and not grid.is_support[..., 1:].any()


def test_supports_stand_before_targets():
  grid = episode_conventions.episode_grid(task_types.Setting(2, 1, 2, 1))
  made = episode_conventions.arranged(
      grid.is_support, ~grid.is_support, grid.i, grid.k, labels=10 + grid.k, row_size=3,
      num_pools=1, pool_size=2, row_slot=np.arange(2), num_labels=2)
  assert made.place.tolist() == [0, 3, 1, 2, 4, 5]
  assert made.labels.tolist() == [10, 11, 10, 10, 11, 11]
  assert made.num_support == 2 and made.fallback == ""
