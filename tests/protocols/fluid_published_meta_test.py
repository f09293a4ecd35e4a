# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Meta-trained learners on a published sequence, with images of the base classes beside it."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
from typing import Any

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.contracts import tasks
from suite.data.published import image_places
from suite.data.published import published_plans
from suite.data.published import published_sequences
from suite.learners import gradient
from suite.learners import meta_statistics
from suite.learners import protonet
from suite.learners import simple_cnaps
from suite.models import conv4
from suite.models.episodic import embedding
from suite.models.episodic import film
from suite.models.episodic import proto_conv4
from suite.protocols import fluid
from suite.protocols import run_state
from suite.training.episodic import base_episodes
from suite.training.episodic import fomaml
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.sequence import update_strategies
from tests.shared import published_fluid
from tfds_builders.parsers import fixtures
from tfds_builders.rows import imagenet_classes

_SIZE, _CLASSES, _BASE, _PER_CLASS = 16, 8, 3, 4
_EPISODES: Any = base_episodes.BaseEpisodes(
    way=3, shot=2, targets=2, epochs=1, updates_per_epoch=3, every=1, optimizer_name="adamw")


@pytest.fixture(name="where", scope="module")
def _where(tmp_path_factory):
  folder = tmp_path_factory.mktemp("published")
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(published_plans, "NUM_CLASSES", _CLASSES)
    published_fluid.write(folder, form="nested", num_base=_BASE, per_class=5)
    published_fluid.write_validation(folder, 3, _PER_CLASS)
    yield {"folder": str(folder), "cache": str(folder / "cache")}


def _net(image_shape):
  return conv4.conv4(image_shape, filters=4, blocks=1)


def _learner(transform, base):
  net = simple_cnaps.SimpleCnaps(
      _net, set_encoder=film.SetEncoder(proto_conv4.ProtoConv4(filters=4, blocks=1)),
      adaptation=film.AdaptationNet(), transform=transform, training=_EPISODES)
  return meta_statistics.MetaMahalanobis(
      net, episodes=_EPISODES, transform=transform, base=base, batch_size=5)


def _centroids(transform, base):
  net = protonet.ProtoNet(embedding.Embedding(proto_conv4.ProtoConv4(filters=4, blocks=1)),
                          transform=transform, training=_EPISODES)
  return meta_statistics.MetaCentroids(
      net, episodes=_EPISODES, transform=transform, base=base, batch_size=5)


def _run(folder, learner, where, stop_after=None):
  with stopped_runs.state(folder, stop_after=stop_after) as state:
    return fluid.run(learner, state=state, sequence=published_sequences.sequence(3, **where),
                     base_is_known=True, update=update_strategies.Every(15),
                     blocks=fluid.Blocks(record_every=10))


def test_images_beside_the_sequence_train_it_and_make_its_film_layers(where, tmp_path):
  transform = published_sequences.samples(3, size=_SIZE, resize=20, augments=False, **where)
  base = published_sequences.base_validation(3, **where)
  learner = _learner(transform, base)
  with stopped_runs.state(tmp_path) as state:
    learner.begin(tasks.Task("sequence", tasks.SINGLE_LABEL, _CLASSES), state.context())
    record = learner.know_base(np.arange(_CLASSES) < _BASE, state.context())
  assert (record["meta_classes"], record["meta_updates"]) == (_BASE, 3)
  assert record["film_images"] == _BASE * _PER_CLASS
  z = tf.reduce_mean(learner.net.embed(transform.evaluate(base.images)), axis=0)
  for a, b in zip(learner.statistics.film, learner.net.film(z)):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
  # Class means have no images but those of the sequence, which follow.
  assert float(tf.reduce_sum(learner.statistics.counts)) == 0


@pytest.fixture(name="held", scope="module")
def _held(where, tmp_path_factory):
  """A run of class means: transform, base, learner, summary, and its folder, "whole", in another.

  Beside it is "stopped", what a run that is killed before its fourth event leaves.
  """
  transform = published_sequences.samples(3, size=_SIZE, resize=20, augments=False, **where)
  base = published_sequences.base_validation(3, **where)
  learner, folder = _centroids(transform, base), tmp_path_factory.mktemp("held")
  commit = run_state.RunState.commit

  def copying(state, *arguments, **named):
    if state.done == 3:
      shutil.copytree(folder / "whole", folder / "stopped")
    commit(state, *arguments, **named)

  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(run_state.RunState, "commit", copying)
    summary = _run(folder / "whole", learner, where)
  return transform, base, learner, summary, folder


def test_images_beside_the_sequence_train_the_embedding_of_class_means(where, held):
  _, _, learner, whole, folder = held
  found = stopped_runs.records(folder / "whole")
  assert (found[0]["meta_classes"], found[0]["meta_updates"]) == (_BASE, 3)
  assert found[0]["train_size"] == 0 and whole["macs"] is not None
  assert bool(learner.is_trained)
  assert float(tf.reduce_sum(learner.statistics.counts)) == _CLASSES * 5
  transform = published_sequences.samples(3, size=_SIZE, resize=20, augments=False, **where)
  base = published_sequences.base_validation(3, **where)
  assert _run(folder / "stopped", _centroids(transform, base), where) == whole
  assert stopped_runs.records(folder / "stopped") == found


@pytest.mark.parametrize("make", [_learner, _centroids])
def test_without_images_of_the_base_classes_it_is_refused(where, tmp_path, make):
  transform = published_sequences.samples(3, size=_SIZE, resize=20, augments=False, **where)
  with pytest.raises(ValueError, match="the 3 base classes of the sequence come without any. Give "
                                       "it base = .*BASE_IMAGES .* or take StatisticsLearner"):
    _run(tmp_path, make(transform, None), where)


def test_images_that_are_read_when_shown_are_those_that_are_held(
    where, held, tmp_path, monkeypatch):
  transform, base, of_held, _, folder = held
  monkeypatch.setattr(base_episodes, "HELD_BYTES", 0)
  learner = _centroids(transform, base)
  with pytest.raises(stopped_runs.Stop):
    _run(tmp_path, learner, where, stop_after=1)
  assert stopped_runs.records(tmp_path) == stopped_runs.records(folder / "whole")[:1]
  for a, b in zip(learner.net.trainable_variables, of_held.net.trainable_variables):
    np.testing.assert_array_equal(a, b)


def test_training_images_of_the_base_classes_or_of_all_but_those_that_are_delivered(
    where, tmp_path):
  planned = published_plans.read(3, pathlib.Path(where["folder"])).planned
  names = published_plans.read(3, pathlib.Path(where["folder"])).names.tolist()
  base = [f"n{wnid:08d}" for wnid in planned.classes[:_BASE].tolist()]
  delivered = next(name for name in names if name.startswith(base[0]))
  pictures = {f"{wnid}_{number}.JPEG": published_fluid.picture(place, number, (40, 48))
              for place, wnid in enumerate(base) for number in (901, 902)}
  pictures[delivered] = pictures[f"{base[0]}_901.JPEG"]
  pictures["n99999999_1.JPEG"] = pictures[delivered]
  fixtures.write_archive(tmp_path / "ILSVRC2012_img_train.tar", {
      f"{wnid}.tar": fixtures.tar_bytes({
          name: data for name, data in pictures.items() if name.startswith(wnid)})
      for wnid in (*base, "n99999999")})
  training = str(tmp_path / "ILSVRC2012_img_train.tar")
  found = published_sequences.base_images(3, **where, training=training)
  expected = sorted(name for name in pictures if name != delivered and name[:9] in base)
  transform = published_sequences.samples(
      3, size=_SIZE, resize=20, augments=False, **where, training=training)
  assert [transform.reader.id_of(number) for number in found.images.tolist()] == expected
  assert found.labels.tolist() == [base.index(name[:9]) for name in expected]
  whole = transform.evaluate(found.images[-1:]).numpy()
  np.testing.assert_array_equal(whole, transform.evaluate(
      tf.io.decode_jpeg(pictures[expected[-1]], dct_method="INTEGER_ACCURATE")[None]))
  again = published_sequences._places_of_classes(  # Kept in the cache, with their names.
      sorted(base), training, where["cache"], "x", every=True)
  assert again[0] == sorted([*expected, delivered])
  with pytest.raises(image_places.MissingImagesError, match="1000 of the 1003 classes of train"):
    published_sequences.base_images(3, **where, training=training, classes="all")
  folder = tmp_path / "some" / imagenet_classes.WNIDS[1]  # One of the 1,000; not of the sequence.
  folder.mkdir(parents=True)
  (folder / f"{folder.name}_7.JPEG").write_bytes(pictures[expected[0]])
  some = published_sequences.base_images(
      3, **where, training=str(tmp_path / "some"), classes="found")
  assert some.labels.tolist() == [len(planned.classes) + 1]
  # What is meta-trained takes them, and first-order MAML learns its head of the base classes.
  learner = gradient.GradientLearner(
      transform=transform, net=trainable_parts.AllLayers(_net), train_on="all", batch_size=8,
      head=class_heads.Linear("prototypes"), base=composition.Base(0),
      optimizer=optimizers.Momentum(0.9, 1e-4, keep=True), meta=fomaml.FirstOrder(
          episodes=dataclasses.replace(_EPISODES, shot=1, targets=1), steps=1, base=found))
  with pytest.raises(stopped_runs.Stop):
    _run(tmp_path / "run", learner, where, stop_after=1)
  first = stopped_runs.records(tmp_path / "run")[0]
  assert (first["meta_classes"], first["meta_updates"], first["base_classes"]) == (_BASE, 3, _BASE)


def test_first_order_maml_without_images_beside_the_sequence_is_refused(where, tmp_path):
  transform = published_sequences.samples(3, size=_SIZE, resize=20, augments=False, **where)
  learner = gradient.GradientLearner(
      transform=transform, net=trainable_parts.AllLayers(_net), head=class_heads.Linear("zeros"),
      meta=fomaml.FirstOrder(episodes=_EPISODES, steps=1))
  with pytest.raises(ValueError, match="the 3 base classes .* come without any. Give it base = "):
    _run(tmp_path, learner, where)
