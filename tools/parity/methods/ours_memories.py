# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the suite's memories hold, and what its heads do after a phase."""

from __future__ import annotations

import memory_fixtures
import method_fixtures
import numpy as np
import tensorflow as tf

from suite.training.gradient import class_heads
from suite.training.memories import memory
from suite.training.memories import reservoir

Arrays = method_fixtures.Arrays


def _memory(rule: memory.Rule, arrays: Arrays, seed: int = 0, num_classes: int = 10
            ) -> memory.Memory:
  """A memory of the numbers of rows."""
  found = memory.Memory(int(arrays["capacity"]), rule)
  found.build([], tf.int64, seed=(seed, 1), num_classes=num_classes)
  return found


def herding(arrays: Arrays) -> Arrays:
  kept, found = _memory(reservoir.GroupBalanced("class", keep="herding"), arrays), {}
  picks: dict[int, int] = {}
  for phase, (rows, _) in enumerate(method_fixtures.in_phases(arrays)):
    labels, features = arrays["train_labels"][rows], arrays["train"][rows]
    kept.add(tf.constant(rows), tf.constant(labels), features=tf.constant(features))
    order = reservoir.herded(features, labels, len(rows))
    picks.update(zip(rows.tolist(), order.tolist()))
    held = kept.held()
    pairs = zip(held.labels.numpy().tolist(), held.codes.numpy().tolist())
    found[f"phase_{phase}"] = np.array(
        [row for _, _, row in sorted((label, picks[row], row) for label, row in pairs)], np.int32)
  return found


def reservoir_rule(arrays: Arrays) -> Arrays:
  held = []
  for seed in range(int(arrays["num_seeds"])):
    kept = _memory(reservoir.Reservoir(), arrays, seed)
    rows = tf.range(int(arrays["rows"]), dtype=tf.int64)
    kept.add(rows, tf.zeros_like(rows))
    held.append(kept.held().codes.numpy())
  return memory_fixtures.shares_by_age(np.array(held), int(arrays["rows"]))


def greedy(arrays: Arrays) -> Arrays:
  held = []
  for seed in range(int(arrays["num_seeds"])):
    kept = _memory(reservoir.GroupBalanced("class"), arrays, seed)
    kept.add(tf.range(len(arrays["labels"]), dtype=tf.int64), tf.constant(arrays["labels"]))
    held.append(np.sort(kept.held().codes.numpy()))
  return memory_fixtures.counts_and_places(np.array(held), arrays["labels"])


def bias(arrays: Arrays) -> Arrays:
  """Without the prior, which the authors do not have."""
  is_new = np.arange(arrays["logits"].shape[1]) >= int(arrays["num_old"])
  found, _ = class_heads.bias_of(arrays["logits"], is_new, arrays["labels"], 1e-12)
  return {"alpha and beta": found}


def aligned(arrays: Arrays) -> Arrays:
  num_features, num_classes = arrays["kernel"].shape
  head = class_heads.Aligned()
  model = head.make(num_features, num_classes, is_input=True)
  head.attach(model, num_classes)
  is_old = np.arange(num_classes) < int(arrays["num_old"])
  for now in (is_old, ~is_old):
    head.note_classes(tf.constant(now))
    head.kernel.assign(arrays["kernel"])
    head.after_phase(now.astype(np.int64))
  return {"kernel": head.kernel.numpy()}
