# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Crops of the boxes of a COCO table."""

import json

import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import coco_boxes
from tfds_builders.parsers import coco_json
from tfds_builders.parsers import fixtures

_PHOTO = fixtures.jpeg((40, 50, 3), seed=1)
_ARGS = {"photos": {"val2017.zip": ("instances_val2017.json", "test")}, "min_side": 16}


def _box(number, bbox, photo=7, label=3, **facts):
  return {"id": number, "image_id": photo, "category_id": label, "bbox": bbox, **facts}


def _parse(tmp_path, boxes, photos=None, **changes):
  fixtures.write_archive(tmp_path / "val2017.zip", photos or {"val2017/000000000007.jpg": _PHOTO})
  table = boxes if isinstance(boxes, bytes) else json.dumps(
      {"info": {"a": [1, {}]}, "categories": [], "annotations": boxes, "licenses": []}).encode()
  fixtures.write_archive(tmp_path / "t.zip", {"annotations/instances_val2017.json": table})
  paths = {name: tmp_path / name for name in ("val2017.zip", "t.zip")}
  return list(coco_boxes.parse(paths, **{**_ARGS, **changes}))


def test_a_box_is_cropped_to_whole_pixels(tmp_path):
  found = _parse(tmp_path, [_box(1, [2.5, 3.0, 16.2, 20.0]), _box(2, [0, 0, 15.9, 30]),
                            _box(3, [40, 10, 30, 16], label=1)])
  assert [(one.key, one.label, one.group) for one in found] == [
      ("000000000007/1", 2, "7"), ("000000000007/3", 0, "7")]
  photo = tf.io.decode_jpeg(_PHOTO).numpy()
  assert (tf.io.decode_png(found[0].image).numpy() == photo[3:23, 2:19]).all()
  assert (tf.io.decode_png(found[1].image).numpy() == photo[10:26, 40:50]).all()  # Cut at the edge.


def test_crowds_and_mixed_splits_come_back_on_demand(tmp_path):
  boxes = [_box(1, [0, 0, 20, 20]), _box(2, [0, 0, 20, 20], iscrowd=1)]
  assert len(_parse(tmp_path, boxes)) == 1
  both = _parse(tmp_path, boxes, crowds=True, by_photo=False)
  assert len(both) == 2 and both[0].group is None


def test_numbered_keys_sort_as_the_table(tmp_path):
  boxes = [_box(9, [0, 0, 20, 20]), _box(5, [0, 0, 4, 4]), _box(3, [0, 0, 20, 20], photo=5),
           _box(1, [0, 0, 20, 20])]
  photos = {f"val2017/{photo:012d}.jpg": _PHOTO for photo in (5, 7)}
  assert sorted(one.key for one in _parse(tmp_path, boxes, photos, numbered=True)) == [
      "0000000/000000000007/9", "0000002/000000000005/3", "0000003/000000000007/1"]


@pytest.mark.parametrize("boxes, message", [
    ([_box(1, [0, 0, 20, 20], photo=8)], "is missing 1 of 1 photographs, such as 000000000008.jpg"),
    ([_box(1, [60, 0, 20, 20])], "outside the photograph of 50 x 40"),
    ([_box(1, [0, -99, 20, 20])], "outside the photograph"),
    ([_box(1, [0, 0, float("inf"), 20])], r"ValueError: the box \[0, 0, inf, 20\] of annotation 1"),
    ([{"id": 1}], "KeyError: 'bbox'"),
    ([_box(1, [0, 0, "wide", 20])], "not a table in COCO's format: ValueError"),
    (b"{\"annotations\": [{}", "not a table in COCO's format"),
    (b"[]", "not a table in COCO's format"),
])
def test_damaged_tables_are_refused(boxes, message, tmp_path):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, boxes)


def test_entries_of_all_lists_are_given_one_by_one():
  table = {"info": {"x": [1]}, "a": [1, {"b": [2, "]"]}], "n": 3, "empty": [], "z": ["}"]}
  for text in (json.dumps(table), json.dumps(table, indent=3)):
    assert list(coco_json.entries(text)) == [("a", 1), ("a", {"b": [2, "]"]}), ("z", "}")]
  for bad in ("", "[]", "{\"a\" 1}", "{\"a\": [1 2]}", "{\"a\": [1,", "{\"a\": 1"):
    with pytest.raises((ValueError, IndexError)):
      list(coco_json.entries(bad))
