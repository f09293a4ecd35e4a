# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The settings that a search has chosen for a method: best.json, as of `--settings best.json`.

The file has the method, the chosen settings, the trials with their scores and costs, what the
search has cost, and on which data it was made. A run that takes the settings charges that cost
before its first event, and its records say what they were selected on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import pathlib
from typing import Any

from suite.configs import gin_files
from suite.configs import method_values
from suite.configs import methods

FILE = "best.json"
_COSTS = ("flops", "macs", "examples", "steps")
_TYPES = {"method": str, "settings": dict, "selected_on": str, "cost": dict, "trials": list}


@dataclasses.dataclass(frozen=True)
class ChosenSettings:
  """What a file has for a run.

  Attributes:
    path: of the file. method: its name. settings: value by name.
    selected: the arguments of `development.Selection`.
  """

  path: pathlib.Path
  method: str
  settings: Mapping[str, Any]
  selected: Mapping[str, Any]

  def params(self, given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Bindings of a run: these settings, then those that the user gave.

    Args:
      given: as of --set.
      names: of the run's methods.
    """
    if not names:
      raise gin_files.ConfigError(f"{self.path} has settings of {self.method}, and the run has its "
                                  f"own learners: add --methods {self.method}")
    found = [one.name for one in methods.named(names)]
    if found != [self.method]:
      raise gin_files.ConfigError(
          f"{self.path} has settings of {self.method}, and the methods of this run are "
          f"{', '.join(found)}: take --methods {self.method} alone, or other --settings.")
    for param in given:
      name = methods.setting_name(param.partition("=")[0].strip())
      if name in self.settings:
        raise gin_files.ConfigError(
            f"{self.path} has {name}={self.settings[name]!r}, and --set {param} another value: the "
            "search has not selected that. Leave one of them out.")
    return [*(f"{name}={value!r}" for name, value in self.settings.items()),
            f"{gin_files.SELECTED}={dict(self.selected)!r}", *given]


def is_file(settings: str) -> bool:
  """Whether --settings names a file, not values of `method_values`."""
  return bool(settings) and settings not in method_values.names() and (
      settings.endswith(".json") or pathlib.Path(settings).exists())


def read(path: str) -> ChosenSettings:
  """Reads a file that `suite search` has written.

  Raises:
    ConfigError: it is not there, damaged, or another file.
  """
  from suite.reporting import run_dir
  place = pathlib.Path(path)
  advice = (f"--settings takes the {FILE} of suite search, or "
            f"{', '.join(method_values.names())}.")
  if not place.is_file():
    raise gin_files.ConfigError(f"There is no file {path}. {advice}")
  try:
    values = run_dir.read_json(place)
  except ValueError as error:
    raise gin_files.ConfigError(
        f"{path} is damaged, or was edited: {error.__cause__}. Give the command of the search "
        "again, which writes it again; values of your own: --set NAME=VALUE.") from error
  wrong = [name for name, kind in _TYPES.items() if not isinstance(values.get(name), kind)]
  if not wrong:
    wrong = [name for name in _COSTS if not isinstance(values["cost"].get(name), (int, type(None)))]
  if wrong:
    raise gin_files.ConfigError(f"{path} is no choice of a search: it has no {wrong[0]}. {advice}")
  return ChosenSettings(
      place, values["method"], values["settings"],
      {"on": values["selected_on"], "trials": len(values["trials"]),
       **{name: values["cost"].get(name) for name in _COSTS}})
