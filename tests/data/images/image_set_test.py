# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image sets: what batches hold, in which order, whatever the store."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import image_ops
from suite.data.images import image_set

N = 11
RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (N, 6, 9, 3)).astype(np.uint8)
LABELS = RNG.integers(0, 4, N)
IDS = [f"image {i}" for i in range(N)]
TRANSFORM = image_ops.Nevis(5)


def _raw(images=IMAGES, labels=LABELS, kind="single_label", num_classes=4, ids=None):
  return image_set.ImageSet.from_arrays("set", images, labels, kind=kind, num_classes=num_classes,
                                        ids=IDS if ids is None else ids)


def _encoded(**values):
  encoded = [tf.io.encode_png(image).numpy() for image in IMAGES]
  return image_set.ImageSet.from_encoded("set", encoded, LABELS, kind="single_label", num_classes=4,
                                         ids=IDS, **values)


def _list(batches, num=None):
  batches = batches if num is None else batches.take(num)
  return [{k: v.numpy() for k, v in batch.items()} for batch in batches]


def _assert_same(got, want):
  assert len(got) == len(want)
  for a, b in zip(got, want):
    for key in ("image", "label", "mask", "id"):
      np.testing.assert_array_equal(a[key], b[key])


@pytest.mark.parametrize("make", [_raw, _encoded, lambda: _encoded(memory_limit_bytes=0)])
def test_evaluation_counts_every_image_once_in_order(make):
  batches = _list(make().eval_batches(4, transform=TRANSFORM))
  assert [b["mask"].sum() for b in batches] == [4, 4, 3]
  mask = np.concatenate([b["mask"] for b in batches])
  assert [i.decode() for i in np.concatenate([b["id"] for b in batches])[mask]] == IDS
  np.testing.assert_array_equal(np.concatenate([b["label"] for b in batches])[mask], LABELS)
  want = TRANSFORM.evaluate(IMAGES).numpy()
  np.testing.assert_array_equal(np.concatenate([b["image"] for b in batches])[mask], want)
  last = batches[-1]
  assert last["id"][3] == b"" and last["label"][3] == 0 and not last["image"][3].any()


@pytest.mark.parametrize("make", [_raw, lambda: _encoded(memory_limit_bytes=0)])
def test_shapes_are_static(make):
  for batches in (make().train_batches(4, seed=(1, 2), transform=TRANSFORM),
                  make().eval_batches(4, transform=TRANSFORM)):
    assert batches.element_spec == {
        "image": tf.TensorSpec([4, 5, 5, 3], tf.uint8), "label": tf.TensorSpec([4], tf.int64),
        "mask": tf.TensorSpec([4], tf.bool), "id": tf.TensorSpec([4], tf.string)}


def test_raw_and_encoded_images_give_the_same_batches():
  want = _list(_raw().train_batches(4, seed=(1, 2), transform=TRANSFORM), 6)
  for limit in (0, 2**20):
    got = _encoded(memory_limit_bytes=limit).train_batches(4, seed=(1, 2), transform=TRANSFORM)
    _assert_same(_list(got, 6), want)


@pytest.mark.parametrize("make", [_raw, lambda: _encoded(memory_limit_bytes=0)])
def test_a_later_first_step_is_the_tail(make):
  whole = _list(make().train_batches(4, seed=(1, 2), transform=TRANSFORM), 7)
  for first in (0, 2, 5):
    tail = make().train_batches(4, seed=(1, 2), transform=TRANSFORM, first_step=first)
    _assert_same(_list(tail, 7 - first), whole[first:])


def test_an_epoch_holds_each_image_once_with_its_label_and_pixels():
  seen = _list(_raw().train_batches(N, seed=(1, 2), transform=image_ops.Plain(9)), 3)
  want = image_ops.Plain(9).evaluate(IMAGES).numpy()
  orders = set()
  for batch in seen:
    order = [IDS.index(i.decode()) for i in batch["id"]]
    assert sorted(order) == list(range(N)) and batch["mask"].all()
    np.testing.assert_array_equal(batch["label"], LABELS[order])
    np.testing.assert_array_equal(batch["image"], want[order])
    orders.add(tuple(order))
  assert len(orders) == 3


@pytest.mark.parametrize("make", [_raw, lambda: _encoded(memory_limit_bytes=0)])
def test_shards_put_together_are_the_batch(make):
  whole = _list(make().train_batches(4, seed=(1, 2), transform=TRANSFORM), 4)
  here = make().train_batches(4, seed=(1, 2), transform=TRANSFORM, num_shards=2, shards_here=2)
  parts = _list(here, 8)
  joined = [{k: np.concatenate([a[k], b[k]]) for k in a} for a, b in zip(parts[::2], parts[1::2])]
  _assert_same(joined, whole)
  other = make().train_batches(4, seed=(1, 2), transform=TRANSFORM, num_shards=2, shard_index=1)
  _assert_same(_list(other, 4), parts[1::2])


def test_augmentation_of_a_position_is_new_in_the_next_epoch():
  one = _raw(images=IMAGES[:1], labels=LABELS[:1], ids=["a"])
  first, second = _list(one.train_batches(1, seed=(1, 2), transform=TRANSFORM), 2)
  assert (first["image"] != second["image"]).any()


def test_a_set_smaller_than_a_batch_fills_it_by_repeating():
  one = _raw(images=IMAGES[:3], labels=LABELS[:3], ids=IDS[:3])
  batch = _list(one.train_batches(8, seed=(1, 2), transform=TRANSFORM), 1)[0]
  counts = np.unique(batch["id"], return_counts=True)[1]
  assert sorted(counts) == [2, 3, 3]


def test_multi_label_batches_are_multi_hot():
  labels = np.eye(4, dtype=np.uint8)[LABELS]
  batches = _raw(labels=labels, kind="multi_label").eval_batches(8, transform=TRANSFORM)
  assert batches.element_spec["label"] == tf.TensorSpec([8, 4], tf.uint8)
  got = np.concatenate([b["label"] for b in _list(batches)])
  np.testing.assert_array_equal(got[:N], labels)
  assert not got[N:].any()


def test_a_subset_keeps_order_and_belongings():
  for made in (_raw(), _encoded(memory_limit_bytes=0)):
    part = made.take(5, seed=7)
    places = [IDS.index(i) for i in part.ids]
    assert places == sorted(set(places)) and part.size == 5
    np.testing.assert_array_equal(part.labels, LABELS[places])
    images = np.concatenate([b["image"] for b in _list(part.eval_batches(5, transform=TRANSFORM))])
    np.testing.assert_array_equal(images, TRANSFORM.evaluate(IMAGES[places]))
    assert list(made.take(5, seed=7).ids) == list(part.ids) != list(made.take(5, seed=8).ids)
    assert made.take(N, seed=7) is made
  with pytest.raises(ValueError, match="Cannot take 0 images of 'set'"):
    _raw().take(0, seed=1)


def test_a_split_has_each_image_on_one_side():
  rest, part = _raw().split(0.3, seed=7)
  assert (rest.size, part.size) == (8, 3)
  assert sorted([*rest.ids, *part.ids]) == sorted(IDS)
  for side in (rest, part):
    places = [IDS.index(i) for i in side.ids]
    assert places == sorted(places)
    np.testing.assert_array_equal(side.labels, LABELS[places])
  assert list(_raw().split(0.3, seed=7)[1].ids) == list(part.ids)
  assert list(_raw().split(0.3, seed=8)[1].ids) != list(part.ids)
  with pytest.raises(ValueError, match="A share of 0.01 of the 11 images of 'set' is 0; choose"):
    _raw().split(0.01, seed=7)


def test_images_of_different_sizes_and_formats():
  arrays = [IMAGES[0], IMAGES[1, :4], IMAGES[2, :, :3, :1]]
  encoded = [tf.io.encode_png(arrays[0]).numpy(), tf.io.encode_jpeg(arrays[1]).numpy(),
             tf.io.encode_png(arrays[2]).numpy()]
  made = image_set.ImageSet.from_encoded("mixed", encoded, [0, 1, 2], kind="single_label",
                                         num_classes=3)
  got = _list(made.eval_batches(3, transform=TRANSFORM))[0]["image"]
  for image, data in zip(got, encoded):
    decoded = tf.io.decode_image(data, channels=3)
    np.testing.assert_array_equal(image, TRANSFORM.evaluate(decoded[None])[0])


@pytest.mark.parametrize("change, message", [
    (dict(labels=LABELS[:3]), r"have shape \(3,\), expected \(11,\)"),
    (dict(labels=LABELS + 1, num_classes=4), r"run from 1 to 4; allowed are 0\.\.3"),
    (dict(kind="multi"), "has kind 'multi'; allowed are single_label, multi_label"),
    (dict(kind="multi_label"), r"expected \(11, 4\)"),
    (dict(ids=["a"] * N), "has id 'a' more than once"),
    (dict(ids=["a"]), "11 images but 1 ids"),
    (dict(images=IMAGES.astype(np.float32)), "must be uint8"),
    (dict(images=IMAGES[..., :2]), "Images have 2 channels"),
    (dict(images=IMAGES[:0], labels=[], ids=[]), "'set' has no images"),
])
def test_what_does_not_fit_is_refused(change, message):
  with pytest.raises(ValueError, match=message):
    _raw(**change)


def test_evaluation_batches_are_traced_once():
  made = _raw()
  assert made.eval_batches(4, transform=TRANSFORM) is made.eval_batches(4, transform=TRANSFORM)
  assert made.eval_batches(4, transform=TRANSFORM) is not made.eval_batches(5, transform=TRANSFORM)


@pytest.mark.parametrize("make", [_raw, lambda: _encoded(memory_limit_bytes=0)])
def test_within_bytes_are_images_of_a_random_order(make):
  images = make()
  assert images.within(images.num_bytes(), seed=1) is images
  more, fewer = (images.within(images.num_bytes() * share // 10, seed=1) for share in (6, 3))
  assert fewer.num_bytes() <= images.num_bytes() * 3 // 10 and 2 <= fewer.size < more.size <= 6
  assert set(fewer.ids) < set(more.ids) < set(IDS)
  assert set(images.within(images.num_bytes() // 2, seed=2).ids) != set(
      images.within(images.num_bytes() // 2, seed=1).ids)
  with pytest.raises(ValueError, match=r"9 bytes hold no image of 'set', whose first takes \d+"):
    images.within(9, seed=1)


def test_no_pipeline_has_the_thread_that_is_slow_to_end():
  images = _raw()
  for batches in (images.train_batches(4, seed=(0, 0), transform=TRANSFORM),
                  images.eval_batches(4, transform=TRANSFORM)):
    assert batches.options().autotune.enabled is False
