# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pretraining: one long training, delivered in portions, whose result is an encoder.

Each event is a portion of the updates. A killed run resumes after the last finished portion. Each
event also writes the current encoder to the run directory (`suite.state.encoder_file`): other runs
start from it, and `suite data features` writes features with it. Unless `labelled`, the delivered
images have no labels.

With `knn_share` a share of each class's images is held out, and after each portion the encoder
classifies it by the nearest of the images that it trains on. Labels are read for that alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
from typing import Any

from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import spending
from suite.contracts import tasks
from suite.data.images import image_set
from suite.metrics import schema
from suite.protocols import run_state
from suite.state import context as context_lib
from suite.state import encoder_file
from suite.training.scoring import nearest_neighbors

DESCRIPTION = descriptions.ProtocolDescription("pretrain", keepers=descriptions.WITHOUT_PREDICTIONS)


@refusals.checkable
@descriptions.describes(DESCRIPTION)
def run(
    learner: learner_lib.PretrainingLearner,
    *,
    state: run_state.RunState,
    images: examples.ExampleSet,
    updates: int = 10_000,
    updates_per_event: int = 500,
    labelled: bool = False,
    knn_share: float = 0.0,
    knn: int = 20,
    year: int | None = None,
) -> dict[str, Any]:
  """Runs the updates from `state.done` on; returns the summary.

  Args:
    images: the set to pretrain on.
    updates, updates_per_event: gradient steps in all, and between two saves.
    labelled: whether the learner gets the labels.
    knn_share: share of each class's images that is held out for the kNN accuracy; 0: none.
    knn: neighbors, by cosine.
    year: of the images and the method, written to encoder.json: a stream of dated tasks is served
      from then on. None: not known.
  """
  learner = refusals.check_learner(learner, deliveries.PORTIONS)
  if updates < 1 or updates_per_event < 1:
    raise ValueError(f"pretrain.run was given updates={updates} and updates_per_event="
                     f"{updates_per_event}; both must be at least 1.")
  if not 0.0 <= knn_share < 1.0:
    raise ValueError(f"pretrain.run.knn_share is {knn_share}; it is at least 0 and below 1.")
  task = tasks.Task(f"{images.name}, unlabelled", tasks.SINGLE_LABEL, 1)
  if labelled:
    task = tasks.Task(images.name, images.kind, images.num_classes)
    refusals.check_task(task)
  accuracy = None
  if knn_share:
    images, held_out = image_set.stratified_split(
        images, knn_share, seed=state.seeds.integer("validation"))
    accuracy = nearest_neighbors.NeighborAccuracy(
        images, held_out, k=knn, seed=state.seeds.integer("knn"))
  delivered = images if labelled else image_set.Unlabelled(images)
  state.resume(learner, begin=[task], delivery=deliveries.PORTIONS)
  for first in range(state.done * updates_per_event, updates, updates_per_event):
    if state.ledger.is_cut:  # The budget is spent.
      break
    portion = deliveries.Portion(delivered, first, min(updates_per_event, updates - first), updates)
    context = state.context(phase="pretrain")
    state.begins(f"updates {first + 1:,} to {first + portion.updates:,}", done=first,
                 total=updates, unit="update")
    learner.begin(task, context)
    learn = functools.partial(_learned, learner, portion, accuracy)
    record = (spending.within(learner, context, learn) if own_costs.is_suites(learner.learn)
              else learn(context))
    done = portion.updates if not state.ledger.is_cut else record[schema.UPDATES] - first
    if state.distribution.is_chief:
      about = {
          "pretext": learner.name_of_pretext, "data": images.name, "num_images": images.size,
          "updates": first + done, "updates_planned": updates, "seed": state.seeds.seed,
          "cost": {name: state.ledger.totals()[name] for name in encoder_file.COSTS},
          **({} if year is None else {"year": year})}
      rehearsal.save(
          learner, functools.partial(encoder_file.save, state.folder, learner.encoder, about))
    state.commit({
        schema.PROTOCOL: DESCRIPTION.name, schema.KIND: deliveries.TRAIN, schema.TASK: task.name,
        schema.TASK_KEY: task.key, schema.LABELLED: labelled, schema.TRAIN_SIZE: images.size,
        schema.STEPS_EVENT: done,
        schema.ENCODER_DIGEST: encoder_file.digest(learner.encoder.get_weights()), **record})
  return summarize(
      state.records, state.records[-1][schema.UPDATES] if state.ledger.is_cut else updates)


def _learned(learner: Any, portion: deliveries.Portion,
             accuracy: nearest_neighbors.NeighborAccuracy | None, context: context_lib.Context
             ) -> dict[str, Any]:
  """The record of a portion; with the kNN accuracy that it leads to, if the budget covers that."""
  before = context.ledger.spent()
  record = own_costs.learning(learner)(portion, context)
  if accuracy is None or context.ledger.spent() == before:
    return record
  found = spending.within(learner, context, lambda context: (
      None if context.is_over else accuracy.of(learner.encoder, learner.transform, context)))
  return record if found is None else {**record, schema.KNN_ACCURACY: found}


def summarize(records: Sequence[Mapping[str, Any]], updates: int) -> dict[str, Any]:
  """The result of the run, from its records."""
  last = records[-1] if records else {}
  return {
      "protocol": DESCRIPTION.name, "stream": last.get(schema.TASK, ""), "num_events": len(records),
      "updates": updates, "first_loss": records[0][schema.TRAIN_LOSS] if records else None,
      "last_loss": last.get(schema.TRAIN_LOSS),
      **({schema.KNN_ACCURACY: last[schema.KNN_ACCURACY]} if schema.KNN_ACCURACY in last else {}),
      "encoder": encoder_file.WEIGHTS, schema.ENCODER_DIGEST: last.get(schema.ENCODER_DIGEST),
      **ledger.costs(last)}
