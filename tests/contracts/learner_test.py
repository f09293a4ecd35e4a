# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a learner can do is known from its class; misspelt names are refused; any object will do."""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import pkgutil

import pytest
import tensorflow as tf
from typing_extensions import override

from suite import learners
from suite.compute import user_code
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.state import learner_state

SEQUENCE, EPISODES = learner_lib.SequenceLearner, learner_lib.EpisodicLearner
CAN = ("can_update", "can_answer_in_turn", "can_learn_stored")


class Plain(learner_lib.SequenceLearner):

  @override
  def answer(self, codes):
    return codes


class Able(Plain):
  """It learns from labels, in phases, and has a threshold."""

  new_below = -1.0

  @override
  def update(self, codes, labels):
    return "updated"

  @override
  def learn_stored(self, stored, context):
    return {"passes": 0}


class Duck(tf.Module):
  """An object that knows nothing of the contracts."""

  new_below = -1.0

  def __init__(self):
    super().__init__()
    self.weight = tf.Variable(1.0, name="weight")
    self.optimizer = None

  def answer(self, codes):
    return codes * self.weight

  def update(self, codes, labels):
    self.weight.assign_add(1.0)


def test_a_learner_without_optional_methods_can_do_nothing_of_them():
  learner = Plain()
  assert not any(getattr(learner, name) for name in CAN)
  assert learner.new_below is learner.see is learner.frozen_features is None
  assert learner.stored_macs(5) is learner.mac_layers() is None
  assert learner.know_base(None, None) == {}
  assert not learner.predict_stays and not learner.shares_updates
  assert learner.kinds == tasks.KINDS
  with pytest.raises(NotImplementedError, match="Plain has no update"):
    learner.update(None, None)


def test_a_learner_can_do_what_its_class_or_itself_overrides():
  learner = Able()
  assert [getattr(learner, name) for name in CAN] == [True, False, True]
  assert learner.new_below == -1.0
  learner.answer_in_turn = functools.partial(max, 1)
  assert learner.can_answer_in_turn
  learner.update = None
  assert not learner.can_update


def test_episodic_learners():
  class Meta(learner_lib.EpisodicLearner):

    @override
    def meta_loss(self, episode):
      return 0.0, ()

  plain, meta = learner_lib.EpisodicLearner(), Meta()
  assert not (plain.can_encode or plain.can_meta_train or plain.can_group or plain.shares_updates)
  assert meta.can_meta_train and meta.shares_updates and not meta.can_group
  assert plain.optimizer is None
  assert plain.encode(tf.constant([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]


def test_the_base_class_adds_neither_variables_nor_attributes():
  assert not vars(learner_lib.SequenceLearner()).keys() - vars(tf.Module()).keys()


def test_an_object_with_the_methods_is_a_learner():
  duck = Duck()
  learner = learner_lib.adapted(duck, SEQUENCE)
  assert isinstance(learner, (SEQUENCE, Duck)) and type(learner).__name__ == "Duck"
  assert [getattr(learner, name) for name in CAN] == [True, False, False]
  assert learner.new_below == -1.0 and learner.mac_layers() is None
  assert learner_lib.adapted(learner, SEQUENCE) is learner
  assert learner_lib.adapted(learner, learner_lib.Learner) is learner
  assert type(learner_lib.adapted(Duck(), SEQUENCE)) is type(learner)
  assert learner_lib.adapted(duck, EPISODES).shares_updates is False


def test_an_object_and_its_learner_have_the_same_variables_and_checkpoints():
  duck = Duck()
  learner = learner_lib.adapted(duck, SEQUENCE)
  learner.update(None, None)
  learner.begun = tf.Variable(3.0, name="begun")
  assert duck.begun is learner.begun and float(duck.weight) == 2.0
  assert [v.ref() for v in learner.variables] == [v.ref() for v in duck.variables]
  assert dict(learner_state.arrays(learner)) == dict(learner_state.arrays(duck))
  assert set(learner_state.arrays(learner)) == {"variable/weight", "variable/begun"}
  again = copy.deepcopy(learner)
  again.update(None, None)
  assert float(again.weight) == 3.0 and float(duck.weight) == 2.0
  assert user_code.is_reached(learner.answer)  # AutoGraph converts the user's code.


def test_values_may_be_attributes_of_the_object():
  for learner in (learner_lib.adapted(Duck(), SEQUENCE), Plain()):
    learner.new_below, learner.predict_stays = 2.0, True
    assert learner.new_below == 2.0 and learner.predict_stays
  learner = EPISODES()
  assert not learner_lib.gives(learner, "transductive")
  learner.transductive = True
  assert learner.transductive and learner_lib.gives(learner, "transductive")


def test_an_object_that_is_no_module_is_a_learner_too():
  class Bare:

    def __init__(self):
      self.told = []

    def learn(self, experience, context):
      self.told.append(experience)

  bare = Bare()
  learner = learner_lib.adapted(bare, learner_lib.Learner)
  learner.learn(1, None)
  assert bare.told == [1] and learner_lib.gives(learner, "learn")
  assert not learner_lib.gives(learner, "predict") and not learner_lib.gives(learner, "transform")


class Slots:
  __slots__ = ("a",)


@pytest.mark.parametrize("given", [None, 3, Duck, Slots()])
def test_what_cannot_be_a_learner_is_refused(given):
  with pytest.raises(ValueError, match=r"cannot be a learner \(.*\). Give an object with the meth"):
    refusals.check_learner(given, "sequence")


MISSPELT = "{} has 'learn_store', which no protocol knows: a learner has 'learn_stored'. Rename it"


def test_a_subclass_with_a_misspelt_method_is_refused_when_it_is_defined():
  with pytest.raises(ValueError, match=MISSPELT.format("Wrong")) as error:
    class Wrong(learner_lib.SequenceLearner):

      def learn_store(self, stored, context):
        return {}

    Wrong()
  assert "\n" not in str(error.value)


def test_an_object_with_a_misspelt_method_is_refused_before_anything_is_trained():
  class Wrong(Duck):

    def learn_store(self, stored, context):
      return {}

  with pytest.raises(ValueError, match=MISSPELT.format("Wrong")):
    refusals.check_learner(Wrong(), "sequence")


@pytest.mark.parametrize("name, meant", [
    ("udpate", "update"), ("anwser", "answer"), ("predicts", "predict"), ("kind", "kinds"),
    ("learnStored", "learn_stored"), ("new_bellow", "new_below"), ("mac_layer", "mac_layers"),
    ("shares_update", "shares_updates"), ("store_macs", "stored_macs")])
def test_typing_mistakes_are_close_to_what_was_meant(name, meant):
  with pytest.raises(ValueError, match=f"a learner has '{meant}'"):
    type("Wrong", (SEQUENCE,), {name: None})


@pytest.mark.parametrize("name", [
    "seed", "seen", "learner", "statistics", "learn_codes", "num_classes", "encoder", "optimizer",
    "variables", "_udpate"])
def test_other_names_are_free(name):
  type("Right", (SEQUENCE,), {name: None})


def test_names_of_parents_are_checked_but_for_those_of_keras():
  class Mixin:
    anwser = None

  with pytest.raises(ValueError, match="a learner has 'answer'"):
    type("Wrong", (Mixin, SEQUENCE), {})

  class Net(tf.keras.Model):  # Keras has `updates` and `predict_step`.

    def answer(self, codes):
      return codes

  assert not learner_lib.adapted(Net(), SEQUENCE).can_update


def test_what_a_delivery_needs_is_part_of_its_contract():
  for need in refusals.REQUIREMENTS.values():
    assert set(need.names) <= learner_lib.names()
    assert all(hasattr(need.contract, name) or name == "transform" for name in need.names)


def _classes_of_learners():
  """All classes of suite.learners."""
  return [cls for module in pkgutil.walk_packages(learners.__path__, "suite.learners.")
          for cls in vars(importlib.import_module(module.name)).values()
          if inspect.isclass(cls) and cls.__module__ == module.name]


def test_the_suites_learners_say_what_they_override():
  found = [cls for cls in _classes_of_learners() if hasattr(cls, "begin")]
  assert len(found) > 12 and all(issubclass(cls, learner_lib.BaseLearner) for cls in found)
  silent = []
  for cls in found:
    for name in vars(cls).keys() & learner_lib.names() - {"plan", "plan_predict", "optimizer"}:
      function = getattr(vars(cls)[name], "fget", vars(cls)[name])
      if (callable(function) and not getattr(function, "__override__", False)
          and any(name in vars(base) for base in cls.__mro__[1:])):
        silent.append(f"{cls.__name__}.{name}")
  assert not silent


def test_what_says_that_it_overrides_has_something_to_override():
  # mypy does not look for it in a `tf.Module`, which it knows nothing of.
  for cls in _classes_of_learners():
    for name, value in vars(cls).items():
      if getattr(getattr(value, "fget", value), "__override__", False):
        assert any(name in vars(base) for base in cls.__mro__[1:]), f"{cls.__name__}.{name}"
