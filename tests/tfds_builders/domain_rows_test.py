# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID, Lifelong-CIFAR10 and Lifelong-ImageNet: every layout, built from a tiny archive."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import catalog
from tfds_builders import errors
from tfds_builders import mirror
from tfds_builders import splits
from tfds_builders import testing
from tfds_builders.corruptions import corrupt
from tfds_builders.parsers import corrupted
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import objectnet
from tfds_builders.parsers import one_domain
from tfds_builders.rows import lifelong

_FAMILIES = ("fluid", "lifelong_cifar10", "lifelong_imagenet")
_CASES = [(family, row, layout) for family in _FAMILIES for row in catalog.rows(family)
          for layout in row.layouts]


def _small(family, row):
  """The row with few classes where it has a thousand, which tests nothing more."""
  if family == "lifelong_imagenet":
    return dataclasses.replace(row, num_classes=2, class_names=row.class_names[:2])
  return dataclasses.replace(row, num_classes=min(row.num_classes, 20))


@pytest.fixture(name="records_of")
def _records_of(read_splits):
  """A function: the names of a prepared data set to its builder and all its examples."""

  def records_of(family, row, data_dir):
    builder = tfds.builder(f"{family}/{row.name}", data_dir=data_dir)
    return builder, sum(read_splits(builder).values(), [])

  return records_of


@pytest.mark.parametrize("family, row, layout", _CASES, ids=[
    f"{family}-{row.name}-{layout.files[-1].name}" for family, row, layout in _CASES])
def test_every_layout_builds(family, row, layout, tmp_path, records_of):
  if "side" in layout.args:  # Of a generated row each image makes 95.
    assert layout.args["side"] == 224
    layout = dataclasses.replace(layout, args={**layout.args, "side": 48})
  small, counts = testing.write(_small(family, row), layout, tmp_path / "mirror" / row.name,
                                num_examples=40)
  with testing.installed(small, tmp_path / "mirror", family=family):
    tfds_builders.build(f"{family}/{row.name}", tmp_path / "data")
    builder, records = records_of(family, small, tmp_path / "data")
  removed = sum(builder.info.metadata["duplicates_removed"].values())
  assert len(records) + removed == sum(counts.values()) and removed <= 0.05 * len(records)
  assert len({record["id"] for record in records}) == len(records)
  assert {int(record["label"]) for record in records} == set(range(small.num_classes))
  assert set(records[0]) == {"image", "label", "id", *row.features}
  if family != "fluid":
    assert list(builder.info.splits) == [splits.TEST]
    domains = {record["domain"].decode() for record in records}
    assert {domain.split("/")[0] for domain in domains} == {row.name}
  if "severity" in row.features:
    assert {int(record["severity"]) for record in records} == {1, 2, 3, 4, 5}


def test_the_domains_are_those_of_the_paper():
  names = [row.name for row in lifelong.CIFAR10_ROWS]
  assert names == ["cifar10", "cifar10_1", "cifar10_2", "cinic10", "cifar10_w", "cifar10_c",
                   "cifar10_c_generated", "union"]
  for rows in (lifelong.CIFAR10_ROWS, lifelong.IMAGENET_ROWS):  # Table 1: 6 and 12 sources.
    of_paper = [row.name for row in rows if not row.name.endswith("_generated")]
    assert sorted(rows[-1].union) == sorted(of_paper[:-1]) and rows[-1].name == "union"
  assert len(lifelong.CIFAR10_ROWS[-1].union) == 6 and len(lifelong.IMAGENET_ROWS[-1].union) == 12
  warehouse = lifelong.CIFAR10_ROWS[4].layouts[0].args["domains"]
  assert len(warehouse) == 13 and len(set(warehouse.values())) == 8
  # CIFAR-10, 10.1, 10.2 and CINIC-10 one each.
  assert 4 + len(set(warehouse.values())) + len(lifelong.KINDS) == 31
  assert lifelong.KINDS == corrupt.KINDS


def test_a_sequence_can_be_put_in_order(tmp_path, records_of):
  row = dataclasses.replace(catalog.find("fluid/sequence5")[1], num_classes=8)
  small, counts = testing.write(row, row.layouts[0], tmp_path / "mirror", num_examples=24)
  with testing.installed(small, tmp_path / "mirror", family="fluid"):
    tfds_builders.build("fluid/sequence5", tmp_path / "data")
    builder, records = records_of("fluid", small, tmp_path / "data")
  assert list(builder.info.splits) == ["stream"] and counts == {"stream": 24}
  assert sorted(int(record["position"]) for record in records) == list(range(24))
  for record in records:
    # The fixture names the classes by their labels, and every fourth is a base class.
    assert int(record["wnid"][1:]) - 10**7 == record["label"]
    assert bool(record["novel"]) == (record["label"] % 4 != 0)
    assert record["image"] == images.png(fixtures.pixels((4, 4, 3), int(record["position"])))


def test_generated_corruptions_are_those_of_the_clean_images(tmp_path, records_of):
  row = catalog.find("lifelong_cifar10/cifar10_c_generated")[1]
  small, _ = testing.write(row, row.layouts[0], tmp_path / "mirror")
  with testing.installed(small, tmp_path / "mirror", family="lifelong_cifar10"):
    tfds_builders.build("lifelong_cifar10/cifar10_c_generated", tmp_path / "data")
    _, records = records_of("lifelong_cifar10", small, tmp_path / "data")
  assert len(records) == 10 * 19 * 5
  clean = {}
  pixels = fixtures.pixels((10, 3073), seed=0)[:, 1:].reshape(10, 3, 32, 32)
  pixels = pixels.transpose(0, 2, 3, 1)
  for record in records:
    kind, severity, key = record["id"].decode().split("/", 2)
    assert record["domain"].decode() == f"cifar10_c_generated/{kind}"
    assert record["severity"] == int(severity)
    clean.setdefault(key, set()).add((kind, int(severity), int(record["label"]), record["image"]))
  assert len(clean) == 10 and {len(found) for found in clean.values()} == {95}
  for key, found in clean.items():
    label = {one[2] for one in found}.pop()
    for kind, severity, _, image in list(found)[:5]:
      made = corrupt.corrupt(pixels[label], kind, severity, key=key)
      assert image == images.png(made)


@pytest.mark.parametrize("reverse", [False, True])
def test_copies_are_kept_once_whatever_the_order(tmp_path, reverse, records_of):
  row = dataclasses.replace(catalog.find("lifelong_imagenet/imagenet_a")[1], num_classes=3)
  one, two = (images.png(fixtures.pixels((4, 4, 3), seed)) for seed in (0, 1))
  names = row.class_names[:3]
  members = {f"imagenet-a/{names[0]}/a.png": one, f"imagenet-a/{names[1]}/b.png": one,
             f"imagenet-a/{names[1]}/c.png": two, f"imagenet-a/{names[2]}/d.png": one}
  members = dict(sorted(members.items(), reverse=reverse))
  fixtures.write_archive(tmp_path / "imagenet-a.tar", members)
  layout = dataclasses.replace(row.layouts[0], files=tuple(
      dataclasses.replace(file, url=None) for file in row.layouts[0].files))
  row = dataclasses.replace(row, class_names=names, layouts=(layout,))
  with testing.installed(row, tmp_path, family="lifelong_imagenet"):
    tfds_builders.build("lifelong_imagenet/imagenet_a", tmp_path / "data")
    builder, records = records_of("lifelong_imagenet", row, tmp_path / "data")
  assert sorted(record["id"].decode() for record in records) == [f"{names[0]}/a", f"{names[1]}/c"]
  assert dict(builder.info.metadata["duplicates_removed"]) == {"test": 2}


def test_objectnet_has_the_classes_of_its_own_tables(tmp_path):
  paths = {"objectnet-1.0.tar": tmp_path / "objectnet-1.0.tar"}
  objectnet.write_fixture(tmp_path, list(paths), ["a", "b", "c"], per_class=1, domain="objectnet")
  found = {one.key: (one.label, one.extra["also"])
           for one in objectnet.parse(paths, domain="objectnet")}
  assert found == {"thing_0/0": (0, ""), "thing_1/0": (1, ""), "thing_2/0": (2, ""),
                   "things/0": (0, "2")}
  fixtures.write_archive(paths["objectnet-1.0.tar"], {"images/rock/0.png": b""})
  with pytest.raises(errors.DataError, match="has no folder_to_objectnet_label.json, imagenet_to"):
    list(objectnet.parse(paths, domain="objectnet"))


def test_grey_images_are_the_luma_in_three_channels():
  pixels = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [10, 20, 30]]], np.uint8)
  made = one_domain._grey(images.png(pixels), "here")  # pylint: disable=protected-access
  # 0.299 x 255, 0.587 x 255, 0.114 x 255, 2.99 + 11.74 + 3.42.
  expected = np.array([[76, 150], [29, 18]], np.uint8)
  np.testing.assert_array_equal(corrupted.decoded(made, "here"),
                                np.repeat(expected[..., None], 3, axis=-1))


def test_a_union_keeps_one_of_equal_images_of_all_sources(tmp_path, records_of):
  shared, own, other = (images.png(fixtures.pixels((4, 4, 3), seed)) for seed in (0, 1, 2))
  archives = {"imagenet_a": {"a/n0/x.png": shared, "a/n1/y.png": own},
              "imagenet_sketch": {"s/n1/z.png": shared, "s/n0/w.png": other}}
  union = dataclasses.replace(catalog.find("lifelong_imagenet/union")[1], num_classes=2,
                              class_names=("n0", "n1"), union=(*archives, "imagenet_r"))
  with contextlib.ExitStack() as stack:
    stack.enter_context(testing.installed(union, tmp_path, family="lifelong_imagenet"))
    for name, members in archives.items():
      row = catalog.find(f"lifelong_imagenet/{name}")[1]
      files = tuple(dataclasses.replace(file, url=None, size=None)
                    for file in row.layouts[0].files)
      fixtures.write_archive(tmp_path / files[0].name, members)
      stack.enter_context(catalog.stand_in("lifelong_imagenet", dataclasses.replace(
          row, num_classes=2, class_names=("n0", "n1"),
          layouts=(dataclasses.replace(row.layouts[0], files=files),))))
      tfds_builders.build(f"lifelong_imagenet/{name}", tmp_path / "data")
    with pytest.raises(errors.DataError, match=(
        r"union of 3 data sets.*not prepared in .*: lifelong_imagenet/imagenet_r\. Prepare them: "
        "suite data build lifelong_imagenet/imagenet_r; or .* --without imagenet_r")):
      tfds_builders.build("lifelong_imagenet/union", tmp_path / "data")
    with pytest.raises(errors.DataError, match="cannot be built without cifar.*made of imagenet_a"):
      tfds_builders.build("lifelong_imagenet/union", tmp_path / "data", without=["cifar"])
    status = tfds_builders.status.inspect("lifelong_imagenet/union", tmp_path / "data")
    assert status.command == "suite data build lifelong_imagenet/imagenet_r"
    tfds_builders.build("lifelong_imagenet/union", tmp_path / "data", without=["imagenet_r"])
    with pytest.raises(errors.DataError, match="is prepared with imagenet_r left out. Delete"):
      tfds_builders.build("lifelong_imagenet/union", tmp_path / "data", without=["imagenet_a"])
    builder, records = records_of("lifelong_imagenet", union, tmp_path / "data")
  # The copy of n1/z is gone: imagenet_a/n0/x has the lesser id.
  assert {record["id"].decode(): (int(record["label"]), record["domain"].decode())
          for record in records} == {
      "imagenet_a/n0/x": (0, "imagenet_a"), "imagenet_a/n1/y": (1, "imagenet_a"),
      "imagenet_sketch/n0/w": (0, "imagenet_sketch")}
  assert {(record["also"], int(record["severity"])) for record in records} == {(b"", 0)}
  assert dict(builder.info.metadata["duplicates_of"]) == {"imagenet_a": 0, "imagenet_sketch": 1}
  assert list(builder.info.metadata["left_out"]) == ["imagenet_r"]
  assert builder.info.metadata["origin"] == "union"


def test_all_families_are_listed_and_known_to_the_doctor(tmp_path):
  mirror.use(None)
  for family in _FAMILIES:
    for row in catalog.FAMILIES[family]:
      assert f"{family}/{row.name}" in tfds_builders.names()
      status = tfds_builders.status.inspect(f"{family}/{row.name}", tmp_path)
      assert status.state in ("listed", "manual", "mirrored")
      assert (row.union or (row.name,))[0] in status.command
