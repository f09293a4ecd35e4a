# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Maps of tf.data pipelines that are traced once for all data sets of one form.

The options of all pipelines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import Any

import tensorflow as tf

from suite.compute import private_tensorflow
from suite.compute import user_code

_KEPT = 64


def mapped(dataset: tf.data.Dataset, function: Callable[..., Any], *,
           static: Sequence[Any] = (), tensors: Sequence[Any] = ()) -> tf.data.Dataset:
  """`dataset.map(lambda element: function(*static, element, *tensors))`, in parallel.

  `Dataset.map` traces its function again for each data set, which takes longer than to read a small
  one. Here the graph gets the tensors as arguments, so that it is one for all data sets whose
  function, static arguments, types and shapes (but for the first dimension of tensors) are equal.

  Args:
    dataset: of tensors in any nest.
    function: of a module, so that it is the same object each time. It gets an element whole.
    static: what the graph depends on, hashable.
    tensors: what it reads; tensors and numbers of NumPy in nests of tuples.

  Returns:
    A data set of what the function returns, tensors in any nest; in fixed order.
  """
  with tf.device("CPU:0"):
    tensors = tf.nest.map_structure(tf.convert_to_tensor, tuple(tensors))
  traced, structure = _traced(function, tuple(static), dataset.element_spec,
                              tf.nest.map_structure(_any_length, tensors))
  specs = tf.nest.flatten(structure)
  variant = tf.raw_ops.ParallelMapDatasetV2(
      input_dataset=tf.data.experimental.to_variant(dataset),
      other_arguments=[*tf.nest.flatten(tensors), *traced.captured_inputs],
      num_parallel_calls=tf.constant(tf.data.AUTOTUNE, tf.int64), f=traced,
      output_types=[spec.dtype for spec in specs], output_shapes=[spec.shape for spec in specs],
      deterministic="true", preserve_cardinality=True)
  made = tf.data.experimental.from_variant(variant, structure)
  made.traced = traced  # TensorFlow knows a graph by its name only; it lives as long as this.
  return with_fixed_order(made)


@functools.lru_cache(maxsize=_KEPT)
def _traced(function: Callable[..., Any], static: tuple[Any, ...], element: Any,
            tensors: tuple[Any, ...]) -> tuple[Any, Any]:
  """The graph, and the form of its results."""
  with tf.init_scope(), private_tensorflow.plain_data_functions():
    traced = tf.function(
        lambda *values: function(*static, *values), input_signature=(element, *tensors),
        autograph=user_code.is_reached(function, *static),
        experimental_attributes=private_tensorflow.DATA_FUNCTION).get_concrete_function()
  return traced, tf.nest.map_structure(
      lambda result: tf.TensorSpec(result.shape, result.dtype), traced.structured_outputs)


def _any_length(tensor: tf.Tensor) -> tf.TensorSpec:
  shape = tensor.shape if tensor.shape.rank == 0 else [None, *tensor.shape[1:]]
  return tf.TensorSpec(shape, tensor.dtype)


def with_fixed_order(dataset: tf.data.Dataset) -> tf.data.Dataset:
  """The data set, deterministic and not sharded by tf.distribute: plans do the sharding.

  Nothing rewrites or tunes it, so that it is quick to begin and to end.
  """
  options = tf.data.Options()
  options.deterministic = True
  # Rewriting a pipeline makes it slower to begin, and nothing is gained: batches are made by one
  # parallel map, so there is nothing to fuse.
  options.experimental_optimization.apply_default_optimizations = False
  # The thread that tunes a pipeline sleeps 0.01 s, 0.02 s, 0.04 s and so on, and often misses that
  # the pipeline ends: letting go of it then takes up to as long as it was used. What it tunes is
  # the one parallel map, which without it uses all threads, as it should.
  options.autotune.enabled = False
  options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
  return dataset.with_options(options)
