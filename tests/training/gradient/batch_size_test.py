# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import pytest

from suite.training.gradient import trainer


# 0.0025 N = 16 at N = 6,400 and 512 at N = 204,800; in between it doubles with N.
@pytest.mark.parametrize("num_examples, expected", [
    (1, 16), (100, 16), (399, 16), (400, 16), (800, 16), (6_399, 16), (6_400, 16), (12_799, 16),
    (12_800, 32), (25_599, 32), (25_600, 64), (50_000, 64), (51_200, 128), (102_399, 128),
    (102_400, 256), (204_799, 256), (204_800, 512), (1_281_167, 512)])
def test_rule_of_the_paper(num_examples, expected):
  assert trainer.adaptive(num_examples) == expected


def test_bounds_and_fraction_can_be_changed():
  assert trainer.adaptive(1_000, fraction=0.01, smallest=4, largest=64) == 8
  assert trainer.adaptive(10, fraction=0.01, smallest=4, largest=64) == 4
  assert trainer.adaptive(100_000, fraction=0.01, smallest=4, largest=64) == 64


@pytest.mark.parametrize("largest, fraction", [(512, 0.0025), (128, 0.0025), (256, 0.01), (8, 0.5)])
def test_rule_is_equation_4(largest, fraction):
  for num in (*range(1, 2_000), *range(6_390, 500_000, 1_237)):
    power = 0  # The largest power of two that is at most p D, by counting.
    while 2 ** (power + 1) <= fraction * num:
      power += 1
    expected = min(largest, max(16, 2 ** power))
    assert trainer.adaptive(num, fraction=fraction, largest=largest) == expected, num


def test_empty_set_is_refused():
  with pytest.raises(ValueError, match="num_examples is 0"):
    trainer.adaptive(0)
