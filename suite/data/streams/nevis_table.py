# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of the NEVIS'22 stream (tables/nevis_stream.csv), and the streams that are parts of it.

Columns: `position` 1..106 (paper and reference code agree on all of them); `name`, ours,
"nevis/<name>" in TFDS; `title`, the paper's; `year`; `kind`; `role`, meta_test from 2019 on (79 and
27 tasks); `short_position` and `short_year`, place and year of the task in SHORT (appendix M).

Where paper and reference code disagree on `kind`, the code decides, for it is what was scored:
Pascal 2012 and CelebA are multi-label (single in the paper), SUN 397 is single-label (multi in the
paper). Appendix N prints Trancos (2019) under meta-train; the year and the count of 27 make it
meta-test.
"""

from __future__ import annotations

import collections
import csv
import dataclasses
import functools
import pathlib
from typing import Dict, List, Optional, Sequence, Tuple, Union

_PATH = pathlib.Path(__file__).with_name("tables") / "nevis_stream.csv"

# The reference code's TINY, as keys of SHORT, whose years it has; CUB (2020) is its only meta-test
# task. The paper does not mention it.
TINY = ("mnist", "caltech101", "voc2012", "cifar100", "mnist@2", "melanoma", "caltech_birds2011")
# Six lines of the full stream with small downloads; of this suite, not of the paper or its code.
# Tiny ImageNet is the only meta-test task.
SMALL = ("olivetti_face", "mnist", "mnist@2", "cifar10", "semeion", "tiny_imagenet")
VARIANTS = ("full", "short", "tiny", "small")


@dataclasses.dataclass(frozen=True)
class StreamLine:
  """One task of a stream; `occurrence` counts within that stream."""

  name: str
  title: str
  year: int
  kind: str
  role: str
  occurrence: int = 1
  short: Optional[Tuple[int, int]] = None  # Position and year in SHORT.

  @property
  def key(self) -> str:
    """ "mnist", "mnist@2", ..."""
    return self.name if self.occurrence == 1 else f"{self.name}@{self.occurrence}"


@functools.cache
def full() -> Tuple[StreamLine, ...]:
  """All 106 tasks, in order."""
  with open(_PATH, newline="", encoding="utf-8") as stream:
    rows = list(csv.DictReader(stream))
  lines = [StreamLine(row["name"], row["title"], int(row["year"]), row["kind"], row["role"],
                short=((int(row["short_position"]), int(row["short_year"]))
                       if row["short_position"] else None)) for row in rows]
  return tuple(_counted(lines))


def short() -> Tuple[StreamLine, ...]:
  """The 29 tasks of SHORT in its own order, with its own years; roles follow those (24 and 5)."""
  placed = sorted((*line.short, line) for line in full() if line.short)  # Places are unique.
  return tuple(_counted(
      dataclasses.replace(line, year=year, role="meta_test" if year >= 2019 else "meta_train")
      for _, year, line in placed))


def tiny() -> Tuple[StreamLine, ...]:
  """The 7 tasks of TINY with the years of SHORT; roles follow those (6 and 1)."""
  return tuple(line for line in short() if line.key in TINY)


def select(variant: Union[str, Sequence[str]]) -> List[StreamLine]:
  """The lines of one of `VARIANTS`, or of a list of keys of the full stream."""
  if isinstance(variant, str) and variant not in VARIANTS:
    raise ValueError(f"Unknown NEVIS stream {variant!r}; allowed are "
                     f"{', '.join(map(repr, VARIANTS))}, or a list of data set names.")
  if variant == "full":
    return list(full())
  if variant in ("short", "tiny"):
    return list(short() if variant == "short" else tiny())
  keys = list(SMALL if variant == "small" else variant)
  known = {line.key: line for line in full()}
  unknown = sorted(set(keys) - set(known))
  if unknown or not keys:
    raise ValueError(f"Unknown NEVIS tasks {unknown}; the full stream has: "
                     f"{', '.join(sorted(known))}.")
  return _counted(known[key] for key in keys)


def _counted(lines) -> List[StreamLine]:
  seen: Dict[str, int] = collections.Counter()
  counted = []
  for line in lines:
    seen[line.name] += 1
    counted.append(dataclasses.replace(line, occurrence=seen[line.name]))
  return counted
