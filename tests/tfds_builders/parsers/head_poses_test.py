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
  matrix = transform.Rotation.from_euler("YXZ", angles, degrees=True).as_matrix()
  text = "\n".join(" ".join(f"{v:.9f}" for v in row) for row in matrix) + "\n\n1 2 3\n"
  return {f"{stem}_rgb.png": images.png(np.full((2, 2), frame, np.uint8)),
          f"{stem}_pose.txt": text.encode()}


def _parse(tmp_path, members, **changes):
  fixtures.write_archive(tmp_path / "a.zip", members)
  return {one.key: one for one in head_poses.parse({"a.zip": tmp_path / "a.zip"},
                                                   **{**_ARGS, **changes})}


def test_bins_end_at_the_quantiles_of_the_training_subjects(tmp_path):
  members = {**_frame(1, 3, (-40, -20, 5)), **_frame(1, 4, (20, 10, 25)),
             **_frame(2, 3, (60, 50, 24)), **_frame(2, 4, (50, 40, 4))}
  found = _parse(tmp_path, members)
  # Medians of the training frames: yaw -10, pitch -5, roll 15. Labels: bin + 2 * angle.
  assert {key: one.label for key, one in found.items()} == {
      "01/00003": (0, 2, 4), "01/00004": (1, 3, 5), "02/00003": (1, 3, 5), "02/00004": (1, 3, 4)}
  assert {one.split for key, one in found.items() if key.startswith("02")} == {"test"}
  # With the test subjects, the medians of yaw and pitch rise to 35 and 25.
  found = _parse(tmp_path, members, bins_from=("train", "test"))
  assert found["01/00004"].label == (0, 2, 5) and found["02/00004"].label == (1, 3, 4)


@pytest.mark.parametrize("change, message", [
    (lambda m: m.pop(_POSE), "has no pose"),
    (lambda m: m.pop("faces_0/01/frame_00003_rgb.png"), "no image of 1 poses"),
    (lambda m: m.update({_POSE: b"1 0 0\n0 1 0\n"}), "no rotation of 3 x 3"),
    (lambda m: m.update({_POSE: b"a b c\n"}), "no rotation of 3 x 3"),
    (lambda m: m.update({_POSE: b"0 0 0\n" * 3}), "is no rotation"),
    (lambda m: [m.pop(name) for name in list(m) if "/01/" in name], "has no poses of train"),
    (lambda m: m.update(_frame(9, 1, (0, 0, 0))), "one of the people"),
    (lambda m: m.clear(), "has no NN/frame"),
])
def test_damaged_archives_are_refused(change, message, tmp_path):
  members = {**_frame(1, 3, (0, 0, 0)), **_frame(1, 4, (2, 2, 2)), **_frame(2, 3, (1, 1, 1))}
  change(members)
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, {"x": b"", **members})
