# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Comparisons of single methods with public code: their form, stored answers, rows and verdicts.

A case has inputs that follow from a seed (`method_fixtures`), a program `public_*.py` that runs the
public code, and a function that runs the suite. Answers of the public code are stored, a file a
case, with the commit; a test compares ours with them. Methods without a case have a line in
verdicts.csv instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import csv
import dataclasses
import importlib
import pathlib
import subprocess
import sys
from typing import Any, NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import authors as authors_lib
import numpy as np
import parity_rows

_HERE = pathlib.Path(__file__).resolve().parent
FOLDER = parity_rows.FOLDER / "methods"
EQUAL, SEEDS, DESIGN, UNPROVED = (
    "equal", "agrees within seeds", "different by design", "unproved")
VERDICTS = (EQUAL, SEEDS, DESIGN, UNPROVED)
Arrays = dict[str, np.ndarray]
ROUNDING = 1e-4


def _commits() -> dict[str, str]:
  with open(_HERE / "repositories.csv", newline="", encoding="utf-8") as table:
    return {row["repository"]: row["commit"] for row in csv.DictReader(table)}


COMMITS = _commits()  # By repository, "OWNER/NAME" of github.com.


@dataclasses.dataclass(frozen=True)
class Case:
  """One comparison with public code.

  Attributes:
    name: of the case and of its file of stored answers.
    methods: names of methods.csv that it proves.
    repository: OWNER/NAME, a row of repositories.csv.
    program: the module `methods/public_*.py`, which gets `settings`.
    inputs: makes the arrays.
    ours: "MODULE.FUNCTION" of this folder, arrays to what the suite makes of them, with the names
      of theirs. Integers are compared one by one, floats by their largest difference as a share of
      the largest value.
    about: the inputs, and what was done with them, for the page.
    settings: of the program.
    allowed: largest difference of floats, if it is not `ROUNDING`, by the name of the array.
    seeds: arrays with a value a seed, which agree within three standard errors.
    reasons: why an array differs, by its name; see `parity_rows.Row`.
    otherwise: what the methods do by design in another way, beside what is compared; "": nothing.
  """

  name: str
  methods: tuple[str, ...]
  repository: str
  program: str
  inputs: Callable[[], Arrays]
  ours: str
  about: str
  settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  allowed: Mapping[str, float] = dataclasses.field(default_factory=dict)
  seeds: Sequence[str] = ()
  reasons: Mapping[str, str] = dataclasses.field(default_factory=dict)
  otherwise: str = ""

  @property
  def commit(self) -> str:
    return COMMITS[self.repository]

  @property
  def path(self) -> pathlib.Path:
    return FOLDER / f"{self.name}.npz"

  def checkout(self, code: pathlib.Path) -> pathlib.Path:
    """The checkout in a folder of checkouts; raises SystemExit if it is not there as named."""
    folder = code / self.repository.replace("/", "+")
    how = (f"Run: git clone https://github.com/{self.repository} {folder} && "
           f"git -C {folder} checkout {self.commit}")
    if not folder.is_dir():
      raise SystemExit(f"{self.name}: no checkout of {self.repository} in {code}. {how}")
    done = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True,
                          text=True, check=False)
    if done.stdout.strip() != self.commit:
      raise SystemExit(f"{self.name}: {folder} is at {done.stdout.strip() or 'no commit'}, but the "
                       f"answers are those of {self.commit}. {how}; if that commit is gone, the "
                       "stored answers remain, and nobody can make them again.")
    return folder

  def ask(self, authors: authors_lib.Authors) -> Arrays:
    """Answers of the public code, of a checkout beside others."""
    there = authors_lib.Authors(self.checkout(authors.code), authors.python)
    there.versions = authors.versions
    return there.ask(f"methods/{self.program}", self.inputs(), **self.settings)

  def store(self, theirs: Arrays) -> None:
    self.path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(self.path, commit=np.array(self.commit), **theirs)

  def stored(self) -> Arrays:
    """The stored answers; raises SystemExit if there are none of this commit."""
    if not self.path.is_file():
      raise SystemExit(f"{self.name}: no stored answers, {self.path}. Run: python tools/parity "
                       f"methods --code CODE --python PYTHON --only {self.name} --store")
    with np.load(self.path, allow_pickle=False) as file:
      found = dict(file)
    if str(found.pop("commit")) != self.commit:
      raise SystemExit(f"{self.name}: the stored answers are of another commit than "
                       f"{self.commit}, which repositories.csv names. Run the case again.")
    return found

  def rows(self, theirs: Arrays) -> Iterator[parity_rows.Row]:
    """Compares ours with theirs, a row an array."""
    module, function = self.ours.split(".")
    given = self.inputs()
    ours = getattr(importlib.import_module(module), function)(given)
    labels = given.get("test_labels")
    if set(ours) != set(theirs):
      raise ValueError(f"{self.name}: ours has {sorted(ours)}, theirs {sorted(theirs)}; both sides "
                       "return arrays of the same names.")
    for name, their in theirs.items():
      yield _row(self, name, their, np.asarray(ours[name]), labels)


def _row(case: Case, name: str, theirs: np.ndarray, ours: np.ndarray, labels: np.ndarray | None
         ) -> parity_rows.Row:
  what = f"{case.name}: {name}"
  inputs = f"{case.repository} at {case.commit[:10]}; {case.about}"
  reason = case.reasons.get(name, "")
  if name in case.seeds:
    return parity_rows.within_seeds(what, inputs, theirs.tolist(), ours.tolist(), reason=reason)
  if theirs.shape != ours.shape:
    raise ValueError(f"{what} has shape {list(ours.shape)}, theirs {list(theirs.shape)}.")
  if theirs.dtype.kind in "iub":
    return parity_rows.Row(
        what, inputs, _shown(theirs, labels), _shown(ours, labels),
        float(np.count_nonzero(theirs != ours)), f"of {theirs.size:,} answers differ", 0.0, reason)
  largest = float(np.abs(theirs - ours).max() / max(np.abs(theirs).max(), 1e-30))
  return parity_rows.Row(
      what, inputs, _shown(theirs, None), _shown(ours, None), largest,
      "largest difference, relative to the largest", case.allowed.get(name, ROUNDING), reason)


def _shown(found: np.ndarray, labels: np.ndarray | None) -> str:
  """Accuracy after the last phase, if there are labels, else the mean."""
  if labels is not None and found.shape[-1:] == labels.shape:
    return f"accuracy {np.mean(found.reshape(-1, len(labels))[-1] == labels):.4f}"
  return f"mean {np.mean(found):.6g}"


def load() -> dict[str, Case]:
  """All cases by name, in the order of the page."""
  import closed_form_cases
  import gradient_cases
  return {case.name: case for case in (*closed_form_cases.CASES, *gradient_cases.CASES)}


def compare(authors: authors_lib.Authors | None, only: Sequence[str], store: bool
            ) -> Iterator[parity_rows.Row]:
  """Rows of all cases, or of some, by the public code as it answers now.

  Args:
    authors: a folder of checkouts OWNER+NAME, and their Python; None: by the stored answers.
    only: names of cases; (): all. One without its checkout is named, and not compared.
    store: whether answers are stored; the stored rows of the other cases then follow in their
      places, so that the rows are complete.
  """
  cases, kept = load(), stored_rows()
  unknown = [name for name in only if name not in cases]
  if unknown:
    raise SystemExit(f"There is no case {unknown[0]!r}; there are {', '.join(cases)}.")
  for name, case in cases.items():
    if not only or name in only:
      try:
        theirs = case.stored() if authors is None else case.ask(authors)
      except SystemExit as error:
        print(f"not compared: {error}", flush=True)
      else:
        if store and authors is not None:
          case.store(theirs)
        yield from case.rows(theirs)
        continue
    if store and kept is not None:
      yield from rows_of(case, kept.rows)


def stored_rows() -> parity_rows.Result | None:
  path = parity_rows.FOLDER / "methods.json"
  return parity_rows.load(path) if path.is_file() else None


def rows_of(case: Case, rows: Sequence[parity_rows.Row]) -> list[parity_rows.Row]:
  """The rows of a case among those of all."""
  return [row for row in rows if row.what.startswith(f"{case.name}: ")]


class Verdict(NamedTuple):
  """What is known of a method: one of `VERDICTS`, and by what, or why not."""

  method: str
  verdict: str
  why: str


def verdicts(rows: Sequence[parity_rows.Row]) -> list[Verdict]:
  """Verdicts of methods: those of stored rows, of all cases of a method, then verdicts.csv."""
  by_method: dict[str, list[Case]] = {}
  for case in load().values():
    for method in case.methods:
      by_method.setdefault(method, []).append(case)
  found = []
  for method, cases in by_method.items():
    of_cases = [row for case in cases for row in rows_of(case, rows)]
    reasons = list(dict.fromkeys(filter(None, (
        *(row.reason for row in of_cases), *(case.otherwise for case in cases)))))
    places = dict.fromkeys(f"{case.repository} at {case.commit[:10]}" for case in cases)
    verdict = EQUAL if of_cases else UNPROVED
    if any(case.seeds for case in cases):
      verdict = SEEDS
    if reasons:
      verdict = DESIGN
    found.append(Verdict(method, verdict, "; ".join([*places, *reasons])))
  return found + [one for one, _ in listed()]


def listed() -> list[tuple[Verdict, list[parity_rows.Row]]]:
  """The verdicts of verdicts.csv, with the rows of other comparisons that they follow from.

  Its column `rows` has "BENCHMARK: WHAT; WHAT; ...", the file of stored rows and their names.
  """
  found = []
  with open(_HERE / "verdicts.csv", newline="", encoding="utf-8") as table:
    for row in csv.DictReader(table):
      stored: list[parity_rows.Row] = []
      why = row["why"]
      if row["rows"]:
        benchmark, names = row["rows"].split(": ", 1)
        result = parity_rows.load(parity_rows.FOLDER / f"{benchmark}.json")
        named = names.split("; ")
        stored = [one for one in result.rows if one.what in named]
        missing = set(named) - {one.what for one in stored}
        if missing:
          raise ValueError(f"verdicts.csv: {row['method']} names the row {min(missing)!r}, which "
                           f"{benchmark}.json does not have.")
        above = ", ".join(f'"{name}"' for name in named)
        why = f"{result.title} above, {above} ({result.code})" + (f"; {why}" if why else "")
      found.append((Verdict(row["method"], row["verdict"], why), stored))
  return found
