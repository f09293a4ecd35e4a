# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The study's scores by hand, and its page on a small matrix."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong.estimators import estimator


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("lifelong_study")


def test_the_scores_of_one_model_by_hand(tool):
  truth = np.array([1, 1, 0, 0, 1], np.uint8)

  class Method:

    def estimate(self, known, ask, budget):
      assert ask(np.array([0, 2])).tolist() == [1, 0] and budget == 2
      return estimator.Estimate(np.array([1, 0, 0, 0, 1], np.uint8), None, 0.5, (0.4, 0.7),
                                    True)

  found = tool.score(Method(), np.stack([truth, truth]), truth, 2, ())
  # One of five is wrong, one of the three that were not asked; of these two of three are right.
  # Sort & Search puts samples 0, 1 and 4 first. Of its answers at 0 and 2 the first is right: the
  # cut is halfway, and all three that were not asked are right.
  np.testing.assert_allclose(found, (0.2, 1 / 3, 0.1, 1, 0.3, 1, 1 / 3, 0), atol=1e-12)


def _scores(tool):
  def rows(unseen, supported):
    return np.array([[0.2, one, 0.1, 1.0, 0.3, said, 0.25, 0.305] for one, said in
                     zip(unseen, supported)])

  none = [np.nan] * 4
  return {(tool.BASELINE, 32): [rows([0.3, 0.3, 0.3, 0.3], none)],
          ("factors", 32): [rows([0.2, 0.2, 0.31, 0.3], [1, 0, 1, 0])]}


def test_shares_of_models_by_hand(tool):
  scores = _scores(tool)
  assert tool.worse(scores) == {"factors": [25.0]}
  assert tool.worse(scores, tie=0.011) == {"factors": [0.0]}
  assert tool.worse(scores, tie=0.004, same_answers=True) == {"factors": [25.0]}
  assert tool.worse(scores, tie=0.006, same_answers=True) == {"factors": [0.0]}
  # Better than the constant's 0.25: the first two; said of the first and the third.
  assert tool.right_verdicts(scores)["factors"] == [50.0]
  assert tool.means(scores, "unseen")["factors"] == [pytest.approx(25.25)]
  table = tool.table([32], tool.means(scores, "supported"))
  assert table.splitlines()[-1] == "| factors | 50.00 |" and "Sort" not in table


def test_the_page_of_a_small_matrix(tool, tmp_path, monkeypatch):
  rng = np.random.default_rng(0)
  answers = rng.random((9, 300)) < 1 / (1 + np.exp(rng.normal(size=300) - rng.normal(size=(9, 1))))
  np.savez(tmp_path / "matrix.npz", A_packed=np.packbits(answers, axis=1), n_samples=300,
           label=np.arange(300) % 5, domain=np.arange(300) // 150)

  class Pool:  # Processes would import TensorFlow again.

    def __init__(self, jobs):
      assert jobs == 1

    def __enter__(self):
      return self

    def __exit__(self, *error):
      return None

    imap = staticmethod(map)

  monkeypatch.setattr(tool.multiprocessing, "get_context", lambda _: type("C", (), {"Pool": Pool}))
  assert tool.main([str(tmp_path / "matrix.npz"), str(tmp_path / "page.md"), "--known", "7",
                    "--splits", "1", "--budgets", "16", "32", "--skip", "anchors"]) == 0
  page = (tmp_path / "page.md").read_text()
  assert "9 real models x 300 samples: 7 random models are known, 2 others" in page
  assert "--budgets 16 32 --skip anchors" in page and "k-means" not in page.split("## Made by")[0]
  for name in (tool.BASELINE, "factors", "factors, half adaptive", "factors, class, domain",
               "logistic regression"):
    assert f"| {name} |" in page
  assert (tmp_path / "page.svg").read_text().startswith("<?xml")
  assert tool.main([str(tmp_path / "matrix.npz"), str(tmp_path / "few.md"), "--known", "7",
                    "--splits", "1", "--budgets", "16", "--methods", "logistic regression"]) == 0
  few = (tmp_path / "few.md").read_text()
  assert '--methods "logistic regression"' in few and f"| {tool.BASELINE} |" in few
  assert "| factors" not in few
