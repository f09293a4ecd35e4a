# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`kill -9` while CLEAR's learners train, then the same command: the same matrix, bit for bit.

The long version, all rows: python tools/kill_resume.py digits/clear_table.
"""

from __future__ import annotations

import json

BUCKETS = 3
EVENTS = BUCKETS * (BUCKETS + 1)
SMALLER = [
    "experiment.run.learners={'er': %ER, 'cumulative': %CUMULATIVE}", f"NUM_BUCKETS={BUCKETS}",
    "EPOCHS=8", "MEMORY=60", "conv4.conv4.filters=4", "conv4.conv4.blocks=1"]


def test_killed_in_the_middle_of_trainings_and_resumed_gives_the_same_matrix(processes, tmp_path):
  whole, killed = tmp_path / "whole", tmp_path / "killed"

  def start(workdir, fresh=False):
    return processes.start("digits/clear_table", workdir, params=SMALLER, fresh=fresh)

  processes.finish(start(whole, fresh=True))
  er, cumulative, second = killed / "er", killed / "cumulative", BUCKETS + 1
  places = (
      # The second bucket is being trained on, with rows of the memory that the first one filled.
      (er, lambda: processes.num_records(er) == second),
      # The second bucket's images are kept, its training is not finished.
      (cumulative, lambda: any(path.name.startswith(f"{second:06d}.") for path in
                               (cumulative / "weights").glob("*.npz"))))
  for folder, is_time in places:
    processes.kill_when(start(killed), is_time)
    assert processes.num_records(folder) == second and not (folder / "summary.json").exists()
  processes.finish(start(killed))
  processes.assert_same(whole, killed, ["er", "cumulative"])
  for name in ("er", "cumulative"):
    assert len(json.loads((whole / name / "summary.json").read_text())["matrix"]) == BUCKETS
    assert len(list((whole / name / "predictions").iterdir())) == EVENTS - BUCKETS
