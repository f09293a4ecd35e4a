# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rows that wrap TFDS's own data sets, on tiny copies that TFDS's own classes prepare."""

import dataclasses

import pytest
import tensorflow_datasets as tfds
from tensorflow_datasets.core.utils import shard_utils

from suite.data.streams import nevis_table
import tfds_builders
from tfds_builders import catalog
from tfds_builders import paper_draws
from tfds_builders import testing
from tfds_builders.parsers import tfds_copy
from tfds_builders.rows import row as row_lib

_ROWS = [row for row in catalog.FAMILIES["nevis"] if row.tfds]


# One row of each way in which TFDS's records are read; `test_each_way_to_read_is_read`.
_READ = ("celeb_a", "cifar100", "fashion_mnist", "smallnorb", "svhn_cropped", "voc2007")


def _features(row):
  return tfds.builder(row.tfds.names[0], data_dir="/nowhere").info.features


def _way(row):
  """What decides which code reads a row: `tfds_copy.parse`, and where class names come from."""
  wanted = row.tfds
  return (bool(wanted.key), len(wanted.names), bool(wanted.split_by), bool(wanted.sources),
          row.kind, type(_features(row)[wanted.label]), row.class_names is None)


def test_each_way_to_read_is_read():
  assert {_way(row) for row in _ROWS} == {_way(row) for row in _ROWS if row.name in _READ}


@pytest.fixture(scope="module", name="copies")
def _copies(tmp_path_factory):
  """A function: a row to the folder of its tiny copies, three files a split, and their counts."""
  made = {}

  def copies(row, num_classes=None, per_class=None):
    if row.name not in made:
      num_classes = num_classes or row.num_classes
      folder = tmp_path_factory.mktemp(row.name)
      with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard_utils.ShardConfig, "calculate_number_shards",
                      classmethod(lambda cls, *args, **kwargs: 3))
        made[row.name] = folder, tfds_copy.write_fixture(
            folder, row.tfds, num_classes=num_classes,
            per_class=per_class or max(2, 30 // num_classes))
    return made[row.name]

  return copies


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.name)
def test_a_row_keeps_the_contract(row, copies, read_splits):
  _check_that_tfds_has_its_features_splits_and_classes(row)
  if row.name in _READ:
    _check_that_its_records_are_those_of_tfds(row, *copies(row), read_splits)


def _check_that_tfds_has_its_features_splits_and_classes(row):
  wanted, features = row.tfds, _features(row)
  assert set(wanted.features) <= set(features)
  assert not wanted.key or isinstance(features[wanted.key], tfds.features.Text)
  label = getattr(features[wanted.label], "feature", features[wanted.label])
  assert row.num_classes == (len(label) if hasattr(label, "items") else label.num_classes)
  assert (row.kind == row_lib.SINGLE_LABEL) == isinstance(features[wanted.label],
                                                          tfds.features.ClassLabel)
  values = range(features[wanted.split_by].num_classes) if wanted.split_by else [None]
  assert set(row.splits) == {
      tfds_copy._source_split(wanted, name, split, {wanted.split_by: value})
      for name in wanted.names for split in wanted.splits for value in values}
  assert row.split_names == ("train", "dev", "validation", "test")


def _check_that_its_records_are_those_of_tfds(row, data_dir, counts, read_splits):
  small = dataclasses.replace(row, layouts=tuple(
      dataclasses.replace(layout, num_examples={}) for layout in row.layouts))
  with testing.installed(small):
    builder = tfds_builders.build(f"nevis/{row.name}", data_dir)
  records = read_splits(builder)
  assert set(records) == set(row.split_names)
  assert all(records.values())
  everything = sum(records.values(), [])
  # Every example is in one split.
  assert len({record["id"] for record in everything}) == len(everything)
  assert len(everything) + sum(builder.info.metadata["duplicates_removed"].values()) == sum(
      counts.values())
  assert builder.info.metadata["source_examples"] == counts
  assert builder.info.metadata["origin"] == "tfds"
  assert all(r["image"].startswith((b"\xff\xd8\xff", b"\x89PNG")) for r in everything)
  # Every class occurs and has the name that TFDS gives it.
  if row.kind == row_lib.MULTI_LABEL:
    assert {int(k) for r in everything for k in r["labels"].nonzero()[0]} == set(
        range(row.num_classes))
    return
  assert {int(r["label"]) for r in everything} == set(range(row.num_classes))
  if not row.class_names:
    assert builder.info.features["label"].names == _features(row)[row.tfds.label].names


def test_labels_of_tfds_are_class_ids():
  assert tfds_copy._label(3) == 3 and tfds_copy._label([4, 0, 4]) == (0, 4)
  # celeb_a's attributes, in the order of their names.
  assert tfds_copy._label({"young": True, "bald": False, "male": True}) == (1, 2)


def test_the_stream_and_the_rows_agree_and_the_doctor_knows_the_way(tmp_path):
  states = {}
  for row in _ROWS:
    assert {line.kind for line in nevis_table.full() if line.name == row.name} == {row.kind}
    with testing.installed(row):
      found = tfds_builders.status.inspect(f"nevis/{row.name}", tmp_path)
    states[row.name] = found.state
    assert not row.tfds.manual or "ILSVRC2012_img_train.tar" in found.reason
  known = {"domainnet": "dead link", "voc2007": "downloadable", "voc2012": "downloadable"}
  assert states == {row.name: "manual" if row.tfds.manual else known.get(row.name, "listed")
                    for row in _ROWS}


_SLICED = {"train": paper_draws.SLICED_TRAIN_ONLY, "test": paper_draws.whole("test")}


_SLICED_VALIDATED = {"train": paper_draws.SLICED_TRAIN_DEV,
                     "validation": paper_draws.whole("dev_test"),
                     "test": paper_draws.whole("test")}
# One whose images have names, and one whose images have none.
_NAMES = ("cifar100", "svhn_cropped")


def _paper(row, copies):
  """(TFDS's own builder, the builder of the row as the reference draws it), on a tiny copy."""
  data_dir, _ = copies(row)
  paper = row_lib.variants(row)[1]
  assert paper.name == f"{row.name}_paper"
  with testing.installed(paper):
    return (tfds.builder(row.tfds.names[0], data_dir=data_dir),
            tfds_builders.build(f"nevis/{paper.name}", data_dir))


@pytest.fixture(name="images")
def _images(read_splits):
  """A function: a builder to the encoded images of each split, file after file as stored."""
  return lambda builder: {split: [record["image"] for record in records]
                          for split, records in read_splits(builder).items()}


def _check_parts(builder, images, **expected):
  found = images(builder)
  assert all(expected.values()) and {split: sorted(found[split]) for split in expected} == {
      split: sorted(part) for split, part in expected.items()}


def test_rows_that_the_reference_slices():
  assert [row.name for row in _ROWS if row.paper == _SLICED] == [
      "caltech101", "caltech_birds2011", "cifar100", "emnist_balanced", "fashion_mnist",
      "stanford_dogs", "stl10", "svhn_cropped"]
  assert [row.name for row in _ROWS if row.paper == _SLICED_VALIDATED] == [
      "celeb_a", "dtd", "oxford_flowers102", "patch_camelyon", "sun397"]


@pytest.mark.parametrize("name", _NAMES)
def test_the_reference_draws_ranges_of_the_store(name, copies, images):
  row = catalog.find(f"nevis/{name}")[1]
  original, builder = _paper(row, copies)
  assert row.paper == _SLICED and len(original.info.splits["train"].shard_lengths) == 3
  stored = images(original)
  train = stored["train"]
  first, second = int(len(train) * 0.7), int(len(train) * 0.7) + int(len(train) * 0.15)
  _check_parts(builder, images, train=train[:first], dev=train[first:second],
               validation=train[second:], test=stored["test"])
  # TFDS's "train[:100]" are the first examples in the order of the files, too.
  decoders = {"image": tfds.decode.SkipDecoding()}
  by_tfds = original.as_dataset(split=f"train[:{first}]", decoders=decoders)
  assert {one["image"] for one in tfds.as_numpy(by_tfds)} == {*train[:first]}


def test_the_reference_keeps_the_official_validation(copies, images):
  row = catalog.find("nevis/dtd")[1]
  original, builder = _paper(row, copies)
  assert row.paper == _SLICED_VALIDATED
  stored = images(original)
  first = int(len(stored["train"]) * 0.8)
  _check_parts(builder, images, train=stored["train"][:first], dev=stored["train"][first:],
               validation=stored["validation"], test=stored["test"])


def test_domainnet_as_in_the_code_of_the_reference_tests_on_sketches(copies, images):
  compat = row_lib.variants(catalog.find("nevis/domainnet")[1])[1]
  assert compat.name == "domainnet_paper_compat"
  data_dir, _ = copies(compat, num_classes=2, per_class=2)
  with testing.installed(compat):
    builder = tfds_builders.build("nevis/domainnet_paper_compat", data_dir)
  domains = [tfds.builder(name, data_dir=data_dir) for name in compat.tfds.names]
  *others, sketches = (images(domain) for domain in domains)
  _check_parts(builder, images, train=sum((one["train"] for one in others), []),
               dev=sum((one["test"] for one in others), []),
               validation=sketches["train"], test=sketches["test"])
  assert domains[5].builder_config.name == "sketch"


@pytest.mark.parametrize("name, field, parts", [
    ("coil100", "angle_label", {"train": {70, 71, 0, 1, 2}, "dev": {16, 17, 18, 19, 20},
                                "validation": {50, 51, 52, 53, 54}}),
    ("smallnorb", "instance", {"train": {0, 1, 2, 3, 5, 7, 8, 9}, "dev": {4}, "validation": {6}})])
def test_the_reference_splits_by_view_or_by_toy(name, field, parts, copies, images, read_splits):
  original, builder = _paper(catalog.find(f"nevis/{name}")[1], copies)
  records = read_splits(original)["train"]
  _check_parts(builder, images, **{
      part: [record["image"] for record in records if int(record[field]) in values]
      for part, values in parts.items()})


def test_a_row_has_the_draw_of_the_reference_or_says_why_not():
  assert not [row.name for row in _ROWS if not (
      row.paper or row.layouts or row.name == "domainnet" or "not reproduced" in row.notes)]
