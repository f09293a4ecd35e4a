# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Every message that docs/troubleshooting.md quotes is one of the code; `…` stands for values."""

from __future__ import annotations

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
TABLES = PAGE[:PAGE.index("## Messages of TensorFlow")]
QUOTED = re.findall(r"^\| `([^`]+)` \| ", TABLES, re.MULTILINE)
ANY = "…"


def _texts(path):
  """Texts of a module with … for each value; parts of a text with + or % are texts themselves."""
  for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
    if isinstance(node, ast.JoinedStr):
      yield "".join(part.value if isinstance(part, ast.Constant) else ANY for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
      yield re.sub(r"%[rsdg]", ANY, node.value)


def _texts_of_the_code(starts=("",)):
  """The texts of the modules that hold one of the starts."""
  modules = [path for package in ("suite", "tfds_builders")
             for path in (ROOT / package).rglob("*.py")]
  sources = [(path, path.read_text(encoding="utf-8")) for path in modules]
  return [*(text for path, source in sources if any(start in source for start in starts)
            for text in _texts(path)),
          (ROOT / "tools" / "_venv.sh").read_text(encoding="utf-8")]


@pytest.fixture(name="texts", scope="module")
def _texts_of_likely_modules():
  # To parse every module takes seconds. A text may be broken within a start: see below.
  return _texts_of_the_code([max(one.split(ANY), key=len).strip()[:28] for one in QUOTED])


def _holds(text, parts):
  """Whether the parts stand in the text, in this order."""
  place = 0
  for part in parts:
    place = text.find(part, place) + len(part)
    if place < len(part):
      return False
  return True


def _is_message(quoted, texts):
  return any(_holds(text, quoted.split(ANY)) for text in texts)


def test_every_quoted_message_is_in_the_code(texts):
  assert len(QUOTED) > 60
  missing = [quoted for quoted in QUOTED if not _is_message(quoted, texts)]
  # Then the modules with one of its longest words, then all.
  for starts in ([max(re.findall(r"\w+", one), key=len) for one in missing], [""]):
    more = _texts_of_the_code(starts) if missing else []
    missing = [quoted for quoted in missing if not _is_message(quoted, more)]
  assert not missing, missing


def test_other_messages_are_not(texts):
  assert not _is_message("Batch size … cannot be split over … machines", texts)
  assert not _is_message("… runs on one device, because …", texts)
