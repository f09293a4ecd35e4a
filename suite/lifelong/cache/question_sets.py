# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Questions that stay: the samples that new models are asked, stored with the cache.

Questions are drawn once, in the order of difficulty of that time (`rank_order`), and kept: adding
models changes none of them, and a larger budget asks the same ones first. They are rows of the
cache, each a layer: questions about samples first ... last - 1, with the seed.

  samples   0 ................. 6000 ...... 9000      later samples get layers of their own,
  layers    [ 4096 questions       ][ 512      ]      asked at the same rate;
            [ 4096 more            ]                  a larger budget adds layers below

Question j of a part of n samples has the key (j + u) / n, u random, one for each part. Budget m
asks the m lowest keys: every sample is then equally likely to be asked, and each part is asked a
prefix of its questions. Which answers form a random sample follows from the prefixes that a model
has answered (`drawn`), so answers to an earlier set are as good as those to the present one.

Of a cache without retired samples (`active_samples`), the questions are those that are not retired;
numbers of samples are those of the active ones, except in the rows.

Of eight random draws the one is taken whose first questions tell the accuracies of the known models
best (`accuracy_regression`). New models have no part in that choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import hashlib
import logging
from typing import Any, NamedTuple

import numpy as np

from suite.lifelong.answers import accuracy_regression
from suite.lifelong.answers import random_sample
from suite.lifelong.answers import rank_order
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import catalog

_LOGGER = logging.getLogger(__name__)
_TABLE = "questions"
_DRAWS = 8
_LEAST = 4096  # Number of questions of a layer, if there are as many samples.
_MANY = 16  # Number of answers of a group of parts that gets a weight of its own.
_WIDEST = 0.5  # Answers with gaps are no random sample if the interval would be wider.


class QuestionLayer(NamedTuple):
  """Questions about samples first ... last - 1, all different: int64 [m], by rank int64 [m]."""

  first: int
  last: int
  samples: np.ndarray
  ranks: np.ndarray


class QuestionSet:
  """The questions of one seed."""

  def __init__(self, cache: accuracy_cache.AccuracyCache, counts: Callable[[], np.ndarray], *,
               seed: int = 0, save: bool = True,
               known: tuple[Callable[[np.ndarray], np.ndarray], np.ndarray] | None = None):
    """Args:
      cache: the cache.
      counts: returns what to order the samples by (`RankOrder`); called if more are drawn.
      seed: number of the set.
      save: store what is drawn.
      known: samples [n] -> answers [M, n] of known models, and their accuracies [M], by which the
        first draw of all samples is chosen; None: it is the draw `seed`.
    """
    self._known_models = known
    self._cache, self._counts, self._seed, self._save = cache, counts, seed, save
    self._layers: list[QuestionLayer] = []
    self._starts: dict[int, int] = {}  # First sample of a part -> the same in the rows.
    self._stops: dict[tuple[int, int], int] = {}  # Part -> its end in the rows.
    self._end = 0  # Of the last part, in the rows.
    self._read(catalog.read(cache.folder, [_TABLE])[_TABLE])

  def first(self, budget: int) -> np.ndarray:
    """The samples to ask, in the order of asking: int64 [budget]; draws and stores what lacks."""
    num = self._cache.num_samples
    if not 1 <= budget <= num:
      raise accuracy_cache.CacheError(
          f"A budget of {budget} answers of {num:,} samples; expected 1 to {num}.")
    covered = self._parts()[-1][1] if self._layers else 0
    parts = self._parts()
    if (num - covered) * budget >= num:
      parts.append((covered, num))
    keys, owners = [], []
    total = parts[-1][1]
    for index, (first, last) in enumerate(parts):
      size = last - first
      most = min(size, 2 + -(-budget * size // total))
      keys.append((np.arange(most) + self._offset(first)) / size)
      owners.append(np.full(most, index))
    owner = np.concatenate(owners)[np.argsort(np.concatenate(keys), kind="stable")[:budget]]
    found = np.empty(len(owner), np.int64)
    for index, part in enumerate(parts):
      here = owner == index
      known, wanted = self._known(part), int(here.sum())
      if len(known) < wanted:
        self._draw(part, wanted)
        known = self._known(part)
      found[here] = known[:wanted]
    return found

  def drawn(self, samples: np.ndarray) -> random_sample.RandomSample | None:
    """Which of a model's answers, to samples int64 [n], are a random sample; None: none."""
    samples = np.asarray(samples, np.int64)
    order = np.argsort(samples)
    known = samples[order]
    has_others = len(samples) > len(np.intersect1d(samples, np.concatenate(
        [layer.samples for layer in self._layers] or [np.zeros(0, np.int64)])))
    runs, taken = [], np.zeros(len(samples), bool)
    for number, layer in enumerate(self._layers):
      place = np.minimum(np.searchsorted(known, layer.samples), max(0, len(known) - 1))
      answered = (known[place] == layer.samples) if len(known) else np.zeros(0, bool)
      length = _prefix(answered, has_others)
      here = np.flatnonzero(answered[:length])
      if len(here):
        by_rank = here[np.argsort(layer.ranks[here])]
        members = order[place[by_rank]]
        runs.append((layer, number, members[~taken[members]], length - len(here), length))
        taken[members] = True
    if not runs:
      return None
    # Makes a few parts: neighbors that have few answers are one.
    by_part: dict[tuple[int, int], list[Any]] = {part: [] for part in self._parts()}
    for run in runs:
      by_part[run[0].first, run[0].last].append(run)
    # Up to which key the model was asked: a part whose first key is higher was rightly left out.
    level = max((sum(run[4] for run in found) - 1 + self._offset(first)) / (last - first)
                for (first, last), found in by_part.items() if found)
    members, numbers, parts, sizes, missing = [], [], [], [0], [np.zeros(2)]
    for (first, last), found in by_part.items():
      if not found and self._offset(first) / (last - first) <= level:
        continue  # It was not asked.
      sizes[-1] += last - first
      for _, number, chosen, gaps, length in found:
        members.append(chosen)
        numbers.append(np.full(len(chosen), number))
        parts.append(np.full(len(chosen), len(sizes) - 1))
        missing[-1] = missing[-1] + np.array([gaps, length])
      if sum(len(one) for one, part in zip(members, parts) if len(part) and
             part[0] == len(sizes) - 1) >= _MANY:
        sizes.append(0)
        missing.append(np.zeros(2))
    # The last group may have too few answers, or none: it joins the one before.
    last_size, last_missing = sizes.pop(), missing.pop()
    if sizes:
      sizes[-1] += last_size
      missing[-1] = missing[-1] + last_missing
    else:
      sizes, missing = [last_size], [last_missing]
    chosen = np.concatenate(members)
    return random_sample.RandomSample(
        chosen, samples[chosen], np.concatenate(numbers),
        np.minimum(np.concatenate(parts), len(sizes) - 1), np.array(sizes, np.int64),
        np.array([gaps / max(1.0, length) for gaps, length in missing]), self._cache.num_samples)

  def _parts(self) -> list[tuple[int, int]]:
    return sorted({(layer.first, layer.last) for layer in self._layers})

  def _offset(self, first: int) -> float:
    return float(np.random.default_rng([self._seed, self._starts.get(first, self._end)]).random())

  def _known(self, part: tuple[int, int]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *(
        layer.samples for layer in self._layers if (layer.first, layer.last) == part)])

  def _draw(self, part: tuple[int, int], num: int) -> None:
    if not self._save:
      self._append(part, num)
      return
    try:
      with catalog.changing(self._cache.folder, [_TABLE]) as tables:
        self._read(tables[_TABLE])  # Another process may have drawn them.
        if len(self._known(part)) < num:
          tables[_TABLE].append(self._append(part, num))
    except OSError as error:  # A read-only cache can still be used.
      _LOGGER.warning("%s: questions are not stored: %s.", self._cache.folder, error)
      self._save = False
      self._append(part, num)

  def _append(self, part: tuple[int, int], num: int) -> tuple[Any, ...]:
    """Draws a layer of a part, so that it has `num` questions at least; returns its row."""
    first, last = part
    known = self._known(part)
    depth = sum((layer.first, layer.last) == part for layer in self._layers)
    start = self._starts.get(first, self._end)  # A new part follows the last one.
    seed = self._seed if not start and not depth else int(
        np.random.SeedSequence([self._seed, start, depth]).generate_state(1)[0])
    order = rank_order.RankOrder(self._counts()[first:last])
    wanted = max(_LEAST, 1 << (num - 1).bit_length())
    if not start and not depth and self._known_models is not None:
      seeds = [seed, *np.random.SeedSequence(self._seed).generate_state(_DRAWS - 1).tolist()]
      few = min(last - first, max(accuracy_regression.SIZES))
      seed = seeds[accuracy_regression.best([order.samples_at(rank_order.nested_ranks(
          last - first, few, one)) for one in seeds], *self._known_models)]
    ranks = rank_order.nested_ranks(last - first, min(last - first, wanted + len(known)), seed)
    samples = first + order.samples_at(ranks)
    new = ~np.isin(samples, known)
    layer = QuestionLayer(first, last, samples[new], ranks[new])
    self._layers.append(layer)
    cache, chosen = self._cache, layer.samples
    if isinstance(cache, active_samples.ActiveCache):
      chosen = cache.active[chosen]
      cache = cache.whole
    stored = QuestionLayer(start, self._stops.get(part, cache.num_samples), chosen, layer.ranks)
    self._starts[first], self._stops[part] = start, stored.last
    self._end = max(self._end, stored.last)
    return (self._seed, stored.first, stored.last, _check(cache, stored),
            stored.samples.astype("<u4").tobytes(), stored.ranks.astype("<u4").tobytes())

  def _read(self, rows: Sequence[tuple[Any, ...]]) -> None:
    self._layers, self._starts, self._stops, self._end = [], {}, {}, 0
    cache, active = self._cache, None
    if isinstance(cache, active_samples.ActiveCache):
      active = cache.active
      cache = cache.whole
    for seed, first, last, check, *both in rows:
      if seed == self._seed:
        layer = QuestionLayer(first, last, *(
            np.frombuffer(one, "<u4").astype(np.int64) for one in both))
        if layer.last > cache.num_samples or check != _check(cache, layer):
          raise accuracy_cache.CacheError(
              f"{self._cache.folder} has questions about other samples than its own, which were "
              "cut or replaced since. Put the cache back.")
        self._end = max(self._end, layer.last)
        stored = layer
        if active is not None:
          first, last = np.searchsorted(active, [layer.first, layer.last]).tolist()
          places = np.minimum(np.searchsorted(active, layer.samples), len(active) - 1)
          stay = active[places] == layer.samples
          layer = QuestionLayer(first, last, places[stay], layer.ranks[stay])
        if layer.first < layer.last:
          self._layers.append(layer)
          self._starts[layer.first] = stored.first
          self._stops[layer.first, layer.last] = stored.last


def _check(cache: accuracy_cache.AccuracyCache, layer: QuestionLayer) -> str:
  """Digest of some ids, which tells whether the questions are of this cache."""
  some = [layer.first, layer.last - 1, *layer.samples[:4].tolist()]
  return hashlib.sha256("\n".join(cache.sample_ids.at(np.array(some))).encode()).hexdigest()[:16]


def _prefix(answered: np.ndarray, has_others: bool) -> int:
  """Length of the prefix that gives the narrowest interval: gaps count as unknown answers.

  Args:
    answered: bool [m], in the order of asking.
    has_others: whether the model has answers to other samples: some of the questions may then be
      answered by chance, and a poor prefix is no random sample.
  """
  ends = np.flatnonzero(answered) + 1
  if not len(ends):
    return 0
  num = np.arange(1, len(ends) + 1)
  gaps = (ends - num) / ends
  width = 1.96 / np.sqrt(num) + gaps
  best = int(np.argmin(width))
  if width[best] > _WIDEST and (has_others or gaps[best] > 0):
    return 0
  return int(ends[best])
