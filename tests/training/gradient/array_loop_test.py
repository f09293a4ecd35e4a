# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled loop against numpy and single steps in Python; costs against formulas."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from small_loops import OBJECTIVES
from small_loops import C
from small_loops import D
from small_loops import K
from small_loops import N
from small_loops import data
from small_loops import make
from small_loops import part
from small_loops import random_weights
import tensorflow as tf

from suite.training.gradient import array_loop
from suite.training.gradient import train_step
from suite.training.memories import step_rows
from suite.training.objectives import der
from suite.training.objectives import objective as objective_lib


def step_by_numpy(kernel, bias, x, y, rate):
  logits = x @ kernel + bias
  p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
  d = (p - np.eye(C)[y]) / len(y)
  return kernel - rate * x.T @ d, bias - rate * d.sum(0), -np.log(p[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize("is_rest", [False, True])
def test_two_steps_equal_numpy_s(is_rest):
  given, loop = data(), make()
  total = loop.train(given, part([[0, 1, 2], [5, 6, 7]], is_rest=is_rest), np.float32([0.5, 0.1]))
  kernel, bias, losses = np.zeros([D, C]), np.zeros([C]), 0.0
  for places, rate in (([0, 1, 2], 0.5), ([5, 6, 7], 0.1)):
    kernel, bias, loss = step_by_numpy(
        kernel, bias, given.codes.numpy()[places], given.labels.numpy()[places], rate)
    losses += loss
  np.testing.assert_allclose(loop.step.model.get_weights()[0], kernel, rtol=1e-5)
  np.testing.assert_allclose(loop.step.model.get_weights()[1], bias, rtol=1e-5)
  assert total == pytest.approx(losses, rel=1e-5)


def test_replayed_rows_are_part_of_a_step_s_mean():
  given, loop = data(K), make(replay_batch=2)
  total = loop.train(given, part([[0, 1, 2]], [[5, 0]]), np.float32([0.5]))
  places = [0, 1, 2, N + 5, N]
  kernel, bias, loss = step_by_numpy(
      np.zeros([D, C]), np.zeros([C]), given.codes.numpy()[places], given.labels.numpy()[places],
      0.5)
  np.testing.assert_allclose(loop.step.model.get_weights()[0], kernel, rtol=1e-5)
  np.testing.assert_allclose(loop.step.model.get_weights()[1], bias, rtol=1e-5)
  assert total == pytest.approx(loss, rel=1e-5)


def ignored(cost):
  del cost


def second_phase(objective):
  """A loop in whose first phase, of two steps, an objective found something to remember."""
  loop, given = make(objective, momentum=0.9, replay_batch=R, weights=random_weights()), data()
  objective.begin_phase()
  for places in ([0, 1, 2], [3, 4, 5]):
    single_step(loop, given, places, [], 0.3)
  if objective.observes:
    loop.observe(given.codes, given.labels, 3, ignored)
  objective.end_phase()
  loop.step.optimizer.reset()
  objective.begin_phase()
  return loop


def variables_of(loop):
  return [*loop.step.model.variables, *loop.step.optimizer.velocities,
          *loop.step.objective.variables]


def state_of(loop):
  return [v.numpy() for v in variables_of(loop)]


def put_back(loop, state):
  for variable, value in zip(variables_of(loop), state):
    variable.assign(value)


STEPS = [[0, 1, 2], [3, 4, 5], [6, 7, 0], [1, 3, 5], [2, 4, 6]]
SLOTS = [[0, 1, 2, 3, 4, 2], [5, 4, 3, 2, 1, 0], [0, 2, 4, 5, 1, 3], [3, 5, 1, 0, 2, 4],
         [4, 0, 5, 1, 3, 2]]
R = 3  # Rows of a draw.
RATES = np.float32([0.5, 0.4, 0.3, 0.2, 0.1])


def single_step(loop, given, places, slots, rate):
  """One step, eagerly: rows taken by hand."""
  every = tf.concat([places, tf.gather(given.places, np.array(slots, np.int64))], 0)
  sizes = loop.blank(1, given).drawn if len(slots) else ()
  rows, *drawn = step_rows.split(
      tf.gather(given.codes, every), tf.gather(given.labels, every), [len(places), *sizes],
      tf.gather(given.stored, np.array(slots, np.int64)))
  memory = step_rows.StepMemory(
      rows, R, not slots, drawn, places=given.places if len(given.places) else None,
      rows_at=lambda of: step_rows.Rows(tf.gather(given.codes, of), tf.gather(given.labels, of)))
  return float(loop.step.take(rows, memory, rate=tf.constant(rate), classes=given.classes).loss)


# A penalty after an observation; what steps moved; a teacher; gradients that are changed, by all
# and by a sample; a loss by kinds of rows; stored logits; a choice. Other losses have own tests.
@pytest.mark.parametrize("name, is_rest", [
    ("ewc", False), ("si", False), ("lwf", False), ("agem", False), ("agem_sample", False),
    ("er_ace", False), ("der", False), ("mir", False), ("plain", True), ("mir", True)])
def test_many_steps_in_one_call_are_single_steps_in_python(name, is_rest):
  loop = second_phase(OBJECTIVES[name]())
  classes = objective_lib.Classes(*(tf.constant(m) for m in (
      [True, True], [True, True], [True, False])))
  given = data(K, stored=True, classes=classes)
  slots, before = [of[:sum(loop.blank(1, given).drawn)] for of in SLOTS], state_of(loop)
  total = loop.train(given, part(STEPS, slots, is_rest), RATES)
  compiled = state_of(loop)
  put_back(loop, before)
  expected = [single_step(loop, given, *s) for s in zip(STEPS, slots, RATES)]
  assert total == pytest.approx(sum(expected), rel=1e-5)
  assert any((a != b).any() for a, b in zip(compiled, before))
  for a, b in zip(compiled, state_of(loop)):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
  # One long call is the same to the bit as short ones.
  put_back(loop, before)
  for first, last in ((0, 1), (1, 3), (3, 5)):
    loop.train(given, part(STEPS[first:last], slots[first:last], is_rest), RATES[first:last])
  for a, b in zip(compiled, state_of(loop)):
    np.testing.assert_array_equal(a, b)


class Diary(objective_lib.Objective):
  """Notes the batches."""

  def __init__(self):
    super().__init__()
    self.batches, self.traces, self.observed = [], [], []

  def step(self, rows, net, memory):
    self.traces.append(1)  # Python runs only while a graph is traced.
    drawn = memory.draw()
    both = step_rows.joined(rows, drawn)
    if drawn.logits is not None and net.mode == train_step.RUNS:
      tf.numpy_function(self._note, [both.images, both.labels, drawn.logits], [])
    net.update(net.cross_entropy(net.logits(both), both.labels))

  def _note(self, images, labels, stored):
    self.batches.append((images.tolist(), labels.tolist(), stored.tolist()))

  def observe(self, answers_of, images, labels, mask=None):
    batch = answers_of(images, labels)
    losses = objective_lib.row_losses(batch, objective_lib.known_classes(batch))
    tf.numpy_function(lambda *rows: self.observed.append([r.tolist() for r in rows]),
                      [images[:, 0], labels, losses], [])


def numbered(held=K):
  """Image i is (i, 0, 0), of class i % 2; the logits stored for it are (i, -i)."""
  i = np.arange(N + held, dtype=np.float32)
  images = np.stack([i, 0 * i, 0 * i], 1)
  return objective_lib.Data(
      tf.constant(images), tf.constant(np.arange(N + held) % C), N + tf.range(held, dtype=tf.int64),
      tf.constant(np.stack([i, -i], 1)[N:]))


def test_replayed_rows_labels_and_stored_logits_arrive_aligned():
  diary = Diary()
  loop = make(diary, replay_batch=3)
  loop.train(numbered(), part([[2, 0], [7, 1]], [[5, 0, 3], [1, 1, 4]]), np.float32([0.1, 0.1]))
  assert len(diary.batches) == 2
  expected = [([2, 0], [5, 0, 3]), ([7, 1], [1, 1, 4])]
  for (images, labels, stored), (incoming, slots) in zip(diary.batches, expected):
    every = [*incoming, *(N + s for s in slots)]
    assert [row[0] for row in images] == every and labels == [i % 2 for i in every]
    assert stored == [[N + s, -N - s] for s in slots]


class Reader:
  """Reads the rows of STEPS; knows when."""

  def __init__(self):
    self.rows, self._begun = [], {rows[0]: threading.Event() for rows in STEPS}

  def augment(self, rows, seeds):
    found = tf.numpy_function(self._read, [rows, seeds], tf.float32, stateful=False)
    return tf.ensure_shape(found, rows.shape)

  def _read(self, rows, seeds):
    numbers = [int(row[0]) for row in rows]
    self.rows.append(numbers)
    self._begun[numbers[0]].set()
    return rows + np.float32(seeds[:, None]) / 1000

  def begins(self, number):
    return number == len(STEPS) or self._begun[STEPS[number][0]].wait(timeout=60)


class Waiting(Diary):
  """Computes a step when the rows of the next one are being read, not before."""

  def __init__(self, reader):
    super().__init__()
    self._reader, self.overlaps = reader, []

  def _note(self, images, labels, stored):
    super()._note(images, labels, stored)
    self.overlaps.append(self._reader.begins(len(self.batches)))


@pytest.mark.parametrize("is_rest", [False, True])
def test_rows_of_the_next_step_are_read_while_a_step_is_computed(is_rest):
  found = []
  for ahead in (True, False):
    reader = Reader()
    objective = Waiting(reader) if ahead else Diary()
    loop = make(objective, augment=reader.augment, ahead=ahead, replay_batch=len(SLOTS[0]))
    total = loop.train(numbered(), part(STEPS, SLOTS, is_rest), RATES)
    found.append((total, [a.tolist() for a in state_of(loop)], objective.batches,
                  sorted(reader.rows)))  # The first two may be read in either order.
    if ahead:
      assert objective.overlaps == [True] * len(STEPS)
  assert found[0] == found[1]  # To the bit, and no row is read twice.
  assert found[0][-1] == sorted(
      [*rows, *(N + s for s in slots)] for rows, slots in zip(STEPS, SLOTS))


def test_rows_are_augmented_each_by_its_seed_replayed_ones_too():
  noted = []

  def augment(images, seeds):
    tf.numpy_function(lambda x, s: noted.append((x[:, 0].tolist(), s.tolist())), [images, seeds],
                      [])
    return images + 1.0

  diary = Diary()
  loop = make(diary, augment=augment, replay_batch=1)
  loop.train(numbered(), part([[2, 0], [7, 1]], [[5], [4]]), np.float32([0.1, 0.1]))
  assert noted == [([2, 0, 13], [100, 101, 100]), ([7, 1, 12], [102, 103, 101])]
  assert diary.batches[0][0] == [[3, 1, 1], [1, 1, 1], [14, 1, 1]]


def test_rests_of_all_sizes_share_one_graph_and_so_do_batches():
  diary = Diary()
  loop, counts = make(diary, replay_batch=2), []
  for size in (3, 1, 2):
    loop.train(data(), part([list(range(size))], is_rest=True), np.float32([0.1]))
    counts.append(len(diary.traces))
  assert counts[0] > 0 and len(set(counts)) == 1
  for held in (K, 2 * K):  # Other numbers of steps, rows and slots; replay is another graph.
    for steps in (1, 3):
      loop.train(data(held), part(STEPS[:steps], [[0, 1]] * steps), np.full(steps, 0.1, np.float32))
      counts.append(len(diary.traces))
  assert counts[3] > counts[2] and len(set(counts[3:])) == 1


def test_stored_logits_may_come_after_a_phase_without_a_memory():
  loop = make(der.Der())
  loop.train(data(), part([[0, 1, 2]]), np.float32([0.1]))
  for held in (0, K):  # The memory stores logits, and is empty at first.
    loop.train(data(held, stored=True), part([[0, 1, 2]]), np.float32([0.1]))


def test_classes_change_without_a_new_graph():
  diary, found = Diary(), []
  loop = make(diary)
  for known in ([True, True], [True, False], [False, True]):
    loop.step.model.set_weights([np.zeros([D, C]), np.zeros([C])])
    classes = objective_lib.Classes(*[tf.constant(known)] * 3)
    given = data(classes=classes)
    found.append((loop.train(given, part([[0, 2]]), np.float32([0.1])), len(diary.traces)))
  # Both rows are of class 0: the loss is log 2 among both, 0 among class 0.
  assert [loss for loss, _ in found[:2]] == pytest.approx([np.log(2), 0.0])
  assert found[2][0] > 1e8 and len({num for _, num in found}) == 1


def test_only_the_given_variables_change_in_graphs_made_before():
  loop = make()
  loop.train(data(), part([[0, 1, 2]]), np.float32([0.5]))
  before = loop.step.model.get_weights()
  cost = loop.cost(data(), array_loop.PhaseRows(N, 1, 4, (1, 2)))
  loop.train_only(loop.step.model.trainable_variables[1:])
  loop.train(data(), part([[0, 1, 2]]), np.float32([0.5]))
  kernel, bias = loop.step.model.get_weights()
  np.testing.assert_array_equal(kernel, before[0])
  assert (bias != before[1]).all()
  # The kernel's gradient is no longer made.
  assert cost.macs == 2 * loop.cost(data(), array_loop.PhaseRows(N, 1, 4, (1, 2))).macs


# The others cost what their loss costs; the costs of these are put together of several graphs.
@pytest.mark.parametrize("name", ["plain", "agem", "agem_sample", "der", "mir"])
def test_the_line_through_two_sizes_costs_what_whole_steps_are_counted_to_cost(name):
  loop, given = second_phase(OBJECTIVES[name]()), data(K, stored=True)

  def cost(size, batch_size):
    return loop.cost(given, array_loop.PhaseRows(
        size, 1, batch_size, (1, 2), last="even", held=K,
        replay_batch=sum(loop.blank(1, given).drawn)))

  whole, rest = cost(5, 5), cost(2, 2)  # One width: counted from its own graph.
  assert cost(5 + 2, 5) == whole + rest and whole.flops and not whole.uncounted


def test_an_objective_observes_each_row_once_in_order_in_batches_and_a_rest():
  diary = Diary()

  def never(images, seeds):
    raise AssertionError("What is observed is not augmented.")

  loop, given = make(diary, augment=never), numbered(0)
  costs = []
  loop.observe(given.codes, given.labels, 3, costs.append)
  assert [rows[0] for rows in diary.observed] == [[0, 1, 2], [3, 4, 5], [6, 7]]
  assert [rows[1] for rows in diary.observed] == [[0, 1, 0], [1, 0, 1], [0, 1]]
  np.testing.assert_allclose(np.concatenate([rows[2] for rows in diary.observed]), np.log(2),
                             rtol=1e-6)
  assert [cost.macs for cost in costs] == [None, None]  # Nobody knows what a diary costs.
  diary.observed.clear()
  loop.observe(given.codes, given.labels, 4, ignored, tf.constant([True, False]))
  losses = np.concatenate([rows[2] for rows in diary.observed])
  assert (losses[::2] == 0).all() and (losses[1::2] > 1e8).all() and len(losses) == N


def test_a_function_of_many_rows_is_applied_in_chunks(monkeypatch):
  monkeypatch.setattr(array_loop, "_CHUNK", 3)
  loop, given = make(weights=random_weights()), data()
  costs = []
  found = loop.forward("logits", loop.step.model, given.codes, costs.append)
  kernel, bias = loop.step.model.get_weights()
  np.testing.assert_allclose(found, given.codes @ kernel + bias, rtol=1e-5)
  assert sum(cost.macs for cost in costs) == N * D * C
  loop.forward("logits", loop.step.model, given.codes, costs.append)
  assert costs[len(costs) // 2:] == costs[:len(costs) // 2]
