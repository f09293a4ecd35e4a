# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tables of dated images, and what is wrong with them by line."""

import pyarrow as pa
from pyarrow import parquet
import pytest

from suite.curation import errors
from suite.curation.timelines import dated_table


def _table(folder, text, names=("a.png", "b.png", "c.png")):
  for name in names:
    (folder / name).write_bytes(b"x")
  (folder / "images.csv").write_text(text)
  return folder / "images.csv"


def test_a_csv_gives_ids_times_labels_and_files(tmp_path):
  path = _table(tmp_path, "other,path,timestamp,class\n,a.png,2012,tram\n,b.png,86400,\n")
  table = dated_table.read(path)
  assert table.ids.tolist() == ["a.png", "b.png"] and table.labels.tolist() == ["tram", ""]
  assert table.times.tolist() == [1325376000, 86400]
  assert table.files == [tmp_path / "a.png", tmp_path / "b.png"]


def test_a_parquet_table_has_times_of_its_own_kind(tmp_path):
  _table(tmp_path, "")
  times = pa.array([0, 86_400_000], pa.timestamp("ms"))
  parquet.write_table(pa.table({"path": ["a.png", "b.png"], "id": ["1", "2"], "time": times}),
                      tmp_path / "images.parquet")
  table = dated_table.read(tmp_path / "images.parquet")
  assert table.ids.tolist() == ["1", "2"] and table.times.tolist() == [0, 86400]
  assert table.labels.tolist() == ["", ""]


@pytest.mark.parametrize("text, message", [
    ("path,time\na.png,2012\n\nb.png,31.05.2012\n\"c.png\",soon\n",
     "2 times cannot be read: lines 4, 5, the first '31.05.2012'. Allowed are 2012, 2012-05, "),
    ("path,time\na.png,\nb.png,2012\nc.png, \n",
     "2 of 3 images have no time: lines 2, 4. Fill them in, or .* --skip_undated"),
    ("path,time\na.png,2012\nb.png,2012\n./a.png,2013\n",
     "1 images have an empty path or that of another image: line 4, .*as in line 2"),
    ("path,time\na.png,2012\n../b.png,2012\n", "1 paths are not below .*: line 3, .*'../b.png'"),
    ("path,time\n/etc/passwd,2012\n", "1 paths are not below .*: line 2, the first '/etc/passwd'"),
    ("path,time\n,2012\n", "1 paths are not below the folder of images: line 2"),
    ("path,time\na.png,2012\nd.png,2012\n", "1 of 2 images are not there: line 3, .*d.png. Say"),
    ("path,time,id\na.png,2012,x\nb.png,2012,x\n", "an empty id or that of .*: line 3, .*'x'"),
    ("url,time\nhttp://x/a.png,2012\n", "has the column 'url' and no column 'path'.* Get the"),
    ("file,time\na.png,2012\n", r"has the columns \['file', 'time'\]; needed is 'path'"),
    ("path,when\na.png,2012\n", "needed are 'path', the image file, and 'time'"),
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
