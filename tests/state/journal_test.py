# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import json

import numpy as np
import pytest

from suite.compute import ledger as ledger_lib
from suite.state import journal as journal_lib
from suite.state import snapshots


def _open(tmp_path, event=0):
  ledger = ledger_lib.Ledger()
  return journal_lib.Journal(event, ledger, snapshots.Snapshots(tmp_path / "p")), ledger


def _step(ledger, value):
  def fn():
    ledger.charge("train", flops=10, macs=1)
    return value
  return fn


def test_a_finished_step_is_neither_run_nor_charged_again(tmp_path):
  journal, ledger = _open(tmp_path)
  assert journal.once("a", _step(ledger, {"x": (1, 2.5)})) == {"x": [1, 2.5]}
  journal, ledger = _open(tmp_path)
  assert journal.once("a", lambda: pytest.fail("ran again")) == {"x": [1, 2.5]}
  assert ledger.totals()["flops"] == 10


def test_the_middle_of_a_step_comes_back_with_its_ledger(tmp_path):
  journal, ledger = _open(tmp_path)
  journal.once("a", _step(ledger, 1))
  ledger.charge("train", flops=5, macs=1)
  journal.save_partial("b", {"step": 3, "loss": 0.1 + 0.2}, {"w": np.arange(4, dtype=np.float32)})
  ledger.charge("train", flops=1000, macs=1)  # after the save: lost with the process
  journal, ledger = _open(tmp_path)
  partial = journal.partial("b")
  assert partial.values == {"step": 3, "loss": 0.1 + 0.2}
  np.testing.assert_array_equal(partial.arrays["w"], np.arange(4))
  assert ledger.totals()["flops"] == 15 and journal.partial("a") is None


def test_a_finished_step_ends_its_middle(tmp_path):
  journal, ledger = _open(tmp_path)
  journal.save_partial("b", {"step": 3}, {})
  journal.once("b", _step(ledger, 1))
  journal, _ = _open(tmp_path)
  assert journal.partial("b") is None


def test_what_another_event_left_is_dropped(tmp_path):
  journal, ledger = _open(tmp_path)
  journal.once("a", _step(ledger, 1))
  journal, ledger = _open(tmp_path, event=1)
  assert journal.once("a", _step(ledger, 2)) == 2 and ledger.totals()["flops"] == 10


def test_without_a_disk_it_only_remembers():
  journal = journal_lib.Journal(0, ledger_lib.Ledger())
  assert journal.once("a", lambda: 1) == journal.once("a", lambda: 2) == 1


def test_a_step_has_the_result_of_the_chief():
  journal = journal_lib.Journal(
      0, ledger_lib.Ledger(), agreed=lambda value: {**value, "error": 0.5})
  assert journal.once("a", lambda: {"error": 0.4, "k": 5}) == {"error": 0.5, "k": 5}
  assert journal.once("a", lambda: pytest.fail("ran again")) == {"error": 0.5, "k": 5}


@pytest.mark.parametrize("damage", [b"", b"{"])
def test_a_damaged_journal_costs_time_and_nothing_else(tmp_path, damage, caplog):
  journal, ledger = _open(tmp_path)
  for key in ("a", "b"):
    journal.once(key, _step(ledger, 1))
  paths = sorted(tmp_path.glob("p/*.json"))
  paths[-1].write_bytes(damage)
  journal, ledger = _open(tmp_path)  # The one before it.
  assert ledger.totals()["flops"] == 10 and journal.once("a", lambda: pytest.fail("again")) == 1
  assert "is damaged" in caplog.text and "the one before it is used" in caplog.text
  paths[0].write_bytes(damage)
  journal, ledger = _open(tmp_path)
  assert ledger.totals()["flops"] == 0 and journal.once("a", _step(ledger, 2)) == 2
  assert "Until then the event begins again" in caplog.text


def test_the_journal_of_an_earlier_version_goes_on(tmp_path):
  folder = tmp_path / "p" / "00000004"
  folder.mkdir(parents=True)
  np.savez(folder / "partial.npz", w=np.arange(3))
  saved = {"event": 0, "done": {"a": 1}, "partial": {"key": "b", "values": {"step": 3}},
           "ledger": _open(tmp_path / "other")[1].snapshot()}
  (folder / "journal.json").write_text(json.dumps(saved))
  journal, ledger = _open(tmp_path)
  assert journal.once("a", lambda: pytest.fail("ran again")) == 1
  assert journal.partial("b").arrays["w"].tolist() == [0, 1, 2]
  journal.once("b", _step(ledger, 5))
  journal, _ = _open(tmp_path)
  assert journal.once("b", lambda: pytest.fail("ran again")) == 5
