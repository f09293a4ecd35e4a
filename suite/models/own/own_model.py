# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Keras models of the user as backbones: an instance, or a function that makes one.

A backbone is called with image_shape=(H, W, C), or feature_size=D, and returns a new Keras model of
features [B, D]. `Backbone` makes one of

  a model instance        copied at each call, with its weights
  a function              whose arguments may have any names: one called image_shape, input_shape or
                          shape, or else the only required one, is given the shape; one called
                          num_classes or classes the number of classes; without arguments is fine

The model's last layers may be its classifier; see `HEADS`. A model of Keras 3 is copied, checked
and divided as one; each part then becomes a tf.keras model that holds it (`keras3`).

Checks of a user's Keras model before a training, and its division into body and head. A copy must
be the user's net (`check_alike`): the same outputs of drawn images in training and evaluation, the
same weights that are trained, the same losses of layers, the same size of images.
"""

from __future__ import annotations

from collections.abc import Callable
import copy
import inspect
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf

from suite.models import keras3
from suite.models import layer_losses

Given: TypeAlias = Any | Callable[..., Any]  # Models are of tf.keras or Keras 3.

# new: the model makes features, and a learner adds its head. replace: the model's last layer is a
# classifier, which is left out. own: it is kept, and must be as wide as the task.
HEADS = ("new", "replace", "own")
_SHAPES = ("image_shape", "input_shape", "shape")
_CLASSES = ("num_classes", "classes", "n_classes")
ADVICE_ON_HEADS = ("Say head='replace', which leaves its last layer out, or head='own' and end it "
                   "with logits.")
_PROBABILITIES = ("softmax", "sigmoid")
_ADVICE = ("What is set after a model was made is not copied: set it in __init__ (if it varies, by "
           "an argument that get_config returns), or give a function that makes the model.")


class Backbone:
  """A user's model as a backbone; see the module.

  Args:
    given: a model, or a function that makes one.
    head: one of `HEADS`.
    owner: the argument that it was given as, for messages.

  Attributes:
    keeps_head: whether `own_head` makes the head.
    given: see above.
  """

  def __init__(self, given: Given, head: str = "new", *, owner: str = "the model"):
    if head not in HEADS:
      raise ValueError(f"head is {head!r}; allowed are {', '.join(HEADS)}.")
    keras3.refuse_foreign(given, owner)
    if not callable(given):
      raise ValueError(f"{owner} is {given!r}; give a tf.keras.Model, or a function that makes "
                       "one.")
    if keras3.is_model(given):
      keras3.check_backend(owner)
    self.given: Any = given
    self._head, self._owner = head, owner
    self.keeps_head = head == "own"
    self._shape: tuple[int, ...] = ()
    self._checked: set[tuple[int, ...]] = set()
    self._adding: list[str] = []  # Layers that add losses.

  def __deepcopy__(self, memo: dict[int, Any]) -> Backbone:
    """A backbone of the same model: that is never trained itself, and Keras cannot copy each one.
    """
    del memo
    return copy.copy(self)

  @property
  def image_shape(self) -> tuple[int, int, int] | None:
    """(H, W, C) that a model instance takes; None where that is open or a function is given."""
    if not is_model(self.given) or not self.given.built:
      return None
    check_ends(self.given, self._owner)
    shape: Any = seen_shape(self.given) or ()
    return tuple(shape) if len(shape) == 3 and all(shape) else None

  def __call__(self, *, image_shape: Any = None, feature_size: int | None = None) -> tf.keras.Model:
    """A new model of features [B, D], with the instance's weights or new ones."""
    self._shape = (feature_size,) if feature_size is not None else tuple(image_shape)
    body, _ = self._parts(2)
    return body

  def refuse_losses(self, what: str) -> None:
    """Raises a ValueError if layers add losses, for a training that cannot add them.

    Args:
      what: the training, for the message. The model was made before.
    """
    if self._adding:
      raise ValueError(
          f"{self._owner} adds losses in {_listed(self._adding)} (a regularizer, or add_loss), and "
          f"{what} has no place for them. Leave them out, or take a learner that trains by single "
          "steps, such as method='finetune'.")

  def own_head(self, num_classes: int) -> tf.keras.Model:
    """A new model of features [B, D] to logits [B, C], after the backbone was made once."""
    _, head = self._parts(num_classes)
    assert head is not None
    width = head.output_shape[-1]
    if width != num_classes:
      raise ValueError(
          f"{self._owner} has {width} outputs, but the task has {num_classes} classes. Give a "
          "model of this width, a function with an argument num_classes, or head='replace', which "
          "puts a new head in place of its last layer.")
    return head

  def _parts(self, num_classes: int) -> tuple[tf.keras.Model, tf.keras.Model | None]:
    """Makes the model, functional, with an input of the shape asked for, and divides it."""
    name = "feature_size" if len(self._shape) == 1 else "image_shape"
    if is_model(self.given):
      model = _copy(self.given, self._shape, self._owner)
    else:
      model = _called(self.given, name, self._shape, num_classes, self._owner)
    if not is_model(model):
      keras3.refuse_foreign(model, f"What {self._owner} made")
      raise ValueError(f"{self._owner} made {type(model).__name__!r}; it must make a Keras model.")
    if keras3.is_model(model):
      keras3.check_backend(f"What {self._owner} made")
    source = self.given if is_model(self.given) else model
    model = _functional(model, self._shape, self._owner)
    is_shipped = str(getattr(self.given, "__module__", "")).split(".")[0] == "suite"
    is_new = self._shape not in self._checked and not is_shipped
    self._checked.add(self._shape)
    if is_new:
      check_closed(model, self._shape, self._owner)
      adding = check_alike(model, source, self._shape, self._owner)
      self._adding = [layer.name for layer in adding]
    if self._head == "new":
      check_features(model, self._owner)
      return self._held(model), None
    body, head = divide(model, self._owner, keeps_head=self.keeps_head)
    if is_new:
      kept = {id(layer) for part in (body, head) for layer in part.submodules}
      lost = [layer.name for layer in adding if id(layer) not in kept]
      if lost:
        raise ValueError(f"{self._owner}, {model.name!r}, adds losses in {_listed(lost)}, outside "
                         "of the layers between its input and its output. Call add_loss in a layer "
                         "on that way, or leave it out.")
    return self._held(body), self._held(head)

  def _held(self, model: Any) -> tf.keras.Model:
    """A tf.keras model around one of Keras 3."""
    if not keras3.is_model(model):
      return model
    keras3.check_model(model, self._owner)
    is_image = len(model.input_shape) == len(self._shape) + 1 and len(self._shape) > 1
    return keras3.as_tf_model(model, self._shape if is_image else model.input_shape[1:])


def is_model(given: Any) -> bool:
  """Whether it is a model, of tf.keras or Keras 3."""
  return isinstance(given, tf.keras.Model) or keras3.is_model(given)


def _keras_of(model: Any) -> Any:
  """The Keras that a model is of: `tf.keras`, or Keras 3."""
  return keras3.library() if keras3.is_model(model) else tf.keras


def as_backbone(given: Any, owner: str) -> Backbone:
  """`given` as a backbone: a `Backbone`, a model, or a function that makes one."""
  return given if isinstance(given, Backbone) else Backbone(given, owner=owner)


def _called(make: Callable[..., Any], name: str, shape: tuple[int, ...], num_classes: int,
            owner: str) -> Any:
  """Calls a function that makes a model, by the names of its parameters."""
  size: Any = shape[0] if name == "feature_size" else shape
  parameters = list(inspect.signature(make).parameters.values())
  by_name = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
  arguments = {n: num_classes for n in _CLASSES if n in by_name}
  taken = [n for n in (name, *(_SHAPES if name == "image_shape" else ())) if n in by_name]
  if taken:
    arguments[taken[0]] = size
  positional = () if taken else [
      p for p in parameters if p.default is p.empty and p.name not in arguments
      and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
  open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters) and not taken and not positional
  if open_ended:
    arguments[name] = size
  try:
    return make(*([size] if positional else []), **arguments)
  except TypeError as error:
    raise ValueError(
        f"{owner} cannot be called with {name}={size!r} ({error}); it must be a Keras model, or a "
        f"function of the shape of an example ({name}, or its only required argument) that returns "
        "a Keras model.") from error


def _copy(model: tf.keras.Model, shape: tuple[int, ...], owner: str) -> tf.keras.Model:
  """A model with the same layers, not shared, and the same weights."""
  check_ends(model, owner)
  _check_shape(model, shape, owner)
  try:
    made = copied(model, shape)
    if model.built and keras3.is_model(model):
      keras3.take_weights(made, model)
    elif model.built:
      made.set_weights(model.get_weights())
  except Exception as error:
    raise ValueError(f"{owner}, {model.name!r}, cannot be copied ({type(error).__name__}: {error})"
                     ". Give a function that makes it.") from error
  lost = [] if model.built else _lost(made, model)  # Built ones are compared by what they compute.
  if lost:
    raise ValueError(f"{owner}, {model.name!r}: its copy is another net.{_told(lost)} {_ADVICE}")
  return made


def copied(model: Any, shape: tuple[int, ...] | None = None) -> Any:
  """A model with the same layers, not shared, and new weights; a copy of a built one is built.

  Args:
    model: of tf.keras or Keras 3.
    shape: of an example; None: as the model has seen them.
  """
  made = keras3.copied(model) if keras3.is_model(model) else copied_layer(model)
  if model.built and not made.built:
    made(tf.zeros([1, *(shape or seen_shape(model) or ())]))
  if not keras3.is_model(model):
    take_trainable(made, model)
  return made


def seen_shape(model: Any) -> tuple[int | None, ...] | None:
  """The shape of an example that a built model was made for, or first called on; None: unknown."""
  if is_functional(model):
    return tuple(model.input_shape[1:])
  if keras3.is_model(model):
    shapes = (model.get_build_config() or {}).get("shapes_dict", {})
    seen = next(iter(shapes.values()), None)
  else:
    seen = (model.get_build_config() or {}).get("input_shape")
  is_shape = isinstance(seen, (tuple, list, tf.TensorShape)) and all(
      side is None or isinstance(side, int) for side in seen)
  return tuple(seen[1:]) if is_shape and seen else None


def take_trainable(made: Any, source: Any) -> None:
  """Trains of a tf.keras copy what is trained of its source, layers within layers included."""
  ours, theirs = (list(one._flatten_layers()) for one in (made, source))
  if [type(layer) for layer in ours] == [type(layer) for layer in theirs]:
    for our, their in zip(ours, theirs):
      if our.trainable != their.trainable:
        our.trainable = their.trainable
    return
  for our, their in zip(getattr(made, "layers", ()), getattr(source, "layers", ())):
    take_trainable(our, their)


def copied_layer(layer: tf.keras.layers.Layer) -> tf.keras.layers.Layer:
  """A layer, or a model, with the same settings and other weights."""
  if is_functional(layer) or isinstance(layer, tf.keras.Sequential):  # Keras copies these whole,
    # which needs each class of a user registered.
    return tf.keras.models.clone_model(layer, clone_function=copied_layer)
  if isinstance(layer, tf.keras.layers.Lambda):  # Its config holds code, which does not restore.
    return tf.keras.layers.Lambda(layer.function, name=layer.name, arguments=layer.arguments)
  return layer.__class__.from_config(layer.get_config())


def _functional(model: tf.keras.Model, shape: tuple[int, ...], owner: str) -> tf.keras.Model:
  """The model with one input of known shape, checked."""
  keras = _keras_of(model)
  if isinstance(model, keras.Sequential) and not model.built:
    model.build((None, *shape))
  check_ends(model, owner)
  known = getattr(model, "inputs", None)
  _check_shape(model, shape, owner)
  if known and is_functional(model):
    wanted = model.input_shape[1:]
    if None not in wanted or keras3.is_model(model):  # One of Keras 3 is called with the images.
      return model
  inputs = keras.Input(shape, dtype=known[0].dtype if known else "float32", name="image")
  if known and is_functional(model):
    sized = tf.keras.models.clone_model(model, input_tensors=inputs, clone_function=copied_layer)
    take_trainable(sized, model)
    sized.set_weights(model.get_weights())
    return sized
  try:
    outputs = model(inputs)
  except Exception as error:
    raise _cannot_be_called(model, shape, owner, error) from error
  return keras.Model(inputs, outputs, name=f"{model.name}_on_{'x'.join(map(str, shape))}")


def _check_shape(model: Any, shape: tuple[int, ...], owner: str) -> None:
  """Refuses a model that was made for, or called on, examples of another shape."""
  wanted = seen_shape(model) if model.built else None
  if wanted is not None and (len(wanted) != len(shape) or any(
      w not in (None, s) for w, s in zip(wanted, shape))):
    raise ValueError(wrong_shape(owner, model.name, wanted, shape))


def _cannot_be_called(model: Any, shape: tuple[int, ...], owner: str, error: Exception
                      ) -> ValueError:
  return ValueError(f"{owner}, {model.name!r}, cannot be called on examples {list(shape)} "
                    f"({type(error).__name__}: {error}).")


def is_functional(model: tf.keras.Model) -> bool:
  """Whether a model is a graph of layers: a functional or a built Sequential model."""
  if keras3.is_model(model):  # None before a subclassed one is called on a symbolic tensor.
    return bool(getattr(model, "inputs", None) and getattr(model, "outputs", None))
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
                     f"no features. {ADVICE_ON_HEADS}")


def check_closed(model: tf.keras.Model, shape: tuple[int, ...], owner: str) -> None:
  """Refuses a model that reads variables which are not its own, or cannot be called.

  A Lambda layer can read any variable. Copies of the model would share it, no checkpoint would hold
  it, and no gradient would reach it.
  """
  spec = tf.TensorSpec([1, *shape], model.inputs[0].dtype)
  with keras3.drawing_from(keras3.Seeds(None) if keras3.is_model(model) else None):
    try:
      traced = tf.function(lambda x: model(x, training=False), autograph=False
                           ).get_concrete_function(spec)
    except Exception as error:
      raise _cannot_be_called(model, shape, owner, error) from error
  own = {id(handle) for v in model.variables for handle in handles(v)}
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


class _Answers(NamedTuple):
  """Outputs of a model on drawn images, and the losses that its layers add."""

  outputs: np.ndarray
  losses: np.ndarray


def check_alike(model: Any, source: Any, shape: tuple[int, ...], owner: str) -> list[Any]:
  """Refuses a model that is not the one of the user that it was made from.

  Outputs in training are not compared where those of `source` differ from call to call, as of a
  Dropout with a seed.

  Args:
    model: functional. source: the user's.
    shape: of an example.

  Returns:
    The layers of the model that add losses in training; none of a Keras 3 model, see `keras3`.
  """
  check_ends(model, owner)
  name, adding = f"{owner}, {source.name!r}", list[Any]()
  if model is source or not source.built or (  # No copy, or nothing to compare with.
      {id(v) for v in source.weights} & {id(v) for v in model.weights}):
    return _adding(model, shape)
  told = _told(_lost(model, source))
  ours, theirs = (sorted(tuple(v.shape) for v in one.trainable_variables)
                  for one in (model, source))
  if ours != theirs:
    raise ValueError(f"{name}, has {len(theirs)} weights that are trained, and its copy "
                     f"{len(ours)}.{told} {_ADVICE}")
  for training in (False, True):
    if training and tf.distribute.has_strategy():  # Statistics move on replicas alone.
      return _adding(model, shape)
    yours, found = _answers(source, shape, training), _answers(model, shape, training)
    adding = [] if keras3.is_model(model) else layer_losses.layers(model)
    if yours.losses.shape != found.losses.shape:
      raise ValueError(
          f"{name}: its layers add {yours.losses.size} losses, and those of its copy "
          f"{found.losses.size}.{told} Call add_loss in a layer's call, or give a function that "
          "makes the model.")
    again = None
    for place, what in enumerate(_Answers._fields):
      if _are_close(yours[place], found[place]):
        continue
      again = again or _answers(source, shape, training)
      if _are_close(yours[place], again[place]):
        raise ValueError(
            f"{name}: its copy has other {what} in {'training' if training else 'evaluation'}, on "
            f"the same images.{told} {_ADVICE}")
  return adding


def _adding(model: Any, shape: tuple[int, ...]) -> list[Any]:
  """The layers that add losses in training; the model is traced, and does not run."""
  if keras3.is_model(model):
    return []
  _answers(model, shape, True, runs=False)
  return layer_losses.layers(model)


def _answers(model: Any, shape: tuple[int, ...], training: bool, runs: bool = True) -> _Answers:
  """A model's answers about two images; its weights stay, and no generator is advanced."""
  def answer(x: tf.Tensor) -> tuple[tf.Tensor, list[tf.Tensor]]:
    tf.compat.v1.get_default_graph().seed = 1  # Draws without a seed are the same each time.
    output = model(x, training=training)
    if keras3.is_model(model):
      return output, []
    return output, [*layer_losses.of_pass(model), *layer_losses.of_weights(model)]

  dtype = tf.as_dtype(model.inputs[0].dtype if getattr(model, "inputs", None) else "float32")
  images = np.random.default_rng(1).integers(0, 256, [2, *shape])
  with keras3.drawing_from(keras3.Seeds(None) if keras3.is_model(model) else None):
    traced = tf.function(answer, autograph=False).get_concrete_function(
        tf.TensorSpec([2, *shape], dtype))
  if not runs:
    return _Answers(np.zeros([]), np.zeros([]))
  before = model.get_weights()
  output, losses = traced(tf.cast(images, dtype))
  if training:
    model.set_weights(before)
  return _Answers(*(np.array(found, np.float64) for found in (
      tf.cast(output, tf.float64), [float(loss) for loss in losses])))


def _are_close(ours: np.ndarray, theirs: np.ndarray) -> bool:
  return ours.shape == theirs.shape and np.allclose(
      ours, theirs, rtol=1e-3, atol=1e-4 * float(np.max(np.abs(ours), initial=0.0)), equal_nan=True)


def _lost(model: Any, source: Any) -> list[str]:
  """Settings of layers, "layer.name", that a model of copies has not or has otherwise.

  Plain values alone; none if the layers of the two are not the same.
  """
  if keras3.is_model(source):
    return []
  ours, theirs = ([layer for layer in one._flatten_layers() if not (
      is_functional(layer) or isinstance(layer, tf.keras.layers.InputLayer))]
                  for one in (model, source))
  if [type(layer) for layer in ours] != [type(layer) for layer in theirs]:
    return []
  of_keras = {*vars(tf.keras.Model()), *dir(tf.keras.Model), "stop_training"}
  return [f"{their.name}.{key}" for our, their in zip(ours, theirs)
          for key, value in vars(their).items()
          if not key.startswith("_") and key not in of_keras
          and isinstance(value, (bool, int, float, str, np.generic))
          and repr(getattr(our, key, None)) != repr(value)]


def _told(lost: list[str]) -> str:
  if not lost:
    return ""
  return f" {_listed(lost)} of the copy {'differs' if len(lost) == 1 else 'differ'}."


def has_layers_of_users(model: Any) -> bool:
  """Whether layers of a tf.keras model are of classes that are neither Keras's nor the suite's."""
  shipped = {tf.keras.layers.Layer.__module__.partition(".")[0], "keras", "suite"}
  return any(type(layer).__module__.partition(".")[0] not in shipped
             for layer in model._flatten_layers())


def _listed(names: list[str]) -> str:
  return ", ".join(names[:3]) + ("" if len(names) < 4 else f" and {len(names) - 3} more")


def handles(variable: Any) -> list[tf.Tensor]:
  """What graphs capture of a variable of either Keras; one for each device that has a copy."""
  variable = variable if isinstance(variable, tf.Variable) else variable.value
  is_copied = isinstance(variable, tf.distribute.DistributedValues)
  return [one.handle for one in (variable.values if is_copied else [variable])
          if hasattr(one, "handle")]


def layers_of(model: tf.keras.Model, ops: list[str]) -> list[str]:
  """Names of the layers that ops of a call belong to: "model/scale/ReadVariableOp" -> scale."""
  if keras3.is_model(model):
    known = {layer.name for layer in keras3.leaves(model)}
  else:
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
  keras, last = _keras_of(model), last_layer(model)
  name = activation_name(last)
  while isinstance(last, (keras.layers.Activation, keras.layers.Softmax)):
    last = _maker(model, last.input)
    name = name if name not in ("", "linear") else activation_name(last)
  if last is None or isinstance(last, keras.Model):
    raise ValueError(f"{owner}, {model.name!r}, cannot be divided into a body and a head: its last "
                     "layer is not known, since it is a subclass of tf.keras.Model or ends with a "
                     "model. Give a Sequential or functional model, or one without a head.")
  incoming = last.input
  if len(incoming.shape) != 2 or not getattr(last, "weights", ()):
    raise ValueError(f"{owner}, {model.name!r}, ends with {last.name!r}, which is no classifier of "
                     "features [B, D]. Give a model that ends with a Dense layer, or one without a "
                     "head.")
  if keeps_head and name in _PROBABILITIES:
    raise ValueError(f"{owner}, {model.name!r}, ends in a {name}; losses are computed from logits. "
                     "Leave the activation of the last layer out.")
  body = keras.Model(model.inputs[0], incoming, name=f"{model.name}_body")
  features = keras.Input(incoming.shape[1:], dtype="float32", name="features")
  return body, keras.Model(features, last(features), name=f"{model.name}_head")


def activation_name(layer: Any) -> str:
  """The name of a layer's activation; "" if it has none."""
  if type(layer).__name__ == "Softmax":  # Of either Keras.
    return "softmax"
  return getattr(getattr(layer, "activation", None), "__name__", "")


def last_layer(model: tf.keras.Model) -> Any:
  """The layer that makes the output of a functional model; None if that is not known."""
  return _maker(model, model.outputs[0]) if is_functional(model) else None


def _maker(model: tf.keras.Model, tensor: Any) -> Any:
  """The layer whose output a tensor of a functional model is; None for an input."""
  if keras3.is_model(model):
    layer = tensor._keras_history.operation
    return None if isinstance(layer, _keras_of(model).layers.InputLayer) else layer
  for layer in model.layers:
    made = [layer.get_output_at(i) for i in range(len(layer.inbound_nodes))]
    if any(output is tensor for output in made):
      return None if isinstance(layer, tf.keras.layers.InputLayer) else layer
  return None
