# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The test split of another parser's layout, as one domain."""

from __future__ import annotations

import pathlib
from typing import Any, Iterator, Mapping, Sequence

from tfds_builders import splits
from tfds_builders.parsers import cifar_binary
from tfds_builders.parsers import class_folders
from tfds_builders.parsers import example
from tfds_builders.parsers import imagenet_validation

_PARSERS = {"cifar_binary": cifar_binary, "class_folders": class_folders,
            "imagenet_validation": imagenet_validation}


def parse(paths: Mapping[str, pathlib.Path], *, parser: str, parser_args: Mapping[str, Any],
          domain: str) -> Iterator[example.Example]:
  """Yields the test images that another parser finds, with the feature "domain"."""
  for one in _PARSERS[parser].parse(paths, **parser_args):
    if one.split == splits.TEST:
      yield one._replace(extra={"domain": domain})


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, parser: str, parser_args: Mapping[str, Any], domain: str
                  ) -> Mapping[str, int]:
  """Writes the other parser's fixture; returns the number of test examples."""
  del domain
  counts = _PARSERS[parser].write_fixture(
      directory, file_names, class_names, per_class=per_class, **parser_args)
  return {splits.TEST: counts[splits.TEST]}
