# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The split of every example: by our rules, stratified, or as the NEVIS'22 reference draws it.

Ours, for each source split that a rule divides:

  1. Examples of a group (a patient, a photograph, copies of an image) are one unit; an example
     without a group is a unit by itself.
  2. A unit belongs to the stratum of its rarest class: the class of its labels that the fewest
     units have.
  3. The n units of a stratum are ordered by the hash of their names. Unit r = 0..n-1 is at position
     (r + u) / n, and the shares of the rule cut [0, 1). u in [0, 1) is a hash, too: a share that is
     not a whole number of units is rounded down in some strata and up in others.

So each split has its share of every class, rounded down or up, however few images the class has;
the only unit of a class is in the first part, train. The positions of examples in an archive, which
change when it is packed again, do not matter. Examples that cannot be decoded take part in the
draw: another decoder does not move the others.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import example
from tfds_builders.rows import row as row_lib


class Member(NamedTuple):
  """The part of an example that its split depends on.

  Attributes:
    source: its split in the source.
    key: unique in the data set.
    unit: its group, else its key.
    labels: its classes; (): none.
  """

  source: str
  key: str
  unit: str
  labels: tuple[example.Label, ...]


def divide(row: row_lib.Row, members: Iterable[Member]) -> dict[str, str]:
  """Returns key -> split.

  Args:
    row: the facts, with the rule of splits.
    members: all examples; in the order of the source if the row is drawn as in the paper.
  """
  by_source: dict[str, list[Member]] = collections.defaultdict(list)
  for member in members:
    by_source[member.source].append(member)
  found: dict[str, str] = {}
  for source, some in by_source.items():
    found.update(_by_position(row, source, some) if row.drawn_as_in_paper else
                 _stratified(row.base_name, some, row.splits[source]))
  return found


def _by_position(row: row_lib.Row, source: str, members: Sequence[Member]) -> dict[str, str]:
  keys = [member.key for member in members]
  if row.paper_order == row_lib.SORTED:
    keys.sort()
  return {key: paper_draws.SPLITS[part]
          for key, part in zip(keys, row.paper[source].assign(len(keys)))}


def _stratified(dataset: str, members: Sequence[Member], parts: Mapping[str, float]
                ) -> dict[str, str]:
  if len(parts) == 1:
    return dict.fromkeys((member.key for member in members), next(iter(parts)))
  labels: dict[str, set[example.Label]] = collections.defaultdict(set)
  for member in members:
    labels[member.unit].update(member.labels)
  num_units = collections.Counter(label for some in labels.values() for label in some)
  strata: dict[example.Label | None, list[str]] = collections.defaultdict(list)
  for unit, some in labels.items():
    strata[min(some, key=lambda label: (num_units[label], str(label)), default=None)].append(unit)
  part_of: dict[str, str] = {}
  for units in strata.values():
    units.sort(key=lambda unit: (splits.unit_hash(dataset, unit), unit))
    start = splits.unit_hash(dataset, f"start/{units[0]}") if len(units) > 1 else 0.0
    for rank, unit in enumerate(units):
      part_of[unit] = splits.part_at((rank + start) / len(units), parts)
  return {member.key: part_of[member.unit] for member in members}
