# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A leaderboard of bundles as static pages: tables by stream, a page for each method, provenance.

    index.html             a table for each protocol and stream, with the report's figures below it
    methods/NAME.html      all runs of a method: where they come from, and how they were verified
    bundles/NAME.zip       the bundles

Rows filter and sort in the browser; there is no server, and a page loads nothing. What a verifier
found is read from NAME.json beside NAME.zip, as `suite verify --json` writes it; it counts only for
the bundle whose digest it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import json
import pathlib
import shutil
import tempfile
from typing import Any, NamedTuple

from suite.contracts import descriptions
from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import tables
from suite.reporting.formats import html_page
from suite.reporting.run_panels import report_sections
from suite.submissions import bundle
from suite.system import atomic_files

NOT_VERIFIED = "not verified"
_LEFT_OUT = ("runs",)  # Panels with paths of the machine that makes the site.


class _Entry(NamedTuple):
  """A bundle: its name, what it says, what a verifier found, and where it is unpacked."""

  name: str
  digest: str
  about: Mapping[str, Any]
  found: Mapping[str, Any]
  root: pathlib.Path

  @property
  def badge(self) -> str:
    return str(self.found.get("badge", NOT_VERIFIED))


def build(folder: pathlib.Path, out: pathlib.Path, title: str, *, figures: bool = True
          ) -> list[str]:
  """Makes the site; returns lines that say what was made and what was left out.

  Args:
    folder: of bundles NAME.zip, and what was found out about them, NAME.json.
    out: a folder, made or written over.
    title: of the pages.
    figures: False: tables alone, pages of some kB in place of some MB.
  """
  with tempfile.TemporaryDirectory(prefix="lifelong-site-") as scratch:
    lines, entries = [], []
    for path in sorted(folder.glob("*.zip")):
      root = pathlib.Path(scratch).resolve() / path.stem
      root.mkdir()
      digest = atomic_files.sha256(path)
      try:
        entry = _Entry(path.stem, digest, bundle.unpack(path, root), _found(path, digest), root)
        for run in run_dir.load([root]):
          method = bundle.of_method(run.folder.parent / run_dir.CONFIG, run.folder.name)
          if _said(run, entry)["method"] != method:
            raise ValueError(f"{run.folder.name} is {method}, and {bundle.ABOUT} says otherwise")
      except (bundle.BundleError, ValueError) as error:
        lines.append(f"left out, {path.name}: {error}")
        continue
      if entry.badge == "refused":
        lines.append(f"left out, {path.name}: its verification failed")
        continue
      entries.append(entry)
      (out / "bundles").mkdir(parents=True, exist_ok=True)
      shutil.copyfile(path, out / "bundles" / path.name)
    if not entries:
      return [*lines, "no bundle is left, and no page was made"]
    methods = sorted({run["method"] for entry in entries for run in entry.about["runs"]})
    index = _index(entries, out)
    if not figures:
      index = [section._replace(panels=[
          dataclasses.replace(panel, chart=None, figure=None) for panel in section.panels])
               for section in index]
    pages = {out / "index.html": (title, index)}
    for method in methods:
      pages[out / "methods" / f"{method}.html"] = (
          f"{title}: {method}", _method(method, entries, out))
    for path, (heading, sections) in pages.items():
      path.parent.mkdir(parents=True, exist_ok=True)
      atomic_files.write(path, html_page.render(sections, path, heading).encode("utf-8"))
    return [*lines, f"{out / 'index.html'}: {len(entries)} bundles, {len(methods)} methods"]


def _found(path: pathlib.Path, digest: str) -> Mapping[str, Any]:
  """What a verifier found out about a bundle; {} if that is not known, or of another bundle."""
  beside = path.with_suffix(".json")
  try:
    found = json.loads(beside.read_text(encoding="utf-8"))
  except (OSError, ValueError):
    return {}
  return found if isinstance(found, dict) and found.get("bundle") == digest else {}


def _index(entries: Sequence[_Entry], out: pathlib.Path) -> list[panels.Section]:
  """A section for each stream: the table of methods, then what a report has of them."""
  streams = run_streams.build(run_dir.load([entry.root for entry in entries]))
  reports = {section.title: section
             for section in report_sections.load([entry.root for entry in entries])}
  found = []
  for stream in streams:
    report = reports.get(stream.title)
    shown = [] if report is None else [
        panel for panel in report.panels if panel.name not in (*_LEFT_OUT, "headline")]
    found.append(panels.Section(
        stream.title, [_board(stream, entries, out), *shown],
        None if report is None or report.num_main is None else report.num_main,
        [("bundles", ", ".join(entry.name for entry in entries if any(
            _entry_of(run, [entry]) for run in stream.runs)))]))
  return found


def _entry_of(run: run_dir.Run, entries: Sequence[_Entry]) -> _Entry | None:
  return next((one for one in entries if one.root in run.folder.resolve().parents), None)


def _said(run: run_dir.Run, entry: _Entry) -> Mapping[str, Any]:
  """What submission.json says of a run."""
  name = run.folder.resolve().relative_to(entry.root).as_posix()
  return next((one for one in entry.about["runs"] if one["folder"] == name), {})


def _board(stream: run_streams.StreamRuns, entries: Sequence[_Entry], out: pathlib.Path
           ) -> panels.Panel:
  """The table of a stream: a row for each method and settings, best first."""
  measures = tables.measures(stream)[:3]
  rows: list[list[Any]] = []
  heads, costs = run_streams.cost_table(stream.learners)
  for learner, spent in zip(stream.learners, costs):
    run, entry = learner.runs[0], _entry_of(learner.runs[0], entries)
    assert entry is not None
    method = str(_said(run, entry).get("method", run.folder.name))
    rows.append([
        quantities.Quantity(str(out / "methods" / f"{method}.html"), quantities.LINK,
                            printed=learner.label if learner.label == method else
                            f"{method} ({learner.label.partition('/runs/')[0]})"),
        *map(learner.shown, measures),
        len(learner.finished), learner.total("flops"), *spent, entry.badge,
        quantities.Quantity(str(out / "bundles" / f"{entry.name}.zip"), quantities.LINK,
                            printed=entry.name)])
  headline = measures[0] if measures else None
  if headline is not None:
    sign = 1 if headline.better == descriptions.LOWER else -1
    rows.sort(key=lambda row: (row[1].plain is None, sign * (row[1].plain or 0.0)))
  columns = [panels.Column("method", panels.LINK),
             *(panels.Column(f"{one.text}{', %' if one.unit == descriptions.SHARE else ''}",
                             panels.MIXED) for one in measures),
             panels.Column("seeds", panels.COUNT), panels.Column("FLOPs", panels.FLOPS),
             *heads,
             panels.Column("verification"), panels.Column("bundle", panels.LINK)]
  better = "" if headline is None else f" Sorted by {headline.text}, {headline.better} is better."
  return panels.Panel(
      "board", f"{stream.title}: methods", columns, rows,
      [f"Mean ± standard deviation over seeds.{better} Whether methods differ beyond chance is "
       "tested below, where there are several.",
       *([run_streams.ESTIMATE_NOTE] if stream.has_estimates else []),
       "Verification: replayed, events were executed again from committed states; recomputed, all "
       "scores and FLOPs were; answers agree, records were compared with saved answers; not "
       "verified, nobody has done so yet."])


def _method(method: str, entries: Sequence[_Entry], out: pathlib.Path) -> list[panels.Section]:
  """The page of a method: its runs, where they come from, and what was found out about them."""
  rows, checks = [], []
  for entry in entries:
    for run in run_dir.load([entry.root]):
      said = _said(run, entry)
      if said.get("method") != method:
        continue
      environment, packages = run.environment, run.environment.get("packages") or {}
      headline = run.description.headline
      rows.append([
          run.protocol, run.folder.name, said["seed"],
          None if headline is None else quantities.Quantity(
              run.summary.get(headline.key), quantities.PERCENT
              if headline.unit == descriptions.SHARE else quantities.NUMBER),
          run.last("flops"), entry.badge,
          quantities.Quantity(str(out / "bundles" / f"{entry.name}.zip"), quantities.LINK,
                              printed=entry.name),
          entry.digest[:16], entry.about["license"], entry.about["contact"],
          f"suite {environment.get('suite')}, {environment.get('git_revision') or 'a release'}, "
          f"TensorFlow {packages.get('tensorflow')}",
          f"{environment.get('device')}, "
          f"{str(environment.get('instruction_set', 'unknown')).partition(' ')[0]}",
          str(environment.get("command"))])
      checks += [[entry.name, one.get("run", ""), one.get("kind", ""), one.get("state", ""),
                  one.get("text", "")] for one in entry.found.get("checks", ())
                 if one.get("run") in ("", said["folder"])]
  section = panels.Section(f"Method {method}", [
      panels.Panel("provenance", f"Method {method}: runs", [
          panels.Column("protocol"), panels.Column("learner"), panels.Column("seed", panels.COUNT),
          panels.Column("score", panels.MIXED), panels.Column("FLOPs", panels.FLOPS),
          panels.Column("verification"), panels.Column("bundle", panels.LINK),
          panels.Column("SHA-256"), panels.Column("license"), panels.Column("contact"),
          panels.Column("versions"), panels.Column("machine"), panels.Column("command")], rows),
      *([panels.Panel("checks", f"Method {method}: verification", [
          panels.Column("bundle"), panels.Column("run"), panels.Column("what"),
          panels.Column("outcome"), panels.Column("text")],
          [list(row) for row in dict.fromkeys(map(tuple, checks))])] if checks else [])])
  return [section]
