# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a search and its trainings will cost (`Search.run` and `Trainer.fit`)."""

from __future__ import annotations

import math
from typing import Any

from suite.contracts import planning
from suite.training.gradient import search as search_lib
from suite.training.gradient import trainer as trainer_lib
from suite.training.multitask import auxiliary as auxiliary_lib
from suite.training.planning import network_costs

# Hyper-parameters on which the cost of a training depends.
_COSTLY = ("batch_size", "backbone")


def trials(search: search_lib.Search, context: planning.PlanContext) -> list[dict[str, Any]]:
  """The hyper-parameters of an event's trials; fewer than allowed if the oracle's values run out.

  If none of them changes the cost of a training, those of the first event stand for all.
  """
  event = context.event if any(len(search.values(name)) > 1 for name in _COSTLY) else 0
  known = context.shared.setdefault("searches", [])
  for asked, found in known:
    if asked == (search, event):
      return found
  found, _ = search.run(
      lambda wave: [{"status": "done", "validation_error": 0.5} for _ in wave],
      context.seeds.integer("search"))
  known[:] = [*known[-8:], ((search, event), found)]
  return found


def charge_fit(trainer: trainer_lib.Trainer, costs: network_costs.NetworkCosts,
               planned: planning.PlannedTask, context: planning.PlanContext, *, phase: str,
               batch_size: int | None = None, auxiliary: auxiliary_lib.Shape | None = None) -> None:
  """Charges one training to the end and its validations, that of step 0 included.

  Args:
    phase: of the ledger.
    batch_size: in place of the trainer's.
    auxiliary: batches of earlier tasks in each step.
  """
  batch_size = batch_size or trainer.batch(planned.train)
  step, examples = costs.step(planned.task, batch_size), batch_size
  if auxiliary is not None:
    step += costs.auxiliary(planned.task.kind, auxiliary)
    examples += auxiliary.groups * auxiliary.batch_size
  network_costs.charge(context.ledger, phase, step * trainer.steps, steps=trainer.steps,
                       examples=trainer.steps * examples)
  num = min(trainer.max_validation or planned.dev, planned.dev)
  times = 1 + math.ceil(trainer.steps / trainer.validate_every)
  answers = costs.answers(planned.task, num, trainer.eval_batch_size)
  network_costs.charge(context.ledger, "validate", answers * times, examples=num * times)
  context.offer(costs.step_probe(phase, planned.task, batch_size))
