# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tables of dated images, and what is wrong with them by line."""

import pandas as pd
import pyarrow as pa
from pyarrow import parquet
import pytest

from suite.beside.curation import errors
from suite.beside.curation.timelines import dated_table


def _table(folder, text, names=("a.png", "b.png", "c.png")):
  for name in names:
    (folder / name).write_bytes(b"x")
  (folder / "images.csv").write_text(text)
  return folder / "images.csv"


def test_a_csv_gives_ids_times_labels_and_files(tmp_path):
  path = _table(tmp_path, "other,path,timestamp,class\n,a.png,2012.0,tram\n,b.png,201206,\n")
  table = dated_table.read(path)
  assert table.ids.tolist() == ["a.png", "b.png"] and table.labels.tolist() == ["tram", ""]
  assert table.times.tolist() == [1325376000, 1338508800]
  assert table.files == [tmp_path / "a.png", tmp_path / "b.png"]


def test_a_parquet_table_has_times_of_its_own_kind(tmp_path):
  _table(tmp_path, "")
  times = pa.array([0, 86_400_000], pa.timestamp("ms"))
  parquet.write_table(pa.table({"path": ["a.png", "b.png"], "id": ["1", "2"], "time": times}),
                      tmp_path / "images.parquet")
  table = dated_table.read(tmp_path / "images.parquet", old=True)
  assert table.ids.tolist() == ["1", "2"] and table.times.tolist() == [0, 86400]
  assert table.labels.tolist() == ["", ""]


@pytest.mark.parametrize("text, message", [
    ("path,time\na.png,2012\n\nb.png,31.05.2012\n\"c.png\",soon\n",
     "2 times of the column 'time' cannot be read: lines 4, 5, the first '31.05.2012'. Allowed"),
    ("path,Timestamp\na.png,2012\nb.png,3\n", "what are the numbers of the column 'timestamp'.* "
     "line 3, the first '3' .1970-01-01 in seconds .* --time_unit s, ms, us, ns"),
    ("path,time\na.png,1950\nb.png,1989-12-31\n", "are all 2 images from before 1990. The column "
     "'time' says 1950-01-01 to 1989-12-31. If they are, say --before_1990"),
    ("path,time,Labels\na.png,2012,x\n", "no column 'label', but 'Labels'. .* --label 'Labels'"),
    ("path,time,category\na.png,2012,x\n", "no column 'label', but 'category'. .* --label none"),
    ("path,time,lable\na.png,2012,x\n", "no column 'label', but 'lable'"),
    ("path,time,label\na.png,2012,-1\nb.png,2012,x\n", "1 labels are '-1': line 2. If these"),
    ("path,time,label\na.png,2012,NaN\n", "1 labels are 'NaN': line 2. If these .* empty"),
    ("path,time\na.png,\nb.png,2012\nc.png, \n",
     "2 of 3 images have no time: lines 2, 4, the first empty. Fill them in, or .* --skip_undated"),
    ("path,time\na.png,2012\nb.png,2012\n./a.png,2013\n",
     "1 images have an empty path or that of another image: line 4, .*as in line 2"),
    ("path,time\na.png,2012\n../b.png,2012\n", "1 paths are not below .*: line 3, .*'../b.png'"),
    ("path,time\n/etc/passwd,2012\n", "1 paths are not below .*: line 2, the first '/etc/passwd'"),
    ("path,time\n,2012\n", "1 paths are not below the folder of images: line 2"),
    ("path,time\na.png,2012\nd.png,2012\n", "1 of 2 images are not there: line 3, .*d.png. Say"),
    ("path,time,id\na.png,2012,x\nb.png,2012,x\n", "an empty id or that of .*: line 3, .*'x'"),
    ("url,time\nhttp://x/a.png,2012\n", "has the column 'url' and no column 'path'.* Get the"),
    ("file,time\na.png,2012\n", r"has the columns \['file', 'time'\]; needed is 'path', the image "
     "file. Rename 'file' to 'path'"),
    ("path,when\na.png,2012\n", "needed are 'path', the image file, and 'time'"),
    ("Path,date_taken\na.png,2012\n", "may be there. Rename 'date_taken' to 'time', if that is it"),
    ("path,time,timestamp\na.png,2012,2012\n", "needed are 'path', the image file, and 'time'"),
    ("path,time\n", "has no images"),
])
def test_what_cannot_be_used_is_named_by_its_line(text, message, tmp_path):
  with pytest.raises(errors.CurationError, match=message):
    dated_table.read(_table(tmp_path, text))


def test_images_without_a_time_are_left_out_if_asked(tmp_path):
  path = _table(tmp_path, "path,time\na.png,\nb.png,2012\nc.png,2013\n")
  table = dated_table.read(path, skip_undated=True)
  assert table.ids.tolist() == ["b.png", "c.png"] and table.num_undated == 1
  assert table.say([1]) == "line 4"
  with pytest.raises(errors.CurationError, match="none of its 1 images has a time"):
    dated_table.read(_table(tmp_path, "path,time\na.png,\n"), skip_undated=True)


def test_words_for_no_date_are_skipped_and_whole_floats_are_names(tmp_path):
  for name in ("a.png", "b.png", "c.png"):
    (tmp_path / name).write_bytes(b"x")
  frame = pd.DataFrame({"path": ["a.png", "b.png", "c.png"], "Time": [2010, None, 2012],
                        "Label": [3, 4, None]})
  frame.to_csv(tmp_path / "t.csv", index=False)
  frame.to_parquet(tmp_path / "t.parquet", index=False)
  frame.assign(Time=pd.to_datetime(frame["Time"], format="%Y")).to_parquet(tmp_path / "u.parquet")
  for name in ("t.csv", "t.parquet", "u.parquet"):
    table = dated_table.read(tmp_path / name, skip_undated=True)
    assert table.times.tolist() == [1262304000, 1325376000] and table.num_undated == 1, name
    assert table.labels.tolist() == ["3", ""]


def test_the_column_of_labels_may_be_named(tmp_path):
  path = _table(tmp_path, "path,time,label,category\na.png,2012,x,y\n")
  assert dated_table.read(path).labels.tolist() == ["x"]
  assert dated_table.read(path, label="category").labels.tolist() == ["y"]
  assert dated_table.read(path, label="none").labels.tolist() == [""]
  with pytest.raises(errors.CurationError, match="--label kind is none of them"):
    dated_table.read(path, label="kind")


def test_a_unit_and_old_images_are_said(tmp_path):
  table = dated_table.read(_table(tmp_path, "path,time\na.png,86400000\n"), unit="ms", old=True)
  assert table.times.tolist() == [86400]
