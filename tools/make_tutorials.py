# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs the tutorials, writes what they print into the pages, and makes notebooks of some.

    python tools/make_tutorials.py            runs all pages of docs/tutorials, writes them
    python tools/make_tutorials.py --check    runs all, writes nothing; fails if one fails, prints
                                              other lines than its page has, or has a stale notebook

The blocks of a page are one program, run by tools/run_notebook.py. Under each block stands what it
prints, as a block of text. Numbers are not compared: they differ between processors.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import json
import pathlib
import re
import sys
import tempfile
from typing import Any

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import doc_blocks
import run_notebook

NOTEBOOKS = ("nevis", "cfsl")
_CELL = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")
_NUMBER = re.compile(r"[-+]?\d[\d.,e+-]*|\s+")

# In Colab the suite is not installed and has no address to install it from.
_INSTALL = '''\
# In Colab: upload the suite's wheel first (the folder at the left; `pip wheel --no-deps .` in a
# checkout makes it).
import glob
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("suite") is None:
  wheels = glob.glob("lifelong_suite-*.whl")
  assert wheels, "Upload lifelong_suite-VERSION-py3-none-any.whl, and run this cell again."
  subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", wheels[-1]], check=True)
'''


def pages() -> list[pathlib.Path]:
  return [page for page in sorted(doc_blocks.TUTORIALS.glob("*.md")) if page.stem != "README"]


def parts(page: str) -> list[tuple[str, str, str]]:
  """(text before, code, what it prints) of each block, and ("text after the last", "", "")."""
  found, end = [], 0
  for match in _CELL.finditer(page):
    found.append((page[end:match.start()], match[1], match[2] or ""))
    end = match.end()
  return [*found, (page[end:], "", "")]


def run(page: str) -> tuple[str, str]:
  """Runs a page in the present folder: (the page with what it prints, the error or "")."""
  cells: list[dict[str, Any]] = [
      {"cell_type": "code", "source": [code]} for _, code, _ in parts(page) if code]
  failed = run_notebook.run({"cells": cells})
  if failed:
    return page, failed
  text, printed = "", iter(cells)
  for before, code, _ in parts(page):
    text += before
    if code:
      outputs = _text(next(printed))
      text += f"```python\n{code}```\n" + (f"\n```text\n{outputs}```\n" if outputs else "")
  return text, ""


def _text(cell: dict[str, Any]) -> str:
  lines = [line for output in cell["outputs"]
           for line in output.get("text") or output["data"]["text/plain"]]
  return "".join(line.rstrip() + "\n" for line in lines)


def notebook(page: str) -> str:
  """The page as a notebook in format 4.5, with what its cells print; links within docs/ are text.
  """
  cells = [_code(_INSTALL, "", 0)]
  for before, code, printed in parts(page):
    if before.strip():
      source = _LINK.sub(r"\1", before.strip()).splitlines(keepends=True)
      cells.append({"cell_type": "markdown", "id": f"text-{len(cells)}", "metadata": {},
                    "source": source})
    if code:
      cells.append(_code(code, printed, len(cells)))
  made = {"cells": cells, "metadata": {
      "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
      "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
  return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _code(code: str, printed: str, number: int) -> dict[str, Any]:
  outputs = [{"output_type": "stream", "name": "stdout", "text": printed.splitlines(keepends=True)}]
  return {"cell_type": "code", "id": f"code-{number}", "metadata": {}, "execution_count": None,
          "source": code.rstrip("\n").splitlines(keepends=True),
          "outputs": outputs if printed else []}


def shape(text: str) -> list[str]:
  """Lines without numbers and widths."""
  lines = [_NUMBER.sub(" ", line).strip() for line in text.splitlines()]
  return [line for line in lines if line]


def problem(path: pathlib.Path) -> str:
  """Runs a page in the present folder; what is wrong with it, or ""."""
  page = path.read_text(encoding="utf-8")
  found, failed = run(page)
  if failed:
    return f"{path.name}: {failed}"
  if shape(found) != shape(page):
    wrong = next(line for line in shape(found) if line not in shape(page))
    return f"{path.name} does not print {wrong!r}. Run: python tools/make_tutorials.py"
  if path.stem in NOTEBOOKS:
    made = path.with_suffix(".ipynb")
    if not made.exists() or made.read_text(encoding="utf-8") != notebook(page):
      return f"{made.name} is stale. Run: python tools/make_tutorials.py"
  return ""


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
  parser.add_argument("names", nargs="*", help="of pages, such as clear (all)")
  args = parser.parse_args(arguments)
  for path in pages():
    if args.names and path.stem not in args.names:
      continue
    with tempfile.TemporaryDirectory() as folder, run_notebook._in_folder(folder):
      if args.check:
        failed = problem(path)
      else:
        text, failed = run(path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
    if failed:
      print(failed, file=sys.stderr)
      return 1
    if path.stem in NOTEBOOKS and not args.check:
      path.with_suffix(".ipynb").write_text(notebook(text), encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())
