# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Protocol descriptions: what views of a run must know about its protocol, as plain data.

A protocol describes its results once, beside its loop:

    DESCRIPTION = descriptions.ProtocolDescription("backwards", measures=(
        descriptions.Measure("first_error", "error at the end", descriptions.LOWER),))

    @descriptions.describes(DESCRIPTION)
    def run(learner, *, state, ...):

Each run writes the description to its directory as `protocol.json`. Reports, leaderboards,
TensorBoard and the progress line read it from there, so they need no list of protocols, and a
protocol that a user wrote is shown like the suite's own. How something is drawn is said in
`suite/reporting`. Runs of earlier versions have no such file: then `named` finds the description by
the protocol's name in the records, in `SHIPPED`, the only list of the suite's protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import importlib
import inspect
from typing import Any, NamedTuple, TypeVar

from suite.contracts import deliveries
from suite.metrics import schema

FILE = "protocol.json"
LOWER, HIGHER = "lower", "higher"
SHARE, NUMBER = "share", "number"

# Kinds of panels: what records and summaries have beyond the measures.
TASKS = "tasks"  # Predict events have "task_key", "error", "role"; the summary has "mean_error".
BUCKETS = "buckets"  # Predict events have "trained_bucket", "bucket", "row".
STEPS = "steps"  # Predict events are steps of a sequence, as `metrics.sequence_log` reads them.
VALIDATIONS = "validations"  # Train events have "flops_meta_train", "validation_accuracy".
BUDGETS = "budgets"  # Events are experiments of `protocols.lifelong_figures`, by "figure".
PANELS = (TASKS, BUCKETS, STEPS, VALIDATIONS, BUDGETS)

# What a run keeps of each event, in this order; `protocols.run_state` has a keeper for each.
KEEPERS = PREDICTIONS, COSTS, METRICS, RECORD, STEPS, DIGEST, STATE = (
    "predictions", "costs", "metrics", "record", "steps", "digest", "state")
WITHOUT_PREDICTIONS = KEEPERS[1:]
INCREMENTAL, CLEAR, FLUID = "incremental", "clear", "fluid"


class Shipped(NamedTuple):
  """A protocol of the suite.

  Attributes:
    module: has its `run` and `DESCRIPTION`.
    delivery: how it delivers data to a learner, one of `deliveries.DELIVERIES`; "": to none.
  """

  module: str
  delivery: str = ""


SHIPPED: Mapping[str, Shipped] = {
    "nevis": Shipped("suite.protocols.nevis", deliveries.TASKS),
    CLEAR: Shipped("suite.protocols.clear", deliveries.BUCKETS),
    INCREMENTAL: Shipped("suite.protocols.incremental", deliveries.BUCKETS),
    FLUID: Shipped("suite.protocols.fluid", deliveries.SEQUENCE),
    "cfsl": Shipped("suite.protocols.cfsl", deliveries.EPISODES),
    "lifelong": Shipped("suite.protocols.lifelong"),
    "pretrain": Shipped("suite.protocols.pretrain", deliveries.PORTIONS),
}


@dataclasses.dataclass(frozen=True)
class Measure:
  """A score of the summaries.

  Attributes:
    key: its name in a summary, "a.b" if nested.
    text: heading.
    better: "lower" or "higher".
    unit: "share", printed as percent, or "number".
  """

  key: str
  text: str
  better: str = HIGHER
  unit: str = SHARE


@dataclasses.dataclass(frozen=True)
class RecordCurve:
  """A score along a run: one point for each record that has both values.

  Attributes:
    x_text, y_text: labels of the axes.
    x, y: names of the values in records; y is a share.
    per: name of the value that y is divided by; "": none.
    first: added to x; 1 if x counts from 0.
    kind: the kind of events that have points; "": all.
    equal: names whose values are equal in records that have points.
  """

  x_text: str
  y_text: str
  x: str
  y: str
  per: str = ""
  first: int = 0
  kind: str = ""
  equal: Sequence[str] = ()

  def points(self, records: Sequence[Mapping[str, Any]]) -> list[tuple[Any, float]]:
    """Returns (x, y) of all records that have a point."""
    return [(record[self.x] + self.first if self.first else record[self.x], y)
            for record in records if (y := self.value(record)) is not None]

  def value(self, record: Mapping[str, Any]) -> float | None:
    """Returns y of a record; None if it has no point."""
    x, y = record.get(self.x), record.get(self.y)
    if x is None or y is None or self.kind not in ("", record.get(schema.KIND)):
      return None
    if len({record.get(name) for name in self.equal}) > 1:
      return None
    if not self.per:
      return y
    return y / record[self.per] if record.get(self.per) else None


@dataclasses.dataclass(frozen=True)
class ProtocolDescription:
  """Facts of a protocol that views of its runs need.

  Attributes:
    name: as in records and summaries.
    measures: the scores; the first is the headline. (): every number of the summary.
    curve: the score along a run; None: no curve.
    panels: kinds of further panels, of `PANELS`.
    part: the protocol's word for what comes one after the other, where panels are of "buckets".
    identity: names of values of the first record: runs that differ in one have different streams.
    identity_of_tests: the same of all Predict events, in order; an unfinished run belongs to the
      stream that begins with its events. () if `identity` suffices.
    facts: the part of `identity` that the title of an unfinished stream shows.
    keepers: what a run keeps of each event, of `KEEPERS`, in their order: "predictions" of a test
      set; "costs" so far; "metrics" of the user; the "record"; "steps", of which a finished event
      needs none; the "digest" of the state, where it is asked for; and the "state" to resume from.
  """

  name: str
  measures: Sequence[Measure] = ()
  curve: RecordCurve | None = None
  panels: Sequence[str] = ()
  part: str = "bucket"
  identity: Sequence[str] = (
      schema.TASK, schema.MODE, schema.NUM_CLASSES, "base_classes", schema.DATA, schema.SPLIT,
      schema.TASK_TYPE, schema.WAY, schema.SHOT, schema.TARGETS, schema.NUM_SUPPORT_SETS,
      schema.CLASS_CHANGE_INTERVAL, schema.OVERWRITE, schema.CONVENTION)
  identity_of_tests: Sequence[str] = ()
  facts: Sequence[str] = (schema.DATA, schema.SPLIT, schema.TASK_TYPE, schema.WAY, schema.SHOT,
                          schema.NUM_SUPPORT_SETS)
  keepers: Sequence[str] = KEEPERS

  def __post_init__(self) -> None:
    if list(self.keepers) != [name for name in KEEPERS if name in self.keepers] or (
        not {RECORD, STATE} <= set(self.keepers)):
      raise ValueError(f"The description of protocol {self.name!r} has the keepers "
                       f"{', '.join(self.keepers)}; allowed are {', '.join(KEEPERS)}, in this "
                       f"order, {RECORD} and {STATE} among them.")
    if unknown := sorted(set(self.panels) - set(PANELS)):
      raise ValueError(f"The description of protocol {self.name!r} has panels of kind "
                       f"{', '.join(unknown)}; allowed are {', '.join(PANELS)}.")
    for measure in self.measures:
      if measure.better not in (LOWER, HIGHER) or measure.unit not in (SHARE, NUMBER):
        raise ValueError(
            f"Measure {measure.key!r} of protocol {self.name!r} has better={measure.better!r} and "
            f"unit={measure.unit!r}; allowed are {LOWER!r} or {HIGHER!r}, and {SHARE!r} or "
            f"{NUMBER!r}.")

  @property
  def headline(self) -> Measure | None:
    """The first measure."""
    return self.measures[0] if self.measures else None

  def measure(self, key: str) -> Measure:
    """Returns the measure of a value of the summary; one that is not described is named by its key.
    """
    return next((one for one in self.measures if one.key == key), Measure(
        key, key.replace("_", " "), LOWER if "error" in key else HIGHER))

  def values(self) -> dict[str, Any]:
    """Returns plain values for JSON, which `from_values` reads."""
    return dataclasses.asdict(self)


def from_values(values: Mapping[str, Any]) -> ProtocolDescription:
  """Returns the description with the values of `ProtocolDescription.values`, as read from JSON."""
  return ProtocolDescription(**{
      **_with_tuples(values), "measures": tuple(Measure(**one) for one in values["measures"]),
      "curve": RecordCurve(**_with_tuples(values["curve"])) if values["curve"] else None})


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
  return {name: tuple(value) if isinstance(value, list) else value
          for name, value in values.items()}


_Function = TypeVar("_Function", bound=Callable[..., Any])


def describes(description: ProtocolDescription) -> Callable[[_Function], _Function]:
  """Returns a decorator that gives a protocol its description."""

  def decorate(protocol: _Function) -> _Function:
    protocol.description = description  # type: ignore[attr-defined]
    return protocol

  return decorate


def of(protocol: Callable[..., Any]) -> ProtocolDescription | None:
  """Returns the description of a protocol, whose arguments may be bound; None if it has none."""
  while isinstance(protocol, functools.partial) or hasattr(protocol, "__wrapped__"):
    protocol = (protocol.func if isinstance(protocol, functools.partial)
                else inspect.unwrap(protocol))
  return getattr(protocol, "description", None)


def load(name: str) -> Any:
  """Returns the module of a protocol of the suite."""
  return importlib.import_module(SHIPPED[name].module)


@functools.cache
def named(name: str) -> ProtocolDescription:
  """Returns the description of a protocol of the suite; without measures for another name."""
  return load(name).DESCRIPTION if name in SHIPPED else ProtocolDescription(name)


def delivering(delivery: str) -> str:
  """Returns the name of the suite's first protocol that delivers in this way."""
  return next(name for name, one in SHIPPED.items() if one.delivery == delivery)
