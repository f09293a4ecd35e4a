# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pretrains a backbone: MoCo V2, SimCLR's loss, or labels of one or several tasks, by one kind of
update.

CLEAR pretrains a ResNet-50 by MoCo V2 on the images of bucket 0, before all labels (section 5,
"Unsupervised pre-training"; `clear/clear10_moco`); NEVIS'22 on its meta-train tasks or on ImageNet
(appendix E.2: PT-MT, PT-ISup).

The whole state is in variables (encoders, queue, velocities, update count), and update n is a
function of them, the seed and n. A run resumed from a checkpoint thus gives the same numbers.

The updates of pretraining: SGD with momentum under a cosine, on any `tf.distribute`.

All variables decay, norms and biases too, as in MoCo's own code; the decay enters the momentum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import time
from typing import Any, cast

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.compute import seeds as seeds_lib
from suite.compute import user_code
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import spending
from suite.contracts import tasks
from suite.data.images import contrastive_views
from suite.data.images import image_set
from suite.data.streams import task_mixture
from suite.models.own import own_model
from suite.state import context as context_lib
from suite.training.gradient import gradient_loop
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.objectives import loss_scale
from suite.training.objectives import losses as losses_lib
from suite.training.pretraining import pretexts


class Pretrainer(learner.PretrainingLearner):
  """Pretrains a backbone; defaults are MoCo V2's for ImageNet and CLEAR, per 256 images.

  Args:
    pretext: a function that returns the pretext: `pretexts.Moco`, `pretexts.SimClr`,
      `pretexts.Supervised` or `pretexts.Multitask`.
    backbone: a Keras model, images [B, S, S, 3] to features [B, D], or a function that makes one of
      image_shape; see `own_model`.
    transform: augments; for two views it has `view(n)`, as `contrastive_views.AugPlus` does.
    batch_size: B, global.
    learning_rate: its peak; it falls to 0 along a cosine.
    warmup: the number of updates of linear warm-up.
    momentum, weight_decay: of SGD.
  """

  deliveries = (deliveries_lib.PORTIONS,)
  shares_updates = keeps_budget = True

  def __init__(
      self,
      *,
      pretext: Callable[[], pretexts.Pretext],
      backbone: own_model.Given,
      transform: examples.Transform,
      batch_size: int = 256,
      learning_rate: float = 0.03,
      warmup: int = 0,
      momentum: float = 0.9,
      weight_decay: float = 1e-4,
  ):
    super().__init__()
    for name, value in (("batch_size", batch_size), ("learning_rate", learning_rate)):
      if not value > 0:
        raise ValueError(f"Pretrainer.{name} is {value}; it must be above 0.")
    self.transform = transform
    self._make_pretext, self._batch_size = pretext, batch_size
    self._backbone = own_model.as_backbone(backbone, "Pretrainer.backbone")
    self._sgd: dict[str, Any] = dict(
        batch_size=batch_size, learning_rate=learning_rate, warmup=warmup, momentum=momentum,
        weight_decay=weight_decay)
    self._task: tasks.Task | None = None
    self._cost: flops.Cost | None = None
    self._batches: _Batches | None = None

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the variables, once."""
    if self._task is not None:
      return
    context.distribution.check_batch(self._batch_size)
    self._task = task
    self.pretext, self.loop = self._built(context, context.distribution)
    self.updates = tf.Variable(0, dtype=tf.int64, trainable=False, name="updates_done")

  def _built(self, context: context_lib.Context, distribution: distribution_lib.Distribution
             ) -> tuple[pretexts.Pretext, PretextUpdates]:
    assert self._task is not None
    pretext, size = self._make_pretext(), self.transform.size
    if (pretext.needs_labels and not pretext.several_tasks
        and self._task.kind != tasks.SINGLE_LABEL):
      raise ValueError(f"{type(pretext).__name__} learns {tasks.SINGLE_LABEL} tasks; "
                       f"{self._task.name!r} is {self._task.kind}. Take pretexts.Multitask.")
    if pretext.num_views > 1:
      _two_views(self.transform, pretext)
    # Seeds of the run, not of the event: a resumed run begins in another event.
    seeds = seeds_lib.Seeds(context.seeds.seed, "pretrainer")
    with distribution.scope():
      pretext.build(
          lambda: self._backbone(image_shape=(size, size, 3)), num_classes=self._task.num_classes,
          batch_size=self._batch_size, distribution=distribution, seeds=seeds)
    self._backbone.refuse_losses("a pretraining")
    return pretext, PretextUpdates(pretext, distribution, **self._sgd)

  @override
  def start_from(self, weights: Sequence[np.ndarray]) -> None:
    """Gives the backbone first weights, in Keras order, after `begin`."""
    self.pretext.start_from(weights)

  @property
  @override
  def encoder(self) -> tf.keras.Model:
    """The pretrained backbone."""
    return self.pretext.backbone

  @property
  @override
  def name_of_pretext(self) -> str:
    """The pretext's class in lower case."""
    return type(self.pretext).__name__.lower()

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D]."""
    return self.encoder(images, training=False)

  @override
  @spending.event
  def learn(self, portion: deliveries_lib.Portion, context: context_lib.Context) -> dict[str, Any]:
    """Runs the updates of a portion; portions must come in order."""
    if int(self.updates) != portion.first:
      raise ValueError(f"The pretrainer has done {int(self.updates)} updates and was asked to "
                       f"continue with update {portion.first}; give it the portions in order.")
    if self.pretext.needs_labels and isinstance(portion.images, image_set.Unlabelled):
      raise ValueError(f"The pretext {self.name_of_pretext!r} learns from labels, but "
                       f"{portion.images.name!r} has none. Run pretrain.run with labelled=True.")
    began = time.monotonic()
    if self._batches is None or self._batches.images is not portion.images:
      self._batches = self._batches_of(portion, context)
    if self._cost is None:  # Counted on one device for any strategy.
      loop = self.loop
      if not context.distribution.is_single:
        _, loop = self._built(context, distribution_lib.build("one_device"))
      self._cost = loop.cost(self._batches.spec)
    if context.is_over:
      return {"train_loss": None, "updates": int(self.updates), "learning_rate": None}
    updates = context.grant(portion.updates)
    cost = self._cost * updates
    self.pretext.begin_draws(
        seeds_lib.Seeds(context.seeds.seed, "pretrainer").pair("draws", portion.first))
    loss = self.loop.run(self._batches.iterator, portion.first, updates, portion.total)
    mean = loss / updates
    if not np.isfinite(mean):
      raise ValueError(f"The loss is {mean} between updates {portion.first} and "
                       f"{portion.first + updates}; lower the learning rate.")
    self.updates.assign_add(updates)
    context.charge(cost, steps=updates, examples=updates * self._batch_size, began=began,
                   peak_bytes=context.distribution.peak_bytes())
    context.report(step=int(self.updates), steps=portion.total, loss=mean)
    return {"train_loss": mean, "updates": int(self.updates),
            "learning_rate": self.loop.rate(int(self.updates) - 1)}

  def _batches_of(self, portion: deliveries_lib.Portion, context: context_lib.Context) -> _Batches:
    pretext, images = self.pretext, portion.images
    if pretext.several_tasks and not isinstance(images, task_mixture.TaskMixture):
      one = cast(examples.ExampleSet, images)  # An unlabeled set was refused.
      images = task_mixture.TaskMixture({images.name: one}, name=images.name)
    transform, num_views = self.transform, pretext.num_views
    if num_views > 1:  # Of one example: an image is read and decoded once.
      views = _two_views(transform, pretext)
      transform = contrastive_views.Views(tuple(views.view(n) for n in range(num_views)))
    seed = seeds_lib.Seeds(context.seeds.seed, "pretrainer").pair("batches")

    def named(batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
      views = [batch["image"]] if num_views == 1 else tf.unstack(batch["image"], num_views, axis=1)
      found = {f"view{n}": view for n, view in enumerate(views)}
      return {**found, "label": batch["label"]} if pretext.needs_labels else found

    specs: dict[str, tf.TensorSpec] = {}

    def make(**shard: int) -> tf.data.Dataset:
      batches = images.train_batches(
          self._batch_size, seed=seed, transform=transform, first_step=portion.first, **shard)
      batches = batches.map(user_code.mapped(named)).prefetch(tf.data.AUTOTUNE)
      specs.update({key: tf.TensorSpec([self._batch_size, *spec.shape[1:]], spec.dtype)
                    for key, spec in batches.element_spec.items()})
      return batches

    iterator = iter(context.distribution.dataset(make))
    return _Batches(portion.images, iterator, specs)


def _two_views(transform: examples.Transform, pretext: pretexts.Pretext
              ) -> examples.TwoViews:
  """The transform, if it augments an image in several ways, as the pretext needs it."""
  if not hasattr(transform, "view"):
    raise ValueError(
        f"{type(pretext).__name__} compares {pretext.num_views} views of an image, but "
        f"{type(transform).__name__} has no view(n). Take contrastive_views.AugPlus.")
  return cast(examples.TwoViews, transform)


class _Batches:
  """An iterator over distributed batches of a set, and the spec of a global batch.

  It is kept from one portion to the next, since making it takes seconds. It is a plain class, so
  `tf.Module` does not search it for variables.
  """

  def __init__(self, images: examples.TrainableSet, iterator: Any, spec: dict[str, tf.TensorSpec]):
    self.images, self.iterator, self.spec = images, iterator, spec


class PretextUpdates(tf.Module):
  """Trains a pretext after its `build`.

  Args:
    pretext: see `pretexts`.
    distribution: the distribution in whose scope the pretext was built.
    batch_size: B, global.
    learning_rate: its peak.
    warmup: the number of updates of linear warm-up.
    momentum, weight_decay: of SGD.
  """

  def __init__(self, pretext: pretexts.Pretext, distribution: distribution_lib.Distribution, *,
               batch_size: int, learning_rate: float, warmup: int, momentum: float,
               weight_decay: float):
    super().__init__()
    self._pretext, self._distribution, self._batch_size = pretext, distribution, batch_size
    with distribution.scope():
      self.total = tf.Variable(1.0, trainable=False, name="total_updates")
      self.schedule = schedules.WarmupCosine(learning_rate, warmup, self.total, end=0.0)
      # jit_compile: XLA is slower on CPU, and hides the update from a graph's FLOP count.
      sgd = tf.keras.optimizers.SGD(self.schedule, momentum=momentum, jit_compile=False)
      self.optimizer = optimizers.KerasUpdates(
          sgd, pretext.variables_to_train, coupled_decay=weight_decay, decays=lambda _: True,
          num_replicas=distribution.num_replicas)
    self._scaling = loss_scale.of_precision()
    self.scale = list(self._scaling.state)  # A checkpoint holds it.
    self._loop = gradient_loop.BatchLoop(self.update, after=self._average)

  def run(self, iterator: Iterator[Any], first: int, num: int, total: int) -> float:
    """Makes updates first ... first + num - 1 of total; returns the sum of their losses."""
    self.total.assign(float(total))
    return self._loop.run(iterator, num, first)

  def rate(self, step: int) -> float:
    """Returns the learning rate of an update."""
    return float(self.schedule(tf.constant(step)))

  def cost(self, spec: dict[str, tf.TensorSpec]) -> flops.Cost:
    """Returns the cost of an update on a *global* batch, for a loop built on one device."""
    with self._scaling.left_out():
      graph = user_code.compiled(self.update).get_concrete_function(
          spec, tf.TensorSpec([], tf.int64))
    return flops.count(graph)

  def update(self, batch: Any, step: tf.Tensor) -> tf.Tensor:
    """Makes an update; returns the mean loss [] of the global batch."""
    self._pretext.before_update()
    loss, result = self._distribution.run(self._in_replica, args=(batch, step))
    self._pretext.after_update(result)
    return self._distribution.sum(loss)

  def _average(self) -> None:
    self._distribution.average(self._pretext.variables)

  def _in_replica(self, batch: Any, step: tf.Tensor) -> Any:
    variables = self._pretext.variables_to_train
    with tf.GradientTape() as tape:
      losses, result = self._pretext.losses(batch, step)
      loss = losses_lib.scaled_sum(losses, self._batch_size)
    gradients = self._scaling.unscaled(
        tape.gradient(loss, variables, output_gradients=self._scaling.factor))
    self._scaling.apply(gradients, lambda: self.optimizer.apply(gradients, variables, None))
    return loss, result
