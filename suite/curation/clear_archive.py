# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives in the layout of CLEAR's present edition, byte-equal for equal content.

    train/class_names.txt
    train/labeled_images/<bucket>/<class>/<id>.jpg
    train/labeled_metadata.json
    train/labeled_metadata/<bucket>/<class>.json

`tfds_builders/parsers/clear_listing.py` reads it. Members are sorted, uncompressed (images are
compressed already, and compressed bytes would depend on the version of zlib) and dated 1980.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import hashlib
import io
import json
import pathlib
import tarfile
from typing import Callable, NamedTuple, Union
import zipfile

import numpy as np

from suite.curation import errors
from suite.curation import pictures
from suite.system import atomic_files
from tfds_builders.parsers import images

TRAIN, TEST = "train", "test"
_FORMATS = (".zip", ".tar")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_SECONDS_OF_1980 = 315532800

Content = Union[bytes, pathlib.Path]


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


def write(path: pathlib.Path, members: Mapping[str, Content],
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


def _zip(file, members: Mapping[str, Content], check) -> None:
  with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
    for name in sorted(members):
      info = zipfile.ZipInfo(name, _EPOCH)
      info.create_system, info.external_attr = 3, 0o100644 << 16
      archive.writestr(info, _bytes(members[name], check))


def _tar(file, members: Mapping[str, Content], check) -> None:
  with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
    for name in sorted(members):
      data = _bytes(members[name], check)
      info = tarfile.TarInfo(name)
      info.size, info.mtime, info.mode = len(data), _SECONDS_OF_1980, 0o644
      archive.addfile(info, io.BytesIO(data))


def _bytes(content: Content, check) -> bytes:
  if isinstance(content, bytes):
    return content
  check(content)
  data = content.read_bytes()
  if data.startswith((images.JPEG, images.PNG)):
    return data
  with pictures.opened(content) as image:
    return images.png(np.asarray(image))


def _suffix(path: pathlib.Path) -> str:
  """File suffix that the parser expects; an image that is neither JPEG nor PNG is packed as PNG."""
  try:
    with open(path, "rb") as file:
      start = file.read(len(images.JPEG))
  except OSError as error:
    raise errors.CurationError(f"{path} cannot be read: {error.strerror}.") from error
  return ".jpg" if start == images.JPEG else ".png"


def _json(content: Mapping[str, object]) -> bytes:
  return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True).encode("utf-8")


def held_out(ids: Sequence[str], num: int) -> list[str]:
  """Chooses `num` of the ids for testing: those with the lowest digests, in any input order."""
  return sorted(ids, key=lambda name: (hashlib.blake2b(name.encode()).digest(), name))[:num]
