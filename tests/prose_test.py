# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sentences of pages and public docstrings are plain English, as far as patterns can tell.

tools/plain_english.py has the patterns. prose_counts.csv has the number of sentences that they find
in each file today: it may fall, and never rise.
"""

from __future__ import annotations

import csv
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import plain_english


def test_no_file_has_more_flagged_sentences_than_before():
  with open(plain_english.COUNTS, newline="", encoding="utf-8") as file:
    allowed = {row["file"]: int(row["flagged"]) for row in csv.DictReader(file)}
  now = plain_english.counts()
  more = [f"{path}: {number}, at most {allowed.get(path, 0)} (python tools/plain_english.py {path})"
          for path, number in now.items() if number > allowed.get(path, 0)]
  assert not more, "These sentences need a second reading, write them plainly:\n" + "\n".join(more)


@pytest.mark.parametrize("text, kinds", [
    ("Of a class only the mean is kept.", ["begins with Of"]),
    ("A set, of which a part is read.", ["of which, of whom"]),
    ("Its cost is that of a step.", ["that of, those of"]),
    ("A net whose layers, whose names are given, are frozen.", ["two times whose"]),
    ("It reads the rows of a bucket.\n\n```text\nOf a\n```", []),
    ("| Of a | that of |\n", []), ("- Of course it runs.\n", [])])
def test_kinds_are_found_in_prose_only(text, kinds):
  assert [kind for kind, _ in plain_english.flagged(text)] == kinds
