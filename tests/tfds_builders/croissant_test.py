# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Croissant metadata of every data set."""

import json

import numpy as np
import pytest
import tensorflow_datasets as tfds

from suite import cli
from tfds_builders import catalog
from tfds_builders import croissant
from tfds_builders import row_builder
from tfds_builders import timelines
from tfds_builders.parsers import example
from tfds_builders.parsers import images


def _nodes(value):
  """All dictionaries of a document but its context."""
  if isinstance(value, dict):
    yield value
    value = [one for key, one in value.items() if key not in ("@context", "data")]
  if isinstance(value, list):
    for one in value:
      yield from _nodes(one)


def _check(name, made):
  """Asserts what Croissant demands of any document."""
  assert made["@type"] == "sc:Dataset" and made["name"] == name
  assert made["conformsTo"][0] == "http://mlcommons.org/croissant/1.1"
  assert all(made[key] for key in ("description", "version", "distribution", "recordSet"))
  assert not any(value in ("", None, []) for node in _nodes(made) for value in node.values())
  # Keys are of the context, of schema.org or of the responsible-AI vocabulary.
  schema = {"alternateName", "citation", "contentSize", "contentUrl", "creator", "datePublished",
            "distribution", "encodingFormat", "license", "sha256", "url", "version"}
  for node in _nodes(made):
    assert all(key in made["@context"] or key in schema or key.startswith(("@", "rai:"))
               for key in node), node
  typed = [node for node in _nodes(made) if "@id" in node and "@type" in node]
  ids = [node["@id"] for node in typed]
  assert len(ids) == len(set(ids))
  assert {node["@id"] for node in _nodes(made) if set(node) == {"@id"}} <= set(ids)
  files = [node for node in typed if node["@type"] == "cr:FileObject"]
  assert all(file["contentUrl"] and file["encodingFormat"] for file in files)
  sums = [len({"md5", "sha256"} & set(file)) for file in files]
  assert made.get("isLiveDataset", False) == (0 in sums) and max(sums, default=0) <= 1
  for file in files:
    assert len(file.get("sha256", "0" * 64)) == 64 and len(file.get("md5", "0" * 32)) == 32
  for one in made["recordSet"]:
    fields = {field["@id"] for field in one["field"]}
    assert all(set(line) == fields for line in one.get("data", []))
    assert all("dataType" in field and ("source" in field) == ("data" not in one)
               for field in one["field"])


def _records(made):
  return {one["@id"]: one for one in made["recordSet"]}


def test_every_data_set_has_a_valid_document_with_all_features_of_its_builder():
  for family in catalog.FAMILIES:
    for row in catalog.rows(family):
      name = f"{family}/{row.name}"
      made = croissant.document(name)
      _check(name, made)
      assert made["citeAs"] == row.citation and made["url"] == row.homepage
      assert made["creator"] and len(made["datePublished"]) == 4
      assert all(one["name"].isprintable() and not set(one["name"]) & set("\\{}\"")
                 for one in made["creator"])
      assert ("license" in made) == bool(row.license)
      records = _records(made)
      assert [field["name"] for field in records["examples"]["field"]] == [
          *row_builder.features(row), "split"]
      assert tuple(line["splits/name"] for line in records["splits"]["data"]) == row.split_names
      assert tuple(line["classes/name"] for line in records.get("classes", {"data": ()})["data"]
                   ) == (row.class_names or ())
      assert croissant.text(made) == croissant.text(croissant.document(name))
  # The features are those that the builders declare.
  for family, rows in catalog.FAMILIES.items():
    name = f"{family}/{rows[-1].name}"
    assert set(tfds.builder(name, data_dir="/nowhere").info.features) == {
        field["name"] for field in _records(croissant.document(name))["examples"]["field"]
    } - {"split"}


def test_a_document_has_the_facts_of_its_row():
  made = croissant.document("nevis/cifar10")
  assert made["distribution"][0] == {
      "@type": "cr:FileObject", "@id": "cifar-10-binary.tar.gz", "name": "cifar-10-binary.tar.gz",
      "contentUrl": "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
      "contentSize": "170052171 B", "encodingFormat": "application/x-tar",
      "sha256": "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}
  assert made["distribution"][1]["includes"] == "nevis/cifar10/2.0.0/*.tfrecord-*"
  assert made["rai:dataPreprocessingProtocol"][0].startswith(
      "The source's split 'train' is divided into train 70%, dev 15%, validation 15%")
  label = next(field for field in _records(made)["examples"]["field"] if field["name"] == "label")
  assert label["dataType"] == "cr:Int64" and label["references"] == {"field": {"@id": "classes/id"}}
  # Vectors and many labels are arrays of a known shape.
  shapes = {field["name"]: (field["dataType"], field.get("arrayShape"))
            for name in ("clear10/moco_b0", "nevis/sun_attributes")
            for field in _records(croissant.document(name))["examples"]["field"]}
  assert shapes["feature"] == ("cr:Float32", "2048") and shapes["labels"] == ("cr:UInt8", "102")
  # TFDS's own data sets have its links and checksums.
  files = croissant.document("nevis/stl10")["distribution"]
  assert files[0]["contentUrl"].endswith("stl10_binary.tar.gz") and len(files[0]["sha256"]) == 64


def test_authors_are_read_from_bibtex_with_their_accents():
  made = croissant._creators(  # pylint: disable=protected-access
      "@article{a,\n  author={Bornschein, J{\\\"o}rg and Marsza{\\l}ek, Marcin\n and "
      "{Some Institute} and P\\'{\\i}a de la Cruz and others},\n  year=2023}")
  assert made == [{"@type": "sc:Person", "name": "Jörg Bornschein"},
                  {"@type": "sc:Person", "name": "Marcin Marszałek"},
                  {"@type": "sc:Organization", "name": "Some Institute"},
                  {"@type": "sc:Person", "name": "Pía de la Cruz"}]


@pytest.fixture(name="timeline")
def _timeline(tmp_path):
  """A folder with timeline/mine: two images of two classes."""
  table = tmp_path / "images.csv"
  table.write_text("path,time,label\n")
  made = [example.Example("bucket_01", name, name, images.png(np.zeros((8, 8, 3), np.uint8)), name)
          for name in ("cat", "dog")]
  facts = {name: 0 if kind == "int64" else False for name, kind in timelines.FEATURES.items()}
  timelines.build("mine", timelines.Contents(
      lambda: iter([one._replace(extra=facts) for one in made]), {"bucket_01": 2},
      ("cat", "dog"), [table], "Dated images", {}), tmp_path)
  return tmp_path


def test_the_command_writes_a_data_set_or_a_timeline_and_names_what_is_near(
    timeline, tmp_path, capsys):
  out = tmp_path / "new" / "mine.json"
  flags = ["--data_dir", str(timeline)]
  assert cli.main(["data", "croissant", "timeline/mine", "--out", str(out), *flags]) == 0
  made = json.loads(out.read_text(encoding="utf-8"))
  _check("timeline/mine", made)
  assert [one["classes/name"] for one in _records(made)["classes"]["data"]] == ["cat", "dog"]
  assert made["distribution"][0]["name"] == "images.csv" and not made.get("isLiveDataset")
  assert {field["name"] for field in _records(made)["examples"]["field"]} == {
      "image", "label", "id", "split", *timelines.FEATURES}
  capsys.readouterr()
  assert cli.main(["data", "croissant", "nevis/mnist", *flags]) == 0
  assert capsys.readouterr().out == croissant.text(croissant.document("nevis/mnist"))
  for name, said in (("nevis/mnits", "nevis/mnist"),
                     ("clear100", "Give one of them: clear100/"),
                     ("timeline/mime", "The nearest there: timeline/mine")):
    assert cli.main(["data", "croissant", name, *flags]) != 0
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1


@pytest.mark.parametrize("name", ["nevis/cifar100_paper", "nevis/sun_attributes", "clear10/moco_b0",
                                  "fluid/sequence1"])
def test_mlcroissant_accepts_documents(name):
  pytest.importorskip("mlcroissant", reason="the extra croissant is not installed")
  assert croissant.problem(croissant.document(name)) == ""
  damaged = croissant.document(name)
  del damaged["distribution"][0]["contentUrl"]
  assert "contentUrl" in croissant.problem(damaged)
