# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Each file of a run, table and cache spoiled in each way: report and verify say one line.

No traceback, no number of a spoiled file as if it were whole, and an exit code that says so.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil

import numpy as np
import pytest

import suite
from suite import cli
from suite.lifelong.cache import accuracy_cache
from suite.reporting import records
from suite.reporting import run_dir
from suite.reporting import table_dir
from suite.state import predictions
from suite.state import snapshots

ENVIRONMENT = {"command": "suite run x", "seed": 0, "suite": suite.__version__, "device": "CPU",
               "learners": ["ada"], "packages": {"numpy": "1"}, "arithmetic": {"op_threads": 2}}


def _make_run(folder):
  """A finished run of two events, as the suite leaves it."""
  folder.mkdir(parents=True)
  (folder / "config.gin").write_text("experiment.run.seed = 0\n")
  (folder / "environment.json").write_text(run_dir.sealed(ENVIRONMENT))
  learner = folder / "ada"
  with records.RecordWriter(learner / "records.jsonl", sync=False) as writer:
    for event in range(2):
      predictions.save(
          learner / f"predictions/{event:04d}.parquet", ids=["a"], labels=[0], top1=[0],
          true_class_probability=[1.0], correct=[True], sync=False)
      end = writer.write({"event": event, "run": "ada", "protocol": "clear", "kind": "predict",
                          "predictions": f"predictions/{event:04d}.parquet", "flops": 1})
      snapshots.Snapshots(learner / "state" / "events").write(
          {"done": event + 1, "position": [end, writer.digest], "ledger": {}},
          {"w": np.zeros(3)})
    (learner / "summary.json").write_text(run_dir.sealed(
        {"protocol": "clear", "run": "ada", "in_domain": 0.5}, num_records=2,
        last_digest=writer.digest))
  (folder / "report.txt").write_text("0.5\n")
  run_dir.save_sums(folder)


def _make_table(folder):
  made = table_dir.TableDir(folder, "t", "suite run t", ["r"], ["c"], [0], {"in_domain": "Acc."})
  _make_run(made.cell("r", "c", 0))
  (folder / "table.json").write_text(made.text())


def _make_cache(folder):
  cache = accuracy_cache.AccuracyCache(folder, create=True)
  cache.add_models(["m", "n"], np.array([[1, 0, 1], [0, 0, 1]], np.int8), ["a", "b", "c"])
  cache.add_models(["o"], np.array([[1, -1, 1]], np.int8))


MAKERS = {"run": _make_run, "table": _make_table, "cache": _make_cache}


def _loop(path):
  path.unlink()
  path.symlink_to(path.name)


def _folder(path):
  path.unlink()
  path.mkdir()


def _json(change):
  def spoil(path):
    try:
      lines = path.read_text().splitlines(keepends=True)
      values = json.loads(path.read_text() if path.suffix == ".json" else lines[0])
    except (ValueError, IndexError):
      return False
    if not isinstance(values, dict):
      return False
    if change(values) == values:
      return False
    text = json.dumps(change(values))
    path.write_text(text if path.suffix == ".json" else "".join([text + "\n", *lines[1:]]))
    return True
  return spoil


SPOILED = {
    "empty": lambda path: path.write_bytes(b""),
    "a folder": _folder,
    "a loop of links": _loop,
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00\x81" * 8),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:path.stat().st_size // 2]),
    "a list": _json(lambda values: [values]),
    "a number": _json(lambda values: 1e999),
    "deep": lambda path: path.write_text("[" * 100_000 + "]" * 100_000),
    "unknown keys": _json(lambda values: {**values, "unknown": {"a": [1]}}),
    "no keys": _json(lambda values: {}),
    "other types": _json(lambda values: {key: [None] for key in values}),
    "texts": _json(lambda values: dict.fromkeys(values, "x")),
    "numbers": _json(lambda values: dict.fromkeys(values, 7)),
    "a large number": _json(lambda values: {**values, **{
        key: 10**400 for key, value in values.items() if isinstance(value, int)}}),
}


# Keys of later versions are left alone.
HARMLESS = (("format.json", "unknown keys"),)


def _files(folder):
  return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")
                if path.is_file() and path.name != "lock")


@pytest.mark.parametrize("kind", MAKERS)
def test_every_file_spoiled_in_every_way_is_said_in_one_line(kind, tmp_path, capsys):
  MAKERS[kind](tmp_path / "whole")
  commands = ("verify", "report") if kind != "cache" else ("verify",)
  capsys.readouterr()
  for command in commands:
    assert cli.main([command, str(tmp_path / "whole")]) == 0, capsys.readouterr()
  wrong = []
  for name in ["table.json"] if kind == "table" else _files(tmp_path / "whole"):
    for how, spoil in SPOILED.items():
      shutil.rmtree(tmp_path / "w", ignore_errors=True)
      shutil.copytree(tmp_path / "whole", tmp_path / "w")
      before = (tmp_path / "w" / name).read_bytes()
      if spoil(tmp_path / "w" / name) is False or (name, how) in HARMLESS or (
          (tmp_path / "w" / name).is_file() and (tmp_path / "w" / name).read_bytes() == before):
        continue
      for command in commands:
        capsys.readouterr()
        try:
          code = cli.main([command, str(tmp_path / "w")])
        except SystemExit as error:
          code = error.code
        except BaseException as error:  # pylint: disable=broad-except
          code = f"{type(error).__name__}: {error}"
        said = capsys.readouterr()
        bad = [what for what, is_so in (
            ("a traceback", "Traceback" in said.err or not isinstance(code, int)),
            ("not found", code == 0 and (command == "verify" or name == "table.json")),
            ("says nothing", code != 0 and not said.err + said.out),
            ("a long line", any(len(line) > 600 for line in said.err.splitlines()))) if is_so]
        if bad:
          last = (said.err + said.out).strip().splitlines()[-1:]
          wrong.append(f"{command} of {name}, {how}: {bad} {code} {last}"[:300])
  assert not wrong, "\n".join([f"{len(wrong)} cases", *wrong])


def test_links_in_a_loop_end(tmp_path, capsys):
  _make_run(tmp_path / "w")
  os.symlink(tmp_path / "w", tmp_path / "w" / "again")
  for command in ("verify", "report"):
    assert cli.main([command, str(tmp_path / "w")]) == 0
  assert "Traceback" not in capsys.readouterr().err
  assert pathlib.Path(tmp_path / "w" / "ada").is_dir()
