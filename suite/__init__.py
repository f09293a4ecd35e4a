# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lifelong Suite: five lifelong visual learning benchmarks as one stream of events."""

import importlib as _importlib
import importlib.util as _importing
import os as _os
import sys as _sys

__version__ = "0.2.0"

if "tensorflow" not in _sys.modules:  # It reads these when it is imported.
  # No lines about CUDA: relevant errors are raised as exceptions.
  _os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
  # By default TensorFlow enables oneDNN only on CPUs with AVX-512 VNNI and the like.
  _os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

_HOW = ("Import suite before tensorflow, or set TF_USE_LEGACY_KERAS=1 in the environment; from "
        "TensorFlow 2.16 on that needs the package tf-keras.")

# From TensorFlow 2.16 on tf.keras is Keras 3, unless this is set before tf.keras is first used.
_legacy = "1"
if _importing.find_spec("tf_keras") is not None:
  _legacy = _os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
if _legacy not in ("1", "true", "True"):
  raise ImportError(
      f"TF_USE_LEGACY_KERAS is {_legacy!r}, but the suite runs on Keras 2. {_HOW}")
if "tensorflow" in _sys.modules:
  _keras = str(getattr(_sys.modules["tensorflow"].keras, "__version__", "2"))  # Keras 2 has none.
  if _keras.startswith("3"):
    raise ImportError(f"tf.keras is Keras {_keras} in this process, but the suite runs on Keras 2. "
                      f"{_HOW}")

# The Python interface: imported when it is first used, so that `import suite` stays quick.
_FUNCTIONS = {
    "run": "suite.running.python_run", "report": "suite.running.python_run",
    "list_runs": "suite.running.python_run", "learner": "suite.running.own_learner",
    "external": "suite.running.external",
    "net": "suite.running.nets"}
_MODULES = {
    "images": "suite.data.own.image_sources", "streams": "suite.data.streams.streams",
    "buckets": "suite.data.streams.buckets", "episodes": "suite.data.episodes.episodes",
    "sequences": "suite.data.sequences.sequences"}


def __getattr__(name: str) -> object:
  if name not in _FUNCTIONS and name not in _MODULES:
    raise AttributeError(f"module 'suite' has no attribute {name!r}")
  module = _MODULES.get(name) or _FUNCTIONS[name]
  if module != "suite.running.python_run":
    _importlib.import_module("suite.running.this_process").import_tensorflow()
  found = _importlib.import_module(module)
  return found if name in _MODULES else getattr(found, name)


def __dir__() -> list[str]:
  return sorted([*globals(), *_FUNCTIONS, *_MODULES])
