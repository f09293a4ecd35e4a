# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One delivery of a pretraining: some updates of a long training, over images."""

from __future__ import annotations

from typing import NamedTuple

from suite.contracts import examples


class Portion(NamedTuple):
  """Updates `first` to `first + updates - 1` of `total`, over `images`, labeled or not."""

  images: examples.TrainableSet
  first: int
  updates: int
  total: int
