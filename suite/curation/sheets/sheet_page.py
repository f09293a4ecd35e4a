# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The review of all sheets as one HTML page, without a server; its parts are in page/.

The script is allowed by its digest; data are JSON in the page. Votes are stored in localStorage
under the keys of their sheets and the reviewer's name; in a browser without storage for local files
they are lost when the page closes.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
import hashlib
import json
import pathlib
from typing import NamedTuple

import suite

LABEL_CONFIG = "label_studio.xml"
_PAGE = pathlib.Path(__file__).parent / "page"
_BUTTONS = (("accept", "Accept", "A"), ("reject", "Reject", "R"), ("flag", "Flag", "F"),
            ("previous", "Back", "P"), ("next", "Next", "N"), ("open", "Next open", "O"),
            ("undo", "Undo", "U"), ("enlarge", "Enlarge", "E"))
_KEYS = (("A", "", "accept"), ("R", "", "reject"), ("F", "", "flag"), ("N", "→", "next"),
         ("P", "←", "back"), ("O", "", "next image without a vote"), ("U", "", "undo"),
         ("E", "", "enlarge"), (",", "", "previous sheet"), (".", "", "next sheet"),
         ("D", "", "download"))


class Sheet(NamedTuple):
  """Images of one class and bucket to vote on.

  Attributes:
    bucket, label: bucket and class of the candidates.
    prompt: text of the query.
    span: time span of the bucket, as text.
    ids: the images in their order.
    examples: ids of the images that the query is made of.
    is_background: whether the images should show none of the classes.
  """

  bucket: int
  label: str
  prompt: str
  span: str
  ids: Sequence[str]
  examples: Sequence[str] = ()
  is_background: bool = False

  @property
  def key(self) -> str:
    return key(self.bucket, self.label, self.ids)


def key(bucket: int, label: str, ids: Sequence[str]) -> str:
  """Key of a list of images, which identifies the sheet of a vote."""
  content = json.dumps([int(bucket), label, list(ids)])
  return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


def question(sheet: Sheet) -> str:
  """Question to the reviewers of a sheet."""
  return f"Does the image show {'none of the classes' if sheet.is_background else sheet.label}?"


def page(sheets: Sequence[Sheet], pictures: Mapping[str, str]) -> str:
  """Renders the page.

  Args:
    sheets: the sheets in the order of the review.
    pictures: id of an image or example -> address of its picture, such as a data URI.
  """
  import jinja2
  template = jinja2.Environment(
      loader=jinja2.FileSystemLoader(_PAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
      undefined=jinja2.StrictUndefined).get_template("review.html")
  style, script = part("review.css"), part("review_logic.js") + part("review.js")
  keys = [one.key for one in sheets]
  data = {"key": hashlib.blake2b(" ".join(keys).encode(), digest_size=8).hexdigest(),
          "sheets": [_plain(one) for one in sheets], "pictures": dict(pictures)}
  return template.render(version=suite.__version__, policy=_policy(style, script), style=style,
                         script=script, buttons=_BUTTONS, keys=_KEYS, data=data)


def part(name: str) -> str:
  """Reads a file of page/."""
  return (_PAGE / name).read_text(encoding="utf-8")


def _plain(sheet: Sheet) -> dict[str, object]:
  return {"key": sheet.key, "bucket": int(sheet.bucket), "label": sheet.label,
          "prompt": sheet.prompt, "span": sheet.span, "ids": list(sheet.ids),
          "examples": list(sheet.examples), "background": sheet.is_background}


def _policy(style: str, script: str) -> str:
  """Content security policy: images of the page or its folder, its style and script only."""
  def allowed(content: str) -> str:
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"

  return (f"default-src 'none'; img-src data: file: 'self'; style-src {allowed(style)}; "
          f"script-src {allowed(script)}; base-uri 'none'; form-action 'none'")
