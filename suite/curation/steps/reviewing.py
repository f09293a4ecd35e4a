# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The steps `sheets` and `label-studio`: reviews in a browser or in Label Studio."""

from __future__ import annotations

import functools
import json
import os
import pathlib
from typing import Callable
import urllib.parse

from suite.curation import collection
from suite.curation import image_table
from suite.curation import label_studio as label_studio_lib
from suite.curation import manifest
from suite.curation import pictures
from suite.curation import storage
from suite.curation.sheets import sheet_page
from suite.curation.steps import review_plan
from suite.system import atomic_files

PAGE, TASKS = "index.html", "tasks.json"
PIXELS = 256


def sheets(work: pathlib.Path, *, images: pathlib.Path | None = None, pixels: int = PIXELS,
           links: bool = False, gold: pathlib.Path | None = None, again: bool = False
           ) -> manifest.Manifest:
  """Writes WORK/sheets: a page with all sheets, and digests of the image files.

  Args:
    work: folder of the curation.
    images: root folder of the paths; None: the table's folder.
    pixels: longer edge of the embedded thumbnails.
    links: whether the page links to the image files instead, which keeps it small; the page and
      images must then not be moved.
    gold: a CSV of gold questions.
    again: whether to replace a step that was done with other parameters.
  """
  before = manifest.verified(work, collection.QUERIES)

  def write(folder: pathlib.Path) -> manifest.Counts:
    plan, table = review_plan.plan(work, gold), collection.table(work)
    files = _files(table, [item.id for item in plan.items()], images)
    shown = {**files, **_files(table, [i for one in plan.sheets for i in one.examples], images)}
    address = functools.partial(_link, work) if links else functools.partial(
        pictures.data_uri, size=pixels)
    page = sheet_page.page(plan.sheets, {name: address(path) for name, path in shown.items()})
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
    plan, table = review_plan.finished(work), collection.table(work)
    root = collection.from_manifest(work, before.parameters["images"])
    rows = table.rows()

    def address(name: str) -> str:
      if url is not None:
        return url + urllib.parse.quote(table.file(rows[name], pathlib.Path()).as_posix())
      return pictures.data_uri(table.file(rows[name], root), size=pixels)

    tasks = _tasks(plan, address)
    atomic_files.write(folder / TASKS, json.dumps(tasks, ensure_ascii=False, indent=1).encode())
    atomic_files.write(folder / sheet_page.LABEL_CONFIG,
                       sheet_page.part(sheet_page.LABEL_CONFIG).encode())
    return {"tasks": len(tasks)}

  return manifest.run(
      work, collection.LABEL_STUDIO, again=again, write=write,
      inputs={collection.SHEETS: [before.path]},
      parameters={"url": url, "pixels": pixels if url is None else None})


def _tasks(plan: review_plan.ReviewPlan, address: Callable[[str], str]) -> list[dict[str, object]]:
  return [label_studio_lib.task(
      {"sheet": sheet.key, "bucket": sheet.bucket, "class": sheet.label, "id": name},
      address(name), sheet_page.question(sheet),
      f"Searched for: {sheet.prompt}. Bucket {sheet.bucket}: {sheet.span}.")
          for sheet in plan.sheets for name in sheet.ids]


def _files(table: image_table.ImageTable, ids: list[str], images: pathlib.Path | None
           ) -> dict[str, pathlib.Path]:
  rows = table.rows()
  return dict(zip(ids, collection.check_files(table, [rows[name] for name in ids], images)))


def _link(work: pathlib.Path, path: pathlib.Path) -> str:
  """Address of an image file relative to the page."""
  place = pathlib.PurePath(os.path.relpath(path, work / collection.SHEETS)).as_posix()
  return urllib.parse.quote(place)
