# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lists sentences of pages and public docstrings that need a second reading, by patterns.

    python tools/plain_english.py [FILE...]     prints the sentences, and their number
    python tools/plain_english.py --store       counts them by file, in tests/prose_counts.csv

tests/prose_test.py compares the counts: a file's count may fall and never rise.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
COUNTS = ROOT / "tests" / "prose_counts.csv"
KINDS = {
    "begins with Of": re.compile(r"^Of (?!course\b)"),
    "of which, of whom": re.compile(r"\bof (?:which|whom)\b", re.IGNORECASE),
    "that of, those of": re.compile(r"\b(?:that|those) of\b", re.IGNORECASE),
    "two times whose": re.compile(r"\bwhose\b[^.;:]*\bwhose\b", re.IGNORECASE),
    "one whose": re.compile(r"\bones? whose\b", re.IGNORECASE),
    "begins with See, As above, The same": re.compile(r"^(?:See above|As above|The same)\.?$"),
    "so many, as many at least": re.compile(r"\bso many\b|\bas many at least\b", re.IGNORECASE),
    "house words": re.compile(r"\b(?:anew|nobody|somebody)\b", re.IGNORECASE),
}
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[])")


def flagged(text: str) -> Iterator[tuple[str, str]]:
  """Yields (kind, sentence) of prose: no code blocks, tables, headings or comments."""
  text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
  text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
  paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |\|))", text)
  for paragraph in paragraphs:
    if paragraph.lstrip().startswith(("|", "#", "---")):
      continue
    plain = re.sub(r"\s+", " ", re.sub(r"^\s*(?:[-*]|\d+\.) ", "", paragraph)).strip()
    for sentence in _END.split(plain):
      for kind, pattern in KINDS.items():
        if pattern.search(sentence.lstrip("*_")):
          yield kind, sentence


def _docstrings(path: pathlib.Path) -> str:
  """The docstrings of a module and of what is public in it, a paragraph each."""
  found = []

  def visit(node: ast.AST) -> None:
    if (not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        or getattr(node, "name", "").startswith("_")):
      return
    found.append(ast.get_docstring(node) or "")
    if not isinstance(node, ast.FunctionDef):
      for child in node.body:
        visit(child)

  visit(ast.parse(path.read_text(encoding="utf-8")))
  return "\n\n".join(found)


def texts() -> dict[str, str]:
  """Prose by the path of its file: pages that people write, and public docstrings."""
  pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md",
           *(page for page in (ROOT / "docs").rglob("*.md") if "results" not in page.parts)]
  modules = (ROOT / "suite").rglob("*.py")
  return {path.relative_to(ROOT).as_posix(): text for path, text in [
      *((page, page.read_text(encoding="utf-8")) for page in pages),
      *((module, _docstrings(module)) for module in modules)]}


def counts() -> dict[str, int]:
  found = {path: len(list(flagged(text))) for path, text in sorted(texts().items())}
  return {path: number for path, number in found.items() if number}


def main(argv: list[str]) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("files", nargs="*", help="paths, or their beginnings (all)")
  parser.add_argument("--store", action="store_true", help=f"write {COUNTS.name}")
  args = parser.parse_args(argv)
  if args.store:
    rows = [f"{path},{number}\n" for path, number in counts().items()]
    COUNTS.write_text("file,flagged\n" + "".join(rows), encoding="utf-8")
    return 0
  total = 0
  for path, text in sorted(texts().items()):
    if not args.files or path.startswith(tuple(args.files)):
      for kind, sentence in flagged(text):
        total += 1
        print(f"{path}: {kind}: {sentence}")
  print(f"{total} flagged sentences")
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
