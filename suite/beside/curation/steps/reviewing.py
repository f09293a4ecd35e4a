# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The steps `sheets` and `label-studio`: reviews in a browser or in Label Studio.

A sheet has the candidates and gold questions of a class and bucket. All sheets are one HTML page,
without a server; its parts are in page/. The script is allowed by its digest; data are JSON in the
page. Votes are stored in localStorage under the keys of their sheets and the reviewer's name; in a
browser without storage for local files they are lost when the page closes.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
import hashlib
import json
import os
import pathlib
from typing import NamedTuple
import urllib.parse

import suite
from suite.beside.curation import collection
from suite.beside.curation import image_table
from suite.beside.curation import manifest
from suite.beside.curation import pictures
from suite.beside.curation import queries
from suite.beside.curation import storage
from suite.beside.curation import votes
from suite.system import atomic_files

PAGE, TASKS = "index.html", "tasks.json"
PIXELS = 256
_EXAMPLES = 8
LABEL_CONFIG = "label_studio.xml"
_PAGE = pathlib.Path(__file__).parent / "page"
_BUTTONS = (("accept", "Accept", "A"), ("reject", "Reject", "R"), ("flag", "Flag", "F"),
            ("previous", "Back", "P"), ("next", "Next", "N"), ("open", "Next open", "O"),
            ("undo", "Undo", "U"), ("enlarge", "Enlarge", "E"))
_KEYS = (("A", "", "accept"), ("R", "", "reject"), ("F", "", "flag"), ("N", "→", "next"),
         ("P", "←", "back"), ("O", "", "next image without a vote"), ("U", "", "undo"),
         ("E", "", "enlarge"), (",", "", "previous sheet"), (".", "", "next sheet"),
         ("D", "", "download"))


def sheets(work: pathlib.Path, *, images: pathlib.Path | None = None, pixels: int = PIXELS,
           links: bool = False, gold: pathlib.Path | None = None, again: bool = False
           ) -> manifest.Manifest:
  """Writes WORK/sheets: a page with all sheets, and digests of the image files.

  Args:
    work: folder of the curation.
    images: root folder of the paths; None: the table's folder.
    pixels: longer edge of the embedded thumbnails.
    links: whether the page links to the image files instead, which keeps it small; the page and
      images must then not be moved. Files that browsers may show in another way are embedded.
    gold: a CSV of gold questions.
    again: whether to replace a step that was done with other parameters.
  """
  before = manifest.verified(work, collection.QUERIES)

  def write(folder: pathlib.Path) -> manifest.Counts:
    plan, table = plan_review(work, gold), collection.table(work)
    files = _files(table, [item.id for item in plan.items()], images)
    shown = {**files, **_files(table, [i for one in plan.sheets for i in one.examples], images)}

    def address(path: pathlib.Path) -> str:
      if links and pictures.is_linkable(path):
        place = pathlib.PurePath(os.path.relpath(path, work / collection.SHEETS)).as_posix()
        return urllib.parse.quote(place)
      return pictures.data_uri(path, size=pixels)

    page = sheet_page(plan.sheets, {name: address(path) for name, path in shown.items()})
    atomic_files.write(folder / PAGE, page.encode("utf-8"))
    storage.write_csv(folder / collection.IMAGE_FILE, ["id", "bytes", "blake2b"], (
        (name, files[name].stat().st_size, storage.digest(files[name])) for name in sorted(files)))
    counts = {"sheets": len(plan.sheets), "images": len(files)}
    return {**counts, "gold": len(plan.gold)} if gold else counts

  return manifest.run(
      work, collection.SHEETS, again=again, write=write,
      inputs={collection.QUERIES: [before.path], "gold": [gold] if gold else []},
      parameters={"images": collection.from_work(work, images), "links": links,
                  "pixels": None if links else pixels})


def label_studio(work: pathlib.Path, *, url: str | None = None, pixels: int = PIXELS,
                 again: bool = False) -> manifest.Manifest:
  """Writes WORK/label_studio: tasks to import, and the project's labeling configuration.

  Args:
    work: folder of the curation.
    url: what the paths of the table are appended to; None: thumbnails are embedded.
    pixels: longer edge of the thumbnails.
    again: whether to replace a step that was done with other parameters.
  """
  before = manifest.verified(work, collection.SHEETS)

  def write(folder: pathlib.Path) -> manifest.Counts:
    plan, table = finished(work), collection.table(work)
    root = collection.from_manifest(work, before.parameters["images"])
    rows = table.rows()

    def address(name: str) -> str:
      if url is not None:
        return url + urllib.parse.quote(table.file(rows[name], pathlib.Path()).as_posix())
      return pictures.data_uri(table.file(rows[name], root), size=pixels)

    tasks = [votes.task(
        {"sheet": sheet.key, "bucket": sheet.bucket, "class": sheet.label, "id": name},
        address(name), question(sheet),
        f"Searched for: {sheet.prompt}. Bucket {sheet.bucket}: {sheet.span}.")
             for sheet in plan.sheets for name in sheet.ids]
    atomic_files.write(folder / TASKS, json.dumps(tasks, ensure_ascii=False, indent=1).encode())
    atomic_files.write(folder / LABEL_CONFIG, part(LABEL_CONFIG).encode())
    return {"tasks": len(tasks)}

  return manifest.run(
      work, collection.LABEL_STUDIO, again=again, write=write,
      inputs={collection.SHEETS: [before.path]},
      parameters={"url": url, "pixels": pixels if url is None else None})


def _files(table: image_table.ImageTable, ids: list[str], images: pathlib.Path | None
           ) -> dict[str, pathlib.Path]:
  rows = table.rows()
  return dict(zip(ids, collection.check_files(table, [rows[name] for name in ids], images)))


class ReviewPlan(NamedTuple):
  """A review.

  Attributes:
    sheets: the sheets by bucket and class.
    candidates: the images that the votes decide on.
    gold: known answers.
  """

  sheets: Sequence[Sheet]
  candidates: Sequence[votes.Item]
  gold: votes.Answers

  def items(self) -> list[votes.Item]:
    """Lists all images that are asked about."""
    return [votes.Item(sheet.bucket, sheet.label, name)
            for sheet in self.sheets for name in sheet.ids]

  def keys(self) -> dict[tuple[int, str], str]:
    """Maps (bucket, class) to the key of the sheet."""
    return {(sheet.bucket, sheet.label): sheet.key for sheet in self.sheets}


def finished(work: pathlib.Path) -> ReviewPlan:
  """Returns the review whose sheets are made."""
  gold = manifest.verified(work, collection.SHEETS).sources("gold")
  return plan_review(work, gold[0] if gold else None)


def plan_review(work: pathlib.Path, gold: pathlib.Path | None) -> ReviewPlan:
  """Plans a review of the candidates, with a file of gold questions."""
  counts = manifest.verified(work, collection.QUERIES).counts
  candidates = collection.candidates(work)
  groups: dict[tuple[int, str], list[str]] = {}
  for one in candidates:
    groups.setdefault((one.bucket, one.label), []).append(one.id)
  answers: votes.Answers = {}
  if gold is not None:
    ids, buckets = map(str, collection.table(work).ids), collection.buckets(work)
    answers = votes.read_gold(gold, dict(zip(ids, buckets.tolist())), list(groups))
  asked: dict[tuple[int, str], list[str]] = {}
  for item in answers:
    asked.setdefault((item.bucket, item.label), []).append(item.id)
  prompts, examples = counts["prompts"], counts.get("examples", {})
  others, spans = f"none of {', '.join(sorted(prompts))}", collection.spans(work)
  return ReviewPlan(
      [Sheet(bucket, label, prompts.get(label, others), spans[bucket],
             votes.mixed(names, asked.get((bucket, label), ())),
             examples.get(label, ())[:_EXAMPLES], is_background=label == queries.BACKGROUND)
       for (bucket, label), names in sorted(  # The background comes last in a bucket.
           groups.items(), key=lambda group: (group[0][0], group[0][1] == queries.BACKGROUND))],
      [votes.Item(one.bucket, one.label, one.id) for one in candidates], answers)


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


def sheet_page(sheets: Sequence[Sheet], pictures: Mapping[str, str]) -> str:
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
  plain = [{"key": one.key, "bucket": int(one.bucket), "label": one.label, "prompt": one.prompt,
            "span": one.span, "ids": list(one.ids), "examples": list(one.examples),
            "background": one.is_background} for one in sheets]
  data = {"key": hashlib.blake2b(" ".join(keys).encode(), digest_size=8).hexdigest(),
          "sheets": plain, "pictures": dict(pictures)}
  # Content security policy: images of the page or its folder, its style and script only.
  digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode("ascii")
             for one in (style, script)]
  policy = (f"default-src 'none'; img-src data: file: 'self'; style-src 'sha256-{digests[0]}'; "
            f"script-src 'sha256-{digests[1]}'; base-uri 'none'; form-action 'none'")
  return template.render(version=suite.__version__, policy=policy, style=style, script=script,
                         buttons=_BUTTONS, keys=_KEYS, data=data,
                         background=queries.BACKGROUND)


def part(name: str) -> str:
  """Reads a file of page/."""
  return (_PAGE / name).read_text(encoding="utf-8")
