# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLIP's answers by the names of classes, without any image (Radford et al., 2021, section 3.1).

    logit of class c    100 cos(f(x), t_c)    t_c = mean direction of g("a photo of a NAME.")

f is the image tower, g the text tower; both stay as they are. A learner is given names with the
data of its task (`class_names` of the training split), or once for all tasks. A class is known as
soon as its name is. In class-incremental learning this is the baseline that needs no training
(Thengane et al., 2022, Continual-CLIP).

The other baseline, class means of f, is `StatisticsLearner` with `class_means.ClassMeans("cosine")`
and the features `image_tower(folder)`.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import pathlib
import time
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import refusals
from suite.contracts import spending
from suite.learners import statistics_learner
from suite.models.clip import byte_pairs
from suite.models.clip import weight_files
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.statistics import class_means

TEMPLATES = ("a photo of a {}.",)


@functools.lru_cache(maxsize=1)  # Learners of one run have one CLIP, which nothing changes.
def _towers(folder: str, name: str | None) -> weight_files.Towers:
  return weight_files.load(pathlib.Path(folder), name)


def image_tower(folder: str, name: str | None = None) -> frozen_backbone.FrozenBackbone:
  """The image tower of a CLIP as features [B, E]; see `weight_files.load` for the arguments."""
  return _features(_towers(folder, name))


def _features(towers: weight_files.Towers) -> frozen_backbone.FrozenBackbone:
  return frozen_backbone.FrozenBackbone(towers.image, towers.clip.image.image_size)


class ClipZeroShot(statistics_learner.StatisticsLearner):
  """Answers by cosines with the names of classes; see the module. No label and no image changes it.

  Args:
    folder: of the CLIP's weights and vocabulary, see `models.clip`.
    transform: image preparation to the size of the image tower.
    name: of a published architecture; None: what the files say.
    templates: of texts, with one place {} for the name each.
    class_names: names in the order of the labels, of all tasks; None: those of the data.
    scale: multiplies cosines; that of the published models.
  """

  deliveries = (deliveries_lib.TASKS, deliveries_lib.BUCKETS, deliveries_lib.SEQUENCE)
  can_update = can_learn_stored = can_answer_in_turn = False

  def __init__(self, folder: str, *, transform: examples.Transform, name: str | None = None,
               templates: Sequence[str] = TEMPLATES, class_names: Sequence[str] | None = None,
               scale: float = 100.0):
    wrong = [one for one in templates if one.count("{}") != 1]
    if wrong or not templates:
      raise ValueError(f"ClipZeroShot.templates are {list(templates)}; each needs one {{}}, where "
                       "the name of the class goes, for example 'a photo of a {}.'.")
    towers = _towers(folder, name)
    super().__init__(class_means.ClassMeans("cosine"), transform=transform,
                     features=_features(towers))
    text = towers.clip.text
    self._pairs = byte_pairs.load(pathlib.Path(folder), text.vocabulary, text.length)
    self._text = lambda: towers.text  # Not trained, and no part of a checkpoint.
    self._templates, self._class_names = tuple(templates), class_names
    self._scale = scale

  @override
  @spending.event
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Reads the names of the classes that have come."""
    names = self._class_names or experience.train.class_names
    return self._read(names, experience.task.key, context)

  @override
  @spending.event
  def know_base(self, known: np.ndarray, context: context_lib.Context) -> dict[str, Any]:
    """Reads the names that the learner was given; without them there are none yet."""
    return self._read(self._class_names, self._key, context)

  def _read(self, names: Sequence[str] | None, key: str, context: context_lib.Context
            ) -> dict[str, Any]:
    """Gives the classes that have none yet the directions of their names."""
    began, statistics = time.monotonic(), self.statistics
    if names is None or len(names) < statistics.num_classes:
      num = statistics.num_classes
      raise refusals.RefusedError(
          f"Task {key!r} has {num} classes and {len(names or ())} names of them; "
          "ClipZeroShot answers by names. Give the data class_names, or the learner those of all "
          "labels in order.")
    sums, counts = statistics.state.sums.numpy(), statistics.state.counts.numpy()
    new = np.flatnonzero(counts == 0)
    if context.is_over:
      return {"classes_with_a_mean": statistics.num_nonempty}
    context.grant(1)
    sums[new], cost = self._encoded([names[place] for place in new])
    counts[new] = 1
    statistics.state.sums.assign(sums)
    statistics.state.counts.assign(counts)
    context.charge(cost, began=began)
    self._solve(context)
    return {"classes_with_a_mean": statistics.num_nonempty}

  def _encoded(self, names: Sequence[str]) -> tuple[np.ndarray, flops.Cost]:
    """Directions [n, E] of the names, and their cost."""
    if not names:
      return np.zeros([0, self._num_features], np.float32), flops.ZERO
    texts = [template.replace("{}", name.replace("_", " ")) for name in names
             for template in self._templates]
    tower = self._text()
    found = tf.math.l2_normalize(tower(tf.constant(self._pairs.batch(texts)), training=False), 1)
    means = tf.reduce_mean(tf.reshape(found, [len(names), len(self._templates), -1]), axis=1)
    graph = tf.function(lambda ids: tower(ids, training=False), autograph=False)
    each = flops.count(graph.get_concrete_function(
        tf.TensorSpec([1, self._pairs.length], tf.int32)))
    return tf.math.l2_normalize(means, axis=1).numpy(), each * len(texts)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of codes [B, E]; -inf for classes without a name yet."""
    return self._scale * super().answer(codes)
