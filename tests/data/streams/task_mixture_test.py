# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Several tasks as one set: whose turn it is, the codes of labels, resuming, sharding."""

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import clear_transform
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.images import image_store
from suite.data.images import packed_images
from suite.data.streams import task_mixture

PLAIN = image_ops.Plain(2)


def _set(name, size, value, *, kind="single_label", num_classes=2):
  images = np.full([size, 2, 2, 1], value, np.uint8) + np.arange(size, dtype=np.uint8)[
      :, None, None, None]
  labels = (np.arange(size) % num_classes if kind == "single_label"
            else np.eye(num_classes, dtype=np.uint8)[np.arange(size) % num_classes])
  return image_set.ImageSet.from_arrays(name, images, labels, kind=kind, num_classes=num_classes)


SETS = {"a": _set("a", 6, 0), "b": _set("b", 30, 100, kind="multi_label", num_classes=3),
        "c": _set("c", 4, 200, num_classes=4)}


def _take(mixture, num, batch_size, **arguments):
  batches = iter(mixture.group_batches(batch_size, seed=(1, 2), transform=PLAIN, **arguments))
  return [{key: value.numpy() for key, value in next(batches).items()} for _ in range(num)]


def _tasks(batch):
  return batch["image"][:, 0, 0, 0, 0] // 100


def test_in_turn_each_batch_has_a_group_of_every_task_with_its_own_classes():
  mixture = task_mixture.TaskMixture(SETS, name="m")
  assert (mixture.size, mixture.num_classes, mixture.num_groups) == (40, 9, 3)
  for batch in _take(mixture, 5, 6):
    assert batch["image"].shape == (3, 2, 2, 2, 3) and batch["label"].shape == (3, 2, 9)
    assert list(_tasks(batch)) == [0, 1, 2]
    for place, (value, first, num, shift) in enumerate(((0, 0, 2, 0), (100, 2, 3, 2),
                                                        (200, 5, 4, 0))):
      for row in range(2):
        number = int(batch["image"][place, row, 0, 0, 0]) - value
        wanted = np.zeros([9], np.uint8)
        wanted[first:first + num] = 1 + shift
        wanted[first + number % num] = 2 + shift
        np.testing.assert_array_equal(batch["label"][place, row], wanted)


def test_drawn_tasks_follow_their_numbers_of_examples_or_not():
  for exponent, shares in ((1.0, [6, 30, 4]), (0.0, [1, 1, 1])):
    mixture = task_mixture.TaskMixture(SETS, name="m", groups=1, exponent=exponent)
    found = np.bincount(mixture.tasks_of(np.arange(6000), (3, 4)).numpy(), minlength=3)
    np.testing.assert_allclose(found / 6000, np.asarray(shares) / np.sum(shares), atol=0.02)


@pytest.mark.parametrize("groups", [None, 2])
def test_any_step_can_be_the_first(groups):
  mixture = task_mixture.TaskMixture(SETS, name="m", groups=groups)
  whole = _take(mixture, 7, 6)
  for batch, other in zip(whole[4:], _take(mixture, 3, 6, first_step=4)):
    for key, value in batch.items():
      np.testing.assert_array_equal(value, other[key])


def test_replicas_share_each_group():
  mixture = task_mixture.TaskMixture(SETS, name="m", groups=1, exponent=0.0)
  whole = _take(mixture, 4, 6)
  shards = _take(mixture, 8, 6, shard_index=0, num_shards=2, shards_here=2)
  for step, batch in enumerate(whole):
    parts = [shard["image"] for shard in shards[2 * step:2 * step + 2]]
    np.testing.assert_array_equal(batch["image"], np.concatenate(parts, axis=1))


def test_rows_for_a_pretraining_are_the_groups_one_after_the_other():
  mixture = task_mixture.TaskMixture(SETS, name="m", groups=2)
  grouped = _take(mixture, 1, 6)[0]
  flat = next(iter(mixture.train_batches(6, seed=(1, 2), transform=PLAIN)))
  assert flat["image"].shape == (6, 2, 2, 3) and flat["label"].shape == (6, 9)
  np.testing.assert_array_equal(flat["label"], grouped["label"].reshape(6, 9))


def test_what_makes_no_mixture_is_refused():
  with pytest.raises(ValueError, match="'m' was given no tasks"):
    task_mixture.TaskMixture({}, name="m")
  with pytest.raises(ValueError, match="A batch of 7 cannot be divided into 3 groups"):
    task_mixture.TaskMixture(SETS, name="m").group_batches(7, seed=(0, 0), transform=PLAIN)
  with pytest.raises(ValueError, match="groups=0 of 'm'; a batch has at least one"):
    task_mixture.TaskMixture(SETS, name="m", groups=0)


class _Apart:
  """A set whose storage is not known."""

  def __init__(self, images):
    self.kind, self.num_classes, self.size = images.kind, images.num_classes, images.size
    self.train_batches = images.train_batches


def _noise(name, size, shape, *, encoded=False, packed=False, multi_label=False):
  rng = np.random.default_rng(len(name) + size)
  if encoded or packed:  # Every image has a size of its own.
    pixels = [rng.integers(256, size=(shape[0] + i % 3, *shape[1:]), dtype=np.uint8)
              for i in range(size)]
  if packed:
    sides = np.array([p.shape[:2] for p in pixels], np.int32)
    file = b"".join(packed_images.bordered(p).tobytes() for p in pixels)
    store = packed_images.PackedStore(
        tf.io.decode_raw(file, tf.uint8), packed_images.offsets_of(sides), sides)
  elif encoded:
    store = image_store.EncodedStore([tf.io.encode_png(p).numpy() for p in pixels], name=name)
  else:
    store = image_store.RawStore(rng.integers(256, size=(size, *shape), dtype=np.uint8))
  labels = (rng.random([size, 5]) < 0.4).astype(np.uint8) if multi_label else np.arange(size) % 3
  return image_set.ImageSet(
      name, store, labels, kind="multi_label" if multi_label else "single_label",
      num_classes=5 if multi_label else 3)


@pytest.mark.parametrize("groups, transform, shards, names", [
    (None, image_ops.Plain(4), {}, "gray large fits other both file files"),
    (2, clear_transform.Clear(4), {"shard_index": 1, "num_shards": 4, "shards_here": 2},
     "gray both file")])
def test_one_pipeline_gives_what_a_pipeline_for_each_task_gives(groups, transform, shards, names):
  sets = {images.name: images for images in (
      _noise("gray", 7, (5, 6, 1)), _noise("large", 150, (5, 5, 3), multi_label=True),
      _noise("fits", 9, (4, 4, 3)), _noise("other", 5, (9, 7, 3)),
      _noise("both", 130, (3, 8, 1), encoded=True, multi_label=True),
      _noise("file", 140, (6, 4, 3), packed=True), _noise("files", 3, (3, 7, 3), packed=True))
          if images.name in names.split()}
  apart = {name: _Apart(images) for name, images in sets.items()}
  one, each = (_of_steps(task_mixture.TaskMixture(
      given, name="m", groups=groups, exponent=0.0), transform, shards) for given in (sets, apart))
  for batch, other in zip(one, each):
    assert batch.keys() == other.keys()
    for key, value in batch.items():
      np.testing.assert_array_equal(value, other[key])


def _of_steps(mixture, transform, shards):
  batches = mixture.group_batches(
      8 * mixture.num_groups, seed=(1, 2), transform=transform, first_step=3, **shards)
  return [{key: value.numpy() for key, value in batch.items()} for batch in batches.take(6)]


def test_an_image_that_cannot_be_decoded_is_named_with_its_set():
  store = image_store.EncodedStore([b"\x89PNG"], name="broken")
  broken = image_set.ImageSet("broken", store, [0], kind="single_label", num_classes=2)
  mixture = task_mixture.TaskMixture({"a": SETS["a"], "b": broken}, name="m")
  with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)data set m cannot.*broken: 0"):
    next(iter(mixture.group_batches(2, seed=(1, 2), transform=PLAIN)))
