# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Code of README.md and docs/ runs as it stands or is in its file; paths in all pages exist.

`tools/doc_blocks.py` says which block is run how; tests/doc_commands_test.py runs the commands. A
block is run in this process. Where it leaves the length of an embedded benchmark open, the
benchmark is short. Of several learners all are made, and the last is trained.
"""

from __future__ import annotations

import pathlib
import re
import runpy
import sys
import types

import pytest

import suite
from suite import cli
from suite import experiment
from suite.data.digits import digits
from suite.running import object_run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import doc_blocks

ROOT = doc_blocks.ROOT

PAGES = doc_blocks.pages()
BLOCKS = [pytest.param(block, id=block.name) for page in PAGES for block in doc_blocks.blocks(page)
          if block.treatment in (doc_blocks.RUN, doc_blocks.COMPARED)]
PATH = re.compile(r"`((?:suite|gin|tests|tools|docs|tfds_builders)/[\w./]*)(?::[\w.]+)?`")


@pytest.fixture(name="short")
def _short(block, monkeypatch):
  """A bucket, two tasks of 64 training images, and 100 samples, unless a block says more.

  Two tasks in any case where classes make them, since the net is traced for each.
  """
  of_classes = suite.buckets.of_classes
  monkeypatch.setattr(suite.buckets, "of_classes", lambda data, num_tasks, **settings: of_classes(
      data, num_tasks=2, **settings))
  # A second bucket replays rows, in a second graph; the rule of a memory of a page is to have one.
  monkeypatch.setattr(digits.buckets, "__defaults__", (2 if "place(" in block.code else 1,))
  monkeypatch.setattr(digits.nevis_stream, "__defaults__", (64,))
  monkeypatch.setattr(digits.nevis_stream, "__kwdefaults__", {"num_tasks": 2})
  monkeypatch.setattr(digits.sequence, "__defaults__", (100,))
  monkeypatch.setattr(object_run, "experiment", types.SimpleNamespace(run=_last_learner))
  run = suite.run

  def small(*arguments, params=None, **named):
    """A run file's net has a block."""
    if "digits/clear" in arguments:
      params = {**params, "conv4.conv4.blocks": 1, "conv4.conv4.filters": 4}
    return run(*arguments, **named, **({} if params is None else {"params": params}))

  monkeypatch.setattr(suite, "run", small)


def _last_learner(*, learners, **settings):
  *others, last = learners
  for name in others:
    learners[name]()
  experiment.run(learners=learners, only=last, **settings)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_runs_or_is_in_its_file(block, tmp_path, monkeypatch):
  if block.file:
    rest = iter((ROOT / block.file).read_text(encoding="utf-8").splitlines())
    missing = [line for line in block.code.splitlines() if line.strip() and line not in rest]
    assert not missing, f"{block.file} has no such line, or not in this order: {missing[0]}"
    return
  path = tmp_path / f"block.{'py' if block.language == 'python' else 'gin'}"
  path.write_text(block.code, encoding="utf-8")
  monkeypatch.chdir(tmp_path)
  if block.language == "python":
    runpy.run_path(str(path), run_name="__main__")
  else:
    last = re.findall(r"'(\w+)': %", block.code)[-1]
    assert cli.main(["run", str(path), "--gin_file", str(ROOT / "gin" / "debug.gin"),
                     "--gin_param", f"experiment.run.only='{last}'",
                     "--gin_param", "conv4.conv4.blocks=1"]) == 0
  assert list(tmp_path.glob("runs/**/records.jsonl"))


def test_every_path_that_a_page_names_exists():
  missing = []
  for page in PAGES:
    text = page.read_text(encoding="utf-8")
    named = {path for path in PATH.findall(text) if not re.search(r"[A-Z]{3}|/x\.py", path)}
    links = {link for link in re.findall(r"\]\(([^):#]+)\)", text) if "//" not in link}
    missing += [f"{page.name} names {path}" for path in sorted(named)
                if not (ROOT / path).exists()]
    missing += [f"{page.name} links {link}" for link in sorted(links)
                if not (page.parent / link).exists()]
  assert not missing, "\n".join(missing)
