# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A Keras model called with tensors in place of its trainable variables.

An inner loop adapts weights without assigning them: many episodes run side by side, and meta-
gradients pass through the adapted weights. While the model is traced, each attribute of a layer
that is a trainable variable is replaced by a tensor, and put back. This works for functional,
Sequential and subclassed models alike.

Norms: a `BatchNormalization` that is trainable calls `normalize`, which the learner gives; it
neither reads nor writes running statistics, and its scale and offset are no weights. A
`LayerNormalization` is computed by plain ops, and so is `tf.nn.moments`, by which the norms of
Keras 3 and layers of users normalize: it has wrong second derivatives.

A Keras 3 model in the model, see `keras3.HeldModel`, reads its weights from a list, in which the
tensors stand, and its norms are taken over one by one like those of tf.keras.

Refused, with the names of the layers: what draws random numbers, what assigns variables, what reads
variables that cannot be replaced. A call of such a layer would depend on the calls before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
import functools
import math
import sys
from typing import Any

import tensorflow as tf

from suite.models import keras3
from suite.models.own import own_model

# normalize(number of the norm, x [B, H, W, F], epsilon) -> [B, H, W, F]
Normalize = Callable[[int, tf.Tensor, float], tf.Tensor]

# Lists in which Keras keeps all weights of a layer, beside the attributes that `call` reads.
_BOOKKEEPING = ("_trainable_weights", "_non_trainable_weights", "_obj_reference_counts_dict",
                "_self_tracked_trackables", "_self_unconditional_checkpoint_dependencies",
                "_self_unconditional_dependency_names", "_inbound_nodes_value", "_losses",
                "_outbound_nodes_value", "_undeduplicated_weights", "_captured_weights")
_STATEFUL = ("Random", "StatefulUniform", "StatefulStandardNormal", "StatefulRandom", "Multinomial",
             "Assign", "Scatter", "RngReadAndSkip", "RngSkip", "PyFunc", "EagerPyFunc")
_RESOURCES = ("ResourceScatter", "ResourceApply")


# Where Keras and layers of users find `tf.nn.moments` when they are called.
_MODULES_OF_MOMENTS = list({id(m): m for m in (
    tf.nn, sys.modules.get("tensorflow._api.v2.compat.v2.nn", tf.nn))}.values())


class FunctionalCall:
  """A model as a function of its weights.

  Args:
    model: built, with one input of known shape; it keeps its variables, which are never assigned.
    owner: the argument it was given as, for messages.

  Attributes:
    model: as given.
    names: of the weights, "000/kernel", ..., in the order of the model's variables.
    norms: trainable `BatchNormalization` layers, or `keras3.HeldNorm`s, in the order in which they
      are called.
  """

  def __init__(self, model: tf.keras.Model, *, owner: str = "the model"):
    self.model, self._owner = model, owner
    layers = [m for m in model.submodules if isinstance(m, tf.keras.layers.Layer)]
    self.norms: list[Any] = [m for m in layers if isinstance(m, tf.keras.layers.BatchNormalization)
                             and m.trainable]
    self._layer_norms = [m for m in layers if isinstance(m, tf.keras.layers.LayerNormalization)]
    self._held = keras3.held_in(model)
    self.norms += [norm for held in self._held for norm in held.norms()]
    renormed = [norm.name for norm in self.norms if getattr(norm, "renorm", False)]
    if renormed:
      raise ValueError(f"{owner}, {model.name!r}, has a BatchNormalization of Keras 3 with renorm, "
                       f"{renormed[0]}, whose statistics depend on all batches before. Leave "
                       "renorm out.")
    of_norms = {id(v) for layer in self.norms for v in layer.weights}
    self._weights = [v for v in model.trainable_variables if id(v) not in of_norms]
    names = {id(v): f"{i:03d}/{v.name.split('/')[-1].split(':')[0]}"
             for i, v in enumerate(self._weights)}
    self.names = tuple(names.values())
    self._slots = [(vars(layer), key, _template(value, names), layer.compute_dtype)
                   for layer in layers for key, value in list(vars(layer).items())
                   if key not in _BOOKKEEPING and _holds(value, names)]
    self._check()

  def __call__(self, weights: Mapping[str, tf.Tensor], x: tf.Tensor, normalize: Normalize
               ) -> tf.Tensor:
    """The model's output for x [B, ...] with these weights, as in training."""
    with self._replaced(weights, normalize):
      return self.model(x, training=True)

  def places(self) -> list[int]:
    """The places of the weights `names` in the model's list of all weights."""
    every = [id(v) for v in self.model.weights]
    return [every.index(id(v)) for v in self._weights]

  @contextlib.contextmanager
  def _replaced(self, weights: Mapping[str, tf.Tensor], normalize: Normalize) -> Iterator[None]:
    before: list[tuple[dict[str, Any], str, Any]] = []
    added: list[dict[str, Any]] = []
    try:
      for holder, key, template, dtype in self._slots:
        before.append((holder, key, holder[key]))
        holder[key] = _filled(template, weights, dtype)
      for number, layer in enumerate(self.norms):
        called = vars(getattr(layer, "layer", layer))  # Of Keras 3: what the norm stands for.
        called["call"] = functools.partial(_normalized, layer, number, normalize)
        added.append(called)
      for layer in self._layer_norms:
        vars(layer)["call"] = functools.partial(_layer_normalized, layer)
        added.append(vars(layer))
      for held in self._held:
        before.append((held.__dict__, "is_functional", False))
        held.__dict__["is_functional"] = True
      for module in _MODULES_OF_MOMENTS:
        before.append((vars(module), "moments", vars(module)["moments"]))
        vars(module)["moments"] = moments
      yield
    finally:
      for holder, key, value in before:
        holder[key] = value
      for holder in added:
        del holder["call"]

  def _check(self) -> None:
    """Traces the call once: puts the norms in order, and refuses what cannot be called twice."""
    called: list[int] = []

    def normalize(number: int, x: tf.Tensor, epsilon: float) -> tf.Tensor:
      del epsilon
      called.append(number)
      return x

    def trace(weights: dict[str, tf.Tensor], x: tf.Tensor) -> tf.Tensor:
      return self(weights, x, normalize)

    shape = self.model.input_shape[1:]
    specs = {name: tf.TensorSpec(v.shape, v.dtype) for name, v in zip(self.names, self._weights)}
    try:
      graph = tf.function(trace, autograph=False).get_concrete_function(
          specs, tf.TensorSpec([2, *shape], self.model.inputs[0].dtype)).graph
    except (AttributeError, TypeError, NotImplementedError) as error:
      raise ValueError(
          f"{self._owner}, {self.model.name!r}, cannot be called with tensors in place of its "
          f"variables ({type(error).__name__}: {error}). Take layers that only read their weights "
          "in call.") from error
    ops = list(graph.get_operations())
    # The graphs of the functions that a graph calls.
    found = getattr(graph, "_functions", {})
    for function in [fn.graph for fn in found.values() if hasattr(fn, "graph")]:
      ops += function.get_operations()
    bad = [op.name for op in ops if op.type.startswith((*_STATEFUL, *_RESOURCES))]
    of_keras_3 = [f"{name} (of Keras 3)" for held in self._held for name in held.unrepeatable]
    if bad or of_keras_3:
      names = [*of_keras_3, *own_model.layers_of(self.model, bad)] or bad[:1]
      raise ValueError(
          f"{self._owner}, {self.model.name!r}, has layers that cannot be called twice with the "
          f"same result: {', '.join(names)}. They draw "
          "random numbers or assign variables in their call, which side by side episodes and a "
          "second derivative do not allow. Leave them out (a Dropout of rate 0 draws nothing), or "
          "take a learner that trains by single steps, such as method='finetune'.")
    replaced = {id(handle): v.name for v in self._weights for handle in own_model.handles(v)}
    kept = [replaced[id(external)] for external, _ in graph.captures if id(external) in replaced]
    if kept:
      raise ValueError(
          f"{self._owner}, {self.model.name!r}, reads {', '.join(kept)} in a way that no tensor "
          "can stand in for. Keep each variable in one attribute of its layer, made by add_weight.")
    twice = [self.norms[i].name for i in set(called) if called.count(i) > 1]
    unused = [layer.name for i, layer in enumerate(self.norms) if i not in called]
    if twice or unused:
      raise ValueError(
          f"{self._owner}, {self.model.name!r}: {', '.join(twice or unused)} is called "
          f"{'several times' if twice else 'never'} in one pass; each BatchNormalization must be "
          "called once, since each has statistics of one place. Use separate layers.")
    self.norms = [self.norms[i] for i in called]


def _holds(value: Any, names: Mapping[int, str]) -> bool:
  if isinstance(value, tf.Variable):
    return id(value) in names
  if isinstance(value, Mapping):
    return any(_holds(v, names) for v in value.values())
  if isinstance(value, (list, tuple)):
    return any(_holds(v, names) for v in value)
  return False


class _Name(str):
  """A weight's name, in a template."""


def _template(value: Any, names: Mapping[int, str]) -> Any:
  if isinstance(value, tf.Variable):
    return _Name(names[id(value)]) if id(value) in names else value
  if isinstance(value, Mapping):
    return {key: _template(v, names) for key, v in value.items()}
  if isinstance(value, (list, tuple)):
    return [_template(v, names) for v in value]
  return value


def _filled(template: Any, weights: Mapping[str, tf.Tensor], dtype: Any) -> Any:
  """The structure with tensors in place of names; in the layer's type, under mixed precision."""
  if isinstance(template, _Name):
    return tf.cast(weights[template], dtype) if dtype else weights[template]
  if isinstance(template, dict):
    return {key: _filled(value, weights, dtype) for key, value in template.items()}
  if isinstance(template, list):
    return [_filled(value, weights, dtype) for value in template]
  return template


def _normalized(layer: Any, number: int, normalize: Normalize, inputs: tf.Tensor,
                training: Any = None, mask: Any = None) -> tf.Tensor:
  """The call of a `BatchNormalization`, by `normalize`."""
  del training, mask
  rank, axis = inputs.shape.rank, list(layer.axis)
  if axis not in ([rank - 1], [-1]):
    raise TypeError(f"{layer.name} normalizes axis {axis} of {rank}; only the last one is known")
  sides = [1] * (3 - (rank - 1)) + inputs.shape.as_list()[1:-1] if rank < 5 else [
      1, -1 if None in inputs.shape[1:-1] else math.prod(inputs.shape[1:-1])]
  batch = -1 if inputs.shape[0] is None else inputs.shape[0]
  flat = tf.reshape(inputs, [batch, *sides, inputs.shape[-1]])
  normal = normalize(number, tf.cast(flat, layer.variable_dtype), float(layer.epsilon))
  shape = tf.shape(inputs) if None in inputs.shape else inputs.shape
  return tf.cast(tf.reshape(normal, shape), inputs.dtype)


def moments(x: tf.Tensor, axes: Any, shift: Any = None, keepdims: bool = False, name: Any = None
            ) -> tuple[tf.Tensor, tf.Tensor]:
  """As `tf.nn.moments`, with right second derivatives."""
  del shift, name
  wide = tf.cast(x, tf.float32) if x.dtype in (tf.float16, tf.bfloat16) else x
  mean = tf.reduce_mean(wide, axes, keepdims=True)
  variance = tf.reduce_mean(tf.square(wide - mean), axes, keepdims=keepdims)
  mean = mean if keepdims else tf.squeeze(mean, axes)
  return tf.cast(mean, x.dtype), tf.cast(variance, x.dtype)


def standardized(inputs: tf.Tensor, axes: Sequence[int], epsilon: float) -> tf.Tensor:
  """Inputs with mean 0 and variance 1 over the axes, by moments with right second derivatives."""
  centered = inputs - tf.reduce_mean(inputs, list(axes), keepdims=True)
  variance = tf.reduce_mean(tf.square(centered), list(axes), keepdims=True)
  return centered * tf.math.rsqrt(variance + epsilon)


@tf.autograph.experimental.do_not_convert
def _layer_normalized(layer: Any, inputs: tf.Tensor) -> tf.Tensor:
  """The call of a `LayerNormalization`, with right second derivatives."""
  axes = layer.axis if isinstance(layer.axis, (list, tuple)) else [layer.axis]
  shape = [inputs.shape[i] if i in [a % inputs.shape.rank for a in axes] else 1
           for i in range(inputs.shape.rank)]
  y = standardized(inputs, axes, layer.epsilon)
  if layer.gamma is not None:
    y *= tf.reshape(layer.gamma, shape)
  return y if layer.beta is None else y + tf.reshape(layer.beta, shape)
