# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Test images of Open Images with exactly one label that is a class of ImageNet.

A table leads from classes of ImageNet to labels of Open Images, {"759": "/m/0118ms9c"}; another,
with the columns ImageID, LabelName and Confidence (1: a person saw it), has the labels of images.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import csv
import io
import json
import pathlib
import re

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_IMAGE = re.compile(r"(?:^|/)(?P<item>[0-9a-f]{16})\.jpe?g$")


def parse(paths: Mapping[str, pathlib.Path], *, image_file: str, label_file: str, class_file: str,
          domain: str) -> Iterator[example.Example]:
  """Yields the images with one label of ImageNet; labels are its classes.

  Args:
    paths: file name -> path.
    image_file: the archive of the test images, named by their ids.
    label_file: the table of labels of images.
    class_file: the table of classes.
    domain: the feature "domain" of all examples.
  """
  classes = {label: int(place)
             for place, label in json.loads(archives.read_content(paths[class_file])).items()}
  seen: dict[str, set[int]] = {}
  with archives.open_content(paths[label_file]) as stream:
    for line in csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8", newline="")):
      if line["LabelName"] in classes and float(line["Confidence"]) == 1:
        seen.setdefault(line["ImageID"], set()).add(classes[line["LabelName"]])
  label_of = {item: min(found) for item, found in seen.items() if len(found) == 1}
  if not label_of:
    raise errors.DataError(f"{paths[label_file]} has no image with one label of "
                           f"{paths[class_file]}: they do not belong together.")

  def wanted(name: str) -> bool:
    match = _IMAGE.search(name)
    return match is not None and match["item"] in label_of

  num_found = 0
  for name, data in archives.members(paths[image_file], wanted):
    match = _IMAGE.search(name)
    assert match is not None
    num_found += 1
    where = f"{paths[image_file]}, member {name!r}"
    yield example.Example(splits.TEST, match["item"], label_of[match["item"]],
                          images.encoded(data, where), where, extra={"domain": domain})
  if num_found != len(label_of):
    raise errors.DataError(f"{paths[image_file]} has {num_found} of the {len(label_of)} images "
                           "with one label of ImageNet: it is incomplete, or of another split.")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, image_file: str, label_file: str, class_file: str, domain: str
                  ) -> Mapping[str, int]:
  """Writes tiny files of this layout: images of one class, of two, and of a rejected label."""
  del file_names, domain
  size = len(class_names)
  lines, members = ["ImageID,Source,LabelName,Confidence"], {"test/readme.txt": b"not read"}
  for item in range(size * per_class + 2):
    name = f"{item:016x}"
    members[f"test/{name}.jpg"] = images.png(fixtures.pixels((4, 4, 3), item))
    lines += [f"{name},verification,/m/{item % size},{int(item != size * per_class)}",
              f"{name},verification,/m/elsewhere,1"]
  lines.append(f"{size * per_class + 1:016x},verification,/m/{size * per_class % size},1")
  fixtures.write_archive(directory / image_file, members)
  (directory / label_file).write_text("".join(f"{line}\n" for line in lines))
  (directory / class_file).write_text(json.dumps({str(i): f"/m/{i}" for i in range(size)}))
  return {splits.TEST: size * per_class}
