# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images that text lists name."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import listed_images

_IMAGE = fixtures.jpeg((4, 4, 3), 0)

_FOOD = {"lists": {"meta/train.txt": "train", "meta/test.txt": "test"}, "line": "{label}/{item}",
         "image": "images/{label}/{item}.jpg"}
_AIRCRAFT = {"lists": {"trainval.txt": "train", "test.txt": "test"}, "line": "{item} {label}",
             "image": "data/images/{item}.jpg"}


def _food(**changes):
  members = {"f/images/pie/1.jpg": _IMAGE, "f/images/pie/2.jpg": _IMAGE,
             "f/images/egg/1.jpg": _IMAGE, "f/meta/train.txt": b"egg/1\npie/2\n",
             "f/meta/test.txt": b"pie/1\n", "f/README": b""}
  members.update(changes)
  return {name: data for name, data in members.items() if data is not None}


def _parse(path, members, **args):
  fixtures.write_archive(path, members)
  return list(listed_images.parse({path.name: path}, **args))


def _facts(examples):
  return [(e.split, e.key, e.label) for e in examples]


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_images_in_the_order_of_the_archive_with_split_and_label_of_their_line(tmp_path, name):
  examples = _parse(tmp_path / name, _food(), **_FOOD)
  assert _facts(examples) == [("test", "pie/1", "pie"), ("train", "pie/2", "pie"),
                              ("train", "egg/1", "egg")]
  assert examples[0].image == _IMAGE and "f/images/pie/1.jpg" in examples[0].where


def test_labels_may_have_spaces_and_slashes(tmp_path):
  members = {"a/data/images/12.jpg": _IMAGE, "a/data/images/3.jpg": _IMAGE,
             "a/data/images_test.txt": b"not it", "a/data/test.txt": b"12 Boeing 707\r\n",
             "a/data/trainval.txt": b"\xef\xbb\xbf3 F/A-18\r\n\r\n"}
  assert _facts(_parse(tmp_path / "a.tar", members, **_AIRCRAFT)) == [
      ("test", "12", "Boeing 707"), ("train", "3", "F/A-18")]


def test_lists_can_be_files_or_in_a_separate_archive(tmp_path):
  fixtures.write_archive(tmp_path / "images.zip", {"x/w-01/p1.png": _IMAGE, "y/w-01/p1.png": b""})
  (tmp_path / "train.txt").write_text("w-01\\p1.png")
  fixtures.write_archive(tmp_path / "lists.zip", {"sets/train.txt": b"w-01/p1.png"})
  for other in ("train.txt", "lists.zip"):
    paths = {name: tmp_path / name for name in ("images.zip", other)}
    examples = listed_images.parse(paths, lists={"train.txt": "train"}, line="{label}/{item}.png",
                                   image="x/{label}/{item}.png")
    assert _facts(examples) == [("train", "w-01/p1", "w-01")]


def test_header_and_lines_without_the_wanted_flag_do_not_count(tmp_path):
  members = {"images/pie/1.jpg": _IMAGE, "images/pie/2.jpg": _IMAGE,
             "t.tsv": b"class_name/key\tverified\npie/1.jpg\t1\npie/2.jpg\t0\n"}
  args = {"lists": {"t.tsv": "train"}, "line": "{label}/{item}.jpg\t{flag}",
          "image": "images/{label}/{item}.jpg", "header_lines": 1, "unlisted": True}
  one = _parse(tmp_path / "a.zip", members, **args, keep={"flag": "1"})
  assert _facts(one) == [("train", "pie/1", "pie")]
  assert len(_parse(tmp_path / "a.zip", members, **args)) == 2


def test_an_image_in_two_lists_counts_for_the_later(tmp_path):
  examples = _parse(tmp_path / "a.zip", _food(**{
      "f/meta/test.txt": b"pie/1\npie/2"}), **_FOOD)
  assert ("test", "pie/2", "pie") in _facts(examples) and len(examples) == 3


def test_image_without_a_line(tmp_path):
  members = _food(**{"f/images/egg/9.jpg": _IMAGE})
  with pytest.raises(errors.DataError, match=r"a.zip: 1 images have no label, such as "
                     r"\['f/images/egg/9.jpg'\]"):
    _parse(tmp_path / "a.zip", members, **_FOOD)
  assert len(_parse(tmp_path / "a.zip", members, **_FOOD, unlisted=True)) == 3


@pytest.mark.parametrize("changes, message", [
    ({"f/images/pie/2.jpg": None}, r"1 of 3 images that the labels name are missing, such as "
                                   r"\['pie/2'\]"),
    ({"f/meta/test.txt": None}, r"a.zip are missing the lists \['meta/test.txt'\]"),
    ({"f/meta/train.txt": b"egg/1\npie 2"}, "train.txt', line 2 does not match .*'pie 2'"),
    ({"f/meta/train.txt": b"", "f/meta/test.txt": b""}, "0 of 0 images .* are missing"),
])
def test_incomplete_archives(tmp_path, changes, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path / "a.zip", _food(**changes), **_FOOD)


def test_a_known_number_of_images_may_be_missing(tmp_path):
  members = _food(**{"f/images/pie/2.jpg": None})
  assert len(_parse(tmp_path / "a.zip", members, **_FOOD, max_missing=1)) == 2


def test_lists_that_contradict_each_other_or_themselves(tmp_path):
  members = {"data/images/1.jpg": _IMAGE, "trainval.txt": b"1 A", "test.txt": b"1 B"}
  with pytest.raises(errors.DataError, match="gives '1' the label 'B', another list 'A'"):
    _parse(tmp_path / "a.zip", members, **_AIRCRAFT)
  members["trainval.txt"] = b"1 A\n1 B\n"
  with pytest.raises(errors.DataError, match="line 2 gives '1' the label 'B', an earlier line 'A'"):
    _parse(tmp_path / "a.zip", members, **_AIRCRAFT)


def test_truncated_archive_is_named(tmp_path):
  fixtures.write_archive(tmp_path / "a.tar", _food())
  data = (tmp_path / "a.tar").read_bytes()
  (tmp_path / "a.tar").write_bytes(data[:5000])
  with pytest.raises(errors.DataError, match="a.tar.* truncated or damaged"):
    list(listed_images.parse({"a.tar": tmp_path / "a.tar"}, **_FOOD))
