# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Several tasks as one set: whose turn it is, the codes of labels, resuming, sharding."""

import numpy as np
import pytest

from suite.data.images import image_ops
from suite.data.images import image_set
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
