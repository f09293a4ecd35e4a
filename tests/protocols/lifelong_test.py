# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import numpy as np
import pytest
import record_keys

from suite.compute import distribution
from suite.learners.estimators import paper_estimators
from suite.lifelong.cache import accuracy_cache
from suite.protocols import lifelong
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer
from suite.state import answer_tables
from suite.state import predictions

# Models by name, each with its answers to samples a b c d.
ANSWERS = {"one/0001": [1, 1, 1, 0], "one/0003": [1, 1, 0, 0],
           "two/0001": [1, 0, 0, 0], "two/0003": [0, 1, 1, 1]}
IDS, LABELS = ["a", "b", "c", "d"], [3, 1, 4, 1]


def _save(work, name, answers, ids=IDS, labels=LABELS):
  run_dir, stem = name.split("/")
  n = len(answers)
  predictions.save(
      work / run_dir / "predictions" / f"{stem}.parquet", ids=ids, labels=np.asarray(labels),
      top1=np.zeros(n, int), true_class_probability=np.full(n, 0.5),
      correct=np.asarray(answers, bool))


@pytest.fixture
def cache(tmp_path):
  work = tmp_path / "work"
  for name, answers in ANSWERS.items():
    _save(work, name, answers)
  return work


def _run(folder, cache, method=None, stop_after=None, **settings):
  folder.mkdir(exist_ok=True)
  state = run_state.RunState(
      folder, run_writer.RunWriter(folder, None, progress.Progress("x")), name="x", seed=0,
      distribution=distribution.build())
  commit = state.commit

  def commit_then_stop(*args):
    commit(*args)
    if state.done == stop_after:
      raise KeyboardInterrupt

  state.commit = commit_then_stop
  return lifelong.run(method or paper_estimators.SumSearch(), state=state, predictions=str(cache),
                      **{"budget": 2, "min_models": 4, **settings})


def _records(folder):
  return records.strip_times(records.read(folder / "records.jsonl"))


def test_four_models_by_hand(tmp_path, cache):
  summary = _run(tmp_path / "run", cache)
  # The others' counts give the order; the middles of its halves (ranks 1 and 3) are asked; the cut
  # is stretched by 2.
  #   held out  counts   order    asked -> answers  cut  estimate  truth  wrong
  #   one/0001  2 2 1 1  a b c d  b d -> 1 0        2    1 1 0 0   1110   1
  #   one/0003  2 2 2 1  a b c d  b d -> 1 0        2    1 1 0 0   1100   0
  #   two/0001  2 3 2 1  b a c d  a d -> 1 0        2    1 1 0 0   1000   1
  #   two/0003  3 2 1 0  a b c d  b d -> 1 1        4    1 1 1 1   0111   1
  records = _records(tmp_path / "run")
  assert not record_keys.unknown(records)
  assert [r["model"] for r in records] == [f"work/{name}" for name in sorted(ANSWERS)]
  assert [r["cut"] for r in records] == [2, 2, 2, 4]
  assert [r["per_sample_error"] for r in records] == [0.25, 0.0, 0.25, 0.25]
  assert [r["constant_error"] for r in records] == [0.25, 0.5, 0.25, 0.25]
  assert [r["estimated_accuracy"] for r in records] == [0.5, 0.5, 0.5, 1.0]
  assert [r["accuracy"] for r in records] == [0.75, 0.5, 0.25, 0.75]
  assert [r["accuracy_error"] for r in records] == [0.25, 0.0, 0.25, 0.25]
  assert [r["examples"] for r in records] == [2, 4, 6, 8]  # Answers asked for, cumulative.
  assert {r["flops"] for r in records} == {0} and {r["known_models"] for r in records} == {3}
  assert {r["identical_models"] for r in records} == {0}
  assert summary["mean_per_sample_error"] == 0.1875 and summary["mean_accuracy_error"] == 0.1875
  assert (summary["num_models"], summary["num_asked"], summary["num_answers"]) == (4, 8, 16)
  assert summary["stream"] == "work" and summary["examples_predict"] == 8


def test_a_run_stopped_after_any_event_goes_on_the_same(tmp_path, cache):
  summary = _run(tmp_path / "whole", cache)
  for stop in range(1, 5):
    folder = tmp_path / f"stopped{stop}"
    with pytest.raises(KeyboardInterrupt):
      _run(folder, cache, stop_after=stop)
    assert _run(folder, cache) == summary
    assert _records(folder) == _records(tmp_path / "whole")


def test_samples_are_matched_by_id_in_whatever_order_they_were_saved(tmp_path, cache):
  expected = _run(tmp_path / "whole", cache)
  _save(cache, "two/0003", ANSWERS["two/0003"][::-1], IDS[::-1], LABELS[::-1])
  assert _run(tmp_path / "turned", cache) == expected


def test_other_samples_and_other_labels_are_other_tables(tmp_path, cache):
  _save(cache, "one/0005", [1, 1], IDS[:2], LABELS[:2])
  # Another data set that counts its samples alike.
  _save(cache, "one/0007", [1, 1, 1, 1], IDS, [0, 0, 0, 0])
  tables, left_out = answer_tables.load(str(cache), 4)
  assert [t.models for t in tables] == [tuple(f"work/{name}" for name in sorted(ANSWERS))]
  np.testing.assert_array_equal(tables[0].answers, [ANSWERS[name] for name in sorted(ANSWERS)])
  assert left_out == ["work/one/0005 (1 models, 2 samples)", "work/one/0007 (1 models, 4 samples)"]
  summary = _run(tmp_path / "run", cache)
  assert summary["left_out"] == left_out and _records(tmp_path / "run")[0]["left_out"] == left_out


def test_multi_label_predictions_count_too(tmp_path, cache):
  hot = np.array([[1, 0, 1], [0, 1, 0]])
  for run in ("one", "two", "three"):
    predictions.save(
        cache / run / "predictions" / "0009.parquet", ids=["m", "n"], labels=hot, top1=[0, 0],
        true_class_probability=[[0.5, 0.5], [0.5]], correct=[True, False], scores=np.zeros([2, 3]))
  tables, _ = answer_tables.load(str(cache), 3)
  assert [t.answers.tolist() for t in tables if t.ids == ("m", "n")] == [[[1, 0]] * 3]


def test_a_run_directory_and_several_work_directories_will_do(cache, tmp_path):
  tables, _ = answer_tables.load(str(cache / "one"), 2)
  assert tables[0].models == ("work/one/0001", "work/one/0003")
  _save(tmp_path / "more", "one/0001", [0, 0, 0, 0])
  tables, _ = answer_tables.load([str(cache), str(tmp_path / "more")], 5)
  assert tables[0].models[0] == "more/one/0001" and len(tables[0].models) == 5


def test_models_that_answer_alike_are_counted(tmp_path, cache):
  _save(cache, "two/0005", ANSWERS["one/0001"])
  _run(tmp_path / "run", cache)
  assert [r["identical_models"] for r in _records(tmp_path / "run")] == [1, 0, 0, 0, 1]


def test_a_tables_models_are_found_in_its_cells(tmp_path):
  for row in ("er", "ncm"):
    _save(tmp_path / "w" / row / "CLEAR" / "0", f"{row}/0001", [0, 1, 1, 1])
  table, = answer_tables.load(str(tmp_path / "w"), 2)[0]
  assert table.models == ("w/er/CLEAR/0/er/0001", "w/ncm/CLEAR/0/ncm/0001")


def test_the_last_models_of_runs_alone_can_be_compared(cache):
  _save(cache, "three/0001", [1, 0, 0, 1])
  _save(cache, "three/0003", [1, 0], IDS[:2], LABELS[:2])  # Another test set.
  table, = answer_tables.load(str(cache), 2, last_of_run=True)[0]
  assert table.models == ("work/one/0003", "work/three/0001", "work/two/0003")


def test_missing_predictions_are_an_error_that_says_what_to_run(tmp_path, cache):
  with pytest.raises(FileNotFoundError, match="no saved .*nowhere.*suite run quickstart"):
    _run(tmp_path / "run", tmp_path / "nowhere")
  with pytest.raises(ValueError, match=r"no 9 saved .* got \[4\] models for 1 test sets.*quickst"):
    _run(tmp_path / "run", cache, min_models=9)


def test_two_models_of_one_name_are_refused(tmp_path, cache):
  _save(tmp_path / "elsewhere" / "work", "one/0001", [0, 0, 0, 0])
  with pytest.raises(ValueError, match="would both be called 'work/one/0001'"):
    answer_tables.load([str(cache), str(tmp_path / "elsewhere" / "work")], 2)


def test_a_cache_that_changed_under_a_run_is_refused(tmp_path, cache):
  with pytest.raises(KeyboardInterrupt):
    _run(tmp_path / "run", cache, stop_after=2)
  _save(cache, "two/0003", [0, 0, 0, 0])
  with pytest.raises(ValueError, match="have changed since this run began"):
    _run(tmp_path / "run", cache)


def test_a_method_cannot_ask_more_than_its_budget(tmp_path, cache):
  class Curious(paper_estimators.SumSearch):

    def estimate(self, known, ask, budget):
      return super().estimate(known, ask, budget + 1)

  with pytest.raises(ValueError, match="asked for 3 answers; its budget is 2"):
    _run(tmp_path / "run", cache, Curious())


def test_the_models_of_a_cache_are_held_out_like_saved_ones(tmp_path, cache):
  answers = np.array(list(ANSWERS.values()), np.int8)
  made = accuracy_cache.AccuracyCache(tmp_path / "made", create=True)
  made.add_models(list(ANSWERS), answers, IDS)
  made.add_models(["partly"], [np.array([1, -1, 0, 1], np.int8)])
  summary = _run(tmp_path / "a", tmp_path / "made")
  saved = _run(tmp_path / "b", cache)
  for name in ("num_models", "mean_per_sample_error", "mean_accuracy_error", "num_asked"):
    assert summary[name] == saved[name]


def test_saved_answers_cost_what_a_file_says(tmp_path, cache):
  prices = tmp_path / "costs.csv"
  prices.write_text("model,flops,gpu_seconds\nwork/one/0001,100,\n*,10,1.5\n")
  summary = _run(tmp_path / "run", cache, costs=str(prices))
  records_ = _records(tmp_path / "run")
  assert [r["saved_answers"] for r in records_] == [2] * 4
  assert [r["saved_flops"] for r in records_] == [200, 20, 20, 20]
  assert [r["saved_gpu_hours"] for r in records_] == [None, *[3 / 3600] * 3]
  assert summary["saved_flops"] == 260 and summary["saved_gpu_hours"] is None
  prices.write_text("model,flops\n*,10\n")
  with pytest.raises(ValueError, match="expected model,flops,gpu_seconds, of one answer each"):
    _run(tmp_path / "other", cache, costs=str(prices))


def test_an_npz_is_a_table_with_confidences_and_domains(tmp_path):
  answers = np.array([[1, 1, 0], [0, 1, 0]], np.uint8)
  np.savez(tmp_path / "m.npz", A_packed=np.packbits(answers, axis=1), n_samples=3,
           model_names=["a", "b"], conf_models=[1], conf=np.array([[0.5, 0.75, 0.0]], np.float16),
           domain=np.array([0, 1, 0]), domain_names=["clean", "noise"])
  table, = answer_tables.load(str(tmp_path / "m.npz"), 2)[0]
  assert table.models == ("a", "b") and table.ids == ("0", "1", "2")
  np.testing.assert_array_equal(table.answers, answers)
  assert table.with_confidence.tolist() == [1]
  assert table.answers.chosen(np.array([1])).confidence_sums().tolist() == [0.5, 0.75, 0.0]
  assert {name: one.tolist() for name, one in table.domains.items()} == {
      "clean": [0, 2], "noise": [1]}
