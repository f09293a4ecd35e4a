# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Review sheets: one HTML page per class and bucket, without a server, and an index."""

from __future__ import annotations

import base64
from collections.abc import Sequence
import hashlib
import html
import json
from typing import NamedTuple

from suite.curation.sheets import sheet_script
from suite.curation.sheets import sheet_style

_SCRIPT = sheet_script.LOGIC + sheet_script.PAGE
_BUTTONS = (("accept", "Accept", "A"), ("reject", "Reject", "R"), ("flag", "Flag", "F"),
            ("previous", "Back", "P"), ("next", "Next", "N"), ("undo", "Undo", "U"))


class Sheet(NamedTuple):
  """Content of one page.

  Attributes:
    bucket, label: bucket and class of the candidates.
    prompt: text of the query.
    span: time span of the bucket, as text.
    images: (id, address of the picture) by rank.
    is_background: whether the images should show none of the classes.
  """

  bucket: int
  label: str
  prompt: str
  span: str
  images: Sequence[tuple[str, str]]
  is_background: bool = False

  @property
  def key(self) -> str:
    return key(self.bucket, self.label, [name for name, _ in self.images])

  @property
  def file_name(self) -> str:
    return f"{self.bucket:02d}_{self.label}.html"


def key(bucket: int, label: str, ids: Sequence[str]) -> str:
  """Key of a list of candidates, which identifies the sheet of a vote."""
  content = json.dumps([int(bucket), label, list(ids)])
  return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


def page(sheet: Sheet) -> str:
  """Renders the page of a sheet."""
  title = f"{sheet.label}, bucket {sheet.bucket}"
  cards = "\n".join(_card(place, name, address)
                    for place, (name, address) in enumerate(sheet.images, 1))
  return f"""{_head(title)}
<body>
<a class="skip" href="#images">To the images</a>
<header>
<h1>{_text(title)}</h1>
<p>Searched for: <q>{_text(sheet.prompt)}</q>. Bucket {sheet.bucket}: {_text(sheet.span)}.</p>
<p>{_question(sheet)} Flag what nobody should have to see, \
and what you cannot decide. <a href="index.html">All sheets</a></p>
</header>
<div class="bar"><div role="toolbar" aria-label="Votes">
<label for="reviewer">Reviewer</label>
<input id="reviewer" name="reviewer" autocomplete="username" spellcheck="false" \
maxlength="60" required>
{_buttons()}
<button type="button" id="download" class="main" data-act="download" \
aria-keyshortcuts="D">Download votes <kbd>D</kbd></button>
<progress id="progress" max="{len(sheet.images)}" value="0" aria-label="Images voted on"></progress>
<span id="status" role="status" aria-live="polite"></span>
<span id="warning" role="alert"></span>
</div></div>
<main id="sheet" data-key="{_text(sheet.key)}" data-bucket="{sheet.bucket}" \
data-label="{_text(sheet.label)}">
<ol id="images" class="grid" aria-label="Images, best match first">
{cards}
</ol>
<noscript><p>This page needs JavaScript, which runs from the file itself.</p></noscript>
</main>
<footer><p>Keys: <kbd>A</kbd> accept, <kbd>R</kbd> reject, <kbd>F</kbd> flag, <kbd>N</kbd> or \
<kbd>→</kbd> next, <kbd>P</kbd> or <kbd>←</kbd> back, <kbd>U</kbd> undo, <kbd>D</kbd> download. \
Votes stay in this browser until you download them.</p></footer>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def index(sheets: Sequence[Sheet]) -> str:
  """Renders a page with links to all sheets."""
  rows = "\n".join(
      f'<tr><td>{one.bucket}</td><td><a href="{_text(one.file_name)}">{_text(one.label)}</a></td>'
      f"<td>{len(one.images)}</td><td>{_text(one.span)}</td></tr>" for one in sheets)
  return f"""{_head("Review sheets")}
<body>
<header><h1>Review sheets</h1>
<p>{len(sheets)} sheets, {sum(len(one.images) for one in sheets)} images. Each is voted on by at \
least three reviewers.</p></header>
<main><table class="index">
<thead><tr><th scope="col">Bucket</th><th scope="col">Class</th><th scope="col">Images</th>\
<th scope="col">Time</th></tr></thead>
<tbody>
{rows}
</tbody></table></main>
</body>
</html>
"""


def _question(sheet: Sheet) -> str:
  if sheet.is_background:
    return "Does the image show <strong>none</strong> of the classes?"
  return f"Does the image show <strong>{_text(sheet.label)}</strong>?"


def _head(title: str) -> str:
  return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_text(_policy())}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(title)}</title>
<style>{sheet_style.CSS}</style>
</head>"""


def _policy() -> str:
  """Content security policy: images of the page or its folder, its style and script only."""
  def allowed(content: str) -> str:
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"

  return (f"default-src 'none'; img-src data: file: 'self'; style-src {allowed(sheet_style.CSS)}; "
          f"script-src {allowed(_SCRIPT)}; base-uri 'none'; form-action 'none'")


def _buttons() -> str:
  return "\n".join(
      f'<button type="button" id="{act}" data-act="{act}" aria-keyshortcuts="{letter}">'
      f"{word} <kbd>{letter}</kbd></button>" for act, word, letter in _BUTTONS)


def _card(place: int, name: str, address: str) -> str:
  lines: list[str] = [
      f'<li class="card" id="image-{place}" tabindex="-1" data-id="{_text(name)}" data-vote="">',
      f'<img src="{_text(address)}" alt="Image {place}, id {_text(name)}" loading="lazy">',
      f'<p class="id">{place}. {_text(name)}</p><p class="vote"></p></li>']
  return "\n".join(lines)


def _text(text: object) -> str:
  return html.escape(str(text), quote=True)
