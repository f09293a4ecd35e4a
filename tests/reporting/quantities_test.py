# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Numbers for people."""

from __future__ import annotations

import math

import pytest

from suite.reporting import quantities


@pytest.mark.parametrize("value, expected", [
    (1.23e9, "1.23 GFLOP"), (12.0e9, "12.0 GFLOP"), (123e9, "123 GFLOP"), (1.5e20, "150 EFLOP"),
    (999, "999 FLOP"), (1000, "1.00 kFLOP"), (999_999, "1.00 MFLOP"), (99_960, "100 kFLOP"),
    (0, "0 FLOP"), (2.5, "2.50 FLOP"), (0.25, "0.25 FLOP"), (-2.5e6, "-2.50 MFLOP"),
    (3e27, "3000 YFLOP"), (None, "not counted"), (math.nan, "not counted"),
])
def test_si(value, expected):
  assert quantities.si(value, "FLOP") == expected


@pytest.mark.parametrize("value, expected", [
    (0.12345, "0.1235"), (1.0, "1.0000"), (-0.5, "-0.5000"), (None, "-"), (math.nan, "-")])
def test_score(value, expected):
  assert str(quantities.Quantity(value, quantities.NUMBER)) == expected


@pytest.mark.parametrize("seconds, expected", [
    (1.25, "1.2 s"), (42.4, "42 s"), (59.7, "1 min 00 s"), (200, "3 min 20 s"),
    (3599.8, "1 h 00 min"), (18420, "5 h 07 min"), (None, "unknown")])
def test_duration(seconds, expected):
  assert quantities.duration(seconds) == expected


@pytest.mark.parametrize("name, value, expected", [
    ("flops_search", 2e9, "2.00 GFLOP"), ("by_phase.macs", None, "not counted"),
    ("seconds_train", 61, "1 min 01 s"), ("accuracy", 0.5, "0.5000"), ("accuracy", None, "-"),
    ("examples", 1234567, "1,234,567"), ("peak_bytes", 2e9, "2.00 GB"), ("stopped", True, "True"),
    ("left_out", ["a", "b"], "a, b"), ("left_out", [], "-"), ("note", "x", "x")])
def test_values_of_a_summary_by_their_name(name, value, expected):
  assert str(quantities.by_name(name, value)) == expected


@pytest.mark.parametrize("quantity, expected, number", [
    (quantities.Quantity(0.8612, "percent", deviation=0.0031, note="(2/3)"), "86.12 ±0.31 (2/3)",
     0.8612),
    (quantities.Quantity(0.5, "percent", interval=0.0045), "50.00 [0.45]", 0.5),
    (quantities.Quantity(-1e-9, "percent"), "0.00", -1e-9),
    (quantities.Quantity(0.72225, "percent"), str(quantities.Quantity(0.7222500000000001,
                                                                      "percent")), 0.72225),
    (quantities.Quantity(None, "percent", note="(0/3)"), "- (0/3)", None),
    (quantities.Quantity(0.861, "percent", printed="86.1"), "86.1", 0.861),
    (quantities.Quantity(1.26e12, "macs"), "1.26 TMAC", 1.26e12),
    (quantities.Quantity(math.nan, "seconds"), "unknown", None),
    (quantities.Quantity(0.2, "gain"), "+20.00", 0.2), (quantities.Quantity("a", "text"), "a", "a"),
    (quantities.Quantity(1.5, "rank"), "1.5", 1.5), (quantities.Quantity(2.0, "rank"), "2", 2.0),
    (quantities.words("[10 x 10]"), "[10 x 10]", None), (quantities.words(""), "", None)])
def test_a_quantity_keeps_its_number_until_it_is_rendered(quantity, expected, number):
  assert str(quantity) == expected and quantity.plain == number
