# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which runs are seeds of one learner: those whose configurations differ in the seed only."""

from __future__ import annotations

import collections
from collections.abc import Sequence
import os
import pathlib
import re

from suite.reporting import runs as runs_lib
from suite.reporting import table_dir

_SEED = re.compile(r"^\s*experiment\.run\.seed\s*=.*$", re.MULTILINE)


def of(runs: Sequence[runs_lib.Run]) -> list[list[runs_lib.Run]]:
  """Groups runs of one stream by learner and settings.

  A seed that was run twice is no further seed of the group, but of a second one.
  """
  members: dict[tuple[str, str, int], list[runs_lib.Run]] = {}
  seen = collections.Counter[tuple[str, str, str]]()
  for run in runs:
    settings, seed = _settings(run)
    copy = seen[run.folder.name, settings, seed]
    seen[run.folder.name, settings, seed] += 1
    members.setdefault((run.folder.name, settings, copy), []).append(run)
  return list(members.values())


def _settings(run: runs_lib.Run) -> tuple[str, str]:
  """The configuration without its seed, and the line of the seed.

  In a whole table they are the column and the seed's folder: a seed there may set other parameters,
  such as the split. A run without a configuration, made from Python, has its folder in place of
  one: only the same text tells that two runs have the same settings.
  """
  workdir = run.folder.parent
  if _is_cell(workdir):
    return str(workdir.parent), workdir.name
  path = workdir / "config.gin"
  text = path.read_text(encoding="utf-8") if path.exists() else ""
  seed = _SEED.search(text)
  return _SEED.sub("", text) if text.strip() else str(run.folder), seed[0].strip() if seed else ""


def home(runs: Sequence[runs_lib.Run]) -> pathlib.Path:
  """The folder of the seeds' folders; for one run its work directory, or the column of a table."""
  parents = [run.folder.parent for run in runs]
  if len(set(parents)) > 1:
    return pathlib.Path(os.path.commonpath([str(parent) for parent in parents]))
  return parents[0].parent if _is_cell(parents[0]) else parents[0]


def _is_cell(workdir: pathlib.Path) -> bool:
  """Whether it is ROW/COLUMN/SEED of a whole table."""
  return len(workdir.parts) > 3 and table_dir.is_table(workdir.parents[2])


def labels(groups: Sequence[Sequence[runs_lib.Run]]) -> list[str]:
  """The shortest unique ending of the path of each group of seeds.

  Seeds of several settings may lie in one folder: then a group has the path of its first run.
  """
  paths = [home(group) / group[0].folder.name for group in groups]
  paths = [path if paths.count(path) == 1 else group[0].folder
           for path, group in zip(paths, groups)]
  found = []
  for i, path in enumerate(paths):
    tails = ["/".join(path.parts[-n:]) for n in range(1, len(path.parts))]
    others = [f"/{other.as_posix()}" for j, other in enumerate(paths) if j != i]
    found.append(next((t for t in tails if not any(o.endswith(f"/{t}") for o in others)),
                      path.as_posix()))
  return found
