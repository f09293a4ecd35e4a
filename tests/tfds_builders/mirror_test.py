# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The mirror is searched by file name, in a fixed order."""

import os

import pytest

from tfds_builders import mirror


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
  before = mirror.state()
  monkeypatch.delenv(mirror.VARIABLE, raising=False)
  mirror.use(None)
  yield
  mirror.restore(before)


def _touch(path):
  path.parent.mkdir(parents=True, exist_ok=True)
  path.write_bytes(b"x")
  return path


def test_nothing_is_found_without_a_mirror():
  assert mirror.find(["a.zip"]) == {"a.zip": []}
  assert "neither --mirror nor LIFELONG_MIRROR is set" in mirror.describe()


def test_subfolders_are_searched_in_sorted_order(tmp_path):
  deep = _touch(tmp_path / "a" / "b" / "x.zip")
  late = _touch(tmp_path / "c" / "x.zip")
  early = _touch(tmp_path / "b" / "x.zip")
  mirror.use(tmp_path)
  assert mirror.find(["x.zip", "y.zip"]) == {"x.zip": [early, late, deep], "y.zip": []}


def test_a_folder_named_like_the_data_set_comes_first(tmp_path):
  _touch(tmp_path / "fashion_mnist" / "x.gz")
  own = _touch(tmp_path / "mnist" / "x.gz")
  also = _touch(tmp_path / "olivetti" / "x.gz")
  mirror.use(tmp_path)
  assert mirror.find(["x.gz"], prefer="mnist")["x.gz"][0] == own
  assert mirror.find(["x.gz"], prefer="olivetti_face")["x.gz"][0] == also


def test_environment_names_folders_and_use_overrides_it(tmp_path, monkeypatch):
  one, two = _touch(tmp_path / "1" / "x.zip"), _touch(tmp_path / "2" / "x.zip")
  monkeypatch.setenv(mirror.VARIABLE, os.pathsep.join([str(two.parent), str(one.parent)]))
  assert mirror.find(["x.zip"])["x.zip"] == [two, one]
  mirror.use(one.parent)
  assert mirror.find(["x.zip"])["x.zip"] == [one]
  mirror.use(None)
  assert mirror.find(["x.zip"])["x.zip"] == [two, one]


def test_a_mirror_that_does_not_exist_is_named(tmp_path, monkeypatch):
  with pytest.raises(NotADirectoryError, match="nowhere.* is not a folder that exists"):
    mirror.use(tmp_path / "nowhere")
  monkeypatch.setenv(mirror.VARIABLE, str(tmp_path / "nowhere"))
  assert mirror.find(["x.zip"]) == {"x.zip": []}
  assert "nowhere (no such folder)" in mirror.describe()


def test_a_folder_with_the_name_of_a_file_is_no_file(tmp_path):
  (tmp_path / "x.zip").mkdir()
  mirror.use(tmp_path)
  assert mirror.find(["x.zip"]) == {"x.zip": []}
