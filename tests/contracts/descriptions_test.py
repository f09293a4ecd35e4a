# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Descriptions of protocols: data that survives JSON; names stand in one place."""

from __future__ import annotations

import ast
import functools
import json
import pathlib

import pytest

from suite.contracts import deliveries
from suite.contracts import descriptions

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_protocol_of_the_suite_describes_its_loop_under_its_name():
  for name in descriptions.SHIPPED:
    module = descriptions.load(name)
    assert descriptions.named(name) is module.DESCRIPTION and module.DESCRIPTION.name == name
    assert descriptions.of(functools.partial(module.run, eval_batch_size=1)) is module.DESCRIPTION
    values = json.loads(json.dumps(module.DESCRIPTION.values()))
    assert descriptions.from_values(values) == module.DESCRIPTION
  assert descriptions.delivering(deliveries.SEQUENCE) == "fluid"
  assert descriptions.of(print) is None and descriptions.named("other").measures == ()


@pytest.mark.parametrize("keepers", [("state", "record"), ("record",), ("record", "state", "x")])
def test_keepers_are_named_in_their_order_with_record_and_state(keepers):
  with pytest.raises(ValueError, match="allowed are predictions, costs, .*record and state among"):
    descriptions.ProtocolDescription("x", keepers=keepers)
  assert "predictions" not in descriptions.named("pretrain").keepers
  assert descriptions.from_values(  # Of a folder that was written before.
      {"name": "x", "measures": [], "curve": None}).keepers == descriptions.KEEPERS


def test_no_other_module_quotes_the_name_of_a_protocol():
  # The other names are those of commands and phases, too.
  names = set(descriptions.SHIPPED) - {"lifelong", "pretrain"}
  registry = ROOT / "suite" / "contracts" / "descriptions.py"
  for path in sorted((ROOT / "suite").rglob("*.py")):
    text = path.read_text()
    is_in = any(quote + name + quote in text for name in names for quote in "'\"")
    if is_in and path != registry and path.parent.name != "protocols":
      quoted = [f"line {node.lineno}" for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Constant) and node.value in names]
      assert not quoted, f"{path}, {', '.join(quoted)}: read it from the run's description"


@pytest.mark.parametrize("curve, expected", [
    (dict(y="error"), [(0, 0.5), (1, 0.25), (2, 0.75)]),
    (dict(y="error", kind="predict", first=1), [(1, 0.5), (3, 0.75)]),
    (dict(y="error", equal=("a", "b")), [(1, 0.25)]),
    (dict(y="error", per="n"), [(0, 0.125), (2, 0.375)])])
def test_a_curve_has_a_point_for_each_record_with_both_values(curve, expected):
  records = [{"event": 0, "kind": "predict", "error": 0.5, "a": 0, "b": 1, "n": 4},
             {"event": 1, "kind": "train", "error": 0.25, "a": 2, "b": 2, "n": 0},
             {"event": 2, "kind": "predict", "error": 0.75, "a": 1, "n": 2},
             {"event": 3, "kind": "predict", "error": None}, {"error": 1.0}]
  drawn = descriptions.RecordCurve("Event", "Error", "event", **curve)
  assert drawn.points(records) == expected


def test_a_value_that_is_not_described_is_named_by_its_key():
  about = descriptions.ProtocolDescription("x", (descriptions.Measure("cost", "price", "lower"),))
  assert about.measure("cost") is about.headline
  assert about.measure("mean_error") == descriptions.Measure("mean_error", "mean error", "lower")
  assert about.measure("recall").better == descriptions.HIGHER


@pytest.mark.parametrize("settings, message", [
    (dict(panels=("bucket",)), "panels of kind bucket; allowed are tasks, buckets"),
    (dict(measures=(descriptions.Measure("a", "a", "less"),)), "'a' of protocol 'x' .*'less'"),
    (dict(measures=(descriptions.Measure("a", "a", unit="%"),)), "unit='%'; allowed are 'lower'")])
def test_unknown_words_are_refused(settings, message):
  with pytest.raises(ValueError, match=message):
    descriptions.ProtocolDescription("x", **settings)
