# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One archive per class, each with its images, a training and a test list (ig02)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images


def parse(paths: Mapping[str, pathlib.Path], *, labels: Mapping[str, str], ending: str,
          pooled: bool = False) -> Iterator[example.Example]:
  """Yields the images: those in a test list are test images, all others training images.

  Args:
    paths: file name -> path.
    labels: file name -> class; the lists are named <class>_train.txt and <class>_test.txt.
    ending: of the names of images; the lists have the name before it.
    pooled: all images are one pool, those of the training lists first, archive by archive.
  """
  listed = {file: _lists(paths[file], label) for file, label in labels.items()}
  for on_train_list in ((True, False) if pooled else (None,)):
    for file, label in labels.items():
      path, trained, tested = paths[file], *listed[file]
      missing = trained | tested
      for name, data in archives.members(path, lambda name: name.endswith(ending)):
        item = _item(name[:-len(ending)])
        missing.discard(item)
        if on_train_list is not None and (item in trained) != on_train_list:
          continue
        split = splits.POOL if pooled else splits.TEST if item in tested else splits.TRAIN
        where = f"{path}, member {name!r}"
        yield example.Example(split, f"{label}/{item}", label, images.encoded(data, where), where)
      if missing:
        raise errors.DataError(f"{path} is missing {len(missing)} images of its lists, such as "
                               f"{min(missing)}{ending}. It is incomplete: get it again.")


def _item(text: str) -> str:
  """Returns the name of an image without the folders and endings that a list gives it."""
  return re.sub(r"(?:\.image)?(?:\.png)?$", "", text.strip().replace("\\", "/").rsplit("/", 1)[-1])


def _lists(path: pathlib.Path, label: str) -> list[set[str]]:
  """Returns the items of the training list and of the test list."""
  found: dict[str, set[str]] = {}
  for name, data in archives.members(
      path, lambda name: bool(re.search(rf"(?:^|/){label}_(train|test)\.txt$", name))):
    lines = data.decode("utf-8", "replace").splitlines()
    found[name.rsplit("_", 1)[-1]] = {_item(line.split()[0]) for line in lines if line.strip()}
  both = [found.get("train.txt", set()), found.get("test.txt", set())]
  if not all(both) or both[0] & both[1]:
    raise errors.DataError(f"{path} has {len(both[0])} images on {label}_train.txt, {len(both[1])} "
                           f"on {label}_test.txt and {len(both[0] & both[1])} on both. It is of "
                           "another edition: get it again.")
  return both


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, labels: Mapping[str, str], ending: str, pooled: bool = False
                  ) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  del class_names
  seed = 0
  for file in file_names:
    label = labels[file]
    lists: dict[str, list[str]] = {"train": [], "test": []}
    members: dict[str, bytes] = {}
    for item in range(per_class):
      seed += 1
      name = f"{label[:-1]}_{item:03d}"
      lists["test" if item % 2 else "train"].append(name)
      members[f"{label}/{name}{ending}"] = images.png(fixtures.pixels((4, 5, 3), seed))
      members[f"{label}/{name}.mask.0.png"] = b"not read"
    texts = {f"{label}_{name}.txt": "\n".join(found).encode() for name, found in lists.items()}
    fixtures.write_archive(directory / file, {**members, **texts})
  num_test = len(file_names) * (per_class // 2)
  num_train = len(file_names) * per_class - num_test
  return ({splits.POOL: num_train + num_test} if pooled else
          {splits.TRAIN: num_train, splits.TEST: num_test})
