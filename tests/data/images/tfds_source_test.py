# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What is read from a prepared TFDS data set."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow_datasets as tfds

from suite.data.images import image_ops
from suite.data.images import image_store
from suite.data.images import prepared_sets
from suite.data.images import tfds_source

NUM = 23


def _read(config, data_dir, split="train", **values):
  return prepared_sets.read(f"suite_test_pictures/{config}", split, data_dir=data_dir,
                            **values)


@pytest.mark.parametrize("config, kind", [
    ("same_shape", "single_label"), ("mixed", "single_label"), ("listed", "multi_label"),
    ("multi_hot", "multi_label")])
def test_label_facts_come_from_the_features(pictures_dir, config, kind):
  facts = tfds_source.label_facts(f"suite_test_pictures/{config}", data_dir=pictures_dir)
  assert (facts.kind, facts.num_classes) == (kind, 4)


def test_images_labels_and_ids_belong_together(pictures_dir):
  made = _read("same_shape", pictures_dir)
  assert made.name == "suite_test_pictures/same_shape train"
  assert (made.size, made.kind, made.num_classes) == (NUM, "single_label", 4)
  batch = next(iter(made.eval_batches(NUM, transform=image_ops.Plain(7))))
  numbers = [int(i.decode()[-2:]) for i in batch["id"].numpy()]
  assert sorted(numbers) == list(range(NUM))
  np.testing.assert_array_equal(batch["label"], np.asarray(numbers) % 4)
  np.testing.assert_array_equal(batch["image"][:, 0, 0, 0], numbers)


def test_images_of_one_shape_are_decoded_once_if_they_fit(pictures_dir):
  assert isinstance(_read("same_shape", pictures_dir)._store, image_store.RawStore)
  assert isinstance(_read("mixed", pictures_dir)._store, image_store.EncodedStore)


def test_the_index_is_the_id_where_there_is_none(pictures_dir):
  assert list(_read("mixed", pictures_dir).ids) == [str(i) for i in range(NUM)]


def test_lists_of_classes_become_multi_hot(pictures_dir):
  made = _read("listed", pictures_dir)
  for name, label in zip(made.ids, made.labels):
    i = int(name[-2:])
    assert set(np.flatnonzero(label)) == ({i % 4, 3} if i else set())
  np.testing.assert_array_equal(_read("multi_hot", pictures_dir).labels.sum(axis=1), np.ones(NUM))


def test_parts_of_splits_can_be_read(pictures_dir):
  assert _read("same_shape", pictures_dir, "train[:10]").size == 10


def test_the_version_is_the_builders(pictures_dir):
  name = "suite_test_pictures/mixed"
  builder = tfds_source.open_split(name, "train", data_dir=pictures_dir).builder
  assert tfds_source.version(name, data_dir=pictures_dir) == str(builder.version)


def test_a_data_set_that_is_prepared_anew_is_read_anew(tmp_path):
  def prepared(version):
    builder = tfds.testing.DummyDataset(data_dir=tmp_path / version)
    builder.download_and_prepare()
    return builder

  name, used = "dummy_dataset", tmp_path / "used"
  shutil.copytree(prepared("first")._data_dir_root, used)
  first = tfds_source._builder(name, str(used))
  assert tfds_source._builder(name, str(used)) is first
  shutil.rmtree(used)
  assert not tfds_source._written(first)
  shutil.copytree(prepared("second")._data_dir_root, used)
  second = tfds_source._builder(name, str(used))
  assert second is not first and second.info.splits["train"].num_examples == 3


def test_what_cannot_be_read_says_what_to_do(pictures_dir, tmp_path):
  with pytest.raises(ValueError, match="has no split 'dev'; it has test, train"):
    _read("same_shape", pictures_dir, "dev")
  with pytest.raises(FileNotFoundError,
                     match="is not prepared in .*Run: python -c .*suite_test_pictures/mixed"):
    _read("mixed", str(tmp_path))


def test_missing_data_has_a_reason_and_a_command(tmp_path):
  reason, command = tfds_source.why_missing("nevis/mnist", data_dir=str(tmp_path))
  assert reason and command.startswith("suite data build nevis/mnist")
  assert tfds_source.why_missing("nevis/nothing") == ("no builder yet", "")


def test_tfds_is_not_imported_before_it_is_needed():
  code = ("import sys; from suite.data.images import image_set, prepared_sets; "
          "from suite.data.streams import streams; from suite.data.digits import digits; "
          "from suite.data.images import tfds_source; streams.nevis('full'); "
          "digits.nevis_stream().events(); "
          "assert not {'tensorflow_datasets', 'tfds_builders', 'sklearn'} & set(sys.modules)")
  subprocess.run([sys.executable, "-c", code], check=True)
