# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite run TABLE --dry_run`: the costs of the cells that are not finished, one by one and in all.

The cells of a row and column differ in their seed, so one of them is planned and stands for all.
Each is planned in a process of its own, as it would run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
import json
import multiprocessing
from typing import Any, NamedTuple

from absl import logging

from suite.compute import ledger as ledger_lib
from suite.reporting import quantities
from suite.reporting import text_table
from suite.running import cost_text
from suite.running import launch
from suite.tables import table_cells


class _Order(NamedTuple):
  """A cell to plan, and `launch.dry_run`'s arguments; plain values, for another process."""

  cell: table_cells.Cell
  given: Mapping[str, Any]
  trusted_modules: Sequence[str]
  rate: float | None


def dry_run(asked: launch.RunFile, given: Mapping[str, Any], *, rate: float | None = None,
            jobs: int = 1, only: Sequence[str] = ()) -> str:
  """Returns what the cells of a table that are not finished would cost; see `launch.run_table`."""
  return launch.of_table(asked, given, jobs=jobs, only=only, instead=functools.partial(
      report, given=given, trusted_modules=asked.trusted_modules, rate=rate, jobs=jobs))


def report(chosen: Sequence[table_cells.Cell], waiting: Sequence[table_cells.Cell], *,
           given: Mapping[str, Any], trusted_modules: Sequence[str], rate: float | None, jobs: int
           ) -> str:
  """The costs of the cells, as text.

  Args:
    chosen: the cells that were asked for.
    waiting: those of them that are not finished.
    given, trusted_modules: as for a run.
    rate: FLOPs a second; None: measured.
    jobs: cells that are planned at the same time.
  """
  if not waiting:
    return f"All of the {len(chosen)} cells are finished: nothing is left to run."
  seeds: dict[tuple[str, str], list[table_cells.Cell]] = {}
  for cell in waiting:
    seeds.setdefault((cell.row, cell.column), []).append(cell)
  orders = [_Order(cells[0], given, trusted_modules, rate) for cells in seeds.values()]
  found: list[dict[str, Any]] = []
  # A new process for each: TensorFlow's settings and gin's cannot be taken back.
  with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
    for order, facts in zip(orders, pool.imap(_plan, orders)):
      logging.info("%s: planned; %d of %d.", order.cell.name, len(found) + 1, len(orders))
      found.append(facts)
  return _text(len(chosen), list(zip(seeds.values(), found)), jobs)


def _plan(order: _Order) -> dict[str, Any]:
  cell = order.cell
  try:
    # Each cell's own notes would hide those of the table.
    logging.set_verbosity(logging.ERROR)
    asked = launch.find(cell.run, extra_files=cell.extra_files, params=cell.params,
                        workdir=str(cell.folder), trusted_modules=order.trusted_modules)
    return json.loads(launch.dry_run(asked, order.given, rate=order.rate, as_json=True))
  except Exception as error:  # Of any cell: the others have their estimate.
    return {"error": str(error) or type(error).__name__}


def _text(num_chosen: int, planned: Sequence[tuple[Sequence[table_cells.Cell], Mapping[str, Any]]],
          jobs: int) -> str:
  known = [(cells, facts) for cells, facts in planned if "error" not in facts]
  num_waiting = sum(len(cells) for cells, _ in planned)
  lines = [f"Dry run of a table: {num_waiting} of {num_chosen} cells are to run."]
  if known:
    totals = {id(facts): _sum([one["totals"] for one in facts["learners"].values()])
              for _, facts in known}
    phases = cost_text.phases_of(list(totals.values()))
    rows, every = [], []
    for cells, facts in known:
      one = _of_cell(totals[id(facts)], facts)
      rows.append([f"{cells[0].row}/{cells[0].column}", str(len(cells)),
                   *cost_text.costs(one["totals"], phases), *cost_text.rest(one)])
      every += [one] * len(cells)
    whole = _of_all(every)
    rows.append(["in all", str(len(every)), *cost_text.costs(whole["totals"], phases),
                 *cost_text.rest(whole)])
    table = text_table.TextTable("Each line is one cell of that many, which differ in their seed",
                                 ["row/column", "cells", *phases, "in all", "time", "disk",
                                  "weights"], rows)
    lines += [table.text(), *cost_text.times(known[0][1])]
    if jobs > 1:
      lines.append(f"time in all is that of cells one after the other, not of {jobs} at once; "
                   f"each was measured beside {jobs - 1} others.")
    lines += dict.fromkeys(
        f"{cells[0].row}/{cells[0].column}, {name}: {note}." for cells, facts in known
        for name, one in facts["learners"].items() for note in one["notes"])
    lines += dict.fromkeys(
        f"{cells[0].row}/{cells[0].column}, {name}: no estimate, {reason}"
        for cells, facts in known for name, reason in facts["refused"].items())
    peak = max(facts["peak_bytes"] for _, facts in known)
    lines.append(f"memory: {quantities.si(peak, 'B')} of a cell's process at most.")
    lines += cost_text.data({
        "left_out": [], "estimated": sorted({e for _, f in known for e in f["estimated"]}),
        "missing": {name: why for _, f in known for name, why in f["missing"].items()}})
  lines += [f"{cells[0].row}/{cells[0].column}: {facts['error']}" for cells, facts in planned
            if "error" in facts]
  return "\n".join(lines)


def _of_cell(totals: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
  """The learners of a cell together."""
  learners = list(facts["learners"].values())
  seconds = [one["seconds"] for one in learners]
  return {"totals": totals, "seconds": None if None in seconds else sum(seconds),
          "disk_bytes": sum(one["disk_bytes"] for one in learners),
          "memory_bytes": max(one["memory_bytes"] for one in learners)}


def _of_all(every: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """All cells, one after the other."""
  return _of_cell(_sum([one["totals"] for one in every]), {"learners": dict(enumerate(every))})


def _sum(totals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """The sum of ledgers' FLOPs; one that is unknown makes the sum unknown."""
  found: dict[str, Any] = {}
  for one in totals:
    for name, amount in one.items():
      if name.split("_")[0] == "flops":
        found[name] = ledger_lib.add(found.get(name, 0), amount)
  return found
