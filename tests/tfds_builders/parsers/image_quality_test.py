# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Distorted images with scores."""

import types

import pytest

from tfds_builders import errors
import tfds_builders.parsers
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import image_quality
from tfds_builders.parsers import images

_IMAGE = images.png(fixtures.pixels((2, 2, 3), 0))
_NAMES = [f"i{reference:02d}_01_{level}" for reference in (1, 2, 3) for level in (1, 2)]
_SCORES = (5.0, 1.0, 4.0, 2.0, 9.0, 3.0)  # Of _NAMES; those of reference 3 are held out below.
_MEMBERS = {
    "reference_images/I01.BMP": _IMAGE,
    **{f"distorted_images/{name.upper()}.bmp": _IMAGE for name in _NAMES[::-1]},
    "mos_with_names.txt": "".join(f"{score} {name.replace('i', 'I')}.bmp\r\n" for name, score
                                  in zip(_NAMES, _SCORES)).encode(),
    "metrics/MSSIM.TXT": b"0.1\r\n0.2\r\n0.3\r\n0.4\r\n0.5\r\n0.6\r\n",
    "metrics/psnr.txt": b"1\r\n"}
_ARGS = {"num_bins": 2, "scores": "mos_with_names.txt", "held_out": {"test": (3,)}}
_METRIC = {"num_bins": 3, "scores": "mssim.txt", "named": False, "held_out": {}}


def _parse(tmp_path, members, args):
  fixtures.write_archive(tmp_path / "a.zip", members)
  return {e.key: (e.split, e.label) for e in image_quality.parse(
      {"a.rar": tmp_path / "a.zip"}, **args)}


def test_bins_are_of_training_scores_and_references_are_held_out_whole(tmp_path):
  # Scores of training: 1, 2 | 4, 5, so that the second bin begins at 4.
  assert _parse(tmp_path, _MEMBERS, _ARGS) == {
      "i01_01_1": ("train", 1), "i01_01_2": ("train", 0), "i02_01_1": ("train", 1),
      "i02_01_2": ("train", 0), "i03_01_1": ("test", 1), "i03_01_2": ("test", 0)}


def test_without_names_scores_come_by_reference_type_and_level(tmp_path):
  assert _parse(tmp_path, _MEMBERS, _METRIC) == {
      name: ("all", bin_) for name, bin_ in zip(_NAMES, (0, 0, 1, 1, 2, 2))}


def test_equal_scores_are_in_one_bin(tmp_path):
  members = {**_MEMBERS, "metrics/MSSIM.TXT": b"1 \n1\n1\n1\n1\n2\n"}
  assert [label for _, label in _parse(tmp_path, members, _METRIC).values()] == [2] * 6


def test_a_rar_archive_goes_to_its_own_reader(tmp_path, monkeypatch):
  (tmp_path / "a").write_bytes(b"Rar!\x1a\x07\x00")
  asked = []

  def members(path, wanted, max_bytes):
    asked.append((path, max_bytes > 0))
    yield from ((name, data) for name, data in _MEMBERS.items() if wanted(name))

  fake = types.SimpleNamespace(members=members)
  monkeypatch.setitem(__import__("sys").modules, "tfds_builders.parsers.rar", fake)
  monkeypatch.setattr(tfds_builders.parsers, "rar", fake, raising=False)
  examples = list(image_quality.parse({"a.rar": tmp_path / "a"}, **_ARGS))
  assert len(examples) == 6 and asked == [(tmp_path / "a", True)] * 2


def _without(part):
  return {name: data for name, data in _MEMBERS.items() if part not in name}


@pytest.mark.parametrize("members, args, message", [
    (_without("mos"), _ARGS, "holds 0 tables named mos_with_names.txt, one was expected"),
    ({**_MEMBERS, "b/mssim.txt": b""}, _METRIC, "holds 2 tables named mssim.txt"),
    (_without("I02_01_1"), _ARGS, r"is missing 1 of 6 images with a score, such as \['i02_01_1'\]"),
    (_without("I02_01_1"), _METRIC, "MSSIM.TXT' has 6 scores for 5 images"),
    ({**_MEMBERS, "x/i04_01_1.bmp": _IMAGE}, _ARGS, "i04_01_1.bmp' has no score in mos_with"),
    ({**_MEMBERS, "x/i01_01_1.bmp": _IMAGE}, _ARGS, "i01_01_1.bmp' .* or occurs twice"),
    ({**_MEMBERS, "mos_with_names.txt": b"1.0\n"}, _ARGS, "is not a table of score and name"),
    ({**_MEMBERS, "mos_with_names.txt": b"1.0 name\n"}, _ARGS, "is not a table of score and name"),
    ({**_MEMBERS, "mos_with_names.txt": b"a i01_01_1.bmp\n"}, _ARGS, "has the score 'a', which is"),
    ({**_MEMBERS, "mos_with_names.txt": b"nan i01_01_1.bmp\n"}, _ARGS, "'nan'; only finite"),
    ({**_MEMBERS, "mos_with_names.txt": b"1 i01_01_1.bmp\n1 I01_01_1.bmp"}, _ARGS,
     "has 2 scores for 1 images"),
    ({**_MEMBERS, "mos_with_names.txt": b""}, _ARGS, "has 0 scores for 0 images"),
    ({**_MEMBERS, "mos_with_names.txt": b"1 i01_01_1.bmp"}, _ARGS, "Only 1 scores are of training"),
])
def test_tables_and_images_must_agree(tmp_path, members, args, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, members, args)


def test_the_fixture_holds_a_bitmap_that_becomes_png(tmp_path):
  image_quality.write_fixture(tmp_path, ["a.rar"], "01234", per_class=1, **_ARGS)
  examples = list(image_quality.parse({"a.rar": tmp_path / "a.rar"}, **_ARGS))
  assert all(e.image.startswith(images.PNG) for e in examples)
