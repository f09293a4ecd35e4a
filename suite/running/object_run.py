# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A run of a protocol and learners that are Python objects."""

from __future__ import annotations

from collections.abc import Mapping
import functools
import inspect
import os
from typing import Any, Callable

import tensorflow as tf

from suite import experiment
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.running import launch
from suite.running import object_text
from suite.running import own_learner
from suite.running import results

# Arguments of `experiment.run` that `suite.run` sets itself.
_OURS = ("protocol", "learners", "only", "workdir", "metrics", "config_text", "command",
         "find_unused")


def run(protocol: Any, learners: Any, *, workdir: str | os.PathLike | None,
        metrics: Mapping[str, Callable[..., Any]] | None, **settings: Any) -> results.Result:
  """Runs the protocol with each learner; arguments as of `suite.run`."""
  name, fn = _protocol(protocol)
  known = [p for p in inspect.signature(experiment.run).parameters if p not in _OURS]
  given = {key: value for key, value in settings.items() if key in known}
  own = {key: value for key, value in settings.items() if key not in known}
  _check_arguments(name, fn, own, known)
  shipped = descriptions.SHIPPED.get(name) if descriptions.of(fn) else None
  makers = _makers(learners, (shipped.delivery if shipped else "") or deliveries.BUCKETS)
  folder = str(workdir or os.path.join("runs", name))
  launch.set_data_dirs(given.get("data_dir"), given.get("mirror"))
  gin_parse.clear()  # What an earlier run of this process has used is no part of this one.
  experiment.run(
      protocol=functools.partial(fn, **own),
      learners={label: make for label, (make, _) in makers.items()}, workdir=folder,
      metrics=metrics, command=f"suite.run(protocol={name!r})",
      config_text=object_text.of_run(
          fn, own, {label: described for label, (_, described) in makers.items()}, metrics or {},
          given.get("seed", 0)), **given)
  return results.Result([folder])


def _protocol(protocol: Any) -> tuple[str, Callable[..., Any]]:
  if isinstance(protocol, str):
    if protocol not in descriptions.SHIPPED:
      raise ValueError(f"Unknown protocol {protocol!r}. "
                       f"{gin_files.nearest(protocol, descriptions.SHIPPED)}")
    return protocol, descriptions.load(protocol).run
  if not callable(protocol):
    raise ValueError(f"protocol is {protocol!r}; give one of {', '.join(descriptions.SHIPPED)}, or "
                     "a function protocol(learner, *, state, ...).")
  if about := descriptions.of(protocol):
    return about.name, protocol
  inner = protocol
  while isinstance(inner, functools.partial):
    inner = inner.func
  return getattr(inner, "__name__", "own_protocol"), protocol


def _check_arguments(name: str, fn: Callable[..., Any], given: Mapping[str, Any],
                     of_experiment: list[str]) -> None:
  """Refuses unknown and missing arguments of a protocol, before anything is made."""
  parameters = list(inspect.signature(fn).parameters.values())[1:]
  if any(p.kind is p.VAR_KEYWORD for p in parameters):
    return
  allowed = [p.name for p in parameters if p.name != "state"]
  unknown = sorted(set(given) - set(allowed))
  if unknown:
    raise ValueError(f"Protocol {name!r} has no argument {unknown[0]!r}; it has "
                     f"{', '.join(allowed)}. {gin_files.nearest(unknown[0], allowed)} suite.run "
                     f"itself takes {', '.join(of_experiment)}.")
  missing = [p.name for p in parameters
             if p.name != "state" and p.default is p.empty and p.name not in given]
  if missing:
    raise ValueError(f"Protocol {name!r} needs {', '.join(missing)}; give "
                     f"suite.run(protocol={name!r}, {missing[0]}=..., learners=...).")


def _makers(learners: Any, delivery: str) -> dict[str, tuple[Callable[[], Any], Any]]:
  """By name: a function that makes the learner, and what describes it."""
  if learners is None:
    raise ValueError("suite.run(protocol=...) needs learners: {'name': learner}, where a learner "
                     "is a Keras model, suite.learner(model, ...), or an object of suite/learners.")
  named = learners if isinstance(learners, Mapping) else {"mine": learners}
  return {str(label): (_maker(str(label), given, delivery), given)
          for label, given in named.items()}


def _maker(label: str, given: Any, delivery: str) -> Callable[[], Any]:
  if isinstance(given, own_learner.OwnLearner):
    return lambda: given.make(delivery)
  if isinstance(given, tf.keras.Model):
    return lambda: own_learner.learner(given).make(delivery)
  if isinstance(given, type) or (callable(given) and not isinstance(given, tf.Module)):
    return functools.partial(_made, label, given, delivery)
  return functools.partial(_once, label, given)


def _made(label: str, make: Callable[[], Any], delivery: str) -> Any:
  made = make()
  if isinstance(made, own_learner.OwnLearner):
    return made.make(delivery)
  if isinstance(made, tf.keras.Model):
    return own_learner.learner(make).make(delivery)
  if made is None:
    raise ValueError(f"Learner {label!r} is a function that returns None; it must return a "
                     "learner.")
  return made


_used: list[Any] = []  # Learners that have been run: they hold what they learned.


def _once(label: str, learner: Any) -> Any:
  if any(learner is one for one in _used):
    raise ValueError(f"Learner {label!r} has learned in an earlier run of this process. Give a "
                     f"function that makes it: learners={{{label!r}: lambda: ...}}.")
  _used.append(learner)
  return learner
