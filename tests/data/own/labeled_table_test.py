# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image sets of tables: right pixels, labels and splits, and what is wrong with a table by line."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas
from PIL import Image
import pyarrow
from pyarrow import parquet
import pytest

from suite.data.own import image_sources
from suite.data.streams import buckets
from suite.data.streams import streams

PLAIN = """path,label,split,time
p/0.png,tram,train,2012-05-31
p/1.png,bus,train,2013
p/2.png,bus,test,2012-01-01 10:00
p/3.png,tram,test,2013-07
p/4.png,car,val,2013
p/5.png,car,train,2012
"""


@pytest.fixture(name="table")
def _table(tmp_path):
  (tmp_path / "p").mkdir()
  for i in range(6):
    Image.fromarray(np.full([4, 4, 3], 40 * i, np.uint8)).save(tmp_path / f"p/{i}.png")
  return tmp_path / "trams.csv"


def _tones(images):
  """40 times the numbers of the files."""
  return (images.pixels()[:, 0, 0, 0] // 40).tolist()


def _without(*columns):
  return pandas.read_csv(io.StringIO(PLAIN), dtype=str).drop(columns=list(columns))


@pytest.mark.parametrize("text", [
    PLAIN, PLAIN.replace(",", ";"), PLAIN.replace(",", "\t"),
    "\ufeff" + PLAIN.replace("\n", "\r\n"),
    PLAIN.replace("path,label,split", "Path, Label ,SPLIT"), "sep=;\n" + PLAIN.replace(",", ";"),
    PLAIN.replace("p/", "p\\"), PLAIN + ",,,\n", PLAIN.replace("label", "class"),
    PLAIN.replace("train", "Training").replace("val", "validation")])
def test_a_table_with_splits_is_a_set_for_each(table, text):
  table.write_text(text, encoding="utf-8", newline="")
  found = image_sources.from_csv(table)
  assert {split: (_tones(one), one.labels.tolist()) for split, one in found.items()} == {
      "train": ([0, 1, 5], [2, 0, 1]), "test": ([2, 3], [0, 2]), "validation": ([4], [1])}
  assert all(one.class_names == ("bus", "car", "tram") for one in found.values())
  assert found["test"].name == "trams test" and found["test"].ids[0].endswith("2.png")


def test_one_split_another_folder_and_other_names_of_columns(table, tmp_path):
  table.write_text(PLAIN)
  assert _tones(image_sources.from_csv(str(table), split="val")) == [4]
  frame = _without("split", "time").rename(columns={"label": "species"})
  frame["path"] = frame["path"].str.slice(2)
  named = image_sources.from_csv(frame, images=tmp_path / "p", columns={"label": "species"})
  assert _tones(named) == [0, 1, 2, 3, 4, 5] and named.class_names == ("bus", "car", "tram")
  frame["path"] = [str(tmp_path / "p" / one) for one in frame["path"]]
  frame["species"] = [2.0, 0, 1, 2, 0, 1]
  numbers = image_sources.from_csv(frame, columns={"label": "species"}, name="numbers")
  assert numbers.labels.tolist() == [2, 0, 1, 2, 0, 1] and numbers.class_names == ("0", "1", "2")
  frame["species"] = [10, 1, 2, 10, 1, 2]
  from_1 = image_sources.from_csv(frame, columns={"label": "species"})
  assert from_1.labels.tolist() == [2, 0, 1, 2, 0, 1] and from_1.class_names == ("1", "2", "10")
  frame["species"] = [2, 0, 1, 2, 0, 1]
  frame.rename(columns={"species": "label"}).to_parquet(table.with_suffix(".parquet"))
  again = image_sources.from_csv(table.with_suffix(".parquet"), class_names=["a", "b", "c"])
  assert again.class_names == ("a", "b", "c") and again.name == "trams"


def _labeled(tmp_path, name, given, **asked):
  path = tmp_path / f"{name}.csv"
  path.write_text("path,label\n" + "".join(
      f"p/{i % 6}.png,{label}\n" for i, label in enumerate(given)))
  return image_sources.from_csv(path, **asked)


def test_labels_are_names_and_numbers_are_sorted_by_value(table, tmp_path):
  del table
  found = _labeled(tmp_path, "ids", ["10", "001", "9", "1"])
  assert found.class_names == ("001", "1", "9", "10") and found.labels.tolist() == [3, 0, 2, 1]
  assert _labeled(tmp_path, "gaps", ["0", "7", "2"]).num_classes == 3
  by_number = _labeled(tmp_path, "gaps", ["0", "7", "2"], labels="numbers")
  assert (by_number.labels.tolist(), by_number.num_classes) == ([0, 7, 2], 8)
  assert by_number.class_names is None
  ones = _labeled(tmp_path, "names", ["1", "0"], class_names=["1", "0"])
  assert ones.labels.tolist() == [0, 1]
  with pytest.raises(ValueError, match="others: line 3, the first 'b'. Say labels='names'"):
    _labeled(tmp_path, "mixed", ["0", "b"], labels="numbers")
  with pytest.raises(ValueError, match="0 to 7; allowed are 0..1. Give num_classes, or class_n"):
    _labeled(tmp_path, "gaps", ["0", "7", "2"], class_names=["a", "b"])
  with pytest.raises(ValueError, match="labels='ids'; allowed are 'names', 'numbers'"):
    _labeled(tmp_path, "mixed", ["0"], labels="ids")


def test_tasks_as_tables_are_different_classes(table, tmp_path):
  del table

  def classes(made):
    return [sorted(set(bucket.train.labels.tolist())) for bucket in made]

  first, second = "001122", "334455"
  parts = [_labeled(tmp_path, "one", first), _labeled(tmp_path, "two", second)]
  assert classes(buckets.of(parts)) == [[0, 1, 2], [3, 4, 5]]
  bare = image_sources.from_arrays(np.zeros([6, 4, 4, 3], np.uint8), list(map(int, first)))
  with pytest.raises(ValueError, match=r"with_class_names\(\[...\]\), or .* labels='numbers'"):
    buckets.of([bare, parts[1]])
  named = bare.with_class_names(["0", "1", "2"])
  by_number = _labeled(tmp_path, "two", second, labels="numbers")
  wide = _labeled(tmp_path, "one", first, labels="numbers", class_names=list("012345"))
  assert classes(buckets.of([named, parts[1]])) == [[0, 1, 2], [3, 4, 5]]
  assert wide.class_names == tuple("012345")
  assert classes(buckets.of([wide.with_class_names(None), by_number])) == [[0, 1, 2], [3, 4, 5]]


def _rows_of(found):
  return [[found.class_names[i] for i in np.flatnonzero(row)] for row in found.labels]


@pytest.mark.parametrize("labels", [
    ["cat;dog", "eel", "dog; cat"], ["cat|dog", "eel", "dog|cat|cat"],
    ['"cat,dog"', "eel", '"dog,cat"'], ["\"['cat', 'dog']\"", "eel", "\"['dog', 'cat']\""]])
def test_several_labels_in_a_cell(table, tmp_path, labels):
  del table
  with pytest.raises(ValueError, match="2 labels that look like several .*: lines 2, 4, the first"):
    _labeled(tmp_path, "tags", labels)
  several = _labeled(tmp_path, "tags", labels, kind="multi_label")
  assert several.kind == "multi_label" and several.class_names == ("cat", "dog", "eel")
  assert _rows_of(several) == [["cat", "dog"], ["eel"], ["cat", "dog"]]
  assert _labeled(tmp_path, "tags", labels, kind="single_label").num_classes == 3


def test_separators_commas_in_names_and_class_numbers(table, tmp_path):
  del table
  names = ['"maillot, tank suit"', "maillot", '"tench, Tinca tinca"']
  assert _labeled(tmp_path, "names", names).num_classes == 3
  mixed = ["a, b;c", "c", "a, b"]
  mixed = [f'"{one}"' for one in mixed]
  with pytest.raises(ValueError, match="has ';' and ',' in its labels; .*: separator=';'"):
    _labeled(tmp_path, "mixed", mixed, kind="multi_label")
  found = _labeled(tmp_path, "mixed", mixed, kind="multi_label", separator=";")
  assert _rows_of(found) == [["a, b", "c"], ["c"], ["a, b"]]
  found = _labeled(tmp_path, "numbers", ["0 2", "3", "2"], kind="multi_label", separator=" ",
                   labels="numbers")
  assert found.class_names is None and found.labels.tolist() == [
      [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
  with pytest.raises(ValueError, match="separator=';' is the text .* with kind='multi_label'"):
    _labeled(tmp_path, "mixed", mixed, separator=";")
  with pytest.raises(ValueError, match="kind='several'; allowed are 'single_label', 'multi_label'"):
    _labeled(tmp_path, "mixed", mixed, kind="several")


def test_rows_of_one_image_are_its_labels(table, tmp_path):
  del table
  (tmp_path / "rows.csv").write_text(
      "path,label,split\np/0.png,dog,train\np/1.png,cat,train\np/0.png,cat,train\n")
  with pytest.raises(ValueError, match="If an image has several classes, say kind='multi_label'"):
    image_sources.from_csv(tmp_path / "rows.csv")
  found = image_sources.from_csv(tmp_path / "rows.csv", kind="multi_label")["train"]
  assert _tones(found) == [0, 1] and _rows_of(found) == [["cat", "dog"], ["cat"]]
  (tmp_path / "rows.csv").write_text(
      "path,label,split\np/0.png,dog,train\np/0.png,cat,test\n")
  with pytest.raises(ValueError, match="lines 2, 3 are of one image, .*, and differ in split"):
    image_sources.from_csv(tmp_path / "rows.csv", kind="multi_label")


def test_lists_of_a_frame(table, tmp_path):
  del table
  frame = pandas.DataFrame({"path": ["p/0.png", "p/1.png"], "label": [["b", "a"], []]})
  found = image_sources.from_csv(frame, images=tmp_path, kind="multi_label")
  assert _rows_of(found) == [["a", "b"], []]
  with pytest.raises(ValueError, match="look like several classes of an image: rows 1, 2"):
    image_sources.from_csv(frame, images=tmp_path)


def test_paths_may_lack_the_ending(table, tmp_path):
  (tmp_path / "p/5.png").rename(tmp_path / "p/5.JPG")
  table.write_text("id,breed\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(6)))
  asked = {"images": tmp_path / "p", "columns": {"path": "id", "label": "breed"}}
  found = image_sources.from_csv(table, **asked)
  assert _tones(found) == [0, 1, 2, 3, 4, 5] and found.ids.tolist() == list("012345")
  (tmp_path / "p/3.jpeg").write_bytes((tmp_path / "p/3.png").read_bytes())
  with pytest.raises(ValueError, match="3' of line 5 may be 3.jpeg or 3.png. Write the endings"):
    image_sources.from_csv(table, **asked)
  table.write_text("id,breed\n7,a\n")
  with pytest.raises(FileNotFoundError, match="7', nor with an ending such as .jpg. Paths are"):
    image_sources.from_csv(table, **asked)


def _hub_table(path, tmp_path, labels, feature):
  pictures = [(tmp_path / f"p/{i}.png").read_bytes() for i in range(len(labels))]
  rows = pyarrow.table({"image": [{"bytes": data, "path": f"{i}.png"}
                                  for i, data in enumerate(pictures)], "label": labels})
  features = {"image": {"_type": "Image"}, "label": feature}
  parquet.write_table(rows.replace_schema_metadata(
      {"huggingface": json.dumps({"info": {"features": features}})}), path)


def test_images_and_class_labels_of_a_hub_parquet(table, tmp_path):
  path = table.with_suffix(".parquet")
  feature = {"names": ["dog", "cat", "eel"], "_type": "ClassLabel"}
  _hub_table(path, tmp_path, [1, 0, 1], feature)
  for asked in ({}, {"columns": {"path": "image"}}):
    found = image_sources.from_csv(path, **asked)
    assert _tones(found) == [0, 1, 2] and found.labels.tolist() == [1, 0, 1]
    assert found.class_names == ("dog", "cat", "eel") and found.ids.tolist() == [
        "0.png", "1.png", "2.png"]
  by_number = image_sources.from_csv(path, labels="numbers")
  assert by_number.class_names is None and by_number.labels.tolist() == [1, 0, 1]
  named = image_sources.from_csv(path, class_names=["eel", "cat", "dog"])
  assert named.labels.tolist() == [1, 2, 1]
  for form in ({"feature": feature, "_type": "Sequence"}, [feature]):
    _hub_table(path, tmp_path, [[0, 2], [1]], form)
    assert _rows_of(image_sources.from_csv(path, kind="multi_label")) == [["dog", "eel"], ["cat"]]
  _hub_table(path, tmp_path, [0, 3], feature)
  with pytest.raises(ValueError, match="the label 3 of row 2 is none of its 3 class numbers"):
    image_sources.from_csv(path)
  frame = pandas.DataFrame({"image": [(tmp_path / "p/4.png").read_bytes()], "label": ["x"]})
  assert _tones(image_sources.from_csv(frame)) == [4]
  frame["image"] = [{"bytes": None, "path": "p/3.png"}]
  assert _tones(image_sources.from_csv(frame, images=tmp_path)) == [3]
  frame["image"] = [{"bytes": None, "path": None}]
  with pytest.raises(ValueError, match="1 of 1 rows have no image: row 1. Leave them out"):
    image_sources.from_csv(frame)
  frame["image"] = [Image.open(tmp_path / "p/2.png")]
  with pytest.raises(ValueError, match=r"from_arrays\(list\(frame\['image'\]\), list\("):
    image_sources.from_csv(frame, columns={"path": "image"})
  assert _tones(image_sources.from_arrays(list(frame["image"]), list(frame["label"]))) == [2]


def test_periods_become_buckets(table):
  table.write_text(PLAIN.replace(",val,", ",test,").replace("tram", "bus").replace("car", "bus"))
  by_year = image_sources.from_csv(table, by="year")
  made = buckets.of(by_year)
  assert [(b.name, _tones(b.train), _tones(b.test)) for b in made] == [
      ("2012", [0, 5], [2]), ("2013", [1], [3, 4])]
  by_month = image_sources.from_csv(table, by="month", columns={"split": None})
  assert {month: _tones(one) for month, one in by_month.items()} == {
      "2012-01": [2, 5], "2012-05": [0], "2013-01": [1, 4], "2013-07": [3]}


def test_splits_become_a_task(table):
  table.write_text(PLAIN.replace("car", "bus").replace("3.png,tram,test", "3.png,tram,dev"))
  splits = streams.of([image_sources.from_csv(table)]).entries[0].load()
  assert [_tones(one) for one in (splits.train, splits.dev, splits.validation, splits.test)] == [
      [0, 1, 5], [3], [4], [2]]


@pytest.mark.parametrize("text, message", [
    (PLAIN.replace("label", "category"), "no 'label'. If 'category' is it, say columns={'label'"),
    (PLAIN.replace("path", "filename"), "no 'path'. If 'filename' is it"),
    (PLAIN.replace("path", "url"), "suite data fetch_urls"),
    (PLAIN.replace("split", "subset"), "no column 'split', but 'subset' with test, train, val. If"),
    (PLAIN.replace("p/1", "p/7").replace("p/4", "q/4"), "2 of 6 images are not there: lines 3, 6"),
    (PLAIN.replace("p/1", "p/0"), "1 images have .* path or that of another .*line 3.*line 2"),
    (PLAIN.replace("bus", ""), "is unlabelled in part: 2 of 6 images have no label: lines 3, 4"),
    (PLAIN.replace("bus", "-1"), "2 of 6 images have the label -1, which is none: lines 3, 4"),
    (PLAIN.replace(",val,", ",,"), "1 of 6 images have no 'split': line 6"),
    (PLAIN.replace(",val,", ",valid,").replace("car,train", "car,val"), "both mean 'validation'"),
    ("path,label\n", "has no images"),
    ("p/0.png,tram\np/1.png,bus\n", "no 'path'. The first line names the columns: path,label"),
    (PLAIN.replace("train", "1").replace("test", "0").replace("val", "0"), "has the splits 0, 1 i"),
    ("label," + ",".join(f"pixel{i}" for i in range(784)) + "\n" + "1," * 784 + "1\n",
     "pixel10, ... .785 in all., and no 'path'"),
])
def test_mistakes_are_said(table, text, message):
  table.write_text(text)
  with pytest.raises((ValueError, FileNotFoundError), match=message):
    image_sources.from_csv(table)


@pytest.mark.parametrize("text, arguments, message", [
    (PLAIN, {"split": "valid_2"}, "no split 'valid_2'; it has train, test, validation"),
    (PLAIN, {"by": "day"}, "by='day'; allowed are 'year', 'month'"),
    (PLAIN, {"columns": {"labels": "x"}}, "columns has 'labels'; it may name path, label"),
    (PLAIN.replace("time", "taken"), {"by": "year"}, "no 'time'. If 'taken' is it"),
    (PLAIN.replace("2012-05-31", "05/06/2012"), {"by": "year"}, "line 2, the first '05/06/2012'"),
    (PLAIN.replace("2012-05-31", "0000:00:00"), {"by": "year"}, "1 of 6 images have no 'time': "),
    (PLAIN.replace("20", "19"), {"by": "year"}, "are from before 1990"),
])
def test_mistakes_of_arguments_are_said(table, text, arguments, message):
  table.write_text(text)
  with pytest.raises(ValueError, match=message):
    image_sources.from_csv(table, **arguments)


def test_what_is_no_table_is_said(tmp_path):
  with pytest.raises(FileNotFoundError, match="There is no file 'x.csv'"):
    image_sources.from_csv("x.csv")
  with pytest.raises(ValueError, match="was given list; it takes the path of a .csv"):
    image_sources.from_csv(["a.png"])
  (tmp_path / "x.txt").write_text(PLAIN)
  with pytest.raises(ValueError, match="neither .csv nor .parquet"):
    image_sources.from_csv(tmp_path / "x.txt")
