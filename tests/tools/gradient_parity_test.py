# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Short runs of gradient methods tell settings apart that the stored answers are not of."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tools" / "parity" / "methods"))

import gradient_cases
import ours_gradient

_CASES = {case.name: case for case in gradient_cases.CASES}


@pytest.mark.parametrize("name, settings", [
    ("si", {"epochs": 4, "strength": 10.0, "epsilon": 0.1, "path": "whole"}),
    ("online_ewc", {"epochs": 4, "strength": 5.0, "decay": 0.8, "fisher": "true"}),
    ("lwf", {"epochs": 3, "grows": True, "strength": 2.0, "temperature": 1.0})])
def test_another_setting_is_another_answer(name, settings):
  case = _CASES[name]
  theirs = case.stored()["logits"]
  found = ours_gradient.run(name, case.inputs(), **settings)["logits"]
  # Up to the end of the first task nothing is guarded.
  np.testing.assert_allclose(found[0], theirs[0], atol=1e-4 * np.abs(theirs).max())
  assert np.abs(found - theirs).max() > 10 * 1e-4 * np.abs(theirs).max()


def test_a_net_begins_with_the_given_weights():
  arrays = _CASES["finetune"].inputs()
  given = ours_gradient.net(arrays)(arrays["train"].shape[-1], 3).get_weights()
  for weight, name in zip(given, ("kernel_1", "bias_1", "kernel_2", "bias_2"), strict=True):
    np.testing.assert_array_equal(weight, arrays[name][..., :weight.shape[-1]])
