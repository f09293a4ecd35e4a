# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The values of methods' settings, each with its source: the table of them (method_values.csv).

No other file sets a method's value. Gin files say what a method is made of, and name its values in
capitals; a run reads the table's as bindings of the lowest rank (`gin_files`), so that a run file
and the user may set others. Columns:

    method     as in methods.csv; empty: what the methods of a run share
    setting    its name, as users write it
    protocol   under which the value holds; empty: where no other row says more
    settings   the named settings that it is of, as in --settings cpu; empty: the default
    value      a Python literal
    macro      the name in capitals that the gin files read
    source     section of the paper, or repository@commit:file of its authors' code
    published  "published"; "ours: REASON" where the paper and its code say nothing that fits
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
import csv
import dataclasses
import functools
import pathlib
from typing import Any

PATH = pathlib.Path(__file__).with_name("method_values.csv")
PUBLISHED, OURS = "published", "ours: "


@dataclasses.dataclass(frozen=True)
class Value:
  """A row of the table; `line` is its line in the file."""

  method: str
  setting: str
  protocol: str
  settings: str
  text: str
  macro: str
  source: str
  published: str
  line: int

  @property
  def value(self) -> Any:
    return ast.literal_eval(self.text)

  @property
  def reason(self) -> str:
    """Why the value is ours; "" if it is published."""
    return self.published[len(OURS):] if self.published.startswith(OURS) else ""

  @property
  def origin(self) -> str:
    """The source for people; of a value of ours that none is published, and our reason."""
    return f"none published: {self.reason}" if self.reason else self.source


@functools.cache
def load() -> tuple[Value, ...]:
  """All rows, in the order of the table."""
  with open(PATH, newline="", encoding="utf-8") as table:
    rows = csv.reader(table)
    next(rows)
    return tuple(
        Value(method, setting, protocol, settings, text, macro, source, published, rows.line_num)
        for method, setting, protocol, settings, text, macro, source, published in rows)


@functools.cache
def names() -> tuple[str, ...]:
  """The named settings that there are."""
  return tuple(sorted({row.settings for row in load()} - {""}))


def of_line(file: str, line: int) -> Value | None:
  """The row of a line of the table; None if the file is another one."""
  return _by_line().get(line) if file == str(PATH) else None


@functools.cache
def _by_line() -> dict[int, Value]:
  return {row.line: row for row in load()}


@functools.cache
def gin_text(protocol: str, settings: str) -> str:
  """The values under a protocol as gin bindings, each in its line of the table.

  Args:
    protocol: its name; "": of a user.
    settings: one of `names`, whose rows replace others; "": the default.
  """
  chosen: dict[str, Value] = {}
  for row in _fitting(protocol, settings):
    chosen[row.macro] = row
  lines = [""] * max(row.line for row in load())
  for row in chosen.values():
    lines[row.line - 1] = f"{row.macro} = {row.text}"
  return "\n".join(lines) + "\n"


def of_method(method: str, protocol: str, settings: str) -> dict[str, Value]:
  """The rows of one method by setting, as `gin_text` chooses them."""
  return {row.setting: row for row in _fitting(protocol, settings) if row.method == method}


def _fitting(protocol: str, settings: str) -> Iterator[Value]:
  """The rows that hold, what says more later."""
  for name in dict.fromkeys(["", settings]):
    for place in dict.fromkeys(["", protocol]):
      yield from (row for row in load() if (row.settings, row.protocol) == (name, place))
