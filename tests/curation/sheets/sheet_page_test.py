# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Review sheets: what the page holds, that it escapes everything, and what its keys do."""

import base64
import hashlib
import html.parser
import json
import re
import shutil
import subprocess

import pytest

from suite.curation import votes as votes_lib
from suite.curation.sheets import sheet_page
from suite.curation.sheets import sheet_script

_VOID = {"meta", "input", "img"}
_IDS = ["7", '"><script>alert(1)</script>', "a,\"b\" & 'c'", "é x"]


class _Page(html.parser.HTMLParser):
  """Elements as (tag, attributes), texts by tag, and whether all tags are closed in order."""

  def __init__(self, text):
    super().__init__()
    self.elements, self.texts, self.open = [], {}, []
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

  def handle_data(self, data):
    if self.open:
      self.texts.setdefault(self.open[-1], []).append(data)

  def of(self, tag, **wanted):
    return [attributes for name, attributes in self.elements if name == tag and all(
        attributes.get(key.rstrip("_")) == value for key, value in wanted.items())]


def _sheet(ids=tuple(_IDS), label="bus", prompt="bus & <coach>"):
  return sheet_page.Sheet(3, label, prompt, "2008-12-23 to 2009-09-07",
                          [(name, f"data:image/jpeg;base64,{i}") for i, name in enumerate(ids)])


def test_a_page_holds_its_images_and_its_key():
  page = _Page(sheet_page.page(_sheet()))
  main, = page.of("main")
  assert (main["data-key"], main["data-bucket"], main["data-label"]) == (
      sheet_page.key(3, "bus", _IDS), "3", "bus")
  cards = page.of("li", class_="card")
  assert [card["data-id"] for card in cards] == _IDS  # Escaped in the page, whole when read.
  assert [image["src"] for image in page.of("img")] == [
      f"data:image/jpeg;base64,{i}" for i in range(4)]
  assert all(image["alt"] for image in page.of("img"))
  ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
  assert len(set(ids)) == len(ids)
  assert page.of("progress")[0]["max"] == "4"


def test_everything_is_escaped():
  text = sheet_page.page(_sheet(prompt="</q><img src=x onerror=alert(1)>"))
  page = _Page(text)
  assert len(page.of("script")) == 1 and len(page.of("img")) == 4
  assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
  assert "</q><img src=x onerror=alert(1)>" in "".join(page.texts["q"])
  assert _IDS[1] not in text


def test_a_page_needs_nobody_and_runs_no_other_program():
  text = sheet_page.page(_sheet())
  page = _Page(text)
  policy, = page.of("meta", **{"http-equiv": "Content-Security-Policy"})
  script = re.search("<script>(.*)</script>", text, re.S).group(1)
  style = re.search("<style>(.*)</style>", text, re.S).group(1)
  for content, source in ((script, "script-src"), (style, "style-src")):
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    assert f"{source} 'sha256-{digest}';" in policy["content"]
  assert policy["content"].startswith("default-src 'none';")
  assert not re.search("https?://|src=[\"']//|@import|url\\(", text)
  assert not [one for one in page.elements if "style" in one[1]]  # The policy would not apply it.


def test_a_page_can_be_used_without_a_mouse_or_without_eyes():
  page = _Page(sheet_page.page(_sheet()))
  assert page.of("html")[0]["lang"] == "en" and page.texts["title"] == ["bus, bucket 3"]
  assert page.of("label")[0]["for"] == page.of("input")[0]["id"] == "reviewer"
  keys = {button["data-act"]: button["aria-keyshortcuts"] for button in page.of("button")}
  assert keys == {"accept": "A", "reject": "R", "flag": "F", "next": "N", "previous": "P",
                  "undo": "U", "download": "D"}
  known = dict(re.findall(r"(\w+): \"(\w+)\"", sheet_script.LOGIC.split("KEYS = ")[1]
                          .split(";")[0]))
  assert {act: known[key.lower()] for act, key in keys.items()} == {act: act for act in keys}
  assert page.of("span", role="status")[0]["aria-live"] == "polite"
  assert page.of("a", class_="skip")[0]["href"] == "#images"


def test_background_is_asked_for_otherwise():
  assert "show <strong>bus</strong>?" in sheet_page.page(_sheet())
  assert "show <strong>none</strong> of the classes?" in sheet_page.page(
      _sheet(label="BACKGROUND", prompt="none of bus, car")._replace(is_background=True))


def test_keys_of_sheets_tell_candidates_apart():
  assert sheet_page.key(1, "a", ["x", "y"]) == sheet_page.key(1, "a", ["x", "y"])
  others = [(1, "a", ["y", "x"]), (1, "a", ["xy"]), (2, "a", ["x", "y"]), (1, "b", ["x", "y"])]
  keys = {sheet_page.key(*one) for one in others}
  assert len(keys) == 4 and sheet_page.key(1, "a", ["x", "y"]) not in keys


def test_an_index_leads_to_every_sheet():
  page = _Page(sheet_page.index([_sheet(), _sheet(label="BACKGROUND")]))
  assert [link["href"] for link in page.of("a")] == ["03_bus.html", "03_BACKGROUND.html"]
  assert page.texts["a"] == ["bus", "BACKGROUND"]


# A document of just what the program touches: elements by id, cards, storage, downloads.
_BROWSER = r"""
const given = JSON.parse(require("fs").readFileSync(0, "utf8")), out = {};
class Element {
  constructor(dataset) { Object.assign(this, {dataset: dataset || {}, value: "", textContent: "",
                                              handlers: {}, attributes: {}}); }
  addEventListener(name, run) { this.handlers[name] = run; }
  setAttribute(name, value) { this.attributes[name] = value; }
  querySelector() { return this.child = this.child || new Element(); }
  appendChild() {} remove() {} click() { out.file = this.download; }
  focus() { document.activeElement = this; }
}
const known = {sheet: new Element(given.sheet)};
const cards = given.ids.map(id => new Element({id}));
const document = new Element();
document.getElementById = id => known[id] = known[id] || new Element();
document.querySelectorAll = what => what === ".card" ? cards : [];
document.createElement = () => new Element();
document.body = new Element();
const store = given.store, localStorage = {
  getItem: key => { if (!store) throw Error("denied"); return key in store ? store[key] : null; },
  setItem: (key, value) => { if (!store) throw Error("denied"); store[key] = value; }};
const Blob = class { constructor(parts) { out.csv = parts.join(""); } };
const URL = {createObjectURL: () => "", revokeObjectURL() {}};
const scope = {document, localStorage, Blob, URL, window: new Element(), setTimeout() {}};
new Function(...Object.keys(scope), given.script)(...Object.values(scope));
const name = known.reviewer;
if (given.name) { name.value = given.name; name.handlers.change(); }
for (const key of given.keys)
  document.handlers.keydown({key, target: document.activeElement, preventDefault() {}});
console.log(JSON.stringify({...out, store, status: known.status.textContent,
  warning: document.getElementById("warning").textContent, name: name.value,
  current: cards.findIndex(card => card.attributes["aria-current"] === "true"),
  focus: document.activeElement === name ? "reviewer" : cards.indexOf(document.activeElement),
  votes: cards.map(card => card.dataset.vote)}));
"""


def _play(keys, name="ann", store=None):
  """What the page is like after these keys; `store` False: a browser that keeps nothing."""
  text = sheet_page.page(_sheet())
  given = {"script": re.search("<script>(.*)</script>", text, re.S).group(1), "ids": _IDS,
           "sheet": {"key": sheet_page.key(3, "bus", _IDS), "bucket": "3", "label": "bus"},
           "keys": list(keys), "name": name, "store": {} if store is None else store}
  done = subprocess.run([shutil.which("node"), "-e", _BROWSER], input=json.dumps(given), text=True,
                        capture_output=True, check=False)
  assert done.returncode == 0, done.stderr
  return json.loads(done.stdout)


needs_node = pytest.mark.skipif(not shutil.which("node"), reason="node runs the page's program")


@needs_node
def test_keys_vote_move_and_undo():
  found = _play("aRf")
  assert found["votes"] == ["accept", "reject", "flag", ""] and found["current"] == 3
  assert found["status"] == "3 of 4 voted: 1 accepted, 1 rejected, 1 flagged."
  assert found["focus"] == 3
  found = _play("arfuu")
  assert found["votes"] == ["accept", "", "", ""] and found["current"] == 1
  found = _play(["n", "n", "p", "r", "ArrowLeft", "a", "u", "x"])
  assert found["votes"] == ["", "reject", "", ""] and found["current"] == 1
  assert _play("aaaa")["status"].endswith("Finished: download the votes.")
  assert _play("p")["current"] == 0 and _play("nnnnnnn")["current"] == 3
  assert _play("u")["votes"] == [""] * 4


@needs_node
def test_downloaded_votes_are_read_back(tmp_path):
  found = _play("arfad")
  path = tmp_path / "votes.csv"
  path.write_text(found["csv"], encoding="utf-8")
  assert found["file"] == "votes_3_bus_ann.csv"
  items = [votes_lib.Item(3, "bus", name) for name in _IDS]
  ballots = votes_lib.read([path], {(3, "bus"): sheet_page.key(3, "bus", _IDS)}, items)
  assert [ballots[item] for item in items] == [
      {"ann": vote} for vote in ("accept", "reject", "flag", "accept")]


@needs_node
def test_votes_are_kept_by_sheet_and_reviewer():
  store = _play("ar")["store"]
  back = _play("", name="", store=store)
  assert back["name"] == "ann" and back["votes"] == ["accept", "reject", "", ""]
  assert back["current"] == 2
  assert _play("", name="bob", store=store)["votes"] == [""] * 4
  damaged = {key: "{" if key.endswith("/ann") else value for key, value in store.items()}
  assert _play("", name="ann", store=damaged)["votes"] == [""] * 4


@needs_node
def test_no_vote_without_a_name_and_a_warning_where_nothing_is_kept():
  found = _play("ad", name="")
  assert found["votes"] == [""] * 4 and "csv" not in found and found["focus"] == "reviewer"
  assert found["warning"].startswith("Write your name first")
  found = _play("ad", store=False)
  assert found["votes"][0] == "accept" and "ann" in found["csv"]
  assert found["warning"].startswith("This browser keeps nothing")
