# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class folders in several archives or domains, of which some classes are used.

Domains have different names for the same class ("back_pack", "003.backpack").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import functools
import pathlib
import re
from typing import Any

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import templates


def parse(paths: Mapping[str, pathlib.Path], *,
          parts: Mapping[str, Mapping[str, Any]]) -> Iterator[example.Example]:
  """Yields the images of these classes; the key is what the template matches.

  Args:
    paths: file name -> path.
    parts: file name -> {"template": of the end of an image's name without its extension, with
      {domain}, {label} and {item}; "domains": folder that {domain} matches -> source split;
      "classes": folder that {label} matches -> class name}. Other folders are not read.
  """
  for file_name, part in parts.items():
    path = paths[file_name]
    pattern = templates.ending(
        part["template"], {"domain": templates.one_of(part["domains"]),
                           "label": templates.one_of(part["classes"])},
        extensions=("jpg", "jpeg", "png"))
    found: set[str] = set()
    for name, data in archives.members(path, functools.partial(_matches, pattern)):
      match = pattern.search(name)
      assert match is not None
      found.update((match["domain"], match["label"]))
      where = f"{path}, member {name!r}"
      yield example.Example(part["domains"][match["domain"]], match["key"],
                            part["classes"][match["label"]], images.encoded(data, where), where)
    lacking = sorted((set(part["domains"]) | set(part["classes"])) - found)
    if lacking:
      raise errors.DataError(
          f"{path} has no images in {lacking}, named like {part['template']!r}. The archive is "
          "incomplete or another edition: get it again.")


def _matches(pattern: re.Pattern[str], name: str) -> bool:
  return pattern.search(name) is not None


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, parts: Mapping[str, Mapping[str, Any]]) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  del file_names, class_names  # They are those of `parts`.
  counts: dict[str, int] = {}
  seed = 0
  for file_name, part in parts.items():
    members: dict[str, bytes] = {"top/README": b"not an image"}
    for domain, split in part["domains"].items():
      for label in [*part["classes"], "257.clutter"]:
        for index in range(per_class):
          seed += 1
          name = part["template"].format(domain=domain, label=label, item=f"{index:04d}")
          members[f"top/{name}.jpg"] = fixtures.jpeg((6, 5, 3), seed)
          counts[split] = counts.get(split, 0) + (label != "257.clutter")
    fixtures.write_archive(directory / file_name, members)
  return counts
