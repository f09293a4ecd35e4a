# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pretraining on small pictures: resumed bit for bit, blind to labels, better than no training."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil

import numpy as np
import pytest
import record_keys
from sklearn import linear_model
import stopped_runs
import tensorflow as tf

import suite
from suite.compute import distribution
from suite.compute import seeds
from suite.data.images import contrastive_views
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import pretrainer
from suite.models import conv4
from suite.protocols import pretrain
from suite.state import encoder_file
from suite.state import weight_store
from suite.training.pretraining import pretexts

SIZE, CLASSES, BATCH = 12, 4, 32
# A mirror would turn one class into another, and a colour tells an image from all others.
VIEW = contrastive_views.AugPlus(SIZE, area=(0.6, 1.0), blur_probability=0.0,
                                 flip_probability=0.0, gray_probability=1.0)
MOCO = functools.partial(
    pretexts.Moco, queue_size=128, dim=16, temperature=0.2, momentum=0.99, norm_groups=2)


def net(image_shape):
  """A convolution; means over all places know the orientation of a wave once it is trained."""
  images = tf.keras.Input(image_shape)
  features = tf.keras.layers.Rescaling(1 / 127.5, offset=-1)(images)
  features = tf.keras.layers.Conv2D(8, 4, padding="same", use_bias=False)(features)
  features = tf.keras.layers.BatchNormalization(momentum=0.9)(features)
  features = tf.keras.layers.Activation("relu")(features)
  return tf.keras.Model(images, tf.keras.layers.GlobalAveragePooling2D()(features))


SMALL = functools.partial(conv4.conv4, filters=4, blocks=1)  # Where nobody asks what it learns.


def _pictures(num, seed):
  """Four textures of random colours and phases."""
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, CLASSES, num)
  y, x = np.mgrid[:SIZE, :SIZE]
  waves = [x, y, x + y, x - y]
  images = np.zeros([num, SIZE, SIZE, 3])
  for i, label in enumerate(labels):
    wave = np.sin(waves[label] * 2 * np.pi / 4 + rng.uniform(0, 2 * np.pi))
    ink, paper = rng.uniform(0, 255, [2, 3])
    images[i] = np.where(wave[..., None] > 0, ink, paper) + rng.normal(0, 10, [SIZE, SIZE, 3])
  return np.clip(images, 0, 255).astype(np.uint8), labels


IMAGES, LABELS = _pictures(256, 0)


def _set(labels=LABELS, kind="single_label"):
  return image_set.ImageSet.from_arrays(
      "textures", IMAGES, labels, kind=kind, num_classes=CLASSES)


def _learner(pretext=MOCO, **arguments):
  values = dict(batch_size=BATCH, learning_rate=0.05, transform=VIEW, backbone=SMALL)
  return pretrainer.Pretrainer(pretext=pretext, **{**values, **arguments})


def _run(folder, learner=None, killed=None, images=None, **arguments):
  """Runs; `killed` becomes the folder of a run whose encoder of event 1 is written, no more."""
  values = dict(updates=7, updates_per_event=3)
  with stopped_runs.state(folder) as state:
    commit = state.commit

    def copying(*arguments):
      if state.done == 1 and killed is not None:
        shutil.copytree(folder, killed)
      commit(*arguments)

    state.commit = copying
    return pretrain.run(learner or _learner(), state=state, images=images or _set(),
                        **{**values, **arguments})


def _everything(learner):
  return {v.name + str(i): v.numpy() for i, v in enumerate([
      *learner.pretext.model.variables, *learner.pretext.key_model.variables,
      learner.pretext.queue.keys, learner.pretext.queue.place, learner.updates,
      *learner.loop.optimizer.variables])}


@pytest.fixture(name="whole", scope="module")
def _whole(tmp_path_factory):
  """The folder, the learner and the summary of a run that nothing disturbs; "killed" beside it."""
  folder, learner = tmp_path_factory.mktemp("runs") / "whole", _learner()
  learn = learner.learn

  def spying(portion, context):
    learner.seen = portion.images
    return learn(portion, context)

  learner.learn = spying
  return folder, learner, _run(folder, learner, killed=folder.parent / "killed")


def test_killed_and_resumed_is_the_same_bit_for_bit(whole):
  folder, learner, summary = whole
  killed, resumed = folder.parent / "killed", _learner()
  assert len(stopped_runs.records(killed)) == 1
  assert _run(killed, resumed) == summary
  assert stopped_runs.records(killed) == stopped_runs.records(folder)
  assert [r["updates"] for r in stopped_runs.records(folder)] == [3, 6, 7]
  assert not record_keys.unknown(stopped_runs.records(folder))
  wanted, found = _everything(learner), _everything(resumed)
  for name, value in wanted.items():
    np.testing.assert_array_equal(found[name], value, err_msg=name)
  weights = [encoder_file.load(path).weights for path in (folder, killed)]
  for one, other in zip(*weights):
    np.testing.assert_array_equal(one, other)
  assert summary["steps_pretrain"] == 7 and summary["flops_pretrain"] > 0
  assert summary["examples_pretrain"] == 7 * BATCH


def test_labels_never_reach_a_learner_that_is_not_to_have_them(whole):
  images = whole[1].seen
  assert not hasattr(images, "labels") and not hasattr(images, "ids")
  batch = next(iter(images.train_batches(4, seed=(0, 0), transform=image_ops.Plain(SIZE))))
  assert sorted(batch) == ["image", "mask"]


def test_byol_saves_its_predictor_and_its_target_and_trains_all_but_the_target():
  """A resumed run reads the saved variables, which the test of a killed run shows."""
  pretext = pretexts.Byol(dim=8, hidden=16)
  pretext.build(functools.partial(SMALL, (SIZE, SIZE, 3)), num_classes=CLASSES, batch_size=BATCH,
                distribution=distribution.build(), seeds=seeds.Seeds(0))
  saved = {id(variable) for variable in pretext.variables}
  for model in (pretext.model, pretext.predictor, pretext.target):
    assert {id(variable) for variable in model.variables} <= saved
  trained = [*pretext.model.trainable_variables, *pretext.predictor.trainable_variables]
  assert {id(v) for v in pretext.variables_to_train} == {id(v) for v in trained}


def _probe(model):
  """Test accuracy of a linear classifier on the features of 256 pictures."""
  images, labels = _pictures(400, 1)
  features, tested = (model(x.astype(np.float32), training=False).numpy() for x in (IMAGES, images))
  scale = features.std(axis=0) + 1e-6
  classifier = linear_model.LogisticRegression(max_iter=2000).fit(features / scale, LABELS)
  return classifier.score(tested / scale, labels)


def _random_encoder():
  tf.keras.utils.set_random_seed(1)
  return net((SIZE, SIZE, 3))


@functools.cache
def _probe_at_random():
  return _probe(_random_encoder())


def test_contrast_beats_random_features(tmp_path):
  pretext = functools.partial(pretexts.SimClr, dim=16)
  summary = _run(tmp_path, _learner(pretext, learning_rate=0.1, backbone=net), updates=90,
                 updates_per_event=30)
  losses = [r["train_loss"] for r in stopped_runs.records(tmp_path)]
  assert losses[-1] < losses[1] - 0.02 and summary["last_loss"] == losses[-1]
  trained, at_random = _probe(encoder_file.load(tmp_path).model()), _probe_at_random()
  assert trained > at_random + 0.15, (trained, at_random)


@pytest.fixture(name="supervised", scope="module")
def _supervised(tmp_path_factory):
  """The folder of a run by labels with images held out, its summary and the images of its parts."""
  folder, seen = tmp_path_factory.mktemp("supervised"), []
  learner = _learner(pretexts.Supervised, backbone=net)
  learn = learner.learn
  learner.learn = lambda portion, context: seen.append(portion.images) or learn(portion, context)
  summary = _run(folder, learner, labelled=True, updates=60, updates_per_event=30, knn_share=0.25,
                 knn=3)
  return folder, summary, seen


def test_labels_train_an_encoder_that_a_learner_can_start_from(supervised):
  folder, *_ = supervised
  losses = [r["train_loss"] for r in stopped_runs.records(folder)]
  assert losses[1] < losses[0] < 1.5
  assert _probe(encoder_file.load(folder).model()) > _probe_at_random() + 0.15
  arrays = weight_store.read_arrays(folder / "encoder.npz")  # As AllLayers.weights reads it.
  shapes = [w.shape for w in _random_encoder().get_weights()]
  assert [arrays[key].shape for key in sorted(arrays)] == shapes


def test_bad_runs_are_said(tmp_path):
  with pytest.raises(ValueError, match="'supervised' learns from labels, but 'textures, unlabell"):
    _run(tmp_path / "a", _learner(pretexts.Supervised))
  with pytest.raises(ValueError, match="The loss is (nan|inf) between updates 0 and 3; lower the"):
    _run(tmp_path / "b", _learner(pretexts.Supervised, learning_rate=1e30), labelled=True)
  assert not (tmp_path / "b" / "encoder.npz").exists()
  with pytest.raises(ValueError, match="updates=0 and updates_per_event=3; both must be at least"):
    _run(tmp_path / "c", updates=0)
  several = np.eye(CLASSES, dtype=np.uint8)[LABELS]
  for kind, options, message in (
      (_set(several, kind="multi_label"), dict(knn_share=0.2), "needs single_label images"),
      (_set(), dict(knn_share=0.2, knn=0), "k is 0; the nearest neighbors are at least 1"),
      (_set(), dict(knn_share=-0.2), "knn_share is -0.2; it is at least 0 and below 1")):
    with pytest.raises(ValueError, match=message):
      _run(tmp_path / "d", images=kind, **options)
  with pytest.raises(ValueError, match="backbone adds losses in regular .*, and a pretraining"):
    _run(tmp_path / "e", _learner(backbone=tf.keras.Sequential([
        tf.keras.layers.Flatten(input_shape=(SIZE, SIZE, 3)),
        tf.keras.layers.Dense(2, kernel_regularizer="l2", name="regular")])))
  with pytest.raises(ValueError, match="Pretrainer.batch_size is 0; it must be above 0"):
    _learner(batch_size=0)


def test_held_out_images_judge_the_encoder_and_train_nothing(supervised):
  folder, summary, seen = supervised
  records = stopped_runs.records(folder)
  rest, held_out = seen[0], _set().subset(np.flatnonzero(~np.isin(_set().ids, seen[0].ids)))
  assert rest.size + held_out.size == len(LABELS) and held_out.size == len(LABELS) // 4
  model = encoder_file.load(folder).model()
  codes, queries = (tf.math.l2_normalize(model(VIEW.evaluate(IMAGES[images.ids.astype(int)])), 1)
                    for images in (rest, held_out))
  nearest = np.argsort(-(queries @ codes.numpy().T), axis=1, kind="stable")[:, :3]
  votes = [np.argmax(np.bincount(rest.labels[near], minlength=CLASSES)) for near in nearest]
  assert records[-1]["knn_accuracy"] == np.mean(votes == held_out.labels)
  assert summary["knn_accuracy"] == records[-1]["knn_accuracy"] > 0.5
  products = rest.size * held_out.size * codes.shape[1]
  assert records[0]["macs_validate"] > products and "macs_validate" in records[1]
  assert records[0]["train_size"] == rest.size


TWO_REPLICAS = """
import functools
import pathlib
import sys
sys.path.insert(0, sys.argv[1])
from suite.compute import distribution
devices = distribution.build("mirrored", 2)
import pretrain_test as t
build = distribution.build
distribution.build = lambda name="mirrored": devices if name == "mirrored" else build(name)
learner = t._learner()
t._run(pathlib.Path(sys.argv[2]), learner)
"""


def test_two_replicas_do_what_one_device_does(whole, tmp_path, python):
  path = os.pathsep.join([str(pathlib.Path(suite.__file__).parents[1]),
                          str(pathlib.Path(stopped_runs.__file__).parent)])
  done = python.run(["-c", TWO_REPLICAS, str(pathlib.Path(__file__).parent), str(tmp_path / "two")],
                    env={**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""})
  assert done.returncode == 0, done.stderr[-3000:]
  one, two = (stopped_runs.records(folder) for folder in (whole[0], tmp_path / "two"))
  assert len(one) == len(two) == 3
  for a, b in zip(one, two):
    assert b["train_loss"] == pytest.approx(a["train_loss"], rel=1e-4)
    assert b["flops_pretrain"] == a["flops_pretrain"]
