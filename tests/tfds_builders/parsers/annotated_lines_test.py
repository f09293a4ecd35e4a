# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lines "<class>;<file>;<name>" beside archives of images."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import annotated_lines
from tfds_builders.parsers import fixtures

_ARGS = {"sets": {"i.zip": ("t.zip", "photos")}, "num_classes": 2}


def _parse(tmp_path, text, names=("a", "b")):
  fixtures.write_archive(tmp_path / "i.zip", {
      f"x/imgs/{name}.jpg": fixtures.jpeg((2, 2, 3), 0) for name in names})
  fixtures.write_archive(tmp_path / "t.zip", {"y/lines.txt": text})
  paths = {name: tmp_path / name for name in ("i.zip", "t.zip")}
  return [(one.key, one.label, one.split) for one in annotated_lines.parse(paths, **_ARGS)]


def test_a_line_labels_its_image(tmp_path):
  assert _parse(tmp_path, b"2;imgs/a.jpg;is kissing\n1;b.jpg;runs to\n\na note\n") == [
      ("photos/a", 1, "photos"), ("photos/b", 0, "photos")]


@pytest.mark.parametrize("text, message", [
    (b"3;a.jpg;x", "line 1 is '3;a.jpg;x'"), (b"0;a.jpg;x", "line 1"), (b"one;a.jpg;x", "line 1"),
    (b"1;a.jpg;x\n1;b.jpg;y", "line 2"), (b"1;a.jpg;x\n2;a.jpg;y", "line 2"),
    (b"", "0 of 0 images"),
    (b"1;c.jpg;x", "1 of 1 images that the labels name are missing"),
])
def test_lines_that_do_not_fit_are_refused(text, message, tmp_path):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, text)
