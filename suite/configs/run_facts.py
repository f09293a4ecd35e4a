# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the files of a run say of it before anything is imported: `suite list`, `suite show`.

The first lines of a run file are for people (`Header`):

    # CLEAR on three buckets of scikit-learn's digits.
    # Cost: 25 s on 2 CPU cores | Hardware: cpu | Data: digits | Gave: in-domain 0.94

A line that is too long continues in the comment lines after it. "Cost" is what somebody has
measured, and where; "not run" if nobody has. "Hardware" is what it is meant for, "Data" what must
be there before, "Gave" a score or the page that has it.

A parameter (`RunParameter`) is a macro that the run reads, or module.function.parameter. Its type
and meaning are those of the constructor's argument that it reaches; a comment beside the line that
sets it, which says more of this run, goes before that meaning.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import functools
import itertools
import os
import pathlib
import re
from typing import Any, NamedTuple

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import method_values
from suite.configs import run_files
from suite.configs import run_settings
from suite.configs import signatures
from suite.contracts import deliveries
from suite.contracts import descriptions

BENCHMARKS = (*(name for name, one in descriptions.SHIPPED.items()
                if one.delivery != deliveries.PORTIONS), "leaderboard")
HARDWARE = ("cpu", "gpu")
OTHERS = "others"
_START = "# Cost:"
_PROTOCOL = re.compile(r"^experiment\.run\.protocol\s*=\s*@(\w+)\.run\b", re.MULTILINE)
_FIELDS = ("cost", "hardware", "data", "gave")
_COMMENT = re.compile(r"^[^#'\"]*(?:(?:'[^']*'|\"[^\"]*\")[^#'\"]*)*#\s*(.*)$")


@dataclasses.dataclass(frozen=True)
class Header:
  """The facts of a run file; "" where it does not say.

  Attributes:
    name: short name. what: the description. benchmark: one of `BENCHMARKS`, or `OTHERS`.
    cost, hardware, data, gave: see the module.
  """

  name: str
  what: str
  benchmark: str
  cost: str = ""
  hardware: str = ""
  data: str = ""
  gave: str = ""


def read_header(name: str, path: pathlib.Path) -> Header:
  """The header of a run file.

  Raises:
    ConfigError: its line "# Cost:" has other fields.
  """
  lines = itertools.takewhile(lambda line: line.startswith("#"), itertools.dropwhile(
      lambda line: not line.startswith(_START), path.read_text(encoding="utf-8").splitlines()))
  line = " ".join(line.lstrip("# ") for line in lines)
  what = run_files.description(path)
  # The benchmark is the folder's; the digits' runs say it by name, and a run without a folder by
  # its protocol.
  folder, _, stem = name.rpartition("/")
  first = stem.split("_")[0] if folder == "digits" else folder
  if not folder:
    found = _PROTOCOL.search(path.read_text(encoding="utf-8"))
    first = found[1] if found else ""
  benchmark = first if first in BENCHMARKS else OTHERS
  if not line:
    return Header(name, what, benchmark)
  parts = [part.partition(":") for part in line.split(" | ")]
  if tuple(key.strip().lower() for key, _, _ in parts) != _FIELDS:
    raise gin_files.ConfigError(
        f"{path}: {line!r} is not '# Cost: TEXT | Hardware: cpu or gpu | Data: NAMES | Gave: "
        "TEXT'. Write it so, or leave it out.")
  return Header(name, what, benchmark, *(value.strip() for _, _, value in parts))


def shipped() -> list[Header]:
  """The headers of all shipped run files, by benchmark."""
  found = [read_header(name, path) for name, path in run_files.shipped().items()]
  order = (*BENCHMARKS, OTHERS)
  return sorted(found, key=lambda header: order.index(header.benchmark))


class RunParameter(NamedTuple):
  """A parameter of a run; `value` is "required" if nothing sets it."""

  name: str
  value: str
  kind: str
  unit: str
  meaning: str
  where: str


class RunFacts(NamedTuple):
  """What `suite show` says of a run.

  Attributes:
    header: of its file.
    is_table: whether it is a table of runs, whose rows are `learners`.
    learners: by name, what makes them.
    parameters: macros first, those that the run file sets before others.
  """

  header: Header
  is_table: bool
  learners: Mapping[str, str]
  parameters: Sequence[RunParameter]


def read(file: run_settings.RunFile, *, every: bool = False) -> RunFacts:
  """The facts of a run; `every`: also parameters that only included files set."""
  found = gin_files.scan(file.paths(), file.bindings(), checks=False)
  reached = gin_bindings.reached(found.history)
  kept = []
  readers: dict[str, list[gin_bindings.Key]] = collections.defaultdict(list)  # Of each macro.
  for key, settings in found.history.items():
    value = settings[-1].value
    if isinstance(value, gin_bindings.GinReference) and value.name == gin_bindings.MACRO:
      readers[value.scope].append(key)
  for key, settings in found.history.items():
    setting = settings[-1]
    is_macro = key[1] == gin_bindings.MACRO
    if (reached is None or key in reached) and (is_macro or setting.is_users or every):
      kept.append((not is_macro, not setting.is_users, RunParameter(
          setting.text, _text(setting.value), *_about(found, key, readers), _place(setting))))
  is_table = any(name.startswith("table.") for name in found.parameters)
  root = gin_bindings.ROOTS[1 if is_table else 0]
  key = ("", root, "runs" if is_table else gin_bindings.LEARNERS)
  learners, _ = gin_bindings.followed(
      found.history, found.history[key][-1].value if key in found.history else None)
  named = learners if isinstance(learners, Mapping) else {}
  return RunFacts(
      read_header(file.name, file.path), is_table,
      {str(name): _text(value) for name, value in named.items()},
      [one for _, _, one in sorted(kept, key=lambda row: row[:2])])


def _text(value: Any) -> str:
  """A value as a gin file has it."""
  if value is gin_files.REQUIRED:
    return "required"
  if isinstance(value, gin_bindings.GinReference):
    return str(value)
  if isinstance(value, Mapping):
    return f"{{{', '.join(f'{_text(key)}: {_text(part)}' for key, part in value.items())}}}"
  if isinstance(value, (list, tuple)):
    inner = ", ".join(map(_text, value)) + "," * (isinstance(value, tuple) and len(value) == 1)
    return f"[{inner}]" if isinstance(value, list) else f"({inner})"
  return repr(value)


def _place(setting: gin_bindings.Binding) -> str:
  """Where it is set, a shipped file by its short path; of a value of methods with its source."""
  if not setting.file:
    return setting.where
  row = method_values.of_line(setting.file, setting.line)
  if row is not None:
    return f"suite/configs/{method_values.PATH.name}:{row.line} ({row.origin})"
  path = os.path.relpath(os.path.realpath(setting.file), os.path.realpath(gin_files.root()))
  return f"{setting.file if path.startswith('..') else path}:{setting.line}"


def _about(found: gin_files.Scan, key: gin_bindings.Key,
           readers: Mapping[str, Sequence[gin_bindings.Key]]) -> tuple[str, str, str]:
  """(type, unit, meaning) of a macro or parameter."""
  said = next((said for setting in reversed(found.history[key])
               if (said := _comment(setting))), "")
  waiting, seen = [key], set()
  while waiting:
    one = waiting.pop(0)
    if one in seen:
      continue
    seen.add(one)
    parameter = signatures.parameters(one[1]).get(one[2])
    if parameter is not None:
      meaning = parameter.meaning or (
          "" if one == key else f"{'.'.join(one[1].split('.')[-2:])}.{one[2]}")
      return parameter.kind_in_words, parameter.unit, said.rstrip(".") or meaning
    if one[1] == gin_bindings.MACRO:
      waiting += readers.get(one[0], ())
  return "", "", said


def _comment(setting: gin_bindings.Binding) -> str:
  """The comment at the end of the line that sets it; "" without one."""
  if not setting.file:
    return ""
  lines = _lines(setting.file)
  match = _COMMENT.match(lines[setting.line - 1]) if setting.line <= len(lines) else None
  return match[1].strip() if match else ""


@functools.lru_cache(maxsize=64)
def _lines(file: str) -> Sequence[str]:
  return pathlib.Path(file).read_text(encoding="utf-8").splitlines()
