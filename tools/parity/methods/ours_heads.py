# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the suite's learners of episodes, imprinted weights and OLTR's memory make of features."""

from __future__ import annotations

import types

import method_fixtures
import numpy as np
import ours_statistics
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.learners import oltr as oltr_lib
from suite.learners import protonet
from suite.learners import weight_imprinting
from suite.models.episodic import embedding

Arrays = method_fixtures.Arrays


def _pixels(image_shape: tuple[int, ...]) -> tf.keras.Model:
  return tf.keras.Sequential([tf.keras.Input(image_shape), tf.keras.layers.Flatten()])


def _episode(arrays: Arrays, **settings: object) -> Arrays:
  """Features are images [1, 1, D]."""
  way, shot, width = arrays["support"].shape[:3]
  learner = protonet.ProtoNet(embedding.KerasEmbedding(_pixels), transform=image_ops.Plain(1),
                              channels=width, **settings)
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(0))
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, way), context)
  support, queries = (learner.encode(tf.constant(arrays[name].reshape(-1, 1, 1, width)))
                      for name in ("support", "test"))
  state = learner.adapt(learner.initial_state(way), support,
                        tf.constant(np.repeat(np.arange(way), shot)))
  logits = learner.logits(state, queries).numpy()
  return {"answers": np.argmax(logits, axis=1).astype(np.int16), "logits": logits[:50]}


def meta_baseline(arrays: Arrays) -> Arrays:
  return _episode(arrays, similarity="cosine", scale=10.0)


def proto_net(arrays: Arrays) -> Arrays:
  return _episode(arrays, similarity="euclidean")


def imprinting(arrays: Arrays) -> Arrays:
  """The scale of logits is left out: 4 at first, as FLUID's paper has it."""
  width = arrays["train"].shape[1]
  learner = weight_imprinting.WeightImprinting(transform=feature_set.Features(width), scale=4.0)
  logits = ours_statistics.phases(learner, arrays)
  return {"answers": logits["answers"][0], "cosines": logits["logits"] / 4.0}


def oltr(arrays: Arrays) -> Arrays:
  num, width = arrays["centroids"].shape
  memory = oltr_lib.MetaEmbedding(num)
  memory.build([None, width])
  for name in ("hallucinator_kernel", "hallucinator_bias", "selector_kernel", "selector_bias",
               "cosine_kernel", "centroids"):
    getattr(memory, name).assign(arrays[name])
  memory.present.assign(tf.ones([num], tf.bool))
  features, labels = tf.constant(arrays["test"]), tf.constant(arrays["test_labels"])
  with tf.GradientTape() as tape:
    tape.watch(features)
    repel = tf.maximum(0.0, 10.0 - oltr_lib.mean_distance(
        features, labels, memory.centroids, memory.present))
    loss = oltr_lib.attraction(features, labels, memory.centroids, labels) + 0.01 * repel
  by_features, by_centroids = tape.gradient(loss, [features, memory.centroids])
  logits = memory(features).numpy()
  return {"answers": np.argmax(logits, axis=1).astype(np.int16), "logits": logits[:50],
          "loss": loss.numpy(), "gradient by features": by_features[:50].numpy(),
          "gradient by centroids": by_centroids.numpy()}
