# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What mkdocs.yml adds to a build: files that pages link to outside docs/, pages that have moved.

A page that has moved leaves a stub, whose link names the new place, and which forwards at once.
A link such as `../gin/learners/er.gin` leads out of docs/ and works on a code host. On the site it
leads to a copy below source/, as text.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doc_blocks
from mkdocs.structure import files as files_lib

ROOT = doc_blocks.ROOT
_DOCS = ROOT / "docs"
_LINK = re.compile(r"\]\(((?:\.\./)+[^)#:]+)(#[^)]*)?\)")


def on_files(files: files_lib.Files, config: Any) -> files_lib.Files:
  """Adds a copy of each file outside docs/ that a page links to."""
  wanted = set()
  for page in _DOCS.rglob("*.md"):
    for found in _LINK.finditer(page.read_text(encoding="utf-8")):
      wanted |= {target} if (target := _outside(page, found[1])) else set()
  for target in sorted(wanted):
    text = (ROOT / target).read_text(encoding="utf-8")
    files.append(files_lib.File.generated(config, _copy(target), content=text))
  return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
  """Points links that lead out of docs/ to the copies."""
  source = pathlib.Path(page.file.abs_src_path)

  def moved(found: re.Match[str]) -> str:
    target = _outside(source, found[1])
    if not target:
      return found[0]
    return f"]({os.path.relpath(_DOCS / _copy(target), source.parent)})"

  return _LINK.sub(moved, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
  """Forwards from a page that has moved, a stub with `moved: PAGE.md` in its front matter."""
  target = page.meta.get("moved")
  if not target:
    return output
  address = target.replace(".md", ".html")
  return output.replace(
      "</head>", f'<meta http-equiv="refresh" content="0; url={address}"></head>', 1)


def _outside(page: pathlib.Path, link: str) -> str:
  """The linked file's path in the checkout; "" if it is in docs/, or is no file."""
  target = (page.parent / link).resolve()
  if not target.is_file() or target.is_relative_to(_DOCS) or not target.is_relative_to(ROOT):
    return ""
  return target.relative_to(ROOT).as_posix()


def _copy(target: str) -> str:
  return f"source/{target}.txt"
