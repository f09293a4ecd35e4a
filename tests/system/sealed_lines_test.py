# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A log of JSON lines: what a crash cut short is left out, what was changed is told."""

from __future__ import annotations

import pytest

from suite.system import sealed_lines

LINES = [{"a": 1}, {"b": ["x", None]}, {"c": {"d": 0.5}}]


@pytest.fixture(name="path")
def _path(tmp_path):
  for line in LINES:
    sealed_lines.append(tmp_path / "a.jsonl", line, at=sealed_lines.read(tmp_path / "a.jsonl").end)
  return tmp_path / "a.jsonl"


def test_what_was_appended_is_read(path):
  assert sealed_lines.read(path) == (LINES, path.stat().st_size, "")
  assert sealed_lines.read(path.parent / "none") == ([], 0, "")
  assert sealed_lines.read(path.parent).damage.endswith("is no file")


def test_a_line_that_was_cut_short_is_written_over(path):
  path.write_bytes(path.read_bytes()[:-3])
  found = sealed_lines.read(path)
  assert found.lines == LINES[:2] and not found.damage
  sealed_lines.append(path, {"e": 2}, at=found.end)
  assert sealed_lines.read(path).lines == [*LINES[:2], {"e": 2}]


def test_a_changed_line_and_those_after_it_are_not_read(path):
  data = path.read_bytes()
  at = data.index(b"null")
  path.write_bytes(data[:at] + b"true" + data[at + 4:])
  found = sealed_lines.read(path)
  assert found.lines == LINES[:1] and found.damage.endswith("is damaged in line 2")
