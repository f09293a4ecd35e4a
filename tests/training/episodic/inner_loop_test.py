# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The loop's rules, on a net of 2 blocks and 3 filters in float64."""

import numpy as np
import pytest
import tensorflow as tf

from suite.models.episodic import functional_conv4
from suite.training.episodic import inner_loop

NET = functional_conv4.Conv4(filters=3, blocks=2, dtype="float64")
WAY, STEPS = 2, 2


def _parameters(inner, seed=0, way=WAY):
  """Every rate and every row of norms differs from the others."""
  rng = np.random.default_rng(seed)
  weights = {k: tf.constant(v) for k, v in NET.initial(seed, (4, 4, 2), way).items()}
  shape = [inner.num_norm_rows, NET.blocks, NET.filters]
  norms = functional_conv4.Norms(tf.constant(rng.uniform(0.5, 1.5, shape)),
                                 tf.constant(rng.normal(size=shape)))
  rates = tf.constant(rng.uniform(0.1, 0.5, [inner.num_steps, len(weights)]))
  return inner_loop.Parameters(weights, rates, norms)


def _sets(count, seed=0):
  """Support images [S, 2, 4, 4, 2] and labels [S, 2]."""
  rng = np.random.default_rng(seed)
  return tf.constant(rng.normal(size=[count, WAY, 4, 4, 2])), tf.constant([[0, 1]] * count)


def _loop(**settings):
  return inner_loop.InnerLoop(**{"steps": STEPS, "num_support_sets": 2, **settings})


def _targets(seed=9, count=4):
  return tf.constant(np.random.default_rng(seed).normal(size=[count, 4, 4, 2]))


def _answers(inner, parameters, images, labels, targets=None):
  state = inner.learn_all(NET, parameters, images, labels)[-1]
  return inner.logits(NET, parameters, state, _targets() if targets is None else targets).numpy()


def _moved(rows, k, amount=0.1):
  """The rows, row k moved."""
  return rows + amount * tf.cast(tf.range(len(rows)) == k, rows.dtype)[
      (slice(None), *[None] * (len(rows.shape) - 1))]


def test_one_step_by_hand():
  inner = _loop(steps=1)
  parameters, (images, labels) = _parameters(inner), _sets(1)
  weights = parameters.weights
  row = functional_conv4.Norms(*(part[0] for part in parameters.norms))
  with tf.GradientTape() as tape:
    tape.watch(weights)
    loss = inner_loop.cross_entropy(labels[0], NET.apply(weights, row, images[0]))
  gradients = tape.gradient(loss, weights, unconnected_gradients="zero")
  state = inner.learn_all(NET, parameters, images, labels)[-1]
  for i, name in enumerate(sorted(weights)):
    np.testing.assert_allclose(state.weights[name],
                               weights[name] - parameters.rates[0, i] * gradients[name])
  assert int(state.step) == 1


def test_mean_cross_entropy_by_hand():
  logits = tf.math.log(tf.constant([[0.25, 0.75], [0.5, 0.5]], tf.float64))
  got = inner_loop.cross_entropy(tf.constant([0, 1]), logits)
  assert float(got) == pytest.approx((np.log(4) + np.log(2)) / 2) and got.dtype == tf.float64


def test_each_step_uses_its_own_row_of_rates():
  inner = _loop(transductive=True)
  parameters = _parameters(inner)
  states = _every_state(inner, parameters)
  for k in range(2 * STEPS):
    others = _every_state(inner, parameters._replace(rates=_moved(parameters.rates, k)))
    same = [all(np.array_equal(a.weights[n], b.weights[n]) for n in a.weights)
            for a, b in zip(states, others)]
    assert same == [step < k for step in range(2 * STEPS)]


def _every_state(inner, parameters):
  """The states after each step on two sets."""
  (images, labels), states = _sets(2), [inner.begin(NET, parameters)]
  for s in range(2):
    states += inner.learn(NET, parameters, states[-1], images[s], labels[s])
  return states[1:]


def _states(inner, parameters, images, labels, which):
  """The states after each step on set `which`."""
  state = inner.begin(NET, parameters)
  for s in range(which + 1):
    states = inner.learn(NET, parameters, state, images[s], labels[s])
    state = states[-1]
  return states


@pytest.mark.parametrize("target_row, k, matters", [
    ("next", 2 * STEPS, True), ("next", 2 * STEPS - 1, False), ("last", 2 * STEPS - 1, True)])
def test_targets_have_a_row_of_norms(target_row, k, matters):
  inner = _loop(target_row=target_row, transductive=True)
  parameters, (images, labels) = _parameters(inner), _sets(2)
  state = inner.learn_all(NET, parameters, images, labels)[-1]
  moved = parameters._replace(
      norms=parameters.norms._replace(scale=_moved(parameters.norms.scale, k)))
  answers = [inner.logits(NET, p, state, _targets()).numpy() for p in (parameters, moved)]
  assert np.array_equal(*answers) != matters
  assert inner.num_norm_rows == 2 * STEPS + (target_row == "next")


def test_norms_may_be_one_row_for_all_steps():
  inner = _loop(norms_by_step=False)
  assert inner.num_norm_rows == 1
  assert np.isfinite(_answers(inner, _parameters(inner), *_sets(2))).all()


@pytest.mark.parametrize("transductive", [False, True])
def test_every_support_set_counts_unless_only_the_last_one_shall(transductive):
  for last_set_only in (False, True):
    inner = _loop(transductive=transductive, last_set_only=last_set_only)
    parameters, (images, labels) = _parameters(inner), _sets(2)
    whole = _answers(inner, parameters, images, labels)
    other = tf.concat([_sets(1, seed=5)[0], images[1:]], axis=0)
    changed = np.abs(_answers(inner, parameters, other, labels) - whole).max()
    assert (changed == 0) if last_set_only else (changed > 1e-3)


def test_the_loop_in_the_graph_is_the_sets_one_by_one():
  inner = _loop(num_support_sets=3)
  parameters, (images, labels) = _parameters(inner), _sets(3)
  expected = inner.logits(NET, parameters, _states(inner, parameters, images, labels, 2)[-1],
                          _targets())
  got = tf.function(lambda: inner.logits(
      NET, parameters, inner.learn_all(NET, parameters, images, labels)[-1], _targets()),
                    autograph=False)()
  np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_no_target_depends_on_another_unless_it_is_transductive():
  for transductive in (False, True):
    inner = _loop(transductive=transductive)
    parameters, (images, labels) = _parameters(inner), _sets(2)
    together = _answers(inner, parameters, images, labels)
    alone = _answers(inner, parameters, images, labels, _targets()[:1])
    assert np.allclose(together[:1], alone) != transductive


def test_targets_are_normalised_by_the_mean_statistics_of_the_adapted_net():
  inner = _loop()
  parameters, (images, labels) = _parameters(inner), _sets(2)
  measured = []
  for s in range(2):
    state = _states(inner, parameters, images, labels, s)[-1]
    row = functional_conv4.Norms(*(part[STEPS * (s + 1)] for part in parameters.norms))
    measured.append(NET.measure(state.weights, row, images[s]))
  mean = (measured[0].mean + measured[1].mean) / 2
  # The variance of the two sets' images together: within the sets, and between them.
  within = (measured[0].variance + measured[1].variance) / 2
  between = ((measured[0].mean - measured[1].mean) / 2) ** 2
  expected = NET.apply(state.weights, row, _targets(),
                       functional_conv4.Statistics(mean, within + between))
  np.testing.assert_allclose(_answers(inner, parameters, images, labels), expected, rtol=1e-8)


def test_first_order_passes_no_gradient_through_gradients():
  inner = _loop(num_support_sets=1, transductive=True)
  parameters, (images, labels) = _parameters(inner), _sets(1)

  def gradient(second_order):
    with tf.GradientTape() as tape:
      tape.watch(parameters.weights)
      state = inner.learn_all(NET, parameters, images, labels, second_order=second_order)[-1]
      total = tf.reduce_sum(state.weights["block1/kernel"])
    return tape.gradient(total, parameters.weights, unconnected_gradients="zero")

  # With constant inner gradients the weights only shift.
  first = gradient(False)
  np.testing.assert_array_equal(first["block1/kernel"], np.ones([3, 3, 2, 3]))
  np.testing.assert_array_equal(first["head/kernel"], np.zeros([3, 2]))
  assert np.abs(gradient(True)["head/kernel"]).max() > 1e-3


def test_more_support_sets_than_rows_are_refused_or_repeat_the_last():
  inner = _loop()
  parameters, (images, labels) = _parameters(inner), _sets(3)
  message = r"shows support set 3, but InnerLoop.num_support_sets = 2.*extend_rows = True"
  with pytest.raises(ValueError, match=message):
    inner.learn_all(NET, parameters, images, labels)
  with pytest.raises(ValueError, match=message):
    _states(inner, parameters, images, labels, 2)
  got = _answers(_loop(extend_rows=True), parameters, images, labels)
  # The same as three sets' worth of rows: the last step's (and the targets', after it) go on.
  last = 2 * STEPS - 1
  rows = [*range(2 * STEPS), *[last] * STEPS]
  longer = parameters._replace(
      rates=tf.gather(parameters.rates, rows),
      norms=functional_conv4.Norms(*(tf.gather(p, [*rows, last + 1]) for p in parameters.norms)))
  expected = _answers(_loop(num_support_sets=3, transductive=True), longer, images, labels)
  transductive = _answers(_loop(extend_rows=True, transductive=True), parameters, images, labels)
  np.testing.assert_allclose(transductive, expected)
  assert np.isfinite(got).all()


def test_too_many_sets_in_a_loop_of_the_graph_are_refused_when_it_runs():
  inner = _loop(steps=1)
  parameters, (images, labels) = _parameters(inner), _sets(3)

  @tf.function(autograph=False)
  def answer():
    state = inner.begin(NET, parameters)
    _, state = tf.while_loop(
        lambda s, _: s < 3,
        lambda s, state: (s + 1, inner.learn(NET, parameters, state, images[s], labels[s])[-1]),
        (tf.constant(0), state))
    return state.step

  with pytest.raises(tf.errors.InvalidArgumentError, match="extend_rows = True"):
    answer()


@pytest.mark.parametrize("settings, message", [
    (dict(target_row="first"), "target_row is 'first'; allowed are next, last"),
    (dict(steps=0), "steps=0 .*at least 1"), (dict(num_support_sets=0), "at least 1")])
def test_what_makes_no_sense_is_refused(settings, message):
  with pytest.raises(ValueError, match=message):
    _loop(**settings)


def _adapted(adapted):
  inner = _loop(steps=1, num_support_sets=1, adapted=adapted)
  parameters, (images, labels) = _parameters(inner), _sets(1)
  state = inner.learn_all(NET, parameters, images, labels)[-1]
  return parameters.weights, state.weights


def test_a_task_changes_the_head_or_the_body_alone():
  start, whole = _adapted("all")
  for part in ("head", "body"):
    _, found = _adapted(part)
    for name, value in found.items():
      mine = name.startswith("head/") == (part == "head")
      np.testing.assert_array_equal(value, whole[name] if mine else start[name])
  assert np.any(whole["head/kernel"] != start["head/kernel"])
  assert np.any(whole["block1/kernel"] != start["block1/kernel"])


def test_what_is_adapted_is_checked():
  with pytest.raises(ValueError, match="adapted is 'neck'; allowed are all, head, body"):
    _loop(adapted="neck")
  with pytest.raises(ValueError, match="all weights of this net are in its last layer: head/bias"):
    _loop(adapted="body")._names({"head/bias": tf.zeros([2])})
