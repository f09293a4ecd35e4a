# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A set read from files behaves as one in memory, up to the order of training."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import shown_seeds
import tensorflow as tf

from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.images import prepared_sets
from suite.data.images import sampling

NUM = 23
TRANSFORM = image_ops.Nevis(5)
PLAIN = image_ops.Plain(5)
SHOWN = shown_seeds.ShownSeeds()


@pytest.fixture(scope="module", name="read")
def _read(pictures_dir):
  """A function: a configuration, a limit of bytes and a split to a set, which is made once."""

  @functools.cache
  def read(config="same_shape", limit=0, split="train"):
    return prepared_sets.read(f"suite_test_pictures/{config}", split, data_dir=pictures_dir,
                              memory_limit_bytes=limit)

  return read


def _list(batches, num=None):
  batches = batches if num is None else batches.take(num)
  return [{k: v.numpy() for k, v in batch.items()} for batch in batches]


def _assert_same(got, want):
  assert len(got) == len(want)
  for a, b in zip(got, want):
    assert a.keys() == b.keys()
    for key in a:
      np.testing.assert_array_equal(a[key], b[key])


@pytest.mark.parametrize("config", ["mixed", "multi_hot"])
def test_facts_and_evaluation_equal_those_of_a_set_in_memory(read, config):
  streamed, held = read(config), read(config, limit=2**20)
  assert isinstance(streamed, prepared_sets.StreamedSet)
  assert (streamed.name, streamed.size, streamed.kind, streamed.num_classes) == (
      held.name, held.size, held.kind, held.num_classes)
  np.testing.assert_array_equal(streamed.labels, held.labels)
  np.testing.assert_array_equal(streamed.ids, held.ids)
  transform = TRANSFORM if config == "mixed" else PLAIN
  found, wanted = (one.eval_batches(8, transform=transform) for one in (streamed, held))
  assert found.element_spec == wanted.element_spec
  _assert_same(_list(found), _list(wanted))


def _order(made, batch):
  """The ids of a batch that is an epoch, each with its own label."""
  label_of = dict(zip(made.ids, made.labels))
  ids = [i.decode() for i in batch["id"]]
  assert sorted(ids) == sorted(made.ids)
  assert [label_of[i] for i in ids] == list(batch["label"]) and batch["mask"].all()
  return ids


def test_each_image_comes_once_an_epoch_with_its_label_and_the_seed_of_its_position(read):
  made = read()
  batches = _list(made.train_batches(NUM, seed=(1, 2), transform=SHOWN), 3)
  orders = [_order(made, batch) for batch in batches]
  for ids, batch in zip(orders, batches):
    np.testing.assert_array_equal(shown_seeds.first_values(batch["image"]),
                                  [int(one[-2:]) for one in ids])
  seeds = np.concatenate([shown_seeds.seeds(batch["image"]) for batch in batches])
  np.testing.assert_array_equal(seeds, sampling.row_seeds((1, 2), np.arange(3 * NUM)))
  assert len({*map(tuple, orders)}) == 3 and list(made.ids) not in orders
  [other] = _list(made.train_batches(NUM, seed=(2, 2), transform=SHOWN), 1)
  assert _order(made, other) != orders[0]


def test_images_without_ids_are_told_by_their_places(read):
  made, held = read("mixed"), read("mixed", limit=2**20)
  [batch] = _list(made.train_batches(NUM, seed=(1, 2), transform=SHOWN), 1)
  firsts = [image[0, 0, 0] for image in held.few_pixels([int(i) for i in _order(made, batch)])]
  np.testing.assert_array_equal(shown_seeds.first_values(batch["image"]), firsts)


def test_a_later_first_step_is_the_tail_and_shapes_are_static(read):
  made = read(split="train[5:17]")
  whole = made.train_batches(4, seed=(1, 2), transform=TRANSFORM)
  assert whole.element_spec == {
      "image": tf.TensorSpec([4, 5, 5, 3], tf.uint8), "label": tf.TensorSpec([4], tf.int64),
      "mask": tf.TensorSpec([4], tf.bool), "id": tf.TensorSpec([4], tf.string)}
  tail = made.train_batches(4, seed=(1, 2), transform=TRANSFORM, first_step=4)
  _assert_same(_list(tail, 10), _list(whole, 14)[4:])


def test_shards_put_together_are_the_batch(read):
  made = read()
  settings = dict(seed=(1, 2), transform=SHOWN, first_step=3)
  whole = _list(made.train_batches(4, **settings), 4)
  both = _list(made.train_batches(4, **settings, num_shards=2, shards_here=2), 8)
  joined = [{k: np.concatenate([a[k], b[k]]) for k in a} for a, b in zip(both[::2], both[1::2])]
  _assert_same(joined, whole)
  second = made.train_batches(4, **settings, num_shards=2, shard_index=1)
  _assert_same(_list(second, 4), both[1::2])


def test_a_subset_is_held_in_memory(read):
  streamed, held = read(), read(limit=2**20)
  part, want = streamed.take(6, seed=3), held.take(6, seed=3)
  assert isinstance(part, image_set.ImageSet) and part.size == 6
  for found, wanted in ((part.pixels(), want.pixels()), (part.labels, want.labels),
                        (part.ids, want.ids)):
    np.testing.assert_array_equal(found, wanted)
  assert streamed.take(NUM, seed=3) is streamed


def test_within_bytes_are_images_in_memory(read):
  streamed = read()
  found = [streamed.within(num_bytes, seed=1) for num_bytes in (3_000, 3_000, 10**9)]
  assert found[0].num_bytes() <= 3_000 and found[0].ids.tolist() == found[1].ids.tolist()
  assert 0 < found[0].size < streamed.size == found[2].size


def test_a_split_stays_on_disk_with_each_image_on_one_side(read):
  whole = read()
  rest, part = whole.split(0.2, seed=3)
  assert isinstance(rest, prepared_sets.StreamedSet) and (rest.size, part.size) == (18, 5)
  assert [*rest.ids, *part.ids] == [*whole.ids]
  np.testing.assert_array_equal(part.labels, whole.labels[18:])
  halves = rest.split(0.5, seed=3)
  assert [*halves[0].ids, *halves[1].ids] == [*rest.ids]
  for one in (rest, read(split="test[10:]+train[:10]")):
    [batch] = _list(one.train_batches(one.size, seed=(1, 2), transform=SHOWN), 1)
    assert sorted(i.decode() for i in batch["id"]) == sorted(one.ids)
  with pytest.raises(ValueError, match="A share of 1.0 of the 23 images"):
    whole.split(1.0, seed=3)


def test_records_that_are_left_out_are_in_no_batch_split_or_subset(read):
  whole, held = read(), read(limit=2**20)
  places = [0, 7, 8, 22]
  made = whole.without(places[:2]).without([6, 20])  # Counted without the first two.
  left = held.subset(np.setdiff1d(np.arange(NUM), places))
  assert made.size == 19 and made.num_bytes() < whole.num_bytes()
  np.testing.assert_array_equal(made.ids, left.ids)
  np.testing.assert_array_equal(made.labels, left.labels)
  _assert_same(_list(made.eval_batches(8, transform=PLAIN)),
               _list(left.eval_batches(8, transform=PLAIN)))
  batches = _list(made.train_batches(4, seed=(1, 2), transform=SHOWN), 10)
  first_epoch = np.concatenate([batch["id"] for batch in batches])[:19]
  assert sorted(first_epoch) == sorted(i.encode() for i in left.ids)
  _assert_same(_list(made.train_batches(4, seed=(1, 2), transform=SHOWN, first_step=7), 3),
               batches[7:])
  np.testing.assert_array_equal(made.subset([3, 1]).ids, left.ids[[3, 1]])
  first, last = made.split(0.4, seed=0)
  assert [*first.ids, *last.ids] == list(left.ids) and last.size == 8
  with pytest.raises(ValueError, match="has no images"):
    whole.without(np.arange(NUM))
