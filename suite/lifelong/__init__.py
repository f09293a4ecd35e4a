# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lifelong evaluation: estimates of a new model's accuracy from a few of its answers; see `api`.

The names are imported when one is first used: commands that only read a cache take milliseconds.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
  from suite.lifelong.adaptive_session import Session
  from suite.lifelong.adaptive_session import session
  from suite.lifelong.api import DEFAULT_BUDGET
  from suite.lifelong.api import Cache
  from suite.lifelong.api import CacheError
  from suite.lifelong.api import MemoizedModel
  from suite.lifelong.api import Predict
  from suite.lifelong.api import Reference
  from suite.lifelong.api import add_estimated
  from suite.lifelong.api import compare
  from suite.lifelong.api import estimate
  from suite.lifelong.api import insert_models
  from suite.lifelong.api import insert_samples
  from suite.lifelong.api import metrics
  from suite.lifelong.api import models_to_ask
  from suite.lifelong.cache.active_samples import retire
  from suite.lifelong.cache.active_samples import set_families
  from suite.lifelong.standings import RankedModel
  from suite.lifelong.standings import Scale
  from suite.lifelong.standings import rank

__all__ = [
    "DEFAULT_BUDGET", "Cache", "CacheError", "Predict", "RankedModel", "Reference", "MemoizedModel",
    "Scale", "Session",
    "add_estimated", "compare", "estimate", "insert_models", "insert_samples", "metrics",
    "models_to_ask", "rank", "retire", "session", "set_families"]
_ELSEWHERE = {"RankedModel": "standings", "Scale": "standings", "rank": "standings",
              "Session": "adaptive_session", "session": "adaptive_session",
              "retire": "cache.active_samples", "set_families": "cache.active_samples"}


def __getattr__(name):
  if name not in __all__:
    raise AttributeError(f"module 'suite.lifelong' has no attribute {name!r}")
  module = _ELSEWHERE.get(name, "api")
  return getattr(_importlib.import_module(f"suite.lifelong.{module}"), name)


def __dir__():
  return sorted([*globals(), *__all__])
