# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The Dockerfile is one that docker reads, and its versions are those that setup.cfg allows."""

from __future__ import annotations

import configparser
import fnmatch
import pathlib
import re

from packaging import requirements
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
INSTRUCTIONS = {"ARG", "FROM", "RUN", "COPY", "WORKDIR", "ENV", "ENTRYPOINT", "CMD"}


@pytest.fixture(name="lines", scope="module")
def _lines():
  """[instruction, arguments] of each, lines that end with a backslash put together."""
  text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
  kept = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
  return [line.split(None, 1) for line in kept]


def _versions(lines):
  return dict(value.split("=", 1) for name, value in lines if name == "ARG" and "=" in value)


def test_every_line_is_an_instruction_and_the_image_is_pinned(lines):
  assert {name for name, _ in lines} <= INSTRUCTIONS
  assert [value for name, value in lines if name == "FROM"] == [
      "tensorflow/tensorflow:${TENSORFLOW}-gpu"]
  assert re.fullmatch(r"\d+\.\d+\.\d+", _versions(lines)["TENSORFLOW"])


def test_its_versions_are_those_of_setup_cfg(lines):
  found, config = _versions(lines), configparser.ConfigParser()
  config.read(ROOT / "setup.cfg")
  wanted = [requirements.Requirement(line) for line in
            config["options"]["install_requires"].splitlines()
            if line.strip() and not line.lstrip().startswith("#")]
  here = [r for r in wanted if r.name == "tensorflow"
          and r.marker.evaluate({"python_version": found["PYTHON"]})]
  assert len(here) == 1 and here[0].specifier.contains(found["TENSORFLOW"])
  python = requirements.Requirement("python" + config["options"]["python_requires"])
  assert python.specifier.contains(found["PYTHON"])


def test_what_is_copied_is_there_and_not_ignored(lines):
  ignored = (ROOT / ".dockerignore").read_text().split()
  let_in = [line[1:] for line in ignored if line.startswith("!")]
  for name, value in lines:
    if name == "COPY":
      for source in value.split()[:-1]:
        assert (ROOT / source).exists() and any(fnmatch.fnmatch(source, p) for p in let_in), source
  assert ignored[0] == "*"
