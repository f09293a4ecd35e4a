# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Among others: the whole meta-gradient against finite differences in float64."""

import sys
import types

import gin
import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.configs import gin_parse
from suite.configs import run_files
from suite.contracts import tasks
from suite.learners import maml
from suite.models.episodic import functional_conv4
from suite.models.episodic import twice_norm
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules

WAY, SIZE, CHANNELS = 2, 4, 2


def _learner(*, sets=2, seed=0, dtype="float64", training=None, trained=True, parts=1, blocks=1,
             **inner):
  """Blocks of 3 filters, 2 steps on each set at a rate that moves the answers."""
  learner = maml.Maml(
      functional_conv4.Conv4(filters=3, blocks=blocks, dtype=dtype),
      inner=inner_loop.InnerLoop(**{"steps": 2, "num_support_sets": sets, "rate": 0.3, **inner}),
      transform=types.SimpleNamespace(size=SIZE), channels=CHANNELS,
      training=meta_schedules.MetaTraining(**(training or {})) if trained else None, parts=parts)
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(seed))
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, WAY * sets), context)
  rng = np.random.default_rng(seed)
  for variable in learner.variables:  # Off 0 and 1, so that every derivative matters.
    if "norm" in variable.name or "rates" in variable.name:
      variable.assign_add(0.1 * rng.normal(size=variable.shape))
  return learner


def _episode(seed=0, sets=2, targets=3):
  """S sets of one image for each of 2 classes of their own, 3 targets a class; pixels."""
  rng = np.random.default_rng(seed)
  shape = [SIZE, SIZE, CHANNELS]
  return (tf.constant(rng.integers(0, 256, [sets, WAY, *shape])),
          tf.constant(np.arange(WAY * sets).reshape(sets, WAY)),
          tf.constant(rng.integers(0, 256, [WAY * sets * targets, *shape])),
          tf.constant(np.repeat(np.arange(WAY * sets), targets)))


def _gradients(learner, episode):
  """The meta-loss and its gradients; eagerly, which takes less time than a graph that runs once."""
  with tf.GradientTape() as tape:
    loss, _ = learner.meta_loss(episode)
  gradients = tape.gradient(loss, learner.trainable_variables, unconnected_gradients="zero")
  return loss, [tf.convert_to_tensor(g) for g in gradients]


def _compiled(learner):
  return tf.function(lambda episode: _gradients(learner, episode), autograph=False)


@pytest.mark.parametrize("sets, inner, training", [
    (1, dict(transductive=True, target_row="last"), {}),
    (2, dict(steps=1, norms_by_step=False, last_set_only=True), {}),
])
def test_the_meta_gradient_is_right(sets, inner, training, step=1e-6):
  learner = _learner(sets=sets, training=training, blocks=2, **inner)
  episode = _episode(sets=sets)
  rng = np.random.default_rng(1)
  loss_of = tf.function(lambda: learner.meta_loss(episode)[0], autograph=False)
  _, gradients = _gradients(learner, episode)
  # One variable at a time: weights, rates, scales and offsets each have a right gradient.
  for variable, gradient in zip(learner.trainable_variables, gradients):
    before, direction = variable.numpy(), rng.normal(size=variable.shape)
    losses = []
    for sign in (1, -1):
      variable.assign(before + sign * step * direction)
      losses.append(float(loss_of()))
    variable.assign(before)
    got = float(tf.reduce_sum(gradient * direction))
    assert got == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=1e-5, abs=2e-8), (
        variable.name)
    is_dead = "block" in variable.name and "bias" in variable.name
    assert is_dead or np.abs(gradient).max() > 1e-6, variable.name


def test_float32_has_the_same_meta_gradient():
  (loss, exact), (loss_32, fused) = (
      _gradients(_learner(sets=1, dtype=dtype, blocks=2, transductive=True), _episode(sets=1))
      for dtype in ("float64", "float32"))
  assert float(loss_32) == pytest.approx(float(loss), rel=1e-4)
  for a, b in zip(exact, fused):
    np.testing.assert_allclose(b, a, rtol=1e-2, atol=1e-4)


@pytest.mark.parametrize("channels", [1, 2])
def test_targets_in_parts_have_the_same_meta_gradient(monkeypatch, channels):
  monkeypatch.setattr(twice_norm, "SMALLEST", 4)
  monkeypatch.setattr(sys.modules[__name__], "CHANNELS", channels)
  split, parts = twice_norm.split, []
  monkeypatch.setattr(twice_norm, "split", lambda images, number: parts.append(
      found := split(images, number)) or found)
  results = []
  for number in (1, 2):
    parts.clear()
    learner = _learner(sets=1, dtype="float32", parts=number, blocks=2)
    results.append(_gradients(learner, _episode(sets=1, targets=6)))
    assert max(len(part) for part in parts) == number
  for one, two in zip(*map(tf.nest.flatten, results)):
    np.testing.assert_allclose(one, two, rtol=2e-3, atol=2e-5)


def test_an_unrolled_graph_has_the_same_meta_gradient():
  # Traced, the sets are a loop in the graph; eagerly, as unrolled, one after the other.
  loop, unrolled = (_learner(steps=1, unrolled=unrolled, transductive=True)
                    for unrolled in (False, True))
  results = _compiled(loop)(_episode()), _gradients(unrolled, _episode())
  for one, other in zip(*map(tf.nest.flatten, results)):
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)


def test_first_order_differs_from_second_and_takes_over_by_epochs():
  def flat(found):
    return np.concatenate([[found[0]], *(np.ravel(part) for part in found[1])])

  def learner_of(**training):
    return _learner(sets=1, steps=1, training=dict(updates_per_epoch=10, **training))

  second, first = (flat(_gradients(learner_of(second_order=is_second), _episode(sets=1)))
                   for is_second in (True, False))
  assert second[0] == pytest.approx(first[0])
  assert np.linalg.norm(first - second) > 1e-2 * np.linalg.norm(second)
  learner, found = learner_of(first_order_epochs=2), []
  # That one graph has both: tests/training/episodic/meta_schedules_test.py.
  for updates in (19, 20):
    learner.optimizer.iterations.assign(updates)
    found.append(flat(_gradients(learner, _episode(sets=1))))
  early, late = found
  np.testing.assert_allclose(early, first, rtol=1e-8, atol=1e-12)
  np.testing.assert_allclose(late, second, rtol=1e-8, atol=1e-12)


def test_the_multi_step_loss_by_hand_and_its_end():
  learner, episode = _learner(training=dict(multi_step_epochs=4, updates_per_epoch=5)), _episode()
  images, labels, target_images, target_labels = episode
  state = learner.initial_state(4)
  state = learner.adapt(state, images[0], labels[0])
  adapted = learner._adapted
  inner, net, parameters = adapted.inner, adapted.net, adapted.parameters()
  states = inner.learn(net, parameters, state, net.prepare(images[1]), labels[1])
  losses = [float(inner_loop.cross_entropy(target_labels, learner.logits(s, target_images)))
            for s in states]
  # Two steps: the first weighs 1/2, 1/4 less of it each epoch.
  for updates, first in ((4, 0.5), (19, 0.125), (20, 0.0)):
    learner.optimizer.iterations.assign(updates)
    expected = first * losses[0] + (1 - first) * losses[1]
    assert float(learner.meta_loss(episode)[0]) == pytest.approx(expected, rel=1e-10)


def _logits(learner, episode):
  images, labels, targets, _ = episode
  state = learner.initial_state(WAY * images.shape[0])
  for s in range(images.shape[0]):
    state = learner.adapt(state, images[s], labels[s])
  return learner.logits(state, targets)


def test_adapting_set_by_set_is_what_the_meta_loss_does():
  learner, episode = _learner(), _episode()
  expected = inner_loop.cross_entropy(episode[3], _logits(learner, episode))
  assert float(learner.meta_loss(episode)[0]) == pytest.approx(float(expected), rel=1e-10)


def test_all_support_sets_count_unless_only_the_last_shall():
  images, labels, targets, _ = _episode()
  for last_set_only in (False, True):
    learner = _learner(last_set_only=last_set_only)
    whole = _logits(learner, (images, labels, targets, None)).numpy()
    other = tf.concat([255 - images[:1], images[1:]], axis=0)
    moved = np.abs(_logits(learner, (other, labels, targets, None)).numpy() - whole).max()
    assert (moved == 0) if last_set_only else (moved > 1e-3)


def test_what_is_trained():
  def names(**settings):
    return {v.name.split(":")[0] for v in _learner(blocks=2, **settings).trainable_variables}

  weights = {f"{layer}/{part}" for layer in ("block1", "block2", "head")
             for part in ("kernel", "bias")}
  norms = {"norm_scale", "norm_offset"}
  assert names() == weights | norms | {"inner_rates"}
  assert names(learn_rates=False) == weights | norms
  assert not names(trained=False)


def test_without_meta_training_it_still_tunes_but_has_no_meta_loss():
  learner, episode = _learner(trained=False), _episode()
  assert learner.optimizer is None
  state = learner.initial_state(4)
  before = learner.logits(state, episode[2]).numpy()
  assert np.abs(_logits(learner, episode).numpy() - before).max() > 1e-3
  with pytest.raises(ValueError, match="without meta-training: set cfsl.run.updates = 0"):
    learner.meta_loss(episode)


def test_weights_are_the_seeds_and_begin_keeps_them():
  one, same, other = _learner(), _learner(), _learner(seed=1)
  kernels = [learner._adapted.weights["head/kernel"] for learner in (one, same, other)]
  np.testing.assert_array_equal(kernels[0], kernels[1])
  assert not np.array_equal(kernels[0], kernels[2])
  before, optimizer = kernels[0].numpy(), one.optimizer
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(7))
  one.begin(tasks.Task("next", tasks.SINGLE_LABEL, 4), context)
  np.testing.assert_array_equal(one._adapted.weights["head/kernel"], before)
  assert one.optimizer is optimizer


def test_what_does_not_fit_is_refused():
  learner = _learner()
  with pytest.raises(ValueError, match="task has 6 classes, but the head was made for 4"):
    learner.initial_state(6)
  with pytest.raises(ValueError, match="Images have 3 channels, the net was made for 2"):
    learner.adapt(learner.initial_state(4), tf.zeros([2, 4, 4, 3]), tf.constant([0, 1]))
  with pytest.raises(ValueError, match="shows support set 3, .*extend_rows = True"):
    state = learner.initial_state(4)
    for _ in range(3):
      state = learner.adapt(state, _episode()[0][0], tf.constant([0, 1]))
  with pytest.raises(ValueError, match="shows support set 3, .*extend_rows = True"):
    learner.meta_loss(_episode(sets=3))
  with pytest.raises(ValueError, match="Maml.parts is 0; allowed is a number from 1 on"):
    _learner(parts=0)


@pytest.mark.parametrize("macro, inner, training", [
    ("MAML_LOW",
     dict(steps=5, rate=0.01, num_support_sets=2, target_row="next", transductive=True,
          learn_rates=True, norms_by_step=True, last_set_only=False, extend_rows=False),
     dict(learning_rate=1e-3, end_rate=None, weight_decay=1e-4, gradient_limit=None,
          multi_step_epochs=0, first_order_epochs=0, second_order=True, updates_per_epoch=500)),
    ("MAML_PLUS_PLUS",
     dict(steps=5, rate=0.1, num_support_sets=2, target_row="last", transductive=True,
          learn_rates=True, norms_by_step=True, last_set_only=False),
     dict(learning_rate=1e-3, end_rate=1e-5, epochs=100, weight_decay=0.0, multi_step_epochs=10,
          first_order_epochs=50, second_order=True, updates_per_epoch=500, gradient_limit=None))])
def test_the_shipped_settings(tmp_path, macro, inner, training):
  path = tmp_path / "run.gin"
  path.write_text("\n".join([
      "from __gin__ import dynamic_registration", "from suite.data.images import image_ops",
      "from suite import experiment",
      "include 'gin/learners/maml.gin'", "NUM_SUPPORT_SETS = 2", "CHANNELS = 1",
      "TRANSFORM = @image_ops.Plain()", "image_ops.Plain.size = 28",
      f"experiment.run.learners = {{'maml': %{macro}}}"]))
  gin_parse.parse([path])
  learner = gin.query_parameter("experiment.run.learners")["maml"].scoped_configurable_fn()()
  for part, expected in ((learner._adapted.inner, inner), (learner._adapted.training, training)):
    assert {k: getattr(part, k) for k in expected} == expected
  assert learner._adapted.net.filters == {"MAML_LOW": 48, "MAML_PLUS_PLUS": 64}[macro]
  assert learner.transform.size == 28 and learner._channels == 1


def _bound(run, *params):
  """A function that looks up the values that a shipped run binds, through its macros."""
  gin_parse.parse([run_files.shipped()[run]], params)

  def value(name):
    found = gin.query_parameter(name)
    return found.scoped_configurable_fn() if hasattr(found, "scoped_configurable_fn") else found

  return value


@pytest.mark.parametrize("run, scope", [
    ("maml_low", "decoupled"), ("maml_high", "coupled"), ("sca", "coupled"),
    ("pretrain_tune", "decoupled"), ("protonet_paper", "coupled")])
@pytest.mark.parametrize("params, decay", [
    ([], 1e-4), (["META_DECAY=%CODE_DECAY"], 1e-4), (["META_DECAY=%TEXT_DECAY"], 1e-5)])
def test_weight_decay_is_the_codes_and_the_papers_text_has_a_name(run, scope, params, decay):
  value = _bound(f"cfsl/omniglot_{run}", *params)
  assert value(f"{scope}/meta_schedules.MetaTraining.weight_decay") == decay


def test_the_run_of_maml_plus_plus_is_its_papers():
  value = _bound("cfsl/omniglot_maml_plus_plus")
  # 100 epochs of 500 updates, as the cosine foresees; 8 tasks each in the published configuration.
  assert value("cfsl.run.updates") == 100 * 500 and value("cfsl.run.tasks_per_update") == 8
  assert value("maml_plus_plus/meta_schedules.MetaTraining.epochs") == 100
  assert value("cfsl.run.updates_per_event") == 500  # An epoch, after which the paper validates.
  assert value("maml_plus_plus/functional_conv4.Conv4.filters") == 64
  # The published configurations': 1150, 50 and 423 characters; turns as further classes.
  assert value("cfsl_data.episodes.counts") == {"train": 1150, "validation": 50, "test": 423}
  assert value("cfsl_data.episodes.turns") is True
  assert _bound("cfsl/omniglot_maml_plus_plus", "TURNS=False")("cfsl_data.episodes.turns") is False


def _train(learner, updates, first=0):
  for i in range(first, first + updates):
    _, gradients = _gradients(learner, _episode(seed=i, sets=1))
    learner.optimizer.apply_gradients(zip(gradients, learner.trainable_variables))


def test_a_checkpoint_within_the_multi_step_loss_goes_on_as_if_uninterrupted(tmp_path):
  settings = dict(training=dict(
      updates_per_epoch=1, epochs=4, end_rate=1e-4, weight_decay=1e-2, gradient_limit=10.0,
      multi_step_epochs=3))
  learner = _learner(**settings, sets=1)
  checkpoint = tf.train.Checkpoint(learner=learner)
  _train(learner, 1)
  path = checkpoint.write(str(tmp_path / "learner"))
  ends = []
  for _ in range(2):  # Whatever the checkpoint lacks is an update too old the second time.
    _train(learner, 1, first=1)
    assert int(learner.optimizer.iterations) == 2
    ends.append([v.numpy() for v in learner.variables])
    checkpoint.read(path).assert_consumed()
  for expected, got in zip(*ends):
    np.testing.assert_array_equal(expected, got)
