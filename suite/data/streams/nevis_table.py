# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of the NEVIS'22 stream (tables/nevis_stream.csv), and the streams that are made of it.

Columns: `position` 1..106 (paper and reference code agree on all of them); `name`, ours,
"nevis/<name>" in TFDS; `title`, the paper's; `year`; `kind`; `role`, meta_test from 2019 on (79 and
27 tasks); `short_position` and `short_year`, place and year of the task in SHORT (appendix M);
`domain`, `size` (images in train and dev) and `height` and `width` (average resolution) as printed
in appendix L; `table5`, the variants of table 5, "large" and "major", that keep the task.

Where paper and reference code disagree on `kind`, the code decides, for it is what was scored:
Pascal 2012 and CelebA are multi-label (single in the paper), SUN 397 is single-label (multi in the
paper). Appendix N prints Trancos (2019) under meta-train; the year and the count of 27 make it
meta-test.

The paper says of table 5's large data sets that they have 10,000 training examples or more, which
24 tasks have; the 40 that it counts are those of the reference code. Its 43 tasks of major domains
are objects and scenes without Extended YaleB, which appendix L calls an object and the code a face.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
import csv
import dataclasses
import functools
import pathlib

import numpy as np

_PATH = pathlib.Path(__file__).with_name("tables") / "nevis_stream.csv"

# The reference code's TINY, as keys of SHORT, whose years it has; CUB (2020) is its only meta-test
# task. The paper does not mention it.
TINY = ("mnist", "caltech101", "voc2012", "cifar100", "mnist@2", "melanoma", "caltech_birds2011")
# Six lines of the full stream with small downloads; of this suite, not of the paper or its code.
# Tiny ImageNet is the only meta-test task.
SMALL = ("olivetti_face", "mnist", "mnist@2", "cifar10", "semeion", "tiny_imagenet")
# Table 5: name -> number of meta-train tasks; the test part stays. Drawn ones differ by seed.
TABLE5 = {"without_imagenet": 78, "large": 40, "random_40": 40, "major_domains": 43,
          "random_43": 43, "without_first_30": 49, "without_last_30": 49, "without_random_30": 49}
DRAWN = ("random_40", "random_43", "without_random_30")
VARIANTS = ("full", "short", "tiny", "small", *TABLE5)


@dataclasses.dataclass(frozen=True)
class StreamLine:
  """One task of a stream; `occurrence` counts within that stream, the rest is the table's."""

  name: str
  title: str
  year: int
  kind: str
  role: str
  occurrence: int = 1
  short: tuple[int, int] | None = None  # Position and year in SHORT.
  domain: str = ""
  size: int = 0
  resolution: tuple[int, int] = (0, 0)  # Average height and width.
  table5: tuple[str, ...] = ()

  @property
  def key(self) -> str:
    """ "mnist", "mnist@2", ..."""
    return self.name if self.occurrence == 1 else f"{self.name}@{self.occurrence}"


@functools.cache
def full() -> tuple[StreamLine, ...]:
  """All 106 tasks, in order."""
  with open(_PATH, newline="", encoding="utf-8") as stream:
    rows = list(csv.DictReader(stream))
  lines = [StreamLine(row["name"], row["title"], int(row["year"]), row["kind"], row["role"],
                short=((int(row["short_position"]), int(row["short_year"]))
                       if row["short_position"] else None),
                domain=row["domain"], size=int(row["size"]),
                resolution=(int(row["height"]), int(row["width"])),
                table5=tuple(row["table5"].split())) for row in rows]
  return tuple(counted(lines))


def short() -> tuple[StreamLine, ...]:
  """The 29 tasks of SHORT in its own order, with its own years; roles follow those (24 and 5)."""
  placed = sorted((*line.short, line) for line in full() if line.short)  # Places are unique.
  return tuple(counted(
      dataclasses.replace(line, year=year, role="meta_test" if year >= 2019 else "meta_train")
      for _, year, line in placed))


def tiny() -> tuple[StreamLine, ...]:
  """The 7 tasks of TINY with the years of SHORT; roles follow those (6 and 1)."""
  return tuple(line for line in short() if line.key in TINY)


def table5(variant: str, seed: int = 0) -> tuple[StreamLine, ...]:
  """One of `TABLE5`: the full stream with fewer meta-train tasks.

  Args:
    variant: its name.
    seed: of those in `DRAWN`, which the paper runs with five.
  """
  train = [line for line in full() if line.role == "meta_train"]
  if variant in DRAWN:
    order = np.random.default_rng(seed).permutation(len(train))
    kept = [train[place] for place in sorted(order[:TABLE5[variant]])]
  else:
    kept = {"without_imagenet": [line for line in train if line.name != "imagenet2012"],
            "large": [line for line in train if "large" in line.table5],
            "major_domains": [line for line in train if "major" in line.table5],
            "without_first_30": train[30:], "without_last_30": train[:-30]}[variant]
  return tuple(counted([*kept, *(line for line in full() if line.role != "meta_train")]))


def select(variant: str | Sequence[str], seed: int = 0) -> list[StreamLine]:
  """The lines of one of `VARIANTS`, or of a list of keys of the full stream; `seed`: see `table5`.
  """
  if isinstance(variant, str) and variant not in VARIANTS:
    raise ValueError(f"Unknown NEVIS stream {variant!r}; allowed are "
                     f"{', '.join(map(repr, VARIANTS))}, or a list of data set names.")
  if variant == "full":
    return list(full())
  if isinstance(variant, str) and variant in TABLE5:
    return list(table5(variant, seed))
  if variant in ("short", "tiny"):
    return list(short() if variant == "short" else tiny())
  keys = list(SMALL if variant == "small" else variant)
  known = {line.key: line for line in full()}
  unknown = sorted(set(keys) - set(known))
  if unknown or not keys:
    raise ValueError(f"Unknown NEVIS tasks {unknown}; the full stream has: "
                     f"{', '.join(sorted(known))}.")
  return counted(known[key] for key in keys)


def before(lines: Sequence[StreamLine], stop_year: int) -> list[StreamLine]:
  """The tasks of the years before `stop_year`, in their order.

  Raises:
    ValueError: no task, or every task, is of an earlier year.
  """
  years = [line.year for line in lines]
  if not isinstance(stop_year, int) or not min(years) < stop_year <= max(years):
    raise ValueError(
        f"stop_year={stop_year!r}, but the stream's tasks are of {min(years)} to {max(years)}; it "
        f"keeps those of earlier years. Allowed are {min(years) + 1} to {max(years)}, or None for "
        "all tasks.")
  return counted(line for line in lines if line.year < stop_year)


def shuffled(lines: Sequence[StreamLine], seed: int, *, within_years: bool) -> list[StreamLine]:
  """The tasks in another order, of all of them or of the tasks of each year (figure 10).

  Roles and years stay with the tasks; of a repeated data set the task that now comes first is
  occurrence 1.
  """
  draws = np.random.default_rng(seed).permutation(len(lines))
  places = sorted(range(len(lines)), key=lambda i: (lines[i].year if within_years else 0, draws[i]))
  return counted(lines[place] for place in places)


def counted(lines: Iterable[StreamLine]) -> list[StreamLine]:
  """The lines with occurrences counted in their order."""
  seen: dict[str, int] = collections.Counter()
  found = []
  for line in lines:
    seen[line.name] += 1
    found.append(dataclasses.replace(line, occurrence=seen[line.name]))
  return found
