# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Record files: what is written, cut back, read, stripped of times and compared."""

from __future__ import annotations

import copy
import hashlib
import io
import math

import numpy as np
import pytest

from suite.reporting import records


def test_write_appends_one_line_and_returns_the_offset_after_it(tmp_path):
  path = tmp_path / "runs" / "records.jsonl"
  with records.RecordWriter(path) as writer:
    first = writer.write({"b": 1, "a": [1.5, None, True, "é"]})
    second = writer.write({})
  one = '{"b": 1, "a": [1.5, null, true, "é"]}'.encode()
  a = hashlib.sha256(one).hexdigest()
  b = hashlib.sha256(a.encode() + b"{}").hexdigest()
  lines = [one[:-1] + f', "digest": "{a}"}}\n'.encode(), f'{{"digest": "{b}"}}\n'.encode()]
  assert path.read_bytes() == b"".join(lines) and writer.digest == b
  assert (first, second) == (len(lines[0]), len(lines[0] + lines[1]))


def test_write_is_on_disk_before_close(tmp_path):
  writer = records.RecordWriter(tmp_path / "records.jsonl")
  writer.write({"event": 0})
  assert records.read(writer.path) == [{"event": 0}]
  writer.close()


def test_reopening_appends(tmp_path):
  path = tmp_path / "records.jsonl"
  for event in range(2):
    with records.RecordWriter(path) as writer:
      assert writer.offset == path.stat().st_size
      writer.write({"event": event})
  assert records.read(path) == [{"event": 0}, {"event": 1}]


def test_numbers_that_are_not_finite_become_null(tmp_path):
  with records.RecordWriter(tmp_path / "records.jsonl") as writer:
    writer.write({"nan": math.nan, "inf": [math.inf, -math.inf], "np": np.float32("nan")})
  assert records.read(writer.path) == [{"nan": None, "inf": [None, None], "np": None}]


def test_numpy_values_become_plain():
  record = {"i": np.int64(3), "f": np.float64(0.5), "b": np.bool_(True), "a": np.array([[1, 2]])}
  assert records.to_line(record) == '{"i": 3, "f": 0.5, "b": true, "a": [[1, 2]]}\n'


@pytest.mark.parametrize("values, written", [
    ([1, 2**70, True, None, "a"], [1, 2**70, True, None, "a"]),
    ([0.5, -1.25], [0.5, -1.25]),
    ([0.5, math.nan, math.inf, -math.inf], [0.5, None, None, None]),
    ([math.inf, -math.inf], [None, None]),
    ([1e308, 1e308], [1e308, 1e308]),  # Their sum is infinite, they are not.
    ([1, 0.5, math.nan], [1, 0.5, None]),
    ((np.int64(3), np.float32(0.5)), [3, 0.5]),
    ([[1, 2], [math.nan]], [[1, 2], [None]]),
    ([], []),
])
def test_lists_of_any_values(values, written):
  found = records.to_plain({"x": values})["x"]
  assert found == written
  assert [type(v) for v in found] == [type(v) for v in written]


def test_the_record_is_not_altered(tmp_path):
  record = {"trials": [{"curve": ((1, math.inf),)}], "flops": np.float64(1.0)}
  before = copy.deepcopy(record)
  with records.RecordWriter(tmp_path / "records.jsonl") as writer:
    writer.write(record)
  assert record == before and type(record["trials"][0]["curve"]) is tuple


@pytest.mark.parametrize("record, message", [
    ({"a": [{"b": object()}]}, r"record\.a\[0\]\.b is of type object"),
    ({"a": {1: 2}}, r"record\.a has the key 1"),
    ([1], "A record is a mapping .* got list"),
])
def test_what_is_not_plain_is_named_and_nothing_is_written(tmp_path, record, message):
  writer = records.RecordWriter(tmp_path / "records.jsonl")
  with pytest.raises(TypeError, match=message):
    writer.write(record)
  writer.close()
  assert writer.path.read_bytes() == b""


def test_truncate_cuts_back_and_writing_goes_on_there(tmp_path):
  path = tmp_path / "records.jsonl"
  with records.RecordWriter(path) as writer:
    kept = writer.write({"event": 0})
    writer.write({"event": 1})
  path.write_bytes(path.read_bytes() + b'{"event": 2, "ta')  # Killed while writing.
  with records.RecordWriter(path) as writer:
    writer.truncate(kept)
    assert writer.offset == kept
    writer.write({"event": 7})
  assert records.read(path) == [{"event": 0}, {"event": 7}]


def test_truncate_to_zero_empties_the_file(tmp_path):
  with records.RecordWriter(tmp_path / "records.jsonl") as writer:
    writer.write({"event": 0})
    writer.truncate(0)
    assert records.read(writer.path) == []


@pytest.mark.parametrize("offset, message", [
    (-1, "to -1 bytes: it has 91"),
    (92, "to 92 bytes: it has 91"),
    (5, "at byte 5: no record ends there"),
])
def test_truncate_refuses_an_offset_that_ends_no_record(tmp_path, offset, message):
  with records.RecordWriter(tmp_path / "records.jsonl") as writer:
    writer.write({"event": 0})
    with pytest.raises(ValueError, match=message):
      writer.truncate(offset)
  assert records.read(writer.path) == [{"event": 0}]


@pytest.mark.parametrize("tail", [b'{"event": 1', b'{"event": 1}'])
def test_read_names_a_torn_last_line_or_drops_it(tmp_path, tail):
  path = tmp_path / "records.jsonl"
  path.write_bytes(b'{"event": 0}\n' + tail)
  with pytest.raises(ValueError, match=r"line 2 is torn: .*event"):
    records.read(path)
  assert records.read(path, tolerate_torn_tail=True) == [{"event": 0}]


def test_parse_reads_an_open_file():
  assert records.parse(io.BytesIO(b'{"a": 1}\n')) == [{"a": 1}]
  with pytest.raises(ValueError, match="records, line 1 is torn"):
    records.parse(io.BytesIO(b'{"a"'))


@pytest.mark.parametrize("bad", [b"{", b"[1]", b""])
def test_a_bad_line_before_the_tail_is_always_an_error(tmp_path, bad):
  path = tmp_path / "records.jsonl"
  path.write_bytes(b"{}\n" + bad + b"\n{}\n")
  with pytest.raises(ValueError, match="line 2"):
    records.read(path, tolerate_torn_tail=True)


def test_strip_times_removes_keys_that_start_with_seconds_at_any_depth():
  record = {"seconds": 1.0, "event": 0, "seconds_train": 2.0, "per_seconds": 3,
            "trials": [{"seconds": 1.0, "trial": 0}], "a": {"b": {"seconds_x": 1, "c": 2}}}
  before = copy.deepcopy(record)
  assert records.strip_times(record) == {
      "event": 0, "per_seconds": 3, "trials": [{"trial": 0}], "a": {"b": {"c": 2}}}
  assert records.strip_times([record])[0] == records.strip_times(record)
  assert record == before


def test_diff_of_equal_records_is_empty():
  record = {"a": [1, {"b": math.nan}], "c": None}
  assert records.diff(record, copy.deepcopy(record)) == []
  assert records.diff([record], [copy.deepcopy(record)]) == []


def test_diff_names_the_place_and_both_values():
  a = [{"event": 0, "trials": [{"error": 0.1}], "x": 1, "same": "s"}]
  b = [{"event": 0, "trials": [{"error": 0.2}], "y": None, "same": "s"}, {}]
  assert records.diff(a, b) == [
      "[0].trials[0].error: 0.1 != 0.2",
      "[0].x: only in the first, 1",
      "[0].y: only in the second, None",
      "list: 1 items in the first, 2 in the second",
  ]


def test_diff_tells_types_apart_as_json_does():
  assert records.diff({"a": 1}, {"a": 1.0}) == ["a: 1 != 1.0"]
  assert records.diff({"a": 1}, {"a": True}) == ["a: 1 != True"]


def _three(path):
  with records.RecordWriter(path) as writer:
    for event in range(3):
      offset = writer.write({"event": event, "error": 0.25})
  return offset, writer.digest


@pytest.mark.parametrize("change, line", [
    (lambda lines: [lines[0], lines[1].replace(b"0.25", b"0.15"), lines[2]], 2),
    (lambda lines: [lines[0], lines[2]], 2),
    (lambda lines: [lines[1], lines[0], lines[2]], 1),
    (lambda lines: [lines[0], b'{"event": 9}\n', *lines[1:]], 2),
    (lambda lines: [*lines, b'{"event": 9}\n'], 4),
])
def test_a_line_that_was_changed_added_moved_or_removed_is_named(tmp_path, change, line):
  path = tmp_path / "records.jsonl"
  position = _three(path)
  path.write_bytes(b"".join(change(path.read_bytes().splitlines(True))))
  with pytest.raises(ValueError, match=f"records.jsonl, line {line} .*digest.* Restore it from a"):
    records.read(path)
  if line < 4:
    before = path.read_bytes()
    with records.RecordWriter(path) as writer, pytest.raises(ValueError, match="rec|bytes"):
      writer.truncate(*position)
    assert path.read_bytes() == before


def test_other_whole_records_than_those_of_the_state_are_refused(tmp_path):
  position = _three(tmp_path / "a.jsonl")
  with records.RecordWriter(tmp_path / "b.jsonl") as writer:
    for event in range(3):
      writer.write({"event": event, "error": 0.75})
    with pytest.raises(ValueError, match="b.jsonl has other records than when the state was saved"):
      writer.truncate(*position)


def test_records_without_digests_can_be_read_and_are_covered_by_those_added(tmp_path):
  path = tmp_path / "records.jsonl"
  path.write_bytes(b'{"event": 0}\n{"event": 1}\n')
  assert records.read(path) == [{"event": 0}, {"event": 1}]
  with records.RecordWriter(path) as writer:
    assert writer.truncate(13) == [{"event": 0}]
    writer.write({"event": 1})
  with records.RecordWriter(path) as writer:
    writer.write({"event": 2})
  assert [r["event"] for r in records.read(path)] == [0, 1, 2]
  path.write_bytes(path.read_bytes().replace(b'{"event": 0}', b'{"event": 7}'))
  with pytest.raises(ValueError, match="line 2 is not what was written, or the line before it"):
    records.read(path)


def test_the_name_of_the_digest_is_taken(tmp_path):
  with records.RecordWriter(tmp_path / "records.jsonl") as writer, \
      pytest.raises(ValueError, match="a value 'digest', the name of a digest of its line"):
    writer.write({"digest": "mine"})
