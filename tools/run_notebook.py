# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs the code cells of a notebook in order, in one process, and stores what they print.

    python tools/run_notebook.py docs/own/notebook.ipynb             writes outputs into the file
    python tools/run_notebook.py docs/own/notebook.ipynb --check     prints the last cell's outputs

It needs no Jupyter: printed text and the text form of a cell's last expression are stored.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Sequence
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import traceback
from typing import Any

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("notebook", type=pathlib.Path)
  parser.add_argument("--check", action="store_true", help="leave the file as it is")
  args = parser.parse_args(arguments)
  path = args.notebook.resolve()
  notebook = json.loads(path.read_text(encoding="utf-8"))
  with tempfile.TemporaryDirectory() as folder, _in_folder(folder):
    failed = run(notebook)
  if failed:
    print(failed, file=sys.stderr)
    return 1
  if args.check:
    print(json.dumps(notebook["cells"][-1].get("outputs", [])))
  else:
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
  return 0


@contextlib.contextmanager
def _in_folder(folder: str):
  """`contextlib.chdir`, which came with Python 3.11."""
  before = os.getcwd()
  os.chdir(folder)
  try:
    yield
  finally:
    os.chdir(before)


def run(notebook: dict[str, Any]) -> str:
  """Runs the code cells, in place of whose outputs there are new ones; the error, or ""."""
  names: dict[str, Any] = {"__name__": "__main__"}
  number = 0
  for cell in notebook["cells"]:
    if cell["cell_type"] != "code":
      continue
    number += 1
    printed = io.StringIO()
    try:
      with contextlib.redirect_stdout(printed):
        value = _execute("".join(cell["source"]), f"cell {number}", names)
    except Exception:
      return f"Cell {number} failed:\n{traceback.format_exc()}"
    cell["execution_count"] = number
    cell["outputs"] = [*_stream(printed.getvalue()), *_result(value, number)]
  return ""


def _execute(source: str, title: str, names: dict[str, Any]) -> Any:
  """Runs statements; the value of the last one if it is an expression."""
  tree = ast.parse(source, title)
  last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
  exec(compile(tree, title, "exec"), names)
  return None if last is None else _value(last, title, names)


def _value(last: ast.Expr, title: str, names: dict[str, Any]) -> Any:
  assigned = ast.Assign([ast.Name("_", ast.Store())], last.value)
  exec(compile(ast.fix_missing_locations(ast.Module([assigned], [])), title, "exec"), names)
  return names["_"]


def _stream(text: str) -> list[dict[str, Any]]:
  return [{"output_type": "stream", "name": "stdout", "text": _lines(text)}] if text else []


def _result(value: Any, number: int) -> list[dict[str, Any]]:
  if value is None:
    return []
  return [{"output_type": "execute_result", "execution_count": number, "metadata": {},
           "data": {"text/plain": _lines(str(value))}}]


def _lines(text: str) -> list[str]:
  return text.splitlines(keepends=True)


if __name__ == "__main__":
  sys.exit(main())
