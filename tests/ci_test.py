# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The whole check: its steps, its last line, and what the code host runs."""

from __future__ import annotations

import configparser
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
RUN = ROOT / ".ci" / "run"
SCRIPTS = [RUN, *sorted((ROOT / "tools").glob("*.sh"))]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_script_is_one_that_bash_reads(script):
  done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)
  assert done.returncode == 0, done.stderr


def test_the_whole_check_ends_with_the_tests_so_that_pytest_has_the_last_line():
  text = RUN.read_text(encoding="utf-8")
  steps = re.findall(r'^step "([\w ]+)"', text, re.MULTILINE)
  assert steps == ["style", "types", "documentation", "wheel", "lifelong part", "Keras 3",
                   "tests"]
  last = text.strip().splitlines()[-1]
  assert last.startswith('exec bash "$tools/test.sh"') and "--cov-fail-under=90" in last
  assert all((ROOT / "tools" / name).exists() for name in re.findall(r"\$tools/([\w.]+)", text))


def test_the_code_host_runs_the_whole_check_and_each_python_that_is_supported():
  yaml = pytest.importorskip("yaml", reason="needs PyYAML, which the extra beam installs")
  jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
  commands = [step.get("run") for step in jobs["check"]["steps"]]
  assert "bash .ci/run" in commands
  config = configparser.ConfigParser()
  config.read(ROOT / "setup.cfg")
  supported = set(re.findall(r"Python :: (3\.\d+)", config["metadata"]["classifiers"]))
  setup, = (step["with"] for step in jobs["check"]["steps"] if "python-version" in
            step.get("with", {}))
  tried = {setup["python-version"], *jobs["tests"]["strategy"]["matrix"]["python"],
           *(line.split(":")[0] for line in jobs["tensorflows"]["strategy"]["matrix"]["line"])}
  assert tried == supported


def test_every_page_is_on_the_site_and_every_entry_is_a_page():
  yaml = pytest.importorskip("yaml", reason="needs PyYAML, which the extra beam installs")
  config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

  def pages(entry):
    if isinstance(entry, str):
      return [entry]
    return [page for one in (entry.values() if isinstance(entry, dict) else entry)
            for page in pages(one)]

  listed = pages(config["nav"])
  assert len(listed) == len(set(listed))
  docs = ROOT / "docs"
  there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
  # Pages of single results are linked from results/README.md.
  assert set(listed) == {page for page in there if not page.startswith("results/")
                         or page == "results/README.md"}
  assert config["strict"] and config["theme"]["font"] is False
