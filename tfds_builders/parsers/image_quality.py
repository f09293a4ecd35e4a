# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Distorted copies of reference images with scores of their quality (TID2008, TID2013).

Images are named iRR_TT_L.bmp: reference, type and level of the distortion. Labels are
bins of the scores, equally frequent in training.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
import math
import pathlib
import re

import numpy as np

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_IMAGE = re.compile(r"(?:^|/)(i\d\d_\d\d_\d)\.bmp$", re.IGNORECASE | re.ASCII)

HeldOut = Mapping[str, Sequence[int]]


def parse(paths: Mapping[str, pathlib.Path], *, num_bins: int, scores: str,
          held_out: HeldOut, named: bool = True) -> Iterator[example.Example]:
  """Yields the distorted images as PNG; labels are bins, the lowest scores first.

  Args:
    paths: file name -> path of a rar, zip or tar.
    num_bins: number of labels; the edges of the bins come from the scores of train and dev.
    scores: name of the table of scores, in any folder.
    held_out: source split -> the numbers of its reference images; the others are "train". {}: all
      images are one pool.
    named: whether a line is "score name"; otherwise it is a score, in the order of reference,
      type and level.
  """
  for path in paths.values():
    table = _read_scores(path, scores.lower(), named)
    edges = _edges([score for key, score in table.items()
                    if _split(key, held_out) in (splits.TRAIN, splits.DEV, splits.POOL)], num_bins)
    missing = set(table)
    for name, data in _members(path, lambda name: bool(_IMAGE.search(name))):
      match = _IMAGE.search(name)
      assert match is not None
      key, where = match[1].lower(), f"{path}, member {name!r}"
      if key not in missing:
        raise errors.DataError(f"{where} has no score in {scores}, or occurs twice. The archive "
                               "is damaged or of another edition: get it again.")
      missing.discard(key)
      label = int(np.searchsorted(edges, table[key], side="right"))
      yield example.Example(_split(key, held_out), key, label, images.encoded(data, where), where)
    if missing:
      raise errors.DataError(f"{path} is missing {len(missing)} of {len(table)} images with a "
                             f"score, such as {sorted(missing)[:3]}. Get it again.")


def _split(key: str, held_out: HeldOut) -> str:
  for split, references in held_out.items():
    if int(key[1:3]) in references:
      return split
  return splits.TRAIN if held_out else splits.POOL


def _edges(scores: Sequence[float], num_bins: int) -> list[float]:
  """Returns the lowest score of each bin but the first; equal scores are in the same bin."""
  ordered = sorted(scores)
  if len(ordered) < num_bins:
    raise errors.DataError(f"Only {len(ordered)} scores are of training images, too few for "
                           f"{num_bins} bins: the archive is incomplete. Get it again.")
  size = len(ordered) // num_bins
  return [ordered[index * size] for index in range(1, num_bins)]


def _read_scores(path: pathlib.Path, wanted: str, named: bool) -> dict[str, float]:
  """Returns score by key; a table without names follows the sorted names of the images."""
  names: list[str] = []

  def is_table(name: str) -> bool:
    match = _IMAGE.search(name)
    if match:
      names.append(match[1].lower())
    return archives.base_name(name).lower() == wanted

  found = list(_members(path, is_table))
  if len(found) != 1:
    raise errors.DataError(f"{path} holds {len(found)} tables named {wanted}, one was expected. It "
                           "is incomplete or of another edition: get it again.")
  where = f"{path}, member {found[0][0]!r}"
  lines = [line.split() for line in found[0][1].decode("ascii", "replace").splitlines()]
  lines = [fields for fields in lines if fields]
  keys = [_IMAGE.search(fields[-1]) for fields in lines] if named else []
  if any(len(fields) != 1 + named for fields in lines) or not all(keys):
    raise errors.DataError(f"{where} is not a table of {'score and name' if named else 'scores'}. "
                           "It is damaged or of another edition: get it again.")
  in_order = [key[1].lower() for key in keys if key] if named else sorted(set(names))
  if len(set(in_order)) != len(lines) or not lines:
    raise errors.DataError(f"{where} has {len(lines)} scores for {len(set(in_order))} images. It "
                           "is damaged or of another edition: get it again.")
  return dict(zip(in_order, (_number(fields[0], where) for fields in lines)))


def _number(text: str, where: str) -> float:
  try:
    number = float(text)
  except ValueError as error:
    raise errors.DataError(f"{where} has the score {text!r}, which is not a number.") from error
  if not math.isfinite(number):
    raise errors.DataError(f"{where} has the score {text!r}; only finite numbers can be binned.")
  return number


def _members(path: pathlib.Path, wanted: Callable[[str], bool]) -> Iterator[archives.Member]:
  with open(path, "rb") as stream:
    is_rar = stream.read(4) == b"Rar!"
  if not is_rar:
    yield from archives.members(path, wanted)
    return
  from tfds_builders.parsers import rar  # pylint: disable=g-import-not-at-top
  yield from rar.members(path, wanted, archives.MAX_MEMBER_BYTES)


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, num_bins: int, scores: str, held_out: HeldOut,
                  named: bool = True) -> Mapping[str, int]:
  """Writes a tiny zip of this layout, with any name; returns the counts by source split."""
  del class_names, per_class, num_bins
  members: dict[str, bytes] = {}
  counts: dict[str, int] = collections.Counter()
  lines: list[str] = []
  for reference in range(1, 26):
    members[f"reference_images/I{reference:02d}.BMP"] = b"never read"
    for distortion in (1, 2):
      for level in (1, 2):
        name = f"{'iI'[level % 2]}{reference:02d}_{distortion:02d}_{level}.bmp"
        counts[_split(name, held_out)] += 1
        members[f"distorted_images/{name}"] = _bmp(len(members))
        score = (len(lines) * 37 % 100) / 10
        lines.append(f"{score:.4f} {name.upper()}\r\n" if named else f"  {score:.4f}\r\n")
  members[f"metrics/{scores.upper()}"] = "".join(lines).encode()
  members["metrics/psnr.txt"] = b"1.0\r\n"
  fixtures.write_archive(directory / "packed.zip", members)
  (directory / "packed.zip").rename(directory / file_names[0])
  return dict(counts)


def _bmp(seed: int) -> bytes:
  """Returns a BMP of noise, 4 x 4 pixels, 24 bits."""
  body = fixtures.pixels((4, 4, 3), seed).tobytes()
  head = np.array([40, 4, 4, 1 | 24 << 16, 0, len(body), 0, 0, 0, 0], "<u4").tobytes()
  return b"BM" + np.array([54 + len(body), 0, 54], "<u4").tobytes() + head + body
