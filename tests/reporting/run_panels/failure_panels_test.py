# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The failure atlas of runs of two buckets, written by hand."""

import json

import numpy as np
import pytest

from suite import cli
from suite.reporting.run_panels import failure_panels
from suite.state import predictions

LABELS = np.repeat(np.arange(4), 30)


def _run(folder, wrong_by_event, *, ids=None):
  """A run of CLEAR's protocol; event i tests bucket i % 2. wrong_by_event: bool [120] each."""
  (folder / "predictions").mkdir(parents=True)
  lines = []
  for event, wrong in enumerate(wrong_by_event):
    wrong, bucket = np.asarray(wrong), event % 2
    name = f"predictions/{event:04d}.parquet"
    top1 = np.where(wrong, (LABELS + 1) % 4, LABELS)
    names = ids or [f"{bucket}-{i}" for i in range(len(LABELS))]
    predictions.save(
        folder / name, ids=names, labels=LABELS, top1=top1, correct=~wrong,
        true_class_probability=np.where(wrong, 0.1, 0.9), class_names=["cat", "dog", "cow", "emu"])
    lines.append({"event": event, "protocol": "clear", "kind": "predict", "task": "t",
                  "task_key": "t", "trained_bucket": event // 2, "bucket": bucket, "row": bucket,
                  "seen": len(LABELS), "correct": int((~wrong).sum()), "predictions": name})
  (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
  (folder / "summary.json").write_text(json.dumps({"protocol": "clear", "stream": "s"}))


@pytest.fixture(name="runs", scope="module")
def _runs(tmp_path_factory):
  """a and b fail on half of the dogs and cows, c on two of three emus; each on every tenth."""
  folder, places = tmp_path_factory.mktemp("runs"), np.arange(120)
  for shift, (name, classes, chosen) in enumerate((
      ("a", (1, 2), places % 2 == 0), ("b", (1, 2), places % 2 == 1), ("c", (3,), places % 3 > 0))):
    wrong = (places % 10 == shift) | (np.isin(LABELS, classes) & chosen)
    _run(folder / "w" / name, [np.ones(120, bool), np.ones(120, bool), wrong, wrong])
  return folder


def test_the_last_answers_to_each_bucket_are_grouped(runs):
  [stored] = failure_panels.load([runs])
  assert stored.models == ["a", "b", "c"] and stored.wrong.shape == (3, 240)
  assert not stored.wrong.all()  # The first two events, all wrong, are of an earlier model.
  names, errors, counts = stored.table("class")
  assert sorted(names) == ["cat", "cow", "dog", "emu"] and counts.tolist() == [[60] * 4] * 3
  places = stored.groups["class"]["dog"]
  np.testing.assert_array_equal(places, [*range(30, 60), *range(150, 180)])
  assert errors[0, names.index("dog")] == stored.wrong[0, places].sum()
  assert {name: len(found) for name, found in stored.groups["bucket"].items()} == {
      "0": 120, "1": 120}


def test_planted_failures_are_a_factor_and_pairs_that_differ(runs):
  [stored] = failure_panels.load([runs])
  panels = {panel.name: panel for panel in failure_panels.build(stored)}
  factor = next(row for row in panels["failures_together"].rows if row[0] == "class")
  assert factor[1] == 1 and factor[2] > 0.8 and float(factor[3]) < 0.01
  groups, models = ({*row.split(", ")} for row in (factor[4], factor[5]))
  others, for_these = factor[6], factor[7]
  if groups == {"emu"}:  # The sign of a factor is that of its largest group.
    groups, models, others, for_these = {*others.split(", ")}, {*for_these.split(", ")}, "emu", "c"
  assert groups == {"dog", "cow"} and models == {"a", "b"}
  assert others == "emu" and for_these == "c"
  apart = {(row[1], row[3], row[4]) for row in panels["failures_apart"].rows if row[0] == "class"}
  assert {("dog", "a", "c"), ("cow", "b", "c"), ("emu", "c", "a")} <= apart


def test_models_of_other_images_are_left_out_with_a_word(runs, tmp_path, capsys):
  for name in ("a", "x"):
    _run(tmp_path / "w" / name, [np.zeros(120, bool)] * 2,
         ids=None if name == "a" else [f"other {i}" for i in range(120)])
  [stored] = failure_panels.load([tmp_path])
  assert stored.models == ["a"] and "x is left out: its test images are not" in stored.notes[0]
  assert cli.main(["atlas", str(runs), "--format", "markdown"]) == 0
  assert "groups that fail together" in capsys.readouterr().out
  (tmp_path / "empty").mkdir()
  assert cli.main(["atlas"]) == 2
  assert "Give directories of finished runs, or --methods" in capsys.readouterr().err
