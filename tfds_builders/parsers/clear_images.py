# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR's images by bucket, from archives of both editions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import pathlib
import re

from tfds_builders import clear_splits
from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import clear_fixture
from tfds_builders.parsers import clear_listing
from tfds_builders.parsers import example
from tfds_builders.parsers import images

_UNLABELED = re.compile(r"(?:^|/)all_images/0/(?P<id>[^/]+)\.(?:jpe?g|png)$", re.I)


def parse(paths: Mapping[str, pathlib.Path], *, edition: str, tests: Sequence[str] = (),
          unlabeled: Sequence[str] = (), num_buckets: int = clear_listing.NUM_BUCKETS,
          encoded: Callable[[bytes, str], bytes] = images.encoded) -> Iterator[example.Example]:
  """Yields the images; those of `tests` in separate splits, those of bucket 0 without a label.

  Args:
    paths: file name -> path.
    edition: `clear_listing.PRESENT` or `FIRST`.
    tests: files that hold test images.
    unlabeled: files that hold unlabeled images of bucket 0, `all_images/0/<id>.jpg`.
    num_buckets: buckets above are refused.
    encoded: (a member's bytes, its location) -> bytes of the example.
  """
  for file, path in paths.items():
    yield from (_unlabeled(path) if file in unlabeled else
                _labeled(path, edition, file in tests, num_buckets, encoded))


def _labeled(path: pathlib.Path, edition: str, is_test: bool, num_buckets: int,
             encoded: Callable[[bytes, str], bytes]) -> Iterator[example.Example]:
  listing = clear_listing.read(path, edition, num_buckets)
  waiting = set(listing.features)
  for name, data in archives.members(
      path, lambda name: bool(clear_listing.image_entry(name, num_buckets))):
    entry = clear_listing.image_entry(name, num_buckets)
    if entry not in waiting:
      raise errors.DataError(f"{path}, member {name!r} is not in the archive's tables, or "
                             "is in it twice. Get the archive again.")
    waiting.discard(entry)
    where = f"{path}, member {name!r}"
    features = clear_splits.NO_PLACE if is_test else listing.features[entry]
    yield example.Example(
        clear_listing.split_name(entry.bucket, is_test), clear_listing.key(entry, is_test),
        entry.label, encoded(data, where), where, extra=features)
  if waiting:
    raise errors.DataError(
        f"{path} is missing {len(waiting)} images of its tables, such as {min(waiting)}, so its "
        "iid splits would differ from the published ones. Get the archive again.")


def _unlabeled(path: pathlib.Path) -> Iterator[example.Example]:
  for name, data in archives.members(path, lambda name: _UNLABELED.search(name) is not None):
    match = _UNLABELED.search(name)
    assert match is not None
    where = f"{path}, member {name!r}"
    yield example.Example(clear_listing.split_name(0, False), f"00/{match['id']}", (),
                          images.encoded(data, where), where, extra=clear_splits.NO_PLACE)


write_fixture = clear_fixture.write_images
