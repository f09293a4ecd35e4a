# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of methods (methods.csv): which method runs under which protocol, with its gin file.

Columns: `name`; `title`; `paper`, authors and year; `file`, under gin/learners, and `macro`, the
learner in it, which is the same under all protocols; then one column a delivery, named after the
first protocol that delivers so (`incremental` has that of `clear`), which holds

    nothing             the method runs there
    refused: MESSAGE    it is refused there, before anything is trained, with this in the message

`tests/contracts/method_matrix_test.py` runs each cell; `tools/make_methods_page.py` makes
docs/methods.md.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import pathlib
from typing import Mapping, Sequence, Tuple

from suite.contracts import deliveries
from suite.contracts import descriptions

# Pretraining has no rows: a method is what runs after it.
_WITH_METHODS = {name: one.delivery for name, one in descriptions.SHIPPED.items()
                 if one.delivery not in ("", deliveries.PORTIONS)}
PROTOCOLS = tuple(name for name, delivery in _WITH_METHODS.items()
                  if name == descriptions.delivering(delivery))
NAMED = tuple(_WITH_METHODS)  # All protocols that run methods, those without a column too.
_PATH = pathlib.Path(__file__).with_name("methods.csv")
_REFUSED = "refused: "


def column(protocol: str) -> str:
  """The column of the table that a protocol reads; the argument if it has none."""
  delivery = _WITH_METHODS.get(protocol)
  return protocol if delivery is None else descriptions.delivering(delivery)


@dataclasses.dataclass(frozen=True)
class Method:
  """A row of the table.

  Attributes:
    name, title, paper: as in the table.
    file: under gin/learners, without its ending. macro: the learner in it.
    refusals: by protocol, a part of the message with which the method is refused; it runs under the
      other protocols.
  """

  name: str
  title: str
  paper: str
  file: str
  macro: str
  refusals: Mapping[str, str]

  @property
  def protocols(self) -> list[str]:
    """The protocols under which it runs."""
    return [name for name in PROTOCOLS if name not in self.refusals]


@functools.cache
def load() -> Tuple[Method, ...]:
  """All methods, in the order of the table."""
  with open(_PATH, newline="", encoding="utf-8") as table:
    return tuple(
        Method(row["name"], row["title"], row["paper"], row["file"], row["macro"],
               {name: row[name][len(_REFUSED):] for name in PROTOCOLS if row[name]})
        for row in csv.DictReader(table))


def filled(methods: Sequence[Method], protocols: Sequence[str] = PROTOCOLS[:3]
           ) -> Tuple[int, int]:
  """How many cells run, and how many there are, over the methods that run under one of them."""
  counted = [method for method in methods if set(method.protocols) & set(protocols)]
  running = sum(name in method.protocols for method in counted for name in protocols)
  return running, len(counted) * len(protocols)
