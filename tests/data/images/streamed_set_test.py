# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A set read from files behaves as one in memory, up to the order of training."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.images import prepared_sets

NUM = 23
TRANSFORM = image_ops.Nevis(5)
PLAIN = image_ops.Plain(5)  # Where nothing of the random changes matters.


def _read(data_dir, config="same_shape", limit=0, split="train"):
  return prepared_sets.read(f"suite_test_pictures/{config}", split, data_dir=data_dir,
                            memory_limit_bytes=limit)


def _list(batches, num=None):
  batches = batches if num is None else batches.take(num)
  return [{k: v.numpy() for k, v in batch.items()} for batch in batches]


def _assert_same(got, want):
  assert len(got) == len(want)
  for a, b in zip(got, want):
    assert a.keys() == b.keys()
    for key in a:
      np.testing.assert_array_equal(a[key], b[key])


@pytest.mark.parametrize("config", ["same_shape", "mixed", "multi_hot"])
def test_facts_and_evaluation_equal_those_of_a_set_in_memory(pictures_dir, config):
  streamed, held = _read(pictures_dir, config), _read(pictures_dir, config, limit=2**20)
  assert isinstance(streamed, prepared_sets.StreamedSet)
  assert (streamed.name, streamed.size, streamed.kind, streamed.num_classes) == (
      held.name, held.size, held.kind, held.num_classes)
  np.testing.assert_array_equal(streamed.labels, held.labels)
  np.testing.assert_array_equal(streamed.ids, held.ids)
  transform = TRANSFORM if config == "mixed" else PLAIN
  found, wanted = (one.eval_batches(8, transform=transform) for one in (streamed, held))
  assert found.element_spec == wanted.element_spec
  _assert_same(_list(found), _list(wanted))


@pytest.mark.parametrize("config", ["same_shape", "mixed"])
def test_each_image_comes_once_an_epoch_with_its_label(pictures_dir, config):
  made = _read(pictures_dir, config)
  label_of = dict(zip(made.ids, made.labels))
  batches = _list(made.train_batches(NUM, seed=(1, 2), transform=PLAIN), 3)
  orders = []
  for batch in batches:
    ids = [i.decode() for i in batch["id"]]
    assert sorted(ids) == sorted(made.ids)
    assert [label_of[i] for i in ids] == list(batch["label"]) and batch["mask"].all()
    orders.append(tuple(ids))
  assert len(set(orders)) == 3 and tuple(made.ids) not in orders
  other = next(iter(made.train_batches(NUM, seed=(2, 2), transform=PLAIN)))["id"].numpy()
  assert [i.decode() for i in other] != list(orders[0])


def test_images_are_augmented_by_position(pictures_dir):
  made = _read(pictures_dir)
  batch = next(iter(made.train_batches(NUM, seed=(1, 2), transform=image_ops.Plain(7))))
  numbers = [int(i.decode()[-2:]) for i in batch["id"].numpy()]
  np.testing.assert_array_equal(batch["image"][:, 0, 0, 0], numbers)
  first, second = _list(made.train_batches(NUM, seed=(1, 2), transform=TRANSFORM), 2)
  places = [list(second["id"]).index(i) for i in first["id"]]
  assert (first["image"] != second["image"][places]).any()


@pytest.mark.parametrize("split, transform, first", [
    ("train", TRANSFORM, 7), ("train[5:17]", PLAIN, 4)])
def test_a_later_first_step_is_the_tail(pictures_dir, split, transform, first):
  made = _read(pictures_dir, split=split)
  whole = _list(made.train_batches(4, seed=(1, 2), transform=transform), 14)
  tail = made.train_batches(4, seed=(1, 2), transform=transform, first_step=first)
  _assert_same(_list(tail, 14 - first), whole[first:])


def test_shards_put_together_are_the_batch(pictures_dir):
  made = _read(pictures_dir)
  whole = _list(made.train_batches(4, seed=(1, 2), transform=TRANSFORM, first_step=3), 4)
  parts = [_list(made.train_batches(4, seed=(1, 2), transform=TRANSFORM, first_step=3, num_shards=2,
                                    shard_index=shard), 4) for shard in range(2)]
  joined = [{k: np.concatenate([a[k], b[k]]) for k in a} for a, b in zip(*parts)]
  _assert_same(joined, whole)
  both = made.train_batches(4, seed=(1, 2), transform=TRANSFORM, first_step=3, num_shards=2,
                            shards_here=2)
  _assert_same(_list(both, 8), [part for pair in zip(*parts) for part in pair])


def test_a_subset_is_held_in_memory(pictures_dir):
  streamed, held = _read(pictures_dir), _read(pictures_dir, limit=2**20)
  part, want = streamed.take(6, seed=3), held.take(6, seed=3)
  assert isinstance(part, image_set.ImageSet) and part.size == 6
  _assert_same(_list(part.eval_batches(6, transform=PLAIN)),
               _list(want.eval_batches(6, transform=PLAIN)))
  assert streamed.take(NUM, seed=3) is streamed


def test_within_bytes_are_images_in_memory(pictures_dir):
  streamed = _read(pictures_dir)
  found = [streamed.within(num_bytes, seed=1) for num_bytes in (3_000, 3_000, 10**9)]
  assert found[0].num_bytes() <= 3_000 and found[0].ids.tolist() == found[1].ids.tolist()
  assert 0 < found[0].size < streamed.size == found[2].size


def test_a_split_stays_on_disk_with_each_image_on_one_side(pictures_dir):
  whole = _read(pictures_dir)
  rest, part = whole.split(0.2, seed=3)
  assert isinstance(rest, prepared_sets.StreamedSet) and (rest.size, part.size) == (18, 5)
  assert [*rest.ids, *part.ids] == [*whole.ids]
  labels = [b["label"][b["mask"]] for b in _list(part.eval_batches(4, transform=PLAIN))]
  np.testing.assert_array_equal(np.concatenate(labels), whole.labels[18:])
  ids = next(iter(rest.train_batches(18, seed=(1, 2), transform=PLAIN)))["id"].numpy()
  assert sorted(i.decode() for i in ids) == sorted(rest.ids)
  halves = rest.split(0.5, seed=3)
  assert [*halves[0].ids, *halves[1].ids] == [*rest.ids]
  joined = _read(pictures_dir, split="test[10:]+train[:10]")
  assert sorted(i.decode() for i in next(iter(joined.train_batches(
      joined.size, seed=(1, 2), transform=PLAIN)))["id"].numpy()) == sorted(joined.ids)
  with pytest.raises(ValueError, match="A share of 1.0 of the 23 images"):
    whole.split(1.0, seed=3)


def test_shapes_are_static(pictures_dir):
  assert _read(pictures_dir).train_batches(4, seed=(1, 2), transform=TRANSFORM).element_spec == {
      "image": tf.TensorSpec([4, 5, 5, 3], tf.uint8), "label": tf.TensorSpec([4], tf.int64),
      "mask": tf.TensorSpec([4], tf.bool), "id": tf.TensorSpec([4], tf.string)}


def test_records_that_are_left_out_are_in_no_batch_split_or_subset(pictures_dir):
  whole, held = _read(pictures_dir), _read(pictures_dir, limit=2**20)
  places = [0, 7, 8, 22]
  made = whole.without(places[:2]).without([6, 20])  # Counted without the first two.
  left = held.subset(np.setdiff1d(np.arange(NUM), places))
  assert made.size == 19 and made.num_bytes() < whole.num_bytes()
  np.testing.assert_array_equal(made.ids, left.ids)
  np.testing.assert_array_equal(made.labels, left.labels)
  _assert_same(_list(made.eval_batches(8, transform=PLAIN)),
               _list(left.eval_batches(8, transform=PLAIN)))
  [batch] = _list(made.train_batches(19, seed=(1, 2), transform=PLAIN), 1)
  assert sorted(batch["id"]) == sorted(i.encode() for i in left.ids)
  later = _list(made.train_batches(4, seed=(1, 2), transform=PLAIN, first_step=7), 3)
  _assert_same(later, _list(made.train_batches(4, seed=(1, 2), transform=PLAIN), 10)[7:])
  np.testing.assert_array_equal(made.subset([3, 1]).ids, left.ids[[3, 1]])
  first, last = made.split(0.4, seed=0)
  assert [*first.ids, *last.ids] == list(left.ids) and last.size == 8
  with pytest.raises(ValueError, match="has no images"):
    whole.without(np.arange(NUM))
