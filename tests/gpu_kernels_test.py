# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""No training step has an op without a GPU kernel: none would wait for the host. No GPU is needed.

TensorFlow registers its GPU kernels wherever it is built with them.
"""

from __future__ import annotations

import types

import host_ops
import numpy as np
import pytest
import tensorflow as tf

from suite.compute import byte_rows
from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.images import clear_transform
from suite.data.images import image_ops
from suite.data.images import packed_images
from suite.learners import maml
from suite.learners import protonet
from suite.models import conv4
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.models.episodic import proto_conv4
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.gradient import array_loop
from suite.training.gradient import network
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.multitask import auxiliary
from suite.training.objectives import er_ace
from suite.training.objectives import objective

SIZE, BATCH = 8, 4

pytestmark = pytest.mark.skipif(
    not host_ops.has_gpu_kernels(), reason="this TensorFlow was built without GPU kernels")


def _backbone():
  return conv4.conv4(image_shape=(SIZE, SIZE, 3), filters=2, blocks=1)


@pytest.mark.parametrize("groups", [0, 2])
def test_a_step_of_nevis_with_groups_of_auxiliary_images(groups):
  made = network.Network(
      lambda image_shape: conv4.conv4(image_shape=image_shape, filters=2, blocks=1),
      image_size=SIZE, kind=tasks.SINGLE_LABEL, num_classes=3, momentum=0.9, weight_decay=1e-4,
      distribution=distribution.build())
  spec = {"image": tf.TensorSpec([BATCH, SIZE, SIZE, 3], tf.uint8),
          "label": tf.TensorSpec([BATCH], tf.int64), "mask": tf.TensorSpec([BATCH], tf.bool)}
  loop = made.loop
  if groups:
    loop = made.loop_of(auxiliary.Shape(num_classes=5, groups=groups, batch_size=2))
    spec["auxiliary"] = {"image": tf.TensorSpec([groups, 2, SIZE, SIZE, 3], tf.uint8),
                         "label": tf.TensorSpec([groups, 2, 5], tf.uint8),
                         "mask": tf.TensorSpec([groups, 2], tf.bool)}
  assert host_ops.find(loop.step.get_concrete_function(spec)) == {}


def test_crops_of_packed_images():
  store = packed_images.PackedStore(tf.zeros([999], tf.uint8), np.zeros([2], np.int64),
                                    np.full([2, 2], 5, np.int32))
  crop = packed_images.ResidentPixels(store, image_ops.Nevis(SIZE), "CPU:0")
  spec = {"place": tf.TensorSpec([BATCH], tf.int64), "seed": tf.TensorSpec([BATCH], tf.uint64)}
  assert host_ops.find(tf.function(crop, autograph=False).get_concrete_function(spec)) == {}


@pytest.mark.parametrize("transform", [image_ops.Nevis(SIZE), clear_transform.Clear(SIZE)])
def test_the_loop_of_clear_and_fluid(transform, monkeypatch):
  monkeypatch.setattr(byte_rows, "_on_gpu", lambda: True)
  storage = image_ops.of(transform)
  model = tf.keras.Sequential([_backbone(), tf.keras.layers.Dense(3)])
  step = train_step.TrainStep(model, objective=er_ace.ErAce(),
                              optimizer=optimizers.Sgd(model.trainable_variables))
  loop = array_loop.ArrayLoop(step, augment=storage.train, replay_batch=2)
  given = objective.Data(
      tf.zeros([9, *storage.shape], tf.uint8), tf.zeros([9], tf.int64), tf.zeros([5], tf.int64),
      tf.zeros([5, 0]))
  plan = array_loop.PhaseRows(9, 1.0, BATCH, (0, 1), held=5, replay_batch=2, replay_order=(2, 3))
  part = next(plan.parts())
  loop.train(given, part, np.zeros([part.num_steps], np.float32))
  graph, = loop._graphs.values()
  assert host_ops.find(graph) == {}


@pytest.mark.parametrize("name, batching", [
    ("protonet", "loop"), ("maml", "loop"), ("maml", "grouped")])
def test_a_meta_update(name, batching):
  transform = types.SimpleNamespace(size=SIZE)
  if name == "protonet":
    learner = protonet.ProtoNet(
        embedding.Embedding(proto_conv4.ProtoConv4(filters=2, blocks=1)), transform=transform)
  else:
    learner = maml.Maml(functional_conv4.Conv4(filters=2, blocks=1),
                        inner=inner_loop.InnerLoop(steps=1), transform=transform,
                        training=maml.meta_schedules.MetaTraining())
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, 2), types.SimpleNamespace(
      distribution=distribution.build(), seeds=seeds.Seeds(0), delivery="episodes"))
  graphs = episode_graphs.Graphs(learner, 2, batching=batching)
  image = (SIZE, SIZE, 3)
  spec = episodes.Episode(*(tf.TensorSpec(shape, dtype) for shape, dtype in (
      ((2, 1, 2, *image), tf.uint8), ((2, 1, 2), tf.int64), ((2, 4, *image), tf.uint8),
      ((2, 4), tf.int64))))
  assert host_ops.find(graphs.update.get_concrete_function(spec)) == {}


@pytest.mark.parametrize("transform", [image_ops.Nevis(SIZE), clear_transform.Clear(SIZE)])
def test_images_are_the_same_either_way(transform, monkeypatch):
  storage = image_ops.of(transform)
  rng = np.random.default_rng(0)
  rows = storage.store(tf.constant(rng.integers(0, 256, [5, 13, 17, 3]).astype(np.uint8)))
  row_seeds = tf.constant(rng.integers(0, 2**62, 5).astype(np.uint64))
  wanted = storage.train(rows, row_seeds)
  monkeypatch.setattr(byte_rows, "_on_gpu", lambda: True)
  found = storage.train(rows, row_seeds)
  assert found.dtype == wanted.dtype == tf.uint8
  np.testing.assert_array_equal(found, wanted)


def test_what_has_no_kernel_is_found():
  graph = tf.function(lambda rows, places: tf.gather(rows, places)).get_concrete_function(
      tf.TensorSpec([None, 4], tf.uint8), tf.TensorSpec([2], tf.int64))
  assert host_ops.find(graph) == {"GatherV2 int32, int64, uint8": 1}
