# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import json

import pytest

from suite.compute import ledger as ledger_lib


def test_totals_add_up_by_phase_and_over_all():
  ledger = ledger_lib.Ledger()
  ledger.charge("train", flops=10, macs=4, examples=2, steps=1, seconds=0.5)
  ledger.charge("train", flops=10, macs=4, examples=2, steps=1, seconds=0.25)
  ledger.charge("predict", flops=3, macs=1, examples=7)
  totals = ledger.totals()
  assert totals["flops"] == 23 and totals["flops_train"] == 20 and totals["flops_predict"] == 3
  assert totals["macs"] == 9 and totals["steps"] == 2 and totals["examples"] == 11
  assert totals["seconds"] == 0.75 and "flops_search" not in totals


def test_unknown_stays_unknown_and_is_never_zero():
  ledger = ledger_lib.Ledger()
  ledger.charge("train", flops=None, macs=5)
  ledger.charge("train", flops=10, macs=5)
  ledger.charge("predict", flops=1, macs=1)
  totals = ledger.totals()
  assert totals["flops"] is None and totals["flops_train"] is None
  assert totals["flops_predict"] == 1 and totals["macs"] == 11


def test_peak_is_the_largest_and_unknown_where_no_device_tells():
  ledger = ledger_lib.Ledger()
  ledger.charge("train", flops=0, macs=0, peak_bytes=None)
  assert ledger.totals()["peak_bytes"] is None
  ledger.charge("train", flops=0, macs=0, peak_bytes=7)
  ledger.charge("predict", flops=0, macs=0, peak_bytes=5)
  assert ledger.totals()["peak_bytes"] == 7


def test_costs_are_the_totals_that_a_summary_repeats():
  record = {"event": 3, "flops": 5, "flops_train": 5, "macs": None, "examples_predict": 2,
            "steps": 1, "seconds": 0.5, "peak_bytes": 7, "error": 0.1}
  assert ledger_lib.costs(record) == {
      "flops": 5, "flops_train": 5, "macs": None, "examples_predict": 2, "steps": 1}


def test_a_phase_that_does_not_exist_is_refused():
  with pytest.raises(ValueError, match="phase 'training'; a cost belongs to one of pretrain"):
    ledger_lib.Ledger().charge("training", flops=1, macs=1)


def test_a_restored_ledger_goes_on_exactly():
  ledger = ledger_lib.Ledger()
  ledger.charge("search", flops=2**60, macs=None, seconds=0.1)
  other = ledger_lib.Ledger()
  other.restore(json.loads(json.dumps(ledger.snapshot())))
  other.charge("search", flops=1, macs=1)
  ledger.charge("search", flops=1, macs=1)
  assert other.totals() == ledger.totals() and other.totals()["flops"] == 2**60 + 1


def test_the_costs_of_another_ledger_are_added():
  one, other = ledger_lib.Ledger(), ledger_lib.Ledger()
  one.charge("train", flops=3, macs=1, steps=2, seconds=0.5, peak_bytes=10)
  other.charge("train", flops=4, macs=None, examples=5, seconds=0.25, peak_bytes=7)
  other.charge("validate", flops=1, macs=1)
  one.add(other.snapshot())
  totals = one.totals()
  assert (totals["flops_train"], totals["macs_train"], totals["flops"]) == (7, None, 8)
  assert (totals["steps"], totals["examples"], totals["seconds"]) == (2, 5, 0.75)
  assert totals["peak_bytes"] == 10 and "flops_search" not in totals
