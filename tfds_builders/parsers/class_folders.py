# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives of image files; a template of the member names gives label and split.

`"{split}/{label}/{item}.jpg"` reads `any/folders/train/airplane/0001.jpg`: each field matches a
piece of the name without a slash; any folders may come before the template. The field {extension}
matches png, jpg and jpeg, in small or capital letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re

from tfds_builders import splits as splits_lib
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import templates

_IMAGE = re.compile(r"(?i)\.(?:jpe?g|png|p[gp]m)$")
_POOLED = {splits_lib.POOL: splits_lib.POOL}


def parse(paths: Mapping[str, pathlib.Path], *, template: str,
          split_folders: Mapping[str, str] | None = None,
          ignore: str = "(?!)") -> Iterator[example.Example]:
  """Yields the images; the key is the part of the name that the template matches, less extension.

  Args:
    paths: file name -> path; every file is read.
    template: of member names, with {label}, {item} and optionally {split}.
    split_folders: folder name that {split} matches -> source split. None: all images are one pool.
    ignore: regular expression of image files (whole names) that are not examples.
  """
  split_folders = split_folders or _POOLED
  pattern = templates.ending(template, {"split": templates.one_of(split_folders),
                                         "extension": "(?i:png|jpe?g)"})
  for path in paths.values():
    for match, where, data in templates.matching(
        path, pattern, template, images=_IMAGE, ignore=re.compile(rf"\A(?:{ignore})\Z")):
      fields = match.groupdict()
      yield example.Example(
          split_folders[fields.get("split", splits_lib.POOL)],
          match.group("key").rsplit(".", 1)[0], fields["label"], images.encoded(data, where), where)


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, template: str,
                  split_folders: Mapping[str, str] | None = None,
                  ignore: str = "(?!)") -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split."""
  del ignore
  members = {"top/README": b"not an image"}
  for folder in split_folders or _POOLED:
    for label in class_names:
      for item in range(1, per_class + 1):
        name = template.format(split=folder, label=label, item=item)
        members[f"top/{name}"] = picture(name, (7, 5, 3), seed=len(members))
  fixtures.write_archive(directory / file_names[0], members)
  return {split: per_class * len(class_names) for split in (split_folders or _POOLED).values()}


def picture(name: str, shape: tuple[int, int, int], seed: int) -> bytes:
  """Returns an image in the format that its name ends with; of .pgm the first channel."""
  if name.endswith(".pgm"):
    return fixtures.pgm(shape[:2], seed)
  if name.endswith(".png"):
    return images.png(fixtures.pixels(shape, seed))
  return fixtures.jpeg(shape, seed)
