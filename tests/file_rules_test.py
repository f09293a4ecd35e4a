# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rules for single files: licence, names, gin files, imports that must stay quick."""

from __future__ import annotations

import ast
import logging
import os
import pathlib
import re
import subprocess
import sys

import pytest

from suite.configs import gin_files
from suite.configs import run_facts
from suite.configs import run_files

ROOT = pathlib.Path(__file__).resolve().parents[1]
LICENCE = ("# Copyright 2026 The Lifelong Suite Authors. "
           "Licensed under the Apache License, Version 2.0.")
ALL = [*(path.relative_to(ROOT) for folder in ("suite", "tfds_builders", "tests", "tools")
         for path in sorted((ROOT / folder).rglob("*.py"))), pathlib.Path("setup.py")]


def test_every_file_has_its_licence():
  without = [str(path) for path in ALL
             if (ROOT / path).read_text(encoding="utf-8").split("\n", 1)[0] != LICENCE]
  assert not without, f"{without} must begin with this line:\n{LICENCE}"


def test_every_file_is_named_after_what_it_holds():
  vague = [str(path) for path in ALL
           if path.stem in ("utils", "util", "common", "helpers", "misc")]
  assert not vague, f"{vague}: name the file after what it holds"


def test_tests_have_no_packages_and_gin_no_python():
  assert not [str(p) for p in (ROOT / "tests").rglob("__init__.py")], "tests import by importlib"
  assert not [str(p) for p in (ROOT / "gin").rglob("*.py")], "gin/__init__.py would hide gin itself"


@pytest.mark.parametrize(
    "module", ["suite", "suite.cli", "suite.configs.gin_parse", "suite.contracts.tasks"])
def test_importing_what_people_start_with_leaves_tensorflow_alone(module):
  program = f"import sys, {module}; sys.exit('tensorflow' in sys.modules)"
  done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={**os.environ},
                        capture_output=True, text=True, check=False)
  assert done.returncode == 0, done.stderr or f"import {module} imports tensorflow"


def test_every_run_file_says_what_it_is_and_sets_nothing_in_vain(caplog):
  """tests/configs/trust_test.py parses them with gin."""
  problems = []
  for name in run_files.shipped():
    _, path = run_files.find(name)
    if not run_files.description(path):
      problems.append(f"{path}: begin with a comment that says what it runs")
    header = run_facts.read_header(name, path)
    if not (header.cost and header.data and header.gave
            and header.hardware in run_facts.HARDWARE):
      problems.append(
          f"{path}: say what it costs and gave, in a line '# Cost: TEXT | Hardware: cpu | Data: "
          "NAMES | Gave: TEXT'; 'not run' if nobody has run it")
    caplog.clear()
    with caplog.at_level(logging.WARNING):
      gin_files.scan([path])
    problems += [f"{path}: {record.getMessage()}" for record in caplog.records]
  assert not problems, "\n".join(problems)


def test_the_architecture_page_names_what_exists():
  page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
  named = re.findall(r"`([\w/]+\.py):([\w.]+)`", page)
  assert len(named) >= 10
  for file, name in named:
    nodes = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    for part in name.split("."):
      found = [node for node in nodes if getattr(node, "name", "") == part]
      assert found, f"docs/architecture.md names {file}:{name}, which does not exist"
      nodes = found[0].body
