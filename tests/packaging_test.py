# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The wheel holds all that a checkout has, and works outside one."""

from __future__ import annotations

import configparser
import os
import pathlib
import runpy
import shutil
import subprocess
import sys
import zipfile

from packaging import requirements
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PARTS = ("setup.cfg", "setup.py", "pyproject.toml", "LICENSE", "README.md", "suite",
         "tfds_builders", "gin")
BESIDE_BUILDERS = (".md", ".bib", ".txt", ".tsv", ".csv", ".json")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
  """Builds the wheel from a copy: a build/ folder in the checkout would leak into later ones."""
  folder = tmp_path_factory.mktemp("wheel")
  for part in filter(lambda p: (ROOT / p).exists(), PARTS):
    if (ROOT / part).is_dir():
      shutil.copytree(ROOT / part, folder / "src" / part,
                      ignore=shutil.ignore_patterns("__pycache__"))
    else:
      (folder / "src").mkdir(exist_ok=True)
      shutil.copy(ROOT / part, folder / "src" / part)
  done = subprocess.run(  # As pip does it.
      [sys.executable, "-c", "from setuptools import build_meta; build_meta.build_wheel('..')"],
      cwd=folder / "src", capture_output=True, text=True, check=False)
  assert done.returncode == 0, done.stderr
  built, = folder.glob("*.whl")
  return zipfile.ZipFile(built)


def files_under(folder, endings):
  return {p.relative_to(ROOT).as_posix() for p in (ROOT / folder).rglob("*")
          if p.suffix in endings and "__pycache__" not in p.parts}


def test_the_wheel_installs_two_packages_and_no_gin(wheel):
  top = {name.split("/")[0] for name in wheel.namelist()}
  assert {t for t in top if not t.endswith(".dist-info")} == {"suite", "tfds_builders"}


def test_the_wheel_holds_every_module(wheel):
  modules = files_under("suite", (".py",)) | files_under("tfds_builders", (".py",))
  assert modules == {name for name in wheel.namelist() if name.endswith(".py")}


def test_the_wheel_holds_every_gin_file_as_suite_gin(wheel):
  shipped = {name for name in wheel.namelist() if name.endswith(".gin")}
  assert shipped == {f"suite/{name}" for name in files_under("gin", (".gin",))}
  assert shipped


def test_the_wheel_holds_tables_and_what_lies_beside_builders(wheel):
  beside = files_under("tfds_builders", BESIDE_BUILDERS)
  tables = [files_under(folder, (".csv",))
            for folder in ("suite/data/streams/tables", "suite/reporting")]
  tables += [files_under(folder, (".html", ".css", ".js", ".xml"))
             for folder in ("suite/reporting/formats/page", "suite/beside/curation/steps/page")]
  assert all(tables)
  missing = beside.union(*tables) - set(wheel.namelist())
  assert not missing


def test_the_wheel_says_that_it_has_types(wheel):
  assert {"suite/py.typed", "tfds_builders/py.typed"} <= set(wheel.namelist())


def test_the_wheel_says_what_it_is(wheel):
  info, = {name.split("/")[0] for name in wheel.namelist() if name.endswith(".dist-info/METADATA")}
  metadata = wheel.read(f"{info}/METADATA").decode()
  assert "Name: lifelong-suite\n" in metadata
  assert "Requires-Python: <3.14,>=3.10\n" in metadata.replace(">=3.10,<3.14", "<3.14,>=3.10")
  assert "suite = suite.cli:main" in wheel.read(f"{info}/entry_points.txt").decode()
  assert any(name.startswith(info) and name.endswith("LICENSE") for name in wheel.namelist())


def test_the_unpacked_wheel_lists_its_run_files_in_an_empty_folder(wheel, tmp_path):
  wheel.extractall(tmp_path / "site")
  (tmp_path / "empty").mkdir()
  done = subprocess.run([sys.executable, "-m", "suite", "list", "--names"], cwd=tmp_path / "empty",
                        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
                        capture_output=True, text=True, check=False)
  assert done.returncode == 0, done.stderr
  runs = ROOT / "gin" / "runs"
  names = {p.relative_to(runs).with_suffix("").as_posix() for p in runs.rglob("*.gin")}
  assert set(done.stdout.splitlines()) == names


def test_every_dependency_is_explained():
  config = configparser.ConfigParser()
  config.read(ROOT / "setup.cfg")
  wanted = [config["options"]["install_requires"], *config["options.extras_require"].values()]
  text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
  for line in "\n".join(wanted).split():
    assert f"`{line}`" in text, f"docs/dependencies.md does not give the reason for {line}"


@pytest.fixture(name="required")
def _required(monkeypatch):
  """required(line, python): name -> requirements of setup.cfg there, as setup.py gives them."""
  config = configparser.ConfigParser()
  config.read(ROOT / "setup.cfg")

  def required(line, python):
    given = {}
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("LIFELONG_TENSORFLOW", line)
    monkeypatch.setattr("setuptools.setup", lambda **arguments: given.update(arguments))
    runpy.run_path("setup.py")
    texts = given.get("install_requires", config["options"]["install_requires"].split("\n"))
    found = {}
    for one in map(requirements.Requirement, filter(None, texts)):
      if one.marker is None or one.marker.evaluate({"python_version": python}):
        found.setdefault(one.name, []).append(str(one.specifier))
    return found

  return required


@pytest.mark.parametrize("line, python, newer", [
    ("", "3.10", False), ("", "3.11", False), ("", "3.12", True), ("", "3.13", True),
    ("newer", "3.10", True), ("newer", "3.11", True), ("newer", "3.13", True)])
def test_each_python_gets_one_tensorflow(required, line, python, newer):
  found = required(line, python)
  assert found["tensorflow"] == ["<2.22,>=2.16" if newer else "<2.16,>=2.15"]
  assert ("tf-keras" in found, "tensorflow-addons" in found) == (newer, not newer)
  # Before 2.19, tf-keras gives Python 3.12's random numbers a float.
  assert found.get("tf-keras", [""])[1:] == ([">=2.19"] if python in ("3.12", "3.13") else [])


def test_a_part_has_fewer_requirements_of_the_same_releases(required, monkeypatch):
  whole = required("", "3.11")
  for part, has, lacks in (
      ("lifelong", {"numpy", "scipy", "pyarrow"}, {"tensorflow", "scikit-learn", "keras-cv"}),
      ("builders", {"tensorflow-datasets", "tensorflow", "pillow", "scipy", "h5py"},
       {"gin-config", "keras-cv", "tensorflow-addons"})):
    monkeypatch.setenv("LIFELONG_PART", part)
    found = required("", "3.11")
    assert has <= set(found) and not lacks & set(found)
    assert found == {name: whole[name] for name in found}
  monkeypatch.setenv("LIFELONG_PART", "half")
  with pytest.raises(ValueError, match="LIFELONG_PART is 'half'; allowed are lifelong, builders"):
    required("", "3.11")


def test_another_line_is_refused(required):
  with pytest.raises(ValueError, match="LIFELONG_TENSORFLOW is '2.19'; allowed is 'newer'"):
    required("2.19", "3.11")


FAKE_PYTHONS = {"python3.11": "exit 127", "python3.10": "echo 3.10", "python3.13": "echo 3.13",
                "python3": "echo 3.8"}


def source_venv(tmp_path, fakes, lines, **env):
  """Runs `lines` of bash after sourcing tools/_venv.sh, with fake interpreters found first."""
  (tmp_path / "bin").mkdir()
  for name, body in fakes.items():
    (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{body}\n")
    (tmp_path / "bin" / name).chmod(0o755)
  return subprocess.run(
      ["bash", "-euc", f"source {ROOT}/tools/_venv.sh; {lines}"], cwd=tmp_path, text=True,
      env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path), **env},
      capture_output=True, check=False)


def test_the_tools_take_the_first_python_that_starts_and_is_in_range(tmp_path):
  done = source_venv(tmp_path, FAKE_PYTHONS, "find_python; echo $PYTHON")
  assert (done.returncode, done.stdout) == (0, "python3.10\n"), done.stderr


def test_the_tools_take_a_newer_python_where_there_is_no_older_one(tmp_path):
  fakes = {**FAKE_PYTHONS, "python3.10": "exit 127"}
  done = source_venv(tmp_path, fakes, "find_python; echo $PYTHON")
  assert (done.returncode, done.stdout) == (0, "python3.13\n"), done.stderr


def test_the_tools_say_which_pythons_were_tried_and_exit_with_2(tmp_path):
  fakes = {**FAKE_PYTHONS, "python3.10": "echo 3.14",
           "python3.13": "[ \"$2\" = 'import ensurepip, venv' ] && exit 1; echo 3.13"}
  done = source_venv(tmp_path, fakes, "find_python")
  assert done.returncode == 2
  for line in ("python3.11: exists but does not start", "python3.10: is 3.14, outside 3.10 to 3.13",
               "python3.13: is 3.13, but has no venv module", "python3: is 3.8, outside",
               "LIFELONG_PYTHON="):
    assert line in done.stderr


def test_the_tools_install_once_and_again_when_the_packaging_changed(tmp_path):
  venv = tmp_path / "venv"
  (venv / "bin").mkdir(parents=True)
  (venv / "bin" / "python").write_text(
      f"#!/bin/bash\n[ $1 = -c ] && echo 3.11 || echo \"$@\" >> {tmp_path}/calls\n")
  (venv / "bin" / "python").chmod(0o755)
  env = {"LIFELONG_VENV": "venv"}
  twice_and_less = 'venv_install "[dev]"; venv_install "[dev]"; venv_install ""'
  done = source_venv(tmp_path, {}, twice_and_less, **env)
  calls = (tmp_path / "calls").read_text().splitlines()
  assert done.returncode == 0 and len(calls) == 1 and calls[0].endswith(f"-e {ROOT}[dev]"), done
  (venv / ".lifelong-suite").write_text("of another setup.cfg\n")
  shutil.rmtree(tmp_path / "bin")
  source_venv(tmp_path, {}, 'venv_install ""', **env)
  assert len((tmp_path / "calls").read_text().splitlines()) == 2


def test_the_page_of_data_sets_is_what_the_rows_say(monkeypatch, capsys):
  monkeypatch.setattr(sys, "argv", ["make_data_table.py", "--check"])
  monkeypatch.syspath_prepend(ROOT / "tools")
  with pytest.raises(SystemExit) as end:
    runpy.run_path(str(ROOT / "tools" / "make_data_table.py"), run_name="__main__")
  assert not end.value.code, capsys.readouterr().err
