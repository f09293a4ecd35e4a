# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID, Lifelong-CIFAR10 and Lifelong-ImageNet: every layout, built from a tiny archive."""

from __future__ import annotations

import dataclasses

import pytest
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import catalog
from tfds_builders import mirror
from tfds_builders import splits
from tfds_builders import testing
from tfds_builders.corruptions import corrupt
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
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
                   "cifar10_c_generated"]
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


def test_all_families_are_listed_and_known_to_the_doctor(tmp_path):
  mirror.use(None)
  for family in _FAMILIES:
    for row in catalog.FAMILIES[family]:
      assert f"{family}/{row.name}" in tfds_builders.names()
      status = tfds_builders.status.inspect(f"{family}/{row.name}", tmp_path)
      assert status.state in ("listed", "manual", "mirrored") and row.name in status.command
