# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Video frames of heads with their rotation (Biwi): three angles, each cut into bins.

A frame is `<subject>/frame_NNNNN_rgb.png`, its pose `frame_NNNNN_pose.txt`: three lines of a
rotation matrix, an empty one, and a position. The matrix is Rx(c) Ry(b) Rz(a); the angles are
a, b and c, in this order, which NEVIS'22 calls yaw, pitch and roll (for this camera they are
roll, yaw and pitch). Each is cut at quantiles, so that bins have the same number of frames; a label
is `bin + num_bins * angle`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re

from absl import logging
import numpy as np
from scipy.spatial import transform

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_NAME = re.compile(
    r"(?:^|/)(?P<subject>\d{2})/frame_(?P<frame>\d{5})_(?P<kind>rgb\.png|pose\.txt)$")
_ANGLES = 3

Frame = tuple[str, str]


def parse(paths: Mapping[str, pathlib.Path], *, num_bins: int,
          subjects: Mapping[str, Sequence[int]], bins_from: Sequence[str]
          ) -> Iterator[example.Example]:
  """Yields the frames that have a pose, in the order of the archive.

  Args:
    paths: file name -> path of one archive.
    num_bins: number of bins of each angle.
    subjects: source split -> numbers of its people.
    bins_from: source splits whose frames determine the edges of the bins.
  """
  path, = paths.values()
  split_of = {number: split for split, numbers in subjects.items() for number in numbers}
  angles = _read_poses(path, split_of)
  chosen = np.array([angle for (subject, _), angle in angles.items()
                     if split_of[int(subject)] in bins_from])
  if not len(chosen):
    raise errors.DataError(f"{path} has no poses of {', '.join(bins_from)}: it is incomplete.")
  inner = _edges(chosen, num_bins)
  missing = set(angles)
  without = []
  for name, data in archives.members(path, lambda name: _kind(name) == "rgb.png"):
    match = _NAME.search(name)
    assert match is not None
    frame = match["subject"], match["frame"]
    where = f"{path}, member {name!r}"
    if frame not in angles:
      without.append(name)
      continue
    missing.discard(frame)
    labels = tuple(num_bins * k + int(np.searchsorted(inner[:, k], angles[frame][k], side="right"))
                   for k in range(_ANGLES))
    yield example.Example(split_of[int(frame[0])], "/".join(frame), labels,
                          images.encoded(data, where), where, group=frame[0])
  if missing:
    raise errors.DataError(f"{path} has no image of {len(missing)} poses, such as {min(missing)}. "
                           "It is incomplete: get it again.")
  if without:
    logging.warning("%s: %d images have no pose and are left out, such as %s", path, len(without),
                    min(without))


def _edges(angles: np.ndarray, num_bins: int) -> np.ndarray:
  """Returns the inner edges of the bins: angles [N, angles] -> [num_bins - 1, angles].

  The quantiles are those of the reference, at rank N k / num_bins of 0 ... N - 1 (numpy's are at
  rank (N - 1) k / num_bins).
  """
  num = len(angles)
  ranks = num * np.arange(1, num_bins) / num_bins
  columns = np.sort(angles, axis=0).T
  return np.stack([np.interp(ranks, np.arange(num), column) for column in columns], axis=1)


def _kind(name: str) -> str:
  match = _NAME.search(name)
  return match["kind"] if match else ""


def _read_poses(path: pathlib.Path, split_of: Mapping[int, str]) -> dict[Frame, np.ndarray]:
  """Returns the three angles in degrees, float64 [3], by frame."""
  matrices: dict[Frame, list[list[float]]] = {}
  for name, data in archives.members(path, lambda name: _kind(name) == "pose.txt"):
    match = _NAME.search(name)
    assert match is not None
    try:
      rows = [[float(value) for value in line.split()]
              for line in data.decode("ascii", "replace").splitlines()[:3]]
    except ValueError:
      rows = []
    if not _is_rotation(rows) or int(match["subject"]) not in split_of:
      raise errors.DataError(f"{path}, member {name!r} is not a rotation of 3 x 3 numbers of one "
                             f"of the people {sorted(split_of)}. Get the archive again.")
    matrices[match["subject"], match["frame"]] = rows
  if not matrices:
    raise errors.DataError(f"{path} has no NN/frame_NNNNN_pose.txt. Get it again.")
  turned = transform.Rotation.from_matrix(np.array(list(matrices.values())))
  return dict(zip(matrices, turned.as_euler("XYZ", degrees=True)[:, ::-1]))


def _is_rotation(rows: Sequence[Sequence[float]]) -> bool:
  """Returns whether three lines of numbers are a rotation, up to the rounding of the files."""
  if [len(row) for row in rows] != [3, 3, 3]:
    return False
  matrix = np.array(rows)
  return bool(np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-3) and np.linalg.det(matrix) > 0)


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, num_bins: int, subjects: Mapping[str, Sequence[int]],
                  bins_from: Sequence[str]) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split."""
  del class_names, per_class, bins_from
  each = 2 * num_bins
  members: dict[str, bytes] = {"faces_0/readme.txt": b"no frame"}
  for subject in sorted(number for numbers in subjects.values() for number in numbers):
    for item in range(each):
      stem = f"faces_0/{subject:02d}/frame_{item + 3:05d}"
      angles = [(item * step % each - each / 2) * 6.0 + subject / 10 for step in (1, 3, 7)]
      rotation = transform.Rotation.from_euler("XYZ", angles[::-1], degrees=True).as_matrix()
      lines = [" ".join(f"{value:.8f}" for value in row) + " " for row in rotation]
      members[f"{stem}_rgb.png"] = images.png(fixtures.pixels((4, 5, 3), 100 * subject + item))
      members[f"{stem}_pose.txt"] = "\n".join([*lines, "", "1.0 2.0 900.0 "]).encode()
      members[f"{stem}_depth.bin"] = b"not read"
  fixtures.write_archive(directory / file_names[0], members)
  return {split: each * len(numbers) for split, numbers in subjects.items()}
