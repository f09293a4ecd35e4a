# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Keras models from files of somebody else: what a file may contain is a list.

Keras imports the modules that a model file names, and calls the functions that it finds there, with
`safe_mode=True` as well. So files are not given to Keras's loader. The description of the model is
read first, as JSON; each object in it is looked up by its name alone in the lists of
model_names.txt, and modules that the file names are ignored; what is not in the lists is refused.
Keras then makes the model from a description that refers to these classes and to nothing else, and
reads arrays of weights.

    NAME.keras        a zip with config.json, metadata.json and model.weights.h5, stored by Keras 2
                      or 3
    NAME.h5, .hdf5    HDF5 with the attribute model_config, or with weights alone
    a folder          a SavedModel is a graph that reads and writes files: refused

Layers of preprocessing texts, `Lambda`, functions and assets are refused. Custom classes of the
caller go before the lists. The suite's layers are known once their modules are imported, as
`state.encoder_file` does.
"""

from __future__ import annotations

from collections.abc import Mapping
import functools
import importlib
import json
import os
import pathlib
import re
import sys
from typing import Any
import zipfile

import h5py
import tensorflow as tf

from suite.models import keras_cv_models

MAX_CONFIG_BYTES = 32 << 20
MAX_DEPTH = 200  # Of the description.
_MAX_RATIO = 50  # Bytes of arrays to bytes of the file that holds them.
_FREE_BYTES = 16 << 20  # Not counted by that.
_MEMBERS = ("config.json", "metadata.json", "model.weights.h5")
_HDF5 = (".h5", ".hdf5")
_OPERATION_MODULES = ("numpy", "nn", "math", "core", "image", "linalg")
# Layers in modules of `keras.applications` that are not public, and a function of each module.
_OF_APPLICATIONS = {
    "LayerScale": ("convnext", "ConvNeXtTiny"), "StochasticDepth": ("convnext", "ConvNeXtTiny"),
    "CustomScaleLayer": ("inception_resnet_v2", "InceptionResNetV2")}
_DTYPES = re.compile(r"(mixed_)?(u?int(8|16|32|64)|b?float(16|32|64)|bool)")
# Objects of a description that are data. Others that begin with two underscores are refused.
_DATA = ("__keras_tensor__", "__tensor__", "__numpy__", "__slice__", "__ellipsis__")
_KEPT = ("config", "inbound_nodes", "name", "shared_object_id")
_NEXT = ("A model file of somebody else may hold layers of Keras, keras-cv, keras-hub and the "
         "suite: let its author leave the rest out, or load it yourself in Python if you trust it.")


@functools.cache
def allowed(kind: str) -> frozenset[str]:
  """The names of a kind in model_names.txt."""
  lines = pathlib.Path(__file__).with_name("model_names.txt").read_text("utf-8").splitlines()
  return frozenset(name for line in lines if line.startswith(f"{kind}: ")
                   for name in line.split()[1:])


class ModelFileError(ValueError):
  """A model file is damaged, or holds what is not allowed; the message names it."""


def load(path: str | os.PathLike, *, custom_objects: Mapping[str, type] | None = None) -> Any:
  """Loads a model with its weights, uncompiled.

  Args:
    path: a .keras, .h5 or .hdf5 file.
    custom_objects: further classes by the names in the file, of code that the caller trusts.

  Returns:
    A model of `tf.keras`, or of Keras 3 if the file was stored by that.

  Raises:
    ModelFileError: says what is wrong or not allowed.
  """
  path = pathlib.Path(path)
  if path.is_dir():
    raise ModelFileError(
        f"{path} is a folder. A SavedModel is a graph that may read and write files and is not "
        "loaded; give a .keras file: model.save('NAME.keras').")
  if path.suffix not in (".keras", *_HDF5):
    raise ModelFileError(f"{path} is no model file: allowed are .keras, .h5 and .hdf5. Save the "
                         "model again: model.save('NAME.keras').")
  text, version = (_of_zip if path.suffix == ".keras" else _of_hdf5)(path)
  if text is None:
    raise ModelFileError(f"{path} holds weights without a model; give the file of a whole model, "
                         "model.save('NAME.keras').")
  try:
    config = json.loads(text)
  except (ValueError, RecursionError) as error:
    raise ModelFileError(f"The model in {path} is not described in JSON ({error}).") from error
  model = from_config(config, str(path), custom_objects=custom_objects,
                      keras=_keras(version, str(path)))
  try:
    model.load_weights(str(path))
  except Exception as error:  # On damaged files h5py and Keras raise errors of many kinds.
    raise ModelFileError(f"The weights in {path} cannot be read: {str(error)[:300]}") from error
  return model


def from_config(config: Any, source: str, *, custom_objects: Mapping[str, type] | None = None,
                keras: Any = None) -> Any:
  """Makes the model of a description, without weights.

  Args:
    config: what `json.loads` returns of config.json, of model_config, or of `model.to_json()`.
    source: the file that it is from, for messages.
    custom_objects: see `load`.
    keras: the library that makes it; None: `tf.keras`.

  Raises:
    ModelFileError: says what is wrong or not allowed.
  """
  keras = keras or tf.keras
  known = _Allowed(keras, custom_objects or {}, source)
  if not isinstance(config, dict) or "class_name" not in config:
    raise ModelFileError(f"{source} describes no model, but {str(config)[:100]}.")
  checked = known.node(config, "", 0)
  try:
    with keras.utils.custom_object_scope(known.classes):
      model = keras.layers.deserialize(checked)
  except Exception as error:  # Of a wrong description Keras raises errors of many kinds.
    raise ModelFileError(f"The model in {source} cannot be made: {str(error)[:300]}") from error
  if not isinstance(model, keras.Model):
    raise ModelFileError(f"{source} describes no model, but a {type(model).__name__}.")
  return model


def load_weights(model: Any, path: str | os.PathLike) -> None:
  """Loads the weights of an HDF5 file, or of a .keras file, into a model of the same architecture.

  Raises:
    ModelFileError: it is no such file, it is damaged, or it refers to other files.
    ValueError, OSError: of Keras, if the weights are of another architecture.
  """
  path = pathlib.Path(path)
  if path.suffix not in (".keras", *_HDF5):
    raise ModelFileError(f"{path} is no file of weights: allowed are .h5, .hdf5 and .keras. Save "
                         "them again: model.save_weights('NAME.weights.h5').")
  (_of_zip if path.suffix == ".keras" else _of_hdf5)(path)
  model.load_weights(str(path))


def _of_zip(path: pathlib.Path) -> tuple[str, str]:
  """The description and the version of Keras of a .keras file, whose weights are checked."""
  try:
    with zipfile.ZipFile(path) as archive:
      members = archive.infolist()
      names = [member.filename for member in members]
      wrong = sorted({name for name in names if name not in _MEMBERS or names.count(name) > 1})
      if wrong or not {_MEMBERS[0], _MEMBERS[2]} <= set(names):
        raise ModelFileError(
            f"{path} holds {', '.join(sorted(names)[:10]) or 'nothing'}; a .keras file holds "
            f"{', '.join(_MEMBERS)}, once each, and nothing else. {_NEXT}")
      for member in members:
        if member.file_size > _FREE_BYTES + _MAX_RATIO * member.compress_size:
          raise ModelFileError(f"{member.filename} in {path} is {member.file_size:,} bytes of "
                               f"{member.compress_size:,} compressed ones: no weights are like "
                               "that.")
        if not member.filename.endswith(".h5") and member.file_size > MAX_CONFIG_BYTES:
          raise ModelFileError(f"{member.filename} in {path} has {member.file_size:,} bytes; "
                               f"allowed are {MAX_CONFIG_BYTES:,}.")
      text = archive.read(_MEMBERS[0]).decode("utf-8")
      about = json.loads(archive.read(_MEMBERS[1])) if _MEMBERS[1] in names else {}
      size = archive.getinfo(_MEMBERS[2]).file_size
      with archive.open(_MEMBERS[2]) as stream, h5py.File(stream, "r") as file:
        _check_hdf5(file, size, str(path))
  except ModelFileError:
    raise
  except Exception as error:  # On damaged files zipfile, zlib and h5py raise errors of many kinds.
    raise ModelFileError(f"{path} cannot be read as a .keras file: {str(error)[:200]} Save the "
                         "model again: model.save('NAME.keras').") from error
  return text, str(about.get("keras_version", "")) if isinstance(about, dict) else ""


def _of_hdf5(path: pathlib.Path) -> tuple[str | None, str]:
  """The description, None if there is none, and the version of Keras of an HDF5 file."""
  try:
    with h5py.File(path, "r") as file:
      _check_hdf5(file, path.stat().st_size, str(path))
      found = [file.attrs.get(name) for name in ("model_config", "keras_version")]
  except ModelFileError:
    raise
  except Exception as error:
    raise ModelFileError(f"{path} cannot be read as HDF5: {str(error)[:200]}") from error
  text, version = [one.decode("utf-8", "replace") if isinstance(one, bytes) else one
                   for one in found]
  if text is not None and (not isinstance(text, str) or len(text) > MAX_CONFIG_BYTES):
    raise ModelFileError(f"The model in {path} is not described by a text of at most "
                         f"{MAX_CONFIG_BYTES:,} bytes.")
  return text, str(version or "")


def _check_hdf5(file: h5py.File, size: int, source: str) -> None:
  """Refuses HDF5 that refers to other files, or whose arrays are far larger than the file."""
  num_bytes, waiting, seen = 0, [file["/"]], set()
  while waiting:
    group = waiting.pop()
    for name in group:
      link = group.get(name, getlink=True)
      if not isinstance(link, h5py.HardLink):
        raise ModelFileError(f"{source} refers to other places ({name}: {type(link).__name__}); "
                             "weights lie in the file itself.")
      part = group[name]
      if part.id in seen:
        continue
      seen.add(part.id)
      if isinstance(part, h5py.Group):
        waiting.append(part)
      elif isinstance(part, h5py.Dataset):
        if part.external or part.is_virtual:
          raise ModelFileError(f"{source} keeps {name} in other files; weights lie in the file "
                               "itself.")
        num_bytes += part.nbytes
  if num_bytes > _FREE_BYTES + _MAX_RATIO * size:
    raise ModelFileError(f"{source} has arrays of {num_bytes:,} bytes in a file of {size:,}: no "
                         "weights are like that.")


def _keras(version: str, source: str) -> Any:
  """The library that reads files of this version of Keras."""
  if not version.startswith("3"):
    return tf.keras
  try:
    keras = importlib.import_module("keras")
  except ImportError:
    keras = None
  if not str(getattr(keras, "__version__", "")).startswith("3"):
    raise ModelFileError(f"{source} was stored by Keras {version}, which is not installed here. "
                         "Save the model with Keras 2 (tf-keras), or install TensorFlow 2.16 or "
                         "newer.")
  return keras


class _Allowed:
  """Descriptions in terms of known classes.

  Attributes:
    classes: those that were met, by the unique names that descriptions have for them now.
  """

  def __init__(self, keras: Any, custom: Mapping[str, type], source: str):
    gelus = {name: tf.keras.utils.get_registered_object(f"lifelong_suite>{name}")
             for name in ("quick_gelu", "exact_gelu")}
    self.classes: dict[str, Any] = {name: one for name, one in gelus.items() if one is not None}
    self._keras, self._custom, self._source = keras, custom, source
    self._is_new = keras is not tf.keras

  def node(self, value: Any, key: str, depth: int) -> Any:
    """A value of a description, checked; `key`: what it is the value of."""
    if depth > MAX_DEPTH:
      raise self._refused(f"is described by values {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
      if "class_name" in value:
        return self._object(value, key, depth)
      return {name: self.node(part, name, depth + 1) for name, part in value.items()}
    if isinstance(value, list):
      return [self.node(part, key, depth + 1) for part in value]
    if isinstance(value, str):
      for kind in ("activation", "initializer", "regularizer", "constraint"):
        known = map(_plain, allowed(f"{kind}s"))
        if re.search(rf"(^|_){kind}$", key) and _plain(value) not in known:
          raise self._refused(f"has the {kind} {value!r}")
    return value

  def _object(self, value: dict[str, Any], key: str, depth: int) -> Any:
    """An object of a description."""
    name, inner = value["class_name"], value.get("config")
    if not isinstance(name, str):
      raise self._refused(f"has a class {str(name)[:100]!r}")
    if name in ("__tuple__", "TensorShape"):
      items = value.get("items", inner)
      if not isinstance(items, list):
        raise self._refused(f"has a {name} of {str(items)[:100]}")
      return tuple(self.node(item, key, depth + 1) for item in items)
    if name in _DATA:
      dtype = inner.get("dtype") if isinstance(inner, dict) else None
      if dtype is not None and not (isinstance(dtype, str) and _DTYPES.fullmatch(dtype)):
        raise self._refused(f"has an array of type {str(dtype)[:100]!r}")
      return {"class_name": name, "config": self.node(inner, key, depth + 1)}
    if name == "function":
      function = inner if isinstance(inner, str) else value.get("registered_name")
      if not isinstance(function, str) or function.rpartition(">")[2] not in allowed("activations"):
        raise self._refused(f"holds the function {str(function)[:100]!r}")
      return function.rpartition(">")[2]
    if name.endswith("Policy") and isinstance(inner, dict):
      policy = inner.get("name")
      if not isinstance(policy, str) or not _DTYPES.fullmatch(policy):
        raise self._refused(f"has the dtype policy {str(policy)[:100]!r}")
      return policy
    unique = self._known(value, name, key)
    if name in ("TFOpLambda", "SlicingOpLambda"):
      function = inner.get("function") if isinstance(inner, dict) else None
      if not isinstance(function, str) or function not in allowed("tf_operations"):
        raise self._refused(f"holds the operation {str(function)[:100]!r}")
    made = {part: self.node(value[part], part, depth + 1)
            for part in (*_KEPT, "build_config") if part in value}
    if depth and unique.startswith("layer>"):
      made.pop("build_config", None)  # As Keras does: its own layers are built by being called.
    return {"config": {}, **made, "module": None, "class_name": unique, "registered_name": unique}

  def _known(self, value: Mapping[str, Any], name: str, key: str) -> str:
    """Looks up the class of an object, and returns the name under which it is in `classes`."""
    registered = value.get("registered_name")
    registered = registered if isinstance(registered, str) and ">" in registered else name
    place = value.get("module") if isinstance(value.get("module"), str) else ""
    package, _, own = registered.rpartition(">")
    kind, found = "layer", None
    for custom in (registered, name):
      found = found or self._custom.get(custom)
    if found is not None:
      kind = "custom"
    elif package:
      kind, found = package, self._of_package(package, own)
    else:
      for kind in ("initializer", "regularizer", "constraint"):
        if f".{kind}s" in f".{place}" or re.search(rf"(^|_){kind}$", key):
          parts = getattr(self._keras, f"{kind}s")
          found = getattr(parts, name, None) if name in allowed(f"{kind}s") else None
          break
      else:
        # HDF5 does not say which of the two a name is.
        is_operation = self._is_new and name in allowed("operations") and (
            re.search(r"(^|\.)ops(\.|$)", place or "") or name not in allowed("layers"))
        kind, found = (("operation", _operation(name)) if is_operation
                       else ("layer", self._layer(name)))
    if found is None:
      raise self._refused(f"holds the {kind if not package else 'class'} {registered!r}")
    unique = f"{kind}>{own if package else name}"
    self.classes[unique] = found
    return unique

  def _of_package(self, package: str, name: str) -> Any:
    """A registered class; None if it is not allowed."""
    if package == "Custom" and name in _OF_APPLICATIONS:
      return _of_application(self._keras, name)
    if package == "lifelong_suite" and name in allowed("suite"):
      return tf.keras.utils.get_registered_object(f"{package}>{name}")
    if package == "keras_cv" and name in allowed("keras_cv"):
      library: Any = keras_cv_models.library()
    elif package == "keras_hub" and name in allowed("keras_hub"):
      library = importlib.import_module("keras_hub")
    else:
      return None
    for part in (library.models, library.layers):
      if hasattr(part, name):
        return getattr(part, name)
    return self._keras.utils.get_registered_object(f"{package}>{name}")

  def _layer(self, name: str) -> Any:
    """A layer or model of Keras; None if it is not allowed."""
    keras = self._keras
    if name in ("Functional", "Model"):
      return keras.Sequential.__bases__[0] if not self._is_new else (
          importlib.import_module("keras.src.models.functional").Functional)
    if name == "Sequential":
      return keras.Sequential
    if name in _OF_APPLICATIONS:
      return _of_application(keras, name)
    if name in ("TFOpLambda", "SlicingOpLambda"):
      return None if self._is_new else _tf_operations()[name]
    return getattr(keras.layers, name, None) if name in allowed("layers") else None

  def _refused(self, what: str) -> ModelFileError:
    return ModelFileError(f"The model in {self._source} {what}, which is not allowed. {_NEXT}")


def _plain(name: str) -> str:
  """A name as Keras compares it: "GlorotUniform" and "glorot_uniform" are one."""
  return name.replace("_", "").lower()


@functools.cache
def _tf_operations() -> dict[str, type]:
  """The two classes of layers that call a function of TensorFlow."""
  tensor = tf.keras.Input([2])
  return {type(made._keras_history.layer).__name__: type(made._keras_history.layer)
          for made in (tensor * 1.0, tensor[:, 0])}


def _of_application(keras: Any, name: str) -> Any:
  """A layer of a network of `keras.applications`."""
  module, function = _OF_APPLICATIONS[name]
  made = getattr(getattr(keras.applications, module), function)
  return getattr(sys.modules[made.__module__], name, None)


def _operation(name: str) -> Any:
  """The class of an operation of Keras 3."""
  for module in _OPERATION_MODULES:
    found = getattr(importlib.import_module(f"keras.src.ops.{module}"), name, None)
    if found is not None:
      return found
  return None
