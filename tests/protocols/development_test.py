# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a search sees of each protocol's data, and how a run pays for the search."""

from __future__ import annotations

import dataclasses
import functools
import types

import numpy as np
import pytest

from suite.compute import ledger
from suite.contracts import descriptions
from suite.contracts import refusals
from suite.data.digits import digits
from suite.data.images import image_set
from suite.protocols import cfsl
from suite.protocols import clear
from suite.protocols import development
from suite.protocols import fluid
from suite.protocols import incremental
from suite.protocols import lifelong
from suite.protocols import nevis


def arguments(protocol, tasks=None, **given):
  """The arguments that a trial runs with, and the data in words."""
  made, said = development.Development(tasks).of(functools.partial(protocol, **given))
  assert descriptions.of(made) is descriptions.of(protocol) and made.is_checkable
  found = {}
  with pytest.raises(_Stop):
    refusals.preceded(made, lambda state: found.update(made.__wrapped__.keywords) or stop())(
        None, state=types.SimpleNamespace())
  return found, said


class _Stop(Exception):
  pass


def stop():
  raise _Stop


def ids(part):
  return set(part.ids.tolist())


class Untouched:
  """A test set of which nothing may be read, but what a series compares."""

  def __init__(self, part):
    self.kind, self.num_classes, self.name = part.kind, part.num_classes, part.name
    self.class_names = part.class_names


def test_the_first_tasks_are_tested_on_training_images_and_no_test_set_is_read():
  series = digits.class_buckets()
  buckets = dataclasses.replace(series, buckets=tuple(
      dataclasses.replace(bucket, test=Untouched(bucket.test)) for bucket in series))
  found, said = arguments(incremental.run, 2, buckets=buckets, scenario="class")
  assert said == "training images of task_01 to task_02, 2 of 5 tasks of split digits"
  made = found["buckets"]
  assert len(made) == 2 and made.task.name == "split digits, development"
  for bucket, whole in zip(made, series):
    assert ids(bucket.train) | ids(bucket.test) == ids(whole.train)
    assert not ids(bucket.train) & ids(bucket.test)
    counts = np.unique(bucket.test.labels, return_counts=True)[1]
    assert abs(counts / whole.train.size - 0.1).max() < 0.01  # A fifth of each of two classes.


def test_a_series_of_one_set_of_images_tests_the_same_ones_in_each_bucket():
  pair = digits.train_and_test()
  series = digits.buckets_lib.permuted(pair, num_tasks=2)
  found, _ = arguments(incremental.run, buckets=series, scenario="domain")
  first, second = found["buckets"]
  assert ids(first.test) == ids(second.test)


def test_nevis_sees_meta_train_tasks_and_their_validation_split():
  found, said = arguments(nevis.run, 3, stream=digits.nevis_stream())
  assert found["predict_on"] == "validation" and len(found["stream"].entries) == 3
  assert said.startswith("validation images of digits_0_4 to digits, 3 of 5 tasks")
  with pytest.raises(refusals.RefusedError, match="--tasks 6: .* 5 tasks .* allowed are 1 to 5"):
    arguments(nevis.run, 6, stream=digits.nevis_stream())


def test_cfsl_leaves_training_classes_out_or_takes_the_runs_validation():
  train, test = (digits.episodes(split, classes=range(*ends), way=2)
                 for split, ends in (("train", (0, 6)), ("test", (6, 10))))
  found, said = arguments(cfsl.run, episodes_train=train, episodes_test=test)
  assert said == "episodes of 2 of 6 training classes"
  seen = []
  for name in ("episodes_train", "episodes_test"):
    made = found[name]
    names = made._ids[np.unique(made.indices(0, 200))]
    seen.append({int(digits.load()[1][int(one)]) for one in names})
  assert len(seen[0]) == 4 and len(seen[1]) == 2 and seen[0] | seen[1] == set(range(6))
  validation = cfsl.Validation(test)
  found, _ = arguments(cfsl.run, episodes_train=train, episodes_test=None, validation=validation)
  assert found["episodes_test"] is test and found["episodes_train"] is train
  with pytest.raises(refusals.RefusedError, match="no validation episodes .* --on DATA"):
    few = digits.episodes(classes=range(3), way=2)
    arguments(cfsl.run, episodes_train=few, episodes_test=test)


def test_fluid_makes_its_sequence_of_base_images():
  sequence, base = digits.sequence(300), digits.sequence_base()
  found, _ = arguments(fluid.run, sequence=sequence, base=base)
  made, rest = found["sequence"], found["base"]
  assert set(made.ids.tolist()) | ids(rest) == ids(base)
  assert not set(made.ids.tolist()) & ids(rest)
  assert made.num_base_classes == 3 and made.num_classes == 4 == rest.num_classes
  assert set(rest.labels.tolist()) == {0, 1, 2}
  with pytest.raises(refusals.RefusedError, match="no training images of base .*--on DATA"):
    arguments(fluid.run, sequence=sequence)
  with pytest.raises(refusals.RefusedError, match="fluid has no first tasks, and 2 .*leave --ta"):
    arguments(fluid.run, 2, sequence=sequence, base=base)


def test_a_stream_has_nothing_to_select_on_and_other_protocols_neither():
  with pytest.raises(refusals.RefusedError, match="tested on the training images of its next"):
    arguments(clear.run, buckets=digits.buckets(), mode="streaming")
  with pytest.raises(refusals.RefusedError, match="'lifelong' has no development data; allowed ar"):
    development.Development().of(lifelong.run)
  with pytest.raises(ValueError, match="allowed are tasks, share, seed"):
    development.given(development.Development, {"task": 2})
  with pytest.raises(ValueError, match="between 0 and 1"):
    development.Development(share=1.0)


SELECTION = development.Selection("two tasks", trials=3, flops=70, macs=30, examples=9, steps=2)


def paid(budget="", done=0):
  state = types.SimpleNamespace(done=done, ledger=ledger.Ledger(
      ledger.Budget.parse(budget) if budget else None))
  run = SELECTION.of(lambda learner, *, state: state.ledger.totals())
  return run(None, state=state), state.ledger


def test_a_run_pays_before_its_first_event_and_once():
  totals, _ = paid()
  assert (totals["flops_search"], totals["macs_search"], totals["steps_search"]) == (70, 30, 2)
  assert totals["selected_on"] == "two tasks" == ledger.costs(totals)["selected_on"]
  totals, _ = paid(done=1)  # A resumed run has its ledger from its state.
  assert totals["flops"] == 0 and totals["selected_on"] == "two tasks"


def test_a_budget_counts_the_search():
  totals, account = paid("100 FLOP")
  assert totals["budget_flops_left"] == 30
  assert account.grant(5, lambda steps: ledger.Known(10 * steps, 0)) == 3
  with pytest.raises(ledger.BudgetError, match="search of its settings: 70 of 60 FLOPs. Give a la"):
    paid("60 FLOP")
  with pytest.raises(ledger.BudgetError, match="does not cover its first step"):
    paid("100 FLOP")[1].grant(5, lambda steps: ledger.Known(31 * steps, 0))


def test_a_part_of_two_labels_an_image_is_drawn():
  labels = np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]])
  part = image_set.ImageSet.from_arrays(
      "a", np.zeros([5, 4, 4, 3], np.uint8), labels, kind="multi_label", num_classes=2)
  series = digits.buckets_lib.of([(part, part.subset([0]))])
  found, _ = arguments(clear.run, buckets=series)
  assert found["buckets"][0].test.size == 1
