# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives of images whose names tell label and domain: `gaussian_noise/3/n01440764/a.JPEG`."""

from __future__ import annotations

import pathlib
import re
from typing import Any, Dict, Iterator, Mapping, Sequence

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp")
_PIECES = {"domain": "[a-z0-9_]+?", "severity": "[1-5]", "item": "[^/]+"}


def parse(paths: Mapping[str, pathlib.Path], *, template: str, domains: Mapping[str, str],
          skip: str = "(?!)", numbers: bool = False) -> Iterator[example.Example]:
  """Yields the images under the part of their name that the template matches, less the extension.

  Keys begin with the archive's name if there are several.

  Args:
    paths: file name -> path; every file is read.
    template: of the end of member names, with {label}, {item} and perhaps {domain}, {severity} and
      others; folders before it do not matter.
    domains: file name -> template of the feature "domain", perhaps with {domain}.
    skip: regular expression of items that are left out.
    numbers: labels are numbers, not names.
  """
  pattern = _compiled(template, numbers)
  for file, path in paths.items():
    unmatched, num_matched = [], 0
    for name, data in archives.members(path, lambda name: name.lower().endswith(_ENDINGS)):
      match = pattern.search(name)
      if match is None:
        unmatched.append(name)
        continue
      num_matched += 1
      fields = match.groupdict()
      if re.fullmatch(skip, fields["item"]):
        continue
      key = match.group("key").rsplit(".", 1)[0]
      extra: Dict[str, Any] = {"domain": domains[file].format(**fields)}
      if "severity" in fields:
        extra["severity"] = int(fields["severity"])
      where = f"{path}, member {name!r}"
      yield example.Example(
          splits.TEST, f"{_stem(file)}/{key}" if len(paths) > 1 else key,
          int(fields["label"]) if numbers else fields["label"], images.encoded(data, where), where,
          extra=extra)
    if unmatched or not num_matched:
      raise errors.DataError(
          f"{path} has another layout than {template!r}: {num_matched} image files match, "
          f"{len(unmatched)} do not{f', such as {sorted(unmatched)[:3]}' if unmatched else ''}. "
          "It may be another edition of the data set.")


def _stem(file: str) -> str:
  return file.split(".", 1)[0]


def _compiled(template: str, numbers: bool) -> re.Pattern[str]:
  out = ""
  for index, piece in enumerate(re.split(r"\{(\w+)\}", template)):
    if index % 2 == 0:
      out += re.escape(piece)
    elif piece == "label":
      out += r"(?P<label>\d+)" if numbers else "(?P<label>[^/]+)"
    else:
      out += f"(?P<{piece}>{_PIECES.get(piece, '[^/]+')})"
  return re.compile(f"(?:^|/)(?P<key>{out})$")


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
