# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The test split of another parser's layout, as one domain; its images may be made grey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
from typing import Any

import numpy as np

from tfds_builders import splits
from tfds_builders.parsers import cifar_binary
from tfds_builders.parsers import class_folders
from tfds_builders.parsers import example
from tfds_builders.parsers import imagenet_validation
from tfds_builders.parsers import images

_PARSERS = {"cifar_binary": cifar_binary, "class_folders": class_folders,
            "imagenet_validation": imagenet_validation}


def parse(paths: Mapping[str, pathlib.Path], *, parser: str, parser_args: Mapping[str, Any],
          domain: str, grey: bool = False) -> Iterator[example.Example]:
  """Yields the test images that another parser finds, with the feature "domain".

  Args:
    paths: file name -> path.
    parser: of the layout.
    parser_args: its arguments.
    domain: the feature.
    grey: replace each image by a PNG whose three channels are 0.299 R + 0.587 G + 0.114 B.
  """
  for one in _PARSERS[parser].parse(paths, **parser_args):
    if one.split == splits.TEST:
      image = _grey(one.image, one.where) if grey else one.image
      yield one._replace(image=image, extra={"domain": domain})


def _grey(data: bytes, where: str) -> bytes:
  with images.pillow_image(data, where, ("JPEG", "PNG")) as image:
    luma = np.asarray(image.convert("RGB").convert("L"))
  return images.png(np.repeat(luma[..., None], 3, axis=-1))


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, parser: str, parser_args: Mapping[str, Any], domain: str,
                  grey: bool = False) -> Mapping[str, int]:
  """Writes the other parser's fixture; returns the number of test examples."""
  del domain, grey
  counts = _PARSERS[parser].write_fixture(
      directory, file_names, class_names, per_class=per_class, **parser_args)
  return {splits.TEST: counts[splits.TEST]}
