# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Counts, and the bins they are cut into."""

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders.parsers import counting
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import mat_files
from tfds_builders.rows.nevis.counting import mall
from tfds_builders.rows.nevis.counting import shanghai_tech
from tfds_builders.rows.nevis.counting import trancos

_IMAGE = fixtures.jpeg((4, 4, 3), 0)
_FILM = {**mall.ROW.layouts[0].args, "num_bins": 2, "parts": {"first": (4, "train", "test")}}
_LISTS = {**trancos.ROW.layouts[0].args, "num_bins": 2}
_POINTS = {**shanghai_tech.ROW.layouts[0].args, "num_bins": 2}


def _mall(counts):
  return {"m/mall_gt.mat": mat_files.packed({"count": np.array(counts)[:, None], "loc": 1}),
          **{f"m/frames/seq_{number:06d}.jpg": _IMAGE for number in range(1, 7)}}


def _trancos(**change):
  lists = {"training.txt": "1.jpg\n2.jpg\n", "validation.txt": "3.jpg\n", "test.txt": "4.jpg\r\n",
           "trainval.txt": "1.jpg\n9.jpg\n", **change}
  return {**{f"T/images/{n}.jpg": _IMAGE for n in (1, 2, 3, 4)},
          **{f"T/images/{n}dots.png": b"" for n in (1, 2, 3, 4)},
          **{f"T/images/{n}.txt": b"7\t7\r\n" * n for n in (1, 2, 3, 4)},
          **{f"T/image_sets/{name}": text.encode() for name, text in lists.items()}}


def _gt(count):
  return counting._points(count)


_SHANGHAI = {
    **{f"S/part_{part}/{split}_data/{name}": data for part, split, count in (
        ("A", "train", 9), ("B", "train", 0), ("A", "test", 5)) for name, data in (
            ("images/IMG_1.jpg", _IMAGE), ("ground-truth/GT_IMG_1.mat", _gt(count)))},
    "shanghaitech_h5_empty/S/part_A/train_data/images/IMG_1.jpg": b"never read"}


def _parse(tmp_path, members, args, **change):
  fixtures.write_archive(tmp_path / "a.zip", members)
  examples = counting.parse({"a.zip": tmp_path / "a.zip"}, **{**args, **change})
  return {e.key: (e.split, e.label) for e in examples}


def test_an_edge_is_the_last_count_seen_by_too_few():
  # Seen up to 0, 1, 2, 3: 1, 3, 4, 8 of 8 images. Fewer than 2: at 0; than 4: at 1; than 6: at 2.
  counts = [0, 1, 1, 2, 3, 3, 3, 3]
  assert counting.bin_edges(counts, 4) == [0, 1, 2]
  assert [counting.bin_of(count, [0, 1, 2]) for count in (0, 1, 2, 3, 99)] == [0, 1, 2, 3, 3]
  assert counting.bin_edges([0, 0, 0, 5], 2) == [-1]


def test_a_film_whose_first_frames_are_trained_on(tmp_path):
  members = _mall([10, 20, 30, 40, 5, 90])
  assert _parse(tmp_path, members, _FILM) == {
      "000001": ("train", 0), "000002": ("train", 1), "000003": ("train", 1),
      "000004": ("train", 1), "000005": ("test", 0), "000006": ("test", 1)}


def test_test_images_move_the_edges_only_if_they_are_asked(tmp_path):
  members = _mall([10, 11, 12, 30, 31, 32])
  # Half of the first four is seen at 11, half of all six at 12; the edge is the count before.
  fixed = _parse(tmp_path, members, _FILM)
  assert [label for _, label in fixed.values()] == [0, 1, 1, 1, 1, 1]
  defect = _parse(tmp_path, members, _FILM, edges_from=("train", "test"))
  assert [label for _, label in defect.values()] == [0, 0, 1, 1, 1, 1]


def test_a_text_file_an_image_and_lists(tmp_path):
  assert _parse(tmp_path, _trancos(), _LISTS) == {
      "1": ("training", 1), "2": ("training", 1), "3": ("validation", 1), "4": ("test", 1)}


def test_a_file_of_points_an_image_and_folders(tmp_path):
  assert _parse(tmp_path, _SHANGHAI, _POINTS) == {
      "part_A/train_data/IMG_1": ("train", 1), "part_B/train_data/IMG_1": ("train", 1),
      "part_A/test_data/IMG_1": ("test", 1)}
  table = counting._num_points
  assert [table(_gt(count), "t") for count in (0, 1, 2, 7)] == [0, 1, 2, 7]


@pytest.mark.parametrize("members, args, message", [
    (_mall([1, 2, 3, 4, 5]), _FILM, r"1 images have no label, such as \['m/frames/seq_000006.jpg"),
    (_mall([1, 2, 3, 4, 5, 6, 7]), _FILM, r"1 of 7 images .* missing, such as \['000007'\]"),
    (_mall([1, 2, 3, 4, 5, -6]), _FILM, "has the count -6; only whole numbers"),
    (_mall([1, 2, 3, 4, 5, 6.5]), _FILM, "has the count 6.5; only whole numbers"),
    ({**_mall([1]), "m/mall_gt.mat": b"?"}, _FILM, "mall_gt.mat' cannot be read as a MATLAB file"),
    ({"m/frames/seq_000001.jpg": _IMAGE}, _FILM, "or all counts: it is incomplete"),
    (_trancos(**{"test.txt": "1.jpg\n4.jpg\n"}), _LISTS, "image '1' of list 'training' too"),
    (_trancos(**{"test.txt": ""}), _LISTS, r"1 images have a count but no split, .* \['4'\]"),
    (_trancos(**{"test.txt": "4.jpg 5.jpg"}), _LISTS, r"a split but no count, such as \['5'\]"),
    ({n: d for n, d in _trancos().items() if "/test" not in n}, _LISTS, r"lists \['test.txt'\]"),
    ({n: d for n, d in _trancos().items() if not n.endswith("4.jpg")}, _LISTS, "1 of 4 images"),
    ({**_SHANGHAI, "S/part_B/test_data/images/IMG_1.jpg": b""}, _POINTS, "1 images have no label"),
    ({**_SHANGHAI, "S/part_A/test_data/ground-truth/GT_IMG_1.mat":
      mat_files.packed({"image_info": [[1]]})}, _POINTS, "GT_IMG_1.mat' has no points in image_in"),
    ({n: d for n, d in _SHANGHAI.items() if "train_data" not in n}, _POINTS,
     r"no counted images in \['train'\]"),
])
def test_counts_splits_and_images_must_agree(tmp_path, members, args, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, members, args)
