# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""EWC on a published sequence: Fisher information of ImageNet-1K's validation images.

It replays, too: the rows of its memory are numbers of samples.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.data.images import image_ops
from suite.data.published import published_plans
from suite.data.published import published_sequences
from suite.data.sequences import sequences
from suite.learners import gradient
from suite.protocols import fluid
from suite.state import encoder_file
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import ewc
from suite.training.sequence import update_strategies
from tests.shared import published_fluid

_SIZE, _CLASSES, _BASE, _PER_CLASS = 16, 8, 3, 4
_WATCHED = _BASE * _PER_CLASS


@pytest.fixture(name="where", scope="module")
def _where(tmp_path_factory):
  folder = tmp_path_factory.mktemp("published")
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(published_plans, "NUM_CLASSES", _CLASSES)
    published_fluid.write(folder, form="nested", num_base=_BASE, per_class=5)
    published_fluid.write_validation(folder, 3, _PER_CLASS)
    kernel = np.random.default_rng(0).normal(size=(8, 12)).astype(np.float32)
    encoder_file.save_classifier(folder, kernel, np.zeros(12, np.float32))
    yield {"folder": str(folder), "cache": str(folder / "cache")}


def _net(image_shape):
  return tf.keras.Sequential([
      tf.keras.Input(image_shape), tf.keras.layers.Rescaling(1 / 255),
      tf.keras.layers.Conv2D(8, 3, strides=4, activation="relu"),
      tf.keras.layers.GlobalAveragePooling2D()])


def _transform(where):
  return published_sequences.samples(3, size=_SIZE, resize=20, augments=False, **where)


def _learner(where, transform, validation):
  return gradient.GradientLearner(
      transform=transform, net=trainable_parts.AllLayers(_net), train_on="all", epochs=1,
      head=class_heads.Given(
          where["folder"], published_sequences.columns(3, folder=where["folder"])),
      objective=ewc.Ewc(
          strength=0.05, share=0.9, anchor="first", fisher="avalanche"),
      base=composition.Base(validation=validation), observe_batch=_PER_CLASS, batch_size=8,
      learning_rate=0.01, optimizer=optimizers.Momentum(0.9, 1e-4, keep=True), replay_batch=4,
      memory=memory.Memory(20, reservoir.Reservoir()))


def _run(folder, learner, sequence):
  with stopped_runs.state(folder) as state:
    summary = fluid.run(learner, state=state, sequence=sequence, base_is_known=True,
                        update=update_strategies.Every(15))
  return summary, stopped_runs.records(folder)


def _know_base(learner, folder):
  """The learner after its first event; returns the context."""
  with stopped_runs.state(folder) as state:
    state.resume(learner, delivery=deliveries.SEQUENCE)
    context = state.context()
    learner.begin(tasks.Task("sequence", tasks.SINGLE_LABEL, _CLASSES), context)
    learner.know_base(np.arange(_CLASSES) < _BASE, context)
  return context


def test_validation_images_follow_the_samples_and_have_the_labels_of_the_kit(where):
  found = published_sequences.base_validation(3, **where)
  assert found.images.tolist() == list(range(40, 40 + _WATCHED))
  assert np.bincount(found.labels, minlength=_CLASSES).tolist() == [4, 4, 4, 0, 0, 0, 0, 0]
  slots = published_sequences.columns(3, folder=where["folder"])
  images = _transform(where).evaluate(found.images).numpy()
  assert images.shape == (_WATCHED, _SIZE, _SIZE, 3)
  for image, label in zip(images, found.labels):  # The color of a picture is that of its class.
    jpeg = published_fluid.picture(int(slots[label]), 0, (64, 64))
    expected = tf.reduce_mean(tf.cast(tf.io.decode_jpeg(jpeg), tf.float32), (0, 1))
    np.testing.assert_allclose(image.mean(axis=(0, 1)), expected, atol=12)


def test_fisher_information_and_anchor_against_a_loop_by_hand(where, tmp_path):
  """The first offline phase begins at the pretrained weights: F is of these."""
  found = published_sequences.base_validation(3, **where)
  learner = _learner(where, _transform(where), found)
  context = _know_base(learner, tmp_path)
  model, objective = learner.composed.model, learner.objective
  variables = model.trainable_variables
  before = [v.numpy() for v in variables]
  assert not any(np.any(f.numpy()) for f in objective.importance)
  images = _transform(where).evaluate(found.images)
  expected = [np.zeros_like(v) for v in before]
  for first in range(0, _WATCHED, _PER_CLASS):
    with tf.GradientTape() as tape:
      logits = model(images[first:first + _PER_CLASS], training=False)[:, :4]  # Known: 0 to 3.
      loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
          found.labels[first:first + _PER_CLASS], logits))
    for total, slope in zip(expected, tape.gradient(loss, variables)):
      total += slope.numpy()**2 / (_WATCHED // _PER_CLASS)
  learner.learn_stored(deliveries.Stored(
      np.arange(8), np.full(8, 3), np.arange(_CLASSES) < 4, 0), context)
  for f, anchor, value, old in zip(objective.importance, objective.anchors, expected, before):
    np.testing.assert_allclose(f, value, rtol=2e-3, atol=1e-6)
    np.testing.assert_array_equal(anchor, old)
  assert any(np.any(v.numpy() != old) for v, old in zip(variables, before))


@pytest.fixture(name="whole", scope="module")
def _whole(where, tmp_path_factory):
  """The summary and the records of a run from images on disk."""
  tf.config.experimental.enable_op_determinism()  # As `suite run`: sums of threads are ordered.
  return _run(tmp_path_factory.mktemp("disk"), _learner(
      where, _transform(where), published_sequences.base_validation(3, **where)),
              published_sequences.sequence(3, **where))


def test_the_ledger_has_a_pass_of_each_validation_image_in_each_phase(whole):
  phases = [record for record in whole[1] if "phase" in record]
  assert len(phases) == 2 and whole[1][0]["base_classes"] == _BASE
  # A convolution 3 -> 8 at 4 x 4 and its kernel's gradient, and the head forward and back twice.
  each = 2 * 4 * 4 * 27 * 8 + 3 * 8 * _CLASSES
  for phase, replayed in zip(phases, (0, 4 * 4)):  # Of the memory of the first, in four steps.
    assert phase["passes"] == phase["stored"] + _WATCHED + replayed  # One epoch.
    assert phase["event_macs"] == phase["passes"] * each


def test_images_on_disk_give_what_images_in_memory_give(where, whole, tmp_path):
  tf.config.experimental.enable_op_determinism()
  transform, kept = _transform(where), published_sequences.sequence(3, **where)
  given = published_sequences.base_validation(3, **where)
  images = transform.evaluate(kept.images(0, len(kept))).numpy()
  labels = published_plans.read(3, pathlib.Path(where["folder"])).planned.labels
  memory = sequences.Sequence(images, labels, kept.ids.tolist(), _BASE, _CLASSES)
  validation = example_arrays.Examples(transform.evaluate(given.images).numpy(), given.labels)
  assert _run(tmp_path / "memory", _learner(
      where, image_ops.AsStored(_SIZE), validation), memory) == whole


def test_without_validation_images_a_warning_says_that_nothing_is_guarded(where, tmp_path, caplog):
  _know_base(_learner(where, _transform(where), None), tmp_path)
  assert "Ewc observes a validation split" in caplog.text
