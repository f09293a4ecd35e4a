# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TensorFlow does not rewrite the sums of large graphs, which could then be called only once."""

import threading

import tensorflow as tf

from suite.compute import private_tensorflow
from suite.contracts import learner as learner_lib
from suite.training.episodic import episode_graphs


def test_it_holds_for_the_thread_that_asked_and_may_be_asked_again():
  found = {}

  def look(name, ask, asks):
    for _ in range(asks):
      ask()
    options = private_tensorflow.call_options()
    config = tf.compat.v1.ConfigProto.FromString(options.config_proto_serialized)
    rewrites = config.graph_options.rewrite_options
    found[name] = rewrites.memory_optimization == rewrites.NO_MEM_OPT

  def graphs_of_episodes():  # Their gradients of loops over many sets are large.
    episode_graphs.Graphs(learner_lib.EpisodicLearner(), 2)

  ask = private_tensorflow.without_temporary_variables
  for name, *asked in ((0, ask, 0), (1, ask, 1), (2, ask, 2), ("graphs", graphs_of_episodes, 1)):
    thread = threading.Thread(target=look, args=(name, *asked))
    thread.start()
    thread.join()
  assert found == {0: False, 1: True, 2: True, "graphs": True}
