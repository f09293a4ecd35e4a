# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sequences: labels follow their samples, and counts have a long tail."""

from __future__ import annotations

import numpy as np
import pytest

from suite.data.sequences import sequences

IMAGES = np.arange(5, dtype=np.uint8)[:, None, None, None] * np.ones([1, 2, 2, 3], np.uint8)


def _sequence(**values):
  return sequences.Sequence(IMAGES, [0, 2, 1, 2, 0], list("abcde"), num_base_classes=1, **values)


def test_a_label_is_revealed_after_its_sample_only():
  made = _sequence()
  with pytest.raises(sequences.LabelNotDueError, match="label of sample 0 .* 0 samples have been"):
    made.reveal(0)
  assert made.deliver(0)[0, 0, 0] == 0 and made.reveal(0) == 0
  with pytest.raises(sequences.LabelNotDueError, match="1 samples have been delivered so far"):
    made.reveal(1)
  assert made.deliver(1)[0, 0, 0] == 1 and made.reveal(1) == 2 and made.reveal(0) == 0
  with pytest.raises(sequences.LabelNotDueError):
    made.reveal(-1)


def test_a_run_that_resumes_may_look_back():
  made = _sequence()
  made.deliver(3)
  assert [made.reveal(t) for t in range(4)] == [0, 2, 1, 2]
  with pytest.raises(IndexError, match="Sample 5 of a sequence of 5"):
    made.deliver(5)


def test_sizes():
  assert len(_sequence()) == 5 and _sequence().num_classes == 3
  assert _sequence(num_classes=4).class_counts().tolist() == [2, 1, 2, 0]
  with pytest.raises(ValueError, match="5 images, 1 labels and 1 ids"):
    sequences.Sequence(IMAGES, [0], ["a"], 1)


def test_counts_follow_the_law():
  # 1 / (2 + r) for r = 1, 2, 3: 20/47, 15/47, 12/47 of the 47 left after one for each class.
  assert sequences.zipf_mandelbrot_counts(3, 50).tolist() == [21, 16, 13]
  counts = sequences.zipf_mandelbrot_counts(10, 300)
  assert counts.sum() == 300 and list(counts) == sorted(counts, reverse=True) and counts.min() > 0
  with pytest.raises(ValueError, match="2 samples are too few for 3 classes"):
    sequences.zipf_mandelbrot_counts(3, 2)


def test_long_tailed_draws_have_no_image_twice_and_follow_the_seed():
  labels = np.arange(200) % 4
  drawn = sequences.long_tailed(labels, 60, seed=1)
  assert len(set(drawn)) == 60
  assert sorted(np.bincount(labels[drawn])) == sorted(sequences.zipf_mandelbrot_counts(4, 60))
  np.testing.assert_array_equal(drawn, sequences.long_tailed(labels, 60, seed=1))
  assert list(drawn) != list(sequences.long_tailed(labels, 60, seed=2))
  with pytest.raises(ValueError, match="has 50 images, .* Ask for a shorter one"):
    sequences.long_tailed(labels, 190, seed=1)


def test_labels_come_late_in_the_order_of_their_delays():
  made = _sequence(delays=np.array([3, 0, 0, 1, 0]))
  assert made.due.tolist() == [3, 1, 2, 4, 4] and made.order.tolist() == [1, 2, 0, 3, 4]
  assert [made.num_revealed(t) for t in range(6)] == [0, 0, 1, 2, 3, 5]
  assert [made.step_of(k) for k in range(1, 7)] == [1, 2, 3, 4, 4, 5]
  assert made.revealed_by(1, 4).tolist() == [1, 2, 3]
  made.deliver(2)
  assert made.reveal_next(0, 2).tolist() == [2, 1]
  with pytest.raises(sequences.LabelNotDueError, match="sample 0 is"):
    made.reveal_next(0, 3)
  assert made.reveal(1) == 2 and made.truth(0, 3).tolist() == [0, 2, 1]
  with pytest.raises(sequences.LabelNotDueError, match="sample 0 is .*, 3 steps later; 3 samples"):
    made.reveal(0)
  with pytest.raises(sequences.LabelNotDueError, match="Sample 3 cannot be scored yet; 3 samples"):
    made.truth(0, 4)
  made.deliver(3)
  assert made.reveal(0) == 0
  assert not made.is_immediate and _sequence().is_immediate


def test_what_was_tried_ahead_is_taken_back():
  made = _sequence()
  made.deliver(4)
  made.rewind(2)
  assert made.reveal(1) == 2
  with pytest.raises(sequences.LabelNotDueError):
    made.reveal(2)
  made.rewind(5)  # Nothing is delivered by it.
  with pytest.raises(sequences.LabelNotDueError):
    made.reveal(2)


def test_images_can_be_prepared_without_being_delivered():
  made = _sequence()
  assert made.images(1, 3)[:, 0, 0, 0].tolist() == [1, 2]
  with pytest.raises(sequences.LabelNotDueError):
    made.reveal(1)


def test_the_same_sequence_with_late_labels_begins_anew():
  made = _sequence(segments=[0, 0, 1, 1, 1])
  made.deliver(4)
  later = made.delayed(2)
  assert later.due.tolist() == [2, 3, 4, 5, 6] and later.segments.tolist() == [0, 0, 1, 1, 1]
  with pytest.raises(sequences.LabelNotDueError, match="0 samples have been delivered"):
    later.reveal(0)


def test_random_delays_lie_between_their_bounds():
  drawn = sequences.delays(1000, (2, 5), (0, 1))
  assert sorted(set(drawn)) == [2, 3, 4, 5]
  np.testing.assert_array_equal(drawn, sequences.delays(1000, (2, 5), (0, 1)))
  assert sequences.delays(3, 4, (0, 1)).tolist() == [4, 4, 4]


@pytest.mark.parametrize("values, message", [
    (dict(labels=[0, 2, 1, 2, 3], num_classes=3), "run from 0 to 3, .* 3 classes; allowed are 0"),
    (dict(labels=[0, 2, 1, 2, -1]), "run from -1 to 2"),
    (dict(ids=list("abcba")), "Id 'a' stands 2 times"),
    (dict(num_base_classes=4), "4 of 3 classes are declared base"),
    (dict(delays=-1), "delays from -1"),
    (dict(segments=[0, 1]), "2 segments"),
])
def test_what_is_no_sequence_is_named(values, message):
  arguments = dict(labels=[0, 2, 1, 2, 0], ids=list("abcde"), num_base_classes=1)
  with pytest.raises(ValueError, match=message):
    sequences.Sequence(IMAGES, **{**arguments, **values})
