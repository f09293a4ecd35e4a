# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Corrupting the images of another parser."""

from __future__ import annotations

import itertools
import lzma
import os
import pathlib

import numpy as np
import pytest

from tfds_builders import catalog
from tfds_builders import errors
from tfds_builders.corruptions import corrupt
from tfds_builders.parsers import corrupted
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_FOLDERS = {"parser": "class_folders", "parser_args": {
    "template": "{split}/{label}/{item}.png",
    "split_folders": {"train": "train", "test": "test"}}}


def _parse(path, kinds=("fog", "pixelate"), **values):
  return corrupted.parse({path.name: path}, kinds=kinds, level_set="cifar", domain="c/{kind}",
                         **{**_FOLDERS, **values})


def test_only_test_images_are_corrupted_and_order_does_not_matter(tmp_path):
  pixels = {f"{split}/cat/{item}.png": fixtures.pixels((8, 8, 3), item)
            for item, split in enumerate(("test", "train", "test"))}
  members = {name: images.png(one) for name, one in pixels.items()}
  made = []
  for name, order in (("a.tar", 1), ("b.tar", -1)):
    fixtures.write_archive(tmp_path / name, dict(list(members.items())[::order]))
    made.append({one.key: one for one in _parse(tmp_path / name)})
  assert set(made[0]) == {f"{kind}/{severity}/test/cat/{item}" for kind in ("fog", "pixelate")
                          for severity in range(1, 6) for item in (0, 2)}
  for key, one in made[0].items():
    assert one.image == made[1][key].image and one.label == "cat" and one.split == "test"
    kind, severity, clean = key.split("/", 2)
    assert one.extra == {"domain": f"c/{kind}", "severity": int(severity)}
    assert one.image == images.png(corrupt.corrupt(pixels[f"{clean}.png"], kind, int(severity),
                                                   key=clean))


def test_an_image_that_does_not_decode(tmp_path):
  fixtures.write_archive(tmp_path / "a.tar", {"test/cat/1.png": b"no image"})
  with pytest.raises(errors.DataError, match="test/cat/1.png' cannot be decoded"):
    list(_parse(tmp_path / "a.tar"))


def test_the_real_cifar10_images(tmp_path):
  path = pathlib.Path(os.environ.get("LIFELONG_DATA", "../shared/data"), "cifar10",
                      "cifar10-jpg.tar.xz")
  if not path.exists():
    pytest.skip("LIFELONG_DATA has no cifar10/cifar10-jpg.tar.xz")
  row = catalog.find("lifelong_cifar10/cifar10_c_generated")[1]
  layout = next(one for one in row.layouts if one.files[0].name == path.name)
  archive = lzma.decompress(path.read_bytes())  # Walking the members of "train" takes seconds.
  first = next(at for at in range(0, len(archive), 512) if archive.startswith(b"test/", at))
  (tmp_path / path.name).write_bytes(archive[first:first + (1 << 20)])
  found = list(itertools.islice(layout.parser.parse({path.name: tmp_path / path.name},
                                                    **layout.args), 8 * 95))
  assert len({one.key for one in found}) == 8 * 95
  # Few are equal: spatter without a drop, a gray image with another saturation.
  assert len({one.image for one in found}) > 0.99 * 8 * 95
  means = {}
  for one in found:
    kind, severity = one.extra["domain"].split("/")[1], one.extra["severity"]
    clean_key = one.key.split("/", 2)[2]
    means.setdefault((kind, severity), []).append((clean_key, corrupted.decoded(one.image, "")))
  # Blur takes away the differences between neighbors, noise adds to them; both more and more.
  for kind, sign in (("gaussian_noise", 1), ("impulse_noise", 1), ("gaussian_blur", -1),
                     ("contrast", -1)):
    rough = [np.mean([np.abs(np.diff(pixels.astype(float), axis=1)).mean()
                      for _, pixels in means[kind, severity]]) for severity in corrupt.SEVERITIES]
    assert np.all(sign * np.diff(rough) > 0), (kind, rough)


def test_images_can_be_cut_to_a_square_before(tmp_path):
  pixels = np.zeros((90, 200, 3), np.uint8)
  pixels[:, 100:] = 255
  cut = corrupted.decoded(images.png(pixels), "x", side=56)
  assert cut.shape == (56, 56, 3)
  # The edge between black and white stays in the middle.
  assert cut[:, :26].max() == 0 and cut[:, 30:].min() == 255
  assert corrupted.decoded(images.png(pixels), "x").shape == (90, 200, 3)
