# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The experiments of Sort & Search on small matrices, beside brute force over all cuts."""

import numpy as np
import pytest

from suite.compute import distribution
from suite.learners.estimators import paper_estimators
from suite.lifelong.answers import known_answers
from suite.lifelong.answers import ranking
from suite.protocols import lifelong_figures
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer

RNG = np.random.default_rng(0)
ANSWERS = (RNG.logistic(size=(9, 24)) < 2 * (RNG.normal(size=(9, 1)) - RNG.normal(size=24))
           ).astype(np.uint8)
CONFIDENCES = np.clip(RNG.random((6, 24)), 0.1, 0.9)
SPLIT = lifelong_figures.Split(sort_models=4, splits=2, fewer=(2,))
NEW = lifelong_figures.NewSamples(held_out=8, tested=5, budgets=(2, 3, 100))


@pytest.fixture(name="matrix")
def _matrix(tmp_path):
  path = tmp_path / "matrix.npz"
  np.savez(path, answers=ANSWERS, conf_models=np.arange(2, 8), conf=CONFIDENCES,
           domain=np.arange(24) % 3, domain_names=["clean", "noise", "blur"])
  return str(path)


def _run(folder, matrix, method=None, stop_after=None, **settings):
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
  return lifelong_figures.run(
      method or paper_estimators.SumSearch(), state=state, answers=matrix,
      **{"budgets": (3, 8, 24, 99), "split": SPLIT, "new_samples": NEW, "repeated_budget": 5,
         **settings})


def _records(folder):
  return records.strip_times(records.read(folder / "records.jsonl"))


def _step(row, order, positions):
  """The best step for the answers at some ranks, by trying all cuts; and extended to all ranks."""
  asked = row[order][positions]
  wrong = [np.sum(asked != (np.arange(len(asked)) < cut)) for cut in range(len(asked) + 1)]
  cut = int(np.floor(np.argmin(wrong) * len(order) / len(asked) + 0.5))
  predicted = np.zeros(len(order), int)
  predicted[order[:cut]] = 1
  return predicted


def _middles(num, budget):
  return [int((j + 0.5) * num / budget) for j in range(budget)]


def _order(counts):
  return np.array(sorted(range(len(counts)), key=lambda i: (-float(counts[i]), i)))


def test_errors_of_models_by_brute_force(tmp_path, matrix):
  summary = _run(tmp_path / "run", matrix)
  found = _records(tmp_path / "run")
  assert [(one["figure"], one["split"], one.get("sort_models")) for one in found] == [
      ("models", 0, 4), ("models", 0, 2), ("models", 1, 4), ("models", 1, 2),
      ("samples", 0, None), ("samples", 1, None), ("repeated", 0, None),
      ("correlations", 0, None)]
  table = lifelong_figures.answer_tables.load(matrix, 3)[0][0]
  state_seeds = lifelong_figures.run_state.seeds.Seeds(0)
  for one in found[:4]:
    sort, test = SPLIT.draw(table, state_seeds.generator("models", one["split"]))
    assert set(sort) <= set(range(2, 8)) and not set(sort) & set(test) and len(test) == 5
    sort = sort[:one["sort_models"]]
    order = _order(ANSWERS[sort].sum(axis=0))
    assert one["budgets"] == [3, 8, 24]
    for place, budget in enumerate(one["budgets"]):
      positions = _middles(24, budget)
      steps = [_step(ANSWERS[m], order, positions) for m in test]
      best = [_step(ANSWERS[m], order, range(24)) for m in test]
      asked = [ANSWERS[m][order[positions]] for m in test]
      unseen = np.setdiff1d(np.arange(24), order[positions])
      expected = {
          "mae": np.mean([np.mean(s != ANSWERS[m]) for s, m in zip(steps, test)]),
          "epistemic": np.mean([np.mean(s != b) for s, b in zip(steps, best)]),
          "cut_error": np.mean([abs(s.mean() - ANSWERS[m].mean()) for s, m in zip(steps, test)]),
          "accuracy_error": np.mean([abs(a.mean() - ANSWERS[m].mean())
                                     for a, m in zip(asked, test)])}
      for name, value in expected.items():
        assert one[name][place] == pytest.approx(value), name
      if len(unseen):
        assert one["unseen"][place] == pytest.approx(
            np.mean([np.mean((s != ANSWERS[m])[unseen]) for s, m in zip(steps, test)]))
      else:
        assert one["unseen"][place] is None
    assert one["aleatoric"] == pytest.approx(
        np.mean([np.mean(b != ANSWERS[m]) for b, m in zip(best, test)]))
    # As many ones as the model has, at the beginning; an order of int64 and answers of a byte.
    assert one["oracle"] == pytest.approx(np.mean([np.mean(
        (np.arange(24) < ANSWERS[m].sum()) != ANSWERS[m]) for m in test]))
    assert one["array_bytes"] == 24 * (8 + 1)
    assert one["epistemic"][-1] == 0.0 and one["mae"][-1] == pytest.approx(one["aleatoric"])
  assert summary["mean_absolute_error"] == pytest.approx(
      np.mean([one["mae"][-1] for one in found[:4:2]]))
  assert summary["largest_budget"] == 24 and summary["splits"] == 2


def test_new_samples_are_the_transpose_by_brute_force(tmp_path, matrix):
  table = lifelong_figures.answer_tables.load(matrix, 3)[0][0]
  _run(tmp_path / "run", matrix)
  _run(tmp_path / "sure", matrix, paper_estimators.SumSearch(sort="confidence"))
  for sort, name in (("sum", "run"), ("confidence", "sure")):
    one = _records(tmp_path / name)[4]
    known, new = NEW.draw(table, lifelong_figures.run_state.seeds.Seeds(0).generator("samples", 0))
    assert len(known) == 16 and len(new) == 5 and not set(known) & set(new)
    solved = (ANSWERS[2:8] if sort == "sum" else CONFIDENCES)[:, known].sum(axis=1)
    order = _order(solved)  # Models with confidences, from the best to the worst.
    assert one["budgets"] == [2, 3] and one["num_models"] == 6
    for place, budget in enumerate(one["budgets"]):
      expected = np.mean([np.mean(_step(ANSWERS[2:8, s], order, _middles(6, budget))
                                  != ANSWERS[2:8, s]) for s in new])
      assert one["mae"][place] == pytest.approx(expected)


def test_a_domain_can_be_held_out(matrix):
  table = lifelong_figures.answer_tables.load(matrix, 3)[0][0]
  known, new = lifelong_figures.NewSamples(domain="noise").draw(table, np.random.default_rng(0))
  assert sorted(new) == list(range(1, 24, 3)) and not set(known) & set(new)
  with pytest.raises(ValueError, match="domain='rain'; .* has clean, noise, blur. Leave"):
    lifelong_figures.NewSamples(domain="rain").draw(table, np.random.default_rng(0))


def test_estimates_taken_for_observations_change_no_order_and_no_estimate(tmp_path, matrix):
  _run(tmp_path / "sum", matrix)
  one = _records(tmp_path / "sum")[6]
  assert one["alone"] == one["in_turn"] and len(one["alone"]) == 5
  assert (one["same_estimates"], one["order_changes"]) == (5, 0)
  _run(tmp_path / "copy", matrix, paper_estimators.CopyNearest())
  one = _records(tmp_path / "copy")[6]
  assert one["order_changes"] is None and len(one["in_turn"]) == 5


def test_correlations_of_all_models(tmp_path, matrix):
  _run(tmp_path / "run", matrix)
  one = _records(tmp_path / "run")[7]
  varied = ANSWERS[ANSWERS.std(axis=1) > 0]  # One model is right everywhere: it has none.
  pairs = np.corrcoef(varied)[np.triu_indices(8, 1)]
  assert len(varied) == 8 and one["pairs"] == 28 and one["negative_pairs"] == np.sum(pairs < 0)
  np.testing.assert_allclose([one["quantiles"][i] for i in (0, 3, 6)],
                             [pairs.min(), np.median(pairs), pairs.max()])
  assert np.all(np.diff(one["group_accuracies"]) <= 0) and len(one["group_correlations"]) == 9


@pytest.mark.parametrize("stop", [1, 4, 5, 7])
def test_a_run_stopped_after_an_event_goes_on_the_same(tmp_path, matrix, stop):
  def method():
    return paper_estimators.SumSearch(sampling="random")  # Its draws are counted.

  summary = _run(tmp_path / "whole", matrix, method())
  with pytest.raises(KeyboardInterrupt):
    _run(tmp_path / "stopped", matrix, method(), stop_after=stop)
  assert _run(tmp_path / "stopped", matrix, method()) == summary
  assert _records(tmp_path / "stopped") == _records(tmp_path / "whole")


def test_costs_say_what_a_budget_saves(tmp_path, matrix):
  prices = tmp_path / "costs.csv"
  prices.write_text("model,flops,gpu_seconds\n*,10,3600\n")
  _run(tmp_path / "run", matrix, costs=str(prices))
  # Five models are not asked 21, 16 and 0 of 24 answers.
  assert _records(tmp_path / "run")[0]["saved"] == [
      {"saved_answers": 5 * n, "saved_flops": 50 * n, "saved_gpu_hours": 5 * n}
      for n in (21, 16, 0)]


def test_wrong_splits_and_changed_answers_are_refused(tmp_path, matrix):
  with pytest.raises(ValueError, match="sort_models=7 .* 6 of whose models can be sort models"):
    _run(tmp_path / "a", matrix, split=lifelong_figures.Split(sort_models=7, fewer=()))
  with pytest.raises(ValueError, match="test_models=6; 5 are left beside 4"):
    _run(tmp_path / "b", matrix, split=lifelong_figures.Split(4, 6, fewer=()))
  with pytest.raises(KeyboardInterrupt):
    _run(tmp_path / "c", matrix, stop_after=1)
  np.savez(matrix, answers=1 - ANSWERS)
  with pytest.raises(ValueError, match="answers have changed since this run began"):
    _run(tmp_path / "c", matrix)


def test_the_step_of_a_transposed_table_is_that_of_the_sorted_models():
  transposed = known_answers.KnownAnswers(known_answers.TransposedRows(
      known_answers.pack(ANSWERS), np.arange(20)))
  row = ANSWERS[:, 22]
  found = paper_estimators.SumSearch().estimate(transposed, lambda models: row[models], 9)
  order = ranking.order_by_count(ANSWERS[:, :20].sum(axis=1))
  assert found.order.tolist() == order.tolist()
