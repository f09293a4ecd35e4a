# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""BHPO's seven dimensions and ensembles of trials, on real digits."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger as ledger_lib
from suite.compute import seeds
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import finetune
from suite.learners import starts
from suite.models import conv4
from suite.state import context as context_lib
from suite.state import journal
from suite.state import snapshots
from suite.state import weight_store
from suite.training.gradient import search
from suite.training.gradient import trainer
from suite.training.scoring import evaluation

BACKBONES = {name: functools.partial(conv4.conv4, filters=filters, blocks=1)
             for name, filters in (("narrow", 4), ("wide", 6))}
SPACE = {"schedule": ["cosine", "piecewise"], "batch_size": [8, 16], "crop": [True, False],
         "flip": [True, False], "backbone": ["narrow", "wide"]}
SEED = 1  # The search draws both backbones.
MULTI_LABEL = 3  # Place of a multi-label task in the stream.


@pytest.fixture(scope="module", name="stream")
def _stream():
  return digits.nevis_stream(max_train_images=100)


def _learner(ensemble=3, trials=4, space=SPACE, backbone=BACKBONES, **arguments):
  return finetune.Finetune(
      backbone, ensemble=ensemble,
      # Of crops only where they are searched: their graphs are large.
      transform=image_ops.Nevis(8, area=(0.7, 1.0)) if "crop" in space else image_ops.Plain(8),
      search=search.Search("bayesian", trials, learning_rate=(0.01, 0.3), space=space,
                           initial_trials=3),
      trainer=trainer.Trainer(steps=8, validate_every=4, save_every=2, warmup_epochs=0,
                              eval_batch_size=64), **arguments)


def _context(folder, event=0, saved=None, ledger=None):
  ledger = ledger or ledger_lib.Ledger()
  return context_lib.Context(
      event=event, ledger=ledger, seeds=seeds.Seeds(SEED).child("event", event),
      distribution=distribution.build(), store=weight_store.WeightStore(folder / "w", event),
      journal=journal.Journal(event, ledger, saved))


def _learn(learner, stream, context, place=0):
  experience = stream.deliver(stream.events()[2 * place])
  learner.begin(experience.task, context)
  return learner.learn(experience, context)


def _evaluate(learner, stream, place=0):
  ledger = ledger_lib.Ledger()
  scored = evaluation.evaluate(
      learner.predict, stream.held_out(stream.events()[2 * place + 1], "test"),
      transform=learner.transform, distribution=distribution.build(), ledger=ledger)
  return scored.predictions, ledger.totals()


@pytest.fixture(scope="module", name="learned")
def _learned(stream, tmp_path_factory):
  folder, learner = tmp_path_factory.mktemp("learned"), _learner()
  context = _context(folder)
  return learner, context, folder, _learn(learner, stream, context)


def test_every_dimension_is_drawn_trained_with_and_recorded(learned):
  _, context, _, record = learned
  assert len(record["trials"]) == 4
  for trial in record["trials"]:
    assert all(trial[name] in values for name, values in SPACE.items())
  assert len({trial["backbone"] for trial in record["trials"]}) == 2
  # Examples are charged as drawn: eight steps of 8 or 16 images.
  spent = sum(8 * trial["batch_size"] for trial in record["trials"])
  assert context.ledger.totals()["examples_search"] == spent


def test_the_best_trials_are_kept_and_weighted(learned):
  _, context, _, record = learned
  order = sorted(record["trials"], key=lambda t: (t["validation_error"], t["trial"]))[:3]
  assert record["ensemble"]["trials"] == [t["trial"] for t in order]
  assert record["best_trial"] == order[0]["trial"]
  powers = [np.exp((1 - t["validation_error"]) / 0.1) for t in order]
  np.testing.assert_allclose(record["ensemble"]["weights"], np.divide(powers, sum(powers)))
  names = {e.name for e in weight_store.WeightStore(context.store.folder, 9).entries()}
  assert names == {"digits_0_4", "member1+digits_0_4", "member2+digits_0_4", "card+digits_0_4"}


def test_an_ensemble_predicts_in_a_new_process_as_its_members_do_one_by_one(learned, stream):
  learner, _, folder, record = learned
  predictions, spent = _evaluate(learner, stream)
  again = _learner()
  again.begin(stream.entries[0].task, _context(folder, event=1))
  resumed, _ = _evaluate(again, stream)
  np.testing.assert_array_equal(
      resumed["true_class_probability"], predictions["true_class_probability"])
  task, store = stream.entries[0].task, weight_store.WeightStore(folder / "w", 9)
  mean, macs, models = 0.0, 0, {}
  for place, trial in enumerate(record["ensemble"]["trials"]):
    name = record["trials"][trial]["backbone"]
    alone = _learner(1, backbone=BACKBONES[name], space={})
    alone._models = models.setdefault(name, alone._models)  # One net of an architecture.
    context = _context(folder / str(place), event=1)
    entry = store.entries()[[e.name for e in store.entries()].index(
        f"member{place}+digits_0_4" if place else "digits_0_4")]
    weight_store.WeightStore(folder / str(place) / "w", 0).save(task.key, store.load(entry))
    alone.begin(task, context)
    one, cost = _evaluate(alone, stream)
    mean += record["ensemble"]["weights"][place] * one["true_class_probability"]
    macs += cost["macs_predict"]
  np.testing.assert_allclose(predictions["true_class_probability"], mean, rtol=1e-5)
  assert spent["macs_predict"] == macs  # One forward pass of each member.


def test_one_backbone_of_several_starts_from_past_models(learned, stream, tmp_path):
  learner = _learner(1, trials=1, space={"backbone": "wide"}, start=starts.Previous())
  learner._models._networks = learned[0]._models._networks  # Compiled already.
  first = _learn(learner, stream, _context(tmp_path))
  second = _learn(learner, stream, _context(tmp_path, event=1))
  assert second["start"]["from"] == "digits_0_4"
  # The same task again: its curve begins with the error of the weights that were kept.
  assert second["trials"][0]["curve"][0][2] == first["validation_error"]


def test_a_multi_label_task_averages_sigmoids_of_members(stream, tmp_path):
  learner = _learner(2, trials=2, backbone=BACKBONES["narrow"], space={})
  record = _learn(learner, stream, _context(tmp_path), place=MULTI_LABEL)
  images = tf.random.stateless_uniform([3, 8, 8, 3], [1, 2], 0, 255, tf.int32)
  images = tf.cast(images, tf.uint8)
  found = tf.sigmoid(learner.predict(images))
  members, task = 0.0, stream.entries[MULTI_LABEL].task
  store = weight_store.WeightStore(tmp_path / "w", 9)
  for place, share in enumerate(record["ensemble"]["weights"]):
    network = learner._models.network(task, _context(tmp_path))
    name = weight_store.safe_name(f"member{place}+{task.key}" if place else task.key)
    network.set_weights(store.load(weight_store.Entry(0, name)))
    members += share * tf.sigmoid(network.logits(images)).numpy()
  np.testing.assert_allclose(found, members, rtol=1e-5)


class _Stop(Exception):
  pass


def test_a_gp_search_stopped_between_and_inside_trials_ends_the_same(learned, stream, tmp_path):
  _, finished, folder, record = learned

  class Counting(snapshots.Snapshots):
    left = 0

    def write(self, *arguments):
      self.left -= 1
      if not self.left:
        raise _Stop
      return super().write(*arguments)

  # Its networks were used: what they hold must not matter.
  learner, saves, attempts = learned[0], Counting(tmp_path / "progress"), 0
  while True:  # Every attempt gets seven saves further, of which a trial makes four.
    saves.left, attempts = 8, attempts + 1
    context = _context(tmp_path, saved=saves)
    try:
      resumed = _learn(learner, stream, context)
      break
    except _Stop:
      continue
  assert attempts > 2 and resumed == record

  def plain(totals):
    return {k: v for k, v in totals.items() if not k.startswith("seconds")}

  assert plain(context.ledger.totals()) == plain(finished.ledger.totals())
  for name in ("digits_0_4", "member2+digits_0_4"):
    for a, b in zip(context.store.load(weight_store.Entry(0, name)),
                    weight_store.WeightStore(folder / "w", 0).load(weight_store.Entry(0, name))):
      np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("arguments, message", [
    (dict(space={**SPACE, "dropout": 0.5}), "Unknown parameters in Search.space: 'dropout'. This "
     "learner reads .* backbone, batch_size, crop, flip, schedule. Rename or remove"),
    (dict(space={**SPACE, "backbone": ["narrow", "deep"]}), "has the backbones .'narrow', 'deep'., "
     "and Finetune.backbone has .'narrow', 'wide'."),
    (dict(space={}), "Give Finetune.backbone a dictionary of backbones by name, and let"),
    (dict(space={**SPACE, "schedule": ["linear"]}), "allowed are 'cosine', 'piecewise'"),
    (dict(space={**SPACE, "batch_size": (8, 16)}), "has the range .8, 16. for batch_size; give on"),
    (dict(space={**SPACE, "batch_size": [0, 16]}), "has .0. for batch_size; allowed are whole num"),
    (dict(space={**SPACE, "crop": ["yes", "no"]}), "for crop; allowed are True and False"),
    (dict(start=starts.Previous()), "Finetune.start is Previous, and Search.space tries the "
     "backbones narrow, wide: weights of past tasks are those of one"),
    (dict(static=True), "Finetune.static is True, and Search.space tries the backbones narrow, wi"),
    (dict(ensemble=0), "Finetune.ensemble is 0; it must be at least 1"),
])
def test_a_search_that_cannot_be_is_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    _learner(**arguments)


def test_a_transform_without_crop_and_flip_is_refused():
  with pytest.raises(ValueError, match="Finetune.transform, a Plain, has neither"):
    finetune.Finetune(BACKBONES["wide"], transform=image_ops.Plain(8), search=search.Search(
        space={"flip": [True, False]}))
