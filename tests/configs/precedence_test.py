# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Precedence decides which setting counts (the user's, the run file's, a shelf's), not order."""

from __future__ import annotations

import collections
import importlib
import itertools
import json

import gin
from gin import config_parser
import pytest

from suite import cli
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import run_files

HEADER = "from __gin__ import dynamic_registration\nfrom toybox import toy\n"
TOY = "def run(n=0, m=0, k=0):\n  return n, m, k\n"


@pytest.fixture(name="write")
def _write(tmp_path, monkeypatch):
  """A folder with gin/ in the place of the shipped one, beside a library; write adds a file."""
  (tmp_path / "toybox").mkdir()
  (tmp_path / "toybox" / "__init__.py").write_text("")
  (tmp_path / "toybox" / "toy.py").write_text(TOY)
  monkeypatch.setattr(gin_files, "root", lambda: tmp_path)
  monkeypatch.chdir(tmp_path)
  monkeypatch.syspath_prepend(str(tmp_path))

  def write(name, text):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + text)
    return path

  yield write
  for name in ("toybox", "toybox.toy"):
    importlib.sys.modules.pop(name, None)


def _read(paths, bindings=()):
  """The arguments of toy.run, which `scan` and gin must see alike."""
  found = gin_parse.parse(paths, bindings)
  toy = importlib.import_module("toybox.toy")
  values = gin_parse.configured(toy.run, {})()
  for argument, value in zip("nmk", values):
    if f"toy.run.{argument}" in found.parameters:
      setting = found.parameters[f"toy.run.{argument}"].value
      if isinstance(setting, str):
        setting = found.macros[setting[1:]].value
      assert setting == value
  return values


USES = "toy.run.n = %N\n"


@pytest.mark.parametrize("lines", itertools.permutations(
    ["include 'gin/learners/a.gin'\n", "include 'gin/data/b.gin'\n", "N = 2\n", USES]))
def test_the_run_file_goes_before_shelves_wherever_they_are_included(write, lines):
  write("gin/learners/a.gin", "N = 1\n")
  write("gin/data/b.gin", "N = %gin.REQUIRED\n")
  assert _read([write("gin/runs/r.gin", "".join(lines))])[0] == 2


@pytest.mark.parametrize("order", itertools.permutations(["learners/a", "learners/b", "runs/base"]))
def test_a_run_that_another_includes_goes_before_shelves_that_the_other_includes(write, order):
  write("gin/learners/a.gin", "N = 1\nM = 1\nK = 1\n")
  write("gin/learners/b.gin", "N = %gin.REQUIRED\nM = %gin.REQUIRED\nK = %gin.REQUIRED\n")
  write("gin/runs/base.gin", "toy.run.m = %M\ntoy.run.k = %K\nN = 2\nM = 2\n" + USES)
  includes = "".join(f"include 'gin/{name}.gin'\n" for name in order)
  for text in (includes + "M = 3\n", "M = 3\n" + includes):
    assert _read([write("gin/runs/r.gin", text)]) == (2, 3, 1)


def test_of_two_shelves_the_later_counts_and_what_only_asks_for_a_value_never(write):
  write("gin/learners/a.gin", "N = 1\nM = 1\n")
  write("gin/learners/b.gin", "N = %gin.REQUIRED\nM = 2\n")
  text = "include 'gin/learners/{}.gin'\ninclude 'gin/learners/{}.gin'\ntoy.run.m = %M\n" + USES
  assert _read([write("gin/runs/r.gin", text.format("a", "b"))]) == (1, 2, 0)
  assert _read([write("gin/runs/r.gin", text.format("b", "a"))]) == (1, 1, 0)


def test_the_users_files_and_bindings_go_before_the_run_file_but_a_shelf_does_not(write):
  run = write("gin/runs/r.gin", "toy.run.m = %M\ntoy.run.k = %K\nN = 2\nM = 2\nK = 2\n" + USES)
  shelf = write("gin/learners/a.gin", "N = 1\nM = %gin.REQUIRED\n")
  part = write("part.gin", "K = 3\n")
  mine = write("mine.gin", "include 'part.gin'\ninclude 'gin/learners/a.gin'\nM = 3\n")
  assert _read([run, shelf]) == (2, 2, 2)
  assert _read([run, part]) == (2, 2, 3)
  assert _read([run, mine]) == _read([run, shelf, mine]) == _read([run, mine, shelf]) == (2, 3, 3)
  assert _read([run, mine, shelf], ["N=4", "N=5"]) == (5, 3, 3)


def test_a_file_of_a_shelf_and_of_the_user_has_the_users_rank(write):
  write("gin/debug.gin", "N = 3\n")
  write("gin/learners/a.gin", "include 'gin/debug.gin'\n")
  run = write("gin/runs/r.gin", "include 'gin/learners/a.gin'\nN = 2\n" + USES)
  assert _read([run])[0] == 2
  assert _read([run, gin_files.find_file("gin/debug.gin", "--gin_file")])[0] == 3


@pytest.mark.parametrize("chain", [["runs/a"], ["runs/a", "learners/b"], ["runs/a", "b", "c"]])
def test_a_file_that_includes_itself_is_one_line(write, chain):
  for name, following in zip(chain, [*chain[1:], chain[0]]):
    path = write(f"gin/{name}.gin", f"include 'gin/{following}.gin'\n")
  with pytest.raises(gin_files.ConfigError) as error:
    gin_files.scan([gin_files.root() / "gin" / f"{chain[0]}.gin"])
  assert f"{path}, line 3 includes 'gin/runs/a.gin', which includes itself" in str(error.value)
  assert "\n" not in str(error.value)


def test_messages_name_the_file_and_the_line_behind_includes_and_values_that_do_not_count(write):
  shelf = write("gin/learners/a.gin", "N = %gin.REQUIRED\ntoy.run.n = \\\n    %N\ntoy.run.o = 1\n")
  run = write("gin/runs/r.gin", "include 'gin/learners/a.gin'\nN = 2\n")
  with pytest.raises(gin_files.ConfigError, match=r"toy\.run has no parameter 'o'") as error:
    gin_parse.parse([run])
  assert f"In {shelf}, line 6:" in str(error.value)
  shelf.write_text(HEADER + "toy.run.n = %N\n")
  run.write_text(HEADER + "include 'gin/learners/a.gin'\nN = 2\n\ntoi.run.n = 3\n")
  message = r"r\.gin, line 6: no import gives the name 'toi'"
  with pytest.raises(gin_files.ConfigError, match=message):
    gin_parse.parse([run])


def test_gin_gets_of_a_shelf_only_what_the_run_reads(write):
  write("gin/learners/a.gin", "from not_there import other\nN = 1\nFREE = %gin.REQUIRED\n"
                              "other.run.n = %FREE\n")
  text = ("from suite import experiment\ninclude 'gin/learners/a.gin'\n"
          "experiment.run.protocol = @toy.run\n" + USES)
  gin_parse.parse([write("gin/runs/r.gin", text)])
  bound = gin_parse.config_text()
  assert "not_there" not in bound and "FREE" not in bound and "N = 1" in bound
  run = write("gin/runs/s.gin", text + "toy.run.m = %FREE\n")
  with pytest.raises(gin_files.ConfigError, match=r"Required and not set:\s+FREE  \(required by"):
    gin_parse.parse([run])
  assert gin_parse.parse([run], ["FREE=2"]).macros["FREE"].value == 2
  with pytest.raises(gin_files.ConfigError, match="Nothing in this run reads\\s+FREE"):
    gin_parse.parse([write("gin/runs/t.gin", text)], ["FREE=2"])


@pytest.mark.parametrize("name", ["clear/table1_linear", "fluid/published"])
def test_each_file_is_parsed_once_by_the_suite_and_once_by_gin(name, monkeypatch):
  seen, made = collections.Counter(), config_parser.ConfigParser.__init__

  def counted(self, text, delegate):
    name = getattr(text, "name", text)
    if name != text or "\n" in text:  # Gin also parses single values.
      seen[(type(delegate).__module__, name)] += 1
    made(self, text, delegate)

  monkeypatch.setattr(config_parser.ConfigParser, "__init__", counted)
  gin_files._parsed.cache_clear()
  found = gin_parse.parse([run_files.shipped()[name]])
  assert set(seen.values()) == {1}
  # The table of methods' values is read besides files.
  assert sum(reader == "gin.config" for reader, _ in seen) == len(found.files) + 1


def test_a_learner_of_a_shelf_joins_a_run_and_sets_nothing_else(tmp_path):
  """The stored configuration is what is used: that of the run, and the learner."""
  learners = "experiment.run.learners={'mir': %MIR}"
  args = ["run", "digits/clear_table", "--gin_file", "gin/learners/gradient.gin", "--gin_file",
          "gin/debug.gin", "--gin_param", learners, "--gin_param", "NUM_BUCKETS=1",
          "--workdir", str(tmp_path / "w")]
  for name in ("EPOCHS", "MEMORY"):
    assert f"{name} =" in run_files.shipped()["digits/clear_table"].read_text()
  assert cli.main(args) == 0
  assert json.loads((tmp_path / "w" / "mir" / "summary.json").read_text())["run"] == "mir"
  bound = gin_files.scan_text((tmp_path / "w" / "config.gin").read_text()).macros
  used = gin_files.scan_text((tmp_path / "w" / "operative_config.gin").read_text()).macros
  given = gin_files.scan([run_files.shipped()["digits/clear_table"]]).macros
  assert {bound[name].value for name in ("MEMORY", "RATE")} == {250, 0.05}
  assert len(used) > 5
  for name, setting in used.items():
    assert setting.value == bound[name].value
    if name in given and name not in ("NUM_BUCKETS", "WEIGHTS"):  # Ours and debug.gin's.
      assert setting.value == given[name].value
  gin.clear_config()


def test_a_learner_that_the_run_does_not_have_is_one_line_with_the_nearest(capsys):
  assert cli.main(["run", "digits/clear_table", "--gin_param", "experiment.run.only='agen'"]) == 2
  line = capsys.readouterr().err.strip()
  assert "experiment.run.only (the command line) has 'agen'; the learners of this run are" in line
  assert line.endswith("Nearest: agem.") and "\n" not in line


def test_a_setting_that_a_method_does_not_have_is_one_line_with_the_nearest(capsys):
  args = ["run", "digits/clear_table", "--gin_param", "gem.Agem.sample_sise=3"]
  assert cli.main(args) == 2
  line = capsys.readouterr().err.strip().splitlines()[-1]
  assert "gem.Agem has no parameter 'sample_sise'; it has" in line
  assert "Nearest: sample_size" in line
