# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Checks the learning of a user's learner: its variables, and whether costs are in the ledger.

The suite's learners charge what their counted graphs cost. A learner of a user's own class may
train with a `GradientTape` and charge nothing, which must not look like a learner that costs
nothing. Its costs become null if one of these holds after `learn`, `learn_stored` or `know_base`:

* Nothing was charged. (`know_base` may do nothing.)
* A variable of floats has changed that no counted graph writes, and the learner's own code charged
  no FLOPs for it. If counted graphs write some of the variables, they must write all that change.

What a user's code charges is taken at its word. Single numbers, such as learning rates, and whole
numbers, whose arithmetic is free, are not compared.

A run is resumed by `begin`, which makes the variables that are then filled. A variable that is made
in `learn` would be lost, so it is refused; that an optimizer will make some is seen before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
import hashlib
import inspect
from typing import Any

from absl import logging
import tensorflow as tf

from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.contracts import refusals
from suite.state import context as context_lib
from suite.state import learner_state

_CONTRACTS = "suite.contracts."
_warned: set[tuple[type, str]] = set()


def learning(learner: Any, name: str = "learn") -> Callable[[Any, context_lib.Context], dict]:
  """The method (given, context) of a learner: the suite's as it is, a user's with its checks.

  Args:
    learner: has the method. name: of `learn`, or another method that learns.

  Raises:
    BudgetError: costs are unknown in a run with a budget of FLOPs or MACs.
    RefusedError: it makes variables, or has an optimizer that will.
  """
  method = getattr(learner, name)
  return method if is_suites(method) else functools.partial(_checked, learner, method, name)


def _checked(learner: Any, method: Any, name: str, given: Any, context: context_lib.Context
             ) -> dict[str, Any]:
  """Calls a method of a user's class; see the module for what it checks."""
  _check_optimizers(learner)
  begun, before = set(learner_state.names(learner)), learner_state.unsaved(learner)
  record = _charged(learner, method, given, context, name)
  if made := sorted(set(learner_state.names(learner)) - begun):
    raise refusals.RefusedError(
        f"{type(learner).__name__}.{name} made {len(made)} variables that begin did not make "
        f"({', '.join(made[:3])}): a run that is stopped could not be resumed. Make them in "
        "begin(self, task, context), where a net is built by a call on tf.zeros([1, "
        "*self.transform.shape]) and an optimizer by optimizer.build(net.trainable_variables); or "
        "keep what only this call needs out of self.")
  _warn_of_unsaved(learner, name, before)
  return record


def _warn_of_unsaved(learner: Any, name: str, before: Mapping[str, Any]) -> None:
  """Warns once of attributes that learning has changed and no snapshot holds."""
  if any(_is_suites(cls) for cls in type(learner).__mro__):
    return
  changed = sorted(key for key, value in learner_state.unsaved(learner).items()
                   if value is not None and value != before.get(key) and (
                       (type(learner), key) not in _warned))
  _warned.update((type(learner), key) for key in changed)
  if changed:
    logging.warning(
        "%s.%s changes %s, which are no variables: a run that is stopped and resumed goes on "
        "without them, and so does a copy with more classes. Make them tf.Variables in begin, or "
        "keep arrays by context.store.", type(learner).__name__, name, ", ".join(changed[:3]))


def _check_optimizers(learner: Any) -> None:
  """Refuses an optimizer that will make its variables when it is first applied."""
  if any(_is_suites(cls) for cls in type(learner).__mro__):
    return
  attributes = vars(learner)
  for name, one in attributes.items():
    # Keras makes this dictionary when an optimizer is built; one that scales losses has it inside.
    if isinstance(one, tf.keras.optimizers.Optimizer) and not hasattr(
        getattr(one, "inner_optimizer", one), "_index_dict"):
      net = next((key for key, value in attributes.items()
                  if isinstance(value, tf.keras.Model)), "net")
      raise refusals.RefusedError(
          f"{type(learner).__name__}.{name} has no variables after begin; made in learn, they are "
          f"lost where the run is stopped and resumed. Write in begin(self, task, context): "
          f"self.{name}.build(self.{net}.trainable_variables)")


def _charged(learner: Any, method: Any, given: Any, context: context_lib.Context, name: str
             ) -> dict[str, Any]:
  """Calls the method; costs that it does not charge become unknown."""
  ledger = context.ledger
  if ledger.is_unknown(context.phase):
    return method(given, context)
  variables = _compared(learner)
  before = {key: _digest(variable) for key, variable in variables.items()}
  num_charges, declared = ledger.num_charges, ledger.declared
  record = method(given, context)
  is_charged = ledger.num_charges > num_charges or context.journal.is_resumed
  changed = [v for key, v in variables.items() if _digest(v) != before[key]]
  uncounted = [v.name for v in changed if not flops.is_written(v)]
  is_declared = ledger.declared > declared and len(uncounted) == len(changed)
  problem = ""
  if not is_charged and not ledger.is_cut and (name != "know_base" or changed):
    problem = "charges nothing to context.ledger"
  elif uncounted and not is_declared and not context.journal.is_resumed:
    problem = f"changes {', '.join(uncounted[:3])} outside of counted graphs"
  if problem:
    what, budget = f"{type(learner).__name__}.{name} {problem}", ledger.budget
    remedy = ("Call what it trains by context.counted(function, ...), or charge what it costs "
              "(docs/own/learner.md)")
    if budget is not None and (budget.flops is not None or budget.macs is not None):
      raise ledger_lib.BudgetError(
          f"{what}, so its FLOPs and MACs are not counted and it cannot keep a budget. {remedy}, "
          "or leave --budget out.")
    logging.warning(
        "%s: its FLOPs and MACs are not counted, and null in records. %s.", what, remedy)
    ledger.charge(context.phase, flops=None, macs=None, steps=0 if is_charged else None)
  return record


def is_suites(method: Any) -> bool:
  """Whether a method is the suite's own, which charges what it does and may be rehearsed."""
  function: Any = inspect.unwrap(getattr(method, "__func__", method))
  return (getattr(function, "__module__", "") or "").partition(".")[0] == "suite"


def _compared(learner: Any) -> dict[int, tf.Variable]:
  """The variables of floats that only code of users changes, by their identity.

  None of a learner derived from the suite's: it may change what it likes.
  """
  if any(_is_suites(cls) for cls in type(learner).__mro__):
    return {}
  others = {id(v) for one in learner.submodules if _is_suites(type(one)) for v in one.variables}
  return {id(v): v for v in learner_state.variables(learner)
          if id(v) not in others and v.dtype.is_floating and v.shape.num_elements() != 1}


def _is_suites(cls: type) -> bool:
  module = f"{cls.__module__}."
  return module.startswith("suite.") and not module.startswith(_CONTRACTS)


def _digest(variable: tf.Variable) -> bytes:
  return hashlib.blake2b(variable.numpy().tobytes()).digest()
