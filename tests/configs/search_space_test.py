# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Spaces as users write them: what a place in a range stands for, and what is refused."""

from __future__ import annotations

import pytest

from suite.configs import gin_files
from suite.configs import methods
from suite.configs import search_space

SETTINGS = methods.settings_of(methods.find("der++"), "clear")


def parse(*texts):
  return search_space.parse(texts, SETTINGS, "The method der_plus_plus")


def test_a_place_is_a_value_of_the_range():
  rate, size, few, weight, kind = parse(
      "lr=0.01..1 log", "memory_size=101..300", "batch_size=3..5", "alpha=-1..1",
      "divergence=mse,kl")
  assert rate.name == "learning_rate" and rate.drawn == (0.0, 1.0)
  assert [rate.value(place) for place in (0.0, 0.5, 1.0)] == [0.01, 0.1, 1.0]
  assert [size.value(place) for place in (0.0, 0.0049, 0.51, 0.999, 1.0)] == [
      101, 101, 203, 300, 300]
  assert few.values == (3, 4, 5)
  assert [weight.value(place) for place in (0.0, 0.75)] == [-1.0, 0.5]
  assert kind.drawn == [0, 1] and kind.value(1) == "kl"
  assert rate.value(1 / 3) == 0.04642  # Four digits, wherever a logarithm is rounded.


@pytest.mark.parametrize("text, message", [
    ("alhpa=0.1..0.3", "der_plus_plus has no setting 'alhpa'; it has .*Nearest: alpha"),
    ("seed=0,1", "the best of several seeds is luck.*suite run --seeds 0,1,2"),
    ("experiment.run.seed=0,1", "the best of several seeds is luck"),
    ("alpha=0.3..0.1", "the range is empty; give LOW..HIGH with LOW below HIGH"),
    ("alpha=0.1..0.1", "the range is empty"),
    ("alpha=0..1 log", "a logarithm needs a range above 0, and it begins with 0"),
    ("alpha=low..1", "'low' is no end of a range of alpha, whose type is: number. A space is"),
    ("alpha=0..inf", "'inf' is no end of a range"),
    ("alpha=some,more", "'some' is no value of alpha, which takes number, such as 0.2"),
    ("memory_size=10.5,20", "10.5 is no value of memory_size, which takes whole number"),
    ("divergence=1..2", "'1' is no end of a range of divergence, whose type is: text"),
    ("alpha=0.1", "two values or more"), ("alpha=1,1", "two values or more, each once"),
    ("alpha", "'alpha' is no space; give NAME= and a range"), ("alpha=", "is no space")])
def test_what_is_no_space_is_refused_in_one_line(text, message):
  with pytest.raises(gin_files.ConfigError, match=message) as caught:
    parse(text)
  assert "\n" not in str(caught.value)


def test_a_setting_is_searched_once():
  with pytest.raises(gin_files.ConfigError, match="'learning_rate' twice"):
    parse("lr=0.1,0.2", "learning_rate=0.1..0.3")
