# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs as arrays: seeds of one learner together, streams apart, unfinished runs as far as they go.
"""

import json

import nevis_runs
import numpy as np
import pytest

from suite.reporting.nevis_panels import stream_results

NAN = float("nan")


def test_runs_that_differ_in_the_seed_only_are_seeds_of_one_learner(tmp_path):
  for seed, errors in enumerate([(0.1, 0.2, 0.3, 0.5), (0.1, 0.2, 0.5, 0.5)]):
    nevis_runs.write(tmp_path / f"seed{seed}" / "ft_d", errors, seed=seed)
  [results] = stream_results.load([tmp_path])
  assert [task.key for task in results.tasks] == list(nevis_runs.KEYS)
  assert results.is_meta_test == [False, False, True, True]
  [learner] = results.learners
  assert (learner.label, learner.method, learner.num_seeds) == ("ft_d", "ft_d", 2)
  np.testing.assert_allclose(learner.mean_errors, [0.4, 0.5])
  assert results.tasks[0].num_examples == 500


def test_other_settings_are_another_learner_with_a_label_of_its_own(tmp_path):
  for name, extra in (("cheap", "TRIALS = 4\n"), ("paper", "TRIALS = 16\n")):
    for method in ("indep", "ft_d"):
      nevis_runs.write(tmp_path / name / method, (0.1, 0.2, 0.3, 0.5), seed=0)
    config = tmp_path / name / "config.gin"
    config.write_text(config.read_text() + extra)
  [results] = stream_results.load([tmp_path / "cheap", tmp_path / "paper"])
  assert [learner.label for learner in results.learners] == [
      "cheap/ft_d", "cheap/indep", "paper/ft_d", "paper/indep"]
  references = [results.reference_of(learner).label for learner in results.learners]
  assert references == ["cheap/indep", "cheap/indep", "paper/indep", "paper/indep"]


def test_seeds_of_two_settings_in_one_folder_stay_apart(tmp_path):
  for seed in (0, 1):
    for name, extra in (("cheap", "TRIALS = 4\n"), ("paper", "TRIALS = 16\n")):
      for method in ("indep", "ft_d"):
        nevis_runs.write(tmp_path / f"{name}{seed}" / method, (0.1, 0.2, 0.3, 0.5), seed=seed)
      config = tmp_path / f"{name}{seed}" / "config.gin"
      config.write_text(config.read_text() + extra)
  [results] = stream_results.load([tmp_path])
  assert [(learner.label, learner.num_seeds) for learner in results.learners] == [
      ("cheap0/ft_d", 2), ("cheap0/indep", 2), ("paper0/ft_d", 2), ("paper0/indep", 2)]
  assert results.reference_of(results.learners[2]).label == "paper0/indep"


def test_a_seed_that_was_run_twice_is_no_further_seed(tmp_path):
  for name, seed in (("a", 0), ("b", 0), ("c", 1)):
    nevis_runs.write(tmp_path / name / "ft_d", (0.1, 0.2, 0.3, 0.5), seed=seed)
  [results] = stream_results.load([tmp_path])
  assert [(learner.label, learner.num_seeds) for learner in results.learners] == [
      (f"{tmp_path.name}/ft_d", 2), ("b/ft_d", 1)]


def test_runs_without_a_configuration_are_learners_of_their_own(tmp_path):
  for name in ("a", "b"):
    nevis_runs.write(tmp_path / name / "ft_d", (0.1, 0.2, 0.3, 0.5))
    (tmp_path / name / "config.gin").write_text("\n")
  assert [learner.label for learner in stream_results.load([tmp_path])[0].learners] == [
      "a/ft_d", "b/ft_d"]


def test_a_run_that_has_just_begun_has_nothing_to_show(tmp_path):
  nevis_runs.write(tmp_path / "ft_d", (), is_finished=False)
  (tmp_path / "ft_d" / "records.jsonl").write_text(
      '{"protocol": "nevis", "kind": "train", "task_key": "a"}\n')
  assert not stream_results.load([tmp_path])


def test_a_learner_alone_is_compared_with_the_only_independent_one(tmp_path):
  nevis_runs.write(tmp_path / "a" / "indep", (0.1, 0.2, 0.3, 0.5))
  nevis_runs.write(tmp_path / "b" / "ft_d", (0.1, 0.2, 0.3, 0.5))
  [results] = stream_results.load([tmp_path])
  assert results.reference_of(results.learners[1]).label == "indep"
  nevis_runs.write(tmp_path / "c" / "indep", (0.1, 0.2, 0.3, 0.5))
  [results] = stream_results.load([tmp_path])
  assert results.reference_of(results.learners[1]) is None


def test_cells_of_a_table_are_found_and_named_by_row_and_column(tmp_path):
  (tmp_path / "table.json").write_text("{}")
  for row in ("32_pixels", "64_pixels"):
    folder = tmp_path / row / "short" / "0"
    nevis_runs.write(folder / "indep", (0.1, 0.2, 0.3, 0.5))
    (folder / "config.gin").write_text(f"SIZE = {row!r}\n")
  [results] = stream_results.load([tmp_path])
  assert [learner.label for learner in results.learners] == [
      "32_pixels/short/indep", "64_pixels/short/indep"]


def test_an_unfinished_run_joins_the_stream_that_begins_like_it(tmp_path):
  nevis_runs.write(tmp_path / "a" / "ft_d", (0.1, 0.2), is_finished=False)
  nevis_runs.write(tmp_path / "a" / "indep", (0.1, 0.2, 0.3, 0.5))
  [results] = stream_results.load([tmp_path])
  ft_d, indep = results.learners
  np.testing.assert_array_equal(ft_d.errors, [[0.1, 0.2, NAN, NAN]])
  assert np.isnan(ft_d.mean_errors[0]) and ft_d.flops == [None] and indep.flops == [100]
  assert results.notes == ["ft_d: partial, 4 events so far; its values are not final."]


def test_streams_and_splits_are_never_put_together(tmp_path):
  nevis_runs.write(tmp_path / "a" / "ft_d", (0.1, 0.2, 0.3, 0.5))
  nevis_runs.write(tmp_path / "b" / "ft_d", (0.1, 0.2, 0.3, 0.5), summary={"stream": "other"})
  other = nevis_runs.write(tmp_path / "c" / "ft_d", (0.1, 0.2))
  lines = [{**json.loads(line), "split": "validation"}
           for line in (other / "records.jsonl").read_text().splitlines()]
  (other / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
  found = stream_results.load([tmp_path])
  assert [results.title for results in found] == [
      "nevis (toy)", "nevis (other)", "nevis (toy, validation split)"]


def test_an_unknown_cost_stays_unknown(tmp_path):
  nevis_runs.write(tmp_path / "ft_d", (0.1, 0.2, 0.3, 0.5), flops={"train": 5, "pretrain": None})
  [learner] = stream_results.load([tmp_path])[0].learners
  assert (learner.flops, learner.flops_without_pretraining) == ([None], [5])


def test_a_headline_that_is_missing_has_its_reason(tmp_path):
  nevis_runs.write(tmp_path / "ft_d", (0.1, 0.2, 0.3, 0.5), summary={
      "mean_error": None, "headline": "no headline score, 1 tasks are missing: x"})
  [results] = stream_results.load([tmp_path])
  assert results.notes == ["ft_d: no headline score, 1 tasks are missing: x."]
  assert np.isnan(results.learners[0].mean_errors[0])


def test_a_folder_without_runs_is_refused(tmp_path):
  with pytest.raises(FileNotFoundError, match="There is no run in .*: neither it nor"):
    stream_results.load([tmp_path])
