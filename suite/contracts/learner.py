# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contracts between learners and protocols.

A learner is given a task (`begin`), examples of it (`learn`) and images to classify (`predict`). It
never sees the protocol, the records, a test label or data that was not delivered yet.

    Learner               whole tasks or buckets (nevis, clear, incremental)
    SequenceLearner       also one sample at a time (fluid)
    EpisodicLearner       support sets, by pure functions (cfsl)
    PretrainingLearner    portions of one long training (pretrain)

All knowledge of a learner is in two places, so that a run can stop and resume:
  * `tf.Variable`s made in `begin`: it is a `tf.Module`, and one `tf.train.Checkpoint` holds them;
  * `context.store`: arrays that are too large for a checkpoint, kept by event.
To resume, a protocol calls `begin` for every task delivered so far, in order, and then restores the
checkpoint.

**What a learner can do is known before training.** The classes below have every method of their
contract. Some must be given: a learner without one of them is refused by the protocols that need
it (`refusals.check_learner`). All others have a default: a value that says "none", or a method that
no protocol calls unless the property beside it, `can_update` for `update`, is true. It is true for
a class that overrides the method. A learner around another one overrides both, and passes the
property of the learner inside on:

    @property
    @override
    def can_update(self) -> bool:
      return self.learner.can_update

**Misspelt names are refused.** A public name of a class that is close to a name of the contracts
(`learn_store`) raises an error when the class is defined. The suite's own learners also carry
`@override`, which mypy checks.

**Any object with the methods is a learner.** Protocols and learners around others call `adapted`,
which gives an object of an unrelated class the defaults and refuses its misspelt names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import difflib
import functools
import types
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import tensorflow as tf

from suite.compute import mac_views
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import tasks
from suite.state import context as context_lib

Layers = tuple[list[mac_views.Layer], list[mac_views.Layer]]

_CLOSE = 0.81  # Of `difflib`: a missing, further or exchanged letter of a name of 6 is closer.
_SHORT = 3  # A name of three letters is close to too many words.
# Public names besides those of the contracts' classes: `planning.Planner`, and a learner inside.
_OTHER_NAMES = frozenset(("learner", "plan", "plan_predict"))
_LIBRARIES = ("builtins", "typing", "abc", "tensorflow", "keras", "tf_keras")


if TYPE_CHECKING:
  default = property
else:

  class default:
    """A property that an attribute of the object or of a subclass may replace."""

    def __init__(self, function: Callable[[Any], Any]):
      self._function, self.__doc__ = function, function.__doc__

    def __get__(self, learner: Any, cls: type | None = None) -> Any:
      return self if learner is None else self._function(learner)


class BaseLearner(tf.Module):
  """The part that all learners share.

  Attributes:
    transform: image preparation (see `suite.data.images.image_ops`). The protocol prepares the
      images of `predict` with `transform.evaluate`; the learner prepares those it trains on.
  """

  transform: examples.Transform

  def __init_subclass__(cls, **kwargs: Any) -> None:
    """Refuses public names that are close to one of the contracts."""
    super().__init_subclass__(**kwargs)
    if cls.__module__ != __name__:
      _check_names(cls)

  def form(self, delivery: str) -> BaseLearner:
    """The learner with the same settings that serves a delivery; called before `begin`.

    One method may need another learner for another delivery: weight imprinting is one learner a
    task on separate tasks, and Prototypical Networks adapt by pure functions within episodes.
    """
    del delivery
    return self

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """The next calls are about this task; makes its variables if it is new. Cheap.

    Raises:
      ValueError: the learner cannot serve the task or `context.delivery`; the message says what
        was got, what is allowed and what to do next.
    """
    raise _not_given(self, "begin")

  def keras_model(self) -> tf.keras.Model | None:
    """Prepared examples [B, ...] to the logits of the current task, with the learner's own layers.

    None: the answers do not come from one model of Keras layers. `suite export` asks for it.
    """
    return None

  @default
  def deliveries(self) -> Sequence[str]:
    """The deliveries that the learner can serve, if its methods allow them."""
    return deliveries_lib.DELIVERIES

  @default
  def kinds(self) -> Sequence[str]:
    """The kinds of tasks that the learner can learn."""
    return tasks.KINDS

  @default
  def chooses(self) -> bool:
    """Whether it chooses something on the development split, which must then have examples."""
    return False

  @default
  def most_classes(self) -> int | None:
    """The largest number of classes that the learner can serve; None: any number.

    A protocol in which classes come bucket by bucket asks before it begins: it never tells a
    learner how many are to come.
    """
    return None

  @default
  def predict_stays(self) -> bool:
    """Whether `predict` is the same function after `learn`: training changes only variables.

    Then its compiled graph is kept.
    """
    return False

  @default
  def keeps_budget(self) -> bool:
    """Whether learning ends where the budget of a run does: all of it asks `ledger.grant` before.

    Any other learner is refused in a run with a budget (docs/costs.md).
    """
    return False

  @default
  def unsaved_weights(self) -> Sequence[tf.Tensor]:
    """Weights that no checkpoint holds; a budget counts their bytes, too.

    Such as those in a frozen backbone, or in a net that is saved to the store. A learner inside has
    its own.
    """
    return ()

  @default
  def shares_updates(self) -> bool:
    """Whether the replicas of `context.distribution` share the updates of the learner.

    Any other learner learns on one device, in every process alike.
    """
    return False


class Learner(BaseLearner):
  """Learns whole tasks, or one task bucket by bucket."""

  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Learns from one delivery; returns plain values for the record (may be empty).

    Training is charged to `context.phase`; search, selection and validation have their own phases.
    """
    raise _not_given(self, "learn")

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for images [B, H, W, 3] as `transform.evaluate` returns them; traced.

    Raises:
      RuntimeError: the learner cannot answer before `learn`.
    """
    raise _not_given(self, "predict")


class FrozenFeatures(Protocol):
  """Features of a net that no training changes; learners with the same digest share them."""

  @property
  def digest(self) -> str:
    """Digest of the net and its weights."""


class SequenceLearner(Learner):
  """A learner that also answers single samples, one after the other.

  `learn` gets the base classes only. The task's C is the number of classes in the sequence; the
  protocol knows which of them are known, and looks at the logits of these only. All functions of
  tensors are traced into a graph, with any number of samples B.
  """

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of images [B, H, W, 3]: features, or the images themselves.

    `learn` is the last to change a code. A code depends on its own image only, so that codes are
    computed once and in advance.
    """
    raise _not_given(self, "encode")

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] of codes [B, ...], row by row; changes no variable."""
    raise _not_given(self, "answer")

  # Learning from each label when it is revealed.

  @property
  def can_update(self) -> bool:
    """Whether labels change the learner by `update`."""
    return _overrides(self.update, SequenceLearner.update)

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Learns from codes [B, ...] and labels int64 [B] as if they had come one by one."""
    raise _not_given(self, "update")

  @property
  def can_answer_in_turn(self) -> bool:
    """Whether many steps are one call of `answer_in_turn`.

    Without it, or where labels come late, steps are a compiled loop of `answer` and `update`.
    """
    return _overrides(self.answer_in_turn, SequenceLearner.answer_in_turn)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C], row t as if `update` had learned rows 0..t-1; changes no variable.

    A run compares some rows with `update` and `answer` in turn, and stops if they differ.
    """
    raise _not_given(self, "answer_in_turn")

  # Offline phases on all labels that have been revealed.

  @property
  def can_learn_stored(self) -> bool:
    """Whether the learner has offline phases, `learn_stored`."""
    return _overrides(self.learn_stored, SequenceLearner.learn_stored)

  def learn_stored(self, stored: deliveries_lib.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    """An offline phase, charged to `context.phase`; returns plain values for the record.

    One of them is "passes", the number of samples that went forward and backward. If samples also
    go forward through a second model, "teacher_passes" counts these.
    """
    raise _not_given(self, "learn_stored")

  def stored_macs(self, num_stored: int) -> int | None:
    """MACs of an offline phase over `num_stored` samples, for strategies with a budget; or None.
    """
    del num_stored
    return None

  # What else a protocol may use.

  def know_base(self, known: np.ndarray, context: context_lib.Context) -> dict[str, Any]:
    """Called before the first step with the classes bool [C] that are known without examples.

    Returns plain values for the record.
    """
    del known, context
    return {}

  def mac_layers(self) -> Layers | None:
    """The layers of backbone and head, for `mac_views.views`; None if they are not known."""
    return None

  @default
  def new_below(self) -> float | None:
    """The largest logit below which a sample is of a new class; None if there is no such limit.

    It is fixed by `learn` or `learn_stored`.
    """
    return None

  @default
  def see(self) -> Callable[[tf.Tensor], tf.Tensor] | None:
    """None, or a function of codes to what `answer` and `update` take.

    Codes are then indices of samples whose images are read when they are looked at; `update` takes
    either.
    """
    return None

  @default
  def frozen_features(self) -> FrozenFeatures | None:
    """None, or the `FrozenBackbone` that `encode` is: its codes may be shared."""
    return None


class EpisodicLearner(BaseLearner):
  """Learns within an episode by pure functions on tensors: many episodes run in one compiled graph.

  Only meta-training changes variables: an episode changes none, and all that is learned within it
  is in the state that `adapt` returns. B images; W classes (ways) of the whole task.

  Attributes:
    optimizer: of the meta-training, built in `begin`, so that a checkpoint holds its moments; None
      if the learner was made without meta-training.
  """

  optimizer: tf.keras.optimizers.Optimizer = None

  @default
  def transductive(self) -> bool:
    """Whether an answer may depend on the other target images; for the record."""
    raise _not_given(self, "transductive")

  def initial_state(self, num_classes: int) -> Any:
    """The state before the first support set: a structure of tensors of fixed shapes."""
    raise _not_given(self, "initial_state")

  def adapt(self, state: Any, codes: tf.Tensor, labels: tf.Tensor) -> Any:
    """The state after one support set, codes [B, ...] and labels [B], which is not shown again."""
    raise _not_given(self, "adapt")

  def logits(self, state: Any, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, W] for codes [B, ...]."""
    raise _not_given(self, "logits")

  @property
  def can_encode(self) -> bool:
    """Whether images are encoded before episodes are formed."""
    return _overrides(self.encode, EpisodicLearner.encode)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of images [B, H, W, 3], row by row; the images if they are not encoded.

    No episode changes codes: the images of all validation or test episodes are encoded only once.
    """
    return tf.identity(images)

  # Meta-training.

  @property
  def can_meta_train(self) -> bool:
    """Whether the learner has a `meta_loss`."""
    return _overrides(self.meta_loss, EpisodicLearner.meta_loss)

  def meta_loss(self, episode: Any) -> tuple[tf.Tensor, Any]:
    """The loss [] of one episode of images, which meta-training minimizes; and its statistics.

    An episode is a tuple of tensors, see `suite.data.episodes`. The loss is minimized over
    `trainable_variables`. The statistics, a structure of tensors or (), are for variables without
    gradients, such as running means: episodes run side by side, so no variable may be written here.
    """
    raise _not_given(self, "meta_loss")

  @property
  def can_group(self) -> bool:
    """Whether many episodes are one call of `meta_loss_together` or `answers_together`."""
    return (_overrides(self.meta_loss_together, EpisodicLearner.meta_loss_together)
            and _overrides(self.answers_together, EpisodicLearner.answers_together))

  def meta_loss_together(self, episodes: Any) -> tuple[tf.Tensor, Any]:
    """The mean over E episodes, each part with a leading axis E, and the sum of their statistics.

    `cfsl.Compute.task_batching = 'grouped'` calls it.
    """
    raise _not_given(self, "meta_loss_together")

  def answers_together(self, episodes: Any, *, unrolled: bool = False) -> tf.Tensor:
    """Logits [E, T, W] of the targets of E episodes after all their support sets.

    Args:
      episodes: support images [E, S, N, H, W, C] and labels [E, S, N], target images
        [E, T, H, W, C]; or codes in place of images.
      unrolled: whether the graph holds the operations of each support set.
    """
    raise _not_given(self, "answers_together")

  def zero_statistics(self) -> Any:
    """Zeros in the structure of the statistics; there are none by default."""
    return ()

  def update_statistics(self, seen: Any) -> None:
    """Called after each update with the sum of the statistics of all its episodes."""
    del seen

  @default
  def keeps_budget(self) -> bool:
    """Yes: the protocol meta-trains, and asks."""
    return True

  @default
  def shares_updates(self) -> bool:
    """Replicas share the updates of meta-training."""
    return self.can_meta_train


class PretrainingLearner(BaseLearner):
  """Trains an encoder."""

  @default
  def encoder(self) -> tf.keras.Model:
    """Images to features; the result of the training."""
    raise _not_given(self, "encoder")

  @default
  def name_of_pretext(self) -> str:
    """Name of the pretext task, for the record."""
    raise _not_given(self, "name_of_pretext")

  def start_from(self, weights: Sequence[np.ndarray]) -> None:
    """Gives the encoder first weights, after `begin`; only a learner that starts so calls it."""
    raise _not_given(self, "start_from")

  def learn(self, portion: deliveries_lib.Portion, context: context_lib.Context) -> dict[str, Any]:
    """Does the portion's updates; returns plain values for the record."""
    raise _not_given(self, "learn")


L = TypeVar("L", bound=BaseLearner)
_classes: dict[tuple[type, type], type] = {}  # The adapted class of a class and a contract.


def adapted(learner: Any, contract: type[L]) -> L:
  """Returns a learner as one of a contract's class: itself, if it is of that class.

  An object of another class shares its attributes with the learner that is returned, whose class
  has the object's methods and the contract's defaults. Checkpoints hold the variables that its
  `__init__` has made, too. Messages are the same.

  Args:
    learner: any object.
    contract: one of the classes above.
  """
  if isinstance(learner, contract):
    return learner
  try:
    cls = type(learner)
    if (cls, contract) not in _classes:  # The class has the name of the object's.
      same = {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
      _classes[cls, contract] = types.new_class(
          cls.__name__, (cls, contract), exec_body=lambda body: body.update(same))
    made: L = object.__new__(_classes[cls, contract])
    object.__setattr__(made, "__dict__", vars(learner))
  except TypeError as error:  # It is None, a class, or has slots.
    raise ValueError(
        f"{learner!r} cannot be a learner ({error}). Give an object with the methods of "
        f"{contract.__name__}, best of a subclass of it (suite/contracts/learner.py).") from error
  if not isinstance(learner, tf.Module):
    attributes = vars(learner)  # Those of both.
    for name in [name for name, value in attributes.items() if _holds_state(value)]:
      setattr(made, name, attributes.pop(name))  # From here on checkpoints find it.
  return made


def _holds_state(value: Any) -> bool:
  """Whether a value, or what a list or mapping holds, has variables for checkpoints."""
  if isinstance(value, Mapping):
    return any(map(_holds_state, value.values()))
  if isinstance(value, (list, tuple)):
    return any(map(_holds_state, value))
  return isinstance(value, tf.__internal__.tracking.Trackable)


def gives(learner: object, name: str) -> bool:
  """Whether an object or its class has a name that is not the default of a contract."""
  if name in getattr(learner, "__dict__", {}):
    return True
  owner = next((cls for cls in type(learner).__mro__ if name in vars(cls)), None)
  return owner is not None and owner.__module__ != __name__


def _overrides(method: Callable[..., Any] | None, default: Callable[..., Any]) -> bool:
  """Whether a learner's method is another function than the contract's default, and not None."""
  return method is not None and getattr(method, "__func__", method) is not default


class NotGivenError(NotImplementedError, AttributeError):
  """A learner lacks a method or value for which its contract has no default."""


def _not_given(learner: BaseLearner, name: str) -> NotGivenError:
  return NotGivenError(
      f"{type(learner).__name__} has no {name}; suite/contracts/learner.py says who needs it.")


@functools.cache
def names() -> frozenset[str]:
  """All public names of the contracts."""
  contracts = (BaseLearner, Learner, SequenceLearner, EpisodicLearner, PretrainingLearner)
  found = {name for cls in contracts for name in (*vars(cls), *vars(cls).get("__annotations__", ()))
           if not name.startswith("_")}
  return frozenset(found | _OTHER_NAMES)


def check_maker(make: Callable[[], Any]) -> None:
  """Refuses misspelt names of a learner that is not made yet, if its maker is its class."""
  if isinstance(make, type) and hasattr(make, "begin"):
    _check_names(make)


def _check_names(cls: type) -> None:
  """Raises an error for a public name of a class that is close to one of the contracts."""
  known, of_modules = names(), dir(tf.Module)
  # A parent that is a learner itself was checked when it was made.
  own = [name for one in cls.__mro__ if (one is cls or not issubclass(one, BaseLearner))
         and one.__module__.partition(".")[0] not in _LIBRARIES for name in vars(one)]
  for name in own:
    if name.startswith("_") or name in known or name in of_modules:
      continue
    close = difflib.get_close_matches(name.lower(), known, 1, _CLOSE)
    if close and len(close[0]) > _SHORT:
      raise ValueError(
          f"{cls.__name__} has {name!r}, which no protocol knows: a learner has {close[0]!r}. "
          f"Rename it to {close[0]!r}, or to a name that is less like it; "
          "suite/contracts/learner.py has all names.")
