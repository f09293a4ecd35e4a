# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Clean images of another parser's layout, corrupted in 19 kinds and 5 severities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
from typing import Any

import numpy as np

from tfds_builders.corruptions import corrupt
from tfds_builders.parsers import example
from tfds_builders.parsers import images
from tfds_builders.parsers import one_domain


def parse(paths: Mapping[str, pathlib.Path], *, parser: str, parser_args: Mapping[str, Any],
          level_set: str, domain: str, kinds: Sequence[str] = corrupt.KINDS,
          side: int | None = None) -> Iterator[example.Example]:
  """Yields every test image len(kinds) x 5 times, as PNG.

  The key is KIND/SEVERITY/KEY with the key of the clean image, which seeds the random numbers.

  Args:
    paths: file name -> path.
    parser: name of the parser of the clean images, as in `one_domain`.
    parser_args: its arguments.
    level_set: a name in `corrupt.SETS`.
    domain: template of the feature "domain", with {kind}.
    kinds: which corruptions.
    side: images are first cut to `side` x `side` pixels, as for ImageNet-C: the shorter side is
      scaled to 256/224 of it, and the middle is kept. None: images are not cut.
  """
  for clean in one_domain.parse(paths, parser=parser, parser_args=parser_args, domain=domain):
    pixels = decoded(clean.image, clean.where, side)
    for kind in kinds:
      for severity in corrupt.SEVERITIES:
        made = corrupt.corrupt(pixels, kind, severity, key=clean.key, level_set=level_set)
        yield clean._replace(
            key=f"{kind}/{severity}/{clean.key}", image=images.png(made),
            where=f"{clean.where}, {kind} {severity}",
            extra={"domain": domain.format(kind=kind), "severity": severity})


def decoded(data: bytes, where: str, side: int | None = None) -> np.ndarray:
  """Decodes JPEG or PNG to uint8 [H, W, 3], cut to `side` if it is given."""
  from PIL import Image  # pylint: disable=g-import-not-at-top
  with images.pillow_image(data, where, ("JPEG", "PNG")) as image:
    made = image.convert("RGB")
  if side is not None:
    scale = round(side * 256 / 224) / min(made.size)
    made = made.resize([max(side, round(length * scale)) for length in made.size],
                       Image.Resampling.BILINEAR)
    left, top = ((length - side) // 2 for length in made.size)
    made = made.crop((left, top, left + side, top + side))
  return np.asarray(made)


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, parser: str, parser_args: Mapping[str, Any], level_set: str,
                  domain: str, kinds: Sequence[str] = corrupt.KINDS,
                  side: int | None = None) -> Mapping[str, int]:
  """Writes one clean image per class; returns the number of corrupted images."""
  del per_class, level_set, side
  counts = one_domain.write_fixture(directory, file_names, class_names, per_class=1, parser=parser,
                                    parser_args=parser_args, domain=domain)
  return {split: count * len(kinds) * len(corrupt.SEVERITIES) for split, count in counts.items()}
