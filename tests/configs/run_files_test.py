# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Run files are found by name and by path."""

from __future__ import annotations

import pytest

from suite.configs import gin_files
from suite.configs import run_files


def test_run_files_are_sorted_short_names(shelf):
  shelf("runs/quickstart.gin", "")
  shelf("runs/nevis/tiny.gin", "")
  shelf("learners/er.gin", "")  # Not a run.
  assert list(run_files.shipped()) == ["nevis/tiny", "quickstart"]


def test_a_run_is_found_by_short_name_by_path_and_with_its_ending(shelf, tmp_path):
  path = shelf("runs/nevis/tiny.gin", "")
  for run in ("nevis/tiny", "nevis/tiny.gin", "gin/runs/nevis/tiny.gin", str(path)):
    assert run_files.find(run) == ("nevis/tiny", path)
  own = tmp_path / "mine.gin"
  own.write_text("")
  assert run_files.find(str(own)) == ("mine", own)


def test_an_unknown_run_names_the_nearest(shelf):
  shelf("runs/nevis/tiny.gin", "")
  shelf("runs/quickstart.gin", "")
  with pytest.raises(gin_files.ConfigError, match=r"run 'nevis/tny'.*Nearest: nevis/tiny\."):
    run_files.find("nevis/tny")
  with pytest.raises(gin_files.ConfigError, match=r"Known: nevis/tiny, quickstart\..*suite list"):
    run_files.find("zzz")


@pytest.mark.parametrize("text, spoken", [
    ("# Fine-tuning.\n# More.\nX = 1\n", "Fine-tuning."),
    ("# suite run nevis/tiny     1 s on one CPU core\n#\n# Fine-tuning.\n", "Fine-tuning."),
    ("# Copyright 2026 Somebody.\n# Fine-tuning.\n", "Fine-tuning."),
    ("X = 1\n# Too late.\n", ""),
])
def test_description_is_the_first_comment_for_people(shelf, text, spoken):
  assert run_files.description(shelf("runs/a.gin", text)) == spoken


def test_a_description_goes_on_to_its_period(shelf):
  path = shelf("runs/a.gin", "# Fine-tuning of all\n# layers.\n# More.\n# suite run a\nX = 1\n")
  assert run_files.description(path) == "Fine-tuning of all layers."
  path.write_text("# Fine-tuning of all\n# suite run a\n# layers.\n")
  assert run_files.description(path) == "Fine-tuning of all"
