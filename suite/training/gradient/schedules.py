# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learning rates as functions of the step.

Every number of a schedule may be a `tf.Variable`: it is then read inside the compiled step, so that
a search assigns the next trial's peak and reuses the same graph. The schedule does not own
its variables; whoever made them saves them. Each class has a plain function beside it that says the
same for one step.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import math
from typing import Any, Protocol, TypeAlias

import numpy as np
import tensorflow as tf

# Ours, as of CIFAR's nets (He et al., 2016): the paper names piecewise constant decay only.
DECAY_AT, DECAY_FACTOR = (0.5, 0.75), 0.1

Number: TypeAlias = float | int | tf.Tensor | tf.Variable


class EpochSchedule(Protocol):
  """The rates of a phase; each phase begins at its first epoch."""

  def rates(self, peak: float, epochs: np.ndarray) -> np.ndarray:
    """Rates, float32, at the given epochs, counted from 0."""


@dataclasses.dataclass(frozen=True)
class EpochConstant:
  """The peak throughout."""

  def rates(self, peak: float, epochs: np.ndarray) -> np.ndarray:
    return np.full(np.shape(epochs), peak, np.float32)


@dataclasses.dataclass(frozen=True)
class EpochSteps:
  """The rate falls by `factor` every `step` epochs.

  Attributes:
    step: epochs between falls. factor: multiplies the rate at each.
  """

  step: int = 60
  factor: float = 0.1

  def __post_init__(self):
    if self.step < 1:
      raise ValueError(f"EpochSteps.step is {self.step}; it must be at least 1 epoch.")

  def rates(self, peak: float, epochs: np.ndarray) -> np.ndarray:
    return (peak * self.factor ** (np.asarray(epochs) // self.step)).astype(np.float32)


def warmup_steps(num_examples: int, batch_size: int, total_steps: int, *, epochs: float = 7) -> int:
  """How long NEVIS'22 warms up: 7 epochs, each rounded up, but less than the whole training."""
  return min(total_steps - 1, int(epochs * (num_examples // batch_size + 1)))


def warmup_cosine(step: int, peak: float, warmup: int, total: int, end: float = 1e-8) -> float:
  """Rises from 0 to peak over `warmup` steps, falls along half a cosine to end at step `total`."""
  if step < warmup:
    return peak * step / warmup
  progress = min(1.0, (step - warmup) / max(1, total - warmup))
  return end + (peak - end) * 0.5 * (1.0 + math.cos(math.pi * progress))


def warmup_piecewise(step: int, peak: float, warmup: int, total: int) -> float:
  """Rises as `warmup_cosine`; then the peak, a tenth of it from total / 2, a 100th from 3/4 total.
  """
  if step < warmup:
    return peak * step / warmup
  return peak * DECAY_FACTOR ** sum(step >= share * total for share in DECAY_AT)


class Constant(tf.keras.optimizers.schedules.LearningRateSchedule):
  """The same rate at every step."""

  def __init__(self, peak: Number):
    self.peak = peak

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    return _float(self.peak)

  def get_config(self) -> dict[str, Any]:
    return {"peak": _plain(self.peak)}


class WarmupCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
  """NEVIS'22: linear warm-up from 0 (the first step's rate), then a cosine: `warmup_cosine`."""

  def __init__(self, peak: Number, warmup: Number, total: Number, end: Number = 1e-8):
    self.peak, self.warmup, self.total, self.end = peak, warmup, total, end

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    step, peak, end = _float(step), _float(self.peak), _float(self.end)
    warmup, total = _float(self.warmup), _float(self.total)
    rising = peak * step / tf.maximum(1.0, warmup)
    progress = tf.minimum(1.0, (step - warmup) / tf.maximum(1.0, total - warmup))
    falling = end + (peak - end) * 0.5 * (1.0 + tf.cos(math.pi * progress))
    return tf.where(step < warmup, rising, falling)

  def get_config(self) -> dict[str, Any]:
    return {"peak": _plain(self.peak), "warmup": _plain(self.warmup), "total": _plain(self.total),
            "end": _plain(self.end)}


class WarmupPiecewise(tf.keras.optimizers.schedules.LearningRateSchedule):
  """NEVIS'22, BHPO: linear warm-up, then piecewise constant, see `warmup_piecewise`."""

  def __init__(self, peak: Number, warmup: Number, total: Number):
    self.peak, self.warmup, self.total = peak, warmup, total

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    step, peak, warmup = _float(step), _float(self.peak), _float(self.warmup)
    passed = tf.reduce_sum(_float(step >= tf.constant(DECAY_AT) * _float(self.total)))
    falling = peak * DECAY_FACTOR ** passed
    return tf.where(step < warmup, peak * step / tf.maximum(1.0, warmup), falling)

  def get_config(self) -> dict[str, Any]:
    return {"peak": _plain(self.peak), "warmup": _plain(self.warmup), "total": _plain(self.total)}


WARMED_UP = {"cosine": WarmupCosine, "piecewise": WarmupPiecewise}


def check_warmed_up(names: Sequence[Any]) -> None:
  """Refuses names of schedules that are not in `WARMED_UP`."""
  unknown = [name for name in names if name not in WARMED_UP]
  if unknown:
    raise ValueError(f"The schedules to train with are {list(names)}; allowed are "
                     f"{', '.join(map(repr, WARMED_UP))}.")


class Selected(tf.keras.optimizers.schedules.LearningRateSchedule):
  """The schedule of a list whose place a variable holds: a search changes it without a new graph.
  """

  def __init__(self, schedules: Sequence[tf.keras.optimizers.schedules.LearningRateSchedule],
               place: Number):
    self.schedules, self.place = schedules, place

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    return tf.gather(tf.stack([schedule(step) for schedule in self.schedules]), self.place)

  def get_config(self) -> dict[str, Any]:
    chosen = int(_plain(self.place))
    return {"schedules": [tf.keras.optimizers.schedules.serialize(s) for s in self.schedules],
            "place": chosen}

  @classmethod
  def from_config(cls, config: dict[str, Any]) -> Selected:
    return cls([_deserialized(schedule) for schedule in config["schedules"]], config["place"])


class StepDecay(tf.keras.optimizers.schedules.LearningRateSchedule):
  """The peak times factor^k after k boundaries; a boundary's own step counts."""

  def __init__(self, peak: Number, boundaries: Sequence[int] | tf.Variable,
               factor: Number = 0.1):
    self.peak, self.boundaries, self.factor = peak, boundaries, factor

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    passed = tf.reduce_sum(_float(_float(step) >= _float(self.boundaries)))
    return _float(self.peak) * _float(self.factor) ** passed

  def get_config(self) -> dict[str, Any]:
    boundaries = [int(b) for b in tf.convert_to_tensor(self.boundaries).numpy()]
    return {"peak": _plain(self.peak), "boundaries": boundaries, "factor": _plain(self.factor)}


class Scaled(tf.keras.optimizers.schedules.LearningRateSchedule):
  """factor * schedule(step): a weight decay that follows the learning rate."""

  def __init__(self, schedule: tf.keras.optimizers.schedules.LearningRateSchedule, factor: Number):
    self.schedule, self.factor = schedule, factor

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    return _float(self.factor) * self.schedule(step)

  def get_config(self) -> dict[str, Any]:
    return {"schedule": tf.keras.optimizers.schedules.serialize(self.schedule),
            "factor": _plain(self.factor)}

  @classmethod
  def from_config(cls, config: dict[str, Any]) -> Scaled:
    return cls(_deserialized(config["schedule"]), config["factor"])


def _deserialized(config: dict[str, Any]) -> tf.keras.optimizers.schedules.LearningRateSchedule:
  ours = (Constant, WarmupCosine, WarmupPiecewise, Selected, StepDecay)
  return tf.keras.optimizers.schedules.deserialize(
      config, custom_objects={c.__name__: c for c in ours})


def _float(value: Any) -> tf.Tensor:
  # float32 holds every step up to 16 million exactly.
  return tf.cast(value, tf.float32)


def _plain(value: Number) -> int | float:
  """A Python number, so that a schedule with variables can be written down."""
  return value.numpy().item() if hasattr(value, "numpy") else value
