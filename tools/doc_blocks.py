# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lists the code blocks of README.md, CONTRIBUTING.md and docs/, and what the tests do with each.

    python tools/doc_blocks.py          a Markdown table, which the documentation site shows

| block | what a test does |
| --- | --- |
| `python`, `gin` | runs it as a program or run file in an empty folder |
| `python` on a page of docs/tutorials | runs the page's blocks in order, as one program |
| `python title="FILE"`, `gin title="FILE"` | compares: its lines are in FILE, in this order |
| `sh` | runs its `suite` commands, all of the page in one folder; the quickstart is made small |
| `console` | the same for lines that begin with `$`; the other lines are what is printed |
| `python` after `<!-- run in order -->` | runs it where and when the page's commands run |
| any after `<!-- not run: REASON -->` | runs nothing; parses its `suite` commands |
| `text` | nothing: what a program prints, a drawing, a message |

Any other block is an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import dataclasses
import pathlib
import re
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
RUN, TUTORIAL, COMPARED, IN_ORDER, NOT_RUN, TEXT = (
    "run alone", "run with its page", "compared with its file", "run in the page's order",
    "not run", "no code")

_BLOCK = re.compile(
    r"(?:^<!-- (?P<directive>[^\n]*?) -->\n)?^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'(\w+) title="([^"]+)"')
_CONTINUED = re.compile(r"\\\n\s*")


@dataclasses.dataclass(frozen=True)
class Block:
  """A code block of a page.

  Attributes:
    page: the file.
    number: of the block on the page, from 0.
    language: the first word after the backticks.
    file: the file that an excerpt is of, or "".
    code: the lines between the backticks.
    directive: of the comment on the line before, such as "not run: needs a GPU", or "".
  """

  page: pathlib.Path
  number: int
  language: str
  file: str
  code: str
  directive: str = ""

  @property
  def name(self) -> str:
    page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page
    return f"{page.with_suffix('').as_posix().removeprefix('docs/')}-{self.number}"

  @property
  def reason(self) -> str:
    """Why it is not run, or ""."""
    kind, _, reason = self.directive.partition(": ")
    return reason if kind == "not run" else ""

  @property
  def treatment(self) -> str:
    """What the tests do with it.

    Raises:
      ValueError: by no rule.
    """
    if self.reason:
      return NOT_RUN
    if self.language == "text":
      return TEXT
    if self.file:
      return COMPARED
    if self.language in ("sh", "console") or self.directive == "run in order":
      return IN_ORDER
    if self.language == "python" and self.page.parent == TUTORIALS:
      return TUTORIAL
    if self.language in ("python", "gin"):
      return RUN
    raise ValueError(
        f"{self.name} is a block of {self.language or 'no language'}, which no test runs. Allowed "
        "are python, gin, sh and text, or any with <!-- not run: REASON --> on the line before.")

  def commands(self) -> list[list[str]]:
    """Words of each command of a block of a shell, without comments."""
    lines = _CONTINUED.sub(" ", self.code).splitlines()
    if self.language == "console":
      lines = [line[2:] for line in lines if line.startswith("$ ")]
    found = [shlex.split(line, comments=True) for line in lines]
    return [words for words in found if words]


def pages() -> list[pathlib.Path]:
  return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: pathlib.Path) -> list[Block]:
  """The blocks of a page, in order."""
  return list(_blocks(page, page.read_text(encoding="utf-8")))


def _blocks(page: pathlib.Path, text: str) -> Iterator[Block]:
  for number, found in enumerate(_BLOCK.finditer(text)):
    info = found["info"].strip()
    title = _TITLE.fullmatch(info)
    language, file = title.groups() if title else (info, "")
    yield Block(page, number, language, file, found["code"], found["directive"] or "")


def table() -> str:
  """All blocks but those of text, as a Markdown table."""
  lines = ["| block | first line | what a test does |", "| --- | --- | --- |"]
  for page in pages():
    for block in blocks(page):
      if block.treatment != TEXT:
        done = f"not run: {block.reason}" if block.reason else block.treatment
        first = block.code.strip().splitlines()[0].replace("|", "\\|")
        lines.append(f"| {block.name} | `{first[:70]}` | {done} |")
  return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
  argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
  print(table())
  return 0


if __name__ == "__main__":
  sys.exit(main())
