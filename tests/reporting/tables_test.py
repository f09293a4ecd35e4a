# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tables of small run directories, compared as a whole."""

from __future__ import annotations

import json

import pytest

from suite.reporting import run_dir
from suite.reporting import tables


def _predict(event, task, occurrence, year, role, error):
  key = task if occurrence == 1 else f"{task}@{occurrence}"
  return {"event": event, "kind": "predict", "protocol": "nevis", "task": task, "task_key": key,
          "occurrence": occurrence, "year": year, "role": role, "metric": "error", "error": error,
          "flops": 1e9 * event, "macs": None, "seconds": 10.0 * event}


def _make(folder, records, summary=None):
  folder.mkdir(parents=True)
  (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
  if summary is not None:
    (folder / "summary.json").write_text(json.dumps(summary))


def _markdown(folder):
  return "\n".join(table.markdown() for table in tables.build(run_dir.load([folder])))


@pytest.fixture(name="workdir")
def _workdir(tmp_path):
  train = {"event": 0, "kind": "train", "protocol": "nevis", "task": "digits"}
  errors = {"indep": (0.5, 0.25), "ft": (0.5, 0.125)}
  for name, (first, second) in errors.items():
    _make(tmp_path / name, [
        train,
        _predict(1, "digits", 1, 1998, "meta_train", first),
        _predict(3, "digits", 2, 2020, "meta_test", second),
    ], {"protocol": "nevis", "stream": "tiny", "headline": "ok", "mean_error": second,
        "forward_transfer": None if name == "indep" else 0.5, "flops": 3e9, "macs": None,
        "seconds": 30.0})
  return tmp_path


def test_nevis_as_text(workdir):
  assert tables.report([workdir], every=True) == """\
nevis (tiny): test error by task, %

task                             occurrence  year  role        metric           ft        indep
-------------------------------  ----------  ----  ----------  ------  -----------  -----------
digits                           1           1998  meta_train  error         50.00        50.00
digits                           2           2020  meta_test   error         12.50        25.00
mean error, meta-test tasks, %                                               12.50        25.00
mean error, all tasks so far, %                                              31.25        37.50
regret against indep, %                                                     -12.50         0.00
forward transfer, %                                                          50.00            -
cumulative FLOPs                                                        3.00 GFLOP   3.00 GFLOP
cumulative MACs                                                        not counted  not counted
time                                                                          30 s         30 s
"""


def test_errors_of_a_development_run_are_those_of_validation(tmp_path):
  _make(tmp_path / "ft", [{**_predict(1, "digits", 1, 1998, "meta_train", 0.5),
                           "split": "validation"}], {"protocol": "nevis", "stream": "tiny"})
  assert tables.report([tmp_path], every=True).startswith("nevis (tiny): validation error by task")


def test_what_was_changed_of_a_method_stands_beside_its_name(workdir):
  (workdir / "environment.json").write_text(json.dumps({"changes": {"ft": "steps=5"}}))
  head = tables.report([workdir], every=True).splitlines()[2]
  assert head.split()[-3:] == ["ft", "(steps=5)", "indep"]


def test_nevis_in_markdown_with_the_best_of_a_row_bold(workdir):
  lines = _markdown(workdir).splitlines()
  assert lines[:6] == [
      "**nevis (tiny): test error by task, %**",
      "",
      "| task | occurrence | year | role | metric | ft | indep |",
      "| --- | --- | --- | --- | --- | ---: | ---: |",
      "| digits | 1 | 1998 | meta_train | error | **50.00** | **50.00** |",
      "| digits | 2 | 2020 | meta_test | error | **12.50** | 25.00 |",
  ]
  assert "| mean error, meta-test tasks, % |  |  |  |  | **12.50** | 25.00 |" in lines


def test_one_run_has_nothing_to_be_better_than(workdir):
  assert "12.50" in _markdown(workdir / "ft")
  assert "**1" not in _markdown(workdir / "ft")


def test_a_run_without_a_headline_score_says_why(tmp_path):
  _make(tmp_path / "ft", [_predict(1, "digits", 1, 1998, "meta_test", 0.5)], {
      "protocol": "nevis", "mean_error": None,
      "headline": "no headline score, 2 tasks are missing: coil20, mnist"})
  text = tables.report([tmp_path], every=True)
  row = next(row for row in text.splitlines() if row.startswith("mean error, meta"))
  assert row.split()[-2:] == ["%", "-"]
  assert text.endswith("\nft: no headline score, 2 tasks are missing: coil20, mnist.\n")


def test_a_mean_with_an_unknown_part_is_unknown(tmp_path):
  _make(tmp_path / "ft", [_predict(1, "a", 1, 1998, "meta_test", 0.5),
                          _predict(3, "b", 1, 1999, "meta_test", None)])
  rows = [row.split() for row in tables.report([tmp_path], every=True).splitlines()]
  assert ["mean", "error,", "all", "tasks", "so", "far,", "%", "-"] in rows


def test_an_unfinished_run_shows_what_it_has(tmp_path):
  _make(tmp_path / "ft", [_predict(1, "digits", 1, 1998, "meta_test", 0.5)])
  text = tables.report([tmp_path], every=True)
  assert "digits" in text and "1.00 GFLOP" in text
  assert text.endswith("ft: not finished, 1 events so far; run the same command again to resume.\n")


def test_tasks_stand_in_the_order_of_the_stream_whichever_run_has_them(tmp_path):
  _make(tmp_path / "a", [_predict(3, "late", 1, 2001, "meta_test", 0.5)], {"protocol": "nevis"})
  _make(tmp_path / "b", [_predict(1, "early", 1, 2000, "meta_test", 0.25)], {"protocol": "nevis"})
  rows = tables.report([tmp_path], every=True).splitlines()
  assert rows[4].split() == ["early", "1", "2000", "meta_test", "error", "-", "25.00"]
  assert rows[5].split() == ["late", "1", "2001", "meta_test", "error", "50.00", "-"]


def test_another_protocol_is_its_summary(tmp_path):
  _make(tmp_path / "er", [{"event": 0, "protocol": "clear"}], {
      "protocol": "clear", "run": "er", "next_domain": 0.75, "accuracy_matrix": [[0.5, 0.25]] * 2,
      "flops": 2.5e12, "by_bucket": {"1": 0.5}, "left_out": []})
  _make(tmp_path / "ewc", [{"event": 0, "protocol": "clear"}], {
      "protocol": "clear", "next_domain": None, "forward_transfer": 0.5})
  assert tables.report([tmp_path], every=True) == """\
clear

                          er     ewc
----------------  ----------  ------
next_domain           0.7500       -
accuracy_matrix      [2 x 2]       -
flops             2.50 TFLOP       -
by_bucket.1           0.5000       -
left_out                   -       -
forward_transfer           -  0.5000
"""


def test_a_run_prints_its_methods_with_named_scores_and_a_matrix(tmp_path):
  for name, share in (("er", 0.5), ("ewc", 0.25)):
    _make(tmp_path / name, [{"event": 0, "protocol": "clear", "seconds": 90.0}], {
        "protocol": "clear", "stream": "tiny", "accuracy": share, "next_domain": 0.125,
        "flops": 2.5e12, "flops_train": 2e12, "flops_predict": 5e11, "num_events": 7,
        "matrix": [[share, 0.25], [0.75, 1.0]]})
  assert tables.report([tmp_path]) == """\
clear (tiny)

                               er         ewc
---------------------  ----------  ----------
accuracy, %                 50.00       25.00
next-domain, %              12.50       12.50
FLOPs without answers  2.00 TFLOP  2.00 TFLOP
FLOPs in all           2.50 TFLOP  2.50 TFLOP
time                   1 min 30 s  1 min 30 s

er: accuracy, %, by the bucket trained up to and the bucket tested on

trained up to      1       2
-------------  -----  ------
1              50.00   25.00
2              75.00  100.00

ewc: accuracy, %, by the bucket trained up to and the bucket tested on

trained up to      1       2
-------------  -----  ------
1              25.00   25.00
2              75.00  100.00
"""
  narrow = tables.report([tmp_path], most=40).splitlines()
  assert max(map(len, narrow[1:16])) <= 40 and narrow[2].split() == ["er"]
  assert narrow[10].split() == ["ewc"] and narrow[12].split() == ["accuracy,", "%", "25.00"]


def test_nevis_prints_totals_first_and_tasks_of_short_streams(workdir):
  lines = tables.report([workdir]).splitlines()
  assert lines[0] == "nevis (tiny)" and lines[4].split()[-2:] == ["12.50", "25.00"]
  assert lines[12] == "nevis (tiny): test error by task, %"
  assert [line.split()[0] for line in lines[16:]] == ["digits", "digits"]


def test_seeds_have_a_mean_and_a_deviation(tmp_path):
  for seed, share in ((0, 0.25), (1, 0.75)):
    _make(tmp_path / str(seed) / "er", [{"event": 0, "protocol": "clear"}],
          {"protocol": "clear", "stream": "tiny", "accuracy": share})
    (tmp_path / str(seed) / "config.gin").write_text(
        f"# Python objects, by suite.run; seed {seed}\nlearner.er = 1\n")
  assert "accuracy, %            50.00 ±35.36" in tables.report([tmp_path])


def test_protocols_and_streams_have_tables_of_their_own(tmp_path):
  _make(tmp_path / "a", [], {"protocol": "clear"})
  _make(tmp_path / "b", [], {"protocol": "nevis", "stream": "tiny"})
  _make(tmp_path / "c", [], {"protocol": "nevis", "stream": "short"})
  lines = tables.report([tmp_path], every=True).splitlines()
  assert [line for line in lines if line.startswith(("clear", "nevis"))] == [
      "clear", "nevis (tiny): test error by task, %", "nevis (short): test error by task, %"]


def test_a_bar_in_a_name_does_not_break_markdown(tmp_path):
  _make(tmp_path / "ft", [], {"protocol": "clear", "a|b": 1})
  assert "| a\\|b | 1 |" in _markdown(tmp_path)


def test_regret_is_open_for_a_run_that_has_not_been_tested_on_every_task(workdir):
  (workdir / "ft" / "records.jsonl").write_text(json.dumps(
      _predict(1, "digits", 1, 1998, "meta_train", 0.5)) + "\n")
  row = next(line for line in tables.report([workdir], every=True).splitlines()
             if line.startswith("regret"))
  assert row.split()[-2:] == ["-", "0.00"]


def _regret(dirs):
  return next(line for line in tables.report(dirs, every=True).splitlines()
              if line.startswith("regret")).split()[-4:]


def test_regret_over_work_directories_is_against_each_ones_independent(tmp_path):
  for folder, errors in (("a", {"indep": 0.5, "ft": 0.25}), ("b", {"indep": 0.25, "ft": 0.375})):
    for name, error in errors.items():
      _make(tmp_path / folder / name, [_predict(1, "digits", 1, 1998, "meta_train", error)])
  runs = [tmp_path / f / name for f in "ab" for name in ("indep", "ft")]
  assert _regret(runs) == ["0.00", "-25.00", "0.00", "12.50"]


def test_regret_over_work_directories_with_one_independent_or_none_of_several(tmp_path):
  for folder, name, error in (("a", "indep", 0.5), ("b", "ft", 0.25), ("c", "indep", 0.75)):
    _make(tmp_path / folder / name, [_predict(1, "digits", 1, 1998, "meta_train", error)])
  assert _regret([tmp_path / "a", tmp_path / "b"])[-2:] == ["0.00", "-25.00"]
  assert _regret([tmp_path / f for f in "abc"])[-3:] == ["0.00", "-", "0.00"]


def test_there_is_no_regret_without_independent(tmp_path):
  _make(tmp_path / "ft", [_predict(1, "digits", 1, 1998, "meta_train", 0.5)])
  assert "regret" not in tables.report([tmp_path], every=True)


def test_long_texts_stand_below_the_table(tmp_path):
  long = "a very long reason why three of the tables were left out"
  for run, why in (("a", "short"), ("b", long)):
    _make(tmp_path / run, [], {"protocol": "lifelong", "left_out": long, "why": why, "error": 0.5})
  lines = tables.report([tmp_path], every=True).splitlines()
  assert max(map(len, lines[2:5])) < 40
  assert lines[-3:] == [f"left_out: {long}.", "why of a: short.", f"why of b: {long}."]
