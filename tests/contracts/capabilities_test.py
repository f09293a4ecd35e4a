# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Optional methods are found once: bound, or None."""

from __future__ import annotations

from suite.contracts import capabilities


class Plain:

  def answer(self, codes):
    return codes


class Able(Plain):
  new_below = -1

  def update(self, codes, labels):
    return "updated"

  def learn_stored(self, stored, context):
    return {"passes": 0}


def test_a_learner_without_optional_methods_has_none():
  learner = Plain()
  assert capabilities.of_sequence_learner(learner) == capabilities.SequenceCapabilities(learner)
  assert not capabilities.keeps_predict(learner)


def test_optional_methods_are_those_of_the_learner():
  learner = Able()
  found = capabilities.of_sequence_learner(learner)
  assert found.update(None, None) == "updated" and found.learn_stored(None, None) == {"passes": 0}
  assert found.stored_macs is found.mac_layers is found.answer_in_turn is None
  assert found.new_below() == -1.0
  learner.new_below = -2  # A threshold may move after an offline phase.
  assert found.new_below() == -2.0


def test_optional_parts_of_an_episodic_learner():
  class Meta(Plain):
    optimizer = "SGD"

    def meta_loss(self, episode):
      return 0.0, ()

  learner = Plain()
  assert capabilities.of_episodic_learner(learner) == capabilities.EpisodicCapabilities(learner)
  learner = Meta()
  found = capabilities.of_episodic_learner(learner)
  assert found.meta is learner and found.optimizer == "SGD" and found.encode is None
