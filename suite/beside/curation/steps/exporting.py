# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The step `export`: accepted images as archives in the layout of CLEAR's present edition.

Bucket 0 has an archive without labels, which encoders are pretrained on (section 5, "Unsupervised
pre-training").

Archives of equal content are byte-equal:

    train/class_names.txt
    train/labeled_images/<bucket>/<class>/<id>.jpg
    train/labeled_metadata.json
    train/labeled_metadata/<bucket>/<class>.json

`tfds_builders/parsers/clear_listing.py` reads it. Members are sorted, uncompressed (images are
compressed already, and compressed bytes would depend on the version of zlib) and dated 1980.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence
import hashlib
import io
import json
import pathlib
import tarfile
from typing import BinaryIO, NamedTuple
import zipfile

from absl import logging
import numpy as np

from suite.beside.curation import collection
from suite.beside.curation import errors
from suite.beside.curation import image_table
from suite.beside.curation import manifest
from suite.beside.curation import pictures
from suite.beside.curation import storage
from suite.beside.curation import votes
from suite.beside.curation.steps import voting
from suite.system import atomic_files
from tfds_builders.parsers import images

Items = Sequence[votes.Item]
TRAIN, TEST = "train", "test"
_FORMATS = (".zip", ".tar")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_SECONDS_OF_1980 = 315532800


class ImageSource(NamedTuple):
  """Origin of the images of a curation: table, id -> row, root folder of paths."""

  table: image_table.ImageTable
  rows: Mapping[str, int]
  root: pathlib.Path | None

  def picture(self, bucket: int, label: str, name: str) -> Picture:
    """Returns an image with its attributes from the table."""
    row = self.rows[name]
    uploaded = f"{self.table.times[row]:.0f}"
    return Picture(bucket, label, name, self.table.file(row, self.root),
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
    table, reviewed = collection.table(work), manifest.verified(work, collection.SHEETS)
    source = ImageSource(table, table.rows(),
                         collection.from_manifest(work, reviewed.parameters["images"]))
    known = {table.file(source.rows[line["id"]], source.root): line["blake2b"] for line in
             storage.read_csv(reviewed.folder / collection.IMAGE_FILE, ["id", "blake2b"])}

    def check(path: pathlib.Path) -> None:
      if known.get(path) != storage.digest(path):
        raise errors.CurationError(f"{path} is not the image that was reviewed: the file has "
                                   "changed. Put it back, or review it again.")

    for top, chosen in ((TRAIN, train), (TEST, test)):
      if chosen:
        file = f"{name}-{'train-image-only' if top == TRAIN else 'test'}{suffix}"
        pictures = [source.picture(*item) for item in chosen]
        write_archive(folder / file, labeled(pictures, names, top), check)
    by_bucket = {top: {str(bucket): num for bucket, num in sorted(
        collections.Counter(item.bucket for item in chosen).items())}
                 for top, chosen in ((TRAIN, train), (TEST, test))}
    counts: manifest.Counts = {
        "train_images": len(train), "test_images": len(test), "classes": list(names), **by_bucket,
        "nothing_accepted": [{"bucket": bucket, "class": label} for bucket, label in lacking]}
    if bucket_0:
      rows = np.flatnonzero(collection.buckets(work) == 0)
      collection.check_files(table, rows.tolist(), source.root)
      ids = sorted(str(table.ids[row]) for row in rows)
      write_archive(folder / f"{name}-bucket-0{suffix}",
                    unlabeled([source.picture(0, "", one) for one in ids]))
      counts["bucket_0"] = len(ids)
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


def divided(items: Items, test_per_class: int) -> tuple[list[votes.Item], list[votes.Item]]:
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
          for name in held_out(ids, test_per_class)}
  return ([item for item in items if tuple(item) not in test],
          [item for item in items if tuple(item) in test])


Content = bytes | pathlib.Path


class Picture(NamedTuple):
  """One image to pack.

  Attributes:
    bucket, label, id: place in the archive; label "" for unlabeled images of bucket 0.
    path: path of the image file.
    metadata: attributes of the image, by the keys of Flickr's tables.
  """

  bucket: int
  label: str
  id: str
  path: pathlib.Path
  metadata: Mapping[str, str]


def labeled(pictures_: Sequence[Picture], class_names: Sequence[str], top: str
             ) -> dict[str, Content]:
  """Lists the members of an archive of labeled images; `top` is `TRAIN` or `TEST`."""
  members: dict[str, Content] = {
      f"{top}/class_names.txt": "\n".join(sorted(class_names)).encode("ascii")}
  tables: dict[int, dict[str, dict[str, Mapping[str, str]]]] = {}
  for one in pictures_:
    place = f"labeled_images/{one.bucket}/{one.label}/{one.id}{_suffix(one.path)}"
    members[f"{top}/{place}"] = one.path
    of_class = tables.setdefault(one.bucket, {}).setdefault(one.label, {})
    of_class[one.id] = {**one.metadata, "ID": one.id, "IMG_PATH": place}
  listing: dict[str, dict[str, str]] = {}
  for bucket, of_bucket in tables.items():
    for label, facts in of_bucket.items():
      place = f"labeled_metadata/{bucket}/{label}.json"
      listing.setdefault(str(bucket), {})[label] = place
      members[f"{top}/{place}"] = _json(facts)
  members[f"{top}/labeled_metadata.json"] = _json(listing)
  return members


def unlabeled(pictures_: Sequence[Picture]) -> dict[str, Content]:
  """Lists the members of an archive of bucket 0, which has no labels."""
  return {f"all_images/{one.bucket}/{one.id}{_suffix(one.path)}": one.path for one in pictures_}


def write_archive(path: pathlib.Path, members: Mapping[str, Content],
          check: Callable[[pathlib.Path], None] = lambda path: None) -> None:
  """Writes a .zip or .tar atomically.

  Args:
    path: path of the archive.
    members: name -> content or path of a file.
    check: called with the path of each file; raises an error if the file has changed.
  """
  if path.suffix not in _FORMATS:
    raise errors.CurationError(f"{path} is none of {', '.join(_FORMATS)}.")
  pack = _zip if path.suffix == ".zip" else _tar
  with atomic_files.opening(path) as file:
    pack(file, members, check)


def _zip(file: BinaryIO, members: Mapping[str, Content], check: Callable[[pathlib.Path], None]
         ) -> None:
  with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
    for name in sorted(members):
      info = zipfile.ZipInfo(name, _EPOCH)
      info.create_system, info.external_attr = 3, 0o100644 << 16
      archive.writestr(info, _bytes(members[name], check))


def _tar(file: BinaryIO, members: Mapping[str, Content], check: Callable[[pathlib.Path], None]
         ) -> None:
  with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
    for name in sorted(members):
      data = _bytes(members[name], check)
      info = tarfile.TarInfo(name)
      info.size, info.mtime, info.mode = len(data), _SECONDS_OF_1980, 0o644
      archive.addfile(info, io.BytesIO(data))


def _bytes(content: Content, check: Callable[[pathlib.Path], None]) -> bytes:
  if isinstance(content, bytes):
    return content
  check(content)
  return pictures.packed(content, images.png)


def _suffix(path: pathlib.Path) -> str:
  """File suffix that the parser expects: .jpg of a JPEG that is packed as it is, else .png."""
  try:
    with open(path, "rb") as file:
      start = file.read(len(images.JPEG))
  except OSError as error:
    raise errors.CurationError(f"{path} cannot be read: {error.strerror}.") from error
  is_jpeg = start == images.JPEG and pictures.packed(path, images.png).startswith(images.JPEG)
  return ".jpg" if is_jpeg else ".png"


def _json(content: Mapping[str, object]) -> bytes:
  return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True).encode("utf-8")


def held_out(ids: Sequence[str], num: int) -> list[str]:
  """Chooses `num` of the ids for testing: those with the lowest digests, in any input order."""
  return sorted(ids, key=lambda name: (hashlib.blake2b(name.encode()).digest(), name))[:num]
