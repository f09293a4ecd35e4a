# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives of images whose names give label and domain: `gaussian_noise/3/n01440764/a.JPEG`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re
from typing import Any

from tfds_builders import splits
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import templates

_IMAGE = re.compile(r"(?i)\.(?:jpe?g|png|bmp|gif|webp)$")
_PIECES = {"domain": "[a-z0-9_]+?", "severity": "[1-5]"}


def parse(paths: Mapping[str, pathlib.Path], *, template: str, domains: Mapping[str, str],
          skip: str = "(?!)", numbers: bool = False) -> Iterator[example.Example]:
  """Yields the images; the key is the part of the name that the template matches, less extension.

  Keys begin with the name of the archive if there are several archives.

  Args:
    paths: file name -> path; every file is read.
    template: of the end of member names, with {label}, {item} and optionally {domain}, {severity}
      and others; any folders may come before it.
    domains: file name -> template of the feature "domain", optionally with {domain}.
    skip: regular expression of items that are left out.
    numbers: labels are numbers, not names.
  """
  pattern = templates.ending(
      template, {**_PIECES, "label": r"\d+" if numbers else templates.PIECE})
  for file, path in paths.items():
    for match, where, data in templates.matching(path, pattern, template, images=_IMAGE,
                                                 ignore=re.compile("(?!)")):
      fields = match.groupdict()
      if re.fullmatch(skip, fields["item"]):
        continue
      key = match.group("key").rsplit(".", 1)[0]
      extra: dict[str, Any] = {"domain": domains[file].format(**fields)}
      if "severity" in fields:
        extra["severity"] = int(fields["severity"])
      yield example.Example(
          splits.TEST, f"{file.split('.', 1)[0]}/{key}" if len(paths) > 1 else key,
          int(fields["label"]) if numbers else fields["label"], images.encoded(data, where), where,
          extra=extra)


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, template: str, domains: Mapping[str, str], skip: str = "(?!)",
                  numbers: bool = False) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  del domains, skip
  total = 0
  for number, file in enumerate(file_names):
    members = {"top/README.txt": b"not an image"}
    for place, label in enumerate(class_names):
      for item in range(per_class):
        name = template.format(label=place if numbers else label, item=f"{item}.jpg",
                               domain=("art", "toy")[item % 2], severity=item % 5 + 1, split="test",
                               set=f"set-{item % 2}")
        seed = number * 10**6 + len(members)
        members[f"top/{name}"] = images.png(fixtures.pixels((4, 4, 3), seed))
    total += len(members) - 1
    fixtures.write_archive(directory / file, members)
  return {splits.TEST: total}
