# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sequences like FLUID's (Wallingford et al., 2020), from any labeled data set.

A sequence has R classes: base classes, which have other images for pretraining, and novel ones.
Classes are matched to ranks at random; the class of rank r has floor(a / (b + r)) samples (Zipf-
Mandelbrot) or as many as there are; all samples are then shuffled. The paper's five sequences have
R = 250 + 750, a = 25,000 and b = 25 (measured on its published labels; the paper says "Zipf, s =
1").

A smaller sequence keeps the shape: with M images for the most frequent of R classes

    b = 0.025 R    a = M (1 + b)    head: more than a / (b + 0.475 R) samples, rounded down

which gives the paper's 961, 24 and 50 for R = 1000 and its M. Updates come every n / 18 samples.

`make` is a pure function of (ids, labels, spec, seed); the order of the data set does not matter.
Images are held by index only.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import hashlib
import math
from typing import Any

import numpy as np

from suite.data.sequences import sequences

VALIDATION = "validation"
TEST = "test"
_SHARE, _RANKS, _ORDER = 1, 2, 3  # Purposes of random generators.


@dataclasses.dataclass(frozen=True)
class Spec:
  """The parameters of a family of sequences.

  Attributes:
    num_base: base classes in a sequence.
    num_novel: novel classes in a sequence.
    num_pretrain: base classes to pretrain on, the sequences' own among them.
    numerator: a in floor(a / (b + r)).
    offset: b.
    minimum: samples of the rarest classes, where the law gives fewer.
    base_cap: images of a base class that may be in sequences, at most half of them; the others are
      for pretraining. None: half.
    update_interval: samples between two updates.
    num_validation: sequences to choose hyper-parameters on.
    num_test: sequences to report.
    disjoint: whether no two sequences share a novel class, nor a base class where there are enough;
      else each is drawn from the same classes.
    segment_length: of `alternate`.
  """

  num_base: int
  num_novel: int
  num_pretrain: int
  numerator: float
  offset: float
  minimum: int = 0
  base_cap: int | None = None
  update_interval: int = 5000
  num_validation: int = 2
  num_test: int = 3
  disjoint: bool = False
  segment_length: int = 10_000

  @property
  def num_classes(self) -> int:
    return self.num_base + self.num_novel

  @property
  def head_above(self) -> int:
    """Classes with more samples than this are head."""
    return math.floor(self.numerator / (self.offset + 0.475 * self.num_classes))

  def counts(self) -> np.ndarray:
    """Samples by rank, [R], where there are enough."""
    ranks = np.arange(1, self.num_classes + 1)
    # Where a / (b + r) is an integer, its float may be a little less.
    exact = np.floor(self.numerator / (self.offset + ranks) + 1e-9).astype(np.int64)
    return np.maximum(exact, self.minimum)


def scaled(num_base: int, num_novel: int, most: int, **values: Any) -> Spec:
  """The paper's shape for R = num_base + num_novel classes, the most frequent with `most`."""
  offset = 0.025 * (num_base + num_novel)
  return Spec(num_base, num_novel, numerator=most * (1.0 + offset), offset=offset, **values)


PAPER = Spec(250, 750, num_pretrain=1000, numerator=25_000, offset=25, disjoint=True)
# Tiny ImageNet: pretraining on 250 images of each of 100 classes; about 7,600 samples, 18 updates.
# All 100 other classes are novel in each of the sequences, each drawn independently.
TINY = scaled(33, 100, 500, num_pretrain=100, base_cap=250, update_interval=425,
              segment_length=2_000)
# The same with three sequences that share no class, for the non-stationary variant.
TINY_DISJOINT = scaled(11, 33, 500, num_pretrain=100, base_cap=250, update_interval=180,
                       num_validation=0, disjoint=True, segment_length=950)
# 964 characters to pretrain on, 300 of the 659 others are novel: few shots in the extreme.
OMNIGLOT = scaled(100, 300, 20, num_pretrain=964, minimum=1, base_cap=10, update_interval=43,
                  segment_length=200)
# The same within the 423 characters of cfsl_omniglot's validation and test splits, for a backbone
# that was pretrained elsewhere.
OMNIGLOT_423 = dataclasses.replace(OMNIGLOT, num_pretrain=123)
# Images turned by 90, 180 and 270 degrees as further images of their class.
OMNIGLOT_TURNED = scaled(100, 300, 80, num_pretrain=964, minimum=1, base_cap=40,
                         update_interval=170, segment_length=800)
# Characters in three sequences that share no novel one, for the non-stationary variant.
OMNIGLOT_DISJOINT = scaled(70, 210, 20, num_pretrain=964, minimum=1, base_cap=10,
                           update_interval=30, num_validation=0, disjoint=True, segment_length=60)
SPECS = {"paper": PAPER, "tiny": TINY, "tiny_disjoint": TINY_DISJOINT, "omniglot": OMNIGLOT,
         "omniglot_423": OMNIGLOT_423, "omniglot_turned": OMNIGLOT_TURNED,
         "omniglot_disjoint": OMNIGLOT_DISJOINT}


@dataclasses.dataclass(frozen=True, eq=False)
class PlannedSequence:
  """The samples of one sequence, in order.

  Attributes:
    name: "validation_0", "test_2", "alternating".
    classes: the data set's own class of each of the R labels; base classes come first.
    num_base: labels below this are base classes.
    index: int64 [n], which image of the data set.
    ids: str [n], its id.
    labels: int64 [n], 0..R-1.
    segments: int64 [n], the number of the segment; 0 where there is only one.
  """

  name: str
  classes: np.ndarray
  num_base: int
  index: np.ndarray
  ids: np.ndarray
  labels: np.ndarray
  segments: np.ndarray

  def __len__(self) -> int:
    return len(self.index)

  def class_counts(self) -> np.ndarray:
    """Samples of each class, [R]."""
    return np.bincount(self.labels, minlength=len(self.classes))

  def digest(self) -> str:
    """SHA-256 of samples, labels and their order: equal digests are equal sequences."""
    lines = "\n".join(f"{i}\t{label}\t{s}" for i, label, s in zip(self.ids, self.labels,
                                                                  self.segments))
    return hashlib.sha256(f"{self.num_base}\n{lines}".encode()).hexdigest()

  def sequence(self, images: np.ndarray) -> sequences.Sequence:
    """The sequence for the protocol; `images` are those of the whole data set, in its order."""
    return sequences.Sequence(images[self.index], self.labels, list(self.ids), self.num_base,
                              num_classes=len(self.classes), segments=self.segments)


@dataclasses.dataclass(frozen=True, eq=False)
class SequencePlan:
  """The pretraining set and the sequences of a data set.

  Attributes:
    pretrain_classes: the data set's own class ids, sorted.
    novel_classes: those that may be novel, sorted.
    pretrain: int64, the images to pretrain on; none of them is in any sequence.
    validation: sequences to choose hyper-parameters on.
    test: sequences to report.
  """

  pretrain_classes: np.ndarray
  novel_classes: np.ndarray
  pretrain: np.ndarray
  validation: tuple[PlannedSequence, ...]
  test: tuple[PlannedSequence, ...]


def make(ids: Sequence[str], labels: Sequence[int], spec: Spec, seed: int, *,
         base: Sequence[int] | None = None) -> SequencePlan:
  """Makes the pretraining set and all sequences.

  Args:
    ids: [N], unique and stable; they identify the images.
    labels: [N], the class of each.
    spec: see `Spec`, and `SPECS` for those that are known.
    seed: any number >= 0; another gives other classes, ranks, images and orders.
    base: classes to pretrain on, where the data set defines them (Omniglot's background set);
      otherwise `spec.num_pretrain` of all are drawn.
  """
  names, classes_of = np.asarray(ids, dtype=np.str_), np.asarray(labels, np.int64)
  num_different = len(np.unique(names))
  if len(names) != len(classes_of) or num_different != len(names):
    raise ValueError(f"Got {len(names)} ids, {num_different} of them different, and "
                     f"{len(classes_of)} labels; give each label a different id.")
  # (classes to pretrain on, classes that may be novel), both sorted.
  classes = np.unique(classes_of)
  drawn = _rng(seed, _SHARE).permutation(classes)[:spec.num_pretrain]
  pretrain = np.unique(drawn if base is None else np.asarray(base, np.int64))
  novel = np.setdiff1d(classes, pretrain)
  num_sets = spec.num_validation + spec.num_test if spec.disjoint else 1
  num_base_sets = num_sets if spec.num_base * num_sets <= len(pretrain) else 1
  for what, got, needed in (
      ("base", len(np.intersect1d(pretrain, classes)), spec.num_base * num_base_sets),
      ("novel", len(novel), spec.num_novel * num_sets)):
    if got < needed:
      raise ValueError(f"The data set has {got} {what} classes, {needed} are needed. Take a "
                       "smaller spec (`scaled`), or one whose sequences share classes "
                       "(disjoint=False).")
  pretrain_classes, novel_classes = pretrain, novel
  # Images that may be in sequences, by class, and images to pretrain on.
  shared: dict[int, np.ndarray] = {}
  kept: list[np.ndarray] = []
  for label in pretrain_classes:
    members = np.flatnonzero(classes_of == label)
    members = _rng(seed, _SHARE, int(label)).permutation(members[np.argsort(names[members])])
    half = len(members) // 2
    num_shared = half if spec.base_cap is None else min(spec.base_cap, half)
    shared[int(label)] = members[:num_shared]
    kept.append(np.sort(members[num_shared:]))
  for label in novel_classes:
    members = np.flatnonzero(classes_of == label)
    shared[int(label)] = members[np.argsort(names[members])]
  roles = ([f"{VALIDATION}_{i}" for i in range(spec.num_validation)]
           + [f"{TEST}_{i}" for i in range(spec.num_test)])
  planned = [_planned(role, names, shared, *chosen, spec=spec, seed=[seed, number])
             for number, (role, chosen) in enumerate(zip(
                 roles, _choose(pretrain_classes, novel_classes, spec, seed, len(roles))))]
  return SequencePlan(
      pretrain_classes, novel_classes, np.concatenate(kept), tuple(planned[:spec.num_validation]),
      tuple(planned[spec.num_validation:]))


def _rng(*numbers: int) -> np.random.Generator:
  return np.random.Generator(np.random.PCG64(np.random.SeedSequence([300, *numbers])))


def _choose(pretrain_classes: np.ndarray, novel_classes: np.ndarray, spec: Spec, seed: int,
            num_sequences: int) -> list[tuple[np.ndarray, np.ndarray]]:
  """(base, novel) classes of each sequence, each sorted."""
  chosen: list[list[np.ndarray]] = []
  for pool, size in ((pretrain_classes, spec.num_base), (novel_classes, spec.num_novel)):
    if spec.disjoint and size * num_sequences <= len(pool):
      order = _rng(seed, _RANKS).permutation(pool)
      parts = [order[i * size:(i + 1) * size] for i in range(num_sequences)]
    else:
      parts = [_rng(seed, _RANKS, i).permutation(pool)[:size] for i in range(num_sequences)]
    chosen.append([np.sort(part) for part in parts])
  return list(zip(chosen[0], chosen[1]))


def _planned(name: str, ids: np.ndarray, images: dict[int, np.ndarray], base: np.ndarray,
            novel: np.ndarray, *, spec: Spec, seed: Sequence[int]) -> PlannedSequence:
  """One sequence: classes to ranks, images of each, and the shuffle."""
  rng = _rng(*seed, _ORDER)
  classes = np.concatenate([base, novel])
  labels_by_rank = rng.permutation(len(classes))
  index, labels = [], []
  for label, count in zip(labels_by_rank, spec.counts()):
    available = images[int(classes[label])]
    drawn = rng.permutation(available)[:count]
    index.append(drawn)
    labels.append(np.full(len(drawn), label))
  order = rng.permutation(sum(len(one) for one in index))
  chosen = np.concatenate(index)[order]
  return PlannedSequence(name, classes, len(base), chosen, ids[chosen],
                         np.concatenate(labels)[order], np.zeros(len(chosen), np.int64))


def alternate(planned: Sequence[PlannedSequence], segment_length: int, num_segments: int = 10
              ) -> PlannedSequence:
  """The non-stationary variant (appendix Q): segments of several sequences in turn.

  Each continues after its last segment; at its end a segment is shorter or empty. The paper does
  not define the labels of the merged sequence: here the base classes of all come first.
  """
  base = np.unique(np.concatenate([one.classes[:one.num_base] for one in planned]))
  novel = np.unique(np.concatenate([one.classes[one.num_base:] for one in planned]))
  both = np.intersect1d(base, novel)
  if len(both):
    raise ValueError(f"Class {both[0]} is base in one sequence and novel in another; sequences "
                     "that are merged must agree.")
  classes = np.concatenate([base, novel])
  label_of = {int(one): label for label, one in enumerate(classes)}
  index, ids, labels, segments = [], [], [], []
  for segment in range(num_segments):
    one, start = planned[segment % len(planned)], segment // len(planned) * segment_length
    part = slice(start, start + segment_length)
    index.append(one.index[part])
    ids.append(one.ids[part])
    labels.append([label_of[int(one.classes[label])] for label in one.labels[part]])
    segments.append(np.full(len(one.index[part]), segment))
  all_ids = np.concatenate(ids)
  if len(np.unique(all_ids)) != len(all_ids):
    raise ValueError(f"{len(all_ids) - len(np.unique(all_ids))} samples are in more than one "
                     "segment. Merge sequences of a spec with disjoint=True.")
  return PlannedSequence("alternating", classes, len(base), np.concatenate(index), all_ids,
                np.concatenate(labels).astype(np.int64), np.concatenate(segments))


def sections(planned: PlannedSequence, head_above: int) -> dict[str, np.ndarray]:
  """The four cross-sections of classes, bool [R] each: head has more samples than `head_above`."""
  counts = planned.class_counts()
  is_base = np.arange(len(counts)) < planned.num_base
  is_head = counts > head_above
  return {"pretrain_head": is_base & is_head, "pretrain_tail": is_base & ~is_head,
          "novel_head": ~is_base & is_head, "novel_tail": ~is_base & ~is_head}
