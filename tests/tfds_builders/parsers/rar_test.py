# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""RAR archives; as no free program writes them, bsdtar is replaced by a fake program."""

import stat

import pytest

from tfds_builders import errors
from tfds_builders.parsers import rar

_BSDTAR = """#!/bin/sh
case "$1" in
  -tf) [ -s "$2" ] || { echo damaged >&2; exit 1; }; cut -d' ' -f1 "$2" ;;
  -xOf) grep "^$3 " "$2" | cut -d' ' -f2 | tr -d '\\n' ;;
esac
"""


@pytest.fixture(name="path")
def _path(tmp_path, monkeypatch):
  program = tmp_path / "bin" / "bsdtar"
  program.parent.mkdir()
  program.write_text(_BSDTAR)
  program.chmod(program.stat().st_mode | stat.S_IXUSR)
  monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
  return tmp_path / "a.rar"


def test_wanted_members_in_stored_order(path):
  path.write_text("b/2.txt two\na/1.txt one\nc.dat x\n")
  assert list(rar.members(path, lambda name: name.endswith(".txt"))) == [
      ("b/2.txt", b"two"), ("a/1.txt", b"one")]


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "-rf", "@list", "a*"])
def test_unsafe_names_stop_everything(path, name):
  path.write_text(f"{name} x\n")
  with pytest.raises(errors.DataError, match="has an unsafe name"):
    list(rar.members(path))


def test_large_members_and_damage(path):
  path.write_text("a.txt 12345678\n")
  with pytest.raises(errors.DataError, match="'a.txt' has more than 4 bytes"):
    list(rar.members(path, max_bytes=4))
  path.write_text("")
  with pytest.raises(errors.DataError, match="cannot be read by bsdtar: damaged"):
    list(rar.members(path))


def test_without_a_program_the_message_says_what_to_install(path, monkeypatch):
  monkeypatch.setenv("PATH", "/nowhere")
  with pytest.raises(errors.DataError, match="none of bsdtar, unrar, 7z .*apt install libarchive"):
    list(rar.members(path))
