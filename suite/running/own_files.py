# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Methods and nets in files of the user, as run files name them: "my.py:Mine", "net.keras".

    experiment.run.learners = {'Mine': @Mine/own_files.learner}
    Mine/own_files.learner.file = '/home/me/my.py:Mine'

The code is a part of a run's identity (`run_parts`). Such a run file runs any code that it names,
so --gin_names never allows these functions.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import functools
import importlib.util
import inspect
import pathlib
import sys
import traceback
from typing import Any, NamedTuple

import numpy as np

from suite.configs import gin_files
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.models import model_files
from suite.models.own import own_model
from suite.running import own_learner
from suite.running import this_process
from suite.training.objectives import objective
from suite.training.statistics import statistic

# How a run file makes a learner of a class.
LEARNER, OBJECTIVE, REPLAY, STATISTIC = "learner", "objective", "replay", "statistic"
MODELS = (".keras", ".h5", ".hdf5")
# To a learner's constructor.
_GIVEN = ("transform", "features", "net", "backbone", "image_size", "image_shape")


class Found(NamedTuple):
  """A class or function of a file: the file, its name there, the object."""

  path: pathlib.Path
  name: str
  value: Any

  @property
  def text(self) -> str:
    return f"{self.path}:{self.name}"


def is_file(text: str) -> bool:
  """Whether a text names a file of the user, not a method or net of the suite."""
  return _divided(text)[0].suffix.lower() in (".py", *MODELS)


def is_code(text: str) -> bool:
  """Whether a text names a class or function of a Python file."""
  return _divided(text)[0].suffix.lower() == ".py"


def absolute(text: str) -> str:
  """The same class, function or model file, whatever the current folder is."""
  path, name = _divided(text)
  return f"{path.resolve()}:{name}" if name else str(path.resolve())


def find(text: str) -> Found:
  """The class or function that a text names: "my.py:Mine", or "my.py" if the file has one method.

  Raises:
    ConfigError: there is no such file or name, or the file cannot be imported; one line.
  """
  path, name = _divided(text)
  if path.suffix.lower() != ".py":
    raise gin_files.ConfigError(f"{text!r} is no Python file. Give FILE.py:NAME.")
  if not path.is_file():
    raise gin_files.ConfigError(f"There is no file {str(path)!r}. Give FILE.py:NAME.")
  module = _module(path, path.stat().st_mtime_ns)
  own = {key: value for key, value in vars(module).items() if not key.startswith("_")
         and getattr(value, "__module__", None) == module.__name__ and callable(value)}
  if name:
    if name not in vars(module):
      raise gin_files.ConfigError(f"{path.name} has no {name!r}. {gin_files.nearest(name, own)}")
    return Found(path, name, getattr(module, name))
  classes = {key: value for key, value in own.items() if isinstance(value, type)}
  chosen = {key: value for key, value in classes.items() if _is_method(value)} or classes or own
  if len(chosen) != 1:
    raise gin_files.ConfigError(
        f"{path.name} has {', '.join(chosen)}; name the one that is meant: "
        f"{path.name}:{next(iter(chosen))}" if chosen else
        f"{path.name} has no class or function. Write a class, and name it: {path.name}:Mine")
  (name, value), = chosen.items()
  return Found(path, name, value)


def load(text: str) -> Any:
  """The object of a text, see `find`."""
  return find(text).value


def kind_of(found: Found) -> str:
  """How a run file makes a learner of it: one of the kinds above; refuses what no run can call."""
  kind = LEARNER
  if isinstance(found.value, type) and issubclass(found.value, objective.Objective):
    kind = REPLAY if {objective.REPLAY, objective.MEMORY} & set(found.value.needs) else OBJECTIVE
  elif isinstance(found.value, type) and issubclass(found.value, statistic.Statistic):
    kind = STATISTIC
  elif not callable(found.value) or own_model.is_model(found.value):
    raise gin_files.ConfigError(f"{found.text} is {type(found.value).__name__}; give a class, or a "
                                "function that makes a learner.")
  given = _GIVEN if kind == LEARNER else ()
  missing = [name for name, one in inspect.signature(found.value).parameters.items()
             if one.default is one.empty and name not in given
             and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
  if missing:
    raise gin_files.ConfigError(
        f"{found.text} needs {', '.join(missing)}, and a run gives {', '.join(given) or 'nothing'} "
        "by these names. Give the others defaults.")
  return kind


def made(file: str) -> Any:
  """An objective or a statistic of a user's class."""
  return _called(find(file), {})


def learner(file: str, *, delivery: str, transform: examples.Transform | None = None,
            net: Any = None, features: Any = None) -> Any:
  """A learner of a user's class or function, as contracts ask for it.

  What its parameters name is passed: transform, features, image_size, image_shape, and net (or
  backbone), a function of `image_shape` that makes the run's net. One without a transform gets the
  run's.

  Args:
    file: see `find`.
    delivery: how the protocol delivers data, see `deliveries`.
    transform, features, net: those of the run.
  """
  found = find(file)
  shape = getattr(transform, "shape", (None,))
  offered = dict(zip(_GIVEN, (transform, features, net, net, shape[0], shape)))
  one = own_learner.made(found.name, functools.partial(_called, found, offered), delivery)
  if transform is not None and getattr(one, "transform", None) is None:
    one.transform = transform
  return one


def backbone(file: str, head: str = "new") -> own_model.Backbone:
  """The net of a user's function or model file, as run files have it.

  Args:
    file: "my_net.py:make", or a .keras or .h5 file.
    head: see `own_model.HEADS`.
  """
  path, _ = _divided(file)
  if path.suffix.lower() not in MODELS:
    return own_model.Backbone(load(file), head, owner=file)
  if not path.is_file():
    raise gin_files.ConfigError(f"There is no file {str(path)!r}. Give NET.keras, or NET.py:make.")
  return own_model.Backbone(_model(path, path.stat().st_mtime_ns), head, owner=file)


def check_net(made: own_model.Backbone, image_shape: tuple[int, int, int], owner: str) -> int:
  """Makes the net of drawn images once, and returns the number of its features.

  Raises:
    ValueError: it has several inputs or outputs, or makes no features [B, D] or probabilities.
  """
  with _explained(_divided(owner)[0], "the net cannot be made"):
    net = made(image_shape=image_shape)
  images = np.random.default_rng(0).integers(0, 256, [8, *image_shape]).astype(np.float32)
  output = np.asarray(net(images, training=False))
  if output.shape[1] > 1 and (output >= 0).all() and np.allclose(output.sum(axis=1), 1, atol=1e-3):
    raise ValueError(f"{owner} makes probabilities: the outputs of an image add up to 1. Learners "
                     "put a head on features: leave the softmax and the layer before it out.")
  return int(output.shape[1])


def _called(found: Found, offered: dict[str, Any]) -> Any:
  """Calls a class or function with what it asks for by name."""
  parameters = inspect.signature(found.value).parameters
  with _explained(found.path, f"{found.name} cannot be made"):
    return found.value(**{name: one for name, one in offered.items() if name in parameters})


@contextlib.contextmanager
def _explained(path: pathlib.Path, what: str) -> Iterator[None]:
  """Turns an error of the user's file into one line that names the file and its line."""
  try:
    yield
  except Exception as error:
    if this_process.is_our_message(error):
      raise
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if frame.filename == str(path.resolve())]
    line = getattr(error, "lineno", None) or (lines[-1] if lines else None)
    where = f", line {line}" if line else ""
    raise gin_files.ConfigError(f"{path.name}{where}: {what} ({type(error).__name__}: "
                                f"{gin_files.first_line(error)}).") from error


def _is_method(value: type) -> bool:
  return issubclass(value, (learner_lib.BaseLearner, objective.Objective, statistic.Statistic)) or (
      hasattr(value, "learn") and hasattr(value, "predict"))


def _divided(text: str) -> tuple[pathlib.Path, str]:
  path, colon, name = text.rpartition(":")
  if not colon or "/" in name or not path:
    path, name = text, ""
  return pathlib.Path(path).expanduser(), name


@functools.lru_cache(maxsize=8)
def _model(path: pathlib.Path, changed: int) -> Any:
  """The model of a file; `changed` is the time of its last change."""
  del changed
  return model_files.load(path)


@functools.lru_cache(maxsize=32)
def _module(path: pathlib.Path, changed: int) -> Any:
  """The module of a file, which may import files beside it; `changed` as of `_model`."""
  del changed
  path = path.resolve()
  before = sys.modules.get(path.stem)
  is_taken = before is not None and getattr(before, "__file__", None) != str(path) or (
      path.stem in getattr(sys, "stdlib_module_names", ()))
  name = f"own_{path.stem}" if is_taken else path.stem
  spec = importlib.util.spec_from_file_location(name, path)
  assert spec is not None and spec.loader is not None
  module = importlib.util.module_from_spec(spec)
  if str(path.parent) not in sys.path:
    sys.path.append(str(path.parent))
  sys.modules[name] = module
  try:
    with _explained(path, "it cannot be imported"):
      spec.loader.exec_module(module)
  except BaseException:
    del sys.modules[name]
    raise
  return module
