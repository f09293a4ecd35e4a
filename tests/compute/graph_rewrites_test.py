# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A graph large enough for TensorFlow to rewrite its sums can be called more than once."""

import threading
import types

import numpy as np
import tensorflow as tf

from suite.compute import distribution
from suite.compute import private_tensorflow
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.episodes import task_types
from suite.data.images import image_ops
from suite.learners import embedded_maml
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules


def _graphs(setting):
  """MAML++ high-end in full size: a task of several sets is large enough."""
  learner = embedded_maml.EmbeddedMaml(
      embedding.Embedding(dense_attention.DenseAttention()), dense_attention.AttentionHead(),
      inner=inner_loop.InnerLoop(
          steps=1, num_support_sets=setting.num_support_sets, transductive=True),
      joint_norms=True, transform=image_ops.AsStored(28), channels=1,
      training=meta_schedules.MetaTraining())
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, setting.num_labels),
                types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(0)))
  return episode_graphs.Graphs(learner, setting.num_labels)


def test_a_large_meta_update_can_be_repeated():
  setting = task_types.Setting(way=5, shot=1, targets=5, num_support_sets=5)
  images = np.random.default_rng(0).integers(0, 256, (25 * 6, 28, 28, 1), dtype=np.uint8)
  batch = next(iter(episodes.Episodes(images, np.repeat(np.arange(25), 6), setting).batches(1)))
  graphs = _graphs(setting)
  losses = [float(graphs.update(batch)) for _ in range(3)]
  assert np.isfinite(losses).all() and losses[2] < losses[0]


def test_it_holds_for_the_thread_that_asked_and_may_be_asked_again():
  found = {}

  def look(name, asks):
    for _ in range(asks):
      private_tensorflow.without_temporary_variables()
    options = private_tensorflow.call_options()
    config = tf.compat.v1.ConfigProto.FromString(options.config_proto_serialized)
    rewrites = config.graph_options.rewrite_options
    found[name] = rewrites.memory_optimization == rewrites.NO_MEM_OPT

  for asks in (0, 1, 2):
    thread = threading.Thread(target=look, args=(asks, asks))
    thread.start()
    thread.join()
  assert found == {0: False, 1: True, 2: True}
