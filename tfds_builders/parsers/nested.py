# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives inside archives, read with the same checks (`archives.members`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import pathlib
import tempfile

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

MAX_INNER_BYTES = 1 << 30


def members(path: pathlib.Path, is_inner: Callable[[str], bool],
            wanted: Callable[[str], bool]) -> Iterator[archives.Member]:
  """Yields the wanted members of all inner archives; each inner archive is a temporary file."""
  for inner, data in archives.members(path, is_inner, max_bytes=MAX_INNER_BYTES):
    with tempfile.NamedTemporaryFile(suffix=f"-{pathlib.PurePath(inner).name}") as file:
      file.write(data)
      file.flush()
      del data
      yield from archives.members(pathlib.Path(file.name), wanted)


def parse(paths: Mapping[str, pathlib.Path], *, inner: Mapping[str, str], labels: Mapping[str, str],
          split: str) -> Iterator[example.Example]:
  """Yields the JPEG images of one inner archive per file.

  Args:
    paths: file name -> path.
    inner: file name -> end of the name of its inner archive.
    labels: file name -> class name of all its images.
    split: source split of all images.
  """
  for file_name, path in paths.items():
    found = 0
    stem = file_name.rsplit(".", 1)[0]
    end = inner[file_name]

    def is_inner(name: str, end: str = end) -> bool:
      return name.endswith(end)

    for name, data in members(path, is_inner, lambda n: n.lower().endswith((".jpg", ".jpeg"))):
      found += 1
      where = f"{path}, {inner[file_name]}, member {name!r}"
      key = f"{stem}/{pathlib.PurePosixPath(name).stem}"
      yield example.Example(split, key, labels[file_name], images.encoded(data, where), where)
    if not found:
      raise errors.DataError(f"{path} has no JPEG image in an archive named {inner[file_name]!r}: "
                             "it is incomplete or another edition. Get it again.")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, inner: Mapping[str, str], labels: Mapping[str, str],
                  split: str) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  del class_names, labels
  for position, file_name in enumerate(file_names):
    with tempfile.TemporaryDirectory() as folder:
      path = pathlib.Path(folder, inner[file_name].rsplit("/", 1)[-1])
      pictures = {f"image_{i:04d}.jpg": fixtures.jpeg((6, 5, 3), 999 * position + i)
                  for i in range(per_class)}
      fixtures.write_archive(path, {"ReadMe": b"no image", **pictures})
      fixtures.write_archive(directory / file_name, {
          f"top/{inner[file_name]}": path.read_bytes(), "top/notes.mat": b"not read"})
  return {split: per_class * len(file_names)}
