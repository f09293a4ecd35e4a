# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Initial weights of a new model: random, pretrained, or of the previous or the nearest past task.

    Random       Indep       Pretrained             PT: PT-ISup, PT-MT, PT-ext
    Previous     FT-prev     Nearest                FT-d, FT-s, MT
                             Nearest(pretrained=)   PT+FT-d
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import pathlib
from typing import NamedTuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import rehearsal
from suite.contracts import spending
from suite.contracts import tasks
from suite.metrics import classification
from suite.state import context as context_lib
from suite.state import encoder_file
from suite.state import run_identity
from suite.state import weight_store
from suite.training.gradient import network as network_lib
from suite.training.scoring import nearest_neighbors
from suite.training.scoring import scoring

RANDOM = "random"
PRETRAINED = weight_store.Entry(-1, "pretrained")  # In no store: before the first event.


class Choice(NamedTuple):
  """A start: the past model (None: random weights) and the candidates' validation errors.

  The model may be `PRETRAINED`.
  """

  entry: weight_store.Entry | None
  candidates: dict[str, float]


class Start:
  """Chooses among the learner's past models."""

  @property
  def pretrained(self) -> Pretrained | None:
    """The pretrained model that may be chosen, too; None: there is none."""
    return None

  def choose(self, entries: list[weight_store.Entry], features: KnnErrors) -> Choice:
    """Returns the start.

    Args:
      entries: the learner's past models, oldest first.
      features: the kNN errors of their features.
    """
    raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Random(Start):
  """Indep: every task starts from random weights."""

  def choose(self, entries: list[weight_store.Entry], features: KnnErrors) -> Choice:
    del entries, features
    return Choice(None, {})


@dataclasses.dataclass(frozen=True)
class Previous(Start):
  """FT-prev: every task starts from the task learned last."""

  def choose(self, entries: list[weight_store.Entry], features: KnnErrors) -> Choice:
    del features
    return Choice(entries[-1] if entries else None, {})


@dataclasses.dataclass(frozen=True)
class FromTask(Start):
  """A row of the transfer matrix (appendix J): from one task's model, made from random weights.

  The tasks up to `task` start from random weights, as with Independent; all later ones start from
  the model of `task`. A stream without that task is learned from random weights throughout.

  Attributes:
    task: key of the source: "mnist", "mnist@2".
  """

  task: str

  def choose(self, entries: list[weight_store.Entry], features: KnnErrors) -> Choice:
    del features
    name = weight_store.safe_name(self.task)
    return Choice(next((e for e in reversed(entries) if e.name == name), None), {})


@dataclasses.dataclass(frozen=True)
class Pretrained(Start):
  """PT: every task starts from the same pretrained model.

  The cost of the pretraining is charged at the first event, to phase "pretrain".

  Attributes:
    encoder: the directory of a pretraining run's learner, WORKDIR/NAME, whose encoder.json says
      what it cost; or an .npz of weights in Keras order. None: the weights that the backbone comes
      with.
    flops, macs: the cost of an encoder that does not say it. None: unknown; the total is then
      unknown, too, and the cost without pretraining is not.
    year: of an encoder that does not say it: tasks of a dated stream are served from then on.
  """

  encoder: str | None = None
  flops: int | None = None
  macs: int | None = None
  year: int | None = None

  @property
  def pretrained(self) -> Pretrained:
    """This start."""
    return self

  def choose(self, entries: list[weight_store.Entry], features: KnnErrors) -> Choice:
    del entries, features
    return Choice(PRETRAINED, {})

  def load(self, model: tf.keras.Model, given: Callable[[int], list[np.ndarray]]
           ) -> encoder_file.Starting:
    """The weights and their cost; an error that names the differences if they are not of `model`.

    Args:
      model: the backbone.
      given: returns its weights as it is made under a seed.
    """
    if self.encoder is not None:
      found = encoder_file.starting(
          self.encoder, model, {"flops": self.flops, "macs": self.macs})
      return found if found.year is not None else found._replace(year=self.year)
    first, second = given(0), given(1)
    if any(not np.array_equal(a, b) for a, b in zip(first, second)):
      raise ValueError(
          f"Pretrained.encoder is None, but the backbone {model.name!r} comes with random weights. "
          "Give the directory of a pretraining run, an .npz of weights, or a Keras model as "
          "backbone.")
    return encoder_file.Starting(first, {"flops": self.flops, "macs": self.macs}, self.year)


@dataclasses.dataclass(frozen=True)
class Nearest(Start):
  """FT-d and FT-s: from the past task whose features give the lowest kNN validation error.

  Attributes:
    k: the number of neighbors, of uniform weight, by Euclidean distance.
    max_train, max_validation: images drawn for the comparison, the same ones for every candidate.
    include_random: whether a random backbone is a candidate; if it wins, training starts from
      random weights. The paper takes the most related past task; the reference code scores random
      weights, too, but never starts from them if there is a past task.
    statistics: "batch" or "running", see `Network.extract`. The paper does not say; the reference
      code uses those of batches.
    batch_size: images encoded at once; the reference's. With "batch" the features depend on it.
    pretrained: a further candidate (PT+FT-d), from which the first task starts.
  """

  k: int = 5
  max_train: int = 10_000
  max_validation: int = 5_000
  include_random: bool = False
  statistics: str = "batch"
  batch_size: int = 128
  pretrained: Pretrained | None = None

  def __post_init__(self) -> None:
    if self.statistics not in network_lib.STATISTICS:
      raise ValueError(f"Nearest.statistics is {self.statistics!r}; allowed are "
                       f"{', '.join(network_lib.STATISTICS)}.")
    if self.batch_size < 1:
      raise ValueError(f"Nearest.batch_size is {self.batch_size}; it must be at least 1.")

  def choose(self, entries: list[weight_store.Entry], features: KnnErrors) -> Choice:
    # Of equal errors the first wins, so the newest model comes first: it has learned the most.
    candidates: list[weight_store.Entry | None] = [*reversed(entries)]
    if self.pretrained is not None:
      candidates.append(PRETRAINED)
    if not candidates:
      return Choice(None, {})
    if not entries and not self.include_random:
      return Choice(candidates[0], {})
    if self.include_random:
      candidates.append(None)
    errors = features.knn_errors(candidates, self)
    if errors is None:  # The budget does not cover them: the newest model, without a comparison.
      return Choice(candidates[0], {})
    return Choice(min(candidates, key=lambda entry: errors[_name(entry)]), errors)


def _name(entry: weight_store.Entry | None) -> str:
  return RANDOM if entry is None else entry.name


class KnnErrors:
  """kNN errors of past backbones on the current task; every cost is charged to phase "select"."""

  def __init__(
      self,
      network: network_lib.Network,
      experience: deliveries.Experience,
      *,
      load: Callable[[weight_store.Entry | None], list[np.ndarray]],
      transform: examples.Transform,
      context: context_lib.Context,
  ):
    self._network, self._experience, self._load = network, experience, load
    self._transform, self._context = transform, context
    self._sets: dict[str, scoring.ReadySet] = {}

  def knn_errors(self, entries: list[weight_store.Entry | None], settings: Nearest
                 ) -> dict[str, float] | None:
    """The errors of backbones by name; None where the budget does not cover all of them."""
    return spending.within(self._network.backbone, self._context, lambda context: (
        None if context.is_over else {_name(entry): self._knn_error(entry, settings, context)
                                      for entry in entries}))

  def _knn_error(self, entry: weight_store.Entry | None, settings: Nearest,
                 context: context_lib.Context) -> float:
    """Returns the kNN validation error on the features of a past backbone (None: random)."""
    def compute() -> float:
      self._network.set_backbone(self._load(entry))
      train, validation = (
          self._ready(split, limit, settings).run(
              self._network.extract(settings.statistics), ledger=context.ledger, phase="select")
          for split, limit in (("train", settings.max_train), ("dev", settings.max_validation)))
      multi_label = self._experience.task.kind == tasks.MULTI_LABEL
      knn = nearest_neighbors.fitted(train, settings.k)
      macs = nearest_neighbors.macs(train, validation)
      context.charge(flops.Cost(2 * macs, macs), phase="select")
      if rehearsal.counts_only():  # Features are blank.
        return 1.0
      queries = nearest_neighbors.finite(validation.values)
      with nearest_neighbors.one_thread():
        if multi_label:
          # predict_proba of a multi-label kNN is a list of [N, 2 or 1] arrays: fractions are easier
          # to count.
          neighbors_of = knn.kneighbors(queries, return_distance=False)
          scores = np.mean(train.labels[neighbors_of], axis=1)
          return 1.0 - classification.mean_average_precision(scores, validation.labels)
        correct = int(np.sum(knn.predict(queries) == validation.labels))
      return classification.error(correct, len(validation.labels))

    return context.journal.once(f"select/{_name(entry)}", compute)

  def _ready(self, split: str, limit: int, settings: Nearest) -> scoring.ReadySet:
    if split not in self._sets:
      seeds, images = self._context.seeds, getattr(self._experience, split)
      images = images.take(limit, seed=seeds.integer("select", split))
      # Images are often stored by class, and the statistics of such batches would tell it.
      order = seeds.generator("select order", split).permutation(images.size)
      images = images.subset(order)
      self._sets[split] = scoring.ReadySet(
          images, transform=self._transform, batch_size=settings.batch_size)
    return self._sets[split]


class Independent:
  """Models trained independently of each other, on which FT-s compares past tasks.

  Args:
    given: False: there are none. True: the learner trains them. A name or directory: see
      `Finetune.static`.
  """

  PREFIX = "static+"  # Of the names under which a learner stores those that it trained.

  def __init__(self, given: bool | str):
    self.given = given

  @property
  def is_used(self) -> bool:
    """Whether past tasks are compared on independent models."""
    return self.given is not False

  def run(self, context: context_lib.Context, task: tasks.Task) -> weight_store.WeightStore | None:
    """The run whose models are taken; None: the learner trains them.

    It is decided when the first task comes: the models of a run are all from one place.

    Args:
      context: of a Train event. task: of it.
    """
    if isinstance(self.given, bool):
      return None
    folder = pathlib.Path(self.given)
    if len(folder.parts) == 1:  # A learner of the same work directory.
      folder = run_identity.latest(context.store.folder.parent.parent, folder.name)
    store = weight_store.WeightStore(folder / "weights", context.event + 1)
    earlier = context.store.entries()
    if any(entry.name.startswith(self.PREFIX) for entry in earlier):
      return None
    own = context.store.own(task.key)
    if earlier or context.journal.once("independent models", lambda: own in store.entries()):
      return store
    logging.warning("%s has no model of %s (event %d): independent models are trained here, and "
                    "charged.", folder, task.key, context.event)
    return None

  def load(self, entry: weight_store.Entry, context: context_lib.Context,
           run: weight_store.WeightStore | None, model: tf.keras.Model) -> list[np.ndarray]:
    """The independent model of a past task; backbone first, which is `model`'s."""
    if run is None:
      return context.store.load(entry._replace(name=self.PREFIX + entry.name))
    if entry not in run.entries():
      raise FileNotFoundError(
          f"The run in {run.folder.parent}, from which FT-s takes independent models "
          f"(Finetune.static={self.given!r}), has none of {entry.name!r} as event {entry.event}; "
          f"it has {[e.name for e in run.entries()]}. Run it first, to its end, on the same "
          "stream; or set static=True to train them here. Processes other than the chief need the "
          "directory in place of a name.")
    weights = run.load(entry)
    encoder_file.check_fits(weights, model, f"{run.folder.parent} ({entry.name})")
    return weights
