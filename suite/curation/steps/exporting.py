# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The step `export`: accepted images as archives in CLEAR's layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import pathlib
from typing import Any, NamedTuple

from absl import logging
import numpy as np

from suite.curation import clear_archive
from suite.curation import collection
from suite.curation import errors
from suite.curation import image_table
from suite.curation import manifest
from suite.curation import storage
from suite.curation import votes as votes_lib
from suite.curation.steps import voting

Items = Sequence[votes_lib.Item]


class ImageSource(NamedTuple):
  """Origin of the images of a curation: table, id -> row, root folder of paths."""

  table: image_table.ImageTable
  rows: Mapping[str, int]
  root: pathlib.Path | None

  def picture(self, bucket: int, label: str, name: str) -> clear_archive.Picture:
    """Returns an image with its attributes from the table."""
    row = self.rows[name]
    uploaded = f"{self.table.times[row]:.0f}"
    return clear_archive.Picture(bucket, label, name, self.table.file(row, self.root),
                                 {**self.table.metadata(row), "DATE_UPLOADED": uploaded})


def export(work: pathlib.Path, *, name: str = "clear10", suffix: str = ".zip",
           test_per_class: int = 0, bucket_0: bool = False, again: bool = False
           ) -> manifest.Manifest:
  """Packs accepted images into WORK/export/<name>-train-image-only.zip, -test.zip, -bucket-0.zip.

  Args:
    work: folder of the curation.
    name: name of the data set; archives of "clear10" have the names that its builder looks for.
    suffix: ".zip" or ".tar".
    test_per_class: number of images of each class and bucket in the archive of test images.
    bucket_0: whether to pack all images of bucket 0, without labels.
    again: whether to replace a step that was done with other inputs.
  """
  before = manifest.verified(work, collection.VOTES)

  def write(folder: pathlib.Path) -> manifest.Counts:
    items = voting.accepted(work)
    names = manifest.verified(work, collection.QUERIES).counts["classes"]
    lacking = check_classes(items, names)
    train, test = divided(items, test_per_class)
    source, known = _source(work), _digests(work)

    def check(path: pathlib.Path) -> None:
      if known.get(path) != storage.digest(path):
        raise errors.CurationError(f"{path} is not the image that was reviewed: the file has "
                                   "changed. Put it back, or review it again.")

    for top, chosen in ((clear_archive.TRAIN, train), (clear_archive.TEST, test)):
      if chosen:
        file = f"{name}-{'train-image-only' if top == clear_archive.TRAIN else 'test'}{suffix}"
        pictures = [source.picture(*item) for item in chosen]
        clear_archive.write(folder / file, clear_archive.labeled(pictures, names, top), check)
    counts = _counts(names, train, test, lacking)
    if bucket_0:
      counts["bucket_0"] = _pack_bucket_0(work, source, folder / f"{name}-bucket-0{suffix}")
    return counts

  return manifest.run(
      work, collection.EXPORT, again=again, write=write, inputs={collection.VOTES: [before.path]},
      parameters={"name": name, "suffix": suffix, "test_per_class": test_per_class,
                  "bucket_0": bucket_0})


def check_classes(items: Items, names: Sequence[str]) -> list[tuple[int, str]]:
  """Lists (bucket, class) without accepted images; raises an error if a class has none at all."""
  found = {(item.bucket, item.label) for item in items}
  empty = [name for name in names if not any(label == name for _, label in found)]
  if empty:
    raise errors.CurationError(
        f"Nothing was accepted of the classes {errors.some(empty)}. Rephrase their queries, "
        f"decide on {voting.ANOTHER_LOOK} if they were flagged, ask one more reviewer if they are "
        f"ties of {voting.DISPUTED}, or leave them out.")
  buckets = sorted({bucket for bucket, _ in found})
  lacking = [(bucket, name) for bucket in buckets for name in names if (bucket, name) not in found]
  for bucket, name in lacking:
    logging.warning("Nothing was accepted of class %s in bucket %d.", name, bucket)
  return lacking


def divided(items: Items, test_per_class: int) -> tuple[list[votes_lib.Item], list[votes_lib.Item]]:
  """Divides the items into (training, test); the division depends on the ids only."""
  if test_per_class < 0:
    raise errors.CurationError(f"test_per_class={test_per_class} is negative.")
  groups: dict[tuple[int, str], list[str]] = {}
  for item in items:
    groups.setdefault((item.bucket, item.label), []).append(item.id)
  small = [f"{label} in bucket {bucket} ({len(ids)})" for (bucket, label), ids in groups.items()
           if len(ids) <= test_per_class]
  if small:
    raise errors.CurationError(
        f"test_per_class={test_per_class} leaves nothing to train on of {errors.some(small)}. Ask "
        "for fewer test images.")
  test = {(*place, name) for place, ids in groups.items()
          for name in clear_archive.held_out(ids, test_per_class)}
  return ([item for item in items if tuple(item) not in test],
          [item for item in items if tuple(item) in test])


def _source(work: pathlib.Path) -> ImageSource:
  table = collection.table(work)
  images = manifest.verified(work, collection.SHEETS).parameters["images"]
  return ImageSource(table, table.rows(), collection.from_manifest(work, images))


def _digests(work: pathlib.Path) -> dict[pathlib.Path, str]:
  """Maps image files to their digests when the sheets were made."""
  source = _source(work)
  path = manifest.verified(work, collection.SHEETS).folder / collection.IMAGE_FILE
  return {source.table.file(source.rows[line["id"]], source.root): line["blake2b"]
          for line in storage.read_csv(path, ["id", "blake2b"])}


def _counts(names: Sequence[str], train: Items, test: Items, lacking: Sequence[tuple[int, str]]
            ) -> dict[str, Any]:
  def by_bucket(items: Items) -> dict[str, int]:
    buckets = [item.bucket for item in items]
    return {str(bucket): buckets.count(bucket) for bucket in sorted(set(buckets))}

  return {"train_images": len(train), "test_images": len(test), "classes": list(names),
          "train": by_bucket(train), "test": by_bucket(test),
          "nothing_accepted": [{"bucket": bucket, "class": name} for bucket, name in lacking]}


def _pack_bucket_0(work: pathlib.Path, source: ImageSource, path: pathlib.Path) -> int:
  rows = np.flatnonzero(collection.buckets(work) == 0)
  collection.check_files(source.table, rows.tolist(), source.root)
  names = sorted(str(source.table.ids[row]) for row in rows)
  clear_archive.write(path, clear_archive.unlabeled(
      [source.picture(0, "", name) for name in names]))
  return len(names)
