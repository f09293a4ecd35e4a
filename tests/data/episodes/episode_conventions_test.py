# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Layouts worked by hand, what does not fit, and the ceilings that the old defects put on scores.

Images in a layout are written as class slot and number within the class: a0, a1, b0, ...
"""

from __future__ import annotations

import numpy as np
import pytest

from suite.data.episodes import episode_conventions
from suite.data.episodes import episodes
from suite.data.episodes import task_types


def _layout(name, n, *, convention="spec", shot=1, targets=1, images=20, classes=20):
  setting = task_types.named(name, n, way=2, shot=shot, targets=targets)
  return episode_conventions.layout(convention, setting, np.full(classes, images), "It")


def _images(layout):
  """Support and target images in words."""
  row, number = np.divmod(layout.place, layout.row_size)
  words = [f"{chr(97 + layout.row_slot[r])}{n}" for r, n in zip(row, number)]
  return " ".join(words[:layout.num_support]), " ".join(words[layout.num_support:])


def _labels(layout):
  return (layout.labels[:layout.num_support].tolist(), layout.labels[layout.num_support:].tolist())


@pytest.mark.parametrize("name, n, support, target, labels, num_labels", [
    ("FSL", 1, "a0 b0", "a1 b1", [0, 1], 2),
    ("A", 2, "a0 b0 a1 b1", "a2 b2 a3 b3", [0, 1, 0, 1], 2),
    ("B", 2, "a0 b0 c0 d0", "a1 b1 c1 d1", [0, 1, 2, 3], 4),
    ("C", 2, "a0 b0 c0 d0", "a1 b1 c1 d1", [0, 1, 0, 1], 2),
    ("D", 4, "a0 b0 a1 b1 c0 d0 c1 d1", "a2 b2 a3 b3 c2 d2 c3 d3", [0, 1, 0, 1, 2, 3, 2, 3], 4),
])
def test_spec_by_hand(name, n, support, target, labels, num_labels):
  made = _layout(name, n)
  assert _images(made) == (support, target) and _labels(made) == (labels, labels)
  assert made.num_labels == num_labels and made.fallback == "" and made.num_pools == 1


def test_shots_and_targets_of_a_class_stand_together():
  made = _layout("A", 2, shot=2, targets=3)
  assert _images(made) == ("a0 a1 b0 b1 a2 a3 b2 b3",
                           "a4 a5 a6 b4 b5 b6 a7 a8 a9 b7 b8 b9")
  assert _labels(made)[0] == [0, 0, 1, 1, 0, 0, 1, 1]


def test_with_too_few_images_the_sets_of_a_block_share_their_targets():
  # D with 2 + 3 images needs 10 of a class in its own right, 7 if targets are shared.
  for images in (7, 9):
    made = _layout("D", 4, shot=2, targets=3, images=images)
    assert _images(made) == ("a0 a1 b0 b1 a2 a3 b2 b3 c0 c1 d0 d1 c2 c3 d2 d3",
                             "a4 a5 a6 b4 b5 b6 c4 c5 c6 d4 d5 d6")
    assert _labels(made)[1] == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert made.fallback.startswith(f"shared targets: a class has {images} images and 10 would")
  assert _layout("D", 4, shot=2, targets=3, images=10).fallback == ""
  for name, n in (("FSL", 1), ("B", 5), ("C", 5)):
    assert _layout(name, n, images=2).fallback == ""


@pytest.mark.parametrize("name, n, falls_back", [("A", 3, False), ("A", 5, True), ("A", 10, True)])
def test_which_of_the_papers_tasks_omniglot_has_images_for(name, n, falls_back):
  made = episode_conventions.layout("spec", task_types.named(name, n), np.full(212, 20), "It")
  assert bool(made.fallback) == falls_back and made.row_size == (n + 5 if falls_back else 6 * n)


def test_paper_feb_by_hand():
  made = _layout("D", 4, convention="paper_feb")
  # Pools a b and c d are drawn on their own; a set's row of images is drawn on its own, too.
  assert (made.num_pools, made.pool_size, made.row_size) == (2, 2, 2)
  assert made.row_slot.tolist() == [0, 1, 0, 1, 2, 3, 2, 3]
  assert made.place.tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]
  assert _labels(made) == ([0, 1, 2, 3, 4, 5, 6, 7],) * 2 and made.num_labels == 8
  assert _labels(_layout("A", 2, convention="paper_feb")) == ([0, 1, 0, 1],) * 2
  assert _layout("C", 2, convention="paper_feb").num_labels == 2


def test_paper_apr_by_hand():
  made = _layout("D", 4, convention="paper_apr")
  assert (made.num_pools, made.pool_size, made.row_size) == (1, 4, 2)
  assert _images(made) == ("a0 b0 a0 b0 c0 d0 c0 d0", "a1 b1 a1 b1 c1 d1 c1 d1")
  assert _labels(made) == ([0, 1, 2, 3, 4, 5, 6, 7],) * 2 and made.num_labels == 8
  assert _images(_layout("A", 2, convention="paper_apr")) == ("a0 b0 a0 b0", "a1 b1 a1 b1")


@pytest.mark.parametrize("name, n, values, message", [
    ("B", 3, dict(classes=5), "It has 5 classes, but 2-way episodes of 3 support sets with "
     "class_change_interval=1 need 6 different ones. What would fit: num_support_sets <= 2"),
    ("D", 4, dict(classes=3), "need 4 .* What would fit: num_support_sets <= 2"),
    ("FSL", 1, dict(classes=1), "No change of a single parameter fits: choose a larger split"),
    ("FSL", 1, dict(classes=0), "It has 0 classes"),
    ("FSL", 1, dict(images=5, targets=5), "only 5 images of its smallest class, but an episode "
     "needs 6 different ones of a class. What would fit: targets <= 4"),
    ("A", 3, dict(images=7, targets=5), "needs 8 .*, even with one target set for all sets of a "
     "block. What would fit: targets <= 4 or class_change_interval <= 2"),
    ("A", 3, dict(images=4, targets=5, convention="paper_feb"), "needs 6 different ones of a class"
     ". What would fit: targets <= 3"),
    ("B", 3, dict(convention="feb"), "Unknown convention 'feb'; allowed are spec, paper_feb"),
])
def test_what_does_not_fit_is_refused(name, n, values, message):
  with pytest.raises(ValueError, match=message):
    _layout(name, n, **values)


def test_paper_feb_needs_no_more_classes_than_a_set_has():
  assert _layout("B", 3, convention="paper_feb", classes=2).pool_size == 2


def _drawn(name, n, convention, *, classes=212, images=20, tasks=600):
  """Support and target images [tasks, ...] of a data set of Omniglot's test split's size."""
  labels = np.repeat(np.arange(classes), images)
  source = episodes.Episodes(np.zeros([len(labels), 1, 1, 1], np.uint8), labels,
                             task_types.named(name, n), convention=convention)
  drawn = source.indices(0, tasks)
  return (source, *np.split(drawn, [source.num_support], axis=1))


def _ceiling(name, n, convention):
  """Accuracy of one who knows each image's class, and guesses among the labels it had."""
  source, support, target = _drawn(name, n, convention)
  support_labels, target_labels = np.split(source.labels, [source.num_support])
  scores = []
  for seen, asked in zip(support // 20, target // 20):
    labels = {c: set(support_labels[seen == c]) for c in seen}
    scores.append(np.mean([label in labels[c] and 1 / len(labels[c])
                           for c, label in zip(asked, target_labels)]))
  return np.mean(scores)


@pytest.mark.parametrize("name, n, convention, ceiling", [
    ("B", 3, "paper_feb", 0.976), ("B", 5, "paper_feb", 0.954), ("B", 10, "paper_feb", 0.900),
    ("C", 3, "paper_feb", 0.982), ("C", 5, "paper_feb", 0.962), ("C", 10, "paper_feb", 0.919),
    ("D", 4, "paper_apr", 0.5), ("D", 8, "paper_apr", 0.5),
    ("A", 3, "paper_feb", 1.0), ("B", 10, "paper_apr", 1.0),
    ("A", 5, "spec", 1.0), ("B", 10, "spec", 1.0), ("C", 10, "spec", 1.0), ("D", 8, "spec", 1.0),
])
def test_the_highest_accuracy_that_a_convention_allows(name, n, convention, ceiling):
  # The test split of Omniglot; the figures are those of an independent simulation.
  assert _ceiling(name, n, convention) == pytest.approx(ceiling, abs=5e-3 if ceiling < 1 else 0)


@pytest.mark.parametrize("name, n, images, share", [
    ("A", 3, 20, 0.0975), ("A", 5, 20, 0.185), ("A", 10, 20, 0.370), ("D", 4, 20, 0.05),
    ("A", 3, 200, 0.01), ("A", 5, 200, 0.02), ("A", 10, 200, 0.044),
])
def test_how_many_targets_of_paper_feb_are_support_images_too(name, n, images, share):
  # Among the other sets of its block: 1 - (1 - 1 / images)**(interval - 1), and by chance a little
  # more for D, whose blocks may draw the same class.
  _, support, target = _drawn(name, n, "paper_feb", images=images)
  repeated = np.mean([np.isin(t, s).mean() for s, t in zip(support, target)])
  assert repeated == pytest.approx(share, abs=4e-3)


@pytest.mark.parametrize("name, n", [("A", 3), ("A", 10), ("B", 10), ("D", 8)])
def test_no_target_of_spec_is_a_support_image(name, n):
  _, support, target = _drawn(name, n, "spec", tasks=100)
  assert not any(np.isin(t, s).any() for s, t in zip(support, target))
