# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ImageNet's validation images and their development kit."""

from __future__ import annotations

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import imagenet_validation
from tfds_builders.parsers import mat_files

SYNSETS = np.array([(1.0, "n20"), (2.0, "n10"), (3.0, "n30")],
                   dtype=[("ILSVRC2012_ID", "f8"), ("WNID", "O")])


def _parse(tmp_path, truth="2\n1\n", numbers=(2, 1), **kit):
  kit = {"data/ILSVRC2012_validation_ground_truth.txt": truth.encode(),
         "data/meta.mat": mat_files.packed({"synsets": SYNSETS}), **kit}
  fixtures.write_archive(tmp_path / "kit.tar.gz",
                         {name: data for name, data in kit.items() if data is not None})
  fixtures.write_archive(tmp_path / "val.tar", {
      f"ILSVRC2012_val_{number:08d}.JPEG": fixtures.jpeg((4, 4, 3), number) for number in numbers})
  paths = {name: tmp_path / name for name in ("val.tar", "kit.tar.gz")}
  return [(one.key, one.label, one.extra) for one in imagenet_validation.parse(
      paths, image_file="val.tar", kit_file="kit.tar.gz", domain="imagenet")]


def test_the_number_of_the_file_is_the_line_of_the_truth(tmp_path):
  extra = {"domain": "imagenet"}
  assert _parse(tmp_path) == [("ILSVRC2012_val_00000002", "n20", extra),
                              ("ILSVRC2012_val_00000001", "n10", extra)]


@pytest.mark.parametrize("values, message", [
    (dict(numbers=(1,)), r"has 1 images, the kit 2 labels; missing: \[2\]"),
    (dict(numbers=(1, 2, 3)), "has no label: the kit has 2"),
    (dict(truth="2\n9\n"), "do not agree: KeyError"),
    (dict(truth="2\nx\n"), "do not agree: ValueError"),
    ({"data/meta.mat": None}, "has no meta.mat"),
    ({"data/meta.mat": b"broken"}, "cannot be read as a MATLAB file"),
])
def test_bad_input(tmp_path, values, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, **values)
