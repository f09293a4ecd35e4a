# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Flickr's metadata of CLEAR's images: time of upload, user, title and license."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
from typing import Any

from tfds_builders import clear_splits
from tfds_builders import errors
from tfds_builders.parsers import clear_fixture
from tfds_builders.parsers import clear_listing
from tfds_builders.parsers import example

# Our feature -> the key in the archives.
TEXTS = {"taken": "DATE_TAKEN", "title": "TITLE", "user_id": "USER_ID", "licence": "LICENSE_NAME",
         "page_url": "PAGE_URL", "download_url": "DOWNLOAD_URL"}
DECLARED = {"uploaded": "int64", **dict.fromkeys(TEXTS, "text")}


def parse(paths: Mapping[str, pathlib.Path], *, edition: str, tests: Sequence[str] = ()
          ) -> Iterator[example.Example]:
  """Yields one example for each labeled image, without the image.

  `uploaded` is in seconds since 1970 (UTC), -1 if unknown.
  """
  for file, path in paths.items():
    is_test = file in tests
    listing = clear_listing.read(path, edition)
    if not listing.metadata:
      raise errors.DataError(f"{path} holds no labeled_metadata. The archives of the present "
                             "edition hold them: get one of those.")
    for entry, facts in listing.metadata.items():
      features = clear_splits.NO_PLACE if is_test else listing.features[entry]
      yield example.Example(
          clear_listing.split_name(entry.bucket, is_test), clear_listing.key(entry, is_test),
          entry.label, b"", f"{path}, metadata of {entry.id}",
          extra={**features, **_features(facts)})


def _features(facts: Mapping[str, Any]) -> dict[str, Any]:
  found: dict[str, Any] = {ours: str(facts.get(theirs) or "") for ours, theirs in TEXTS.items()}
  try:
    found["uploaded"] = int(float(facts.get("DATE_UPLOADED") or -1))
  except (TypeError, ValueError, OverflowError):
    found["uploaded"] = -1
  return found


write_fixture = clear_fixture.write_metadata
