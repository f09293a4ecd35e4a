# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import json

import pyarrow as pa
from pyarrow import parquet
import pytest

from suite.beside.curation import errors
from suite.beside.curation import polite_fetch


def test_lists_of_all_forms_are_joined_and_each_url_comes_once(tmp_path):
  text, table, clear = (tmp_path / name for name in ("a.txt", "b.parquet", "3.json"))
  text.write_text("# a comment\nhttp://x.org/1.jpg\n\n http://x.org/2.jpg \nhttp://x.org/1.jpg\n")
  parquet.write_table(pa.table({"url": ["http://x.org/2.jpg", "https://y.org/3.png"],
                                "time": [2011, 2012], "label": [None, "tram"]}), table)
  clear.write_text(json.dumps({"77": {"DOWNLOAD_URL": "http://farm1.x.org/4.jpg",
                                      "DATE_UPLOADED": 1180000000}}))
  found = polite_fetch.read([text, table, clear])
  assert [one.url for one in found] == [
      "http://x.org/1.jpg", "http://x.org/2.jpg", "https://y.org/3.png", "http://farm1.x.org/4.jpg"]
  assert found[2].facts == {"time": "2012", "label": "tram"}
  assert found[3].facts == {"id": "77", "time": "1180000000", "bucket": "3"}
  assert polite_fetch.host("https://me:secret@Y.org:81/3.png") == "y.org:81"


@pytest.mark.parametrize("name, text, message", [
    ("a.txt", "http://x.org/1.jpg\nfile:///etc/passwd\nx.jpg\n",
     "2 entries are no http or https addresses: 2: 'file:///etc/passwd', 3: 'x.jpg'"),
    ("a.txt", "# nothing\n", "There is no URL in"),
    ("a.csv", "link\nhttp://x.org\n", r"has the columns \['link'\]; needed is 'url', once"),
    ("a.json", '{"1": {"URL": "http://x.org"}}', "is not metadata of images in CLEAR's form"),
    ("a.json", "{", "is not metadata of images in CLEAR's form"),
])
def test_lists_that_are_none_are_refused(tmp_path, name, text, message):
  path = tmp_path / name
  path.write_text(text)
  with pytest.raises(errors.CurationError, match=message):
    polite_fetch.read([path])
