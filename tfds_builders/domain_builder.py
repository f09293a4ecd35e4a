# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A family whose rows are domains; a build keeps one copy of each image."""

from __future__ import annotations

import collections
from collections.abc import Iterator
import pathlib
from typing import Any

from tfds_builders import content
from tfds_builders import errors
from tfds_builders import row_builder
from tfds_builders import sources
from tfds_builders import unions


class DomainBuilder(row_builder.RowBuilder, skip_registration=True):  # type: ignore[call-arg]
  """Keeps one of several equal images (by the digest of their bytes), that with the least id.

  The metadata "duplicates_removed" holds the number of images left out. Of a union,
  "duplicates_of" has it by member, and "left_out" the members that are not in it.

  Attributes:
    without: members of a union that are left out; set before the data set is prepared.
  """

  without: tuple[str, ...] = ()

  def _source(self, dl_manager) -> sources.Source:
    if not self.row.union:
      return super()._source(dl_manager)
    return unions.source(self.name, self.row, pathlib.Path(self.data_dir_root), self.without)

  def _split_generators(self, dl_manager) -> dict[str, Any]:
    if self._on_beam:
      raise errors.DataError(f"{self.name} removes copies across the whole build, which is not "
                             "done on Beam; build it without Beam options.")
    made = super()._split_generators(dl_manager)
    if self.row.union:
      self.info.metadata["left_out"] = sorted(self.without)
    return made

  def _generate_examples(self, spool, split) -> Iterator[tuple[str, dict[str, Any]]]:
    least: dict[int, str] = {}
    num_seen: dict[str, int] = collections.Counter()  # By member of a union.
    for one in spool.read(split):
      digest = content.digest(one.image)
      least[digest] = min(one.key, least.get(digest, one.key))
      num_seen[_member(one.key)] += 1
    kept = set(least.values())
    removed = dict(self.info.metadata["duplicates_removed"])
    removed[split] = removed.get(split, 0) + sum(num_seen.values()) - len(kept)
    self.info.metadata["duplicates_removed"] = removed
    if self.row.union:
      num_kept = collections.Counter(map(_member, kept))
      self.info.metadata["duplicates_of"] = {
          name: num - num_kept[name] for name, num in sorted(num_seen.items())}
    del least
    for key, record in super()._generate_examples(spool, split):
      if key in kept:
        yield key, record


def _member(key: str) -> str:
  return key.partition("/")[0]
