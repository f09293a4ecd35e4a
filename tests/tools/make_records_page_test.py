# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

from __future__ import annotations


def test_the_page_is_up_to_date(load_tool):
  assert load_tool("make_records_page").main(["--check"]) == 0


def test_each_kind_has_its_keys_with_unit_and_meaning(load_tool):
  text = load_tool("make_records_page").page()
  assert "| `seconds_event` | float | s | time since the event before |" in text
  assert text.count("| `event` |") == 1 and text.count("| `first_step` |") == 1
  assert "\n## StreamTrain\n\nNEVIS'22: a task is learned.\n" in text
