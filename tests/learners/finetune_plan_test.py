# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What is planned is what is spent, to the FLOP, by a run of the same learner."""

from __future__ import annotations

import functools

import pytest

from suite.compute import distribution
from suite.compute import ledger
from suite.contracts import planning
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.data.streams import streams
from suite.learners import finetune
from suite.learners import starts
from suite.models import conv4
from suite.protocols import clear
from suite.protocols import nevis
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.gradient import search
from suite.training.gradient import trainer
from suite.training.multitask import auxiliary

_NEAREST = starts.Nearest(k=3, max_train=20, batch_size=16)


_net = functools.partial(conv4.conv4, filters=2, blocks=1)


def _learner(start=_NEAREST, static=True, **options):
  return finetune.Finetune(
      _net, start=start, static=static,
      search=search.Search("random", 2), transform=image_ops.Plain(8), **options,
      trainer=trainer.Trainer(steps=5, validate_every=2, max_validation=50, eval_batch_size=32))


_MULTITASK = {"static": False, "ensemble": 2,
              "multitask": auxiliary.Multitask(auxiliary.Similar(1), batch_size=4)}


def _plan(learner, stream, shared=None):
  plan = planning.PlannedRun("x", seed=3, distribution=distribution.build(),
                             shared={} if shared is None else shared)
  nevis.run(learner, state=plan, stream=stream)
  return plan


def _stream(*places):
  """The second task has a past model to look at."""
  entries = digits.nevis_stream(max_train_images=30).entries
  return streams.Stream("two", [entries[place] for place in places])


@pytest.fixture(name="shared", scope="module")
def _shared():
  """Costs by kind of plan, and compiled networks of runs, which all tests of this module share."""
  return {"plans": {}, "networks": {}}


# Five classes of one label and ten of several; two tasks of five classes.
@pytest.mark.parametrize("options, places", [({}, (0, 3)), (_MULTITASK, (0, 5))],
                         ids=["FT-s", "MT, two trials predict"])
def test_a_run_spends_what_was_planned(tmp_path, options, places, shared):
  stream = _stream(*places)
  plan = _plan(_learner(**options), stream, shared["plans"])
  learner = _learner(**options)
  learner._models._networks = shared["networks"]  # Compiled once: the learners have one net.
  writer = run_writer.RunWriter(tmp_path, None, progress.Progress("x"))
  try:
    state = run_state.RunState(tmp_path, writer, name="x", seed=3,
                               distribution=distribution.build())
    nevis.run(learner, state=state, stream=stream)
  finally:
    writer.close()
  spent, planned = state.ledger.totals(), plan.ledger.totals()
  assert plan.num_events == state.done == 4
  for name in spent:
    if name.startswith(("seconds", "peak")):
      continue
    # MT's step is counted as that of the task and that of the auxiliary batches, which share some
    # sums; and the means of probabilities of two trials are not planned.
    near = {"flops_search": 1e-3, "flops_predict": 0.05, "flops": 0.01} if options else {}
    assert planned[name] == pytest.approx(spent[name], rel=near.get(name, 0)), name
  assert {f"flops_{phase}" for phase in ("search", "select", "validate", "predict")} < set(planned)
  store = state.context().store
  assert plan.stored_bytes == sum(array.nbytes for entry in store.entries()
                                  if not entry.name.startswith("card")
                                  for array in store.load(entry))
  held = run_state.held_bytes(learner, tmp_path / "weights")
  assert {**held, "stored_bytes": plan.stored_bytes} == plan.held
  # Files have heads, and cards of some numbers.
  assert plan.stored_bytes < held["stored_bytes"] < plan.stored_bytes + 4000 * len(store.entries())
  for probe in plan.probes.values():
    assert probe.flops > 0
    probe.run()


def test_a_net_above_the_limit_of_bytes_is_refused(shared):
  plan = planning.PlannedRun("x", seed=3, distribution=distribution.build(),
                             shared=shared["plans"],
                             budget=ledger.Budget.parse("1 GFLOP, 100 B"))
  with pytest.raises(ledger.BudgetError, match="100 bytes, and the learner holds .*state_bytes"):
    nevis.run(_learner(), state=plan, stream=_stream(0))


def test_what_cannot_be_planned_is_named():
  stream = digits.nevis_stream(num_tasks=1)
  with pytest.raises(planning.NoEstimateError, match="what start Strange spends is not known"):
    _plan(_learner(start=type("Strange", (), {})(), static=False), stream)
  with pytest.raises(planning.NoEstimateError, match="Templates does not say what its training"):
    _plan(type("Templates", (), {"transform": image_ops.Plain(8), "begin": None, "learn": None,
                                 "predict": None, "variables": ()})(), stream)
  plan = planning.PlannedRun("x", seed=3, distribution=distribution.build(), shared={})
  with pytest.raises(planning.NoEstimateError, match="this protocol does not say what its events"):
    clear.run(_learner(), state=plan, buckets=digits.buckets(2))
