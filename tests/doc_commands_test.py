# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The commands of all pages: those that are run, those that are not, and the list of blocks.

The commands of a page run in order in one folder, with the quickstart cut to two small tasks.
"""

from __future__ import annotations

import glob
import pathlib
import re
import runpy
import shutil
import sys

import pytest

from suite import cli
from suite.configs import run_files
from suite.running import this_process

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import doc_blocks

ROOT = doc_blocks.ROOT

BLOCKS = {page: doc_blocks.blocks(page) for page in doc_blocks.pages()}
IN_ORDER = [pytest.param([block for block in blocks if block.treatment == doc_blocks.IN_ORDER],
                         id=page.relative_to(ROOT).as_posix())
            for page, blocks in BLOCKS.items()
            if any(block.treatment == doc_blocks.IN_ORDER for block in blocks)]
SMALL = ["STEPS=4", "VALIDATE_EVERY=4", "digits.nevis_stream.num_tasks=2",
         "digits.nevis_stream.max_train_images=64", "experiment.run.only=('indep', 'ft_d')",
         "conv4.conv4.filters=4", "conv4.conv4.blocks=1"]
TIME = re.compile(r"\d\d:\d\d:\d\d ")


def _suite(words):
  """Arguments of a `suite` command of a page as they are tried: small, without patterns."""
  if words[1:3] == ["run", "quickstart"]:
    smaller = ["experiment.run.only=('indep',)", "digits.nevis_stream.num_tasks=1"] if (
        "experiment.run.seed=1" in words) else []
    words = words + [part for param in SMALL + smaller for part in ("--gin_param", param)]
  return [name for word in words[1:] for name in (sorted(glob.glob(word)) or [word])]


@pytest.fixture(name="one_process", autouse=True, scope="module")
def _one_process():
  """Commands do not collect garbage before they run: a process of tests has much to look at."""
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(this_process, "settle", lambda debug: None)
    yield


@pytest.fixture(name="finished", scope="module")
def _finished(tmp_path_factory):
  """A folder in which the quickstart has run."""
  folder = tmp_path_factory.mktemp("pages")
  with pytest.MonkeyPatch.context() as patch:
    patch.chdir(folder)
    assert cli.main(_suite(["suite", "run", "quickstart"])) == 0
  return folder


@pytest.fixture(name="here")
def _here(finished, tmp_path, monkeypatch):
  """The present folder of a page's commands: the quickstart's run prints its results at once."""
  for workdir in ("quickstart", "q/0"):
    shutil.copytree(finished / "runs" / "quickstart", tmp_path / "runs" / workdir)
  monkeypatch.chdir(tmp_path)
  # Figures are made, but not drawn, which is slow: tests/reporting/figures_test.py does.
  monkeypatch.setattr("matplotlib.figure.Figure.savefig",
                      lambda figure, path, **_: pathlib.Path(path).touch())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("blocks", IN_ORDER)
def test_the_commands_of_a_page_run_in_order(blocks, monkeypatch, capsys):
  for block in blocks:
    if block.language == "python":
      exec(compile(block.code, block.name, "exec"), {"__name__": "__main__"})
      continue
    for words in block.commands():
      if words[0] == "suite":
        assert words[1] != "run" or words[2] == "quickstart", f"{words}: mark its block as not run"
        assert cli.main(_suite(words)) == 0, words
      else:
        assert words[0] == "python" and words[1].startswith("tools/"), f"{words}: as above"
        monkeypatch.setattr(sys, "argv", words[1:])
        with pytest.raises(SystemExit) as stop:
          runpy.run_path(str(ROOT / words[1]), run_name="__main__")
        assert not stop.value.code, words
    printed = capsys.readouterr().out
    if block.language == "console":
      for line in block.code.splitlines():
        assert line.startswith("$ ") or TIME.match(line) or line in printed, printed


COMMANDS = [(block, words) for blocks in BLOCKS.values() for block in blocks
            if block.language in ("sh", "console") for words in block.commands()
            if "suite" in words and words[words.index("suite") + 1] != "data"
            and not words[-1].endswith("<TAB>")]


def test_commands_that_are_not_run_have_flags_and_names_that_exist(capsys):
  assert len(COMMANDS) > 30
  parser = cli.parser()
  for block, words in COMMANDS:
    words = [word for word in words[words.index("suite") + 1:] if word != "&"]
    if ">" in words:  # What follows is the shell's.
      words = words[:words.index(">")]
    try:
      args = parser.parse_args(words)
    except SystemExit:
      pytest.fail(f"{block.name}: {words}: {capsys.readouterr().err}")
    if words[0] == "run":
      assert run_files.find(args.run), words


def test_every_block_has_a_rule_and_every_reason_says_something():
  for blocks in BLOCKS.values():
    for block in blocks:
      assert block.treatment
      assert not block.reason or len(block.reason.split()) > 1, block.name
      assert block.treatment != doc_blocks.TEXT or not re.search(
          r"^(\$ |suite \w|python |pip |bash )", block.code, re.MULTILINE), (
              f"{block.name} has commands: make it a block of sh")


def test_the_list_names_every_block_with_what_is_done(capsys):
  assert doc_blocks.main([]) == 0
  listed = capsys.readouterr().out
  for blocks in BLOCKS.values():
    for block in blocks:
      assert (f"| {block.name} |" in listed) == (block.treatment != doc_blocks.TEXT)


@pytest.mark.parametrize("text, treatment", [
    ("```python\nx\n```\n", doc_blocks.RUN), ("```gin\nx\n```\n", doc_blocks.RUN),
    ('```python title="suite/cli.py"\nx\n```\n', doc_blocks.COMPARED),
    ("```sh\nsuite list\n```\n", doc_blocks.IN_ORDER),
    ("<!-- run in order -->\n```python\nx\n```\n", doc_blocks.IN_ORDER),
    ("<!-- not run: needs a GPU -->\n```yaml\nx\n```\n", doc_blocks.NOT_RUN),
    ("```text\nx\n```\n", doc_blocks.TEXT)])
def test_a_block_is_treated_by_its_first_lines(text, treatment, tmp_path):
  (tmp_path / "page.md").write_text(f"Words.\n\n{text}")
  block, = doc_blocks.blocks(tmp_path / "page.md")
  assert block.treatment == treatment


@pytest.mark.parametrize("first", ["```", "```bash", "```python excerpt", "<!-- not run -->\n```"])
def test_a_block_without_a_rule_is_refused(first, tmp_path):
  (tmp_path / "page.md").write_text(f"{first}\nx\n```\n")
  block, = doc_blocks.blocks(tmp_path / "page.md")
  with pytest.raises(ValueError, match="which no test runs. Allowed are"):
    assert block.treatment


def test_commands_have_no_comments_and_may_be_continued(tmp_path):
  (tmp_path / "page.md").write_text("```console\n$ suite run \\\n  x  # small\nprinted\n```\n")
  block, = doc_blocks.blocks(tmp_path / "page.md")
  assert block.commands() == [["suite", "run", "x"]]
