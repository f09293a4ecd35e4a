# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The card of a method: Markdown with YAML front matter, as Hugging Face's model cards have it.

It is made from stored records, summaries and environments alone: what they do not hold, such as a
license or an intended use, is not in it. The front matter has the results as a `model-index`
(https://huggingface.co/docs/hub/model-cards), a value for each score and stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import json
import math
import os

from suite.compute import ledger
from suite.contracts import descriptions
from suite.metrics import schema
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import tables
from suite.system import atomic_files

_COUNTED = ("examples", "steps", "macs")  # With FLOPs: the costs of a run, by phase.
_NOT_RECORDED = ("Not in the records, so not in this card: a license, intended uses, and whom the "
                 "data show. Add them by hand before you publish it.")


def render(dirs: Iterable[str | os.PathLike], papers: Mapping[str, tuple[str, str]]) -> str:
  """Returns the card of the one method in the directories, with its seeds and streams.

  Args:
    dirs: directories, each a run, a work directory or a folder above them.
    papers: title and paper of known methods by name; a run whose learner has such a name gets them.

  Raises:
    FileNotFoundError: a directory holds no run.
    ValueError: runs are of several methods, or a file is damaged.
  """
  runs = run_dir.load(dirs)
  names = list(dict.fromkeys(run.learner for run in runs))
  if len(names) > 1:
    folders = ", ".join(str(run.folder) for run in runs[:3])
    raise ValueError(f"A card describes one method, and there are {len(names)}: "
                     f"{', '.join(names)}. Give the folders of one of them, such as {folders}.")
  title, paper = papers.get(names[0], ("", ""))
  streams = run_streams.build(runs)
  head = f"{title} ({paper})." if paper else f"{title}." if title else (
      "Not in the suite's table of methods: its configuration says what it is.")
  return "\n".join([
      "---", *_front_matter(names[0], streams), "---", "", f"# {_words(names[0])}", "", head,
      *(line for stream in streams for line in _stream(stream)), "", "## Made with", "",
      *_table(("what", "value"), _made_with(runs)), "", _NOT_RECORDED, ""])


def _front_matter(name: str, streams: Sequence[run_streams.StreamRuns]) -> list[str]:
  """Lines of YAML; a text is written as in JSON, which YAML reads."""
  lines = ["library_name: lifelong-suite", "pipeline_tag: image-classification", "tags:",
           "- continual-learning", *(f"- {json.dumps(protocol)}" for protocol in dict.fromkeys(
               stream.description.name for stream in streams))]
  results: list[str] = []
  for stream in streams:
    for learner in stream.learners:
      scores = [(measure, learner.score(measure.key)) for measure in tables.measures(stream)]
      setting = f", {learner.label}" if len(stream.learners) > 1 else ""
      values = [line for measure, score in scores if score.num for line in (
          f"    - type: {json.dumps(measure.key)}", f"      name: {json.dumps(measure.text)}",
          f"      value: {json.dumps(score.mean) if math.isfinite(score.mean) else 'null'}")]
      if values:
        results += [
            "  - task:", "      type: image-classification",
            f"      name: {json.dumps(stream.description.name)}", "    dataset:",
            f"      name: {json.dumps(stream.title + setting)}",
            f"      type: {json.dumps(_data(stream))}", "    metrics:", *values]
  if results:  # Something is finished.
    lines += ["model-index:", f"- name: {json.dumps(name)}", "  results:", *results]
  return lines


def _stream(stream: run_streams.StreamRuns) -> list[str]:
  """The section of one stream: data, scores and costs of each setting of the method."""
  lines = ["", f"## {_words(stream.title)}", "",
           f"Protocol: {stream.description.name}. Data: {_words(_data(stream))}."]
  for learner in stream.learners:
    seeds = ", ".join(dict.fromkeys(str(run.environment.get("seed", run_streams.seed_of(run)
                                                            or "unknown"))
                                    for run in learner.runs))
    lines += ["", f"{_words(learner.label)}: {learner.state}; seeds: {seeds}.", ""]
    scores = []
    for measure in tables.measures(stream):
      score = learner.score(measure.key)
      unit = quantities.PERCENT if measure.unit == descriptions.SHARE else quantities.NUMBER
      cells = [str(quantities.Quantity(value, unit)) if enough else quantities.NOTHING
               for value, enough in ((score.mean, score.num), (score.deviation, score.num > 1))]
      heading = f"{measure.text}, %" if measure.unit == descriptions.SHARE else measure.text
      scores.append((heading, measure.better, *cells, str(score.num)))
    lines += _table(("score", "better", "mean", "deviation (n - 1)", "seeds"), scores)
    lines += ["", *_table(("phase", "FLOPs", "examples", "steps", "MACs"), list(_costs(learner)))]
  return [*lines, *(f"\n{_words(note)}" for note in stream.notes)]


def _costs(learner: run_streams.LearnerRuns) -> Iterable[tuple[str, ...]]:
  """A row for each phase that was charged, and the total: means over seeds; "-": not recorded."""
  known = {name for run in learner.runs
           for name in {**(run.records[-1] if run.records else {}), **run.summary}}
  for phase in (*ledger.PHASES, "in all"):
    end = "" if phase == "in all" else f"_{phase}"
    names = [f"{cost}{end}" for cost in ("flops", *_COUNTED)]
    if known & set(names):
      cells = []
      for name in names:
        value = learner.total(name)
        cells.append(quantities.NOTHING if name not in known else
                     quantities.si(value, "FLOP") if name.startswith("flops") else
                     quantities.NOT_COUNTED if value is None else f"{value:,.0f}")
      yield (phase, *cells)


def _data(stream: run_streams.StreamRuns) -> str:
  """The names of the tasks, which are those of the data; "not recorded" of none."""
  tasks = list(dict.fromkeys(
      str(record[schema.TASK]) for run in stream.runs for record in run.records
      if record.get(schema.TASK)))
  return ", ".join([*tasks[:5], *([f"and {len(tasks) - 5} more"] if len(tasks) > 5 else [])]
                   ) or "not recorded"


def _made_with(runs: Sequence[run_dir.Run]) -> list[tuple[str, str]]:
  """What the runs have stored of how they were made; values that differ stand side by side."""
  found: dict[str, list[str]] = {}
  for run in runs:
    one = run.environment
    packages = one.get("packages")
    arithmetic = one.get("arithmetic")
    last = str(run.records[-1].get(schema.DIGEST, "")) if run.records else ""
    config = run.home / run_dir.CONFIG
    values = {
        "command": one.get("command"), "suite": one.get("suite"), "revision": one.get(
            "git_revision"), "Python": one.get("python"),
        **(packages if isinstance(packages, Mapping) else {}),
        "platform": one.get("platform"), "device": one.get("device"),
        "arithmetic": ", ".join(f"{name} {value}" for name, value in arithmetic.items())
                      if isinstance(arithmetic, Mapping) else None,
        "config.gin, SHA-256": one.get(run_dir.CONFIG_DIGEST) or (
            atomic_files.sha256(config) if config.exists() else ""),
        "records, digest of the last": last}
    for name, value in values.items():
      if value not in (None, "") and str(value) not in found.setdefault(name, []):
        found[name].append(str(value))
  return [(name, "; ".join(values)) for name, values in found.items() if values]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
  return [f"| {' | '.join(map(_words, row))} |" for row in (header, ["---"] * len(header), *rows)]


def _words(text: str) -> str:
  """Text for a line or a cell of Markdown."""
  return quantities.printable(text).replace("|", "\\|").replace("<", "&lt;")
