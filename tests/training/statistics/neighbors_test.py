# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""k nearest neighbors by hand, and against a list of the newest samples, one sample at a time."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.training.statistics import neighbors
from suite.training.statistics import statistic

CLASSES, FEATURES, SIZE, K, TEMPERATURE = 4, 3, 20, 5, 0.5
KNN = neighbors.Neighbors(SIZE, K, TEMPERATURE)


def sequence(num=70, seed=0):
  """Class 3 has no sample."""
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 3, num)
  return (rng.normal(size=[num, FEATURES]) + labels[:, None]).astype(np.float32), labels


def oracle(z, codes, labels):
  """Logits of z after samples, by the definition."""
  found = np.where(np.bincount(labels, minlength=CLASSES) > 0, 0.0, -np.inf)
  kept, of = codes[-SIZE:].astype(np.float64), labels[-SIZE:]
  if not len(kept):
    return found
  cosines = kept @ z / np.linalg.norm(kept, axis=1) / np.linalg.norm(z)
  for i in np.argsort(-cosines)[:K]:
    found[of[i]] += np.exp((cosines[i] - 1) / TEMPERATURE)
  return found


def test_votes_by_hand():
  model = statistic.Running(neighbors.Neighbors(size=4, k=2, temperature=1.0), 3, 2)
  z = tf.constant([[2.0, 0.0]])
  np.testing.assert_array_equal(model.answer(z), [[-np.inf] * 3])
  model.add(tf.constant([[3.0, 4.0], [0, 1], [5, 0]]), tf.constant([0, 1, 0], tf.int64))
  # Cosines 0.6, 0 and 1; the nearest two are of class 0.
  np.testing.assert_allclose(model.answer(z), [[np.exp(-0.4) + 1, 0, -np.inf]], rtol=1e-6)
  # The oldest two go: (3, 4) and (0, 1).
  model.add(tf.constant([[-1.0, 0.0], [0, -1], [0, 2]]), tf.constant([1, 1, 2], tf.int64))
  np.testing.assert_allclose(model.directions, [[0, -1], [0, 1], [1, 0], [-1, 0]])
  np.testing.assert_array_equal(model.labels, [1, 2, 0, 1])
  assert model.seen.numpy() == [6] and model.counts.numpy().tolist() == [2, 3, 1]


def test_copies_have_the_same_say_in_any_order():
  model = statistic.Running(neighbors.Neighbors(size=4, k=1), 3, 2)
  model.add(tf.constant([[1.0, 0], [3, 0], [0, 1]]), tf.constant([2, 0, 1], tf.int64))
  np.testing.assert_allclose(model.answer(tf.constant([[2.0, 0.0]])), [[1, 0, 1]], rtol=1e-6)


@pytest.mark.parametrize("size, num", [(1, 26), (7, 70), (70, 70)])
def test_blocks_are_the_definition_sample_by_sample(size, num):
  codes, labels = sequence(num)
  model, found = statistic.Running(KNN, CLASSES, FEATURES), []
  for i in range(0, num, size):
    block = tf.constant(codes[i:i + size]), tf.constant(labels[i:i + size])
    found.append(model.answer_in_turn(*block).numpy())
    model.add(*block)
  expected = [oracle(codes[t], codes[:t], labels[:t]) for t in range(num)]
  np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-4, atol=1e-5)
  np.testing.assert_allclose(model.answer(tf.constant(codes)),
                             [oracle(z, codes, labels) for z in codes], rtol=1e-4, atol=1e-5)
  without = KNN.answers(model.state, tf.constant(codes))
  np.testing.assert_array_equal(without[:, 3], np.full(num, statistic.NOT_SHOWN))


def test_many_rows_and_more_ties_than_are_looked_at_first():
  rng = np.random.default_rng(1)
  codes, labels = rng.normal(size=[1190, FEATURES]).astype(np.float32), rng.integers(0, 3, 1190)
  codes[300:340] = codes[1160]  # 40 copies, whose votes all count.
  form = neighbors.Neighbors(1100, 1, TEMPERATURE)
  block, turns = (statistic.Running(form, CLASSES, FEATURES) for _ in range(2))
  for model in (block, turns):  # The store is full: new rows replace the oldest.
    model.add_set(codes[:1150], labels[:1150])
  found = []
  for part in (slice(1150, 1158), slice(1158, 1190)):  # Without ties and with them.
    given = tf.constant(codes[part]), tf.constant(labels[part])
    found.extend(block.answer_in_turn(*given).numpy())
    block.add(*given)
  for t in range(1150, 1190):
    np.testing.assert_allclose(found[t - 1150], turns.answer(tf.constant(codes[t:t + 1]))[0],
                               rtol=1e-5, err_msg=str(t))
    turns.add_chunk(tf.constant(codes[t:t + 1]), tf.constant(labels[t:t + 1]))
  assert found[10][:3].sum() > 39


@pytest.mark.parametrize("cut", [3, 33, 60])
def test_merged_rows_are_those_of_all_samples(cut):
  codes, labels = sequence()
  zero = KNN.zero(CLASSES, FEATURES)
  a, b = (KNN.add(zero, codes[part], labels[part]) for part in (slice(cut), slice(cut, 70)))
  merged, whole = KNN.merge(a, b), KNN.add(zero, codes, labels)
  np.testing.assert_array_equal(merged.counts, whole.counts)
  np.testing.assert_allclose(KNN.answers(merged, codes), KNN.answers(whole, codes), rtol=1e-5)


def test_an_answer_costs_all_rows_and_a_label_no_product():
  model = statistic.Running(KNN, CLASSES, FEATURES)
  assert model.answer_macs == SIZE * FEATURES
  z, y = tf.TensorSpec([1, FEATURES]), tf.TensorSpec([1], tf.int64)
  added = flops.count(tf.function(model.add, autograph=False).get_concrete_function(z, y))
  assert added.macs == 0 and not added.uncounted
  block = tf.TensorSpec([8, FEATURES]), tf.TensorSpec([8], tf.int64)
  turns = flops.count(
      tf.function(model.answer_in_turn, autograph=False).get_concrete_function(*block))
  assert turns.macs == 8 * (SIZE + 8) * FEATURES and not turns.uncounted


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="size is 4 and k is 5; k must be at least 1"):
    neighbors.Neighbors(4, 5)
  with pytest.raises(ValueError, match="temperature is 0; it must be above 0"):
    neighbors.Neighbors(temperature=0)
  with pytest.raises(ValueError, match="10000000 rows of 512 features need 19.1 GiB"):
    neighbors.Neighbors(10000000).zero(2, 512)


def test_held_out_samples_choose_k_by_their_accuracy():
  codes, labels = sequence(18)
  held, held_labels = sequence(40, seed=9)
  ks, accuracies = (1, 3, 9, 15), []
  for k in ks:
    one = statistic.Running(neighbors.Neighbors(SIZE, k, TEMPERATURE), CLASSES, FEATURES)
    one.add_set(codes, labels)
    accuracies.append(np.mean(np.argmax(one.answer(tf.constant(held)), axis=1) == held_labels))
  assert min(accuracies) < max(accuracies)
  model = statistic.Running(neighbors.Neighbors(SIZE, 4, TEMPERATURE, ks), CLASSES, FEATURES)
  model.add_set(codes, labels)
  assert model.k.numpy() == [4]
  assert model.choose(held, held_labels).flops > 0
  best = ks[int(np.argmax(accuracies))]
  assert model.k.numpy() == [best] and model.chosen() == {"k": best}
  expected = statistic.Running(neighbors.Neighbors(SIZE, best, TEMPERATURE), CLASSES, FEATURES)
  expected.add_set(codes, labels)
  for answers in ("answer_in_turn", "answer"):
    given = [tf.constant(held)] + [tf.constant(held_labels)] * (answers == "answer_in_turn")
    np.testing.assert_allclose(getattr(model, answers)(*given), getattr(expected, answers)(*given),
                               rtol=1e-6)
  with pytest.raises(ValueError, match="size is 20 and k is 21"):
    neighbors.Neighbors(SIZE, ks=(1, 21))
