# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Small prepared TFDS data sets; a conftest that names the fixture gives it to its folder."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow_datasets as tfds

NUM_PICTURES = 23


class SuiteTestPictures(tfds.core.GeneratorBasedBuilder):
  """23 small pictures; configurations differ in their features."""

  VERSION = tfds.core.Version("1.0.0")
  BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name, version="1.0.0")
                     for name in ("same_shape", "mixed", "listed", "multi_hot")]

  def _info(self):
    features = {"image": tfds.features.Image(shape=(None, None, 3))}
    if self.builder_config.name == "listed":
      features["labels"] = tfds.features.Sequence(tfds.features.ClassLabel(num_classes=4))
    elif self.builder_config.name == "multi_hot":
      features["labels"] = tfds.features.Tensor(shape=(4,), dtype=np.uint8)
    else:
      features["label"] = tfds.features.ClassLabel(num_classes=4)
    if self.builder_config.name != "mixed":
      features["id"] = tfds.features.Text()
    return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(features))

  def _split_generators(self, dl_manager):
    return {"train": self._generate_examples(), "test": self._generate_examples()}

  def _generate_examples(self):
    for i in range(NUM_PICTURES):
      yield i, picture(i, self.builder_config.name)


def picture(i: int, config: str) -> dict:
  """Example i of a configuration; its first pixel is i."""
  height = 6 + (i % 3 if config == "mixed" else 0)
  image = np.random.default_rng(i).integers(0, 256, (height, 7, 3)).astype(np.uint8)
  image[0, 0] = i
  example = {"image": image}
  if config == "listed":
    example["labels"] = [i % 4, 3] if i else []
  elif config == "multi_hot":
    example["labels"] = np.eye(4, dtype=np.uint8)[i % 4]
  else:
    example["label"] = i % 4
  if config != "mixed":
    example["id"] = f"picture_{i:02d}"
  return example


@pytest.fixture(scope="session")
def pictures_dir(tmp_path_factory) -> str:
  """A TFDS folder with each configuration of "suite_test_pictures", in 3 files a split."""
  data_dir = str(tmp_path_factory.mktemp("tfds"))
  for config in SuiteTestPictures.BUILDER_CONFIGS:
    builder = SuiteTestPictures(config=config.name, data_dir=data_dir)
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(num_shards=3, verify_ssl=False))
  return data_dir
