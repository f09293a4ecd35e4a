# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One training run of one trial: validation every N steps, best weights kept, resumable inside.

Facts of NEVIS'22 (section 5 and appendix): SGD with Nesterov momentum 0.9, L2 weight decay 1e-4,
linear warm-up of 7 epochs, then cosine; the weights with the lowest validation error are the
result. Every validation, that of step 0 included, is charged to the ledger's phase "validate"; the
reference code charges none, so the paper's FLOPs are those of the other phases.

The batch size that fits a training set (NEVIS'22, equation 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import math
import time
from typing import Any

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.compute import seeds as seeds_lib
from suite.compute import user_code
from suite.contracts import deliveries
from suite.contracts import examples as examples_lib
from suite.contracts import spending
from suite.contracts import tasks
from suite.data.images import image_set
from suite.metrics import classification
from suite.state import context as context_lib
from suite.training.gradient import network as network_lib
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.multitask import auxiliary as auxiliary_lib
from suite.training.scoring import scoring

FRACTION = 0.0025  # p of section 5.3.
LARGEST = 512  # B of the default baseline (figure 9, and the reference code).
SMALLEST = 16
# What a search may choose besides learning rate and label smoothing.
SEARCHED = ("batch_size", "schedule")
_MOST_IMAGES = 1 << 16


def adaptive(num_examples: int, *, fraction: float = FRACTION, smallest: int = SMALLEST,
             largest: int = LARGEST) -> int:
  """Returns b = min(B, max(16, 2^floor(log2(p D)))).

  Args:
    num_examples: D, the size of the training set.
    fraction: p.
    smallest: 16 in the paper.
    largest: B.
  """
  if num_examples < 1:
    raise ValueError(f"num_examples is {num_examples}; a training set has at least one example.")
  exponent = int(math.log2(fraction * num_examples))
  return min(largest, max(smallest, int(2.0 ** exponent)))


@dataclasses.dataclass(frozen=True)
class Trainer:
  """The training recipe.

  Attributes:
    steps: gradient steps per trial.
    batch_size: a fixed batch size; None is the paper's rule (eq. 4) from the number of training
      examples, with `max_batch_size` as its B and `batch_fraction` as its p.
    max_batch_size, batch_fraction: see `trainer.adaptive`.
    validate_every: steps between validations. save_every: steps between saves of a run in progress.
    warmup_epochs: linear warm-up, in epochs.
    momentum, weight_decay, optimizer: "sgd" is the paper's; "sgdw" and "adamw" decouple the decay.
      A Keras optimizer, or a function that makes one, has its own momentum and decay; the search
      sets its rate, unless it has a schedule.
    loss: loss(labels, logits), see `objective.OwnLoss`; None: cross-entropy with label smoothing.
    eval_batch_size: of validation and prediction.
    max_validation: images of the dev split that each validation looks at, the same ones for
      all trials; None is all of them.
    device_share: training images live in the memory of the GPU, if there is one, and are cropped
      there, if their pixels take no more than this share of it, with those that live there already;
      others come from the host's input pipeline. It is less where several processes have one GPU.
  """

  steps: int = 50_000
  batch_size: int | None = None
  max_batch_size: int = LARGEST
  batch_fraction: float = FRACTION
  validate_every: int = 1000
  save_every: int = 1000
  warmup_epochs: float = 7
  momentum: float = 0.9
  weight_decay: float = 1e-4
  optimizer: str | optimizers.OwnOptimizer = "sgd"
  loss: Callable[..., Any] | None = None
  eval_batch_size: int = 256
  max_validation: int | None = None
  device_share: float = 0.5

  def __post_init__(self):
    if isinstance(self.optimizer, str) and self.optimizer not in optimizers.NAMES:
      raise ValueError(f"Trainer.optimizer is {self.optimizer!r}; allowed are "
                       f"{', '.join(optimizers.NAMES)}.")
    for name in ("steps", "validate_every", "save_every", "eval_batch_size", "batch_size",
                 "max_batch_size", "max_validation"):
      value = getattr(self, name)
      if value is not None and value < 1:
        raise ValueError(f"Trainer.{name} is {value}; it must be at least 1.")
      if value is not None and "batch_size" in name and value > _MOST_IMAGES:
        raise ValueError(f"Trainer.{name} is {value:,}; a batch has at most {_MOST_IMAGES:,} "
                         "images, more than any device holds.")
    if not 0 <= self.device_share <= 1:
      raise ValueError(f"Trainer.device_share is {self.device_share}; it is a share of the GPU's "
                       "memory, from 0 (images stay on the host) to 1.")
    if not 0 < self.batch_fraction <= 1:
      raise ValueError(f"Trainer.batch_fraction is {self.batch_fraction}; it is a share of the "
                       "training examples, above 0 and at most 1 (the paper's p is "
                       f"{FRACTION}).")

  def fit(
      self,
      network: network_lib.Network,
      experience: deliveries.Experience,
      *,
      start: Sequence[np.ndarray],
      hyper: Mapping[str, Any],
      transform: examples_lib.Transform,
      context: context_lib.Context,
      seeds: seeds_lib.Seeds,
      key: str,
      phase: str,
      save_as: str,
      auxiliary: auxiliary_lib.Auxiliary | None = None,
      validation: Callable[[], scoring.ReadySet] | None = None,
  ) -> dict[str, Any]:
    """Trains `network` from `start`; the best weights go to the store under `save_as`.

    Args:
      experience: has `train` and `dev` image sets and the `task`.
      hyper: "learning_rate" and "label_smoothing"; if they are searched, "batch_size", in place of
        the trainer's, and "schedule", one of the network's; others are the caller's.
      key: names this run within the event, for the journal. phase: the ledger's.
      auxiliary: earlier tasks that are trained on, too.
      validation: returns the images to validate on; None: `validation`, for this training alone.

    Returns:
      {"status": "done" or "failed", "validation_error": best or None, "best_step", "batch_size",
      "curve": [[step, mean training loss since the last point, validation error], ...]}; within a
      budget that ends before `steps` also "steps", those that were taken, and if there are none,
      the status "untrained", whose weights are those of `start`. The
      first point is at step 0, before any update, and has no loss (None). It is measured and
      charged like the others, but its weights are not a candidate for the result.
    """
    if context.journal.has(key):
      return context.journal.value(key)
    run = _Run(
        self, network, experience, start, hyper, transform, context, seeds, key, phase, save_as,
        auxiliary, validation() if validation else self.validation(experience, transform, context))
    run.configure()
    run.begin()
    if context.ledger.is_cut and not run.step:
      run.steps = 0  # The budget was spent before.
    else:
      run.open_batches()
      run.grant()
    if not run.steps:
      context.store.save(save_as, start)
      return context.journal.keep(key, run.result("untrained"))
    if not run.step:
      run.validate()
    while run.step < run.steps:
      # Steps to the next validation, save or end, whichever is first.
      left = [period - run.step % period for period in (self.validate_every, self.save_every)]
      loss = run.train(min(*left, run.steps - run.step))
      if not math.isfinite(loss):
        logging.warning("%s: the loss is %s at step %d; this trial has failed.", key, loss,
                        run.step)
        return context.journal.keep(key, run.result("failed"))
      if run.step % self.validate_every == 0 or run.step == run.steps:
        run.validate()
      if run.step % self.save_every == 0 and run.step < run.steps:
        run.save()
    context.store.save(save_as, run.best)
    return context.journal.keep(key, run.result("done"))

  def granted(self, ledger: ledger_lib.Ledger, step: flops.Cost, look: Callable[[], flops.Cost]
              ) -> int:
    """The steps of a training that a budget covers, with the validations that belong to them.

    Args:
      ledger: of the run. step: cost of a step. look: returns the cost of a validation.
    """
    return ledger.grant(self.steps, lambda num: step * num + look() * self.num_validations(num))

  def num_validations(self, steps: int) -> int:
    """Validations of a training of `steps` steps, that of step 0 included."""
    return 1 + -(-steps // self.validate_every) if steps else 0

  def validation(self, experience: deliveries.Experience, transform: examples_lib.Transform,
                 context: context_lib.Context) -> scoring.ReadySet:
    """The images of the dev split that all trainings of a task are validated on, prepared once."""
    dev = experience.dev
    assert dev is not None  # Who validates `chooses`.
    images = dev.take(self.max_validation or dev.size,
                      seed=context.seeds.integer("validation images"))
    return scoring.ReadySet(images, transform=transform, batch_size=self.eval_batch_size)

  def batch(self, num_examples: int) -> int:
    """The batch size for a training set."""
    return self.batch_size or adaptive(
        num_examples, fraction=self.batch_fraction, largest=self.max_batch_size)

  def batch_sizes(self) -> tuple[int, ...]:
    """Batch sizes that replicas must be able to share; all others are multiples of the first."""
    return (self.batch(1),) if self.batch_size else (self.batch(1), self.max_batch_size)


@dataclasses.dataclass
class _Run:
  """One call of `Trainer.fit`: the loop, and where it is."""

  trainer: Trainer
  network: network_lib.Network
  experience: deliveries.Experience
  start: Sequence[np.ndarray]
  hyper: Mapping[str, Any]
  transform: examples_lib.Transform
  context: context_lib.Context
  seeds: seeds_lib.Seeds
  key: str
  phase: str
  save_as: str
  auxiliary: auxiliary_lib.Auxiliary | None
  validation: scoring.ReadySet
  batch_size: int = dataclasses.field(init=False)
  loop: Any = dataclasses.field(init=False)
  iterator: Any = dataclasses.field(init=False)
  complete: Callable[[Any], Any] | None = dataclasses.field(init=False)
  cost: flops.Cost = dataclasses.field(init=False)

  def configure(self) -> None:
    """Chooses the batch size and the loop; sets the loop's rates."""
    trainer, hyper, train = self.trainer, self.hyper, self.experience.train
    self.batch_size = int(hyper.get("batch_size", 0)) or trainer.batch(train.size)
    self.context.distribution.check_batch(self.batch_size)
    self.loop = self.network.loop
    if self.auxiliary is not None:
      self.loop = self.network.loop_of(self.auxiliary.shape)
    warmup = schedules.warmup_steps(
        train.size, self.batch_size, trainer.steps, epochs=trainer.warmup_epochs)
    chosen = {"schedule": hyper["schedule"]} if "schedule" in hyper else {}
    self.loop.configure(
        peak_rate=hyper["learning_rate"], warmup_steps=warmup, total_steps=trainer.steps,
        label_smoothing=hyper["label_smoothing"], **chosen)
    if self.auxiliary is not None:
      self.loop.begin_auxiliary(self.auxiliary.head, self.auxiliary.settings.weight_of(hyper))

  def open_batches(self) -> None:
    """Opens the batches from this step on, and counts the cost of a step."""
    self.complete = self.completed_on_device()
    dataset = self.context.distribution.dataset(
        self.batches if self.complete is None else self.places)
    self.iterator = iter(dataset)
    spec = dataset.element_spec
    if not self.context.distribution.is_single or "image" not in spec:
      spec = self.batches().element_spec  # A global batch's.
    self.cost = self.network.counted_loop(spec).cost(spec)

  def grant(self) -> None:
    """Sets `steps` to those that the budget covers, with the validations that belong to them."""
    if self.step:  # They were granted before the interruption.
      return
    look = functools.cache(lambda: spending.price(lambda ledger: self.validation.run(
        self.network.score, ledger=ledger, phase="validate")))
    self.steps = self.trainer.granted(self.context.ledger, self.cost, look)

  def train(self, num_steps: int) -> float:
    """Does and charges the next steps; returns the sum of their losses."""
    began, cost = time.monotonic(), self.cost * num_steps
    examples = self.batch_size
    if self.auxiliary is not None:
      examples += self.auxiliary.examples_a_step
    self.loop.begin_draws(self.seeds.pair("draws of the model", self.step))
    loss = self.loop.run(self.iterator, num_steps, self.complete)
    self.context.charge(cost, phase=self.phase, steps=num_steps, examples=num_steps * examples,
                        began=began, peak_bytes=self.context.distribution.peak_bytes())
    self.step += num_steps
    self.loss_sum += loss
    self.loss_steps += num_steps
    return loss

  def batches(self, **shard: int):
    return self.with_auxiliary(self.experience.train.train_batches(
        self.batch_size, seed=self.seeds.pair("batches"), transform=self.transform,
        first_step=self.step, **shard), **shard)

  def with_auxiliary(self, batches: tf.data.Dataset, **shard: int) -> tf.data.Dataset:
    """The batches, each with the auxiliary batches of its step."""
    if self.auxiliary is None:
      return batches
    further = self.auxiliary.batches(self.seeds, self.transform, self.step, **shard)
    return tf.data.Dataset.zip((batches, further)).map(user_code.mapped(
        lambda batch, auxiliary: {**batch, "auxiliary": auxiliary}))

  def completed_on_device(self) -> Callable[[Any], Any] | None:
    """What completes batches of places on the device; None if images stay on the host."""
    train, distribution = self.experience.train, self.context.distribution
    if not isinstance(train, image_set.ImageSet):
      return None
    return train.on_device(
        distribution.devices[0], self.transform,
        lambda size: distribution.holds(size, self.trainer.device_share))

  def places(self, **shard: int):
    train = self.experience.train
    assert isinstance(train, image_set.ImageSet)
    return self.with_auxiliary(train.place_batches(  # One device.
        self.batch_size, seed=self.seeds.pair("batches"), first_step=self.step), **shard)

  def begin(self) -> None:
    """From the start, or from where the interrupted run was."""
    self.step, self.loss_sum, self.loss_steps, self.steps = 0, 0.0, 0, self.trainer.steps
    self.best_error: float | None = None
    self.best_step = 0
    self.best: list[np.ndarray] = []
    self.curve: list[list[float | None]] = []
    partial = self.context.journal.partial(self.key)
    if partial is None:
      self.network.set_weights(self.start)
      self.loop.reset_optimizer()
      return
    for name, value in partial.values.items():
      setattr(self, name, value)
    arrays = partial.arrays
    self.loop.restore([arrays[k] for k in sorted(arrays) if k.startswith("state")])
    self.best = [arrays[k] for k in sorted(arrays) if k.startswith("best")]
    logging.info("%s: going on from step %d.", self.key, self.step)

  def save(self) -> None:
    names = ("step", "steps", "loss_sum", "loss_steps", "best_error", "best_step", "curve")
    arrays = {f"state{i:05d}": a for i, a in enumerate(self.loop.state())}
    arrays.update({f"best{i:05d}": a for i, a in enumerate(self.best)})
    self.context.journal.save_partial(self.key, {n: getattr(self, n) for n in names}, arrays)

  def validate(self) -> None:
    """Adds a point to the curve; keeps the weights if they are the best since training began."""
    outputs = self.validation.run(
        self.network.score, ledger=self.context.ledger, phase="validate")
    # One decision for all processes: each has computed the error by itself.
    error = self.context.distribution.agreed(
        validation_error(self.experience.task.kind, outputs))
    loss = self.loss_sum / self.loss_steps if self.step else None
    self.loss_sum, self.loss_steps = 0.0, 0
    self.curve.append([self.step, loss, error])
    if self.step and (self.best_error is None or error < self.best_error):
      self.best_error, self.best_step, self.best = error, self.step, self.network.get_weights()
    self.context.report(
        key=self.key, step=self.step, steps=self.trainer.steps, loss=loss, validation_error=error)

  def result(self, status: str) -> dict[str, Any]:
    return {
        **({} if self.steps == self.trainer.steps else {"steps": self.step}),
        "status": status,
        "validation_error": self.best_error if status == "done" else None,
        "best_step": self.best_step if status == "done" else None,
        "batch_size": self.batch_size,
        "curve": self.curve,
    }


def validation_error(kind: str, outputs: scoring.Outputs) -> float:
  """1 - top-1 accuracy, or 1 - mean average precision for multi-label tasks."""
  if kind == tasks.MULTI_LABEL:
    return 1.0 - classification.mean_average_precision(outputs.values, outputs.labels)
  return classification.error_of(classification.top1(outputs.values), outputs.labels)
