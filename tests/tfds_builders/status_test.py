# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""States of data sets; missing data are not an error."""

import dataclasses

import pytest

import tfds_builders
from tfds_builders import links
from tfds_builders import status
from tfds_builders import testing
from tfds_builders.rows import row as row_lib
from tfds_builders.rows.nevis.face import olivetti_face
from tfds_builders.rows.nevis.ocr import semeion


@pytest.fixture(autouse=True)
def _no_mirror(monkeypatch):
  monkeypatch.delenv("LIFELONG_MIRROR", raising=False)


def _kaggle(row):
  layout = dataclasses.replace(row.layouts[0], files=(row_lib.File("x.zip", "kaggle:a/b"),))
  return dataclasses.replace(row, layouts=(layout,), tfds=None)


def test_size_and_command_of_a_download_and_what_is_known_of_its_link(tmp_path):
  found = status.inspect("nevis/food101", tmp_path)
  assert (found.state, found.size_bytes) == (status.LISTED, 4996278331)
  assert found.reason.endswith("food-101.tar.gz; google-deepmind/dm_nevis@37ccf1e of 2022-12-13 "
                               "has the link, and nobody says that it works")
  assert not found.size_is_about and found.num_examples == 101_000
  assert found.license.startswith("scientific fair use")
  assert status.inspect("nevis/lfw", tmp_path).state == status.DOWNLOADABLE  # Good on 2025-03-02.
  assert found.command == "suite data build nevis/food101"
  assert found.disk_bytes == 2 * 4996278331 and found.memory_bytes == 101_000 * 64 * 64 * 3
  rounded = status.inspect("nevis/nih_chest_xray", tmp_path)
  assert (rounded.size_bytes, rounded.size_is_about) == (45 * 10**9, True)
  assert status.inspect("nevis/umist", tmp_path).size_bytes is None
  assert status.inspect("clear10/moco_b0", tmp_path).memory_bytes is None


def test_a_size_of_tfds_is_known(tmp_path):
  assert status.inspect("nevis/cifar100", tmp_path).size_bytes == 168513733
  assert status.inspect("nevis/dtd", tmp_path).size_bytes == 625239812
  assert status.inspect("nevis/domainnet", tmp_path).size_bytes == 5_600_000_000
  assert status.inspect("nevis/brodatz", tmp_path).size_bytes is None


@pytest.mark.parametrize("name, reason, command", [
    ("stanford_cars", "car_ims.tgz is dead 2023-04-29 (pytorch/vision#7545). Put a copy of "
     "car_ims.tgz and cars_annos.mat into",
     "suite data build nevis/stanford_cars --mirror DIR"),
    ("domainnet", "real.zip is dead 2024-09-05", "suite data build nevis/domainnet")])
def test_a_dead_link_is_not_downloadable(tmp_path, name, reason, command):
  found = status.inspect(f"nevis/{name}", tmp_path)
  assert found.state == status.DEAD_LINK and reason in found.reason
  assert found.command == command
  assert {link.state for link in found.links} == {links.DEAD}


def test_links_are_asked_only_on_request(tmp_path, monkeypatch):
  asked = []

  def answer(link):
    asked.append(link.url)
    return dataclasses.replace(link, state=links.GOOD, date="2026-11-22", evidence="HTTP 206")

  monkeypatch.setattr(links, "check", answer)
  assert status.inspect("nevis/stanford_cars", tmp_path).state == status.DEAD_LINK
  assert not asked
  found = status.inspect("nevis/stanford_cars", tmp_path, check_links=True)
  assert found.state == status.DOWNLOADABLE and len(asked) == 2


def test_mirrored_says_size_and_place(tmp_path):
  (tmp_path / "semeion.data").write_bytes(bytes(10))
  with testing.installed(semeion.ROW, tmp_path):
    found = status.inspect("nevis/semeion", tmp_path / "data")
  assert (found.state, found.size_bytes) == (status.MIRRORED, 10)
  assert found.command == f"suite data build nevis/semeion --mirror {tmp_path}"


def test_credentials_say_what_is_needed_and_how_to_get_it(tmp_path):
  with testing.installed(_kaggle(olivetti_face.ROW)):
    found = status.inspect("nevis/olivetti_face", tmp_path)
  assert found.state == status.CREDENTIALS and "x.zip (kaggle:a/b)" in found.reason
  assert "kaggle datasets download -d a/b -p DIR" in found.reason
  assert found.command == "suite data build nevis/olivetti_face --mirror DIR"


def test_unknown_name_has_the_nearest_in_its_reason(tmp_path):
  found = status.inspect("nevis/mnits", tmp_path)
  assert (found.state, found.command) == (status.UNKNOWN, "")
  assert "nearest: nevis/mnist" in found.reason


def test_facts_are_those_of_the_row():
  found = status.facts("nevis/semeion")
  assert (found.num_classes, found.num_examples, found.source) == (10, 1593, "web")
  assert status.facts("clear10/images").num_examples is None


def test_every_name_has_a_status(tmp_path):
  for name in tfds_builders.names():
    found = status.inspect(name, tmp_path / "nowhere")
    assert found.state in (
        status.DOWNLOADABLE, status.LISTED, status.DEAD_LINK, status.CREDENTIALS, status.MANUAL)
    assert found.reason and found.command


def test_a_missing_mirror_is_not_an_error(tmp_path, monkeypatch):
  monkeypatch.setenv("LIFELONG_MIRROR", str(tmp_path / "gone"))
  assert status.inspect("nevis/semeion", tmp_path).state == status.LISTED


@pytest.mark.parametrize("spoil, reason", [
    (lambda folder: next(folder.glob("*record-*")).unlink(), "it has 3 of 4 record files"),
    (lambda folder: (folder / "dataset_info.json").write_text("{"), "dataset_info.json cannot be"),
    (lambda folder: (folder / "dataset_info.json").unlink(), "it has no dataset_info.json"),
])
def test_a_damaged_copy_is_not_prepared(tmp_path, spoil, reason):
  row, _ = testing.write(semeion.ROW, semeion.ROW.layouts[0], tmp_path / "mirror")
  with testing.installed(row, tmp_path / "mirror"):
    tfds_builders.build("nevis/semeion", tmp_path)
    assert status.inspect("nevis/semeion", tmp_path).state == status.PREPARED
    spoil(tmp_path / "nevis" / "semeion" / semeion.ROW.version)
    found = status.inspect("nevis/semeion", tmp_path)
  assert found.state == status.MIRRORED and reason in found.reason and "delete it" in found.reason


def test_a_changed_byte_of_a_record_is_found_by_reading_all(tmp_path):
  row, _ = testing.write(semeion.ROW, semeion.ROW.layouts[0], tmp_path / "mirror")
  with testing.installed(row, tmp_path / "mirror"):
    tfds_builders.build("nevis/semeion", tmp_path)
    assert status.inspect("nevis/semeion", tmp_path, deep=True).state == status.PREPARED
    path = next((tmp_path / "nevis" / "semeion" / semeion.ROW.version).glob("*record-*"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    assert status.inspect("nevis/semeion", tmp_path).state == status.PREPARED
    found = status.inspect("nevis/semeion", tmp_path, deep=True)
  assert found.state == status.MIRRORED and f"{path.name} is damaged" in found.reason


def test_another_version_is_not_prepared_and_is_named(tmp_path):
  row, _ = testing.write(semeion.ROW, semeion.ROW.layouts[0], tmp_path / "mirror")
  with testing.installed(row, tmp_path / "mirror"):
    tfds_builders.build("nevis/semeion", tmp_path)
    folder = tmp_path / "nevis" / "semeion"
    (folder / semeion.ROW.version).rename(folder / "1.0.0")
    found = status.inspect("nevis/semeion", tmp_path)
  assert found.state == status.MIRRORED and found.reason.startswith(
      f"prepared as version 1.0.0, whose records differ from those of {semeion.ROW.version}: build")


def test_default_folder_is_that_of_tfds(monkeypatch, tmp_path):
  monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
  assert status.data_directory() == tmp_path
  monkeypatch.delenv("TFDS_DATA_DIR")
  assert status.data_directory().name == "tensorflow_datasets"
