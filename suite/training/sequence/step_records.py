# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Records of the steps and offline phases of a FLUID run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Mapping

import numpy as np

from suite.compute import mac_views
from suite.contracts import learner as learner_lib
from suite.metrics import classification
from suite.metrics import sequence_log
from suite.training.sequence import sequence_decisions

Records = Sequence[Mapping[str, Any]]
_COUNTED = ("seen", "correct", "closed_correct", "new")
_META = ("meta_classes", "meta_updates", "meta_loss")


def of_steps(records: Records) -> list[Mapping[str, Any]]:
  """Returns the records of steps."""
  return [r for r in records if "first_step" in r]


def of_phases(records: Records) -> list[Mapping[str, Any]]:
  """Returns the records of offline phases, without that of the base classes."""
  return [r for r in records if "phase" in r]


def training(records: Records) -> dict[str, Any]:
  """Returns how much a learner was trained: passes of its phases, and its meta-training."""
  first = records[0] if records else {}
  return {"passes": sum(phase["passes"] for phase in of_phases(records)),
          **{name: first[name] for name in _META if name in first}}


def steps(log: sequence_log.SequenceLog, num_classes: int, before: Records) -> dict[str, Any]:
  """Returns the scores of some steps, and running counts over the sequence so far.

  Lists have one value a step. An answer of C is "new"; -1 is no answer, of a diverged learner, or
  for "closed" while no class is known.
  """
  num, correct = len(log.labels), int(np.sum(log.correct(num_classes)))
  found: dict[str, Any] = {
      "seen": num, "correct": correct, "error": classification.error(correct, num),
      "closed_correct": int(np.sum(log.closed_correct())), "new": int(np.sum(log.unknown))}
  last = next((r for r in reversed(before) if "first_step" in r), {})
  so_far = {f"{name}_so_far": last.get(f"{name}_so_far", 0) + found[name] for name in _COUNTED}
  return {**found, **so_far, **log.columns()}


def predictions(log: sequence_log.SequenceLog, num_classes: int, probabilities: np.ndarray
                ) -> dict[str, Any]:
  """Returns the predictions of n steps; "new" is a top-1 of C.

  Args:
    log: of the steps.
    num_classes: C.
    probabilities: float [n], those of the true classes.
  """
  return dict(labels=log.labels, top1=log.answers, correct=log.correct(num_classes),
              true_class_probability=probabilities)


def decision(outcomes: Sequence[sequence_decisions.BlockOutcome], update_macs: int | None
             ) -> dict[str, Any]:
  """Returns how the decisions of some blocks ended: whether an update follows, and why."""
  made = [o.decision for o in outcomes if o.decision is not None]
  last = made[-1] if made else None
  return {"update": bool(last and last.update), "reason": last.reason if last else "none",
          "updates_refused": sum(o.refused for o in outcomes), "update_macs": update_macs}


def views(learner: learner_lib.SequenceLearner, num_answered: int, phases: Records
          ) -> dict[str, int]:
  """Returns MACs of the steps and phases so far in every view; {} without layers."""
  layers = learner.mac_layers()
  if layers is None:
    return {}
  return mac_views.views(
      *layers, num_samples=num_answered,
      num_passes=sum(p["passes"] for p in phases),
      teacher_passes=sum(p.get("teacher_passes", 0) for p in phases))


def spent(after: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
  """Returns the cost of one event, from the ledger's totals after and before it."""
  pairs: list[tuple[str, Any, Any]] = [(n, after[n], before[n]) for n in ("flops", "macs")]
  return {f"event_{name}": None if a is None or b is None else a - b for name, a, b in pairs}
