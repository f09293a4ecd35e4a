# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID (Wallingford et al., 2020): one sample at a time, from a sequence with old and new classes.

At step t of the sequence: sample x_t is delivered, the learner answers with one of the K classes
known so far or with "new", then y_t is revealed and the learner may update. A class is known from
pretraining (the base classes) or from the step at which its label was first revealed. Both accuracy
and compute are scored.

    answer    the known class with the largest logit, or "new" if that logit is below a threshold;
              right if it is y_t, or "new" at the first sight of a class
    closed    the same without "new", wrong at every first sight (what the authors' code reports)

Steps run in blocks, for speed only: a block is one compiled loop in which the label of a sample
goes to the learner after its answer has come out, so every answer is that of one step at a time,
whatever the block size.
"""

from __future__ import annotations

import math
import time
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.data import experience
from suite.data import image_set
from suite.data import sequences
from suite.data import streams
from suite.data import tasks
from suite.learners import learner as learner_lib
from suite.metrics import classification
from suite.metrics import online
from suite.protocols import run_state


def run(
    learner: learner_lib.StreamLearner,
    *,
    state: run_state.RunState,
    sequence: sequences.Sequence,
    base: Optional[image_set.ImageSet] = None,
    validation_share: float = 0.1,
    block_size: int = 50,
    new_below: float = -math.inf,
    head_above: int = 50,
) -> Dict[str, Any]:
  """Runs the sequence from where `state` is; returns the summary (see `summarise`).

  Args:
    base: training images of the base classes, learned before the first step and charged to
      "pretrain"; without them no class is known at first, and all are novel.
    validation_share: the part of `base` that is delivered as its validation split.
    block_size: steps in one compiled call and in one record.
    new_below: a largest logit below this is answered with "new". Where logits are minus squared
      distances it is -d^2 for the least distance d of a new class.
    head_above: classes with more samples than this in the sequence are head, the others tail.
  """
  task = tasks.Task("sequence", tasks.SINGLE_LABEL, sequence.num_classes)
  state.resume(learner, begin=[task] * min(state.done, 1))
  steps, blocks = _Steps(learner, task.num_classes), _blocks(len(sequence), block_size)
  num_before = int(base is not None)
  for event in range(state.done, num_before + len(blocks)):
    predictions = None
    if base is not None and event == 0:
      context = state.context(phase="pretrain")
      learner.begin(task, context)
      split = base.split(validation_share, seed=state.seeds.integer("validation"))
      delivered = experience.Experience(task, *split, experience.History())
      record = {"kind": streams.TRAIN, "train_size": delivered.train.size,
                "validation_size": delivered.validation.size, **learner.learn(delivered, context)}
    else:
      learner.begin(task, state.context())
      block = blocks[event - num_before]
      logging.info("Steps %d to %d of %d", block.start, block.stop, len(sequence))
      logits, labels = steps.run(sequence, block, state.ledger)
      known = known_before(labels, known_classes(state.records, sequence, base))
      record, predictions = score(logits, labels, known, new_below)
      record = {"kind": streams.PREDICT, "first_step": block.start, **record,
                **_so_far(record, state.records)}
      predictions["ids"] = sequence.ids[block.start:block.stop]
    state.commit({"protocol": "fluid", "task": task.name, "task_key": task.key,
                  "num_classes": task.num_classes, **record}, predictions)
  return summarise(state.records, sequence, base, head_above)


def _blocks(num_steps: int, block_size: int) -> Sequence[range]:
  if block_size < 1:
    raise ValueError(f"block_size={block_size}; a block has at least one step.")
  return [range(s, min(s + block_size, num_steps)) for s in range(0, num_steps, block_size)]


class _Steps:
  """A block of steps in one compiled call."""

  def __init__(self, learner: learner_lib.StreamLearner, num_classes: int):
    missing = [name for name in ("encode", "answer", "update") if not hasattr(learner, name)]
    if missing:
      raise ValueError(
          f"{type(learner).__name__} cannot learn one sample at a time: it has no "
          f"{', '.join(missing)}. Take a learner that has, for example NearestMean, or add them "
          "(see StreamLearner).")
    self._learner, self._num_classes = learner, num_classes
    self.block = tf.function(self._block)
    self._costs: Dict[Tuple[int, ...], Tuple[flops.Cost, flops.Cost]] = {}

  def _block(self, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C]; label t is not touched before answer t is there."""
    codes = self._learner.encode(images)
    logits = tf.TensorArray(tf.float32, images.shape[0], element_shape=[self._num_classes])
    for t in tf.range(images.shape[0]):
      logits = logits.write(t, self._learner.answer(codes[t]))
      self._learner.update(codes[t], labels[t])
    return logits.stack()

  def run(self, sequence: sequences.Sequence, block: range, ledger: ledger_lib.Ledger
          ) -> Tuple[np.ndarray, np.ndarray]:
    """Logits [B, C] and labels [B] of the steps of a block."""
    began = time.monotonic()
    images = self._learner.transform.evaluate(np.stack([sequence.deliver(t) for t in block]))
    labels = np.array([sequence.reveal(t) for t in block], np.int64)
    logits = self.block(images, tf.constant(labels)).numpy()
    predict, train = self.cost(images)
    # One clock for both: answers and updates take turns inside the call.
    ledger.charge("predict", flops=predict.flops, macs=predict.macs, examples=len(block),
                  seconds=time.monotonic() - began)
    ledger.charge("train", flops=train.flops, macs=train.macs, examples=len(block))
    return logits, labels

  def cost(self, images: tf.Tensor) -> Tuple[flops.Cost, flops.Cost]:
    """What the answers and what the updates of a block cost."""
    shape = tuple(images.shape)
    if shape not in self._costs:
      encode = tf.function(self._learner.encode).get_concrete_function(
          tf.TensorSpec(images.shape, images.dtype))
      code = tf.TensorSpec(encode.output_shapes[1:], encode.output_dtypes)
      answer = tf.function(self._learner.answer).get_concrete_function(code)
      update = tf.function(self._learner.update).get_concrete_function(
          code, tf.TensorSpec([], tf.int64))
      self._costs[shape] = (
          flops.count(encode) + flops.count(answer) * shape[0], flops.count(update) * shape[0])
    return self._costs[shape]


def known_classes(records: Sequence[Mapping[str, Any]], sequence: sequences.Sequence,
                  base: Optional[image_set.ImageSet]) -> np.ndarray:
  """Which classes are known after these records: bool [C]."""
  known = np.arange(sequence.num_classes) < _num_base(sequence, base)
  for record in records:
    known[record.get("labels", [])] = True
  return known


def _num_base(sequence: sequences.Sequence, base: Optional[image_set.ImageSet]) -> int:
  return 0 if base is None else sequence.num_base_classes


def known_before(labels: np.ndarray, known: np.ndarray) -> np.ndarray:
  """Which classes are known at each step: labels [B], known at the start [C] -> bool [B, C]."""
  revealed = np.eye(len(known), dtype=np.int64)[labels]
  return known | (np.cumsum(revealed, axis=0) - revealed > 0)


def score(logits: np.ndarray, labels: np.ndarray, known: np.ndarray, new_below: float
          ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
  """The record of a block, and its predictions.

  Args:
    logits: [B, C]. labels: [B]. known: bool [B, C], see `known_before`.
    new_below: see `run`.

  Returns:
    record: with lists of B values. An answer of C is "new"; -1 is none, from a diverged learner, or
      for "closed" while no class is known. known_scores are the largest logits of known classes,
      null if there is none.
    predictions: "new" is their top-1 C; the true class of a first sight has probability 0.
  """
  masked = np.where(known, logits, -np.inf)
  best = np.max(masked, axis=1)
  closed = np.where(np.isneginf(best), -1, classification.top1(masked))
  answers = np.where(np.isneginf(best) | (best < new_below), logits.shape[1], closed)
  is_new = ~known[np.arange(len(labels)), labels]
  correct = answers == np.where(is_new, logits.shape[1], labels)
  record = {
      "seen": len(labels), "correct": int(np.sum(correct)),
      "error": classification.error(int(np.sum(correct)), len(labels)),
      "closed_correct": int(np.sum(closed == labels)), "new": int(np.sum(is_new)),
      "labels": labels.tolist(), "answers": answers.tolist(), "closed_answers": closed.tolist(),
      "known_scores": [float(b) if np.isfinite(b) else None for b in best]}
  return record, dict(
      labels=labels, top1=answers, correct=correct,
      true_class_probability=classification.true_class_probability(masked, labels))


def _so_far(record: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Dict[str, int]:
  """Running counts over the sequence, this block included."""
  before = records[-1] if records else {}
  return {f"{name}_so_far": before.get(f"{name}_so_far", 0) + record[name]
          for name in ("seen", "correct", "closed_correct", "new")}


def summarise(records: Sequence[Mapping[str, Any]], sequence: sequences.Sequence,
              base: Optional[image_set.ImageSet], head_above: int) -> Dict[str, Any]:
  """The scores a paper would print, from records alone.

  "flops" and "macs" are of the whole run; the steps' own are those of phases "predict" and "train",
  the base classes' those of all other phases.
  """
  blocks = [r for r in records if r["kind"] == streams.PREDICT]
  labels, answers, closed = (
      np.concatenate([r[name] for r in blocks]) for name in ("labels", "answers", "closed_answers"))
  known = range(_num_base(sequence, base))
  is_new = online.first_sights(labels, known)
  correct = answers == np.where(is_new, sequence.num_classes, labels)
  summary = {
      "protocol": "fluid", "stream": f"{len(sequence)} samples", "num_events": len(records),
      **online.summary(correct, labels, known, threshold=head_above),
      "closed": online.summary(closed == labels, labels, known, threshold=head_above),
      **online.new_class_detection(_scores(blocks), is_new, high_means="known"),
      "new_class_score": "largest logit of a known class, high means known",
      **ledger_lib.costs(records[-1])}
  return run_state.plain(summary)


def _scores(blocks: Sequence[Mapping[str, Any]]) -> np.ndarray:
  """Largest logits of known classes, [n]; below all others where no class was known."""
  scores = np.array([s for r in blocks for s in r["known_scores"]], np.float64)  # None becomes NaN.
  lowest = np.nanmin(scores) if np.isfinite(scores).any() else 0.0
  return np.where(np.isnan(scores), lowest - 1.0, scores)
