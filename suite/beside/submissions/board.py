# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`board.json`: what the maintainer of a leaderboard prescribes.

    {"format": 1,
     "run": "digits/clear",                        the run file
     "params": ["EPOCHS=2"],                       bindings X=Y after it
     "seeds": [0, 1, 2],                           of every method, and no others
     "budget": "10 MFLOP",                         of every run; "": none
     "interval": 5,                                states are kept this often, or more often
     "data": {"bucket_01": {"examples": "51aa...", "content": "08d2..."}},
     "settings": ["learning_rate"],                arguments that a method may change
     "environments": [{"instruction_set": "..."}]} values of environment.json, one of these; []: any

What a bundle brings is compared with it, and never used in its place: every value that the run file
gives to what a run reads, for the method that the run is called, is the value of the run. So are
its class, head, memory rule and objective: a method under another's name is named.
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import pathlib
import re
from typing import Any

from suite.beside.submissions import bundle
from suite.compute import ledger
from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import run_files
from suite.configs import run_settings
from suite.reporting import run_dir
from suite.state import snapshots
from suite.state import state_log
from suite.system import sealed_json

FORMAT = 1
_KINDS = {"format": int, "run": str, "params": list, "seeds": list, "budget": str, "interval": int,
          "data": dict, "settings": list, "environments": list}
_OWN = (gin_bindings.LEARNERS, gin_bindings.ONLY, "seed", "budget")  # Compared by themselves.


@dataclasses.dataclass(frozen=True)
class Board:
  """The content of a board.json, see the module."""

  run: str
  params: tuple[str, ...]
  seeds: tuple[int, ...]
  budget: str
  interval: int
  data: Mapping[str, Mapping[str, str]]
  settings: tuple[str, ...]
  environments: tuple[Mapping[str, Any], ...]

  def problems(self, run: run_dir.Run, method: str) -> list[str]:
    """What a run of a bundle does not have as it is prescribed, in lines.

    Args:
      run: its files.
      method: what the bundle calls it.
    """
    config = run.home / run_dir.CONFIG
    lines = self._other_values(config, run.learner, method)
    if (found := str(bundle.bound_value(config, "budget") or "")) != self.budget:
      lines.append(f"its budget is {found or 'none'}, and the board's {self.budget or 'none'}")
    if (seed := run.environment.get("seed", 0)) not in self.seeds:
      lines.append(f"its seed is {seed}, and the board's are {', '.join(map(str, self.seeds))}")
    log = run.folder / state_log.FILE
    every = state_log.read(log)[0][state_log.EVERY] if log.is_file() else 0
    if not every:
      lines.append(f"it has no {state_log.FILE}")
    elif every > self.interval:
      lines.append(f"it kept every {every}th state, and the board asks for every {self.interval}th")
    there = state_log.read_data(run.folder)
    lines += [f"the digests of the images of {name!r} are not those of the board"
              for name in sorted({*there, *self.data}) if there.get(name) != self.data.get(name)]
    if self.environments and not any(
        all(run.environment.get(name) == value for name, value in one.items())
        for one in self.environments):
      lines.append("its environment is none of those that count as equal here: "
                   + "; ".join(sorted({name for one in self.environments for name in one})))
    return lines

  def _other_values(self, config: pathlib.Path, learner: str, method: str) -> list[str]:
    """Which values of a configuration are not those of the run file, for a method."""
    name = re.split("[+~]", method)[0]  # What follows are parts of other methods.
    file = _file(self.run, self.params).with_methods([name])
    ours = _values(gin_files.scan(file.paths(), file.bindings(), checks=False), name)
    theirs = _values(gin_files.scan_text(config.read_text(encoding="utf-8")), learner)
    return [f"{_name(key)} is {theirs.get(key)!s:.60}, and {ours.get(key)!s:.60} by the board"
            for key in sorted({*ours, *theirs})
            if key[2] not in self.settings and ours.get(key) != theirs.get(key)]


def read(path: pathlib.Path) -> Board:
  """Reads a board.json.

  Raises:
    ConfigError: says in one line what is wrong with it.
  """
  try:
    values = sealed_json.read(path)
    if not values:
      raise ValueError("there is no such file")
    if set(values) != set(_KINDS):
      raise ValueError(f"its fields are {', '.join(_KINDS)}")
    for name, kind in _KINDS.items():
      if type(values[name]) is not kind:
        raise ValueError(f"{name} is {values[name]!r:.60}")
    if values.pop("format") != FORMAT:
      raise ValueError(f"this suite reads format {FORMAT}")
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                             for name, value in values.items()}
    made = Board(**given)
    _check(made)
    return made
  except (OSError, ValueError) as error:
    raise gin_files.ConfigError(f"{path} is no board: {snapshots.reason(error)}. See "
                                "docs/submissions.md.") from error


def _check(board: Board) -> None:
  """A ValueError for values that no board can have."""
  wrong = [one for one in board.seeds if type(one) is not int or not 0 <= one < bundle.NUM_SEEDS]
  if wrong or not board.seeds or len(set(board.seeds)) < len(board.seeds):
    raise ValueError(f"seeds are different whole numbers from 0 to {bundle.NUM_SEEDS - 1}; got "
                     f"{str(wrong[0]) if wrong else str(list(board.seeds)):.40}")
  if board.interval < 1:
    raise ValueError(f"interval is {board.interval}; it is a whole number from 1 on")
  if not all(isinstance(one, str) for one in (*board.params, *board.settings)):
    raise ValueError("params and settings are texts")
  if not all(isinstance(one, dict) and one for one in board.environments):
    raise ValueError("environments are objects with values of environment.json")
  for name, one in board.data.items():
    if not isinstance(one, dict) or set(one) != {"examples", "content"} or not all(
        isinstance(part, str) and re.fullmatch(r"[0-9a-f]{64}", part) for part in one.values()):
      raise ValueError(f"data has no digests of {name!r:.60}, as data_digests.json has them")
  if board.budget:
    ledger.Budget.parse(board.budget)
  file = _file(board.run, tuple(  # Macros of methods are in their files.
      one for one in board.params if "." in one.partition("=")[0]))
  gin_files.scan(file.paths(), file.bindings(), checks=False)


def _file(run: str, params: tuple[str, ...]) -> run_settings.RunFile:
  """The run file of a board; a ValueError if the suite has none of that name."""
  known = run_files.shipped()
  if run not in known:
    raise gin_files.ConfigError(f"There is no run {run!r:.60}. {gin_files.nearest(run, known)} All "
                                "of them: suite list.")
  return run_settings.RunFile(run, known[run], params=params)


def _values(found: gin_files.Scan, learner: str) -> dict[gin_bindings.Key, Any]:
  """All values that a learner's run reads, without macros."""
  history = {key: settings[-1:] for key, settings in found.history.items()}
  values = {key: gin_bindings.resolved(history, history[key][0].value)
            for key in gin_bindings.read_by(history, [learner])[0]
            if key in history and key[1] != gin_bindings.MACRO
            and not (key[1] == gin_bindings.ROOTS[0] and key[2] in _OWN)}
  made = gin_bindings.resolved(history, gin_bindings.learner_value(history, learner))
  return {**values, ("", gin_bindings.ROOTS[0], "its method"): made}


def _name(key: gin_bindings.Key) -> str:
  scope, name, argument = key
  if name == gin_bindings.ROOTS[0]:
    return argument
  return f"{scope}/{name}.{argument}".removeprefix("/").replace("suite.", "", 1)
