# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a learner knows, as arrays by name for a snapshot, and back.

Its state is that of `tf.train.Checkpoint`: all that is reached from it through attributes. If these
are variables of one device, they are saved one by one, so that a snapshot writes only those that
have changed. Otherwise (several devices, tables, optimizers of the legacy kind) the files of a
checkpoint are saved.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
import copy
import hashlib
import pathlib
import tempfile
from typing import Any

import numpy as np
import tensorflow as tf

from suite.models.own import own_model
from suite.state import snapshots

_VARIABLE, _CHECKPOINT = "variable/", snapshots.CHECKPOINT
# Without state but for the variables below them.
_PLAIN = (tf.Module, tf.keras.optimizers.Optimizer, tf.random.Generator, list, tuple, dict,
          tf.types.experimental.GenericFunction)
_NOT_USERS = ("suite", "tensorflow", "keras", "tf_keras")
_VIEWED = (tf.uint8, tf.int32, tf.int64, tf.float32, tf.float64)  # Types of Python's buffers.


class CannotGrowError(ValueError):
  """A learner's variables cannot be given to a larger one of the same make."""


class OtherVariablesError(AssertionError):
  """The learner has other variables than those that were saved."""


def arrays(learner: tf.Module) -> Mapping[str, np.ndarray]:
  """The values of a learner's variables, read when they are asked for, or a checkpoint's files."""
  found = _variables(learner)
  if found is not None:
    return _Values(found)
  with tempfile.TemporaryDirectory() as folder:
    try:
      tf.train.Checkpoint(learner=learner).write(str(pathlib.Path(folder, "learner")))
    except tf.errors.OpError as error:  # TensorFlow's error of a full disk.
      raise OSError(error.message) from error
    return {_CHECKPOINT + path.name: np.fromfile(path, np.uint8)
            for path in sorted(pathlib.Path(folder).iterdir())}


def names(learner: tf.Module) -> list[str]:
  """The ways to the variables of a snapshot; [] if its other state does not tell them."""
  return [name.removeprefix(_VARIABLE) for name in _variables(learner) or ()]


def unsaved(learner: Any) -> dict[str, Hashable]:
  """Contents of the attributes that no snapshot holds, by name: arrays, numbers, lists of them."""
  found: dict[str, Hashable] = {}
  for name, value in vars(learner).items():
    try:
      found[name] = None if name.startswith("_self_") else _contents(value)
    except Exception:  # Of whatever a user's objects do: they are not compared.
      found[name] = None
  return found


def _contents(value: Any, depth: int = 4) -> Hashable:
  """What tells a value from another one; None: a snapshot holds it, or it is not looked into."""
  if isinstance(value, (bool, int, float, str, bytes)):
    return value
  if isinstance(value, (np.ndarray, np.generic, tf.__internal__.EagerTensor)):
    array = np.ascontiguousarray(value)
    is_plain = array.dtype.kind in "biufc"  # Others cannot be read as they lie in memory.
    return array.shape, hashlib.blake2b(array.data if is_plain else b"").digest()
  if not depth:
    return None
  if isinstance(value, Mapping):
    return tuple((str(key), _contents(one, depth - 1)) for key, one in value.items())
  if isinstance(value, (list, tuple, set, collections.deque)):
    return tuple(_contents(one, depth - 1) for one in value)
  if isinstance(value, tf.__internal__.tracking.Trackable) or callable(value) or (
      type(value).__module__.partition(".")[0] in _NOT_USERS):
    return None
  return tuple((name, _contents(one, depth - 1)) for name, one in getattr(
      value, "__dict__", {}).items())


def variables(learner: tf.Module) -> list[tf.Variable]:
  """The variables of a snapshot; of a learner with other state, those that are its attributes."""
  found = _variables(learner)
  return list(learner.variables if found is None else found.values())


def blank_copy(learner: Any) -> Any:
  """A copy of a learner that has not begun; its nets have the same weights.

  `copy` fails on Keras's optimizers and on nets of users' classes. Those among the learner's
  attributes are made again from their configurations, optimizers without variables.
  """
  made: dict[int, Any] = {}
  for name, one in vars(learner).items():
    if isinstance(one, tf.keras.optimizers.Optimizer):
      made[id(one)] = type(one).from_config(one.get_config())
    elif isinstance(one, tf.keras.Model):
      made[id(one)] = net = own_model.copied(one)
      if one.built:
        net.set_weights(one.get_weights())
      shape: Any = own_model.seen_shape(one) if own_model.has_layers_of_users(one) else None
      if shape is not None and all(shape):
        own_model.check_alike(net, one, shape, f"{type(learner).__name__}.{name}")
  return copy.deepcopy(learner, made)


def copied(learner: tf.Module) -> dict[str, np.ndarray]:
  """The values as they are now, for `restore` in the same process."""
  return dict(arrays(learner).items())


def restore(learner: tf.Module, saved: Mapping[str, np.ndarray]) -> None:
  """Gives a learner what `arrays` returned; its variables must have been made."""
  if any(name.startswith(_CHECKPOINT) for name in saved):
    with tempfile.TemporaryDirectory() as folder:
      for name, content in saved.items():
        content.tofile(pathlib.Path(folder, name.removeprefix(_CHECKPOINT)))
      try:
        tf.train.Checkpoint(learner=learner).read(
            str(pathlib.Path(folder, "learner"))).assert_consumed()
      except tf.errors.OpError as error:
        raise OSError(error.message) from error
    return
  found = _variables(learner) or {}
  if set(found) != set(saved):
    raise OtherVariablesError(
        f"{type(learner).__name__} has other variables than were saved. New: "
        f"{_some(set(found) - set(saved))}; missing: {_some(set(saved) - set(found))}. `begin` "
        "must make the same variables for the same tasks; if the learner's code has changed, start "
        "again in a new work directory.")
  for name, variable in found.items():
    variable.assign(saved[name])


def grow(learner: tf.Module, smaller: tf.Module,
         make: Callable[[Sequence[int], tf.DType, Callable[[], tf.Tensor]], tf.Tensor]
         = lambda shape, dtype, values: values()) -> None:
  """Gives a new learner what one that has learned knows, of the same make and with fewer classes.

  Variables are paired by their way from the learner. Where the larger learner's has more places
  along an axis, the first ones become those of the smaller learner, and the others, of new classes,
  stay as a new learner has them: first weights, velocities of 0, importances of 0.

  Args:
    learner: the new one.
    smaller: the one that has learned.
    make: make(shape, dtype, values) is what a variable becomes, values() or what stands for it.

  Raises:
    CannotGrowError: the learners have other variables, or variables on several devices.
  """
  old, new = _variables(smaller), _variables(learner)
  name = type(learner).__name__
  if old is None or new is None:
    raise CannotGrowError(
        f"{name} cannot take up further classes: it has variables on several devices, or an "
        "optimizer of the legacy kind. Run it with --strategy one_device, and with an optimizer of "
        "tf.keras.optimizers.")
  if set(old) != set(new):
    raise CannotGrowError(
        f"{name} has other variables for more classes. New: {_some(set(new) - set(old))}; missing: "
        f"{_some(set(old) - set(new))}. `begin` must make the same variables for any number of "
        "classes.")
  for way, variable in new.items():
    value, known = variable.value(), old[way].value()
    # Axes of any length, such as the rows of what is kept, are as long as they were.
    shape = [k if axis is None else v
             for axis, v, k in zip(variable.shape, value.shape, known.shape)]
    if len(value.shape) != len(known.shape) or any(k > n for k, n in zip(known.shape, shape)):
      raise CannotGrowError(
          f"{name} cannot take up further classes: {way.removeprefix(_VARIABLE)} has the shape "
          f"{list(known.shape)}, and {list(value.shape)} for more classes.")

    def placed(value: tf.Tensor = value, known: tf.Tensor = known,
               shape: list[int] = shape) -> tf.Tensor:
      found = np.zeros(shape, value.dtype.as_numpy_dtype)
      kept = tuple(slice(0, min(n, v)) for n, v in zip(shape, value.shape))
      found[kept] = value.numpy()[kept]
      return tf.constant(grown(known.numpy(), found))

    variable.assign(make(shape, variable.dtype, placed))


def grown(known: np.ndarray, new: np.ndarray) -> np.ndarray:
  """An array of the shape of `new`, whose first places along each axis are those of `known`."""
  found = new.copy()
  found[tuple(slice(0, length) for length in known.shape)] = known
  return found


def _some(names: set[str]) -> str:
  listed = ", ".join(sorted(name.removeprefix(_VARIABLE) for name in names)[:3])
  return f"{len(names)} ({listed})" if names else "none"


class _Values(Mapping[str, np.ndarray]):
  """Reads a variable when it is asked for, since a memory may be large, and copies none."""

  def __init__(self, variables: Mapping[str, tf.Variable]):
    self._variables = variables

  def __getitem__(self, name: str) -> np.ndarray:
    value = self._variables[name].read_value()
    # A variable that is written to while its value is held gets new memory.
    return np.asarray(memoryview(value) if value.dtype in _VIEWED else value.numpy())

  def __iter__(self) -> Iterator[str]:
    return iter(self._variables)

  def __len__(self) -> int:
    return len(self._variables)


def _variables(learner: tf.Module) -> dict[str, tf.Variable] | None:
  """The variables by their way from the learner; None if there is other state."""
  found: dict[str, tf.Variable] = {}
  seen, waiting = {id(learner)}, [("", learner)]
  for path, one in waiting:  # It grows: the shortest way first, as in checkpoints.
    if isinstance(one, tf.Variable):
      if isinstance(one, tf.distribute.DistributedValues) or one.dtype == tf.string:
        return None
      found[_VARIABLE + path] = one
    elif not isinstance(one, _PLAIN):
      return None
    for name, child in tf.train.TrackableView.children(one).items():
      if id(child) not in seen:
        seen.add(id(child))
        escaped = name.replace("~", "~0").replace("/", "~1")
        waiting.append((f"{path}/{escaped}" if path else escaped, child))
  return found
