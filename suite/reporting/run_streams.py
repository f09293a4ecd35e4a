# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs of one stream, learner by learner with their seeds; different streams are never averaged.

Runs whose configurations differ only in the seed are the seeds of one learner.
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
import dataclasses
import json
import os
import pathlib
import re
from typing import Any

from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.metrics import schema
from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import table_dir

NOT_FINISHED = "not finished"
ESTIMATE_NOTE = ("~: estimated from some of the answers, in brackets half of its 95% interval. "
                 "Paired tests need all answers and leave it out.")
# Columns of `LearnerRuns.cost_cells`.
COSTS = (panels.Column("FLOPs without answers", panels.FLOPS),
         panels.Column("without pretraining", panels.FLOPS),
         panels.Column("pretraining", panels.FLOPS),
         panels.Column("pretraining by task", panels.FLOPS),
         panels.Column("budget", panels.FLOPS), panels.Column("left of it", panels.FLOPS),
         *(panels.Column(name.replace("_bytes", ""), panels.BYTES) for name in ledger.HELD))
_SEED = re.compile(r"^(\s*experiment\.run\.seed\s*=.*|# Python objects, by suite\.run; seed \d+)$",
                   re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class LearnerRuns:
  """The seeds of one learner.

  Attributes:
    label: unique within the stream.
    runs: one a seed.
  """

  label: str
  runs: Sequence[run_dir.Run]

  @property
  def finished(self) -> list[run_dir.Run]:
    return [run for run in self.runs if run.is_finished]

  @property
  def state(self) -> str:
    """"finished", or "partial" with what there is."""
    done = len(self.finished)
    if done == len(self.runs):
      return "finished"
    if len(self.runs) == 1:
      return f"partial, {len(self.runs[0].records):,} events so far"
    return f"partial, {done} of {len(self.runs)} seeds"

  @property
  def shown_label(self) -> str:
    """The label, marked while a run is going on."""
    return self.label if self.state == "finished" else f"{self.label} (partial)"

  def score(self, name: str) -> stream_groups.Spread:
    """Mean and deviation of a value of the summaries, "a.b" if nested, over the finished seeds."""
    values = [table_dir.value(run.summary, name) for run in self.finished]
    return stream_groups.spread([v if _is_number(v) else None for v in values])

  def bounds(self, name: str) -> tuple[float, float] | None:
    """Bounds (95%) of a score that is estimated from some answers (`protocols.few_answers`).

    The means over finished seeds; None if all answers that it is of were asked.
    """
    found = [(run.summary.get("intervals") or {}).get(name) or [table_dir.value(run.summary, name)]
             for run in self.finished]
    if all(len(one) == 1 for one in found) or not all(
        _is_number(bound) for one in found for bound in one):
      return None
    low, high = (_mean([one[end] for one in found]) for end in (0, -1))
    return None if low is None or high is None or low == high else (low, high)

  def shown(self, measure: descriptions.Measure, note: str = "") -> quantities.Quantity:
    """The mean score as tables print it: with its deviation over seeds, and, if it is an estimate,
    a mark and half of its interval.
    """
    score, is_share = self.score(measure.key), measure.unit == descriptions.SHARE
    value = panels.plain(score.mean) if score.num else None
    made = quantities.Quantity(
        value, quantities.PERCENT if is_share else quantities.NUMBER, note=note,
        deviation=panels.plain(score.deviation) if is_share and score.num > 1 else None)
    bounds = self.bounds(measure.key)
    return made if value is None or bounds is None else made.estimated(*bounds)

  def total(self, name: str) -> float | None:
    """The mean of a total over finished seeds, or over all while none is; None is unknown."""
    values = [run.last(name) for run in self.finished or self.runs]
    return _mean(values)

  def learning_flops(self, *without: str) -> float | None:
    """The mean of cumulative FLOPs without answers over the finished seeds.

    A summary without costs leaves them to the last record.

    Args:
      *without: further phases to leave out.
    """
    return _mean([task_stream.cumulative_cost(
        {**(run.records or [{}])[-1], **run.summary}, without=without) for run in self.finished])

  def learning_cell(self) -> float | quantities.Quantity | None:
    """`learning_flops`, as panels have it; "unknown" of a learner without a finished seed."""
    return self.learning_flops() if self.finished else quantities.words(quantities.UNKNOWN)

  def cost_cells(self) -> list[Any]:
    """The plain values of `COSTS`: what learning spends and holds."""
    pretrained = _mean([{**(run.records or [{}])[-1], **run.summary}.get("flops_pretrain", 0)
                        for run in self.finished])
    served = [sum(record.get(schema.KIND) == deliveries.TRAIN for record in run.records)
              for run in self.finished]
    num = served[0] if served and len(set(served)) == 1 else 0
    return [self.learning_flops(),
            *([None] * 3 if pretrained == 0 else [
                self.learning_flops("pretrain"), pretrained,
                None if pretrained is None or not num else pretrained / num]),
            *map(self.total, ("budget_flops", "budget_flops_left", *ledger.HELD))]


def cost_table(learners: Sequence[LearnerRuns]) -> tuple[list[panels.Column], list[list[Any]]]:
  """The first of `COSTS`, the others that a learner has a value of, and the cells of each learner.
  """
  rows = [[learner.learning_cell(), *learner.cost_cells()[1:]] for learner in learners]
  kept = [i for i in range(1, len(COSTS)) if any(row[i] is not None for row in rows)]
  return [COSTS[0], *(COSTS[i]._replace(kind=panels.MIXED) for i in kept)], [
      [row[0], *(None if row[i] is None else quantities.Quantity(row[i], COSTS[i].kind)
                 for i in kept)] for row in rows]


@dataclasses.dataclass(frozen=True)
class StreamRuns:
  """All learners on one stream."""

  description: descriptions.ProtocolDescription
  title: str
  learners: Sequence[LearnerRuns]

  @property
  def runs(self) -> list[run_dir.Run]:
    return [run for learner in self.learners for run in learner.runs]

  @property
  def has_estimates(self) -> bool:
    """Whether a run asks test sets a part of the answers (`protocols.few_answers`)."""
    return any(run.summary.get("estimated_tests") for run in self.runs)

  @property
  def notes(self) -> list[str]:
    """What is partial, and headline scores that are missing."""
    going = [f"{run.label}: partial, {len(run.records):,} events so far; its values are not final."
             for run in self.runs if not run.is_finished]
    return going + [f"{run.label}: {run.summary['headline']}." for run in self.runs
                    if run.summary.get("headline", "ok") != "ok"]


def build(runs: Sequence[run_dir.Run]) -> list[StreamRuns]:
  """Groups runs by stream, in the order of their first runs.

  A run without a summary belongs to the stream of a finished run of its work directory, else to the
  only stream that began as it did.

  Raises:
    ValueError: a run has records without a protocol.
  """
  groups: dict[tuple[str, str, str], list[run_dir.Run]] = {}
  for run in sorted(runs, key=lambda run: not run.is_finished):
    if run.records and run.protocol == run_dir.UNKNOWN:
      raise ValueError(
          f"{run.folder / run_dir.RECORDS} names no protocol: another version or another program "
          "wrote it. Leave the folder out, or report it with what wrote it.")
    groups.setdefault(_key(run, groups), []).append(run)
  order = {id(run): i for i, run in enumerate(runs)}
  found = {key: sorted(group, key=lambda run: order[id(run)]) for key, group in groups.items()}
  streams = []
  for (protocol, name, identity), group in sorted(
      found.items(), key=lambda item: order[id(item[1][0])]):
    members, known = seed_groups(group), json.loads(identity)
    description = group[0].description
    facts = ({k: known[k] for k in description.facts if k in known}
             if isinstance(known, dict) else {})
    if not name or name == NOT_FINISHED:
      described = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in facts.items())
      name = ", ".join(filter(None, (name, described)))
    learners = [LearnerRuns(runs[0].named(label), runs)
                for label, runs in zip(group_labels(members), members)]
    streams.append(StreamRuns(
        description, f"{protocol} ({name})" if name else protocol, learners))
  seen = collections.Counter[str]()
  for i, stream in enumerate(streams):
    seen[stream.title] += 1
    if seen[stream.title] > 1:
      streams[i] = dataclasses.replace(stream, title=f"{stream.title}, stream {seen[stream.title]}")
  return streams


def _key(run: run_dir.Run, groups: dict[tuple[str, str, str], list[run_dir.Run]]
         ) -> tuple[str, str, str]:
  """(protocol, stream, first record's facts)."""
  # JSON of what tells streams apart where a summary does not name the stream.
  if names := run.description.identity_of_tests:
    identity = json.dumps([[record.get(name) for name in names]
                           for record in schema.of_tests(run.records)])
  else:
    first = run.records[0] if run.records else {}
    identity = json.dumps({name: first[name] for name in run.description.identity if name in first})
  if run.is_finished:
    return run.protocol, str(run.summary.get("stream") or ""), identity
  beside = [key for key, group in groups.items()
            if any(other.folder.parent == run.folder.parent for other in group)
            and (not run.records or key[0] == run.protocol)]
  # Streams whose finished runs began as this one did, or had the same facts.
  begun = json.loads(identity)
  alike = [key for key in groups if run.records and key[0] == run.protocol
           and (json.loads(key[2])[:len(begun)] == begun if names else key[2] == identity)]
  for found in (beside, alike):
    if len(found) == 1:
      return found[0]
  return run.protocol, NOT_FINISHED, identity


def _mean(values: Sequence[Any]) -> int | float | None:
  """The mean; None if a value is unknown: the mean of the others would be of other seeds."""
  if not values or not all(map(_is_number, values)):
    return None
  mean = quantities.mean(values)
  return mean if isinstance(mean, int) else panels.plain(mean)


def _is_number(value: Any) -> bool:
  return isinstance(value, (int, float)) and not isinstance(value, bool)


def seed_groups(runs: Sequence[run_dir.Run]) -> list[list[run_dir.Run]]:
  """Groups runs of one stream by learner and settings.

  A seed that was run twice is no further seed of the group, but of a second one.
  """
  members: dict[tuple[str, str, int], list[run_dir.Run]] = {}
  seen = collections.Counter[tuple[str, str, str]]()
  for run in runs:
    # The configuration without its seed, and the line of the seed. In a whole table they are the
    # column and the seed's folder: a seed there may set other parameters, such as the split. A run
    # without a configuration, made from Python, has its folder in place of one: only the same text
    # tells that two runs have the same settings.
    workdir, seed = run.folder.parent, seed_of(run)
    text = _config_text(run)
    settings = (str(workdir.parent) if _is_cell(workdir) else
                _seed_and_rest(text)[1] if text.strip() else str(run.folder))
    copy = seen[run.learner, settings, seed]
    seen[run.learner, settings, seed] += 1
    members.setdefault((run.learner, settings, copy), []).append(run)
  return list(members.values())


def seed_of(run: run_dir.Run) -> str:
  """The seed of a configuration, or the name of the seed's folder in a table; "" if unknown."""
  if _is_cell(run.folder.parent):
    return run.folder.parent.name
  return _seed_and_rest(_config_text(run))[0]


def _seed_and_rest(text: str) -> tuple[str, str]:
  """The seed of a configuration, "" without one, and the text without it.

  It may be a macro that other settings use, too: a table cell whose seed is also used outside
  training.
  """
  line = _SEED.search(text)
  if line is None:
    return "", text
  seed, text = re.split("[ =]", line[0].strip())[-1], _SEED.sub("", text)
  macro = re.search(rf"^{re.escape(seed[1:])} = (\S+)$", text, re.MULTILINE)
  return (seed, text) if seed[:1] != "%" or macro is None else (
      macro[1], text.replace(macro[0], ""))


def _config_text(run: run_dir.Run) -> str:
  path = run.home / run_dir.CONFIG
  return path.read_text(encoding="utf-8") if path.exists() else ""


def home_of(runs: Sequence[run_dir.Run]) -> pathlib.Path:
  """The folder of the seeds' folders; for one run its work directory, or the column of a table."""
  parents = [run.folder.parent for run in runs]
  if len(set(parents)) > 1:
    return pathlib.Path(os.path.commonpath([str(parent) for parent in parents]))
  return parents[0].parent if _is_cell(parents[0]) else parents[0]


def _is_cell(workdir: pathlib.Path) -> bool:
  """Whether it is ROW/COLUMN/SEED of a whole table."""
  return len(workdir.parts) > 3 and table_dir.is_table(workdir.parents[2])


def row_of(run: run_dir.Run) -> str | None:
  """The folder of the row, for a cell of a whole table; else None."""
  workdir = run.folder.parent
  return workdir.parts[-3] if _is_cell(workdir) else None


def group_labels(groups: Sequence[Sequence[run_dir.Run]]) -> list[str]:
  """The shortest unique ending of the path of each group of seeds.

  Seeds of several settings may lie in one folder: then a group has the path of its first run.
  """
  paths = [home_of(group) / group[0].learner for group in groups]
  paths = [path if paths.count(path) == 1 else group[0].folder
           for path, group in zip(paths, groups)]
  found = []
  for i, path in enumerate(paths):
    tails = ["/".join(path.parts[-n:]) for n in range(1, len(path.parts))]
    others = [f"/{other.as_posix()}" for j, other in enumerate(paths) if j != i]
    found.append(next((t for t in tails if not any(o.endswith(f"/{t}") for o in others)),
                      path.as_posix()))
  return found
