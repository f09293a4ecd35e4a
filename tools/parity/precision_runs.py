# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Meta-gradients in float32 beside float64: one process of `precision.py`.

A recorded run is an episode's loss and meta-gradient with the decisions of all its kinks
(`suite/models/episodic/kinks.py`): the winner of every pooling window and the sign of every
LeakyReLU's argument. A replay computes them with given decisions. Both run op by op; what training
runs, the compiled graph, is measured beside them. Not recorded are the critic's |z| and sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import pathlib
import sys
from typing import Any, NamedTuple
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))

import cfsl_cases
import numpy as np
import suite_cfsl
import tensorflow as tf

from suite.data.episodes import cfsl_data
from suite.models.episodic import kinks
from suite.models.episodic import twice_norm

UNIT = 2.0 ** -24  # The relative error of a rounding in float32.
TIED = 1e-9  # Normalized numbers that are closer than this in float64 are equal but for rounding.

Decisions = list[np.ndarray]  # uint8, in the order of the calls; bit k: number k of a window won.


class Run(NamedTuple):
  """Loss and flat meta-gradient; if recorded, decisions, and the tied numbers of all windows."""

  loss: float
  gradient: np.ndarray
  decisions: Decisions = []
  tied: Decisions = []


class Change(NamedTuple):
  """How far a run is from another: of the loss, of the gradient (relative), and decisions."""

  loss: float
  gradient: float
  decisions: int


def change(run: Run, reference: Run) -> Change:
  """A run's differences; a decision differs if the winner is none of the reference's tied ones."""
  distance = np.linalg.norm(run.gradient - reference.gradient)
  differ = sum(int(np.count_nonzero((a & b) == 0))
               for a, b in zip(run.decisions, reference.tied))
  return Change(run.loss - reference.loss, float(distance / np.linalg.norm(reference.gradient)),
                differ)


def parts(x: tf.Tensor) -> list[tf.Tensor]:
  """The four numbers of every 2x2 window of [B, H, W, F], by rows."""
  height, width = x.shape[1] // 2 * 2, x.shape[2] // 2 * 2
  return [x[:, i:height:2, j:width:2] for i in (0, 1) for j in (0, 1)]


def _bits(masks: Sequence[tf.Tensor]) -> tf.Tensor:
  return tf.add_n([tf.cast(mask, tf.uint8) * (1 << k) for k, mask in enumerate(masks)])


class Recorder:
  """Kinks that note their decisions, in lists `decisions` and `tied`."""

  def __init__(self) -> None:
    self.decisions: Decisions = []
    self.tied: Decisions = []

  def max_pool(self, x: tf.Tensor, *, twice: bool = True) -> tf.Tensor:
    four, largest = parts(x), tf.nn.max_pool2d(x, 2, 2, "VALID")
    left, won = tf.ones_like(largest, tf.bool), []
    for number in four:  # The first of the equal ones wins.
      won.append((number == largest) & left)
      left &= number != largest
    self.decisions.append(_bits(won).numpy())
    self.tied.append(_bits([number >= largest - TIED for number in four]).numpy())
    return largest

  def rectify(self, x: tf.Tensor, leak: float = kinks.LEAK) -> tf.Tensor:
    self.decisions.append(_bits([x <= 0.0, x > 0.0]).numpy())
    self.tied.append(_bits([x <= TIED, x > -TIED]).numpy())
    return tf.nn.leaky_relu(x, leak) if leak else tf.nn.relu(x)


class Replay:
  """Kinks that decide as they are told; several winners of a window share its gradient."""

  def __init__(self, decisions: Sequence[np.ndarray]):
    self._left = list(decisions)

  def max_pool(self, x: tf.Tensor, *, twice: bool = True) -> tf.Tensor:
    bits = self._left.pop(0)
    won = [tf.cast(bits // (1 << k) % 2, x.dtype) for k in range(4)]
    return tf.add_n([a * b for a, b in zip(won, parts(x))]) / tf.add_n(won)

  def rectify(self, x: tf.Tensor, leak: float = kinks.LEAK) -> tf.Tensor:
    rounded = tf.cast(tf.constant(leak, tf.float32), x.dtype)  # As TensorFlow's op keeps it.
    return x * tf.where(self._left.pop(0) == 2, tf.ones([], x.dtype), rounded)


def recorded(learner: Any, episode: Any) -> Run:
  """Runs op by op with recorded decisions."""
  recorder = Recorder()
  return _run(learner, episode, recorder)._replace(decisions=recorder.decisions,
                                                   tied=recorder.tied)


def replayed(learner: Any, episode: Any, decisions: Decisions) -> Run:
  """Runs op by op with given decisions."""
  return _run(learner, episode, Replay(decisions))


def _run(learner: Any, episode: Any, made: Recorder | Replay) -> Run:
  with mock.patch.object(kinks, "max_pool", made.max_pool), \
      mock.patch.object(kinks, "rectify", made.rectify):
    return _as_run(*gradients(learner, episode))


def compiled(learner: Any) -> Callable[[Any], Run]:
  """The function from episodes to runs that training uses."""
  graph = tf.function(lambda episode: gradients(learner, episode), autograph=False)
  return lambda episode: _as_run(*graph(episode))


def gradients(learner: Any, episode: Any) -> tuple[tf.Tensor, list[tf.Tensor]]:
  """An episode's meta-loss [] and its gradients for the learner's variables."""
  with tf.GradientTape() as tape:
    loss, _ = learner.meta_loss(episode)
  return loss, tape.gradient(loss, learner.trainable_variables, unconnected_gradients="zero")


def _as_run(loss: tf.Tensor, parts: Sequence[tf.Tensor]) -> Run:
  flat = [np.ravel(tf.convert_to_tensor(part)).astype(np.float64) for part in parts]
  return Run(float(loss), np.concatenate(flat))


def scatter(learner: Any) -> None:
  """Moves what begins at round numbers: rates by half, scales by 0.3, offsets by 0.2 at most.

  All variables then hold numbers of float32, in either type.
  """
  rng = np.random.default_rng(1)
  for variable in learner.trainable_variables:
    value, name = variable.numpy(), variable.name
    if "rates" in name:
      value = value * rng.uniform(0.5, 1.5, value.shape)
    elif "norm_scale" in name:
      value = rng.uniform(0.7, 1.3, value.shape)
    elif "norm_offset" in name:
      value = rng.uniform(-0.2, 0.2, value.shape)
    variable.assign(value.astype(np.float32))


@contextlib.contextmanager
def rounded_weights(learner: Any, seed: int) -> Iterator[None]:
  """Moves all weights by a relative `UNIT` up or down, as other roundings would, and back."""
  before, rng = [v.numpy() for v in learner.trainable_variables], np.random.default_rng(seed)
  for variable, value in zip(learner.trainable_variables, before):
    variable.assign(value * (1.0 + UNIT * rng.choice([-1.0, 1.0], value.shape)))
  yield
  for variable, value in zip(learner.trainable_variables, before):
    variable.assign(value)


def noisy(episode: Any, grey_levels: float, seed: int) -> Any:
  """Images as float32, with normal noise of that deviation on the pixels 0..255."""
  rng = np.random.default_rng(seed)
  noise = lambda part: tf.constant((part + grey_levels * rng.standard_normal(part.shape))
                                   .astype(np.float32))
  return type(episode)(noise(episode.support_images), tf.constant(episode.support_labels),
                       noise(episode.target_images), tf.constant(episode.target_labels))


def from_kernel() -> Any:
  """A context in which norms trace TensorFlow's kernel with its own moments."""
  return mock.patch.object(twice_norm, "_on_gpu", lambda: True)


class Sides(NamedTuple):
  """A learner in both types, and its compiled graphs in float32, with the kernel's moments too."""

  single: Any
  double: Any
  now: Callable[[Any], Run]
  before: Callable[[Any], Run]


def compare(sides: Sides, episode: Any, seed: int) -> dict[str, Any]:
  """One episode's row; `seed` is that of the roundings."""
  reference, single = recorded(sides.double, episode), recorded(sides.single, episode)
  with from_kernel():
    before = sides.before(episode)
  with rounded_weights(sides.double, seed):
    moved = recorded(sides.double, episode)
  return {"loss": reference.loss, "decided": sum(part.size for part in reference.decisions),
          "before": change(before, reference), "now": change(sides.now(episode), reference),
          "single": change(single, reference), "moved": change(moved, reference),
          "forced": change(single, replayed(sides.double, episode, single.decisions)),
          "shared": change(replayed(sides.double, episode, reference.tied), reference)}


def sides_of(make: Callable[[str], Any]) -> Sides:
  """Both types of what make(dtype) returns, with the same numbers in their variables."""
  single, double = made = make("float32"), make("float64")
  for learner in made:
    scatter(learner)
  return Sides(single, double, compiled(single), compiled(single))


def cell(model: str, num_sets: int, data_dir: str | None, episodes: Sequence[int],
         noises: Sequence[float]) -> Iterator[dict[str, Any]]:
  """Rows of a model and a number of support sets; type B, so each set has new classes."""
  case = cfsl_cases.Case(model, model, num_sets=num_sets)
  source = cfsl_data.episodes("cfsl_omniglot/images", "train", task_type="B" if num_sets > 1
                              else "FSL", num_support_sets=num_sets, data_dir=data_dir)
  sides = sides_of(lambda dtype: suite_cfsl.begun(case, suite_cfsl.context(), dtype))
  for number in episodes:
    for noise in noises:
      yield {"model": model, "num_sets": num_sets, "episode": number, "noise": noise,
             **compare(sides, noisy(source.episode(number), noise, number), number)}
