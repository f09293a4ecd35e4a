# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.training.gradient import schedules


def test_warmup_lasts_seven_rounded_up_epochs_but_not_the_whole_training():
  assert schedules.warmup_steps(100, 32, 1000) == 7 * (3 + 1)
  assert schedules.warmup_steps(96, 32, 1000) == 7 * (3 + 1)  # also where it divides
  assert schedules.warmup_steps(100, 32, 20) == 19
  assert schedules.warmup_steps(100, 32, 1) == 0


# Peak 0.8 after 4 of 12 steps: up by 0.2 a step; half way down (step 8) half the peak; cos(pi / 4)
# at step 6.
HAND = {0: 0.0, 1: 0.2, 3: 0.6, 4: 0.8, 6: 0.4 * (1 + 0.5 ** 0.5), 8: 0.4, 12: 1e-8, 20: 1e-8}


@pytest.mark.parametrize("step, expected", HAND.items())
def test_warmup_cosine_by_hand(step, expected):
  assert schedules.warmup_cosine(step, 0.8, 4, 12) == pytest.approx(expected, abs=2e-8)
  assert schedules.WarmupCosine(0.8, 4, 12)(step).numpy() == pytest.approx(expected, abs=5e-8)


def test_warmup_cosine_ends_at_its_end_and_not_at_zero():
  assert schedules.warmup_cosine(12, 0.8, 4, 12, end=0.01) == pytest.approx(0.01)
  assert schedules.WarmupCosine(0.8, 4, 12, end=0.01)(12).numpy() == pytest.approx(0.01)


@pytest.mark.parametrize("warmup, total", [(0, 10), (9, 10), (0, 1), (7, 50)])
def test_tensor_and_plain_twin_agree_at_every_step(warmup, total):
  schedule = schedules.WarmupCosine(0.3, warmup, total)
  steps = range(total + 2)
  np.testing.assert_allclose(
      [schedule(tf.constant(s, tf.int64)).numpy() for s in steps],
      [schedules.warmup_cosine(s, 0.3, warmup, total) for s in steps], atol=1e-7)


@pytest.mark.parametrize("step, expected", [
    (0, 0.0), (2, 0.2), (10, 1.0), (49, 1.0), (50, 0.1), (74, 0.1), (75, 0.01), (100, 0.01)])
def test_piecewise_decay_by_hand(step, expected):
  assert schedules.warmup_piecewise(step, 1.0, 10, 100) == pytest.approx(expected)
  found = schedules.WarmupPiecewise(1.0, 10, 100)(tf.constant(step))
  assert found.numpy() == pytest.approx(expected)


def test_a_variable_selects_the_schedule_without_a_new_graph():
  place = tf.Variable(0)
  schedule = schedules.Selected(
      [made(1.0, 0, 100) for made in schedules.WARMED_UP.values()], place)
  traced = tf.function(schedule, autograph=False)
  step = tf.constant(60)
  assert traced(step).numpy() == pytest.approx(schedules.warmup_cosine(60, 1.0, 0, 100))
  place.assign(1)
  assert traced(step).numpy() == pytest.approx(0.1)
  assert traced.experimental_get_tracing_count() == 1
  assert schedule.get_config()["place"] == 1


def test_step_decay_by_hand():
  expected = {0: 0.5, 9: 0.5, 10: 0.05, 19: 0.05, 20: 0.005, 99: 0.005}
  for step, rate in expected.items():
    assert schedules.StepDecay(0.5, (10, 20))(step).numpy() == pytest.approx(rate)


def test_step_decay_without_boundaries_is_constant():
  assert schedules.StepDecay(0.5, ())(7).numpy() == schedules.Constant(0.5)(7).numpy() == 0.5


@pytest.mark.parametrize("schedule, expected", [
    (schedules.EpochConstant(), [0.5] * 5), (schedules.EpochSteps(2), [0.5, 0.5, 0.05, 0.05, 5e-3]),
    (schedules.EpochSteps(1, 0.5), [0.5, 0.25, 0.125, 0.0625, 0.03125])])
def test_rates_of_epochs_by_hand(schedule, expected):
  rates = schedule.rates(0.5, np.arange(5))
  assert rates.dtype == np.float32
  np.testing.assert_allclose(rates, expected, rtol=1e-6)


def test_scaled_follows_its_schedule():
  assert schedules.Scaled(schedules.WarmupCosine(0.8, 4, 12), 0.1)(2).numpy() == pytest.approx(0.04)


def test_next_trial_needs_no_new_graph():
  peak, warmup, total = (tf.Variable(v, dtype=tf.float32) for v in (0.8, 4, 12))
  schedule = schedules.WarmupCosine(peak, warmup, total)
  traces = []

  @tf.function(autograph=False)
  def rate(step):
    traces.append(1)
    return schedule(step)

  assert rate(tf.constant(2)).numpy() == pytest.approx(0.4)
  peak.assign(0.2)
  assert rate(tf.constant(2)).numpy() == pytest.approx(0.1)
  warmup.assign(8)
  total.assign(100)
  assert rate(tf.constant(2)).numpy() == pytest.approx(0.05)
  assert len(traces) == 1


@pytest.mark.parametrize("schedule", [
    schedules.Constant(tf.Variable(0.25)),
    schedules.WarmupCosine(tf.Variable(0.5), 4, tf.Variable(12)),
    schedules.StepDecay(0.5, tf.Variable([2, 4])),
    schedules.Selected([schedules.WarmupCosine(0.5, 4, 12), schedules.WarmupPiecewise(0.5, 4, 6)],
                       tf.Variable(1)),
    schedules.Scaled(schedules.WarmupCosine(0.5, 4, 12), 0.5)])
def test_config_holds_plain_numbers_and_gives_the_schedule_back(schedule):
  copy = type(schedule).from_config(schedule.get_config())
  assert [copy(s).numpy() for s in range(6)] == [schedule(s).numpy() for s in range(6)]
