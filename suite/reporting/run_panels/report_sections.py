# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""All panels of a report, a section for each whole table and each stream.

This module has the panels that every stream has: its runs, the differences between configurations,
and the compute by phase (FLOPs and wall-clock time, means over seeds).
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence
import datetime
import difflib
import os
import pathlib
import re

from suite.metrics import schema
from suite.reporting import leaderboard
from suite.reporting import panels
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import significance
from suite.reporting import table_dir
from suite.reporting import tables
from suite.reporting.nevis_panels import panel_list
from suite.reporting.nevis_panels import stream_results
from suite.reporting.run_panels import bucket_panels
from suite.reporting.run_panels import budget_panels
from suite.reporting.run_panels import scores
from suite.state import sample_images

ALL = "all"
# Name to ask for: what it shows; with those of `panel_list.NAMES`.
NAMES = {
    "headline": "the table of methods, as a run prints it", "samples": "test images with answers",
    "scores": "headline scores and costs of each learner", "pareto": "score against FLOPs",
    "significance": "intervals, possible ranks and groups by paired tests on saved answers",
    "pairs": "p-values of all pairs of methods",
    scores.SPENT: "the curve against FLOPs of learning, in runs with a budget",
    scores.HELD: "the curve against bytes that are held, in runs with a budget",
    "curves": "the stream event by event", "loss": "training loss where there is no such curve",
    scores.DETECTION: "every novelty score beside the clock",
    scores.THRESHOLDS: "accuracy of known and of new classes by threshold",
    "matrix": "accuracy by bucket",
    "compute": "FLOPs and time by phase", "configuration": "bindings that differ",
    "summary": "every value of the summaries", "runs": "each run with its records",
    "table": "tables of a paper, and leaderboards",
    **bucket_panels.NAMES, **budget_panels.NAMES,
}
FILES = ("operative_config.gin", "config.gin")
# Panels that a page shows at once, in this order; the others are behind "all".
_MAIN = ("headline", "summary", "tasks", "matrix", "curves", "loss", "pareto", "significance",
         "samples", *budget_panels.NAMES)
_LEARNERS, _TEST_SETS = 4, 2  # Of which test images are shown; and one set with several labels.
_BINDING = re.compile(r"^([\w./@]+)\s*=\s*(.*)$")


def load(dirs: Iterable[str | os.PathLike],
         facts: Mapping[str, stream_results.TaskFacts] | None = None) -> list[panels.Section]:
  """Builds the sections of directories, at any depth; whole tables come first.

  Args:
    dirs: directories.
    facts: domain, size and resolution by task, as of `panel_list.build`.

  Raises:
    FileNotFoundError: a directory holds no run.
    ValueError: a file is damaged, or another version wrote it.
  """
  dirs = list(dirs)
  whole, _ = table_dir.split(dirs)
  begun = [d for d in dirs if not table_dir.is_table(d)
           or any(pathlib.Path(d).rglob(run_dir.RECORDS))]
  found, roots = [], {directory.resolve() for directory in whole}
  for directory in whole:
    table = table_dir.read(directory)
    found.append(panels.Section(table.title, leaderboard.build(table) if table.scores else
                                [*tables.panels_of_table(directory),
                                 *significance.of_table(table)], about=about_table(table)))
  for stream in run_streams.build(run_dir.load(begun)):
    results = stream_results.of_stream(stream)  # None but for NEVIS'22.
    own = [] if results is None else panel_list.build(results, facts=facts)
    measure, tested = compared = tables.headline_test(stream)
    first, summary = tables.brief(stream, compared)[0], tables.summary_of_stream(stream)
    made = [
        *([first] if first.name == "headline" else []),
        *scores.build(stream),
        *(significance.build(tested, f"{stream.title}: {measure.text}") if tested else []),
        *own, *scores.curves(stream), *scores.against_budget(stream),
        *bucket_panels.accuracy_matrices(stream), *_samples(stream), *bucket_panels.build(stream),
        *budget_panels.build(stream),
        *scores.detection(stream), *_compute_by_phase(stream), *_config_differences(stream),
        summary, *_run_list(stream)]
    main = [panel for name in _MAIN for panel in made if panel.name == name
            and (name != "summary" or first.name == name)
            and (name != "pareto" or len(panel.rows) > 1)]
    found.append(panels.Section(
        stream.title, [*main, *(panel for panel in made if panel not in main)], len(main),
        about([run for run in stream.runs if not roots & set(run.folder.resolve().parents)])))
  return found


def about(runs: Sequence[run_dir.Run]) -> list[tuple[str, str]]:
  """What runs were made with: work directories, date of the last event, command and versions.

  Returns [] without a run: those of a whole table are said there.
  """
  if not runs:
    return []
  folders = list(dict.fromkeys(run.folder.parent for run in runs))
  return _about(folders, [run.environment for run in runs],
                max(((run.folder / run_dir.RECORDS).stat().st_mtime for run in runs), default=0))


def about_table(table: table_dir.TableDir) -> list[tuple[str, str]]:
  """The same of a whole table."""
  times = [path.stat().st_mtime for path in table.folder.rglob(run_dir.RECORDS)]
  found = dict(_about([table.folder], table.environments(), max(times, default=0)))
  return list({**found, "command": table.command or found.get("command", "unknown")}.items())


def _about(folders: Sequence[pathlib.Path], environments: Sequence[Mapping[str, object]],
           seconds: float) -> list[tuple[str, str]]:
  def few(values: Iterable[object]) -> str:
    known = list(dict.fromkeys(str(value) for value in values if value not in (None, "")))
    return "; ".join([*known[:3], *([f"and {len(known) - 3} more"] if len(known) > 3 else [])])

  versions = []
  for one in environments:
    packages = one.get("packages")
    packages = packages if isinstance(packages, Mapping) else {}
    parts = {"suite": one.get("suite"), "Python": one.get("python"),
             "TensorFlow": packages.get("tensorflow"),
             "Keras": packages.get("keras") or packages.get("tf-keras")}
    versions.append(", ".join(f"{name} {value}" for name, value in parts.items() if value))
  date = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
  found = {"run": few(folder.resolve().name for folder in folders),
           "date": f"{date:%Y-%m-%d %H:%M} UTC" if seconds else "",
           "command": few(one.get("command") for one in environments),
           "versions": few(versions),
          "revision": few(one.get("git_revision") for one in environments),
           "seeds": few(one.get("seed") for one in environments),
           "device": few(one.get("device") for one in environments)}
  return [(name, text or "unknown") for name, text in found.items()]


def _samples(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Test images with the last answers that have them; [] of runs that have kept none."""
  rows: list[list[object]] = []
  shown: dict[str, list[panels.Picture]] = {}
  several = episodes = False
  for learner in stream.learners[:_LEARNERS]:
    run = learner.runs[0]
    last: dict[str, list[sample_images.Answered]] = {}
    room = {False: _TEST_SETS, True: 1}  # By whether the images have several labels.
    for record in reversed(run.records):
      name = sample_images.name_of(record)
      if name and name not in last and any(room.values()) and (
          found := sample_images.answered(run.folder, record)) and (
          room[found[-1].is_multi_label]):
        last[name] = found
        room[found[-1].is_multi_label] -= 1
    for name, found in reversed(last.items()):
      title = f"{learner.label}, {name}"
      shown[title] = [panels.Picture(sample_images.png(one.image), one.words,
                                     None if one.is_given else one.is_correct) for one in found]
      rows += [[learner.label, name, one.id, one.label, one.answer or "given", one.probability]
               for one in found]
      several = several or found[-1].is_multi_label
      episodes = episodes or any(one.is_given for one in found)
  if not rows:
    return []
  notes = ["At the last event that answered them, of the first seed; images are the few that the "
           "run kept, evenly spaced in the test set."]
  if several:
    notes.append("Of images with several labels, the answer is as many classes, those of the "
                 "highest scores; the probability is the mean of those of the labels.")
  if episodes:
    notes.append("Given images are of the episode's support sets, one for a class; the learner has "
                 "seen their labels.")
  return [panels.Panel(
      "samples", f"{stream.title}: test images with answers",
      [panels.Column("learner"), panels.Column("test set"), panels.Column("id"),
       panels.Column("class"), panels.Column("answer"),
       panels.Column("probability of the class", panels.PERCENT)], rows, notes,
      chart=panels.Gallery(shown))]


def chosen(sections: Sequence[panels.Section], names: Sequence[str]
           ) -> list[panels.Section]:
  """The panels of these names, and the sections that have some; all of them for "all".

  A name is one of `NAMES` or `panel_list.NAMES`, or a single panel's name as `named` has it.

  Raises:
    ValueError: a name is not known.
  """
  shown = {id(panel): name for name, panel in named(sections).items()}
  own = {panel.name for section in sections for panel in section.panels} | set(shown.values())
  known = [*dict.fromkeys([ALL, *NAMES, *panel_list.NAMES, *sorted(own)])]
  for name in names:
    if name not in known:
      near = ", ".join(difflib.get_close_matches(name, known, n=4))
      nearest = f"the nearest are {near}; " if near else ""
      raise ValueError(f"Unknown panel {name!r}; {nearest}allowed are {', '.join(known)}.")
  if ALL in names:
    return list(sections)
  found = []
  for section in sections:
    kept = []
    for panel in section.panels:
      short = panel.group or re.sub(r"_\d+$", "", panel.name)  # Of "table_1".
      # All panels of a leaderboard are tables.
      general = short if short in NAMES or short in panel_list.NAMES else "table"
      if {general, panel.name, shown[id(panel)]} & set(names):
        kept.append(panel)
    found += [section._replace(panels=kept)] if kept else []
  return found


def named(sections: Sequence[panels.Section]) -> dict[str, panels.Panel]:
  """All panels by name; of several streams with the same ones the names are numbered."""
  counts = collections.Counter(panel.name for section in sections for panel in section.panels)
  return {panel.name if counts[panel.name] == 1 else f"{panel.name}_stream{i}": panel
          for i, section in enumerate(sections, 1) for panel in section.panels}


def _run_list(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panel, with a row for each run."""
  rows = []
  for learner in stream.learners:
    for run in learner.runs:
      about = run.environment
      rows.append([
          learner.label, _known_text(about.get("seed")),
          "finished" if run.is_finished else "partial", len(run.records), run.last("flops"),
          run.records[-1].get(schema.SECONDS) if run.records else None,
          _known_text(about.get("device")), _known_text(about.get("git_revision")),
          _known_text(about.get("command")), str(run.folder / run_dir.RECORDS)])
  return [panels.Panel(
      "runs", f"{stream.title}: runs",
      [panels.Column("learner"), panels.Column("seed"), panels.Column("state"),
       panels.Column("events", panels.COUNT), panels.Column("FLOPs", panels.FLOPS),
       panels.Column("time", panels.SECONDS), panels.Column("device"),
       panels.Column("revision"), panels.Column("command"),
       panels.Column("records", panels.LINK)], rows)]


def _known_text(value: object) -> str:
  return "unknown" if value in (None, "") else str(value)


def bindings(text: str) -> dict[str, str]:
  """The bindings of a configuration as gin writes it, a value in one line each."""
  found: dict[str, str] = {}
  name = ""
  for line in text.splitlines():
    match = _BINDING.match(line)
    if match:
      name, found[match[1]] = match[1], match[2].rstrip("\\").strip()
    elif name and line.startswith(" "):
      found[name] = f"{found[name]} {line.strip().rstrip(chr(92)).strip()}".strip()
    elif line.strip():
      name = ""
  return found


def _config_differences(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panel: a row for each binding of which two work directories have other values.

  Returns [] if all configurations are the same or there are none.
  """
  folders = list(dict.fromkeys(run.home for run in stream.runs))
  file = next((name for name in FILES if all((f / name).is_file() for f in folders)), None)
  if file is None or len(folders) < 2:
    return []
  configs = [bindings((folder / file).read_text(encoding="utf-8")) for folder in folders]
  names = sorted({name for config in configs for name in config})
  rows = [[name, *(config.get(name, "not set") for config in configs)] for name in names
          if len({config.get(name) for config in configs}) > 1]
  if not rows:
    return []
  return [panels.Panel(
      "configuration", f"{stream.title}: differences between configurations",
      [panels.Column("binding"),
       *(panels.Column(label) for label in run_dir.labels(folders))],
      rows, [f"Read from {file} of each work directory; bindings with one value are left out."])]


def _compute_by_phase(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panel; [] if no run has charged anything."""
  names = dict.fromkeys(name for run in stream.runs
                        for name in (run.records[-1] if run.records else run.summary))
  flops, seconds = ([name[len(prefix):] for name in names
                     if name.startswith(prefix) and name != "seconds_event"]
                    for prefix in ("flops_", "seconds_"))
  if not flops and not seconds:
    return []
  columns = [panels.Column("learner"), panels.Column("state"),
             panels.Column("FLOPs", panels.FLOPS),
             *(panels.Column(f"FLOPs, {phase}", panels.FLOPS) for phase in flops),
             *(panels.Column(f"time, {phase}", panels.SECONDS) for phase in seconds)]
  rows = [[learner.label, learner.state, learner.total("flops"),
           *(_total(learner, "flops", phase) for phase in flops),
           *(_total(learner, "seconds", phase) for phase in seconds)]
          for learner in stream.learners]
  chart = panels.Bars(
      [learner.shown_label for learner in stream.learners],
      {phase: [_total(learner, "flops", phase) for learner in stream.learners]
       for phase in flops}, "FLOPs by phase", "FLOP")
  return [panels.Panel(
      "compute", f"{stream.title}: compute by phase", columns, rows,
      ["Of partial runs: what was spent so far.", *stream.notes] if stream.notes else [],
      chart=chart if flops else None)]


def _total(learner: run_streams.LearnerRuns, cost: str, phase: str) -> float | None:
  """The mean of one phase; 0 for a phase that a learner does not have."""
  runs = learner.finished or learner.runs
  name = f"{cost}_{phase}"
  values = [(run.records[-1] if run.records else run.totals).get(name, 0) for run in runs]
  return None if None in values else sum(values) / len(values)
