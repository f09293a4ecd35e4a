# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pages of results on embedded data are those of the present code: FLOPs are counted again."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

from suite import experiment
from suite.configs import gin_parse
from suite.configs import run_files
from suite.configs import run_settings

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "docs" / "results"
# By page: the run, the learner, and what leaves out all events but the first.
EMBEDDED = {"quickstart.md": ("quickstart", "indep", ["digits.nevis_stream.num_tasks=1"])}


@pytest.mark.parametrize("page", EMBEDDED)
def test_the_flops_of_the_first_event_are_those_of_the_page(page, tmp_path):
  run, learner, params = EMBEDDED[page]
  line = re.search(rf"^- FLOPs of the first event:.*\b{learner} ([\d,]+)",
                   (RESULTS / page).read_text(encoding="utf-8"), re.MULTILINE)
  assert line, f"{page} does not say the FLOPs of {learner}'s first event; make it again"
  gin_parse.parse([run_files.shipped()[run]], params)
  gin_parse.configured(experiment.run, {
      "settings": run_settings.RunSettings(workdir=str(tmp_path / run)), "only": learner})()
  with open(tmp_path / run / learner / "records.jsonl", encoding="utf-8") as records:
    first = json.loads(records.readline())
  assert first["flops"] == int(line[1].replace(",", "")), (
      f"{page} was made by other code; make it again: suite run {run}, tools/make_tables.py")
