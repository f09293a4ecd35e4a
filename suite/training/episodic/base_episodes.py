# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Episodes and learning rates of the meta-training before a sequence or stream (FLUID).

The images come from a pretraining set, on which the backbones of other learners were trained, or
from the base classes of the sequence. The paper trains Prototypical Networks and MAML from scratch
on 5-shot 30-way episodes, for 100 epochs at a rate of 0.01 that is halved every 40. Its Table 14
has other numbers of ways and shots, and some that are drawn anew for each episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import dataclasses
import functools
import operator
import time
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import seeds
from suite.contracts import examples as examples_lib
from suite.contracts import learner
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.episodes import episodes as episodes_lib
from suite.data.episodes import task_types
from suite.data.images import example_arrays
from suite.models import precision
from suite.models.episodic import film as film_lib
from suite.state import context as context_lib
from suite.training.episodic import episode_graphs

OPTIMIZERS = ("sgd", "adamw")
Count = int | tuple[int, int]  # A number, or the least and the most of a drawn one.
# Images of base classes that take more as arrays are decoded whenever an episode shows them.
HELD_BYTES = 4 << 30
_GRAPHS = 16  # Graphs of drawn sizes that are kept; others are traced again.
_CLOSE = 1e-3  # Of a cost: gradients of gathered rows bend the line of drawn sizes.


class Stairs(tf.keras.optimizers.schedules.LearningRateSchedule):
  """A rate that is multiplied by `factor` after every `every` updates."""

  def __init__(self, rate: float, factor: float, every: int):
    self.rate, self.factor, self.every = rate, factor, every

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    falls = tf.cast(tf.cast(step, tf.int64) // self.every, tf.float32)
    return self.rate * tf.pow(tf.constant(self.factor), falls)

  def get_config(self) -> dict[str, Any]:
    return {"rate": self.rate, "factor": self.factor, "every": self.every}


@dataclasses.dataclass(frozen=True)
class BaseEpisodes:
  """The episodes of a meta-training and their schedule.

  Attributes:
    way: classes of an episode; all base classes, if there are fewer. (least, most): each episode
      draws its own number between them, uniformly; each size is traced, which takes seconds.
    shot: support images of a class, drawn as `way` if it is a pair, and at most as many as the
      smallest class leaves beside its targets.
    targets: target images of a class.
    epochs: the number of epochs.
    updates_per_epoch: updates in an epoch, of one episode each.
    learning_rate: the initial rate.
    factor: multiplies the rate after every `every` epochs.
    every: see `factor`.
    optimizer_name: "sgd", with a momentum of 0.9, or "adamw".
    images: returns the set to meta-train on, called when that begins; None: what is delivered
      first.
  """

  way: Count = 30
  shot: Count = 5
  targets: int = 5
  epochs: int = 100
  updates_per_epoch: int = 100
  learning_rate: float = 0.01
  factor: float = 0.5
  every: int = 40
  optimizer_name: str = "sgd"
  images: Callable[[], examples_lib.ExampleSet] | None = None

  def __post_init__(self):
    if self.optimizer_name not in OPTIMIZERS:
      raise ValueError(f"BaseEpisodes.optimizer_name is {self.optimizer_name!r}; allowed are "
                       f"{', '.join(OPTIMIZERS)}.")
    for name, count, lowest in (("way", self.way, 2), ("shot", self.shot, 1)):
      least, most = _bounds(count)
      if not lowest <= least <= most:
        raise ValueError(f"BaseEpisodes.{name} is {count!r}; it is a number from {lowest} on, or a "
                         "pair (least, most) of such numbers.")

  @property
  def most_ways(self) -> int:
    """The classes of an episode at most."""
    return _bounds(self.way)[1]

  @property
  def has_sizes(self) -> bool:
    """Whether each episode draws its size."""
    return not (isinstance(self.way, int) and isinstance(self.shot, int))

  @property
  def num_updates(self) -> int:
    """The number of updates in all epochs."""
    return self.epochs * self.updates_per_epoch

  def optimizer(self) -> tf.keras.optimizers.Optimizer:
    """Returns a new optimizer, not built."""
    rate = Stairs(self.learning_rate, self.factor, self.every * self.updates_per_epoch)
    # jit_compile: XLA is slower on CPU, and hides the update from a graph's FLOP count.
    if self.optimizer_name == "adamw":
      return tf.keras.optimizers.AdamW(rate, weight_decay=1e-4, jit_compile=False)
    return tf.keras.optimizers.SGD(rate, momentum=0.9, jit_compile=False)

  def examples(self, delivered: example_arrays.Examples, transform: examples_lib.Transform
               ) -> example_arrays.Examples:
    """Returns the examples to meta-train on, given those that were delivered first."""
    if self.images is None:
      return delivered
    found = self.images()
    task = tasks.Task("episodes", tasks.SINGLE_LABEL, found.num_classes)
    return example_arrays.read([found], task, transform)

  def source(self, images: np.ndarray, labels: np.ndarray, seed: int) -> episodes_lib.Episodes:
    """Returns episodes over base images uint8 [N, H, W, 3] with labels int64 [N].

    Where each episode draws its size, they have the largest one.
    """
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) < 2:
      raise ValueError(f"The images to meta-train on have {len(counts)} class; an episode needs at "
                       "least 2. Give images of more classes, or a learner that is not "
                       "meta-trained, such as StatisticsLearner.")
    shot = _bounds(self.shot)[1]
    if not isinstance(self.shot, int):
      shot = max(self.shot[0], min(shot, int(counts.min()) - self.targets))
    setting = task_types.Setting(
        way=min(self.most_ways, len(counts)), shot=shot, targets=self.targets)
    return episodes_lib.Episodes(
        images, labels, setting, data="base classes", split="train", seed=seed)

  def sizes(self, largest: task_types.Setting, seed: int) -> list[task_types.Setting]:
    """The setting of each update's episode, none above the largest one."""
    ranges = [(min(_bounds(count)[0], end), end) for count, end in (
        (self.way, largest.way), (self.shot, largest.shot))]
    least, most = np.transpose(ranges)
    drawn = seeds.generator(seed, "sizes").integers(
        least, most, size=[self.num_updates, 2], endpoint=True)
    return [dataclasses.replace(largest, way=way, shot=shot) for way, shot in drawn.tolist()]

  def run(self, update: Any, images: np.ndarray, labels: np.ndarray, context: context_lib.Context,
          transform: examples_lib.Transform | None = None) -> dict[str, Any]:
    """Makes all updates, charged to the context's phase; returns values for the record.

    Args:
      update: a `tf.function` of a batch of one episode that returns its loss.
      images: uint8 [N, H, W, 3], or their numbers, int64 [N].
      labels: int64 [N].
      context: of the event.
      transform: makes images of numbers.
    """
    precision.check_no_loss_scale("A network on base episodes")
    began, seed = time.monotonic(), context.seeds.integer("episodes")
    read = None
    if images.ndim == 1:
      assert transform is not None
      read = _reader(images, transform)
      images = np.zeros([len(images), 1, 1, 1], np.uint8)  # Places are drawn among black pixels.
    source = self.source(images, labels, seed)
    updates, drawn = self.num_updates, self.sizes(source.setting, seed) if self.has_sizes else []
    batches = _batches(source, read) if not drawn else _batches_of_sizes(source, drawn, read)
    losses, updates = [], context.grant(updates)
    settings = drawn[:updates] or [source.setting] * updates
    cost = functools.reduce(
        operator.add, _costs(update, batches.element_spec, settings), flops.ZERO)

    # Nets count the images of a batch as they are traced, so that each size has a graph.
    graph_of = functools.lru_cache(maxsize=_GRAPHS)(
        lambda *sizes: tf.function(update.python_function, autograph=False))

    def make(num: int) -> None:
      for number, batch in enumerate(batches.take(num)):
        step = graph_of(*(tuple(part.shape) for part in batch)) if drawn else update
        losses.append(step(batch))
        if (number + 1) % self.updates_per_epoch == 0:
          context.report(step=number + 1, steps=self.num_updates, loss=float(losses[-1]))

    if updates:
      rehearsal.few(source, "update", updates, make, blank=lambda: None)
    images_of = [sum(_images(setting)) for setting in drawn[:updates]]
    context.charge(cost, steps=updates, began=began,
                   examples=sum(images_of) if drawn else updates * len(source.labels))
    last = losses[-self.updates_per_epoch:]
    sizes = {} if not drawn else {
        "least_way": min(one.way for one in drawn), "shot": source.setting.shot,
        "least_shot": min(one.shot for one in drawn)}
    return {"way": source.setting.way, **sizes, "meta_classes": len(np.unique(labels)),
            "meta_updates": updates, "meta_loss": float(np.mean(last)) if last else None}


def _bounds(count: Count) -> tuple[int, int]:
  return (count, count) if isinstance(count, int) else count


def _images(setting: task_types.Setting) -> tuple[int, int]:
  """The numbers of an episode's support images and targets."""
  return setting.way * setting.shot, setting.way * setting.targets


_Read = Callable[[episodes_lib.Episodes, tf.Tensor], Any]


def _reader(numbers: np.ndarray, transform: examples_lib.Transform) -> _Read:
  """Makes an episode of its places, whose images the transform makes of their numbers."""
  every = tf.constant(numbers, tf.int64)

  def read(source: episodes_lib.Episodes, chosen: tf.Tensor) -> Any:
    images, num = transform.evaluate(tf.gather(every, chosen[0])), source.num_support
    return source.gather(chosen)._replace(
        support_images=images[None, None, :num], target_images=images[None, num:])

  return read


def _batches(source: episodes_lib.Episodes, read: _Read | None) -> tf.data.Dataset:
  """Batches of one episode."""
  if read is None:
    return source.batches(1)
  return source.place_batches(1).map(functools.partial(read, source)).prefetch(tf.data.AUTOTUNE)


def _batches_of_sizes(source: episodes_lib.Episodes, settings: Sequence[task_types.Setting],
                      read: _Read | None) -> tf.data.Dataset:
  """Batches of one episode, each of its own setting."""
  def episodes() -> Iterator[Any]:
    for number, setting in enumerate(settings):
      sized = source.resized(setting)
      chosen = tf.constant(sized.indices(number, 1))
      yield sized.gather(chosen) if read is None else read(sized, chosen)

  smallest = source.resized(dataclasses.replace(source.setting, way=2, shot=1))
  spec = _batches(smallest, read).element_spec
  return tf.data.Dataset.from_generator(
      episodes, output_signature=_with_sizes(spec, None, None)).prefetch(2)


def _with_sizes(spec: Any, num_support: int | None, num_targets: int | None) -> Any:
  """The spec of a batch of one episode with other numbers of images."""
  def sized(part: tf.TensorSpec, axis: int, num: int | None) -> tf.TensorSpec:
    return tf.TensorSpec([*part.shape[:axis], num, *part.shape[axis + 1:]], part.dtype)

  return type(spec)(sized(spec[0], 2, num_support), sized(spec[1], 2, num_support),
                    sized(spec[2], 1, num_targets), sized(spec[3], 1, num_targets))


def _costs(update: Any, spec: Any, settings: Sequence[task_types.Setting]) -> list[flops.Cost]:
  """The costs of updates of episodes of these settings, linear in their numbers of images.

  Smaller episodes still compute logits for all classes of the net.
  """
  costs = flops.SizeCosts(close=_CLOSE)

  def cost(num_support: int, num_targets: int) -> flops.Cost:
    sized = _with_sizes(spec, num_support, num_targets)
    return costs((1, num_support, num_targets), lambda: rehearsal.traced(
        "base episodes", (), sized, lambda: flops.count(update.get_concrete_function(sized))))

  return [cost(*_images(setting)) for setting in settings]


def parts(batch: episodes_lib.Episode) -> tuple[tf.Tensor, ...]:
  """Returns support images [B, H, W, C], labels [B], target images and labels of a batch of one."""
  return (batch.support_images[0, 0], batch.support_labels[0, 0], batch.target_images[0],
          batch.target_labels[0])


class MetricNet(learner.EpisodicLearner):
  """A learner that answers by class means of its codes [B, D].

  Attributes:
    similarity: one of `class_means.SIMILARITIES`.
  """

  similarity: str

  @learner.default
  def scale(self) -> tf.Tensor | None:
    """A trained factor of the logits; None: 1."""
    return None


class FilmedNet(learner.EpisodicLearner):
  """A learner that makes FiLM layers of images, and features by them.

  Attributes:
    num_features, num_channels: D and F, once begun.
    ridge: the multiple of the identity in every covariance.
  """

  num_features: int
  num_channels: int
  ridge: float

  def embed(self, images: tf.Tensor) -> tf.Tensor:
    """Embeddings [B, Z] of images [B, H, W, C]; their mean is the embedding of a task."""
    raise NotImplementedError

  def film(self, z: tf.Tensor) -> film_lib.Film:
    """FiLM layers [F] of a task with embedding z [Z]."""
    raise NotImplementedError

  def features(self, images: tf.Tensor, film: film_lib.Film) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, C] with FiLM layers [F]."""
    raise NotImplementedError


def check_images(transform: examples_lib.Transform, owner: str, instead: str) -> None:
  """Raises an error for a transform that makes feature vectors.

  Args:
    transform: of the learner.
    owner: the learner's name.
    instead: a learner that takes feature vectors.
  """
  shape = example_arrays.shape(transform)
  if len(shape) != 3:
    raise ValueError(
        f"{owner}.transform makes feature vectors {shape}, but its net is meta-trained on images. "
        f"Give it a transform of images, or take {instead} on the features.")


def begin(net: learner.EpisodicLearner, episodes: BaseEpisodes,
          context: context_lib.Context) -> None:
  """Makes the net's variables on one device: an update has one episode, which is not shared."""
  alone = dataclasses.replace(context, distribution=distribution.build())
  net.begin(tasks.Task("episodes", tasks.SINGLE_LABEL, episodes.most_ways), alone)


def train(net: learner.EpisodicLearner, episodes: BaseEpisodes,
          delivered: example_arrays.Examples, transform: examples_lib.Transform,
          context: context_lib.Context) -> dict[str, Any]:
  """Meta-trains a net that has begun; returns values for the record.

  Args:
    net: a learner that can be meta-trained.
    episodes: the episodes and their schedule.
    delivered: the images to train on, as `transform` prepares them, unless `episodes` has others.
    transform: of the learner.
    context: charged.
  """
  read = episodes.examples(delivered, transform)
  graphs = episode_graphs.Graphs(net, episodes.most_ways)
  return episodes.run(graphs.update, read.images, read.labels, context, transform)


def base_images(base: example_arrays.Examples | None, known: np.ndarray,
                transform: examples_lib.Transform, *, owner: Any, instead: str, batch_size: int
                ) -> example_arrays.Examples:
  """Returns prepared images of a sequence's base classes, which come without examples.

  If they take more than HELD_BYTES, their numbers are returned.

  Args:
    base: images as the transform stores them, and labels; None: an error.
    known: bool [C], the base classes.
    transform: of the learner.
    owner: the learner.
    instead: a learner that needs no images of the base classes.
    batch_size: images that are prepared at once.
  """
  if base is None:
    raise ValueError(
        f"{type(owner).__name__} is meta-trained on images, but the {int(np.sum(known))} base "
        "classes of the sequence come without any. Give it base = Examples(images, labels), as "
        f"BASE_IMAGES does for published sequences, or take {instead}.")
  if base.images.ndim == 1 and len(base.images) * int(np.prod(example_arrays.shape(transform))) > (
      HELD_BYTES):
    return base
  images = by_batches(owner, "prepare", transform.evaluate, base.images, batch_size)
  return example_arrays.Examples(images, base.labels)


def by_batches(owner: Any, name: str, fn: Callable[[tf.Tensor], tf.Tensor], values: np.ndarray,
               batch_size: int) -> np.ndarray:
  """Returns fn(values) [N, ...], computed for some rows at a time."""
  return rehearsal.rows(owner, name, len(values), batch_size, lambda num: np.concatenate([
      fn(tf.constant(values[i:min(i + batch_size, num)])) for i in range(0, num, batch_size)]),
      lambda: np.asarray(fn(tf.constant(values[:1]))))
