# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import os

import pytest

from suite.system import folders


def test_a_folder_is_made_with_its_parents(tmp_path):
  folders.make(tmp_path / "a" / "b", "--x")
  folders.make(tmp_path / "a" / "b", "--x")
  folders.check(tmp_path / "c" / "d", "--x")
  assert (tmp_path / "a" / "b").is_dir() and not (tmp_path / "c").exists()


@pytest.mark.parametrize("function", [folders.check, folders.make])
def test_a_file_and_what_lies_under_one_are_refused(tmp_path, function):
  path = tmp_path / "file"
  path.touch()
  with pytest.raises(folders.FolderError, match="file is a file. Give --x a folder"):
    function(path, "--x")
  with pytest.raises(folders.FolderError, match="a/b lies under .*file, which is a file"):
    function(path / "a" / "b", "--x")


def test_what_cannot_be_made_or_written_is_refused(tmp_path, monkeypatch):
  with pytest.raises(folders.FolderError, match="/proc/no/w cannot be made: No such file.* may"):
    folders.make("/proc/no/w", "--x")
  monkeypatch.setattr(os, "access", lambda *unused: False)
  with pytest.raises(folders.FolderError, match="is read-only. Give --x a folder in which you may"):
    folders.make(tmp_path, "--x")


NAMES = {
    "../escape": "holds '/'", "a/b": "holds '/'", "/etc": "holds '/'", "a\\b": r"holds '\\\\'",
    "..": "begins or ends with a dot", ".": "begins or ends", ".lock": "begins or ends",
    "...": "begins or ends", "a.": "begins or ends", "a ": "begins or ends", " a": "begins or ends",
    "": "is no name", " ": "is no name", "a\nb": "holds '\\\\n'", "a\0": "holds '\\\\x00'",
    "\x1b[31m": "holds '\\\\x1b'", "a\u202eb": "holds '\\\\u202e'", "a\u2028b": "holds",
    "\udc80": "holds", "C:": "holds ':'", "a*": "holds", "a?": "holds", "a|b": "holds",
    "x" * 121: "has 121 bytes", "\u00e4" * 61: "has 122 bytes",
    "records.jsonl": "is the name of a file of the suite", "Records.JSONL": "is the name of a file",
    "state": "is the name", "summary.json": "is the name", "tensorboard": "is the name",
    "weights": "is the name", "predictions": "is the name", "CON": "is the name", "nul": "is the",
    "Aux.txt": "is the name", "com1": "is the name", "LPT9.log": "is the name", "0.log": "is the",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_no_folder_beside_others_is_refused(name):
  with pytest.raises(folders.FolderError, match="The learner .* " + NAMES[name]):
    folders.check_names(["er", name], "learner", taken=["0.log"])


def test_names_that_one_system_takes_for_one_are_refused():
  for one, other in (("er", "ER"), ("stra\u00dfe", "STRASSE"), ("\u00e4", "a\u0308")):
    with pytest.raises(folders.FolderError, match="is the folder of"):
      folders.check_names([one, other], "learner")


def test_ordinary_names_are_allowed():
  folders.check_names(
      ["er", "der++", "resnet18 supervised, meta", "every 43, 4 times the cost", "0", "0.25",
       "\u5b66\u7fd2", "x" * 120, "state2", "a..b", "console"], "row")
