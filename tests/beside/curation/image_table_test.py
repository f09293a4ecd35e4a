# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of images: ids, times, paths, metadata."""

import datetime
import pathlib

import pyarrow as pa
from pyarrow import parquet
import pytest

from suite.beside.curation import errors
from suite.beside.curation import image_table
from suite.data.own import own_tables


def _csv(tmp_path, text):
  path = tmp_path / "images.csv"
  path.write_text(text, encoding="utf-8")
  return path


def test_a_csv_keeps_ids_as_texts_and_reads_times_of_both_kinds(tmp_path):
  found = image_table.read(_csv(
      tmp_path, 'id,timestamp,path,TITLE\n007,1176089237,a/7.jpg,"Two\nlines, é"\n'
                "8,2007-04-09T03:27:17Z,b.jpg,\n9,2007-04-09 05:27:17+02:00,c.jpg,NA\n"
                "10,1176089237500,d.jpg,x\n"))
  assert found.ids.tolist() == ["007", "8", "9", "10"]
  assert found.times.tolist() == [1176089237, 1176089237, 1176089237, 1176089237.5]
  assert found.order().tolist() == [0, 2, 3, 1]
  assert found.rows() == {"007": 0, "8": 1, "9": 2, "10": 3}
  assert found.file(0) == tmp_path / "a" / "7.jpg"
  assert found.file(1, pathlib.Path("/pictures")) == pathlib.Path("/pictures/b.jpg")
  assert [found.metadata(row) for row in range(3)] == [
      {"TITLE": "Two\nlines, é"}, {}, {"TITLE": "NA"}]


def test_a_parquet_table_says_the_same(tmp_path):
  path = tmp_path / "images.parquet"
  when = datetime.datetime(2007, 4, 9, 3, 27, 17, tzinfo=datetime.timezone.utc)
  parquet.write_table(pa.table({"id": [7, 8], "timestamp": [when, when], "LON": [1.5, None]}), path)
  found = image_table.read(path)
  assert found.ids.tolist() == ["7", "8"] and found.times.tolist() == [1176089237] * 2
  assert found.metadata(0) == {"LON": "1.5"} and found.metadata(1) == {}


@pytest.mark.parametrize("text, message", [
    ("id,timestamp\na,\nb,2005\nc,NaT\n", "2 of 3 images have no 'timestamp': 'a', 'c', "),
    ("id,timestamp\na,2005\nb,soon\n", "1 times of the column 'timestamp' cannot be read: 'b', "),
    ("id,timestamp\na,2005\nb,86400\n", "what are the numbers of the column 'timestamp'. 1 of 2 "
     ".*: 'b', the first '86400' .1970-01-02 in seconds .* say in what unit: --time-unit s, ms"),
    ("id,timestamp\na,1\nb,2\na,3\nb,4\n", "2 ids occur more than once: 'a', 'b'"),
    ("id,timestamp\n,1\n", "1 ids cannot be names of files: ''"),
    ("id,timestamp\na/b,1\n..,2\n,3\n", "3 ids cannot be names of files"),
    ("id,when\na,1\n", "and 'id' and 'timestamp' among them"),
    ("id,timestamp,id\na,1,b\n", "each must be there once"),
    ("id,timestamp\n", "has no images"), ("", "cannot be read"),
    ("id,timestamp\na,1,2\n", "cannot be read")])
def test_tables_that_cannot_be_used(tmp_path, text, message):
  with pytest.raises(errors.CurationError, match=message):
    image_table.read(_csv(tmp_path, text))


def test_other_files_are_named(tmp_path):
  with pytest.raises(errors.CurationError, match="neither .csv nor .parquet"):
    image_table.read(tmp_path / "images.txt")
  with pytest.raises(errors.CurationError, match="images.csv cannot be read"):
    image_table.read(tmp_path / "images.csv")


@pytest.mark.parametrize("place", ["", "/etc/passwd", "../secret.jpg", "a/../../b.jpg"])
def test_paths_stay_below_the_folder_of_images(tmp_path, place):
  found = image_table.read(_csv(tmp_path, f"id,timestamp,path\nx,2001,{place}\n"))
  with pytest.raises(errors.CurationError, match="image 'x' has the path .* below the folder"):
    found.file(0)


def test_a_table_without_paths_says_so(tmp_path):
  found = image_table.read(_csv(tmp_path, "id,timestamp\nx,2001\n"))
  with pytest.raises(errors.CurationError, match="has no column 'path'"):
    found.file(0)


PLAIN = "id,timestamp,path\n1,2005,a.jpg\n2,2006,\"b\nc.jpg\"\n"


@pytest.mark.parametrize("data", [
    PLAIN.encode("utf-8-sig"), PLAIN.replace(",", ";").encode(), PLAIN.replace(",", "\t").encode(),
    PLAIN.encode("utf-16"), PLAIN.replace(",", "\t").encode("utf-16"),
    PLAIN.replace("\n", "\r\n").encode(), (PLAIN + ",,\n , ,\n").encode(),
    b"sep=;\n" + PLAIN.replace(",", ";").encode(),
    PLAIN.replace("id,timestamp,path", "ID, Timestamp,PATH ").encode(),
])
def test_tables_of_spreadsheets_say_the_same(tmp_path, data):
  path = tmp_path / "images.CSV"
  path.write_bytes(data)
  found = image_table.read(path)
  assert found.ids.tolist() == ["1", "2"] and found.times.tolist() == [1104537600, 1136073600]
  assert found.file(1).name.split() == ["b", "c.jpg"]
  assert own_tables.lines(path)[:2] == ([3, 5] if data.startswith(b"sep") else [2, 4])


def test_a_table_in_another_encoding_is_refused(tmp_path):
  for text in ("id,timestamp,t\xeftel\n1,2005,x\n", "id,timestamp,title\n1,2005,caf\xe9\n"):
    (tmp_path / "images.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(errors.CurationError, match="is not text in UTF-8. Save it .* 'CSV UTF-8'"):
      image_table.read(tmp_path / "images.csv")


def test_a_heading_with_the_right_name_wins(tmp_path):
  found = image_table.read(_csv(tmp_path, "ID,id,timestamp\nx,1,2005\n"))
  assert found.ids.tolist() == ["1"] and found.metadata(0) == {"ID": "x"}
