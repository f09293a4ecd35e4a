# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A run of a protocol and learners that are Python objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
import inspect
import time
from typing import Any

from absl import logging
import numpy as np
import tensorflow as tf

from suite import experiment
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import run_settings
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import refusals
from suite.data.episodes import episodes
from suite.data.images import image_set
from suite.data.sequences import sequences
from suite.data.streams import buckets
from suite.data.streams import stream_events
from suite.models import keras3
from suite.models.own import own_model
from suite.running import own_learner
from suite.running import run_parts
from suite.running import this_process

_LONG_SECONDS = 10.0  # To find out what data is; then the cost is reported.
_PLAIN = (bool, int, float, str, bytes, type(None))
# Settings that `suite.run` sets itself.
_OURS = ("workdir", "gin_names", "command")
_MADE = (buckets.Buckets, stream_events.Stream, sequences.Sequence, episodes.Episodes)
# Argument of a shipped protocol -> what it is, and what makes it.
_DATA: dict[str, tuple[type, str]] = {
    "buckets": (buckets.Buckets, "suite.buckets.of([...]) of a list with (training set, test set), "
                                 "or one image set, for each bucket"),
    "stream": (stream_events.Stream, "suite.streams.of([...]) of a list with an image set, or its "
                                     "splits, for each task"),
    "sequence": (sequences.Sequence, "suite.sequences.of(images) of one image set"),
    **{f"episodes_{part}": (
        episodes.Episodes, "suite.episodes.of(images, way=..., shot=...) of one image set")
       for part in ("train", "test", "validation")},
    **dict.fromkeys(("base", "images"), (
        image_set.ImageSet, "one image set, made by suite.images.from_arrays, from_dataset, "
        "from_directory, from_csv, from_huggingface or from_tfds"))}


def run(protocol: Any, learners: Any, *, metrics: Mapping[str, Callable[..., Any]] | None,
        settings: Mapping[str, Any], instead: Callable[..., str] | None = None) -> str:
  """Runs the protocol with each learner; returns the work directory.

  Args:
    protocol, learners, metrics: see `suite.run`.
    settings: of the run, and arguments of the protocol.
    instead: see `experiment.run`; learners that were given as objects are the same ones again.
  """
  name, fn = _protocol(protocol)
  # The protocol's own arguments, also where a setting has such a name (`lifelong.run.budget`).
  known = set(run_settings.names()) - set(inspect.signature(fn).parameters)
  own = {key: value for key, value in settings.items() if key not in known}
  _check_arguments(name, fn, own)
  shipped = descriptions.SHIPPED.get(name) if descriptions.of(fn) else None
  delivery = (shipped.delivery if shipped else "") or deliveries.BUCKETS
  if shipped:
    _check_data(own)
  if learners is None:
    raise ValueError("suite.run(protocol=...) needs learners: {'name': learner}, where a learner "
                     "is a Keras model, suite.learner(model, ...), or an object of suite/learners.")
  named = {str(label): given for label, given in (
      learners.items() if isinstance(learners, Mapping) else [("mine", learners)])}
  for label, one in named.items():  # Before the work directory belongs to this configuration.
    if one is None or isinstance(one, (*_PLAIN, list, tuple, Mapping, np.ndarray)):
      raise ValueError(f"Learner {label!r} is {one!r}. Give a Keras model, suite.learner(model), "
                       "an object of suite/learners, or a function that makes one. A method by its "
                       f"name is suite.learner(model, {one if isinstance(one, str) else 'er'!r}).")
  makers: dict[str, Callable[[], Any]] = {}
  for label, one in named.items():
    keras3.refuse_foreign(one, f"Learner {label!r}")
    if isinstance(one, own_learner.OwnLearner):
      makers[label] = functools.partial(one.make, delivery)
    elif own_model.is_model(one):
      own_learner.check_model(label, one)
      makers[label] = functools.partial(
          own_learner.made, label, functools.partial(own_learner.learner, one), delivery)
    elif isinstance(one, type) or (callable(one) and not isinstance(one, tf.Module)):
      makers[label] = functools.partial(own_learner.made, label, one, delivery)
    elif instead is None:
      makers[label] = functools.partial(_once, label, one)
    else:
      makers[label] = functools.partial(_same, one)
  given = run_settings.from_python({
      "command": f"suite.run(protocol={name!r})",
      **{key: value for key, value in settings.items() if key in known}}).for_run(name)
  given.set_data_dirs()
  gin_parse.clear()  # What an earlier run of this process has used is no part of this one.
  identities = {} if instead is not None else _identities(name, fn, own, named, metrics or {})
  used = list(_used)
  try:
    experiment.run(
        protocol=functools.partial(fn, **own), learners=makers, metrics=metrics, seed=given.seed,
        op_threads=given.op_threads, budget=given.budget, settings=given, instead=instead,
        origin=run_settings.RunOrigin(
            _config_text(identities, given), identities.__getitem__ if identities else None))
  except BaseException as error:
    if this_process.exit_code(error) == refusals.USAGE:  # Before its first event.
      _used[:] = used
    raise
  return given.workdir


def _identities(name: str, protocol: Any, settings: Mapping[str, Any],
                learners: Mapping[str, Any], metrics: Mapping[str, Any]
                ) -> dict[str, run_settings.RunIdentity]:
  """The identities of the learners' runs, by label."""
  began, data = time.monotonic(), run_parts.Parts()
  for key, value in sorted(settings.items()):
    data.add(f"protocol.{key}", value)
    data.texts.update(run_parts.contents(f"protocol.{key}", key, value))
  shared, protocol = run_parts.Parts(data), name if name in descriptions.SHIPPED else protocol
  shared.add("protocol", protocol)
  for key, value in sorted(metrics.items()):
    shared.add(f"metric.{key}", value)
  took, found = time.monotonic() - began, {}
  if took > _LONG_SECONDS:
    logging.warning(
        "It took %.0f s to compute digests of the data. Give each large set a version, "
        "images.with_version('1'), which then stands for its images; change it with them.", took)
  for label, learner in learners.items():
    parts = run_parts.Parts(shared)
    parts.add("learner", learner)
    found[label] = run_settings.RunIdentity(
        parts.texts, parts.first_weights, functools.partial(_after, data, protocol, learner))
  return found


def _after(data: run_parts.Parts, protocol: Any, learner: Any) -> dict[str, str]:
  """The code and the learner as they are now; data is not looked at."""
  parts = run_parts.Parts(data)
  parts.add("protocol", protocol)
  parts.add("learner", learner)
  return parts.texts


def _config_text(identities: Mapping[str, run_settings.RunIdentity],
                 settings: run_settings.RunSettings) -> str:
  """The identities of the runs of a command as text."""
  lines = [f"# Python objects, by suite.run; seed {settings.seed}"]
  lines += [f"budget = {settings.budget!r}"] if settings.budget else []
  for label, identity in identities.items():
    lines += [f"{f'{label}: ' if name.startswith('learner') else ''}{name} = {text}"
              for name, text in identity.texts.items()]
  return "\n".join(dict.fromkeys(lines)) + "\n"


def _protocol(protocol: Any) -> tuple[str, Callable[..., Any]]:
  """Returns a protocol's name and function."""
  if isinstance(protocol, str):
    if protocol not in descriptions.SHIPPED:
      raise ValueError(f"Unknown protocol {protocol!r}. "
                       f"{gin_files.nearest(protocol, descriptions.SHIPPED)}")
    name, fn = protocol, descriptions.load(protocol).run
  elif not callable(protocol):
    raise ValueError(f"protocol is {protocol!r}; give one of {', '.join(descriptions.SHIPPED)}, or "
                     "a function protocol(learner, *, state, ...).")
  elif about := descriptions.of(protocol):
    name, fn = about.name, protocol
  else:
    inner = protocol
    while isinstance(inner, functools.partial):
      inner = inner.func
    name, fn = getattr(inner, "__name__", "own_protocol"), protocol
  return name, fn


def _check_arguments(name: str, fn: Callable[..., Any], given: Mapping[str, Any]) -> None:
  """Refuses unknown and missing arguments of a protocol."""
  parameters = list(inspect.signature(fn).parameters.values())[1:]
  if any(p.kind is p.VAR_KEYWORD for p in parameters):
    return
  allowed = [p.name for p in parameters if p.name != "state"]
  unknown = sorted(set(given) - set(allowed))
  if unknown:
    raise ValueError(f"Protocol {name!r} has no argument {unknown[0]!r}; it has "
                     f"{', '.join(allowed)}. {gin_files.nearest(unknown[0], allowed)} suite.run "
                     "itself takes "
                     f"{', '.join(key for key in run_settings.names() if key not in _OURS)}.")
  missing = [p.name for p in parameters
             if p.name != "state" and p.default is p.empty and p.name not in given]
  if missing:
    raise ValueError(f"Protocol {name!r} needs {', '.join(missing)}; give "
                     f"suite.run(protocol={name!r}, {missing[0]}=..., learners=...).")


def _check_data(given: Mapping[str, Any]) -> None:
  """Refuses lists, dictionaries, arrays and image sets in the place of what is made of them."""
  for name, value in given.items():
    if name not in _DATA or isinstance(value, _DATA[name][0]):
      continue
    wants_set, is_set = _DATA[name][0] is image_set.ImageSet, hasattr(value, "eval_batches")
    if isinstance(value, (str, list, tuple, Mapping, np.ndarray, tf.data.Dataset, *_MADE)) or (
        is_set and not wants_set):
      raise ValueError(f"{name} is {image_set.told(value)}; give {name}={_DATA[name][1]}.")


_used: list[Any] = []  # Learners that have been run: they hold what they learned.


def _once(label: str, learner: Any) -> Any:
  if any(learner is one for one in _used):
    raise ValueError(f"Learner {label!r} has learned in an earlier run of this process. Give a "
                     f"function that makes it: learners={{{label!r}: lambda: ...}}.")
  _used.append(learner)
  return learner


def _same(learner: Any) -> Any:
  return learner
