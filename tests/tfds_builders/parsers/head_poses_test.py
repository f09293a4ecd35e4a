# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Angles of heads, cut into bins."""

import numpy as np
import pytest
from scipy.spatial import transform

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import head_poses
from tfds_builders.parsers import images

_POSE = "faces_0/01/frame_00003_pose.txt"
_ARGS = {"num_bins": 2, "subjects": {"train": (1,), "test": (2,)}, "bins_from": ("train",)}


def _frame(subject, frame, angles):
  stem = f"faces_0/{subject:02d}/frame_{frame:05d}"
  matrix = transform.Rotation.from_euler("XYZ", angles[::-1], degrees=True).as_matrix()
  text = "\n".join(" ".join(f"{v:.9f}" for v in row) for row in matrix) + "\n\n1 2 3\n"
  return {f"{stem}_rgb.png": images.png(np.full((2, 2), frame, np.uint8)),
          f"{stem}_pose.txt": text.encode()}


def _written(tmp_path, members):
  fixtures.write_archive(tmp_path / "a.zip", members)
  return tmp_path / "a.zip"


def _parse(tmp_path, members, **changes):
  path = _written(tmp_path, members)
  return {one.key: one for one in head_poses.parse({"a.zip": path}, **{**_ARGS, **changes})}


def test_bins_end_at_the_quantiles_of_the_training_subjects(tmp_path):
  members = {**_frame(1, 3, (-40, -20, 5)), **_frame(1, 4, (20, 10, 25)),
             **_frame(1, 5, (10, -10, 15)),
             **_frame(2, 3, (60, 50, 24)), **_frame(2, 4, (50, 40, 4))}
  found = _parse(tmp_path, members)
  # Of three training frames the edge is at rank 1.5: at 15, 0 and 20. Labels: bin + 2 * angle.
  assert {key: one.label for key, one in found.items()} == {
      "01/00003": (0, 2, 4), "01/00004": (1, 3, 5), "01/00005": (0, 2, 4),
      "02/00003": (1, 3, 5), "02/00004": (1, 3, 4)}
  assert {one.split for key, one in found.items() if key.startswith("02")} == {"test"}
  # With the test subjects it is at rank 2.5, at 35, 25 and 19.5.
  found = _parse(tmp_path, members, bins_from=("train", "test"))
  assert found["01/00004"].label == (0, 2, 5) and found["02/00004"].label == (1, 3, 4)


def test_angles_are_those_of_the_rotation_about_z_then_y_then_x(tmp_path):
  # By hand: each of these turns by 30 degrees about one axis only; the other angles are 0.
  c, s = np.cos(np.pi / 6), 0.5
  turns = {3: [[c, -s, 0], [s, c, 0], [0, 0, 1]], 4: [[c, 0, s], [0, 1, 0], [-s, 0, c]],
           5: [[1, 0, 0], [0, c, -s], [0, s, c]], 6: np.eye(3)}
  members = {}
  for frame, matrix in turns.items():
    members.update(_frame(1, frame, (0, 0, 0)))
    members[f"faces_0/01/frame_{frame:05d}_pose.txt"] = "\n".join(
        " ".join(f"{v:.6f}" for v in row) for row in matrix).encode()
  poses = head_poses._read_poses(_written(tmp_path, members), {1: "train"})  # pylint: disable=protected-access
  assert np.allclose([poses["01", f"{frame:05d}"] for frame in (3, 4, 5, 6)],
                     [[30, 0, 0], [0, 30, 0], [0, 0, 30], [0, 0, 0]], atol=1e-3)


def test_images_without_a_pose_are_left_out(tmp_path):
  members = {**_frame(1, 3, (0, 0, 0)), **_frame(1, 4, (2, 2, 2))}
  del members[_POSE]
  assert set(_parse(tmp_path, members)) == {"01/00004"}


@pytest.mark.parametrize("change, message", [
    (lambda m: m.pop("faces_0/01/frame_00003_rgb.png"), "no image of 1 poses"),
    (lambda m: m.update({_POSE: b"1 0 0\n0 1 0\n"}), "not a rotation of 3 x 3"),
    (lambda m: m.update({_POSE: b"a b c\n"}), "not a rotation of 3 x 3"),
    (lambda m: m.update({_POSE: b"0 0 0\n" * 3}), "is not a rotation"),
    (lambda m: m.update({_POSE: b"nan 0 0\n0 1 0\n0 0 1"}), "is not a rotation"),
    (lambda m: m.update({_POSE: b"2 0 0\n0 2 0\n0 0 2"}), "is not a rotation"),
    (lambda m: m.update({_POSE: b"1 0 0\n0 1 0\n0 0 -1"}), "is not a rotation"),
    (lambda m: [m.pop(name) for name in list(m) if "/01/" in name], "has no poses of train"),
    (lambda m: m.update(_frame(9, 1, (0, 0, 0))), "one of the people"),
    (lambda m: m.clear(), "has no NN/frame"),
])
def test_damaged_archives_are_refused(change, message, tmp_path):
  members = {**_frame(1, 3, (0, 0, 0)), **_frame(1, 4, (2, 2, 2)), **_frame(2, 3, (1, 1, 1))}
  change(members)
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, {"x": b"", **members})
