# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Mistakes of gin files are found before anything they name is imported."""

from __future__ import annotations

import pathlib

import pytest

from suite.configs import gin_bindings
from suite.configs import gin_files

HEADER = "from __gin__ import dynamic_registration\nfrom not_there import toy\n"


def test_root_holds_the_gin_folder():
  assert (gin_files.root() / "gin" / "runs").is_dir()


def test_scan_reads_includes_in_place_and_imports_nothing(shelf):
  shelf("learners/er.gin", HEADER + "EPOCHS = %gin.REQUIRED\ntoy.fit.epochs = %EPOCHS\n")
  run = shelf("runs/a.gin", HEADER + "include 'gin/learners/er.gin'\nEPOCHS = 3\n")
  found = gin_files.scan([run])
  assert found.files == [str(run), str(run.parents[1] / "learners" / "er.gin")]
  assert found.macros["EPOCHS"].value == 3
  assert found.macros["EPOCHS"].where == f"{run}, line 4"
  assert found.parameters["toy.fit.epochs"].value == "%EPOCHS"
  assert found.header("toy.fit.epochs = 4") == HEADER.splitlines()
  assert found.header("EPOCHS = 4") == HEADER.splitlines()[:1]


def test_a_binding_of_the_command_line_wins(shelf):
  run = shelf("runs/a.gin", "N = %gin.REQUIRED\ntoy.f.n = %N\n")
  found = gin_files.scan([run], ["N=4"])
  assert (found.macros["N"].value, found.macros["N"].where) == (4, "the command line")


def test_a_misspelled_macro_is_refused_with_the_nearest(shelf):
  run = shelf("runs/a.gin", "EPOCHS = 2\nSTEPS = 1\ntoy.f.x = %EPOCHS\ntoy.f.y = %STEPS\n")
  message = r"the macro 'EPOCHSS', which no file of this run declares\. Nearest: EPOCHS, STEPS\."
  with pytest.raises(gin_files.ConfigError, match=message):
    gin_files.scan([run], ["EPOCHSS=3"])


def test_all_that_is_required_and_unset_is_named(shelf):
  run = shelf("runs/a.gin",
              "A = %gin.REQUIRED\nB = 1\ntoy.f.x = [%A, %B]\ntoy.f.n = %gin.REQUIRED\n")
  with pytest.raises(gin_files.ConfigError) as error:
    gin_files.scan([run])
  assert f"A  (required by {run}, line 1)" in str(error.value)
  assert f"toy.f.n  (required by {run}, line 4)" in str(error.value)
  assert "--gin_param A=VALUE" in str(error.value)
  gin_files.scan([run], ["A=1", "toy.f.n=2"])


def test_a_macro_that_is_read_but_never_set_is_refused(shelf):
  run = shelf("runs/a.gin", "EPOCHS = 1\ntoy.f.x = {'n': (%EPOCHSS, 1)}\n")
  with pytest.raises(gin_files.ConfigError, match=r"reads %EPOCHSS, .* Nearest: EPOCHS\."):
    gin_files.scan([run])


@pytest.mark.parametrize("binding, message", [
    ("VARIANT=tiny", r"quote it: --gin_param \"VARIANT='tiny'\""),
    ("VARIANT", "takes X=Y"),
    ("VARIANT=", "takes X=Y"),
    ("VARIANT='a'\nVARIANT='b'", "one binding X=Y"),
    ("import os", "one binding X=Y"),
])
def test_a_binding_that_is_none_is_explained(shelf, binding, message):
  run = shelf("runs/a.gin", "VARIANT = 'full'\ntoy.f.x = %VARIANT\n")
  with pytest.raises(gin_files.ConfigError, match=message):
    gin_files.scan([run], [binding])


def test_a_missing_include_names_the_line_and_the_nearest(shelf):
  shelf("learners/replay.gin", "")
  run = shelf("runs/a.gin", "\ninclude 'gin/learners/reply.gin'\n")
  message = r"line 2: there is no file 'gin/learners/reply\.gin'.*: gin/learners/replay\.gin"
  with pytest.raises(gin_files.ConfigError, match=message):
    gin_files.scan([run])


def test_files_that_include_each_other_are_refused(shelf):
  run = shelf("runs/a.gin", "include 'gin/runs/b.gin'\n")
  shelf("runs/b.gin", "include 'gin/runs/a.gin'\n")
  with pytest.raises(gin_files.ConfigError, match="includes itself"):
    gin_files.scan([run])


def test_a_file_includes_the_file_beside_it(tmp_path, monkeypatch):
  (tmp_path / "conf").mkdir()
  (tmp_path / "conf" / "a.gin").write_text("include 'b.gin'\n")
  (tmp_path / "conf" / "b.gin").write_text("A = 1\n")
  assert gin_files.scan([tmp_path / "conf" / "a.gin"]).macros["A"].value == 1
  monkeypatch.chdir(tmp_path)
  assert gin_files.scan([pathlib.Path("conf", "a.gin")]).macros["A"].value == 1
  (tmp_path / "b.gin").write_text("A = 2\n")  # The current folder goes first, as gin has it.
  assert gin_files.scan([pathlib.Path("conf", "a.gin")]).macros["A"].value == 2


@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize("text, message", [
    ("A = %A\n", r"A = %A  \(set by .*a\.gin, line 1\)"),
    ("A = %B\nB = %C\nC = %A\n", r"A = %B .*line 1\)\n  B = %C .*line 2\)\n  C = %A .*line 3\)"),
    ("A = [1, {'x': %B}]\nB = (%A,)\n", "lead to one another and have no value")])
def test_macros_that_lead_to_one_another_are_refused(text, message, checks, tmp_path):
  (tmp_path / "a.gin").write_text(text)
  with pytest.raises(gin_files.ConfigError, match=message):
    gin_files.scan([tmp_path / "a.gin"], checks=checks)


def test_macros_are_followed_to_their_end():
  history = gin_files.scan_text("A = %B\nB = %C\nC = 3\nD = %E\nF = %F\n").history
  macro = gin_bindings.GinReference.to_macro
  assert gin_bindings.followed(history, macro("A")) == (3, ["A", "B", "C"])
  assert gin_bindings.followed(history, macro("D")) == (None, ["D", "E"])
  assert gin_bindings.followed(history, macro("F")) == (None, ["F", "F"])
  assert gin_bindings.followed(history, 5) == (5, [])


def test_a_syntax_error_names_file_and_line(shelf):
  run = shelf("runs/a.gin", "A = 1\ntoy.f.x == 3\n")
  with pytest.raises(gin_files.ConfigError, match=r"Cannot read .*a\.gin, line 2"):
    gin_files.scan([run])


def test_a_file_that_is_not_text_is_refused(shelf):
  run = shelf("runs/a.gin", "A = 1\n")
  run.write_bytes(b"A = 1  # \x87\n")
  with pytest.raises(gin_files.ConfigError, match=r"Cannot read .*a\.gin: it is not text in UTF-8"):
    gin_files.scan([run])


def test_an_extra_file_is_found_from_the_current_folder_or_the_root(shelf, tmp_path, monkeypatch):
  debug = shelf("debug.gin", "")
  (tmp_path / "elsewhere").mkdir()
  monkeypatch.chdir(tmp_path / "elsewhere")
  assert gin_files.find_file("gin/debug.gin", "--gin_file") == debug
  with pytest.raises(gin_files.ConfigError, match=r"--gin_file: there is no file 'gin/debg\.gin'"):
    gin_files.find_file("gin/debg.gin", "--gin_file")


def test_a_suggestion_is_never_the_name_itself():
  assert gin_files.nearest("clear", ["clear", "clears", "fluid"]) == "Nearest: clears."
  assert gin_files.nearest("clear", ["clear", "fluid"]) == "Known: fluid."
  assert gin_files.nearest("clear", ["clear"]) == "None is known."
  assert gin_files.close("clear", ["clear", "fluid"]) == ""
