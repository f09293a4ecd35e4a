# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A leaderboard of bundles as static pages: tables by stream, a page for each method, provenance.

    index.html             a table for each protocol, stream and budget, with the report's figures
                           below it, and a table of all budgets of a stream
    methods/NAME.html      all runs of a method: where they come from, and how they were verified
    bundles/NAME.zip       the bundles

Rows filter and sort in the browser; there is no server, and a page loads nothing. What a verifier
found is read from NAME.json beside NAME.zip, as `suite verify --json` writes it; it counts only for
the bundle whose digest it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import math
import pathlib
import shutil
import tempfile
from typing import Any, NamedTuple

from suite.beside.submissions import board as board_lib
from suite.beside.submissions import bundle
from suite.compute import ledger
from suite.contracts import descriptions
from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import significance
from suite.reporting import tables
from suite.reporting.formats import renderers
from suite.reporting.run_panels import report_sections
from suite.system import atomic_files
from suite.system import sealed_json

NOT_VERIFIED = "not verified"
_HELD = [name.replace("_bytes", "") for name in ledger.HELD]  # Names of columns.
# Panels with paths of the machine that makes the site, and with what bundles and commands say.
_LEFT_OUT = ("runs", "configuration")
_LONG = ("summary", "classes", "confusion")  # Some 100 kB each; not in pages of tables alone.


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

  def badge_of(self, runs: Sequence[run_dir.Run]) -> str:
    """What was found out about some of the runs, with what was about the whole bundle."""
    if not self.found:
      return NOT_VERIFIED
    names = ["", *(run.folder.resolve().relative_to(self.root).as_posix() for run in runs)]
    return bundle.badge([check for check in self.found.get("checks", ()) if check["run"] in names],
                        bundle.num_events(runs))


def build(folder: pathlib.Path, out: pathlib.Path, title: str, *, figures: bool = True,
          copies: bool = True, board: board_lib.Board | None = None) -> list[str]:
  """Makes the site; returns lines that say what was made and what was left out.

  Args:
    folder: of bundles NAME.zip, and what was found out about them, NAME.json.
    out: a folder, made or written over.
    title: of the pages.
    figures: False: tables alone, pages of some kB in place of some MB.
    copies: False: bundles are named with their digests, and not copied.
    board: what is prescribed: bundles with other runs are left out; None: nothing is.
  """
  with tempfile.TemporaryDirectory(prefix="lifelong-site-") as scratch:
    lines: list[str] = []
    entries: list[_Entry] = []
    for path in sorted(folder.glob("*.zip")):
      root = pathlib.Path(scratch).resolve() / path.stem
      root.mkdir()
      digest = atomic_files.sha256(path)
      try:
        if same := next((one.name for one in entries if one.digest == digest), None):
          raise ValueError(f"it is the bundle {same}.zip again")
        entry = _Entry(path.stem, digest, bundle.unpack(path, root), _found(path, digest), root)
        for run in run_dir.load([root]):
          _size(_budget(run))  # A ValueError if it is none.
          method = bundle.of_method(run.home / run_dir.CONFIG, run.learner)
          if _said(run, entry)["method"] != method:
            raise ValueError(f"{run.learner} is {method}, and {bundle.ABOUT} says otherwise")
          if other := [*bundle.other_description(run), *(
              [] if board is None else board.problems(run, method))]:
            raise ValueError("; ".join(other))
          (run.folder / descriptions.FILE).unlink(missing_ok=True)  # The code's is shown.
      except (bundle.BundleError, ValueError, RecursionError) as error:
        lines.append(f"left out, {path.name}: {error}")
        continue
      if entry.badge == "refused":
        lines.append(f"left out, {path.name}: its verification failed")
        continue
      entries.append(entry)
      if copies:
        (out / "bundles").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / "bundles" / path.name)
    if not entries:
      return [*lines, "no bundle is left, and no page was made"]
    methods = sorted({run["method"] for entry in entries for run in entry.about["runs"]})
    index = _index(entries, out, copies)
    if not figures:
      index = [section._replace(
          panels=[dataclasses.replace(panel, chart=None)
                  for panel in section.panels if panel.name not in _LONG],
          num_main=section.num_main and sum(
              panel.name not in _LONG for panel in section.panels[:section.num_main]))
               for section in index]
    pages = {out / "index.html": (title, index)}
    for method in methods:
      pages[out / "methods" / f"{method}.html"] = (
          f"{title}: {method}", _method(method, entries, out, copies))
    for path, (heading, sections) in pages.items():
      path.parent.mkdir(parents=True, exist_ok=True)
      atomic_files.write(path, renderers.html_page(sections, path, heading).encode("utf-8"))
    return [*lines, f"{out / 'index.html'}: {len(entries)} bundles, {len(methods)} methods"]


def _found(path: pathlib.Path, digest: str) -> Mapping[str, Any]:
  """What a verifier found out about a bundle; {} if that is not known, or of another bundle."""
  found = sealed_json.load(path.with_suffix(".json"), "output of suite verify --json",
                           f"Delete it, or verify {path} again.", or_none=True)
  return found if found.get("bundle") == digest else {}


def _index(entries: Sequence[_Entry], out: pathlib.Path, copies: bool) -> list[panels.Section]:
  """A section for each stream and budget: the table of methods, then what a report has of them.

  Streams with several budgets have a section before that, with all of them.
  """
  by_budget: dict[str, list[pathlib.Path]] = {}
  for run in run_dir.load([entry.root for entry in entries]):
    by_budget.setdefault(_budget(run), []).append(run.folder.parent)
  found, overviews = [], []
  boards: dict[str, dict[str, _Board]] = {}  # By stream and budget.
  for budget in sorted(by_budget, key=_size):
    reports = {section.title: section for section in report_sections.load(by_budget[budget])}
    for stream in run_streams.build(run_dir.load(by_budget[budget])):
      title = stream.title + (f", within {budget}" if budget else
                              ", without a budget" if len(by_budget) > 1 else "")
      board = _Board(stream, budget, entries, out, copies)
      boards.setdefault(stream.title, {})[budget] = board
      report = reports.get(stream.title)
      shown = [] if report is None else [
          dataclasses.replace(panel, title=panel.title.replace(stream.title, title))
          for panel in report.panels if panel.name not in (*_LEFT_OUT, "headline")]
      found.append(panels.Section(
          title, [board.panel(title), *shown],
          None if report is None or report.num_main is None else report.num_main,
          [("bundles", ", ".join(entry.name for entry in entries if any(
              _entry_of(run, [entry]) for run in stream.runs)))]))
  for title, of_budgets in boards.items():
    if len(of_budgets) > 1:
      overviews.append(panels.Section(f"{title}, by budget", [_by_budget(title, of_budgets)]))
  return [*overviews, *found]


def _budget(run: run_dir.Run) -> str:
  """The budget of a run as its configuration has it; "": none."""
  return str(bundle.bound_value(run.home / run_dir.CONFIG, "budget") or "")


def _size(budget: str) -> tuple[float, float, float]:
  """The limits of a budget, for sorting; no budget is the largest."""
  limits = ledger.Budget.parse(budget) if budget else ledger.Budget()
  flops, macs, held = (math.inf if limit is None else float(limit)
                       for limit in (limits.flops, limits.macs, limits.bytes))
  return flops, macs, held


def _entry_of(run: run_dir.Run, entries: Sequence[_Entry]) -> _Entry | None:
  return next((one for one in entries if one.root in run.folder.resolve().parents), None)


def _said(run: run_dir.Run, entry: _Entry) -> Mapping[str, Any]:
  """What submission.json says of a run."""
  name = run.folder.resolve().relative_to(entry.root).as_posix()
  return next((one for one in entry.about["runs"] if one["folder"] == name), {})


class _Board:
  """The methods of one stream within one budget, compared.

  Args:
    stream: the runs.
    budget: as configurations have it; "": none.
    entries: the bundles.
    out: the site.
    copies: whether it has the bundles.
  """

  def __init__(self, stream: run_streams.StreamRuns, budget: str, entries: Sequence[_Entry],
               out: pathlib.Path, copies: bool):
    self._stream, self._budget, self._entries = stream, budget, entries
    self._out, self._copies = out, copies
    self.measure, self.tested = tables.headline_test(stream)
    self.refused: dict[str, tuple[list[int], str]] = {}  # By method: seeds, and why.
    for entry in entries:
      for run in entry.about.get(bundle.REFUSED, ()):
        if run["budget"] == budget and run["protocol"] == stream.runs[0].protocol:
          self.refused.setdefault(run["method"], ([], run["reason"]))[0].append(run["seed"])

  def methods(self) -> dict[str, run_streams.LearnerRuns]:
    """The learners by the names shown, best first."""
    named = {}
    for learner in self._stream.learners:
      method, changes = self.method(learner), learner.runs[0].changes
      label = learner.label.removesuffix(f" ({changes})")
      parts = ["" if label == method else label.partition("/runs/")[0], changes]
      more = "; ".join(filter(None, parts))
      named[f"{method} ({more})" if more else method] = learner
    sign = 1 if self.measure.better == descriptions.LOWER else -1
    scores = {name: learner.score(self.measure.key) for name, learner in named.items()}
    return dict(sorted(named.items(), key=lambda item: (
        not scores[item[0]].num, sign * scores[item[0]].mean if scores[item[0]].num else 0.0)))

  def method(self, learner: run_streams.LearnerRuns) -> str:
    run, entry = learner.runs[0], _entry_of(learner.runs[0], self._entries)
    assert entry is not None
    return str(_said(run, entry).get("method", run.learner))

  def link(self, name: str, learner: run_streams.LearnerRuns) -> quantities.Quantity:
    """The method's name, which leads to its page."""
    return quantities.Quantity(str(self._out / "methods" / f"{self.method(learner)}.html"),
                               quantities.LINK, printed=name)

  def score(self, learner: run_streams.LearnerRuns) -> quantities.Quantity:
    """The mean score, marked in the group of the best."""
    return learner.shown(self.measure, significance.mark(self.tested, learner.label))

  def is_best(self, learner: run_streams.LearnerRuns) -> bool:
    return self.tested is not None and learner.label in self.tested.best

  def panel(self, title: str) -> panels.Panel:
    """The table: a row for each method and settings, best first."""
    stream, tested = self._stream, self.tested
    measures, methods = tables.measures(stream)[:2], self.methods()  # Others stand below.
    heads, costs = run_streams.cost_table(list(methods.values()))
    # The budget is in the title, and kinds of bytes that nobody has say nothing.
    kept = [i for i, head in enumerate(heads) if head.name != "budget" and (
        head.name not in _HELD or any(row[i] is not None and row[i].value for row in costs))]
    rows: list[list[Any]] = []
    for (name, learner), spent in zip(methods.items(), costs):
      entry = _entry_of(learner.runs[0], self._entries)
      assert entry is not None
      groups: list[Any] = [quantities.NOTHING, quantities.NOTHING]
      if tested is not None and learner.label in tested.names:
        place = tested.names.index(learner.label)
        first, last = tested.ranks[place]
        groups = [tested.groups[place], f"{first} to {last}" if first < last else str(first)]
      rows.append([
          self.link(name, learner), *([self.score(learner)] if measures else []),
          *(groups if tested is not None else []),
          *map(learner.shown, measures[1:]), len(learner.finished), learner.total("flops"),
          *(spent[i] for i in kept), entry.badge_of(learner.runs),
          *([_bundle(entry, self._out, True)] if self._copies else [])])
    words = [f"{one.text}{', %' if one.unit == descriptions.SHARE else ''}" for one in measures]
    columns = [
        panels.Column("method", panels.LINK), *(panels.Column(one, panels.MIXED)
                                                for one in words[:1]),
        *([panels.Column("groups"), panels.Column("possible ranks")] if tested is not None else []),
        *(panels.Column(one, panels.MIXED) for one in words[1:]),
        panels.Column("seeds", panels.COUNT), panels.Column("FLOPs", panels.FLOPS),
        *(heads[i] for i in kept), panels.Column("verification"),
        *([panels.Column("bundle", panels.LINK)] if self._copies else [])]
    better = (f" Sorted by {self.measure.text}, {self.measure.better} is better." if measures else
              "")
    tests = [] if tested is None else [
        "* in the group of the best: no method is better beyond chance. Methods that share a "
        "letter cannot be told apart, and possible ranks hold for all methods at once (5%, all "
        "pairs corrected by Holm): tested below."]
    return panels.Panel(
        "board", f"{title}: methods", columns, rows,
        [f"Mean ± standard deviation over seeds.{better}", *tests,
         *([run_streams.ESTIMATE_NOTE] if stream.has_estimates else []),
         *(f"Does not fit this budget, as the submission says: {method} (seeds "
           f"{', '.join(map(str, sorted(seeds)))}): {why}"
           for method, (seeds, why) in sorted(self.refused.items())),
         "Verification: replayed, events were executed again from committed states; recomputed, "
         "all scores and FLOPs were; answers agree, records were compared with saved answers; not "
         "verified, nobody has done so yet."],
        best=frozenset((i, 1) for i, learner in enumerate(methods.values())
                       if measures and self.is_best(learner)))


def _by_budget(title: str, boards: Mapping[str, _Board]) -> panels.Panel:
  """Scores of all methods within each budget, sorted by the last budget that has a method."""
  methods = {budget: board.methods() for budget, board in boards.items()}
  names = list(dict.fromkeys(name for found in reversed(list(methods.values())) for name in found))
  plain = {name.partition(" (")[0] for name in names}
  names += dict.fromkeys(name for board in boards.values() for name in board.refused
                         if name not in plain)
  rows, best = [], set()
  for i, name in enumerate(names):
    budget = next((one for one in methods if name in methods[one]), None)
    row: list[Any] = [quantities.words(name) if budget is None else
                      boards[budget].link(name, methods[budget][name])]
    for j, (one, board) in enumerate(boards.items(), 1):
      learner = methods[one].get(name)
      row.append(quantities.words("does not fit" if name.partition(" (")[0] in board.refused
                                  else quantities.NOTHING)
                 if learner is None else board.score(learner))
      if learner is not None and board.is_best(learner):
        best.add((i, j))
    rows.append(row)
  measure = next(iter(boards.values())).measure
  return panels.Panel(
      "by_budget", f"{title}, by budget: {measure.text}",
      [panels.Column("method", panels.LINK), *(
          panels.Column(budget or "no budget", panels.MIXED) for budget in boards)], rows,
      [f"{'In percent: m' if measure.unit == descriptions.SHARE else 'M'}ean ± standard deviation "
       f"over seeds, {measure.better} is better. {significance.MARK} in the group of the best "
       "within that budget. A budget limits what is spent on learning, not on answers, and the "
       "bytes that are held."], best=frozenset(best))


def _bundle(entry: _Entry, out: pathlib.Path, copies: bool) -> quantities.Quantity:
  """The name of a bundle, which leads to it, or names its digest."""
  if copies:
    return quantities.Quantity(
        str(out / "bundles" / f"{entry.name}.zip"), quantities.LINK, printed=entry.name)
  return quantities.words(entry.name)


def _method(method: str, entries: Sequence[_Entry], out: pathlib.Path, copies: bool
            ) -> list[panels.Section]:
  """The page of a method: its runs, where they come from, and what was found out about them."""
  rows, commands, checks = [], [], []
  for entry in entries:
    for run in run_dir.load([entry.root]):
      said = _said(run, entry)
      if said.get("method") != method:
        continue
      environment, packages = run.environment, run.environment.get("packages") or {}
      headline = run.description.headline
      rows.append([
          quantities.Quantity(str(out / "index.html"), quantities.LINK, printed=run.protocol),
          run.learner, said["seed"],
          _budget(run) or quantities.NOTHING, None if headline is None else quantities.Quantity(
              run.summary.get(headline.key), quantities.PERCENT
              if headline.unit == descriptions.SHARE else quantities.NUMBER),
          run.last("flops"), entry.badge_of([run]), _bundle(entry, out, copies),
          entry.digest[:16], entry.about["license"], entry.about["contact"],
          f"suite {environment.get('suite')}, {environment.get('git_revision') or 'a release'}, "
          f"TensorFlow {packages.get('tensorflow')}",
          f"{environment.get('device')}, "
          f"{str(environment.get('instruction_set', 'unknown')).partition(' ')[0]}"])
      commands.append([entry.name, said["folder"], str(environment.get("command"))])
      checks += [[entry.name, one.get("run", ""), one.get("kind", ""), one.get("state", ""),
                  one.get("text", "")] for one in entry.found.get("checks", ())
                 if one.get("run") in ("", said["folder"])]
  section = panels.Section(f"Method {method}", [
      panels.Panel("provenance", f"Method {method}: runs", [
          panels.Column("leaderboard", panels.LINK), panels.Column("learner"),
          panels.Column("seed", panels.COUNT), panels.Column("budget"),
          panels.Column("score", panels.MIXED), panels.Column("FLOPs", panels.FLOPS),
          panels.Column("verification"),
          panels.Column("bundle", panels.LINK if copies else panels.TEXT),
          panels.Column("SHA-256"), panels.Column("license"), panels.Column("contact"),
          panels.Column("versions"), panels.Column("machine")], rows),
      *([panels.Panel("checks", f"Method {method}: verification", [
          panels.Column("bundle"), panels.Column("run"), panels.Column("what"),
          panels.Column("outcome"), panels.Column("text")],
          [list(row) for row in dict.fromkeys(map(tuple, checks))])] if checks else []),
      panels.Panel("commands", f"Method {method}: commands", [
          panels.Column("bundle"), panels.Column("run"), panels.Column("command")], commands)])
  return [section]
