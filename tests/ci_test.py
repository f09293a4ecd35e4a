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


def test_the_whole_check_fails_if_a_step_does_and_ends_with_the_line_of_pytest(tmp_path):
  text = RUN.read_text(encoding="utf-8")
  assert re.findall(r'^step "([\w ]+)"', text, re.MULTILINE) == [
      "style", "types", "documentation", "tests"]
  assert re.findall(r'^beside "?([\w ]+?)"? "', text, re.MULTILINE) == [
      "Keras 3", "lifelong part", "wheel"]
  assert "--cov-fail-under=90" in text
  tools = re.findall(r"\$tools/([\w.]+)", text)
  assert all((ROOT / "tools" / name).exists() for name in tools)

  checkout = tmp_path / "checkout"
  (checkout / "tools").mkdir(parents=True)
  (checkout / ".ci").mkdir()
  (checkout / ".ci" / "run").write_text(text)
  (checkout / "tools" / "_venv.sh").write_text(
      f'ROOT="{checkout}"; VENV="{checkout}"\nvenv_install() {{ :; }}\n'
      'python_version() { echo 3.11; }\n')
  (checkout / "bin").mkdir()
  (checkout / "bin" / "python").symlink_to("/bin/true")

  def check(failing):
    for name in set(tools) - {"_venv.sh"}:
      (checkout / "tools" / name).write_text(
          f"echo the last line of {name}; exit {3 if name == failing else 0}\n")
    done = subprocess.run(["bash", str(checkout / ".ci" / "run")], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout.splitlines()[-1], done.stderr

  code, last, _ = check("")
  assert (code, last) == (0, "the last line of test.sh")
  for failing in ("newer_line.sh", "light_part.sh", "wheel_smoke.sh", "test.sh"):
    code, last, errors = check(failing)
    assert (code, last) == (3, "the last line of test.sh"), failing
    assert failing == "test.sh" or f"the last line of {failing}" in errors
  assert check("docs.sh")[0] == 3


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
  stubs = {page for page in there if (docs / page).read_text().startswith("---\nmoved: ")}
  # Pages of single results are linked from results/README.md.
  assert set(listed) == {page for page in there - stubs if not page.startswith("results/")
                         or page == "results/README.md"}
  assert len(stubs) > 20
  for stub in stubs:
    text = (docs / stub).read_text()
    target = text.splitlines()[1].removeprefix("moved: ")
    page = ((docs / stub).parent / target.partition("#")[0]).resolve()
    assert page.is_file() and f"]({target})" in text, f"{stub} does not link {target}"
    assert (page.relative_to(docs).as_posix() in listed if page.is_relative_to(docs)
            else True), f"{stub} leads to {target}, which is not on the site"
  assert config["strict"] and config["theme"]["font"] is False
