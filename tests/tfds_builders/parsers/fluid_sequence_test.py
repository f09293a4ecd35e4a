# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Published FLUID sequences."""

from __future__ import annotations

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import fluid_sequence

NAMES = ["S5/sequence5/n02/n02_7.JPEG", "1k_res/n01/n01_1.JPEG", "S5/sequence5/n02/n02_7.JPEG"]


def _parse(tmp_path, names=NAMES, labels=(5, 1, 5), members=("n01_1", "n02_7"), nested=False):
  np.save(tmp_path / "sequence5.npy", np.array(names))
  np.save(tmp_path / "all_labels5.npy", np.array(labels))
  data = {f"{name}.JPEG": fixtures.jpeg((4, 4, 3), seed) for seed, name in enumerate(members)}
  if nested:
    data = {f"whole/{name.split('_')[0]}.tar": fixtures.tar_bytes({name: one})
            for name, one in data.items()}
  fixtures.write_archive(tmp_path / "images.tar", {**data, "n99.tar": b"of no class here"})
  paths = {name: tmp_path / name for name in ("sequence5.npy", "all_labels5.npy", "images.tar")}
  return sorted((one.key, one.label, one.extra["position"], one.extra["novel"], one.extra["wnid"])
                for one in fluid_sequence.parse(paths, sequence_file="sequence5.npy",
                                                label_file="all_labels5.npy"))


@pytest.mark.parametrize("nested", [False, True])
def test_order_labels_and_classes(tmp_path, nested):
  assert _parse(tmp_path, nested=nested) == [
      ("000000/n02_7", 5, 0, True, "n02"), ("000001/n01_1", 1, 1, False, "n01"),
      ("000002/n02_7", 5, 2, True, "n02")]  # An image that is delivered twice is there twice.


@pytest.mark.parametrize("values, message", [
    (dict(members=("n01_1",)), r"1 of the 2 images .* such as \['n02_7.JPEG'\]"),
    (dict(labels=(5, 1, 4)), "class n02 has labels 5 and 4 .sample 2."),
    (dict(labels=(5, 5, 5)), "one label to several classes"),
    (dict(labels=(5, 1)), "whole numbers for 3 images"),
    (dict(names=["a.jpg"] * 3), "sample 0 is 'a.jpg'"),
    (dict(names=[1, 2, 3]), "one text per sample was expected"),
])
def test_bad_input(tmp_path, values, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, **values)


def test_pickled_paths_are_refused(tmp_path):
  _parse(tmp_path)
  np.save(tmp_path / "sequence5.npy", np.array(NAMES, dtype=object), allow_pickle=True)
  with pytest.raises(errors.DataError, match="is not read"):
    list(fluid_sequence.parse({name: tmp_path / name for name in (
        "sequence5.npy", "all_labels5.npy", "images.tar")}, sequence_file="sequence5.npy",
        label_file="all_labels5.npy"))
