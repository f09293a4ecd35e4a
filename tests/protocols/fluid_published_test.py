# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sequences whose images stay on disk give what the same images in memory give.

Whole nets that replay: fluid_published_ewc_test.py.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.data.images import image_ops
from suite.data.published import image_places
from suite.data.published import published_plans
from suite.data.published import published_sequences
from suite.data.sequences import sequences
from suite.learners import exemplar_tuning
from suite.learners import gradient
from suite.learners import statistics_learner
from suite.protocols import fluid
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer
from suite.state import encoder_file
from suite.training.gradient import class_heads
from suite.training.gradient import frozen_backbone
from suite.training.gradient import trainable_parts
from suite.training.sequence import update_strategies
from suite.training.statistics import class_means
from tests.shared import published_fluid

_SIZE, _OUTPUTS = 16, 12


@pytest.fixture(name="where", scope="module")
def _where(tmp_path_factory):
  folder = tmp_path_factory.mktemp("published")
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(published_plans, "NUM_CLASSES", 8)
    published_fluid.write(folder, form="nested", num_base=3, per_class=5)
    kernel = np.random.default_rng(0).normal(size=(8, _OUTPUTS)).astype(np.float32)
    encoder_file.save_classifier(folder, kernel, np.arange(_OUTPUTS, dtype=np.float32))
    yield {"folder": str(folder), "cache": str(folder / "cache")}


def _net(image_shape):
  """Its names are part of what names its features."""
  return tf.keras.Sequential([
      tf.keras.Input(image_shape, name="image"), tf.keras.layers.Rescaling(1 / 255, name="scaled"),
      tf.keras.layers.Conv2D(8, 3, strides=4, activation="relu", name="conv"),
      tf.keras.layers.BatchNormalization(name="norm"),
      tf.keras.layers.GlobalAveragePooling2D(name="mean")], name="net")


def _run(folder, learner, sequence, **settings):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  state = run_state.RunState(folder, writer, name="x", seed=5, distribution=distribution.build())
  summary = fluid.run(learner, state=state, sequence=sequence, base_is_known=True,
                      **{"update": update_strategies.Every(15), **settings})
  found = records.strip_times(records.read(folder / "records.jsonl"))
  return summary, found


def _in_memory(where):
  """The same sequence as images."""
  kept = published_sequences.sequence(3, **where)
  samples = published_sequences.samples(3, size=_SIZE, resize=20, **where)
  images = samples.evaluate(kept.images(0, len(kept))).numpy()
  labels = published_plans.read(3, pathlib.Path(where["folder"])).planned.labels
  return sequences.Sequence(images, labels, kept.ids.tolist(), kept.num_base_classes, 8)


def test_exemplars_of_norms_that_drift_learn_from_disk_what_they_learn_from_memory(where, tmp_path):
  found = []
  for place, sequence, transform in (
      ("disk", published_sequences.sequence(3, **where), published_sequences.samples(
          3, size=_SIZE, resize=20, augments=False, **where)),
      ("memory", _in_memory(where), image_ops.AsStored(_SIZE))):
    learner = exemplar_tuning.ExemplarTuning(
        transform=transform, epochs=1, batch_size=8, learning_rate=0.01,
        net=trainable_parts.Drifting(lambda: frozen_backbone.FrozenBackbone(_net, _SIZE)))
    found.append(_run(tmp_path / place, learner, sequence))
  assert found[0] == found[1]
  assert found[0][0]["updates"] == 2 and found[0][0]["macs"]


def test_features_are_computed_once_for_all_frozen_learners(where, tmp_path, monkeypatch):
  calls = []
  encode = frozen_backbone.FrozenBackbone.__call__

  def counted(self, images):
    if tf.executing_eagerly() or images.shape[0] != 1:
      calls.append(images.shape[0])
    return encode(self, images)

  monkeypatch.setattr(frozen_backbone.FrozenBackbone, "__call__", counted)
  transform = published_sequences.samples(3, size=_SIZE, resize=20, **where)

  def features(seed=0):
    return frozen_backbone.FrozenBackbone(_net, _SIZE, seed=seed)

  def ncm(seed=0):
    return statistics_learner.StatisticsLearner(
        class_means.ClassMeans(), transform=transform, features=features(seed))

  def run(place, learner, **more):  # Without offline phases, which take the same features.
    return _run(tmp_path / place, learner, published_sequences.sequence(3, **{**where, **more}),
                update=update_strategies.Never())

  plain = run("plain", ncm(), cache=None)
  first = run("first", ncm())
  assert first == plain
  store, = pathlib.Path(where["cache"], "features").glob("codes_*.npy")
  assert np.load(store).shape == (40, 8)
  calls.clear()
  second = run("second", ncm())
  assert second == plain and 40 not in calls
  head = gradient.GradientLearner(
      transform=transform, net=trainable_parts.HeadOnly(features()), train_on="all", epochs=1,
      head=class_heads.Given(where["folder"], published_sequences.columns(
          3, folder=where["folder"])), batch_size=8, learning_rate=0.01)
  run("head", head)
  assert 40 not in calls
  run("other", ncm(seed=1))
  assert 40 in calls  # Other weights have other features.


def test_the_classifiers_columns_begin_the_head(where):
  columns = published_sequences.columns(3, folder=where["folder"])
  head = class_heads.Given(where["folder"], columns)
  model = head.make(8, 8, is_input=True)
  head.attach(model, 8)
  head.set_start()
  kernel, bias = encoder_file.classifier(where["folder"])
  np.testing.assert_array_equal(head.kernel.numpy()[:, :3], kernel[:, columns[:3]])
  np.testing.assert_array_equal(head.bias.numpy()[:3], bias[columns[:3]])
  assert not head.kernel.numpy()[:, 3:].any()
  with pytest.raises(ValueError, match="columns for 8 classes and a classifier of 8 fea"):
    head.attach(head.make(8, 9, is_input=True), 9)
  with pytest.raises(ValueError, match="has 0 to 12; .* has outputs 0 to 11"):
    class_heads.Given(where["folder"], [0, 12])


def test_base_classes_are_given_or_known_not_both(where, tmp_path):
  sequence = published_sequences.sequence(3, **where)
  learner = statistics_learner.StatisticsLearner(
      class_means.ClassMeans(), transform=image_ops.Plain(2))
  with pytest.raises(ValueError, match="Give one of the two"):
    _run(tmp_path, learner, sequence, base=object())


def test_samples_without_images_are_left_out_and_named(tmp_path, monkeypatch):
  monkeypatch.setattr(published_plans, "NUM_CLASSES", 8)
  names, _ = published_fluid.write(tmp_path / "a", num_base=3, per_class=3)
  gone = [name for name in names if name.startswith(names[0][:9])]  # A class, and one of another.
  gone.append(next(name for name in names if name[:9] != names[0][:9]))
  pictures = {name: (tmp_path / "a" / name[:9] / name).read_bytes() for name in gone}
  for name in gone:
    (tmp_path / "a" / name[:9] / name).unlink()
  where = {"folder": str(tmp_path / "a"), "on_missing": "leave_out"}
  with pytest.raises(image_places.MissingImagesError, match="4 of the 24 images .*'leave_out'"):
    published_sequences.sequence(3, folder=where["folder"])

  def run(place, sequence, transform):
    return _run(tmp_path / place, statistics_learner.StatisticsLearner(
        class_means.ClassMeans(), transform=transform), sequence)

  published_sequences._found.cache_clear()
  transform = published_sequences.samples(3, size=_SIZE, resize=20, **where)
  summary, found = run("disk", published_sequences.sequence(3, **where), transform)
  there = np.array([name not in gone for name in names])
  planned = published_plans.read(3, tmp_path / "a").planned
  images = transform.evaluate(np.arange(20)).numpy()
  expected, records_of_those = run("memory", sequences.Sequence(
      images, planned.labels[there], planned.ids[there].tolist(), 3, 8), image_ops.AsStored(_SIZE))
  by_class = image_places.by_class(gone)
  assert found[0].pop("left_out_samples") == by_class
  assert [record.pop("left_out") for record in found] == [4] * len(found)
  assert summary.pop("left_out") == 4
  assert summary.pop("left_out_by_class") == {name: len(of) for name, of in by_class.items()}
  assert (summary, found) == (expected, records_of_those)
  for name, data in pictures.items():  # A run does not go on with other samples.
    (tmp_path / "a" / name[:9] / name).write_bytes(data)
  published_sequences._found.cache_clear()
  with pytest.raises(ValueError, match="began with 4 samples left out.*now there are 0, or others"):
    run("disk", published_sequences.sequence(3, **where), transform)
