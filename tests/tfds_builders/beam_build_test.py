# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A build on Beam has the records of a build without."""

import dataclasses
import json

import numpy as np
import pytest
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import content
from tfds_builders import splits
from tfds_builders import testing
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib
from tfds_builders.rows.nevis.face import olivetti_face
from tfds_builders.rows.nevis.ocr import semeion

beam = pytest.importorskip("apache_beam", reason="needs the extra: pip install .[beam]")


BEAM = "runner=DirectRunner,direct_num_workers=1"


@pytest.fixture(scope="module", autouse=True)
def _signatures_are_read_once():
  """Beam inspects the methods of each step some hundred times, a third of the time of a build."""
  found, read = {}, beam.transforms.core.get_function_args_defaults

  def once(function):
    key = getattr(function, "__func__", function), hasattr(function, "__self__")
    if key not in found:
      found[key] = read(function)
    return tuple(list(part) for part in found[key])

  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(beam.transforms.core, "get_function_args_defaults", once)
    yield


class _Parser:
  """60 images a file; number 7 of each is broken if asked for; the first ten are in all files."""

  @staticmethod
  def parse(paths, *, broken=False):
    for name in sorted(paths):
      for i in range(60):
        image = images.png(fixtures.pixels((3, 3), i if i < 10 else i + 100 * ord(name)))
        yield example.Example("all", f"{name}{i:02d}", f"c{i % 4}",
                              b"no image" if broken and i == 7 else image, f"{name} {i}")


def _row(**args):
  layout = row_lib.Layout(_Parser, (row_lib.File("a"), row_lib.File("b")), args=args,
                          num_examples={"all": 120}, separate_files=True)
  return dataclasses.replace(olivetti_face.ROW, layouts=(layout,), num_classes=4,
                             class_names=None)


def _build(tmp_path, row, name, beam_options=""):
  for file in ("a", "b"):
    (tmp_path / file).write_text("")
  with testing.installed(row, tmp_path):
    return tfds_builders.build("nevis/olivetti_face", tmp_path / name, beam_options=beam_options)


def _records(found):
  return {split: sorted((r["id"], int(r["label"]), r["image"]) for r in records)
          for split, records in found.items()}


def test_same_records_names_and_facts_as_without_beam(tmp_path, read_splits):
  plain = _build(tmp_path, _row(), "plain")
  parallel = _build(tmp_path, _row(), "parallel", beam_options=BEAM)
  assert _records(read_splits(parallel)) == _records(read_splits(plain))
  # A new reader learns the names of the classes from the files.
  with testing.installed(_row()):
    again = tfds.builder("nevis/olivetti_face", data_dir=tmp_path / "parallel")
  assert again.info.features["label"].names == ["c0", "c1", "c2", "c3"]
  metadata = json.loads((again.data_path / "metadata.json").read_text())
  assert metadata["source_examples"] == {"all": 120} and metadata["origin"] == "mirror"
  with np.load(plain.data_path / content.FILE) as one, \
      np.load(again.data_path / content.FILE) as two:
    assert all(np.array_equal(one[split], two[split]) for split in splits.NAMES)
  removed = [json.loads((builder.data_path / "metadata.json").read_text())["duplicates_removed"]
             for builder in (plain, again)]
  assert removed[0] == removed[1] and set(removed[0]) == set(splits.NAMES)
  assert sum(removed[0].values()) > 0 and removed[0]["test"] == 0
  kept = sum(split.num_examples for split in again.info.splits.values())
  assert kept + sum(removed[0].values()) == 120


def test_a_source_that_fails_its_checks_leaves_nothing(tmp_path):
  with pytest.raises(Exception, match="2 of 120 images of olivetti_face cannot be decoded"):
    _build(tmp_path, _row(broken=True), "data", beam_options=BEAM)
  assert not list((tmp_path / "data").rglob("*record*"))


def test_a_draw_by_position_is_refused(tmp_path):
  from tfds_builders import beam_build  # pylint: disable=g-import-not-at-top
  row = dataclasses.replace(_row(), paper=semeion.ROW.paper)
  with pytest.raises(ValueError, match="olivetti_face_paper is drawn by position"):
    beam_build.Build(row_lib.variants(row)[1], (), {}, tmp_path / "x")
