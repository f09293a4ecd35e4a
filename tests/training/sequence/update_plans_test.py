# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Plans of update times: the strategy that follows one, and files."""

from __future__ import annotations

import pytest

from suite.system import sealed_json
from suite.training.sequence import update_search
from suite.training.sequence import update_strategies


def observed(step):
  return update_strategies.Observed(step, True, False)


def test_updates_come_at_the_given_steps_and_at_no_other():
  strategy = update_search.At((2, 3, 7))
  decisions = [strategy.decide(observed(step)) for step in range(1, 9)]
  assert [t for t, one in enumerate(decisions, 1) if one.update] == [2, 3, 7]
  assert [one.reason for one in decisions[-3:]] == [
      "sample 6 of 7", "sample 7 of 7", "no further update"]
  # After 0 and 1 sample the next update is that after 2; after 3, that after 7.
  ahead = [strategy.steps_until_possible_update(step) for step in range(8)]
  assert ahead == [1, 0, 0, 3, 2, 1, 0, update_strategies.FOREVER]
  assert update_search.At(()).steps_until_possible_update(0) == update_strategies.FOREVER


def test_an_update_by_every_is_that_by_its_times():
  every, at = update_strategies.Every(4), update_search.At((4, 8, 12))
  for step in range(1, 13):
    assert every.decide(observed(step)).update == at.decide(observed(step)).update
    assert every.steps_until_possible_update(step - 1) == at.steps_until_possible_update(step - 1)


def test_the_cost_is_the_sum_of_the_times():
  assert update_search.cost((10, 20, 40)) == 70 and update_search.cost(()) == 0


def test_a_file_holds_the_plan_and_what_is_said_about_it(tmp_path):
  path = tmp_path / "new" / "times.json"
  update_search.write(path, (5, 9), score=0.5)
  assert sealed_json.read(path, needs_digest=True) == {"steps": [5, 9], "score": 0.5}
  assert update_search.read(path) == (5, 9)
  assert update_search.At(str(path)).decide(observed(9)).update


@pytest.mark.parametrize("steps", [(3, 2), (2, 2), (0, 1), (1.5,), (True,)])
def test_times_that_are_no_plan_are_refused(steps):
  with pytest.raises(ValueError, match="At.steps is .*whole numbers above 0 in rising order"):
    update_search.At(steps)


def test_files_that_are_none_are_refused(tmp_path):
  with pytest.raises(FileNotFoundError, match="no plan of update times .*tools/update_oracle.py"):
    update_search.At(str(tmp_path / "none.json"))
  bad = tmp_path / "bad.json"
  for text, said in (('{"times": [1]}', "damaged, or no plan .*no steps.*Make it again"),
                     ("[" * 100_000, "nested too deeply.*Make it again"),
                     ('{"steps": 5}', "whole numbers"), ('{"steps": [1, "2"]}', "whole numbers")):
    bad.write_text(text)
    with pytest.raises(ValueError, match=f"bad.json is .*{said}"):
      update_search.read(bad)
