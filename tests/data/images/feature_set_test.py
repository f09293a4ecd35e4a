# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.training.scoring import scoring

FEATURES = np.arange(10.0).reshape(5, 2)
TWO = feature_set.Features(2)


def make(features=FEATURES, labels=(0, 1, 2, 1, 0), **arguments):
  return feature_set.FeatureSet.from_arrays(
      "f", features, labels, kind=tasks.SINGLE_LABEL, num_classes=3, **arguments)


def test_evaluation_shows_every_row_once_in_order_and_masks_the_padding():
  batches = list(make().eval_batches(2, transform=TWO))
  np.testing.assert_array_equal(
      np.concatenate([b["image"] for b in batches]), [*FEATURES, [0.0, 0.0]])
  assert [b["mask"].numpy().tolist() for b in batches] == [[True] * 2, [True] * 2, [True, False]]
  assert batches[2]["label"].numpy().tolist() == [0, 0]
  assert batches[2]["id"].numpy().tolist() == [b"4", b""]


def test_evaluation_has_the_specification_of_a_data_set_and_can_be_repeated():
  batches = make().eval_batches(4, transform=TWO)
  assert batches.element_spec == {
      "image": tf.TensorSpec([4, 2], tf.float32), "label": tf.TensorSpec([4], tf.int64),
      "mask": tf.TensorSpec([4], tf.bool), "id": tf.TensorSpec([4], tf.string)}
  assert len(batches) == len(list(batches)) == len(list(batches)) == 2


def test_evaluation_batches_are_made_once():
  features = make()
  assert features.eval_batches(4, transform=TWO) is features.eval_batches(4, transform=TWO)
  assert features.eval_batches(4, transform=TWO) is not features.eval_batches(2, transform=TWO)


def test_a_function_is_scored_over_features_as_over_images():
  forward = scoring.Forward(lambda x: 2.0 * x, distribution.build())
  outputs = forward.run(
      make(), transform=TWO, batch_size=2, ledger=ledger.Ledger(), phase="predict")
  np.testing.assert_array_equal(outputs.values, 2.0 * FEATURES)
  assert outputs.ids.tolist() == ["0", "1", "2", "3", "4"]
  assert outputs.labels.tolist() == [0, 1, 2, 1, 0]


def test_training_shows_every_row_once_an_epoch_and_depends_on_seed_and_step_only():
  def rows(num, first=0):
    batches = make().train_batches(5, seed=(1, 2), transform=TWO, first_step=first)
    return [b["image"].numpy() for b in batches.take(num)]

  whole = rows(4)
  for epoch in whole:
    assert sorted(epoch[:, 0].tolist()) == [0.0, 2.0, 4.0, 6.0, 8.0]
  np.testing.assert_array_equal(rows(2, first=2), whole[2:])


def test_subsets_splits_and_takes_are_feature_sets():
  rest, part = make().split(0.4, seed=3)
  assert (rest.size, part.size) == (3, 2)
  assert sorted([*rest.ids, *part.ids]) == ["0", "1", "2", "3", "4"]
  chosen = make().subset([3, 1])
  assert isinstance(chosen, feature_set.FeatureSet)
  assert chosen.features.tolist() == [[6.0, 7.0], [2.0, 3.0]] and chosen.labels.tolist() == [1, 1]
  assert make().take(2, seed=0).features.shape == (2, 2)


def test_features_are_held_as_float32_and_cannot_be_written():
  features = make().features
  assert features.dtype == np.float32
  with pytest.raises(ValueError, match="read-only"):
    features[0] = 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_that_are_no_numbers_are_refused(bad):
  features = FEATURES.copy()
  features[2, 1] = features[4, 0] = bad
  with pytest.raises(ValueError, match="'f' has NaN or infinite features in 2 of 5 rows, the first "
                     "with id 'c'"):
    make(features, ids=list("abcde"))


@pytest.mark.parametrize("features, labels, message", [
    (FEATURES.astype(np.int64), [0] * 5, "give floats"),
    (FEATURES[0], [0] * 5, r"have shape \(2,\)"),
    (FEATURES[:, :0], [0] * 5, r"have shape \(5, 0\)"),
    (FEATURES[:0], [], "has no images"),
    (FEATURES, [0, 1, 2, 3, 0], "run from 0 to 3; allowed are 0..2"),
    (FEATURES, [0, 1], "have shape"),
])
def test_arrays_that_do_not_fit_are_refused(features, labels, message):
  with pytest.raises(ValueError, match=message):
    make(features, labels)


@pytest.mark.parametrize("transform, message", [
    (feature_set.Features(3), "has features of width 2, but 3 was expected"),
    (image_ops.Plain(2), "has features of width 2, but an image was expected"),
])
def test_features_of_another_width_are_refused(transform, message):
  for batches in (lambda: make().eval_batches(2, transform=transform),
                  lambda: make().train_batches(2, seed=(0, 0), transform=transform)):
    with pytest.raises(ValueError, match=message):
      batches()


def test_parts_take_no_values_where_a_rehearsal_measures_nothing():
  found = feature_set.FeatureSet.from_arrays(
      "a", np.ones([4, 3], np.float32), [0, 1, 0, 1], kind=tasks.SINGLE_LABEL, num_classes=2)
  with rehearsal.begun(measures=False):
    part = found.subset([3, 0])
    assert part.features.shape == (2, 3) and not part.features.any()
    assert part.ids.tolist() == ["3", "0"] and part.labels.tolist() == [1, 0]
    assert not rehearsal.concatenated([found.features, part.features]).any()
  assert found.subset([3]).features.all()
  assert rehearsal.concatenated([found.features, part.features]).sum() == 12
