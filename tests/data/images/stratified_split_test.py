# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Validation splits by class: counts by hand, and those of scikit-learn where it has any."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection

from suite.contracts import tasks
from suite.data.images import image_set


def counts_of(labels, num, seed=0):
  labels = np.asarray(labels)
  chosen = image_set.stratified_draw(labels, num, seed)
  assert len(set(chosen)) == num == len(chosen) and sorted(chosen) == chosen.tolist()
  return np.bincount(labels[chosen], minlength=labels.max() + 1).tolist()


def test_counts_by_hand():
  # Of 4, 4 and 2 images: 5 of 10 are 2, 2 and 1; 6 of 10 are 2.4, 2.4 and 1.2, one of which is up.
  labels = [0, 1, 0, 1, 2, 0, 1, 2, 0, 1]
  assert counts_of(labels, 5) == [2, 2, 1]
  assert {tuple(counts_of(labels, 6, seed)) for seed in range(9)} == {(3, 2, 1), (2, 3, 1)}


def test_each_class_leaves_an_image_as_long_as_others_are_left():
  assert counts_of([0, 0, 0, 0, 1, 2], 3) == [3, 0, 0]
  assert counts_of([0, 0, 1, 2], 1) == [1, 0, 0]
  assert counts_of([0, 0, 1, 2], 3).count(1) == 3


@pytest.mark.parametrize("seed", range(3))
def test_shares_are_those_of_scikit_learn(seed):
  labels = np.random.default_rng(seed).integers(0, 7, 200)
  _, theirs = model_selection.train_test_split(
      np.arange(200), test_size=37, stratify=labels, random_state=seed)
  differences = np.array(counts_of(labels, 37, seed)) - np.bincount(labels[theirs], minlength=7)
  assert np.abs(differences).max() <= 1 and differences.sum() == 0


def test_a_set_is_divided_and_keeps_its_order():
  labels = np.repeat(np.arange(5), 10)
  images = np.arange(50, dtype=np.uint8)[:, None, None, None] + np.zeros([1, 2, 2, 3], np.uint8)
  whole = image_set.ImageSet.from_arrays(
      "x", images, labels, kind=tasks.SINGLE_LABEL, num_classes=5)
  train, validation = image_set.stratified_split(whole, 0.1, seed=3)
  assert np.bincount(validation.labels).tolist() == [1] * 5
  assert sorted([*train.ids.tolist(), *validation.ids.tolist()]) == sorted(whole.ids.tolist())
  assert train.labels.tolist() == sorted(train.labels.tolist())
  again = image_set.stratified_split(whole, 0.1, seed=3)[1].ids.tolist()
  assert again == validation.ids.tolist()
  assert image_set.stratified_split(whole, 0.1, seed=4)[1].ids.tolist() != again
  with pytest.raises(ValueError, match="share of 0.001 of the 50 images of 'x' is 0"):
    image_set.stratified_split(whole, 0.001, seed=0)


def test_several_labels_are_refused():
  images = image_set.ImageSet.from_arrays(
      "x", np.zeros([4, 2, 2, 3], np.uint8), np.ones([4, 2]), kind=tasks.MULTI_LABEL, num_classes=2)
  with pytest.raises(ValueError, match="'x' is multi_label; a split by class needs single_label"):
    image_set.stratified_split(images, 0.5, seed=0)
