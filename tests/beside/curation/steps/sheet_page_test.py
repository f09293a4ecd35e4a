# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The review page: what it holds, that it escapes everything, and its state as pure functions."""

import base64
import hashlib
import html.parser
import json
import re
import shutil
import subprocess

import pytest

from suite.beside.curation import votes
from suite.beside.curation.steps import reviewing

_VOID = {"meta", "input", "img"}
_IDS = ["7", '"><script>alert(1)</script>', "a,\"b\" & 'c'", "é x"]


class _Page(html.parser.HTMLParser):
  """Elements as (tag, attributes), and whether all tags are closed in order."""

  def __init__(self, text):
    super().__init__()
    self.elements, self.open = [], []
    self.feed(text)
    self.close()
    assert not self.open

  def handle_starttag(self, tag, attrs):
    assert len(dict(attrs)) == len(attrs), "an attribute stands twice"
    self.elements.append((tag, dict(attrs)))
    if tag not in _VOID:
      self.open.append(tag)

  def handle_endtag(self, tag):
    assert self.open.pop() == tag


def _sheets():
  return [reviewing.Sheet(3, "bus", "</script><img src=x onerror=alert(1)>", "2008 to 2009", _IDS,
                           examples=["e1"]),
          reviewing.Sheet(4, "BACKGROUND", "none of bus", "2010", ["b", "__proto__"],
                           is_background=True)]


@pytest.fixture(name="text", scope="module")
def _text():
  return reviewing.sheet_page(_sheets(), {name: f"data:image/jpeg;base64,{i}"
                                     for i, name in enumerate([*_IDS, "b", "__proto__", "e1"])})


def test_the_page_holds_all_sheets_and_their_keys(text):
  data = json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', text,
                              re.S).group(1))
  assert [(one["key"], one["label"], one["ids"], one["examples"], one["background"])
          for one in data["sheets"]] == [
              (reviewing.key(3, "bus", _IDS), "bus", _IDS, ["e1"], False),
              (reviewing.key(4, "BACKGROUND", ["b", "__proto__"]), "BACKGROUND",
               ["b", "__proto__"], [], True)]
  assert "background, BACKGROUND in the files" in text
  assert data["pictures"][_IDS[1]] == "data:image/jpeg;base64,1"


def test_everything_is_escaped_and_no_other_program_runs(text):
  page = _Page(text)
  assert [tag for tag, _ in page.elements].count("script") == 2
  assert not any(name.startswith("on") or name == "style"  # The policy would not apply a style.
                 for _, attributes in page.elements for name in attributes)
  ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
  assert len(set(ids)) == len(ids)
  policy = next(one["content"] for tag, one in page.elements
                if one.get("http-equiv") == "Content-Security-Policy")
  for element, source in (("script", "script-src"), ("style", "style-src")):
    content = re.search(f"<{element}>(.*?)</{element}>", text, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    assert f"{source} 'sha256-{digest}';" in policy
  assert policy.startswith("default-src 'none';")
  assert not re.search("https?://|src=[\"']//|@import|url\\(", text)


def _evaluated(*expressions):
  """What expressions are in the script of the page, as JSON."""
  sheets = [{"key": one.key, "bucket": one.bucket, "label": one.label, "ids": one.ids}
            for one in _sheets()]
  program = (reviewing.part("review_logic.js") + f"const sheets = {json.dumps(sheets)};"
             "const items = listed(sheets), none = blank(items);"
             "const go = (keys, state) => [...keys].reduce((s, key) => KEYS[key] === 'undo' ? "
             "undone(s) : voted(s, items, KEYS[key]), state || none);"
             f"console.log(JSON.stringify([{', '.join(expressions)}]))")
  done = subprocess.run([shutil.which("node"), "-e", program], text=True, capture_output=True,
                        check=False)
  assert done.returncode == 0, done.stderr
  return json.loads(done.stdout)


@pytest.mark.skipif(not shutil.which("node"), reason="node runs the page's program")
def test_the_state_of_a_review(tmp_path):
  texts = "items.map((_, i) => i).slice(0, 2).map(s => stored(go('arfaaa'), items, s))"
  (voted, undone, moved, last, open_, full, none_open, other, same, back, strange, damaged, name,
   csv) = _evaluated(
       "go('arf')", "go('arfuu')", "moved(none, items, -3).current",
       "moved(none, items, 99).current", "nextOpen(go('ar', none)).current",
       "counted(go('arfaaa').votes)", "nextOpen(go('aaaaaa')).current",
       "otherSheet(none, items, 1).current", "otherSheet(none, items, -1).current",
       f"restored(items, {texts}, JSON.stringify({{past: [[0, '']], current: 2}}))",
       "restored(items, ['{\"7\": \"yes\", \"zz\": \"flag\"}', '{\"toString\": \"flag\"}'],"
       " '{\"past\": [[0, \"flag\"], [9, \"flag\"], 3], \"current\": 99}')",
       "restored(items, ['{', null], 'x')", "fileName('Ann / Bé')",
       "asCsv(sheets, items, go('arfaaf'), 'ann, \"A\"')")
  assert voted["votes"] == ["accept", "reject", "flag", "", "", ""] and voted["current"] == 3
  assert undone["votes"][:2] == ["accept", ""] and undone["current"] == 1
  assert (moved, last, open_, other, same) == (0, 5, 3, 4, 0)
  assert full == {"accept": 4, "reject": 1, "flag": 1, "done": 6} and none_open == 5
  assert back == {"votes": ["accept", "reject", "flag", *["accept"] * 3], "past": [[0, ""]],
                  "current": 2}
  assert strange == {"votes": [""] * 6, "past": [[0, "flag"]], "current": 5}
  assert damaged == {"votes": [""] * 6, "past": [], "current": 0}
  assert name == "votes_Ann---Bé.csv"
  (tmp_path / "votes.csv").write_text(csv, encoding="utf-8")
  items = [votes.Item(one.bucket, one.label, name) for one in _sheets() for name in one.ids]
  ballots = votes.read([tmp_path / "votes.csv"], {
      (one.bucket, one.label): one.key for one in _sheets()}, items)
  assert [ballots[item] for item in items] == [
      {'ann, "A"': vote} for vote in ("accept", "reject", "flag", "accept", "accept", "flag")]
