# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Thresholds by hand, and "new" answered by them through the protocol."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import exemplar_tuning
from suite.learners import gradient
from suite.learners import minimum_distance
from suite.learners import statistics_learner
from suite.metrics import novelty_scores
from suite.protocols import clear
from suite.protocols import fluid
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.sequence import update_strategies
from suite.training.statistics import class_means

TRANSFORM = image_ops.Plain(8)


def state_in(folder):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  return run_state.RunState(folder, writer, name="x", seed=5, distribution=distribution.build())


def ncm(**settings):
  return statistics_learner.StatisticsLearner(
      class_means.ClassMeans(**settings), transform=TRANSFORM)


def tuning():
  return exemplar_tuning.ExemplarTuning(
      transform=TRANSFORM, features=frozen_backbone.pixels, learning_rate=0.01)


def finetune():
  return gradient.GradientLearner(
      transform=TRANSFORM, net=trainable_parts.HeadOnly(frozen_backbone.pixels), train_on="all",
      epochs=4, batch_size=256, learning_rate=0.01, base=composition.Base(),
      optimizer=optimizers.Momentum(0.9, 1e-4, keep=True))


def run(folder, learner, num=120):
  state = state_in(folder)
  summary = fluid.run(learner, state=state, sequence=digits.sequence(num),
                      base=digits.sequence_base(), update=update_strategies.Every(50))
  return summary, state.records


def test_the_threshold_of_dp_means_is_minus_a_squared_distance():
  # Two classes of two samples: variance 2 within; means 0 and 10, of variance 50 less 2 / 2.
  codes, labels = np.array([[-1.0], [1.0], [9.0], [11.0]]), np.array([0, 0, 1, 1])
  assert novelty_scores.variances(codes, labels) == (2.0, 49.0)
  found = minimum_distance.DpMeans(np.log(2.0)).new_below(codes, labels, -np.ones([4, 2]))
  assert found == pytest.approx(-4 * np.log((1 + 24.5) ** 0.5 / 2))
  assert found == pytest.approx(-novelty_scores.dp_means_threshold(2.0, 49.0, 2.0, 1))
  assert found < 0
  # More new classes to be expected: a sample is new sooner.
  assert minimum_distance.DpMeans(np.log(4.0)).new_below(codes, labels, -np.ones([4, 2])) > found


def test_a_share_of_known_samples_lies_below_the_least():
  logits = np.stack([np.arange(101.0), np.full(101, -np.inf)], 1)
  assert minimum_distance.LeastShare(0.05).new_below(logits, np.zeros(101), logits) == 5.0


def test_new_is_what_is_far_from_all_means(tmp_path):
  summary, records = run(tmp_path, minimum_distance.MinimumDistance(ncm()))
  threshold = records[0]["new_below"]
  assert threshold < 0
  scores = np.concatenate([r["max_logits"] for r in records if "first_step" in r])
  answers = np.concatenate([r["answers"] for r in records if "first_step" in r])
  np.testing.assert_array_equal(answers == 10, scores < threshold)
  assert 6 < np.sum(answers == 10) < 120
  assert summary["updates"] == 0  # NCM has no offline phases; neither has this.
  plain, _ = run(tmp_path / "plain", ncm())
  assert plain["closed"] == summary["closed"] and plain["macs_train"] == summary["macs_train"]
  # 10 classes of 192 features, on the base images that are trained on: nothing is fitted to them.
  more = summary["macs_pretrain"] - plain["macs_pretrain"]
  assert more == records[0]["train_size"] * 1920


def test_where_logits_are_products_the_threshold_is_taken_again(tmp_path):
  inside = finetune
  learner = minimum_distance.MinimumDistance(inside(), minimum_distance.LeastShare(0.1))
  summary, records = run(tmp_path, learner)
  phases = [r for r in records if "phase" in r]
  assert len(phases) == 2 and len({r["new_below"] for r in [records[0], *phases]}) == 3
  assert summary["new_class_score"] == "max_logit"
  fixed = minimum_distance.MinimumDistance(inside(), minimum_distance.LeastShare(0.1, moves=False))
  summary, records = run(tmp_path / "fixed", fixed)
  assert "new_below" in records[0] and not any("new_below" in r for r in records[1:])
  # Nothing but the phases of the learner inside: forward, and the gradient of 10 x 192 weights.
  assert summary["macs_train"] == sum(r.get("passes", 0) for r in records) * 2 * 1920


def test_it_has_what_the_learner_inside_has():
  outside = minimum_distance.MinimumDistance(ncm())
  assert outside.can_update and outside.can_answer_in_turn
  assert not outside.can_learn_stored and outside.new_below == -np.inf
  outside = minimum_distance.MinimumDistance(finetune())
  assert not outside.can_update and outside.can_learn_stored
  with pytest.raises(AttributeError, match="MinimumDistance' object has no attribute 'color'"):
    _ = outside.color


def test_wrong_use_is_named(tmp_path):
  with pytest.raises(ValueError, match="DpMeans got a logit of .*similarity='euclidean'"):
    run(tmp_path, minimum_distance.MinimumDistance(ncm(similarity="cosine")))
  with pytest.raises(ValueError, match="share is 1; it must be between"):
    minimum_distance.LeastShare(1)


def test_tasks_and_buckets_are_refused_before_anything_is_learned(tmp_path):
  buckets, learner = digits.buckets(2), minimum_distance.MinimumDistance(ncm())
  with pytest.raises(ValueError, match="given the buckets of one task .clear.; it accepts single"):
    clear.run(learner, state=state_in(tmp_path), buckets=buckets)
  assert not learner.learner.variables


def test_the_threshold_is_in_a_checkpoint(tmp_path):
  learner = minimum_distance.MinimumDistance(ncm())
  learner.threshold.assign(-3.0)
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "state"))
  again = minimum_distance.MinimumDistance(ncm())
  tf.train.Checkpoint(learner=again).read(path).assert_consumed()
  assert again.new_below == -3.0
