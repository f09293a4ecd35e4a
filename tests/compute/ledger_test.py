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


@pytest.mark.parametrize("text, expected", [
    ("1 TFLOP, 20 MB", ledger_lib.Budget(flops=10**12, bytes=20 * 10**6)),
    ("1.5kFLOPs", ledger_lib.Budget(flops=1500)),
    ("2e3 MAC,3 KiB", ledger_lib.Budget(macs=2000, bytes=3072)),
    ("0.1 EFLOP", ledger_lib.Budget(flops=10**17))])
def test_budgets_are_read_exactly(text, expected):
  assert ledger_lib.Budget.parse(text) == expected


@pytest.mark.parametrize("text, message", [
    ("", "a part is a number above 0 and a unit, FLOP or MAC"),
    ("1 tflop", "unit 'tflop' is unknown. Write TFLOP"),
    ("1 TFLOPS", "That is a rate; write FLOP"),
    ("1 GFLOP/s", "That is a rate; write FLOP"),
    ("3 images", "unit 'images' is unknown. Allowed are FLOP or MAC"),
    ("-1 FLOP", "'-1 FLOP'; a part is a number above 0"),
    ("0 FLOP", "a limit is at least 1 flops"),
    ("nan FLOP", "a part is a number above 0"), ("inf B", "a part is a number above 0"),
    ("1e18446744073709551615 FLOP", "at most 1e\\+30"), ("1e400 FLOP", "at most 1e\\+30"),
    (f"{'9' * 5000} B", "'9{80}'; a limit is at least 1 bytes and at most 1e\\+30"),
    ("1e-99999999999999999999 MAC", "a limit is at least 1 macs"),
    ("1 GFLOP, 2 kFLOP", "limits flops twice")])
def test_budgets_that_cannot_be_read_are_refused(text, message):
  with pytest.raises(ledger_lib.BudgetError, match=message):
    ledger_lib.Budget.parse(text)


def steps(each, before=0):
  """The cost of n steps of `each` FLOPs, half as many MACs, with what comes before."""
  return lambda num: ledger_lib.Known(before + each * num, (before + each * num) // 2)


def test_the_last_whole_step_that_fits_is_granted_and_then_nothing():
  ledger = ledger_lib.Ledger(ledger_lib.Budget(flops=100))
  assert ledger.grant(3, steps(10)) == 3 and not ledger.is_cut
  ledger.charge("train", flops=30, macs=15)
  ledger.charge("predict", flops=1000, macs=500)  # Answers are charged apart.
  assert ledger.fits(9, steps(10, before=15)) == 5 and not ledger.is_cut
  assert ledger.grant(9, steps(10, before=15)) == 5 and ledger.is_cut  # floor((70 - 15) / 10)
  ledger.charge("validate", flops=65, macs=32)
  totals = ledger.totals()
  found = [totals[name] for name in ("budget_flops", "budget_flops_left", "budget_cut")]
  assert found == [100, 5, True]
  assert totals["flops"] == 1095 and "budget_macs_left" not in totals
  assert ledger.grant(1, steps(1)) == 0  # Learning has ended, although a small step would fit.
  other = ledger_lib.Ledger(ledger_lib.Budget(flops=100))
  other.restore(json.loads(json.dumps(ledger.snapshot())))
  assert other.totals() == totals and not other.grant(1, steps(1))


def test_every_limit_holds_by_itself():
  both = ledger_lib.Ledger(ledger_lib.Budget(flops=100, macs=20))
  assert both.grant(9, steps(10)) == 4  # 40 FLOPs, 20 MACs.
  with pytest.raises(ledger_lib.BudgetError, match="'train': 101 of 100 FLOPs, 1 of 20"):
    both.charge("train", flops=101, macs=1)


def test_without_a_budget_no_cost_is_counted():
  ledger = ledger_lib.Ledger()
  assert ledger.grant(7, lambda num: 1 / 0) == 7
  assert "budget_flops_left" not in ledger.totals() and "budget" not in ledger.snapshot()


def test_what_cannot_keep_a_budget_is_refused_before_its_first_step():
  ledger = ledger_lib.Ledger(ledger_lib.Budget(flops=100, bytes=10))
  with pytest.raises(ledger_lib.BudgetError, match=r"FLOPs of this method are unknown \(Svd\)"):
    ledger.grant(5, lambda num: ledger_lib.Known(None, None, ("Svd",)))
  with pytest.raises(ledger_lib.BudgetError, match="first step: 101 of 100 FLOPs. Give a larger"):
    ledger.grant(5, steps(101))
  ledger.held = lambda: dict(zip(ledger_lib.HELD, (6, 5, 0)))
  with pytest.raises(ledger_lib.BudgetError, match="10 bytes, and the learner holds 11: state_"):
    ledger.grant(5, steps(1))
