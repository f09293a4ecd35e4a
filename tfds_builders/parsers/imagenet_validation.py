# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ImageNet's validation images: a flat tar, and the development kit with their labels.

In the kit, `data/ILSVRC2012_validation_ground_truth.txt` has one number per line, in the order of
the file names, and `data/meta.mat` has the WordNet id of each number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re

import numpy as np

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import mat_files

_IMAGE = re.compile(r"(?:^|/)(?P<item>ILSVRC2012_val_(?P<number>\d{8}))\.JPEG$")
_TRUTH = "ILSVRC2012_validation_ground_truth.txt"
_META = "meta.mat"


def parse(paths: Mapping[str, pathlib.Path], *, image_file: str, kit_file: str, domain: str
          ) -> Iterator[example.Example]:
  """Yields the validation images as `test`; labels are WordNet ids.

  Args:
    paths: file name -> path.
    image_file: the file of the images.
    kit_file: the development kit.
    domain: the feature "domain" of all examples.
  """
  labels = read_kit(paths[kit_file])
  seen = set()
  for name, data in archives.members(paths[image_file], lambda name: bool(_IMAGE.search(name))):
    match = _IMAGE.search(name)
    assert match is not None
    number = int(match["number"])
    if not 1 <= number <= len(labels):
      raise errors.DataError(f"{paths[image_file]}, member {name!r} has no label: the kit has "
                             f"{len(labels)}. The files do not belong together.")
    seen.add(number)
    where = f"{paths[image_file]}, member {name!r}"
    yield example.Example(splits.TEST, match["item"], labels[number - 1],
                          images.encoded(data, where), where, extra={"domain": domain})
  if len(seen) != len(labels):
    missing = sorted(set(range(1, len(labels) + 1)) - seen)[:3]
    raise errors.DataError(f"{paths[image_file]} has {len(seen)} images, the kit {len(labels)} "
                           f"labels; missing: {missing}, ... The archive is incomplete.")


def read_kit(path: pathlib.Path) -> list[str]:
  """Returns the WordNet id of each validation image, in the order of their numbers."""
  found: dict[str, bytes] = {
      archives.base_name(name): data for name, data in archives.members(
          path, lambda name: archives.base_name(name) in (_TRUTH, _META))}
  for name in (_TRUTH, _META):
    if name not in found:
      raise errors.DataError(f"{path} has no {name}: it is not the development kit "
                             "ILSVRC2012_devkit_t12.tar.gz.")
  synsets = mat_files.read(found[_META], f"{path}, {_META}", ["synsets"], squeeze=True)["synsets"]
  try:
    wnids = {int(one["ILSVRC2012_ID"]): str(one["WNID"]) for one in np.atleast_1d(synsets)}
    return [wnids[int(line)] for line in found[_TRUTH].split()]
  except (KeyError, ValueError, IndexError, TypeError) as error:
    raise errors.DataError(f"{path}: {_TRUTH} and {_META} do not agree: {error!r}. Get the "
                           "development kit again.") from error


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, image_file: str, kit_file: str, domain: str
                  ) -> Mapping[str, int]:
  """Writes tiny files of this layout; returns the number of examples by source split."""
  del file_names, domain
  size = per_class * len(class_names)
  # The numbers of the kit are not in the order of the WordNet ids.
  numbers = {name: len(class_names) - place for place, name in enumerate(class_names)}
  synsets = np.array([(number, name) for name, number in numbers.items()],
                     dtype=[("ILSVRC2012_ID", "f8"), ("WNID", "O")])
  truth = [numbers[class_names[item % len(class_names)]] for item in range(size)]
  fixtures.write_archive(directory / kit_file, {
      f"ILSVRC2012_devkit_t12/data/{_META}": mat_files.packed({"synsets": synsets}),
      f"ILSVRC2012_devkit_t12/data/{_TRUTH}": "".join(f"{one}\n" for one in truth).encode(),
      "ILSVRC2012_devkit_t12/readme.txt": b"not read"})
  fixtures.write_archive(directory / image_file, {
      f"ILSVRC2012_val_{item + 1:08d}.JPEG": images.png(fixtures.pixels((4, 4, 3), item))
      for item in range(size)})
  return {splits.TEST: size}
