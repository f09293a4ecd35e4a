# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Keras 3 beside tf-keras: its models, layers, optimizers and losses where tf.keras's may stand.

From TensorFlow 2.16 on `import keras` is Keras 3, while the suite runs on `tf.keras` of Keras 2. On
its TensorFlow backend a Keras 3 variable holds a `tf.Variable`. So a Keras 3 model becomes a layer
of a `tf.keras` model, `HeldModel`, whose weights are those `tf.Variable`s: tapes, optimizers of
both kinds, strategies, counts of FLOPs and files of weights see nothing else.

Draws: Keras 3's layers draw from seed variables that each draw changes, so that what a step draws
depends on all draws before it. Here a draw is a function of (seed of the phase, call in training
since its begin, number of the draw within the call), see `drawing_from`; in evaluation, of the last
alone. Seed variables are neither read nor changed.

Objects of other frameworks are refused by name (`refuse_foreign`).

B examples; Keras 3 is never imported here: who has an object of it has imported it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import functools
import inspect
import random
import sys
import threading
from typing import Any, NamedTuple

from absl import logging
import tensorflow as tf

_FRAMEWORKS = {
    "torch": "PyTorch", "torchvision": "PyTorch", "timm": "PyTorch", "lightning": "PyTorch",
    "pytorch_lightning": "PyTorch", "flax": "Flax", "jax": "JAX", "jaxlib": "JAX",
    "optax": "Optax", "haiku": "Haiku", "equinox": "Equinox", "mxnet": "MXNet",
    "paddle": "Paddle", "keras_core": "keras_core, a preview of Keras 3"}
_MIXING = ("MixUp", "CutMix")  # On a batch of one image they mix it with itself.
_here = threading.local()


def library() -> Any:
  """The module `keras` if it is imported and is Keras 3; else None."""
  found = sys.modules.get("keras")
  return found if str(getattr(found, "__version__", "")).startswith("3.") else None


def _is(kind: str, value: Any) -> bool:
  keras = library()
  return keras is not None and isinstance(value, getattr(keras, kind))


def is_model(value: Any) -> bool:
  """Whether it is a Keras 3 model."""
  return _is("Model", value)


def is_layer(value: Any) -> bool:
  """Whether it is a Keras 3 layer or model."""
  return _is("Layer", value)


def is_optimizer(value: Any) -> bool:
  """Whether it is a Keras 3 optimizer."""
  return _is("Optimizer", value)


def is_loss(value: Any) -> bool:
  """Whether it is a Keras 3 loss."""
  return _is("Loss", value)


def is_object(value: Any) -> bool:
  """Whether it is a layer, an optimizer, a loss or a schedule of Keras 3."""
  keras = library()
  return keras is not None and isinstance(value, (
      keras.Layer, keras.Optimizer, keras.Loss, keras.optimizers.schedules.LearningRateSchedule))


def lasting(config: Any) -> Any:
  """What of a Keras 3 object's config is the same in every process: no names, no drawn seeds."""
  if isinstance(config, Mapping):
    return {k: lasting(v) for k, v in config.items() if k not in ("name", "seed")}
  if isinstance(config, (list, tuple)):
    return [lasting(v) for v in config]
  return config


def refuse_foreign(given: Any, owner: str) -> None:
  """Raises a ValueError for an object, a class or a function of another framework.

  Args:
    given: of the user.
    owner: the argument that it was given as, for the message.
  """
  kinds = given.__mro__ if isinstance(given, type) else type(given).__mro__
  modules = [str(getattr(given, "__module__", "")), *(kind.__module__ for kind in kinds)]
  found = [_FRAMEWORKS[root] for root in (name.partition(".")[0] for name in modules)
           if root in _FRAMEWORKS]
  if found:
    name = getattr(given, "__qualname__", type(given).__qualname__)
    raise ValueError(f"{owner} is {name!r} of {found[0]}; the suite trains models of TensorFlow's "
                     "Keras. Give a tf.keras object, or one of Keras 3 on its TensorFlow backend; "
                     "a whole method runs by suite.external (docs/own/external.md).")


def check_backend(owner: str) -> None:
  """Raises a ValueError if Keras 3 computes by another framework than TensorFlow."""
  backend = library().backend.backend()
  if backend != "tensorflow":
    raise ValueError(f"{owner} is of Keras 3 on the backend {backend!r}; the suite needs the "
                     "backend 'tensorflow'. Set KERAS_BACKEND=tensorflow before keras is imported.")


def layers_in(layer: Any) -> list[Any]:
  """A Keras 3 layer and all inside it, those that hold others first."""
  return list(layer._flatten_layers(include_self=True))


def leaves(layer: Any) -> list[Any]:
  """The layers in a Keras 3 layer that hold no others."""
  return [one for one in layers_in(layer) if not getattr(one, "_layers", None)]


def copied(model: Any) -> Any:
  """A Keras 3 model with layers of its own; weights are not copied."""
  keras = library()
  if not isinstance(model, (keras.Sequential, keras.src.models.functional.Functional)):
    return type(model).from_config(model.get_config())

  def copied_layer(layer: Any) -> Any:
    if isinstance(layer, keras.layers.Lambda):  # Its config holds code, which does not restore.
      return keras.layers.Lambda(layer.function, output_shape=layer._output_shape,
                                 arguments=layer.arguments, name=layer.name)
    return type(layer).from_config(layer.get_config())

  return keras.models.clone_model(model, clone_function=copied_layer, recursive=True)


def take_weights(model: Any, source: Any) -> None:
  """Gives a copy the weights of its source, and what of it is trainable."""
  model.set_weights(source.get_weights())
  for ours, theirs in zip(layers_in(model), layers_in(source)):
    if ours.trainable != theirs.trainable:
      ours.trainable = theirs.trainable


def check_model(model: Any, owner: str) -> None:
  """Raises a ValueError for what a training here would leave out without a word."""
  constrained = [v.path for v in model.trainable_variables if v.constraint is not None]
  if constrained:
    raise ValueError(f"{owner}, the Keras 3 model {model.name!r}, has constraints on weights "
                     f"({', '.join(constrained[:3])}); only its own fit applies them. Leave "
                     "them out.")
  regularized = [v.path for v in model.trainable_variables if v.regularizer is not None]
  if regularized:
    logging.warning("%s, the Keras 3 model %r: the regularizers of %s are not part of the loss; "
                    "give the optimizer a weight_decay.", owner, model.name,
                    ", ".join(regularized[:3]))


class Part(NamedTuple):
  """A layer with weights of a Keras 3 model.

  Attributes:
    kernel, output: shapes of its kernel, and of its output for one image; () without a kernel.
    trained: whether updates change it.
  """

  name: str
  kernel: tuple[int, ...]
  output: tuple[int, ...]
  trained: bool


class HeldModel(tf.keras.layers.Layer):
  """A Keras 3 model as a layer of a tf.keras model.

  Args:
    model: functional, with one input and one output; used by nothing else.

  Attributes:
    inner: the Keras 3 model.
    values: its weights in Keras's order, `tf.Variable`s; `functional_call` puts tensors in their
      place while it calls the layer.
    draws: int64 [3], two numbers of the seed, and how many calls in training have drawn since it
      was set.
    is_functional: whether it is being called with tensors in place of weights; no variable is
      then assigned.
    unrepeatable: names of the layers that drew or assigned in the last such call.
  """

  inner: Any
  is_functional: bool
  unrepeatable: tuple[str, ...]

  def __init__(self, model: Any, **settings: Any):
    types = {v.dtype for v in model.weights if "float" in v.dtype}
    super().__init__(dtype=min(types, default="float32"), autocast=False, **settings)
    self.__dict__["inner"] = model  # Not by an attribute of Keras's, which would follow it.
    self.values = [v.value for v in model.weights]
    self.draws = tf.Variable(
        tf.zeros([3], tf.int64), trainable=False, name="draws",
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
    self.__dict__.update(is_functional=False, unrepeatable=())

  @property
  def trainable_weights(self) -> list[tf.Variable]:
    return [v.value for v in self.inner.trainable_variables] if self.trainable else []

  @property
  def non_trainable_weights(self) -> list[tf.Variable]:
    trained = {id(v) for v in self.trainable_weights}
    return [v for v in self.weights if id(v) not in trained]

  @property
  def weights(self) -> list[tf.Variable]:
    return [v.value for v in self.inner.weights]

  def train_kernels_only(self) -> None:
    """Leaves scales, offsets and statistics of norms as they are from now on."""
    for layer in leaves(self.inner):
      layer.trainable = hasattr(layer, "kernel")

  def norms(self) -> list[HeldNorm]:
    """Its batch norms that are trainable, in no certain order."""
    kind = library().layers.BatchNormalization
    return [HeldNorm(layer) for layer in layers_in(self.inner)
            if isinstance(layer, kind) and layer.trainable]

  def parts(self) -> list[Part] | None:
    """Its layers with weights, from the first to the last; None if their shapes are not known."""
    found = []
    weighted = [layer for layer in leaves(self.inner) if layer.weights]
    if sum(len(layer.weights) for layer in weighted) != len(self.inner.weights):
      return None
    for number, layer in enumerate(weighted):
      kernel: tuple[int, ...] = tuple(getattr(getattr(layer, "kernel", None), "shape", ()))
      shape = tuple(getattr(getattr(layer, "output", None), "shape", ()))[1:]
      heavy = any(len(w.shape) > 1 for w in layer.weights)
      if bool(kernel) != heavy or (heavy and (not shape or None in shape)):
        return None
      found.append(Part(f"{self.name}/{number}/{layer.name}", kernel, shape,
                        bool(self.trainable and layer.trainable_variables)))
    return found

  def begin_draws(self, seed: Sequence[int]) -> None:
    """Makes later draws a function of a seed, two numbers, and of the calls in training since."""
    self.draws.assign([*seed, 0])

  @tf.autograph.experimental.do_not_convert  # As in Keras 3's own fit.
  def call(self, inputs: tf.Tensor, training: Any = None) -> tf.Tensor:
    training = bool(training) and (self.trainable or self.is_functional)
    seeds = Seeds(self.draws if training and not self.is_functional else None)
    with drawing_from(seeds):
      if self.is_functional:
        replaced = [(v, value) for v, value in zip(self.inner.weights, self.values)
                    if value is not v.value]
        with library().StatelessScope(state_mapping=replaced) as scope:
          outputs = self.inner(inputs, training=training)
          assigned = [v for v in self.inner.variables if not any(v is r for r, _ in replaced)
                      and scope.get_current_value(v) is not None]
        parts = [*seeds.drawn, *assigned]
        holders = [layer.name for layer in layers_in(self.inner) if any(
            part is one for part in parts for one in vars(layer).values())]
        self.__dict__["unrepeatable"] = tuple(holders or ([self.inner.name] if parts else []))
      else:
        outputs = self.inner(inputs, training=training)
    if seeds.drawn and training and not self.is_functional:
      self.draws.assign_add([0, 0, 1])
    return outputs

  def get_config(self) -> dict[str, Any]:
    # For digests and descriptions: names of layers count up from model to model.
    kinds = [type(layer).__qualname__ for layer in leaves(self.inner)]
    return {**super().get_config(), "keras_3_layers": kinds}

  @classmethod
  def from_config(cls, config: dict[str, Any]) -> HeldModel:
    raise ValueError(f"it holds a Keras 3 model of {len(config['keras_3_layers'])} layers")


class HeldNorm:
  """A `BatchNormalization` of Keras 3 with the attributes of one of tf.keras.

  Attributes:
    layer: of Keras 3.
    gamma, beta, moving_mean, moving_variance: `tf.Variable`s [F]; None: it has none.
  """

  def __init__(self, layer: Any):
    self.layer, self.name, self.epsilon = layer, layer.name, layer.epsilon
    self.renorm = layer.renorm
    self.axis, self.variable_dtype = [layer.axis], layer.variable_dtype
    self.gamma, self.beta, self.moving_mean, self.moving_variance = (
        None if v is None else v.value for v in (
            layer.gamma if layer.scale else None, layer.beta if layer.center else None,
            layer.moving_mean, layer.moving_variance))

  @property
  def weights(self) -> list[tf.Variable]:
    """All of its variables."""
    every = (self.gamma, self.beta, self.moving_mean, self.moving_variance)
    return [v for v in every if v is not None]

  trainable_variables = property(lambda self: self.weights[:-2])


def held_in(model: Any) -> list[HeldModel]:
  """The Keras 3 models in a tf.keras model, in the order of its layers."""
  return [layer for layer in model._flatten_layers() if isinstance(layer, HeldModel)]


def begin_draws(model: Any, seed: tuple[int, int]) -> None:
  """Makes the draws of all Keras 3 models in a tf.keras model functions of a seed."""
  for number, held in enumerate(held_in(model)):
    held.begin_draws((seed[0], seed[1] + number))


def as_tf_model(model: Any, shape: Sequence[int], name: str | None = None) -> tf.keras.Model:
  """A tf.keras model of examples of a shape around a functional Keras 3 model."""
  inputs = tf.keras.Input(shape, dtype=tf.as_dtype(model.inputs[0].dtype), name="image")
  return tf.keras.Model(inputs, HeldModel(model)(inputs), name=name or model.name)


class Seeds:
  """Seeds of the draws of one call, each int32 [2].

  Args:
    base: int64 [n], what they are a function of; None: they are the same in every call.

  Attributes:
    drawn: the generators that were asked, in order.
  """

  def __init__(self, base: Any):
    _take_over_draws()
    self._base, self.drawn = base, list[Any]()

  def next(self, generator: Any) -> tf.Tensor:
    """The seed of the next draw, as Keras 3's generators return it."""
    if not self.drawn:
      self._first = self._folded()
    self.drawn.append(generator)
    seed = tf.random.experimental.stateless_fold_in(self._first, len(self.drawn))
    return tf.cast(tf.bitcast(seed, tf.uint32), tf.as_dtype(generator.state.dtype))

  def _folded(self) -> tf.Tensor:
    seed = tf.zeros([2], tf.int32)
    if self._base is None:
      return seed
    for number in tf.unstack(tf.convert_to_tensor(self._base)):
      seed = tf.random.experimental.stateless_fold_in(seed, number)
    context = tf.distribute.get_replica_context()
    if context is not None and context.num_replicas_in_sync > 1:
      seed = tf.random.experimental.stateless_fold_in(seed, context.replica_id_in_sync_group)
    return seed


@contextlib.contextmanager
def drawing_from(seeds: Any) -> Iterator[None]:
  """Makes what this thread calls of Keras 3 draw by `seeds`: seeds.next(generator) -> [2]."""
  before = getattr(_here, "seeds", None)
  _here.seeds = seeds
  try:
    yield
  finally:
    _here.seeds = before


@functools.cache
def _take_over_draws() -> None:
  """Lets Keras 3's generators ask `drawing_from`, for ever; without it they do what they did."""
  kind = library().random.SeedGenerator
  plain = kind.next

  @functools.wraps(plain)
  def next_seed(self: Any, ordered: bool = True) -> Any:
    seeds = getattr(_here, "seeds", None)
    return plain(self, ordered) if seeds is None else seeds.next(self)

  kind.next = next_seed


class _SeedsOfThread:
  """Stands in for the module `random` where Keras 3 draws the seeds of its initializers."""

  def __getattr__(self, name: str) -> Any:
    return getattr(getattr(_here, "initial", None) or random, name)


@contextlib.contextmanager
def initializing(seed: int) -> Iterator[None]:
  """Draws seeds that initializers of Keras 3 lack by a seed, in this thread."""
  if library() is None:
    yield
    return
  seeds = library().random.SeedGenerator.__init__.__globals__
  if not isinstance(seeds["python_random"], _SeedsOfThread):
    seeds["python_random"] = _SeedsOfThread()
  _here.initial = random.Random(seed)
  try:
    yield
  finally:
    _here.initial = None


def check_augmentation(layer: Any) -> None:
  """Raises a ValueError for a Keras 3 layer that would change nothing.

  Each image, of pixels 0..255, passes it alone.
  """
  check_backend("An augmentation")
  kinds = {type(one).__name__: one.name for one in layers_in(layer)}
  mixing = [name for kind, name in kinds.items() if kind in _MIXING]
  if mixing:
    raise ValueError(f"The augmentation {mixing[0]!r} of Keras 3 mixes the images of a batch, but "
                     "each image passes alone. Leave it out.")
  if "GaussianNoise" in kinds and "Rescaling" not in kinds:
    raise ValueError(
        f"The augmentation {kinds['GaussianNoise']!r}, GaussianNoise of Keras 3, has a stddev of "
        "at most 1, for pixels 0..1; augmentations see pixels 0..255. Give keras.Sequential(["
        "Rescaling(1 / 255), GaussianNoise(0.1), Rescaling(255)]).")


class HeldOptimizer(tf.Module):
  """A Keras 3 optimizer with the methods of one of tf.keras; its state is in `tf.Variable`s.

  Args:
    given: an optimizer, which is copied.
    owner: the argument that it was given as, for messages.
    schedule: a tf.keras schedule, its rate unless it has a schedule itself.

  Attributes:
    inner: the copy.
    schedule: its own, a function of the step; None: its rate is a variable.
    variables: all that its steps change.
  """

  inner: Any
  _seen_as: dict[int, Any]

  def __init__(self, given: Any, owner: str, schedule: Any = None):
    super().__init__()
    check_backend(owner)
    config, own = given.get_config(), getattr(given, "_learning_rate", None)
    problem = ""
    if hasattr(given, "inner_optimizer") or config.get("loss_scale_factor") is not None:
      problem = "scales the loss, as the suite does itself where --precision needs it"
    elif config.get("use_ema") and not config.get("ema_overwrite_frequency"):
      problem = "keeps averages of weights (use_ema), which only Keras 3's own fit takes over"
    elif own is None or hasattr(given, "optimizers"):
      problem = "holds several optimizers, but a step has one learning rate"
    if problem:
      raise ValueError(
          f"{owner}, {type(given).__name__} of Keras 3, {problem}. Take a plain optimizer.")
    if callable(own):
      config["learning_rate"] = own
    elif schedule is not None:
      config["learning_rate"] = lambda: schedule(
          tf.convert_to_tensor(self.inner.iterations))
    self.__dict__["inner"] = type(given).from_config(config)
    rate = self.inner._learning_rate
    self.schedule = rate if callable(rate) else None
    self.values = list[tf.Variable]()
    self.__dict__["_seen_as"] = {}

  def build(self, variables: Sequence[tf.Variable]) -> None:
    """Makes the variables of the steps."""
    for variable in variables:  # As Keras 3's own, since Muon and others ask for their paths.
      seen = library().Variable(variable, trainable=True)
      seen._path = variable.name.partition(":")[0]
      self._seen_as[id(variable)] = seen
    self.inner.build([self._seen_as[id(v)] for v in variables])
    self.values = [v.value for v in self.inner.variables]

  @property
  def variables(self) -> list[tf.Variable]:
    return list(self.values)

  @property
  def learning_rate(self) -> Any:
    """The rate: a variable, or what the schedule gives for the present step."""
    rate = self.inner.learning_rate
    return rate if self.schedule is not None else rate.value

  @property
  def iterations(self) -> tf.Variable:
    """The number of steps so far."""
    return self.inner._iterations.value

  def apply_gradients(self, pairs: Iterable[tuple[Any, tf.Variable]]) -> None:
    """Takes one step."""
    gradients, variables = (list(part) for part in zip(*pairs))
    if not self.inner.built:
      with tf.init_scope():
        self.build(variables)
    self.inner.apply(gradients, [self._seen_as[id(v)] for v in variables])


@tf.autograph.experimental.do_not_convert  # As in Keras 3's own fit.
def call_in_training(layer: Any, x: tf.Tensor) -> tf.Tensor:
  """Calls a Keras 3 layer as in training."""
  if "training" in inspect.signature(layer.call).parameters:
    return layer(x, training=True)
  return layer(x)
