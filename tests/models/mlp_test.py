# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.models import mlp


def test_shapes_and_parameters():
  model = mlp.mlp(10, hidden=(8, 4))
  assert model.output_shape == (None, 4)
  assert model.count_params() == 10 * 8 + 8 + 8 * 4 + 4


def test_output_is_rectified():
  assert mlp.mlp(10)(np.random.default_rng(0).normal(size=[5, 10])).numpy().min() == 0.0


def test_no_layer_is_refused():
  with pytest.raises(ValueError, match="hidden is empty"):
    mlp.mlp(10, hidden=())
