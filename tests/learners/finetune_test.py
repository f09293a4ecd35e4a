# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The learner family of NEVIS'22 on real digits, small enough for a test."""

import dataclasses
import functools
import shutil

import numpy as np
import pytest

from suite.compute import distribution
from suite.compute import ledger as ledger_lib
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import finetune
from suite.learners import starts
from suite.models import conv4
from suite.state import context as context_lib
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import search
from suite.training.gradient import trainer
from suite.training.scoring import evaluation

BACKBONE = functools.partial(conv4.conv4, filters=8, blocks=1)


@pytest.fixture(scope="module")
def stream():
  return digits.nevis_stream(max_train_images=200)


def _learner(start=starts.Random(), trials=1, rate=0.1):
  return finetune.Finetune(
      BACKBONE, start=start, transform=image_ops.Plain(8),
      search=search.Search(num_trials=trials, learning_rate=rate, label_smoothing=0.1),
      trainer=trainer.Trainer(steps=20, batch_size=16, validate_every=10, save_every=10,
                              warmup_epochs=0, eval_batch_size=64))


@pytest.fixture(scope="module", name="shares")
def _shares():
  """Gives a learner the compiled nets of all others that it was called for."""
  models = _learner()._models

  def shares(learner):
    learner._models = models
    return learner

  return shares


def _context(folder, event, ledger=None):
  ledger = ledger or ledger_lib.Ledger()
  return context_lib.Context(
      event=event, ledger=ledger, seeds=seeds.Seeds(0).child("event", event),
      distribution=distribution.build(), store=weight_store.WeightStore(folder, event),
      journal=journal.Journal(event, ledger))


def _learn(learner, stream, place, folder, ledger=None):
  event = stream.events()[2 * place]
  context = _context(folder, event.index, ledger)
  experience = stream.deliver(event)
  learner.begin(experience.task, context)
  return learner.learn(experience, context)


@pytest.fixture(scope="module", name="learned")
def _learned(stream, tmp_path_factory):
  """A learner after the first task, its folder, its record and what was spent."""
  folder, learner = tmp_path_factory.mktemp("learned"), _learner()
  context = dataclasses.replace(_context(folder, 0), phase="pretrain")
  experience = stream.deliver(stream.events()[0])
  learner.begin(experience.task, context)
  return learner, folder, learner.learn(experience, context), context.ledger.totals()


@pytest.fixture(name="copied")
def _copied(learned, tmp_path):
  """The folder of the first task's weights, to add to."""
  return shutil.copytree(learned[1], tmp_path / "copied")


def test_a_batch_that_replicas_cannot_share_is_refused_before_any_work(stream, tmp_path,
                                                                       monkeypatch):
  monkeypatch.setattr(distribution.Distribution, "num_replicas", 3)
  task = stream.entries[0].task
  for recipe, size in ((trainer.Trainer(batch_size=16), 16), (trainer.Trainer(), 16),
                       (trainer.Trainer(max_batch_size=12), 12)):
    learner = finetune.Finetune(
        BACKBONE, start=starts.Random(), transform=image_ops.Plain(8), trainer=recipe,
        search=search.Search(num_trials=1, learning_rate=0.1, label_smoothing=0.1))
    if size % 3:
      with pytest.raises(ValueError, match="Batch size 16 cannot be split over 3 replicas"):
        learner.begin(task, _context(tmp_path, 0))
    else:
      learner.begin(task, _context(tmp_path, 0))


def test_nearest_compares_every_past_model_and_a_random_one(stream, copied, shares):
  store = weight_store.WeightStore(copied, 4)
  weight_store.WeightStore(copied, 2).save(
      "digits_rotated", [0.9 * w for w in store.load(store.entries()[0])])
  learner, context = shares(_learner()), _context(copied, 4)
  experience = stream.deliver(stream.events()[4])
  network = learner._models.network(experience.task, context)
  found = []
  for statistics in ("batch", "running"):
    start = starts.Nearest(k=3, include_random=True, statistics=statistics)
    ledger = ledger_lib.Ledger()
    choice = start.choose(store.entries(), starts.KnnErrors(
        network, experience, transform=learner.transform,
        context=dataclasses.replace(context, ledger=ledger, journal=journal.Journal(4, ledger)),
        load=lambda entry: network.initial_weights(0) if entry is None else store.load(entry)))
    assert sorted(choice.candidates) == ["digits_0_4", "digits_rotated", "random"]
    assert choice.candidates["digits_0_4"] != choice.candidates["random"]
    chosen = "random" if choice.entry is None else choice.entry.name
    assert choice.candidates[chosen] == min(choice.candidates.values())
    assert ledger.totals()["flops_select"] > 0 and ledger.totals()["macs_select"] > 0
    found.append(choice.candidates)
  assert found[0] != found[1]


def test_training_is_charged_to_the_phase_of_the_event(learned):
  *_, record, totals = learned
  assert record["start"] == {"from": "random", "candidates": {}}
  assert totals["steps_pretrain"] == 20 and "steps_train" not in totals
  assert totals["peak_bytes"] is None  # A CPU does not tell.


def test_a_search_keeps_its_best_trial_and_no_scratch(stream, shares, tmp_path):
  ledger = ledger_lib.Ledger()
  result = _learn(shares(_learner(trials=3, rate=(1e-4, 1e-1))), stream, 0, tmp_path, ledger)
  errors = [t["validation_error"] for t in result["trials"]]
  assert len(errors) == 3 and result["validation_error"] == min(errors)
  assert ledger.totals()["steps_search"] == 60 and "steps_train" not in ledger.totals()
  assert [e.name for e in weight_store.WeightStore(tmp_path, 9).entries()] == ["digits_0_4"]


def test_a_diverged_trial_fails_and_the_search_goes_on(stream, shares, tmp_path):
  learner = finetune.Finetune(
      BACKBONE, transform=image_ops.Plain(8), trainer=trainer.Trainer(
          steps=20, batch_size=16, validate_every=10, warmup_epochs=0),
      search=search.Search("grid", 2, learning_rate=[1e30, 0.05], label_smoothing=0.0))
  result = _learn(shares(learner), stream, 0, tmp_path)
  assert sorted(t["status"] for t in result["trials"]) == ["done", "failed"]
  assert result["trials"][result["best_trial"]]["learning_rate"] == 0.05


def test_a_new_process_predicts_what_the_old_one_did(stream, learned):
  learner, folder, *_ = learned
  test = stream.held_out(stream.events()[1], "test")

  def predict(one):
    return evaluation.evaluate(
        one.predict, test, transform=one.transform, distribution=distribution.build(),
        ledger=ledger_lib.Ledger()).predictions["true_class_probability"]

  again = _learner()
  again.begin(stream.entries[0].task, _context(folder, 1))
  np.testing.assert_array_equal(predict(again), predict(learner))


def test_predicting_an_unlearned_task_is_refused(tmp_path):
  learner = _learner()
  learner.begin(tasks.Task("new", tasks.SINGLE_LABEL, 3), _context(tmp_path, 0))
  with pytest.raises(RuntimeError, match="Task 'new' has not been learned yet"):
    learner.predict(np.zeros([1, 8, 8, 3], np.uint8))


def test_the_network_of_another_task_does_not_answer_for_an_unlearned_one(stream, learned):
  learner, folder = _learner(), learned[1]
  learner.begin(stream.entries[0].task, _context(folder, 1))
  assert learner.predict(np.zeros([1, 8, 8, 3], np.uint8)).shape == (1, 5)
  learner.begin(tasks.Task("new", tasks.SINGLE_LABEL, 5), _context(folder, 1))
  with pytest.raises(RuntimeError, match="Task 'new' has not been learned yet"):
    learner.predict(np.zeros([1, 8, 8, 3], np.uint8))


def test_a_multi_label_task_is_learned_and_compared(stream, copied, shares):
  start = starts.Nearest(max_train=50, max_validation=40)
  result = _learn(shares(_learner(start)), stream, 3, copied)
  assert list(result["start"]["candidates"]) == ["digits_0_4"]
  assert 0 <= result["validation_error"] <= 1
  assert all(0 <= e <= 1 for e in result["start"]["candidates"].values())


def test_the_same_task_goes_on_with_its_head(stream, learned, copied, shares):
  learner, first = shares(_learner(starts.Previous())), learned[2]
  experience = stream.deliver(stream.events()[0])
  context = _context(copied, 1)
  learner.begin(experience.task, context)
  second = learner.learn(experience, context)
  assert second["start"]["from"] == "digits_0_4"
  # Its curve begins with the error of the weights that were kept, head and all.
  assert second["trials"][0]["curve"][0][2] == first["validation_error"]
  assert second["trials"][0]["curve"][1][1] < first["trials"][0]["curve"][1][1] * 0.8


def test_decoupled_decay_learns_and_is_counted(stream, tmp_path):
  ledger = ledger_lib.Ledger()
  learner = finetune.Finetune(
      BACKBONE, transform=image_ops.Plain(8), search=search.Search(
          num_trials=1, learning_rate=0.01, label_smoothing=0.0),
      trainer=trainer.Trainer(steps=40, batch_size=16, validate_every=20, warmup_epochs=0,
                              optimizer="adamw"))
  result = _learn(learner, stream, 0, tmp_path, ledger)
  assert result["validation_error"] < 0.5
  assert ledger.totals()["flops_train"] > 0
