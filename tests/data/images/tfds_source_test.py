# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What is read from a prepared TFDS data set."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import tensorflow_datasets as tfds
import tfds_pictures

from suite.data.images import image_ops
from suite.data.images import image_store
from suite.data.images import prepared_sets
from suite.data.images import tfds_source
from suite.data.own import image_sources

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


@pytest.mark.parametrize("split", [
    "train[:10]", "train+test", "train + test", "all", "train[:50%]+test[50%:]", "test[-3:]",
    "train[1shard]", tfds.Split.TEST, tfds.core.ReadInstruction("train", to=40, unit="%"),
    *tfds.even_splits("train", n=3)], ids=str)
def test_splits_are_those_that_tfds_loads(pictures_dir, split):
  name = "suite_test_pictures/same_shape"
  wanted = [(example["image"], example["label"], example["id"].decode())
            for example in tfds.as_numpy(tfds.load(name, split=split, data_dir=pictures_dir))]
  made = _read("same_shape", pictures_dir, split)
  np.testing.assert_array_equal(made.pixels(), [image for image, _, _ in wanted])
  assert made.labels.tolist() == [label for _, label, _ in wanted]
  # Both splits have pictures of the same names.
  assert [i.rpartition("/")[2] for i in made.ids] == [name for _, _, name in wanted]


def test_a_builder_is_read_as_its_name(pictures_dir, tmp_path):
  builder = tfds.builder("suite_test_pictures/same_shape", data_dir=pictures_dir)
  made = image_sources.from_tfds(builder, "train[:50%]")
  named = image_sources.from_tfds("suite_test_pictures/same_shape", "train[:50%]",
                                  data_dir=str(pictures_dir))
  assert (made.name, made.class_names) == (named.name, named.class_names)
  np.testing.assert_array_equal(made.pixels(), named.pixels())
  with pytest.raises(FileNotFoundError, match=r"Call builder.download_and_prepare\(\) first"):
    image_sources.from_tfds(
        tfds.builder("suite_test_pictures/same_shape", data_dir=str(tmp_path)))


def test_array_record_files_are_read(pictures_dir, tmp_path):
  builder = tfds_pictures.SuiteTestPictures(
      config="same_shape", data_dir=tmp_path, file_format="array_record")
  builder.download_and_prepare(
      download_config=tfds.download.DownloadConfig(num_shards=3, verify_ssl=False))
  made, wanted = (_read("same_shape", str(data_dir)) for data_dir in (tmp_path, pictures_dir))
  order, other = np.argsort(made.ids), np.argsort(wanted.ids)
  assert made.ids[order].tolist() == wanted.ids[other].tolist()
  assert made.labels[order].tolist() == wanted.labels[other].tolist()
  np.testing.assert_array_equal(made.pixels()[order], wanted.pixels()[other])
  part = _read("same_shape", str(tmp_path), "train[3:7]+test[20:]")
  assert part.ids.tolist() == [*made.ids[3:7], *_read("same_shape", str(tmp_path), "test").ids[20:]]
  with pytest.raises(ValueError, match="array_record files.*convert_format"):
    _read("same_shape", str(tmp_path), memory_limit_bytes=0)


def test_builders_that_tfds_would_download_are_refused():
  for name in ("huggingface:mnist", "kaggle:some/config", "a-b:c"):
    with pytest.raises(ValueError, match="TensorFlow Datasets would download and run"):
      tfds_source.check_name(name)
  for name in ("mnist", "mnist:3.0.1", "mnist:3.*.*", "nevis/mnist", "a/b:1.0.0"):
    tfds_source.check_name(name)


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
  for split, message in (
      ("dev", "has no split 'dev'; it has test, train"), ("train+dev", "has no split 'dev'"),
      ("train[:50]", "cannot be read: .*50.*23 examples"), ("train[", "cannot be read"),
      ("all[:50%]", "'all' has no parts; write those of each split"),
      ("train[:0]", "has no examples"),
      ("train[:9]+train[8:]", "has examples of 'train' twice"),
      (["train", "test"], "is .'train', 'test'.; a set of images is of one split")):
    with pytest.raises(ValueError, match=message):
      _read("same_shape", pictures_dir, split)
  with pytest.raises(FileNotFoundError,
                     match="is not prepared in .*Run: python -c .*suite_test_pictures/mixed"):
    _read("mixed", str(tmp_path))


def test_missing_data_has_a_reason_and_a_command(tmp_path):
  reason, command = tfds_source.why_missing("nevis/mnist", data_dir=str(tmp_path))
  assert reason and command.startswith("suite data build nevis/mnist")
  assert tfds_source.why_missing("nevis/nothing") == ("no builder yet", "")
