# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners that train in FLUID's offline phases and try not to forget; each is made of parts.

                  loss                        memory      rows of a phase
  LwF             objectives.Lwf                       all that is stored
  EWC             objectives.Ewc                       all
  ER              objectives.CrossEntropy  Reservoir   the new ones, and as many of the memory
  ER-ACE          objectives.ErAce         Reservoir   all, and rows of the memory
  DER, DER++      objectives.Dark          Reservoir   all, and rows of the memory
  MAML            CrossEntropy                            all; meta=FirstOrder, head="zeros"
  ProtoMAML       CrossEntropy                            all; meta=FirstOrder, head="prototypes"

"All" is how the paper trains (its MACs say so for DER, too): storage is not limited there. A memory
gets the new samples at the end of a phase, with the logits of the net that has learned them.
Velocities are kept from phase to phase, as in the authors' code.

As in `StreamTuner`, the base classes train the head alone, on features of the net as it is: it was
pretrained elsewhere, or is meta-trained first. With prototypes a class that nothing was trained on
has a logit of -inf and is never the answer; else it has 0.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Optional, Tuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.compute import seeds as seeds_lib
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.state import context as context_lib
from suite.training.episodic import fomaml
from suite.training.gradient import sgd
from suite.training.memories import memory as memory_lib
from suite.training.memories import replay as replay_lib
from suite.training.sequence import objectives
from suite.training.sequence import replay_loop
from suite.training.sequence import replay_net

TRAIN_ON = ("all", "new")


class StreamReplay(tf.Module):
  """An `OfflineLearner` for one sequence.

  Args:
    transform: image preparation; its `size` is H = W. Images are augmented where all is trained.
    features, backbone, weights: see `ReplayNet`.
    loss: None is `CrossEntropy`. memory, meta: see the module.
    head: how a class's weights begin: "zeros" or "prototypes", see `replay_net`.
    train_on: "all" that is stored, or what is "new" since the last phase.
    epochs: of a phase.
    batch_size: B. replay_batch: R, rows of the memory in each step besides.
    learning_rate, momentum, weight_decay: see `sgd.Sgd`.
    observe_batch: base images that Fisher information is estimated on at once.
  """

  def __init__(
      self,
      *,
      transform: Any,
      features: Optional[Callable[[tf.Tensor], tf.Tensor]] = None,
      backbone: Optional[Callable[..., tf.keras.Model]] = None,
      weights: Optional[str] = None,
      loss: Optional[objectives.CrossEntropy] = None,
      memory: Optional[memory_lib.Memory] = None,
      meta: Optional[fomaml.FirstOrder] = None,
      head: str = "zeros",
      train_on: str = "all",
      epochs: int = 4,
      base_epochs: int = 20,
      base_learning_rate: float = 0.1,
      batch_size: int = 256,
      replay_batch: int = 128,
      learning_rate: float = 0.01,
      momentum: float = 0.9,
      weight_decay: float = 1e-4,
      observe_batch: int = 32,
  ):
    super().__init__()
    replay_net.checked(head, features, backbone)
    _check(train_on, memory, meta, features, epochs, batch_size, learning_rate)
    self.transform = transform
    self._net: Dict[str, Any] = dict(features=features, backbone=backbone, weights=weights)
    self.loss, self.meta = loss or objectives.CrossEntropy(), meta
    self.replay: Optional[replay_lib.Replay] = None
    if memory is not None:
      self.replay = replay_lib.Replay(memory, with_logits=self.loss.reads_logits)
    self._head, self._train_on = head, train_on
    self._epochs, self._base = epochs, (base_epochs, base_learning_rate)
    self._batch_size, self._replay_batch = batch_size, replay_batch if memory else 0
    self._rate, self._momentum, self._decay = learning_rate, momentum, weight_decay
    self._observe_batch = observe_batch
    self._task: Optional[tasks.Task] = None

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    if self._task is not None:
      return
    if task.kind != tasks.SINGLE_LABEL:
      raise ValueError(f"Task {task.key} is {task.kind}; StreamReplay has one class an image. Take "
                       f"{tasks.SINGLE_LABEL} tasks.")
    self._task, num = task, task.num_classes
    # Of the run, not of the event: a run that goes on begins in another event.
    seeds = seeds_lib.Seeds(context.seeds.seed, "stream replay")
    self.net = replay_net.ReplayNet(
        size=self.transform.size, num_classes=num, seed=seeds.integer("weights"), **self._net)
    model = self.net.model
    self.loss.build(model)
    if self.replay is not None:
      self.replay.build(num, seed=seeds.pair("memory"))
    self.optimizer = sgd.Sgd(
        model.trainable_variables, momentum=self._momentum, weight_decay=self._decay)
    augment = None if self.net.backbone is None else self.transform.train
    self._loop = replay_loop.StreamLoop(
        model, loss=self.loss, optimizer=self.optimizer, rate=self._rate, augment=augment,
        replay=self.replay)
    self.base, self.trained = (_masks(num, name) for name in ("base_classes", "trained_classes"))
    self.num_learned = tf.Variable(0, dtype=tf.int64, trainable=False, name="samples_learned")
    shape, dtype = model.input_shape[1:], tf.float32 if augment is None else tf.uint8
    # The base classes' validation images, for a penalty that observes them; how many is not known.
    self.observed = _open(shape if self.loss.observes else (0,), dtype, "observed_codes")
    self.observed_labels = _open((), tf.int64, "observed_labels")
    if self.meta is not None:
      self.meta.build(self.net.backbone, self._head)

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] if they are frozen, else the images."""
    return self.net.encode(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] of codes [B, ...]."""
    logits = self.net.logits(codes)
    if self._head == "zeros":
      return logits
    return tf.where(self.trained, logits, -float("inf"))

  def learn(self, experience: Any, context: context_lib.Context) -> Dict[str, Any]:
    """Base classes: meta-training if there is any, then the head, on the training split."""
    assert self._task is not None
    read = example_arrays.read([experience.train], self._task, self.transform)
    labels = tf.constant(read.labels, tf.int64)
    record: Dict[str, Any] = {}
    if self.meta is not None:
      record = self.meta.train(read.images, read.labels, context)
    began = time.monotonic()
    codes, cost = self._codes(read.images)
    features, spent = self._loop.forward("features", self.net.features, codes)
    self.base.assign(np.bincount(read.labels, minlength=self._task.num_classes) > 0)
    self._start_classes(features, labels)
    epochs, rate = self._base
    if epochs:
      # Its velocities are forgotten.
      optimizer = sgd.Sgd(self.net.head.trainable_variables, momentum=self._momentum,
                          weight_decay=self._decay)
      loop = replay_loop.StreamLoop(self.net.head, loss=objectives.CrossEntropy(),
                                    optimizer=optimizer, rate=rate)
      phase = self._plan(len(read.labels), epochs, 0, context)
      classes = objectives.Classes(*[self.base.read_value()] * 3)
      record["train_loss"], trained = loop.train(features, labels, classes, phase)
      cost += trained
    self._charge(context, cost + spent, len(read.labels) * epochs, began)
    self._remember(experience, context)
    return {"base_classes": int(tf.math.count_nonzero(self.base)), **record}

  def _codes(self, images: np.ndarray) -> Tuple[tf.Tensor, flops.Cost]:
    if self.net.backbone is not None:
      return tf.constant(images), flops.ZERO
    return self._loop.forward("encode", self.encode, tf.constant(images))

  def _remember(self, experience: Any, context: context_lib.Context) -> None:
    """The net that has learned the base classes is what a penalty stays near to."""
    assert self._task is not None
    if self.loss.observes:
      began = time.monotonic()
      read = example_arrays.read([experience.validation], self._task, self.transform)
      codes, cost = self._codes(read.images)
      self.observed.assign(codes)
      self.observed_labels.assign(read.labels)
      self._charge(context, cost + self._observe(self.base), len(read.labels), began)
    self.loss.remember()

  def _observe(self, known: Any) -> flops.Cost:
    return self._loop.observe(self.observed.read_value(), self.observed_labels.read_value(),
                              tf.convert_to_tensor(known), self._observe_batch)

  def learn_stored(self, stored: stored_samples.Stored, context: context_lib.Context
                   ) -> Dict[str, Any]:
    """An offline phase."""
    began, num = time.monotonic(), len(stored.labels)
    codes, labels = tf.constant(stored.codes), tf.constant(stored.labels, tf.int64)
    seen = np.bincount(stored.labels, minlength=len(stored.known)) > 0
    classes = objectives.Classes(tf.constant(stored.known), tf.constant(seen),
                                    self.base.read_value())
    first = stored.num_old if self._train_on == "new" else 0
    cost, observed = self._refresh(stored.known)
    spent, started = self._start_new(codes, labels)
    held = 0 if self.replay is None else self.replay.size
    phase = self._plan(num - first, self._epochs, held, context)
    loss, trained = self._loop.train(codes, labels, classes, phase, first)
    more, entered = self._memorise(codes, labels, stored)
    self.num_learned.assign(num)
    if not np.isfinite(loss):
      logging.warning("The offline phase on %d samples diverged; lower the learning rate, now %g.",
                      num, self._rate)
    rows = self._epochs * (num - first) + phase.num_replayed
    self._charge(context, cost + spent + trained + more, rows, began, phase.num_steps)
    record = {"passes": rows + observed, "train_loss": loss,
              "teacher_passes": rows * self.loss.has_teacher + started + entered}
    return record if self.replay is None else {**record, "memory_held": self.replay.size}

  def _refresh(self, known: np.ndarray) -> Tuple[flops.Cost, int]:
    """What a penalty does before a phase; its cost, and how many images it was shown."""
    num = int(tf.size(self.observed_labels))
    if not num:
      return flops.ZERO, 0
    cost = self._observe(known)
    self.loss.refresh()
    return cost, num

  def _start_classes(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """The weights of the classes of labels int64 [N] begin, from features [N, D]."""
    if self._head == "prototypes":
      self.net.set_prototypes(features, labels)
      self.trained.scatter_update(tf.IndexedSlices(tf.ones_like(labels, tf.bool), labels))

  def _start_new(self, codes: tf.Tensor, labels: tf.Tensor) -> Tuple[flops.Cost, int]:
    """The same for classes that are new; cost, and how many samples went through the net."""
    new = tf.where(~tf.gather(self.trained, labels))[:, 0]
    if self._head == "zeros" or not int(tf.size(new)):
      return flops.ZERO, 0
    features, cost = self._loop.forward("features", self.net.features, tf.gather(codes, new))
    self._start_classes(features, tf.gather(labels, new))
    return cost, int(tf.size(new)) if self.net.backbone is not None else 0

  def _memorise(self, codes: tf.Tensor, labels: tf.Tensor, stored: stored_samples.Stored
                ) -> Tuple[flops.Cost, int]:
    """Offers the new samples to the memory; cost and number of those that went through the net."""
    if self.replay is None:
      return flops.ZERO, 0
    first, cost = stored.num_old, flops.ZERO
    logits = tf.zeros([len(stored.labels) - first, 0])
    if self.loss.reads_logits:
      logits, cost = self._loop.forward("logits", self.net.logits, codes[first:])
      logits = tf.where(stored.known, logits, np.nan)
    self.replay.add(first, labels[first:], logits)
    return cost, int(logits.shape[0]) if self.loss.reads_logits else 0

  def _plan(self, size: int, epochs: int, held: int, context: context_lib.Context
            ) -> replay_loop.Plan:
    return replay_loop.plan(
        size, epochs, self._batch_size, held, self._replay_batch, context.seeds.pair("order"),
        context.seeds.pair("memory order"))

  def _charge(self, context: context_lib.Context, cost: flops.Cost, examples: int, began: float,
              steps: int = 0) -> None:
    context.ledger.charge(
        context.phase, flops=cost.flops, macs=cost.macs, examples=examples, steps=steps,
        seconds=time.monotonic() - began, peak_bytes=context.distribution.peak_bytes())

  def stored_macs(self, num_stored: int) -> Optional[int]:
    """Prototypes of new classes apart, whose samples are not known before."""
    backbone, head = self.mac_layers()
    each = mac_views.costs([*backbone, *head])
    one = each.cached_pass if self.net.backbone is None else each.uncached_pass
    forward = each.forward if self.net.backbone is not None else head[0].macs
    new = num_stored - int(self.num_learned)
    rows = self._epochs * (new if self._train_on == "new" else num_stored)
    if self.replay is not None and self.replay.size:
      rows += -(-rows // self._batch_size) * self._replay_batch
    teacher = rows * self.loss.has_teacher + new * self.loss.reads_logits
    return (rows + int(tf.size(self.observed_labels))) * one + teacher * forward

  def mac_layers(self) -> Any:
    """Layers of the backbone, and the head."""
    return self.net.mac_layers()


def _masks(num: int, name: str) -> tf.Variable:
  return tf.Variable(tf.zeros([num], tf.bool), trainable=False, name=name)


def _open(shape: Tuple[int, ...], dtype: tf.DType, name: str) -> tf.Variable:
  """Rows of this shape, none as yet."""
  return tf.Variable(tf.zeros([0, *shape], dtype), trainable=False, shape=[None, *shape], name=name)


def _check(train_on: str, memory: Any, meta: Any, features: Any, epochs: int, batch_size: int,
           learning_rate: float) -> None:
  if train_on not in TRAIN_ON:
    raise ValueError(f"StreamReplay.train_on is {train_on!r}; allowed are {', '.join(TRAIN_ON)}.")
  if meta is not None and (features is not None or memory is not None):
    raise ValueError("StreamReplay.meta trains a backbone that later phases train on; leave out "
                     "features and memory, or meta.")
  for name, value in (("epochs", epochs), ("batch_size", batch_size),
                      ("learning_rate", learning_rate)):
    if not value > 0:
      raise ValueError(f"StreamReplay.{name} is {value}; it must be above 0.")
