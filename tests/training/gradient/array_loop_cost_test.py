# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Costs of the compiled loop against formulas."""

from __future__ import annotations

import dataclasses

import pytest
from small_loops import OBJECTIVES
from small_loops import C
from small_loops import D
from small_loops import K
from small_loops import N
from small_loops import data
from small_loops import make
import tensorflow as tf

from suite.compute import flops
from suite.contracts import rehearsal
from suite.training.gradient import array_loop
from suite.training.memories import step_rows
from suite.training.objectives import ewc
from suite.training.objectives import gem
from suite.training.objectives import mer
from suite.training.objectives import mir


def counted(function, *specs):
  return flops.count(tf.function(function, autograph=False).get_concrete_function(*specs))


def specs(num):
  return tf.TensorSpec([num, D], tf.float32), tf.TensorSpec([num], tf.int64)


# Forward and the kernel's gradient of a row, and none to the inputs.
ROW = 2 * D * C


def test_the_cost_of_a_plan_is_that_of_its_literal_steps():
  loop, given = make(), data()
  step = make().step
  of = {num: counted(lambda x, y: step.take(
      step_rows.Rows(x, y), rate=tf.constant(0.0)).loss, *specs(num)) for num in (4, 3)}
  assert of[4].macs == 4 * ROW and of[4].uncounted == ()
  # 2.5 epochs of 7 rows: 4 and 3 twice, then 4 once more (a half is 4 rows).
  plan = array_loop.PhaseRows(7, 2.5, 4, (1, 2), last="even")
  assert loop.cost(given, plan) == of[4] * 3 + of[3] * 2
  assert loop.cost(given, array_loop.PhaseRows(7, 2, 4, (1, 2))) == of[4] * 4


# A loss of all rows; one of stored logits; one with a penalty; changes around a step; a teacher.
@pytest.mark.parametrize("name, num", [("plain", 3), ("der", 6), ("ewc", 3), ("si", 3), ("lwf", 3)])
def test_replayed_rows_cost_as_much_as_incoming_ones(name, num):
  loop = make(OBJECTIVES[name](), replay_batch=3)
  plan = array_loop.PhaseRows(8, 1, 4, (1, 2), held=K, replay_batch=num)
  teacher = 7 * D * C if name == "lwf" else 0
  assert loop.cost(data(K, stored=True), plan).macs == 2 * ((4 + num) * ROW + teacher)
  in_threes = array_loop.PhaseRows(6, 1, 4, (1, 2), held=K, replay_batch=num, last="even")
  teacher = 12 * D * C if name == "lwf" else 0
  assert loop.cost(data(K, stored=True), in_threes).macs == (6 + 2 * num) * ROW + teacher


def test_loops_of_one_shape_share_costs_in_a_plan_if_their_objectives_are_alike():
  def cost(name):
    loop = make(OBJECTIVES[name](), replay_batch=3)
    return loop.cost(data(K, stored=True), array_loop.PhaseRows(
        8, 1, 4, (1, 2), held=K, replay_batch=sum(loop.blank(1, data(K, stored=True)).drawn)))

  names = ("plain", "der", "ewc", "lwf")
  alone = [cost(name) for name in names]
  alike = ((("", "loops"), "a", "1"),)
  with rehearsal.begun(measures=False, alike=alike), flops.watched() as counted_there:
    assert [cost(name) for name in names] == alone
    assert [cost(name) for name in names] == alone and len({one.flops for one in alone}) == 4
  assert len(counted_there) >= len(alone)


def test_a_gem_costs_the_gradient_of_all_that_is_held():
  plan = array_loop.PhaseRows(4, 1, 4, (1, 2))
  loop = make(gem.Agem(None))
  assert loop.cost(data(), plan).macs == 4 * ROW
  assert loop.cost(data(K), plan).macs == (4 + K) * ROW
  assert loop.cost(data(2 * K), plan).macs == (4 + 2 * K) * ROW
  assert make(gem.Agem(sample_size=3)).cost(data(K), plan).macs == (4 + 3) * ROW
  three = array_loop.PhaseRows(3, 1, 4, (1, 2), last="even")
  assert loop.cost(data(K), three).macs == (3 + K) * ROW
  assert loop.cost(data(2 * K), three).macs == (3 + 2 * K) * ROW


def test_gem_costs_the_gradients_of_all_buckets_and_their_products():
  plan, loop, size = array_loop.PhaseRows(4, 1, 4, (1, 2)), make(gem.Gem()), D * C + C
  assert loop.cost(data(), plan).macs == 4 * ROW
  for groups in ([0] * K, [0, 0, 3, 3, 3, 5]):
    given, num = data(K)._replace(groups=tf.constant(groups, tf.int64)), len(set(groups))
    assert loop.cost(given, plan).macs == (4 + K) * ROW + (2 * num + num * num) * size


def test_mer_costs_the_incoming_rows_in_each_batch():
  loop = make(mer.Mer(batches=2), replay_batch=3)
  plan = array_loop.PhaseRows(4, 1, 4, (1, 2), held=K, replay_batch=3)
  assert loop.cost(data(K), plan).macs == (2 * 4 + 3) * ROW
  assert loop.cost(data(), array_loop.PhaseRows(4, 1, 4, (1, 2))).macs == 2 * 4 * ROW


def test_compared_rows_cost_a_gradient_each():
  given = data()
  costs = []
  make().charge_gradients(given.codes, given.labels, 5, costs.append)
  make().charge_gradients(given.codes, given.labels, 0, costs.append)
  found, = costs
  assert found.macs == 5 * ROW and found.uncounted == ()


def test_mir_costs_a_gradient_and_two_forward_passes_of_all_candidates_besides():
  loop = make(mir.Mir(5), replay_batch=3)
  plan = array_loop.PhaseRows(4, 1, 4, (1, 2), held=K, replay_batch=5)
  assert loop.cost(data(K), plan).macs == (4 + 3) * ROW + 4 * ROW + 2 * 5 * D * C
  # Nothing is held: nothing is drawn.
  assert loop.cost(data(), array_loop.PhaseRows(4, 1, 4, (1, 2), replay_batch=5)).macs == 4 * ROW


def test_observing_costs_a_gradient_of_each_batch():
  objective, given = ewc.Ewc(fisher="avalanche"), data()
  loop = make(objective)
  costs = []
  loop.observe(given.codes, given.labels, 3, costs.append)
  cost = costs[0] + costs[1]
  assert objective.count.numpy() == 3.0 and cost.macs == N * ROW and cost.flops > 2 * cost.macs
  loop.observe(given.codes, given.labels, 4, costs.append)
  assert costs[2].macs == N * ROW


@pytest.mark.parametrize("name, num_draws, further, forward", [
    ("plain", 1, 0, 0), ("der", 2, 0, 0), ("lwf", 1, 0, 1), ("agem", 1, K, 0),
    ("agem_sample", 1, 3, 0)])
def test_rows_pass_as_often_as_the_step_passes_them(name, num_draws, further, forward):
  loop, given = make(OBJECTIVES[name](), replay_batch=3), data(K, stored=True)
  plan = array_loop.PhaseRows(9, 1, 5, (1, 2), held=K, replay_batch=3, last="even")  # 4 and 5.
  rows = 9 + 2 * 3 * num_draws
  assert loop.passes(given, plan) == (rows + 2 * further, rows * forward)
  assert loop.passes(given, dataclasses.replace(plan, held=0)) == (9, 9 * forward)


def test_mir_and_mer_pass_rows_several_times():
  given = data(K, stored=True)
  plan = array_loop.PhaseRows(4, 1, 4, (1, 2), held=K, replay_batch=3)
  assert make(mir.Mir(5), replay_batch=3).passes(given, plan) == (2 * 4 + 3, 2 * 5)
  assert make(mer.Mer(batches=2), replay_batch=3).passes(given, plan) == (2 * 4 + 3, 0)
