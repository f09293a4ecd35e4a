# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""PASCAL VOC with one label per image: `ImageSets/<class>_<set>.txt` lists the images of a class.

A line is `<image> 1`, `-1` or `0`: the class is present, absent, or present only in instances that
are hard to see. An image can have several classes; `several` says how they become one label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import listed_images

DROP = "drop"  # Images with several classes are left out.
LAST = "last"  # The class whose list comes last in the archive.

_VALUES = ("1", "0", "-1")


def parse(paths: Mapping[str, pathlib.Path], *, sets: Mapping[str, tuple[str, str]], image: str,
          several: str = DROP) -> Iterator[example.Example]:
  """Yields the images that show one class, in the order of the archives.

  Args:
    paths: file name -> path.
    sets: file name -> (set whose lists it holds, source split).
    image: template of the end of an image's name, with {item}.
    several: DROP or LAST, for images that show several classes.
  """
  if several not in (DROP, LAST):
    raise ValueError(f"Got several={several!r}; allowed are {DROP!r} and {LAST!r}.")
  pattern = listed_images.name_pattern(image, ("item",))
  for file_name, (name, split) in sets.items():
    path = paths[file_name]
    classes = _read_classes(path, name)
    table = {key: listed_images.ListEntry(split, shown[-1]) for key, shown in classes.items()
             if shown and (several == LAST or len(shown) == 1)}
    yield from listed_images.join([path], pattern, table, unlisted=True)


def _read_classes(path: pathlib.Path, name: str) -> dict[str, list[str]]:
  """Returns the classes of each image, in the order of their lists in the archive."""
  pattern = re.compile(rf"(?:^|/)ImageSets/(?:Main/)?(?P<label>[^/]+)_{re.escape(name)}\.txt$")
  shown: dict[str, list[str]] = {}
  lengths: dict[str, int] = {}
  for member, data in archives.members(path, lambda member: bool(pattern.search(member))):
    match = pattern.search(member)
    assert match is not None
    label = match["label"]
    lengths[label] = 0
    for number, line in enumerate(data.decode("ascii", "replace").splitlines(), start=1):
      fields = line.split()
      if not fields:
        continue
      if len(fields) != 2 or fields[1] not in _VALUES:
        raise errors.DataError(f"{path}, member {member!r}, line {number} is {line[:60]!r}; an "
                               f"image and one of {_VALUES} were expected. Get the archive again.")
      lengths[label] += 1
      shown.setdefault(fields[0], [])
      if fields[1] == "1":
        shown[fields[0]].append(label)
  if not lengths or not all(lengths.values()):
    raise errors.DataError(
        f"{path} has no list ImageSets/CLASS_{name}.txt, or an empty one; lines by "
        f"class: {lengths}. It is incomplete: get it again.")
  return shown


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, sets: Mapping[str, tuple[str, str]], image: str,
                  several: str = DROP) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  counts: dict[str, int] = {}
  total = 0
  for file_name in file_names:
    name, split = sets[file_name]
    shown: dict[str, Sequence[str]] = {}
    for label in (label for label in class_names for _ in range(per_class)):
      total += 1
      shown[f"{total:06d}"] = (label,)
    both, neither = f"{total + 1:06d}", f"{total + 2:06d}"
    total += 2
    shown.update({both: class_names[:2], neither: ()})
    members = {}
    for label in class_names:
      lines = [f"{key}  {'1' if label in labels else '-1'}\n" for key, labels in shown.items()]
      members[f"VOCdevkit/VOC2006/ImageSets/{label}_{name}.txt"] = "".join(lines).encode()
      members[f"VOCdevkit/VOC2006/ImageSets/{label}_val.txt"] = b"another set"
    members[f"VOCdevkit/VOC2006/ImageSets/{name}.txt"] = "\n".join(shown).encode()
    for index, key in enumerate(shown):
      members[f"VOCdevkit/VOC2006/Annotations/{key}.txt"] = b"# not read"
      members[f"VOCdevkit/VOC2006/{image.format(item=key)}"] = images.png(
          fixtures.pixels((6, 7, 3), 1000 * len(counts) + index))
    fixtures.write_archive(directory / file_name, members)
    counts[split] = per_class * len(class_names) + (several == LAST)
  return counts
