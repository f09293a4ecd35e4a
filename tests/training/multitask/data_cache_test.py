# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contract of the data cache: bounded, a function of seed and tasks, refusing what is empty."""

import numpy as np
import pytest

from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.training.multitask import data_cache

SIZES = {"a": 10, "b": 40, "c": 40, "d": 40}  # Images of 4 x 4 pixels: 16 bytes each.
read = []


def _history(empty=()):
  def load(name, size):
    def part(split):
      assert split == "train"  # Nothing else is read.
      read.append(name)
      images = np.random.default_rng(size).integers(0, 255, [size, 4, 4, 1], dtype=np.uint8)
      made = image_set.ImageSet.from_arrays(
          name, images, np.arange(size) % 2, kind="single_label", num_classes=2)
      return type("Empty", (), {"size": 0, "name": name})() if name in empty else made
    return part
  return deliveries.History([
      deliveries.Delivered(tasks.Task(name, "single_label", 2), load(name, size))
      for name, size in SIZES.items()])


def _ids(sets):
  return {key: images.ids.tolist() for key, images in sets.items()}


def test_it_keeps_what_fits_and_never_more():
  cache = data_cache.DataCache(max_bytes=1200)
  sets = cache.sets(_history(), ["b"], seed=0)
  assert sets["b"].size == 40 and cache.num_bytes() == 640
  sets = cache.sets(_history(), ["a", "b", "c"], seed=0)  # A quarter of 1200 bytes each.
  assert {key: images.size for key, images in sets.items()} == {"a": 10, "b": 18, "c": 18}
  assert cache.num_bytes() <= 1200


def test_what_is_kept_depends_on_the_seed_and_the_tasks_not_on_what_was_before():
  cache, history = data_cache.DataCache(max_bytes=1200), _history()
  cache.sets(history, ["b"], 0)
  cache.sets(history, ["b", "c"], 0)
  found = _ids(cache.sets(history, ["a", "b", "c"], 0))
  assert found == _ids(data_cache.DataCache(1200).sets(history, ["a", "b", "c"], 0))
  assert found["b"] != _ids(data_cache.DataCache(1200).sets(history, ["a", "b", "c"], 1))["b"]
  # With more bytes these images stay.
  assert set(found["b"]) < set(_ids(data_cache.DataCache(2400).sets(history, ["b", "c", "d"], 0))
                               ["b"])


def test_data_is_read_again_only_if_the_share_of_a_set_held_in_part_changes():
  cache, history = data_cache.DataCache(max_bytes=1200), _history()
  read.clear()
  cache.sets(history, ["a"], 0)
  assert cache.sets(history, ["a", "b", "c"], 0)["a"].size == 10
  assert read == ["a", "b", "c"]
  read.clear()
  cache.sets(history, ["a", "b", "c", "d"], 0)
  assert read == ["d"]
  cache.sets(history, ["a", "d"], 0)
  assert read == ["d", "d"]


@pytest.mark.parametrize("arguments, keys, message", [
    (dict(), ["x"], "Auxiliary task 'x' has no data: Task 'x' has not been delivered. Delivered so "
     "far: a, b, c, d. Take its model out"),
    (dict(empty=("b",)), ["b"], "Auxiliary task 'b' has no data: its training set 'b' is empty. "
     "Leave the task out of the stream"),
])
def test_an_auxiliary_task_without_data_is_refused(arguments, keys, message):
  with pytest.raises(ValueError, match=message):
    data_cache.DataCache(1200).sets(_history(**arguments), keys, 0)


def test_a_bound_that_holds_no_image_is_refused():
  with pytest.raises(ValueError, match="DataCache.max_bytes=40 leaves 10 to auxiliary task 'a': 10 "
                     "bytes hold no image of 'a', whose first takes 16; allow more"):
    data_cache.DataCache(40).sets(_history(), ["a", "b", "c"], 0)
  with pytest.raises(ValueError, match="DataCache.max_bytes is 0; give the bytes"):
    data_cache.DataCache(0)


def test_a_set_that_does_not_fit_is_held_whole_as_canvases():
  history, transform = _history(), image_ops.Plain(2, channels=1)  # 4 bytes a canvas.
  cache = data_cache.DataCache(max_bytes=1200, canvas_bytes=640)
  sets = cache.sets(history, ["a", "b", "c"], 0, transform)
  assert {key: images.size for key, images in sets.items()} == {"a": 10, "b": 40, "c": 40}
  assert cache.describe() == {"canvases": {"b": 2, "c": 2}}
  assert sets["a"].pixels().shape == (10, 4, 4, 1)  # It fits as it is.
  whole = history.train("b")
  np.testing.assert_array_equal(sets["b"].pixels(), transform.evaluate(whole.store.images))
  np.testing.assert_array_equal(sets["b"].labels, whole.labels)
  np.testing.assert_array_equal(sets["b"].ids, whole.ids)


def test_canvases_beyond_their_bound_are_left_out_and_counted():
  transform = image_ops.Plain(2, channels=1)
  cache = data_cache.DataCache(max_bytes=1200, canvas_bytes=400)  # 100 bytes a task, 25 canvases.
  sets = cache.sets(_history(), ["a", "b", "c"], 0, transform)
  assert sets["b"].size == sets["c"].size == 25
  assert cache.describe() == {"canvases": {"b": 2, "c": 2}, "left_out": {"b": 15, "c": 15}}
  places = sets["b"].ids.astype(int)
  np.testing.assert_array_equal(
      sets["b"].pixels(), transform.evaluate(_history().train("b").store.images.numpy()[places]))
  # Fewer than the 18 that fit as they are: no canvases.
  cache = data_cache.DataCache(max_bytes=1200, canvas_bytes=280)
  assert cache.sets(_history(), ["a", "b", "c"], 0, transform)["b"].size == 18
  assert cache.describe() == {"left_out": {"b": 22, "c": 22}}
  with pytest.raises(ValueError, match="DataCache.canvas_bytes is -1; give the bytes"):
    data_cache.DataCache(1200, -1)
