# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Checks of a user's Keras model before a training, and its division into body and head."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_PROBABILITIES = ("softmax", "sigmoid")


def is_functional(model: tf.keras.Model) -> bool:
  """Whether a model is a graph of layers: a functional or a built Sequential model."""
  return bool(getattr(model, "_is_graph_network", False))


def check_ends(model: tf.keras.Model, owner: str) -> None:
  """Refuses a model with several inputs or outputs."""
  for what in ("inputs", "outputs"):
    ends = getattr(model, what, None)
    if ends is not None and len(ends) > 1:
      names = ", ".join(e.name for e in ends)
      raise ValueError(f"{owner}, {model.name!r}, has {len(ends)} {what} ({names}); it must have "
                       "one: images in, features or logits out. Wrap it in a model that has.")


def wrong_shape(owner: str, name: str, wanted: tuple[Any, ...], shape: tuple[int, ...]) -> str:
  """The message for a model that takes other examples than the transform makes."""
  hint = ""
  if len(wanted) == 3 and len(shape) == 3:
    hint = f" Take a transform of this size, such as image_ops.Plain(size={wanted[0]}"
    hint += f", channels={wanted[2]})." if wanted[2] not in (None, 3) else ")."
  return (f"{owner}, {name!r}, takes examples {list(wanted)}, but the learner's transform makes "
          f"{list(shape)}.{hint}")


def check_features(model: tf.keras.Model, owner: str) -> None:
  """Refuses outputs that are no features [B, D]: feature maps, and probabilities."""
  shape = model.output_shape
  if len(shape) != 2 or shape[1] is None:
    raise ValueError(f"{owner} made {shape!r}; it must make a Keras model whose output is features "
                     "[B, D]: end it with pooling or Flatten.")
  if activation_name(last_layer(model)) == "softmax":
    raise ValueError(f"{owner}, {model.name!r}, ends in a softmax, so it is a classifier and makes "
                     "no features. Say head='replace', which leaves its last layer out, or "
                     "head='own' and end it with logits.")


def check_closed(model: tf.keras.Model, shape: tuple[int, ...], owner: str) -> None:
  """Refuses a model that reads variables which are not its own, or cannot be called.

  A Lambda layer can read any variable. Copies of the model would share it, no checkpoint would hold
  it, and no gradient would reach it.
  """
  spec = tf.TensorSpec([1, *shape], model.inputs[0].dtype)
  traced = tf.function(lambda x: model(x, training=False), autograph=False
                       ).get_concrete_function(spec)
  own = {id(v.handle) for v in model.variables if hasattr(v, "handle")}
  outside = [external for external, _ in traced.graph.captures
             if external.dtype == tf.resource and id(external) not in own]
  if outside:
    inner = {id(i) for e, i in traced.graph.captures if any(e is o for o in outside)}
    readers = [op.name for op in traced.graph.get_operations()
               if any(id(i) in inner for i in op.inputs)]
    raise ValueError(
        f"{owner}, {model.name!r}, reads {len(outside)} variables that are not its own, in "
        f"{', '.join(layers_of(model, readers)) or 'its call'}. Make them weights of a layer (a "
        "subclass of tf.keras.layers.Layer with add_weight) instead of reading them in a Lambda "
        "layer.")


def layers_of(model: tf.keras.Model, ops: list[str]) -> list[str]:
  """Names of the layers that ops of a call belong to: "model/scale/ReadVariableOp" -> scale."""
  known = {m.name for m in model.submodules if isinstance(m, tf.keras.layers.Layer)}
  found = []
  for name in ops:
    inside = [part for part in name.split("/") if part in known]
    found += inside[-1:]
  return list(dict.fromkeys(found))


def divide(model: tf.keras.Model, owner: str, *, keeps_head: bool = False
           ) -> tuple[tf.keras.Model, tf.keras.Model]:
  """(features of examples, logits of features): the last layer with weights is the head.

  A softmax at its end is left out with the head; one of a head that is kept is refused, since
  losses are computed from logits.
  """
  last = last_layer(model)
  name = activation_name(last)
  while last is not None and _only_activates(last):
    last = _maker(model, last.input)
    name = name if name not in ("", "linear") else activation_name(last)
  if last is None or isinstance(last, tf.keras.Model):
    raise ValueError(f"{owner}, {model.name!r}, cannot be divided into a body and a head: its last "
                     "layer is not known, since it is a subclass of tf.keras.Model or ends with a "
                     "model. Give a Sequential or functional model, or one without a head.")
  if len(last.input_shape) != 2 or not last.weights:
    raise ValueError(f"{owner}, {model.name!r}, ends with {last.name!r}, which is no classifier of "
                     "features [B, D]. Give a model that ends with a Dense layer, or one without a "
                     "head.")
  if keeps_head and name in _PROBABILITIES:
    raise ValueError(f"{owner}, {model.name!r}, ends in a {name}; losses are computed from logits. "
                     "Leave the activation of the last layer out.")
  body = tf.keras.Model(model.input, last.input, name=f"{model.name}_body")
  features = tf.keras.Input(last.input_shape[1:], dtype=tf.float32, name="features")
  return body, tf.keras.Model(features, last(features), name=f"{model.name}_head")


def activation_name(layer: Any) -> str:
  """The name of a layer's activation; "" if it has none."""
  if isinstance(layer, tf.keras.layers.Softmax):
    return "softmax"
  return getattr(getattr(layer, "activation", None), "__name__", "")


def last_layer(model: tf.keras.Model) -> Any:
  """The layer that makes the output of a functional model; None if that is not known."""
  return _maker(model, model.outputs[0]) if is_functional(model) else None


def _maker(model: tf.keras.Model, tensor: Any) -> Any:
  """The layer whose output a tensor of a functional model is; None for an input."""
  for layer in model.layers:
    made = [layer.get_output_at(i) for i in range(len(layer.inbound_nodes))]
    if any(output is tensor for output in made):
      return None if isinstance(layer, tf.keras.layers.InputLayer) else layer
  return None


def _only_activates(layer: Any) -> bool:
  return isinstance(layer, (tf.keras.layers.Activation, tf.keras.layers.Softmax))
