# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite verify`: every kind of damage is named, and a repair loses nothing."""

from __future__ import annotations

import json
import pathlib
import shutil

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite import cli
from suite.lifelong.cache import accuracy_cache
from suite.reporting import records
from suite.reporting import run_dir
from suite.system import file_lock

EVENTS = 4
PREDICTIONS = {"ids": ["a", "b"], "labels": [0, 1], "top1": [0, 0],
               "true_class_probability": [1.0, 0.0], "correct": [True, False]}


class Sum(tf.Module):
  """A learner whose one variable every event changes."""

  def __init__(self):
    super().__init__()
    self.total = tf.Variable(0)


def _run(folder, num_events=EVENTS):
  """Runs events, or goes on with them; returns the records."""
  with stopped_runs.state(folder) as state:
    learner = Sum()
    state.resume(learner)
    while state.done < num_events:
      learner.total.assign_add(state.done)
      context = state.context()
      if state.done == num_events - 1:
        context.journal.once("step", lambda: 1)
      context.store.save("it", [np.full(3, state.done)])
      state.commit({"protocol": "p", "kind": "k", "total": int(learner.total)}, PREDICTIONS)
      state.flush()
    return records.strip_times(state.records)


@pytest.fixture(name="made", scope="module")
def _made(tmp_path_factory):
  """A work directory with one learner, stopped in its last event; and its records when whole."""
  work = tmp_path_factory.mktemp("made") / "w"
  folder = work / "ada"
  _run(folder, EVENTS - 1)
  with stopped_runs.state(folder) as state:
    state.context().journal.once("step", lambda: 1)
    state.context().journal.once("next", lambda: 2)
  (work / "config.gin").write_text("A = 1\n")
  (work / "environment.json").write_text(json.dumps({"learners": ["ada"]}))
  whole = _run(shutil.copytree(folder, work.parent / "whole"))
  return work, whole


@pytest.fixture(name="work")
def _work(made, tmp_path):
  return shutil.copytree(made[0], tmp_path / "w")


def _flip(content):
  place = len(content) // 3  # In a page of predictions.
  return content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1:]


DAMAGES = {"empty": lambda content: b"", "cut": lambda content: content[:-5], "flipped": _flip}
NEWEST, OLDER = "ada/state/events/00000002", "ada/state/events/00000001"


def test_a_whole_run_is_whole(work, capsys):
  before = {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
  assert cli.main(["verify", str(work)]) == 0
  said = capsys.readouterr().out
  assert "(run): 9 whole" in said and "damaged" not in said
  assert {path: path.read_bytes() for path in work.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("file, state", [
    ("ada/records.jsonl", None), (f"{NEWEST}.json", "can be made again"),
    (f"{NEWEST}.bin", "can be made again"), (f"{OLDER}.bin", "can be made again"),
    ("ada/state/progress/00000001.json", "can be made again"),
    ("ada/weights/000001.it.npz", "damaged"), ("ada/predictions/0001.parquet", "damaged"),
])
def test_every_damage_is_named_and_what_can_be_made_again_is(made, work, capsys, file, state, how):
  path = work / file
  path.write_bytes(DAMAGES[how](path.read_bytes()))
  assert cli.main(["verify", str(work)]) == 1
  said = capsys.readouterr().out
  named = file.replace(".bin", ".json") if "events" in file else file
  lines = [line for line in said.splitlines() if str(work / named) in line]
  assert lines, said
  assert all(len(line) < 400 for line in lines)
  if state is None:  # A cut last line is repeated; other lines of records are lost.
    state = "can be made again" if how == "cut" else "damaged"
  assert any(line.startswith(f"  {state}: ") for line in lines), said
  if state == "damaged":
    assert "estore" in said
    return
  cli.main(["verify", "--repair", str(work)])
  assert _run(work / "ada") == made[1]
  shutil.rmtree(work / "ada/state/progress", ignore_errors=True)
  assert cli.main(["verify", str(work)]) == 0


def test_two_damaged_snapshots_are_damage(work, capsys):
  for name in (NEWEST, OLDER):
    (work / f"{name}.json").write_text("{}")
  assert cli.main(["verify", "--repair", str(work)]) == 1
  said = capsys.readouterr().out
  assert "which the newest intact snapshot does not belong to; restore it" in said
  assert "removed" not in said
  assert (work / f"{NEWEST}.json").exists()


def test_a_summary_is_made_again(work, capsys):
  path = work / "ada" / "summary.json"
  path.write_text(run_dir.sealed({"error": 0.25}))
  assert cli.main(["verify", str(work)]) == 0
  path.write_text(path.read_text().replace("0.25", "0.15"))
  with pytest.raises(ValueError, match="its digest differs from its values.*delete it and run"):
    run_dir.read_json(path)
  assert cli.main(["verify", "--repair", str(work)]) == 0
  assert "summary.json: ValueError: " in capsys.readouterr().out and not path.exists()


def test_records_that_a_finished_run_has_lost_are_made_again(made, work, capsys):
  path = work / "ada" / "records.jsonl"
  (work / "ada" / "summary.json").write_text(run_dir.sealed({"error": 0.25}))
  path.write_bytes(b"".join(path.read_bytes().splitlines(True)[:2]))
  assert cli.main(["verify", str(work)]) == 1
  said = capsys.readouterr().out
  assert f"can be made again: {path}: it has 2 records, which the newest intact snapshot" in said
  cli.main(["verify", "--repair", str(work)])
  assert not (work / "ada" / "summary.json").exists() and _run(work / "ada") == made[1]
  (work / "ada" / "summary.json").write_text(run_dir.sealed({"error": 0.25}))
  path.write_bytes(b"")
  assert cli.main(["verify", "--repair", str(work)]) == 1
  assert f"damaged: {path}: it has 0 records" in capsys.readouterr().out


def test_what_a_killed_process_left_is_removed(work, capsys):
  left = [work / "tmp-7-config.gin", work / "ada/state/events/tmp-7-00000003.json.part"]
  for path in left:
    path.write_text("half")
  assert cli.main(["verify", str(work)]) == 1
  assert cli.main(["verify", "--repair", str(work)]) == 0
  assert not any(path.exists() for path in left)


def test_nothing_is_repaired_beside_a_process_that_works(work, capsys):
  (work / "tmp-7-config.gin").write_text("half")
  with file_lock.held(work / ".lock"):
    assert cli.main(["verify", "--repair", str(work)]) == 2
  assert "so nothing is repaired: process " in capsys.readouterr().err
  assert (work / "tmp-7-config.gin").exists()


def test_a_table_is_its_cells(work, tmp_path, capsys):
  table = tmp_path / "table"
  cell = shutil.copytree(work, table / "row" / "column" / "0")
  (table / "table.json").write_text(json.dumps({
      "title": "t", "command": "c", "rows": ["row"], "columns": ["column", "other"], "seeds": [0],
      "measures": {}}))
  assert cli.main(["verify", str(table)]) == 0
  (cell / "ada/predictions/0000.parquet").unlink()
  assert cli.main(["verify", str(table), str(work)]) == 1
  said = capsys.readouterr().out
  assert f"damaged: {cell}/ada/predictions/0000.parquet: " in said and "(run): 9 whole" in said


def test_a_cache_and_other_folders(tmp_path, capsys):
  cache = accuracy_cache.AccuracyCache(tmp_path / "cache", create=True)
  cache.add_models(["m"], np.array([[1, 0, 1]]), ["a", "b", "c"])
  assert cli.main(["verify", str(tmp_path / "cache")]) == 0
  assert "1 whole" in capsys.readouterr().out
  next(pathlib.Path(tmp_path / "cache").glob("*.ids.bin")).unlink()
  assert cli.main(["verify", str(tmp_path / "cache")]) == 1
  assert ".ids.bin" in capsys.readouterr().out
  (tmp_path / "data" / "set" / "1.0.0").mkdir(parents=True)
  (tmp_path / "data" / "set" / "1.0.0" / "dataset_info.json").write_text("{")
  assert cli.main(["verify", str(tmp_path / "data")]) == 1
  assert "dataset_info.json cannot be read (JSONDecodeError: " in capsys.readouterr().out
  (tmp_path / "empty").mkdir()
  assert cli.main(["verify", str(tmp_path / "empty")]) == 2
  assert "none of: table, accuracy cache, run, prepared data" in capsys.readouterr().err
  assert cli.main(["verify", str(tmp_path / "none")]) == 2
  assert "No such directory" in capsys.readouterr().err
