# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.lifelong.answers import known_answers
from suite.lifelong.answers import ranking

DENSE = (np.random.default_rng(0).random((5, 37)) < 0.5).astype(np.uint8)


@pytest.fixture(name="packed")
def _packed():
  return known_answers.pack(DENSE)


def test_it_is_used_like_the_array(packed):
  samples = np.array([36, 0, 8, 8])
  assert packed.shape == DENSE.shape and len(packed) == 5 and packed.size == DENSE.size
  np.testing.assert_array_equal(packed, DENSE)
  np.testing.assert_array_equal(packed[3], DENSE[3])
  np.testing.assert_array_equal(packed[-1], DENSE[-1])
  np.testing.assert_array_equal(packed[:, samples], DENSE[:, samples])
  np.testing.assert_array_equal(packed[:, samples] == 1, DENSE[:, samples] == 1)
  np.testing.assert_array_equal(packed[:, ::9], DENSE[:, ::9])
  np.testing.assert_array_equal(packed[:, 4], DENSE[:, 4])
  np.testing.assert_array_equal(packed[:, np.array([36, 8])], DENSE[:, [36, 8]])
  np.testing.assert_array_equal(packed[:, np.arange(36, 3, -1)], DENSE[:, 36:3:-1])
  np.testing.assert_array_equal(packed[np.array([4, 1])], DENSE[[4, 1]])
  np.testing.assert_array_equal(packed[1:3, 2], DENSE[1:3, 2])
  np.testing.assert_array_equal(packed == DENSE[0], np.equal(DENSE, DENSE[0]))
  np.testing.assert_array_equal(packed + 1, DENSE + 1)
  np.testing.assert_array_equal(packed.T, DENSE.T)
  np.testing.assert_array_equal(np.mean(packed, axis=0), DENSE.mean(axis=0))
  np.testing.assert_array_equal(packed.astype(np.float32), DENSE)


def test_counts_of_parts_are_the_column_sums(packed):
  np.testing.assert_array_equal(packed.counts(), DENSE.sum(axis=0))
  np.testing.assert_array_equal(ranking.sum_order(packed), ranking.sum_order(DENSE))
  np.testing.assert_array_equal(ranking.checked_counts(packed), ranking.checked_counts(DENSE))
  np.testing.assert_array_equal(ranking.recursive_order(packed), ranking.recursive_order(DENSE))
  rest = packed.without(2)
  np.testing.assert_array_equal(rest, np.delete(DENSE, 2, axis=0))
  np.testing.assert_array_equal(rest.counts(), np.delete(DENSE, 2, axis=0).sum(axis=0))
  some = packed.chosen(np.array([4, 0]))
  np.testing.assert_array_equal(some.counts(), DENSE[[4, 0]].sum(axis=0))
  more = some.with_row(DENSE[1]).with_row(DENSE[2])
  np.testing.assert_array_equal(more, DENSE[[4, 0, 1, 2]])
  np.testing.assert_array_equal(more.counts(), DENSE[[4, 0, 1, 2]].sum(axis=0))
  np.testing.assert_array_equal(more[:, np.array([36, 5])], DENSE[[4, 0, 1, 2]][:, [36, 5]])


def test_counts_of_more_than_255_models_do_not_wrap():
  ones = np.ones((256, 3), np.uint8)
  packed = known_answers.pack(ones)
  assert packed.counts().tolist() == [256] * 3
  assert packed.without(0).counts().tolist() == [255] * 3
  assert packed.without(0).with_row(ones[0]).counts().tolist() == [256] * 3


def test_samples_as_rows(packed):
  samples = np.array([5, 30, 2])
  found = known_answers.KnownAnswers(known_answers.TransposedRows(packed, samples))
  np.testing.assert_array_equal(found, DENSE[:, samples].T)
  np.testing.assert_array_equal(found.counts(), DENSE[:, samples].sum(axis=1))
  np.testing.assert_array_equal(found[:, np.array([4, 0])], DENSE[:, samples].T[:, [4, 0]])


def test_confidences_are_summed_and_missing_ones_named():
  sure = np.array([[0.5, 0.25, 1.0], [0.25, 0.5, 0.0]])
  packed = known_answers.pack(np.eye(3), {0: sure[0], 2: sure[1]})
  assert packed.chosen(np.array([2, 0])).confidence_sums().tolist() == [0.75, 0.75, 1.0]
  transposed = known_answers.KnownAnswers(known_answers.TransposedRows(
      packed.chosen(np.array([2, 0])), np.array([1, 2])))
  assert transposed.confidence_sums().tolist() == [0.5, 1.25]
  with pytest.raises(ValueError, match="1 of the 3 known models have no confidences"):
    packed.confidence_sums()
