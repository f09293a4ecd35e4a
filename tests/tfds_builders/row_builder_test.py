# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Builds do not depend on the order of an archive, and failures leave nothing behind."""

import dataclasses
import random
import types

import numpy as np
import pytest
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import errors
from tfds_builders import splits
from tfds_builders import testing
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib
from tfds_builders.rows.nevis.face import olivetti_face


def _faces(num_subjects=40):
  return {f"s{s}/{i}.pgm": fixtures.pgm((5, 4), 10 * s + i)
          for s in range(1, num_subjects + 1) for i in (1, 2, 3)}


def _row(**changes):
  layout = dataclasses.replace(olivetti_face.ROW.layouts[0],
                               files=(row_lib.File("faces.tar"),), num_examples={})
  return dataclasses.replace(olivetti_face.ROW, layouts=(layout,), **changes)


def _build(tmp_path, members, row=None, name="data"):
  mirror_dir = tmp_path / f"mirror_{name}"
  mirror_dir.mkdir()
  fixtures.write_archive(mirror_dir / "faces.tar", members)
  with testing.installed(row or _row(), mirror_dir):
    return tfds_builders.build("nevis/olivetti_face", tmp_path / name)


def _records(builder, split):
  return [(r["id"], r["label"], r["image"].tobytes())
          for r in tfds.as_numpy(builder.as_dataset(split=split))]


def test_same_records_in_the_same_order_whatever_the_order_of_the_archive(tmp_path):
  members = list(_faces().items())
  one = _build(tmp_path, dict(members), name="one")
  random.Random(0).shuffle(members)
  two = _build(tmp_path, {f"./deep/er/{name}": data for name, data in members}, name="two")
  for split in splits.NAMES:
    assert _records(one, split) == _records(two, split)


def test_labels_follow_the_source_list_not_the_alphabet(tmp_path):
  builder = _build(tmp_path, _faces())
  records = [r for split in splits.NAMES for r in _records(builder, split)]
  assert {int(label) for key, label, _ in records if key.startswith(b"s10/")} == {9}


@pytest.mark.parametrize("spoil, message", [
    (lambda m: m.update({"s3/2.pgm": b"P5 4 5 255\nabc"}), "faces.tar, member 's3/2.pgm' is not"),
    (lambda m: m.update({"x/s3/2.pgm": m["s3/2.pgm"]}), "member 'x/s3/2.pgm' has the key 's3/2'"),
    (lambda m: m.update({"s41/1.pgm": m["s3/2.pgm"]}), "'s41/1.pgm' has label 's41'; olivetti_f"),
    (lambda m: m.update({"../s3/9.pgm": m["s3/2.pgm"]}), "member '../s3/9.pgm' has an unsafe"),
])
def test_failure_names_the_member_and_leaves_nothing_that_can_be_read(tmp_path, spoil, message):
  members = _faces()
  spoil(members)
  with pytest.raises(errors.DataError, match=message):
    _build(tmp_path, members)
  assert not list((tmp_path / "data").rglob("*record*"))
  assert not list((tmp_path / "data").rglob("*incomplete*"))
  assert tfds_builders.status.inspect("nevis/olivetti_face", tmp_path / "data").state != "prepared"
  with pytest.raises(Exception, match="[Nn]ot found|[Nn]o data|prepare"):
    tfds.load("nevis/olivetti_face", split="train", data_dir=tmp_path / "data", download=False)


def test_failure_in_the_last_split_leaves_nothing_either(tmp_path, monkeypatch):
  original = tfds_builders.row_builder.RowBuilder._generate_examples

  def fail_at_test(self, spool, split):
    if split == "test":
      raise OSError("disk full")
    yield from original(self, spool, split)

  monkeypatch.setattr(tfds_builders.row_builder.RowBuilder, "_generate_examples", fail_at_test)
  with pytest.raises(OSError, match="disk full"):
    _build(tmp_path, _faces())
  assert not list((tmp_path / "data").rglob("*record*"))
  monkeypatch.undo()
  assert _build(tmp_path, _faces(), name="again").info.splits["test"].num_examples > 0


def test_too_few_examples_are_refused(tmp_path):
  layout = dataclasses.replace(_row().layouts[0], num_examples={"all": 400})
  with pytest.raises(errors.DataError, match="holds {'all': 120} examples by split, expected "
                     "{'all': 400}: it is incomplete"):
    _build(tmp_path, _faces(), dataclasses.replace(_row(), layouts=(layout,)))


def test_too_few_classes_are_refused_where_names_come_from_the_source(tmp_path):
  with pytest.raises(errors.DataError, match="has 39 classes, expected 40"):
    _build(tmp_path, _faces(39), _row(class_names=None))


def test_damaged_jpeg_is_named(tmp_path):
  data = fixtures.jpeg((30, 30, 1), 0)
  members = {f"s1/{i}.pgm": data for i in range(9)}
  members["s2/1.pgm"] = data[:len(data) // 2]
  with pytest.raises(errors.DataError, match="1 of 10 images of olivetti_face cannot be decoded; "
                     "at most 0.5%.*'s2/1.pgm' cannot"):
    _build(tmp_path, members)


def test_multi_label_rows_have_multi_hot_labels(tmp_path):
  def parse(paths):
    del paths
    for i in range(60):
      yield example.Example("all", f"{i:02d}", ("b",) if i % 2 else ("a", "c"),
                            images.png(fixtures.pixels((3, 3, 3), i)), f"image {i}")

  layout = row_lib.Layout(types.SimpleNamespace(parse=parse), (row_lib.File("faces.tar"),))
  row = _row(kind=row_lib.MULTI_LABEL, num_classes=3, class_names=("a", "b", "c"), channels=3)
  builder = _build(tmp_path, {"x": b""}, dataclasses.replace(row, layouts=(layout,)))
  with testing.installed(dataclasses.replace(row, layouts=(layout,))):
    for record in tfds.as_numpy(builder.as_dataset(split="train")):
      assert record["labels"].dtype == np.uint8
      assert record["labels"].tolist() == ([0, 1, 0] if int(record["id"]) % 2 else [1, 0, 1])


def test_a_group_falls_into_one_split(tmp_path):
  def parse(paths):
    del paths
    for i in range(90):
      yield example.Example("all", f"{i:02d}", "s1", images.png(fixtures.pixels((3, 3), i)),
                            f"image {i}", group=f"{i // 3}")

  layout = row_lib.Layout(types.SimpleNamespace(parse=parse), (row_lib.File("faces.tar"),))
  builder = _build(tmp_path, {"x": b""}, dataclasses.replace(_row(), layouts=(layout,)))
  groups = [{int(key) // 3 for key, _, _ in _records(builder, split)} for split in splits.NAMES]
  assert len(set.union(*groups)) == 30 == sum(len(g) for g in groups)
