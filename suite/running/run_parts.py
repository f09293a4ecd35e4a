# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The identity of a run as text by name: what its results depend on and its user can change.

  learner.epochs                          '3'
  protocol.buckets.buckets[0].train.store  'u1[160, 8, 8, 3]#5f2c...'
  code train.Net.call                      '#91d0...', of the syntax tree
  code train.RATE                          '0.05', a constant that the code reads

Values are described by content, never by address: arrays and encoded images by their bytes,
objects by their attributes, layers by their configurations. Code of the user's own files is
described by its syntax tree, so that a comment is no change; with it all that it calls in these
files, and the values of closures, defaults and module constants that it reads. Functions of
installed packages and of the suite are described by name.

First weights that chance gave are left out: see `are_first_weights`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import contextlib
import dataclasses
import enum
import functools
import hashlib
import inspect
import json
import os
import pathlib
import random
import re
import sys
import types
from typing import Any

import numpy as np
from scipy import stats
import tensorflow as tf

from suite.compute import private_tensorflow
from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import run_settings
from suite.data.episodes import episodes
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.data.images import image_store
from suite.data.images import packed_images
from suite.data.images import prepared_sets
from suite.data.images import tfds_source
from suite.data.own import named_data
from suite.data.sequences import sequences
from suite.data.streams import stream_entry
from suite.data.streams import stream_events
from suite.models import keras3
from suite.models.own import own_model
from suite.running import code_parts
from suite.running import own_files
from suite.state import run_identity

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
_LONGEST = 200  # Letters of a value that is written out; longer ones are digests.
_MOST_BYTES = 4 << 30  # Of files that a gin file names, whose contents are read.
# Random weights of a model that are compared, at least and of each variable; the test's level.
_LEAST_COMPARED, _MOST_COMPARED, _LEVEL = 256, 8192, 1e-6
# What an object was made with, where its other attributes are caches or follow from these.
_MADE_WITH: dict[type, tuple[str, ...]] = {
    image_set.ImageSet: ("name", "kind", "num_classes", "class_names", "ids", "labels", "store"),
    image_store.RawStore: ("pixels",),
    image_store.EncodedStore: ("encoded",),
    feature_set.FeatureStore: ("features",),
    packed_images.PackedStore: ("pixels", "offsets", "sides"),
    prepared_sets.StreamedSet: ("name", "kind", "num_classes", "class_names", "_kept",
                                "_new_labels", "_source"),
    tfds_source.SplitSource: ("name", "split", "version", "size", "num_bytes", "class_names"),
    sequences.Sequence: ("num_base_classes", "num_classes", "class_names", "ids", "segments",
                         "due", "left_out", "_images", "_labels"),
    episodes.Episodes: ("setting", "convention", "with_classes", "_seed", "_data", "_split",
                        "_ids", "labels", "_source", "_classes", "images"),
    stream_events.Stream: ("name", "order", "cut_off", "resized_side", "expected", "left_out",
                           "entries"),
    stream_entry.StreamEntry: ("key", "year", "role", "dataset", "version", "load"),
    own_model.Backbone: ("given", "_head"),
}
# Attributes that Keras sets on layers and models, while they are used, too.
_OF_KERAS = frozenset([
    "built", "input_spec", "stateful", "supports_masking", "inputs", "outputs", "input_names",
    "output_names", "stop_training", "history", "compiled", "compiled_loss", "compiled_metrics",
    "optimizer", "loss", "loss_tracker", "metrics_names", "iterations", "test_function",
    "train_function", "predict_function", "train_tf_function", "dtype_policy", "train_steps"])
# Attributes that TensorFlow, Keras and Python keep for themselves.
_BOOKKEEPING = re.compile(
    r"_self_|_tf_|_keras_|_obj_reference|_name_scope$|_scope_name$|_setattr_tracking$|"
    r"__dict__$|__weakref__$|__module__$|__doc__$|__qualname__$|__firstlineno__$|_abc_impl$|"
    r"__static_attributes__$|__annotations__$|__annotate|__orig_bases__$|__parameters__$")
_PATHS = re.compile(r"(^|_)(directory|folder|path|file|table|images|weights|csv|predictions)$")


def are_first_weights(model: Any) -> bool:
  """Whether chance gave the weights of a built model, and nothing has changed them since.

  They count as such if the seed of the process was not set and each weight fits its initializer: a
  constant exactly, and a random one as a draw from the distribution of a copy's new weights
  (two-sample Kolmogorov-Smirnov test). In doubt they do not.
  """
  if private_tensorflow.seed_of_user() is not None or not model.weights:
    return False
  if int(np.asarray(getattr(getattr(model, "optimizer", None), "iterations", 0) or 0)):
    return False
  drawn = random.getstate()  # Keras takes its seeds from there.
  try:  # Several copies of a small model: the test then sees more.
    copies = [own_model.copied(model).get_weights()
              for _ in range(4 if model.count_params() < _MOST_COMPARED else 1)]
  except Exception:  # A model that cannot be copied is refused later, with a better message.
    return False
  finally:
    random.setstate(drawn)
  compared, has_constants = 0, False
  for weight, *drawn_anew in zip(model.get_weights(), *copies):
    if weight.shape != drawn_anew[0].shape or weight.dtype != drawn_anew[0].dtype:
      return False
    left, right = weight.reshape(-1), drawn_anew[0].reshape(-1)
    if not left.size or left.dtype.kind != "f" or np.all(right == right[0]):
      if not np.array_equal(left, right):
        return False
      has_constants = True
      continue
    step = max(1, left.size // _MOST_COMPARED)
    compared += left[::step].size
    right = np.concatenate([one.reshape(-1)[::step] for one in drawn_anew])
    if stats.ks_2samp(left[::step], right).pvalue < _LEVEL:
      return False
  return has_constants or compared >= _LEAST_COMPARED


class Parts:
  """Describes values; a value that comes again is named by its first place.

  Attributes:
    texts: by name; the identity.
    first_weights: models whose weights are no part of it, by name.
  """

  def __init__(self, before: Parts | None = None) -> None:
    """`before` has parts that these go on from."""
    self.texts: dict[str, str] = dict(before.texts) if before else {}
    self.first_weights: dict[str, Any] = dict(before.first_weights) if before else {}
    # The value is kept, so that no other takes its id.
    self._seen: dict[int, tuple[str, Any]] = dict(before._seen) if before else {}

  def add(self, name: str, value: Any) -> None:
    """Adds the parts of a value under a name."""
    if isinstance(value, (*_PLAIN, enum.Enum, tf.DType, np.dtype, slice, range)):
      self.texts[name] = _short(repr(value))
      return
    if isinstance(value, os.PathLike):
      self.texts[name] = _short(repr(os.fspath(value)))
      return
    if isinstance(value, types.MethodType):
      self.add(name, value.__func__)
      self.add(f"{name}.__self__", value.__self__)
      return
    if isinstance(value, (list, tuple)) and all(isinstance(one, _PLAIN) for one in value):
      self.texts[name] = _short(repr(list(value)))
      return
    if not isinstance(value, (np.generic, tf.TensorShape)):
      if id(value) in self._seen:
        self.texts[name] = f"that of {self._seen[id(value)][0]}"
        return
      self._seen[id(value)] = name, value
    self._add_new(name, value)

  def _add_new(self, name: str, value: Any) -> None:
    if tf.is_symbolic_tensor(value):  # Of a graph, which a learner has kept.
      self.texts[name] = f"{value.dtype.name}{value.shape}"
    elif isinstance(value, (np.ndarray, np.generic, tf.Tensor, tf.Variable)):
      self.texts[name] = array_text(value)
    elif isinstance(value, (types.ModuleType, tf.TensorShape, tf.TensorSpec)):
      self.texts[name] = getattr(value, "__name__", str(value))
    elif own_model.is_model(value):
      self._add_model(name, value)
    elif isinstance(value, functools.partial):
      self.add(name, value.func)
      self.add(f"{name}.args", [*value.args, dict(value.keywords)])
    elif isinstance(value, Mapping):
      self.texts[name] = f"{type(value).__name__} of {len(value)}"
      for key in sorted(value, key=str):
        self.add(f"{name}.{key}", value[key])
    elif isinstance(value, (list, tuple)):
      self.texts[name] = f"{type(value).__name__} of {len(value)}"
      fields = getattr(value, "_fields", None)
      for place, part in enumerate(value):
        self.add(f"{name}.{fields[place]}" if fields else f"{name}[{place}]", part)
    elif isinstance(value, (set, frozenset)):
      self.texts[name] = _short(repr(sorted(map(_alone, value))))
    elif inspect.isroutine(value) or isinstance(value, type) or hasattr(value, "__wrapped__") or (
        hasattr(value, "python_function")):
      self._add_code(name, value)
    else:
      self._add_object(name, value)

  def _add_object(self, name: str, value: Any) -> None:
    """Adds the class of an object and its attributes, or what its class knows of it."""
    kind = type(value)
    self._add_kind(name, kind)
    made_with = next((_MADE_WITH[base] for base in kind.__mro__ if base in _MADE_WITH), None)
    if isinstance(value, image_set.ImageSet) and value.version is not None:
      self.texts[f"{name}.version"] = repr((value.name, value.version))
      made_with = tuple(one for one in made_with or () if one != "store")
    if isinstance(value, stream_entry.StreamEntry):
      self.texts[f"{name}.version"] = repr(value.version())
    if made_with is not None:
      for attribute in made_with:
        if f"{name}.{attribute}" not in self.texts:
          self.add(f"{name}.{attribute}", getattr(value, attribute))
      return
    config = _config(value)
    if config is not None:
      self._add_config(name, value, config)
      return
    if isinstance(value, np.random.Generator):
      self.add(f"{name}.state", value.bit_generator.state)
      return
    attributes = _attributes(value)
    if attributes is None:
      self._add_reduced(name, value)
      return
    for attribute, part in attributes.items():
      self.add(f"{name}.{attribute}", part)

  def _add_reduced(self, name: str, value: Any) -> None:
    """Adds what `copy` and `pickle` would ask an object without attributes for."""
    try:
      reduced = value.__reduce_ex__(2)
    except Exception:  # It cannot be copied: its type is all that is known.
      return
    if isinstance(reduced, str):
      self.texts[f"{name}.value"] = reduced
      return
    for place, part in enumerate(reduced[1:3]):
      self.add(f"{name}.made_with[{place}]", part)

  def _add_kind(self, name: str, kind: type) -> None:
    self.texts[name] = f"{code_parts.module_of(kind)}.{kind.__qualname__}"
    if code_parts.is_own(kind):
      self.add(f"{name}.__class__", kind)

  def _add_config(self, name: str, value: Any, config: Any) -> None:
    """Adds the configuration of a layer, an optimizer or a loss, and its functions.

    The configuration of a class of the user may leave something out: its attributes count, too.
    """
    self.add(f"{name}.config", _lasting(config, _layer_names(config)))
    for attribute, part in _public(value).items():
      is_function = isinstance(part, types.FunctionType) and code_parts.is_own(part)
      if is_function or code_parts.is_own(type(value)):
        self.add(f"{name}.{attribute}", part)

  def _add_model(self, name: str, model: Any) -> None:
    """Adds a model: how its layers are connected, each layer, and its weights."""
    self._add_kind(name, type(model))
    config = _config(model)
    names = _layer_names(config) if config is not None else {}
    if isinstance(config, Mapping) and "layers" in config:
      connected = {key: part for key, part in config.items() if key not in ("name", "layers")}
      connected["layers"] = [
          {key: part for key, part in layer.items() if key not in ("config", "build_config")}
          if isinstance(layer, Mapping) else layer for layer in config["layers"]]
      self.add(f"{name}.connections", _lasting(connected, names))
      for place, layer in enumerate(model.layers):
        self.add(f"{name}.layers[{place}]", layer)
    else:
      self.texts[f"{name}.trainable"] = repr(model.trainable)
      for attribute, part in _public(model).items():
        self.add(f"{name}.{attribute}", part)
      if config is not None:
        self.add(f"{name}.config", _lasting(config, names))
    if not getattr(model, "built", False) or not model.weights:
      return
    if are_first_weights(model):
      self.first_weights[name] = model
      return
    digest = hashlib.sha256()
    for weight in model.get_weights():
      digest.update(array_text(weight).encode())
    self.texts[f"{name}.weights"] = f"#{digest.hexdigest()}"

  def _add_code(self, name: str, value: Any) -> None:
    """Adds a function or a class; see the module."""
    plain = inspect.unwrap(getattr(value, "python_function", value))
    if plain is not value and not inspect.isroutine(plain) and not isinstance(plain, type):
      self.add(name, plain)
      return
    title = getattr(plain, "__qualname__", type(plain).__qualname__)
    called = f"{code_parts.module_of(plain)}.{title}"
    self.texts[name] = called
    closed = getattr(plain, "__closure__", None) or ()
    for variable, cell in zip(getattr(getattr(plain, "__code__", None), "co_freevars", ()), closed):
      try:
        self.add(f"{name}.{variable}", cell.cell_contents)
      except ValueError:  # It is not assigned yet.
        self.texts[f"{name}.{variable}"] = "nothing"
    if not code_parts.is_own(plain):
      return
    if isinstance(plain, type):
      self._add_class(f"code {called}", plain)
    elif isinstance(plain, types.FunctionType):
      self._add_function(f"code {called}", plain)

  def _add_class(self, name: str, kind: type) -> None:
    if name in self.texts:
      return
    self.texts[name] = ", ".join(
        f"{code_parts.module_of(base)}.{base.__qualname__}" for base in kind.__mro__[1:])
    for base in kind.__mro__[1:]:
      if code_parts.is_own(base):
        self._add_class(f"code {code_parts.module_of(base)}.{base.__qualname__}", base)
    for attribute, part in sorted(vars(kind).items()):
      if isinstance(part, (staticmethod, classmethod)):
        part = part.__func__
      if isinstance(part, property):
        part = [one for one in (part.fget, part.fset) if one is not None]
      if isinstance(part, functools.cached_property):
        part = part.func
      if not _BOOKKEEPING.match(attribute) and (
          not attribute.startswith("__dataclass") and _is_describable(part)):
        self.add(f"{name}.{attribute}", part)

  def _add_function(self, name: str, function: types.FunctionType) -> None:
    digest = code_parts.digest_of(function)
    if self.texts.get(name) == digest:
      return
    if name in self.texts:  # Another function of this name, such as a second lambda.
      name = f"{name} {digest}"
    self.texts[name] = digest
    for place, default in enumerate(function.__defaults__ or ()):
      self.add(f"{name}.__defaults__[{place}]", default)
    for key, default in sorted((function.__kwdefaults__ or {}).items()):
      self.add(f"{name}.__defaults__.{key}", default)
    for read, value in code_parts.read_globals(function):
      if isinstance(value, types.ModuleType):
        continue
      own = f"code {code_parts.module_of(function)}.{read}"
      if inspect.isroutine(value) or isinstance(value, type):
        if code_parts.is_own(value):
          self._add_code(f"{name} -> {read}", value)
      elif own not in self.texts and _is_describable(value):
        self.add(own, value)


def array_text(value: Any) -> str:
  """Type, shape and digest of an array, a tensor or a variable; texts count as they are."""
  array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
  array = np.asarray(array)
  digest = hashlib.sha256()
  if array.dtype.kind in "OU":
    for one in array.reshape(-1).tolist():
      data = one if isinstance(one, bytes) else str(one).encode()
      digest.update(len(data).to_bytes(8, "little"))
      digest.update(data)
  else:
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
  kind = "text" if array.dtype.kind in "OU" else array.dtype.name
  return f"{kind}{list(array.shape)}#{digest.hexdigest()}"


def _short(text: str) -> str:
  return text if len(text) <= _LONGEST else (
      f"{text[:40]}...#{hashlib.sha256(text.encode()).hexdigest()}")


def _alone(value: Any) -> str:
  parts = Parts()
  parts.add("", value)
  return json.dumps(sorted(parts.texts.items()))


def _is_describable(value: Any) -> bool:
  """False for locks, open files, threads and the like, which say nothing about a result."""
  return type(value).__module__ not in ("_thread", "_io", "threading", "logging", "weakref",
                                        "_weakref", "_abc")


def _attributes(value: Any) -> dict[str, Any] | None:
  """The attributes of an object by name; None if it has none."""
  if dataclasses.is_dataclass(value):
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
  if _is_keras(value):
    return _public(value)
  slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
  if not hasattr(value, "__dict__") and not slots:
    return None
  found = {**{name: getattr(value, name) for name in slots if hasattr(value, name)},
           **getattr(value, "__dict__", {})}
  if not code_parts.is_own(type(value)) and code_parts.package_of(type(value)) != "suite":
    # Of an installed package: what it was made with, where this is known.
    given: Iterable[str] = ()
    with contextlib.suppress(TypeError, ValueError):
      given = inspect.signature(type(value).__init__).parameters
    made_with = {name: found[key] for name in given for key in (name, f"_{name}") if key in found}
    found = made_with or found
  return {name: part for name, part in sorted(found.items())
          if not _BOOKKEEPING.match(name) and _is_describable(part)}


def _public(value: Any) -> dict[str, Any]:
  """The attributes that the user gave a layer or a model; not its weights, see `are_first_weights`.
  """
  return {name: part for name, part in sorted(vars(value).items())
          if not name.startswith("_") and name not in _OF_KERAS and _is_describable(part)
          and not isinstance(part, tf.Variable) and type(part).__name__ != "Variable"}


def _is_keras(value: Any) -> bool:
  return keras3.is_object(value) or isinstance(value, (
      tf.keras.layers.Layer, tf.keras.optimizers.Optimizer, tf.keras.optimizers.legacy.Optimizer,
      tf.keras.losses.Loss, tf.keras.optimizers.schedules.LearningRateSchedule,
      tf.keras.initializers.Initializer, tf.keras.regularizers.Regularizer))


def _config(value: Any) -> Any:
  """The configuration of an object of Keras; None if it has none, or is no such object."""
  if not _is_keras(value):
    return None
  try:
    return value.get_config()
  except (NotImplementedError, TypeError, ValueError):
    return None


def _layer_names(config: Any) -> dict[str, str]:
  """A lasting name of each layer in a configuration: automatic ones count up in a process."""
  found: dict[str, str] = {}

  def walk(part: Any) -> None:
    if isinstance(part, Mapping):
      if isinstance(part.get("name"), str):
        found.setdefault(part["name"], f"#{len(found)}")
      for one in part.values():
        walk(one)
    elif isinstance(part, (list, tuple)):
      for one in part:
        walk(one)

  walk(config)
  return found


def _lasting(config: Any, names: Mapping[str, str]) -> Any:
  """A configuration as plain values, the same in every process."""
  if isinstance(config, Mapping):
    if config.get("class_name") == "__lambda__":  # Its code is that of an attribute.
      return "lambda"
    is_new = config.get("module", "").startswith("keras.") if isinstance(
        config.get("module", ""), str) else False
    return {str(key): _lasting(part, names) for key, part in config.items()
            if key != "name" and not (key == "function" and isinstance(part, (tuple, list)))
            and not (is_new and key == "seed_generator")}
  if isinstance(config, (list, tuple)):
    return [_lasting(part, names) for part in config]
  if isinstance(config, str):
    return names.get(config, config)
  return config


def of_gin(found: gin_files.Scan, learner: str) -> run_settings.RunIdentity:
  """The identity of a run of gin files: what it reads of the configuration for one learner.

  Functions and classes of the user count with their code, files and folders that are named as data
  or weights by their content.
  """
  parts = Parts()
  read, names = gin_bindings.read_by(found.history, [learner])
  others = [name for name in gin_bindings.learner_names(found.history) if name != learner and any(
      found.history[key][-1].value == name for key in read if key in found.history)]
  if others:  # It reads what another learner of the run has trained, as FT-s.
    read, names = gin_bindings.read_by(found.history, [learner, *others])
  of_run = {(gin_bindings.ROOTS[0], name) for name in (
      gin_bindings.LEARNERS, gin_bindings.ONLY, "seed", "budget", "op_threads")}
  for scope, name, argument in sorted(read):
    if name == gin_bindings.MACRO or (name, argument) in of_run or (
        (scope, name, argument) not in found.history):
      continue
    value = gin_bindings.resolved(found.history, found.history[scope, name, argument][-1].value)
    if value is gin_files.REQUIRED:
      continue
    label = f"{f'{scope}/' if scope else ''}{'.'.join([*name.split('.')[-2:], argument])}"
    if label in parts.texts:
      label = f"{f'{scope}/' if scope else ''}{name}.{argument}"
    parts.texts[label] = _short(repr(value))
    parts.texts.update(contents(label, argument, value))
    if name.startswith(f"{own_files.__name__}.") and own_files.is_code(str(value)):
      names = {*names, value}
  parts.texts["learner"] = _short(repr(gin_bindings.resolved(
      found.history, gin_bindings.learner_value(found.history, learner))))
  after = functools.partial(_code_of, sorted(names))
  return run_settings.RunIdentity({**parts.texts, **after()}, after=after)


def _code_of(names: Iterable[str]) -> dict[str, str]:
  """The code of the functions and classes that are a user's: full names, or "my.py:Mine"."""
  parts = Parts()
  for name in names:
    if own_files.is_code(name):
      parts.add(f"code of {name}", own_files.load(name))
    elif name.partition(".")[0] not in ("suite", "gin", "tfds_builders"):
      target = _named(name)
      if target is not None and code_parts.is_own(target):
        parts.add(f"code of {name}", target)
  return parts.texts


def _named(name: str) -> Any:
  """The object of a full name whose module has been imported; None if there is none."""
  words = name.split(".")
  for length in range(len(words) - 1, 0, -1):
    if (module := sys.modules.get(".".join(words[:length]))) is not None:
      try:
        found: Any = functools.reduce(getattr, words[length:], module)
      except AttributeError:
        return None
      return inspect.unwrap(found)
  return None


def contents(label: str, argument: str, value: Any) -> dict[str, str]:
  """The contents of the files and folders that an argument names as data or weights."""
  paths = value if isinstance(value, (list, tuple)) else [value]
  return {f"{label}: content of {path}": _file_digest(pathlib.Path(path)) for path in paths
          if isinstance(path, (str, os.PathLike)) and _PATHS.search(argument)
          and os.path.exists(path)}


def _file_digest(path: pathlib.Path) -> str:
  """Digest of a file, or of the names and contents of all files in a folder; of runs, the answers.

  With a table go the images that it names. Of more than `_MOST_BYTES` the names and sizes count.
  """
  pattern = "predictions/*" if next(path.rglob(run_identity.RECORDS), None) else "*"
  files = [path, *named_data.named_files(path)] if path.is_file() else sorted(
      one for one in path.rglob(pattern) if one.is_file())
  return _listed_digest(path, tuple(
      (one, (found := one.stat()).st_size, found.st_mtime_ns) for one in files))


@functools.lru_cache(maxsize=64)  # The learners of a run read the same files.
def _listed_digest(path: pathlib.Path, files: tuple[tuple[pathlib.Path, int, int], ...]) -> str:
  digest, num_bytes = hashlib.sha256(), sum(size for _, size, _ in files)
  for one, size, _ in files:
    within = one.relative_to(path) if one.is_relative_to(path) and one != path else one.name
    digest.update(f"{within}\0{size}\0".encode())
    if num_bytes <= _MOST_BYTES:
      with open(one, "rb") as file:
        while block := file.read(1 << 20):
          digest.update(block)
  return f"{len(files)} files #{digest.hexdigest()}"
