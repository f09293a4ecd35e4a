# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Optimizers, and which variables weight decay may touch.

Stochastic gradient descent as PyTorch does it, in one op a variable.

  v <- momentum * v + (gradient + weight_decay * w)
  w <- w - rate * factor * v

Keras multiplies the gradient by the rate *before* it enters v: after a step of the schedule, what
v holds is then still of the old rate. CLEAR's experiments ran PyTorch. All variables decay, norms
and biases too. The factor is 1, or that of the variable's group: PyTorch's parameter groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import re
from typing import Any, TypeAlias

import tensorflow as tf

from suite.compute import own_gradients
from suite.models import addons
from suite.models import keras3
from suite.training.gradient import schedules

LearningRate: TypeAlias = float | tf.keras.optimizers.schedules.LearningRateSchedule
Optimizer: TypeAlias = tf.keras.optimizers.Optimizer | tf.keras.optimizers.legacy.Optimizer
Decays = Callable[[tf.Variable], bool]
# Of the user, of either Keras: an optimizer, or a function that makes one.
OwnOptimizer: TypeAlias = Optimizer | Callable[[], Optimizer]
_OPTIMIZERS = (tf.keras.optimizers.Optimizer, tf.keras.optimizers.legacy.Optimizer,
               keras3.HeldOptimizer)

# "conv/kernel:0", "attention/query/kernel/replica_1:0", "depthwise_kernel:0"
_KERNEL = re.compile(r"(^|[/_])kernel(/replica_\d+)?(:\d+)?$")
NAMES = ("sgd", "sgdw", "adamw")


def sgd_nesterov(learning_rate: LearningRate, momentum: float = 0.9) -> tf.keras.optimizers.SGD:
  """Stochastic gradient descent with Nesterov's momentum, Keras's way.

  Keras multiplies each gradient by its step's rate *before* adding it to the velocity; PyTorch and
  optax multiply the velocity by the present rate. Both are the same while the rate is constant.
  """
  # jit_compile: XLA is slower on CPU, and hides the update from a graph's FLOP count.
  return tf.keras.optimizers.SGD(
      learning_rate, momentum=momentum, nesterov=momentum > 0, jit_compile=False)


def sgdw(learning_rate: LearningRate, weight_decay: float, momentum: float = 0.9) -> Optimizer:
  """Nesterov SGD with decoupled decay: decayable w -= rate * weight_decay * w before each step."""
  return addons.sgdw(
      learning_rate=learning_rate, weight_decay=_with_rate(learning_rate, weight_decay),
      momentum=momentum, nesterov=momentum > 0, decays=is_decayable)


def adamw(learning_rate: LearningRate, weight_decay: float, *, beta_1: float = 0.9,
          beta_2: float = 0.999, epsilon: float = 1e-8) -> Optimizer:
  """Adam with decoupled decay: decayable w -= rate * weight_decay * w before each step."""
  return addons.adamw(
      learning_rate=learning_rate, weight_decay=_with_rate(learning_rate, weight_decay),
      beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, decays=is_decayable)


def _with_rate(learning_rate: LearningRate, weight_decay: float) -> LearningRate:
  if isinstance(learning_rate, tf.keras.optimizers.schedules.LearningRateSchedule):
    return schedules.Scaled(learning_rate, weight_decay)
  return learning_rate * weight_decay


def by_name(name: str, learning_rate: LearningRate, *, momentum: float, weight_decay: float
            ) -> Optimizer:
  """One of `NAMES`: "sgd" leaves decay to `with_coupled_decay`, the others decouple it."""
  if name == "sgd":
    return sgd_nesterov(learning_rate, momentum)
  if name == "sgdw":
    return sgdw(learning_rate, weight_decay, momentum)
  if name == "adamw":
    return adamw(learning_rate, weight_decay)
  raise ValueError(f"Unknown optimizer {name!r}; allowed are {', '.join(NAMES)}.")


def make_slots(optimizer: Optimizer, variables: Sequence[tf.Variable]) -> None:
  """Makes velocities and moments now, so that they can be filled before the first step."""
  if isinstance(optimizer, tf.keras.optimizers.legacy.Optimizer):
    optimizer._create_all_weights(variables)  # What Keras itself calls before the first step.
  else:
    optimizer.build(variables)
  # Adagrad's and Ftrl's do not begin at zero. Not an attribute, which checkpoints follow.
  vars(optimizer)["first_values"] = {
      place: variable.numpy() for place, variable in enumerate(_variables_of(optimizer))
      if bool(tf.reduce_any(tf.cast(variable, tf.bool)))}


def is_decayable(variable: tf.Variable) -> bool:
  """True for the kernels of dense, convolution and attention layers.

  NEVIS'22 decays the parameters named "w" only: no bias, no scale or offset of a norm, and here
  also no class token and no embedding.
  """
  return _KERNEL.search(variable.name) is not None


def with_coupled_decay(gradients: Sequence[tf.Tensor | None], variables: Sequence[tf.Variable],
                       rate: float | tf.Tensor, *, num_replicas: int = 1,
                       decays: Decays = is_decayable) -> list[tf.Tensor | None]:
  """Gradients plus rate * variable, for variables that decay: L2 decay, which enters the momentum.

  Args:
    gradients: one for each variable; None stays None.
    variables: what the gradients are of.
    rate: the decay, 1e-4 in NEVIS'22.
    num_replicas: how many replicas' gradients are summed *after* this call. Each adds its share,
      so that the decay counts once; give 1 if the gradients are summed already.
    decays: whether a variable does.
  """
  def decayed(gradient, variable):
    if gradient is None or not decays(variable):
      return gradient
    share = tf.cast(rate, variable.dtype) / num_replicas
    return tf.convert_to_tensor(gradient) + share * variable

  return [decayed(g, v) for g, v in zip(gradients, variables)]


class KerasUpdates(tf.Module):
  """A Keras optimizer as a `train_step.Optimizer`.

  Args:
    optimizer: a `tf.keras.optimizers.Optimizer`, or one of their legacy kind.
    variables: all that it will ever change.
    coupled_decay: L2 decay, which enters the momentum.
    num_replicas, decays: see `with_coupled_decay`.
  """

  def __init__(self, optimizer: Optimizer, variables: Sequence[tf.Variable], *,
               coupled_decay: float = 0.0, num_replicas: int = 1, decays: Decays = is_decayable):
    super().__init__()
    self._decays = decays
    self.optimizer, self._decay, self._num_replicas = optimizer, coupled_decay, num_replicas
    self._has_schedule = _schedule_of(optimizer) is not None
    make_slots(optimizer, variables)

  def apply(self, gradients: Sequence[tf.Tensor | None], variables: Sequence[tf.Variable],
            rate: tf.Tensor | None) -> None:
    """Takes one step; the rate, [], becomes the optimizer's; None leaves it to its schedule."""
    if rate is not None and not self._has_schedule:
      self.optimizer.learning_rate.assign(rate)
    if self._decay:
      gradients = with_coupled_decay(
          gradients, variables, self._decay, num_replicas=self._num_replicas,
          decays=self._decays)
    with own_gradients.released():
      self.optimizer.apply_gradients(zip(gradients, variables))

  def reset(self) -> None:
    """Forgets velocities, moments and the step count."""
    reset(self.optimizer)

  @property
  def state(self) -> list[tf.Variable]:
    """All that a training in progress changes besides the weights."""
    return _variables_of(self.optimizer)


@dataclasses.dataclass(frozen=True)
class Keras:
  """A Keras optimizer for `GradientLearner.optimizer`.

  Attributes:
    make: the optimizer, which is copied, or a function that makes it, such as
      `tf.keras.optimizers.Adam`, called without arguments. One with a learning rate schedule
      follows that; the learner sets the rate of each step of any other.
    keep: whether velocities and moments stay from one phase to the next.
  """

  make: OwnOptimizer
  keep: bool = False

  def __deepcopy__(self, memo: dict[int, Any]) -> Keras:
    """The same: each `build` makes an optimizer like the given one, which Keras cannot copy."""
    del memo
    return self

  def build(self, variables: Sequence[tf.Variable]) -> KerasUpdates:
    """The optimizer for these variables."""
    return KerasUpdates(own(self.make, "GradientLearner.optimizer"), variables)

  def own_rate(self) -> float | None:
    """The learning rate it was made with; None: a schedule."""
    return own_rate(own(self.make, "GradientLearner.optimizer"))


def own(given: OwnOptimizer, owner: str, *, schedule: LearningRate | None = None) -> Optimizer:
  """A new optimizer like the user's, without the XLA that hides it from a count of FLOPs.

  Args:
    given: an optimizer, or a function that makes one.
    owner: the argument that it was given as, for messages.
    schedule: its rate, unless it has a schedule itself.

  Returns:
    One of tf.keras, or a `keras3.HeldOptimizer`.
  """
  keras3.refuse_foreign(given, owner)
  made: Any = given if is_optimizer(given) or not callable(given) else given()
  if not is_optimizer(made):
    keras3.refuse_foreign(made, f"What {owner} made")
    raise ValueError(f"{owner} made {type(made).__name__} ({made!r}); it must make a "
                     "tf.keras.optimizers.Optimizer.")
  if keras3.is_optimizer(made):
    return keras3.HeldOptimizer(made, owner, schedule)
  if made is not given and (schedule is None or own_rate(made) is None):
    made.jit_compile = False  # Legacy optimizers do not read it.
    return made
  config = made.get_config()
  if "jit_compile" in config:
    config["jit_compile"] = False
  if own_rate(made) is None:
    config["learning_rate"] = _schedule_of(made)
  elif schedule is not None:
    config["learning_rate"] = schedule
  return type(made).from_config(config)


def is_optimizer(given: object) -> bool:
  """Whether it is an optimizer of tf.keras, of its legacy kind, or of Keras 3."""
  return isinstance(given, _OPTIMIZERS) or keras3.is_optimizer(given)


def own_rate(optimizer: Optimizer) -> float | None:
  """The learning rate of an optimizer; None if it has a schedule."""
  if _schedule_of(optimizer) is not None:
    return None
  return float(tf.convert_to_tensor(optimizer.learning_rate))


def _schedule_of(optimizer: Optimizer) -> LearningRate | None:
  if isinstance(optimizer, keras3.HeldOptimizer):
    return optimizer.schedule
  rate = getattr(optimizer, "_learning_rate", None)  # The property calls the schedule.
  if rate is None and isinstance(optimizer, tf.keras.optimizers.legacy.Optimizer):
    rate = optimizer._hyper.get("learning_rate")
  return rate if isinstance(rate, tf.keras.optimizers.schedules.LearningRateSchedule) else None


def _variables_of(optimizer: Optimizer) -> list[tf.Variable]:
  variables = optimizer.variables
  return list(variables() if callable(variables) else variables)


def reset(optimizer: Optimizer) -> None:
  """Forgets velocities, moments and the step count; compiled steps stay valid."""
  rate = None if _schedule_of(optimizer) is not None else optimizer.learning_rate
  first = vars(optimizer).get("first_values", {})
  for place, variable in enumerate(_variables_of(optimizer)):
    if variable is not rate:
      variable.assign(first[place] if place in first else tf.zeros_like(variable))


FactorOf = Callable[[tf.Variable], float]


class Sgd(tf.Module):
  """Its velocities are variables made at once, for all variables that may ever be updated.

  Args:
    variables: what it may update.
    momentum, weight_decay: see the module.
    factor_of: the factor of a variable's rate; None: 1.
  """

  def __init__(self, variables: Sequence[tf.Variable], *, momentum: float = 0.9,
               weight_decay: float = 0.0, factor_of: FactorOf | None = None):
    super().__init__()
    self._factor_of = factor_of
    self.momentum, self.weight_decay = momentum, weight_decay
    self.velocities = [
        tf.Variable(tf.zeros_like(v), trainable=False, name="velocity") for v in variables]
    # A method, since a checkpoint goes through every dict that is an attribute.
    self._place = {v.ref(): i for i, v in enumerate(variables)}.__getitem__

  def reset(self) -> None:
    """Forgets the velocities."""
    for velocity in self.velocities:
      velocity.assign(tf.zeros_like(velocity))

  def apply(self, gradients: Sequence[tf.Tensor | None], variables: Sequence[tf.Variable],
            rate: tf.Tensor) -> None:
    """Takes one step at the rate, []; a variable whose gradient is None stays as it is."""
    for gradient, variable in zip(gradients, variables):
      if gradient is None:
        continue
      gradient = tf.convert_to_tensor(gradient)
      if self.weight_decay:
        gradient += self.weight_decay * variable
      factor = 1.0 if self._factor_of is None else self._factor_of(variable)
      own_rate = rate if factor == 1.0 else rate * factor
      if not self.momentum:  # The velocity is the gradient.
        tf.raw_ops.ResourceApplyGradientDescent(
            var=variable.handle, alpha=own_rate, delta=gradient, use_locking=True)
        continue
      tf.raw_ops.ResourceApplyMomentum(
          var=variable.handle, accum=self.velocities[self._place(variable.ref())].handle,
          lr=own_rate, grad=gradient, momentum=self.momentum, use_locking=True)


@dataclasses.dataclass(frozen=True)
class Momentum:
  """`Sgd` for `GradientLearner.optimizer`.

  Attributes:
    momentum: share of the velocity that a step keeps. weight_decay: factor of the weights that is
      added to the gradient.
    factor_of: see `Sgd`.
    keep: whether velocities stay from one phase to the next.
  """

  momentum: float = 0.9
  weight_decay: float = 0.0
  keep: bool = False
  factor_of: FactorOf | None = None

  def velocity(self, last: tf.Tensor | None, gradient: tf.Tensor, weight: tf.Tensor
               ) -> tf.Tensor:
    """The velocity after a step, as a function of tensors; `last` is None before the first."""
    if self.weight_decay:
      gradient += self.weight_decay * weight
    return gradient if last is None or not self.momentum else self.momentum * last + gradient

  def build(self, variables: Sequence[tf.Variable]) -> Sgd:
    """The optimizer for these variables."""
    return Sgd(variables, momentum=self.momentum, weight_decay=self.weight_decay,
               factor_of=self.factor_of)
