# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A binding of the command line without effect: refused before the run, or named after it."""

from __future__ import annotations

import pytest

from suite import cli

RUN = ("run", "digits/fluid", "--gin_file", "gin/debug.gin", "--workdir", "w")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  return tmp_path


@pytest.mark.parametrize("param, message", [
    ("NUM_BUCKETS=3", "NUM_BUCKETS  (set by the command line). This run reads FEATURES,"),
    ("digits.buckets.num_buckets=3", "No binding that the run reaches refers to suite.data.digits"),
    ("a/digits.sequence.seed=1", "What is read instead: digits.sequence.seed."),
])
def test_what_the_run_cannot_read_is_refused_before_it_starts(param, message, tmp_path, capsys):
  assert cli.main([*RUN, "--gin_param", param]) == 2
  assert message in capsys.readouterr().err
  assert not (tmp_path / "w").exists()


def test_what_the_code_passes_by_itself_is_an_error_line_at_the_end(tmp_path, capsys, caplog):
  param = ["--gin_param", "fluid.run.state=None"]
  assert cli.main([*RUN, *param]) == 0
  line = "fluid.run.state  (set by the command line)"
  assert (tmp_path / "w" / "unused_bindings.txt").read_text() == line + "\n"
  errors = [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]
  assert any("did not use 1 bindings" in text and line in text for text in errors)
  assert cli.main([*RUN, *param]) == 0  # Finished before: what that process used still counts.
  assert (tmp_path / "w" / "unused_bindings.txt").read_text() == line + "\n"
