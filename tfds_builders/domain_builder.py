# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A family whose rows are domains; a build keeps one copy of each image."""

from __future__ import annotations

from typing import Any, Iterator

from tfds_builders import content
from tfds_builders import errors
from tfds_builders import row_builder


class DomainBuilder(row_builder.RowBuilder, skip_registration=True):  # type: ignore[call-arg]
  """Keeps one of several equal images (by the digest of their bytes), that with the least id.

  The metadata "duplicates_removed" holds the number of images left out.
  """

  def _split_generators(self, dl_manager) -> dict[str, Any]:
    if self._on_beam:
      raise errors.DataError(f"{self.name} removes copies across the whole build, which is not "
                             "done on Beam; build it without Beam options.")
    return super()._split_generators(dl_manager)

  def _generate_examples(self, spool, split) -> Iterator[tuple[str, dict[str, Any]]]:
    least: dict[int, str] = {}
    num_seen = 0
    for one in spool.read(split):
      digest = content.digest(one.image)
      least[digest] = min(one.key, least.get(digest, one.key))
      num_seen += 1
    kept = set(least.values())
    removed = dict(self.info.metadata["duplicates_removed"])
    removed[split] = removed.get(split, 0) + num_seen - len(kept)
    self.info.metadata["duplicates_removed"] = removed
    del least
    for key, record in super()._generate_examples(spool, split):
      if key in kept:
        yield key, record
