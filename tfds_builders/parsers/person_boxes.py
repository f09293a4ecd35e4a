# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""PASCAL VOC's people and their actions: a crop of each annotated person with all its actions.

`ImageSets/Action/ACTION_SET.txt` names the photographs, `Annotations/PHOTO.xml` holds a box and
flags for each person. Boxes count pixels from 1 and include the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_ANNOTATION = re.compile(r"(?:^|/)Annotations/([^/]+)\.xml$")
_PHOTO = re.compile(r"(?:^|/)JPEGImages/([^/]+)\.jpg$")
_SIDES = ("xmin", "ymin", "xmax", "ymax")


class _Person(NamedTuple):
  number: int  # Of the object in its photograph, from 1, as the lists of actions count.
  box: tuple[int, int, int, int]  # Left, top, right, bottom; from 0, the ends exclusive.
  actions: tuple[str, ...]


def parse(paths: Mapping[str, pathlib.Path], *, name: str, split: str, listed: Sequence[str],
          actions: Sequence[str], by_photo: bool = True) -> Iterator[example.Example]:
  """Yields the people of the photographs, photographs in the order of the archives.

  Args:
    paths: file name -> path; every file is read twice.
    name: of the set whose lists are read, "trainval".
    split: the source split of all examples.
    listed: the actions with a list.
    actions: the actions that can be flagged.
    by_photo: whether the people of one photograph are a group.
  """
  for path in paths.values():
    people = _read_annotations(path, name, listed, actions)
    missing = set(people)

    def wanted(member: str, people=people) -> bool:
      match = _PHOTO.search(member)
      return bool(match) and match[1] in people  # type: ignore[index]

    for member, data in archives.members(path, wanted):
      match = _PHOTO.search(member)
      assert match is not None
      missing.discard(match[1])
      where = f"{path}, member {member!r}"
      for one, crop in zip(people[match[1]], _crops(data, people[match[1]], where)):
        yield example.Example(split, f"{match[1]}/{one.number}", one.actions, crop,
                              f"{where}, object {one.number}", match[1] if by_photo else None)
    if missing:
      raise errors.DataError(f"{path} is missing {len(missing)} of {len(people)} listed "
                             f"photographs, such as {sorted(missing)[:3]}. It is incomplete: get "
                             "it again.")


def _read_annotations(path: pathlib.Path, name: str, listed: Sequence[str],
                      actions: Sequence[str]) -> dict[str, list[_Person]]:
  """Returns the people in each photograph that the lists name."""
  lists = re.compile(rf"(?:^|/)ImageSets/Action/({'|'.join(map(re.escape, listed))})_"
                     rf"{re.escape(name)}\.txt$")
  photos: set[str] = set()
  seen: set[str] = set()
  documents: dict[str, tuple[str, bytes]] = {}
  for member, data in archives.members(
      path, lambda member: bool(lists.search(member) or _ANNOTATION.search(member))):
    found, document = lists.search(member), _ANNOTATION.search(member)
    if found:
      seen.add(found[1])
      photos |= _read_list(data, f"{path}, member {member!r}")
    elif document:
      documents[document[1]] = f"{path}, member {member!r}", data
  lacking = sorted(set(listed) - seen) or sorted(photos - set(documents))
  if lacking or not photos:
    raise errors.DataError(
        f"{path} is missing lists ImageSets/Action/ACTION_{name}.txt, or annotations of "
        f"photographs that they name, such as {lacking[:3]}. It is incomplete, or another edition: "
        "get it again.")
  return {photo: _people(*documents[photo], actions) for photo in sorted(photos)}


def _read_list(data: bytes, where: str) -> set[str]:
  photos = set()
  for number, line in enumerate(data.decode("ascii", "replace").splitlines(), start=1):
    fields = line.split()
    if fields and len(fields) != 3:
      raise errors.DataError(f"{where}, line {number} is {line[:60]!r}; a photograph, a person and "
                             "a flag were expected. Get the archive again.")
    photos.update(fields[:1])
  return photos


def _people(where: str, data: bytes, actions: Sequence[str]) -> list[_Person]:
  """Returns the objects with flags for actions; others are not annotated for this task."""
  found = []
  for number, one in enumerate(_document(data, where).findall("object"), start=1):
    flags = one.find("actions")
    if flags is None:
      continue
    unknown = sorted({flag.tag for flag in flags} - set(actions))
    if unknown:
      raise errors.DataError(f"{where}, object {number} has the actions {unknown}; allowed are "
                             f"{list(actions)}. It is of another edition.")
    raised = {flag.tag for flag in flags if (flag.text or "").strip() == "1"}
    found.append(_Person(number, _box(one, f"{where}, object {number}"),
                         tuple(action for action in actions if action in raised)))
  if not found:
    raise errors.DataError(f"{where} has no person with actions, but a list names it. Get the "
                           "archive again.")
  return found


def _box(one: ElementTree.Element, where: str) -> tuple[int, int, int, int]:
  texts = [one.findtext(f"bndbox/{side}") or "" for side in _SIDES]
  try:
    left, top, right, bottom = (int(float(text)) for text in texts)
  except (ValueError, OverflowError) as error:
    raise errors.DataError(f"{where} has the box {dict(zip(_SIDES, texts))}; four numbers were "
                           "expected. Get the archive again.") from error
  return left - 1, top - 1, right, bottom


def _document(data: bytes, where: str) -> ElementTree.Element:
  """Parses an XML document; one with a document type (and so entities) is refused."""
  builder = ElementTree.TreeBuilder()
  parser = expat.ParserCreate()

  def refuse(*_: Any) -> None:
    raise errors.DataError(f"{where} has a document type; annotations have none, and "
                           "entities are not trusted. Get the archive from its publisher.")

  parser.StartDoctypeDeclHandler = refuse
  parser.StartElementHandler = builder.start
  parser.EndElementHandler = builder.end
  parser.CharacterDataHandler = builder.data
  try:
    parser.Parse(data, True)
    return builder.close()
  except (expat.ExpatError, AssertionError) as error:
    raise errors.DataError(f"{where} is not an XML document: {error}. Get it again.") from error


def _crops(data: bytes, people: Sequence[_Person], where: str) -> list[bytes]:
  """Returns PNG crops of a photograph, or the bytes of one that does not decode."""
  try:
    with images.pillow_image(data, where, ("JPEG",)) as image:
      pixels = np.asarray(image.convert("RGB"))
  except errors.DataError:
    return [data] * len(people)  # The check for unreadable images reports it.
  found = []
  for one in people:
    left, top, right, bottom = one.box
    crop = pixels[max(0, top):max(0, bottom), max(0, left):max(0, right)]
    if not crop.size:
      raise errors.DataError(f"{where}, object {one.number} has the box {one.box}, outside the "
                             f"photograph of {pixels.shape[1]} x {pixels.shape[0]} pixels. Get the "
                             "archive again.")
    found.append(images.png(crop))
  return found


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, name: str, split: str, listed: Sequence[str],
                  actions: Sequence[str], by_photo: bool = True) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split.

  Each photograph has two people and a dog without actions; there are photographs of other tasks.
  """
  del class_names, by_photo
  top = "VOCdevkit/VOC2012"
  documents, photos, lists = {}, {}, {action: [] for action in listed}  # type: ignore[var-annotated]
  count = per_class * len(actions)
  for index in range(count):
    photo = f"2010_{index:06d}"
    people = ""
    for number in (0, 1):
      raised = actions[(index * (number + 1)) % len(actions)]
      flags = "".join(f"<{action}>{int(action == raised)}</{action}>" for action in actions)
      people += (f"<object><name>person</name><actions>{flags}</actions><bndbox><xmin>{1 + number}"
                 "</xmin><ymin>1</ymin><xmax>5.0</xmax><ymax>6</ymax></bndbox></object>\n")
      for action in listed:
        lists[action].append(f"{photo}  {number + 2} {1 if action == raised else -1}\n")
    documents[f"{top}/Annotations/{photo}.xml"] = (
        f"<annotation><filename>{photo}.jpg</filename><object><name>dog</name></object>{people}"
        "</annotation>").encode()
    photos[f"{top}/JPEGImages/{photo}.jpg"] = fixtures.jpeg((8, 7, 3), index)
  documents[f"{top}/Annotations/2007_000001.xml"] = b"of another task"
  photos[f"{top}/JPEGImages/2007_000001.jpg"] = b"not read"
  texts = {f"{top}/ImageSets/Action/{action}_{name}.txt": "".join(lines).encode()
           for action, lines in lists.items()}
  texts[f"{top}/ImageSets/Action/{name}.txt"] = texts[f"{top}/ImageSets/Main/{name}.txt"] = b"x"
  fixtures.write_archive(directory / file_names[0], {**documents, **texts, **photos})
  return {split: 2 * count}
