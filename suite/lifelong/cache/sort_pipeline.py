# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Counting and sorting of a cache's samples on Apache Beam (extra `beam`), on many machines.

  blocks of packed rows -> counts of each block, summed over the blocks of its models
                        -> sort keys -> histogram of each block -> ranks of each block

This is a counting sort: no sample is shuffled. Workers share the histograms only, 8 bytes x (M + 1)
for each block, and compute the ranks of their blocks from them. The order is that of
`SampleCounts.ranked` and `RankOrder`: by descending count, ties by position.

  sort_pipeline.sort("cache", "sorted")        # Or with options=PipelineOptions(...) of a runner.
  order = rank_order.RankOrder(sort_pipeline.read_counts("sorted"))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import functools
import io
import os
from typing import Any, NamedTuple

import numpy as np

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import bit_rows
from suite.lifelong.cache import sample_counts

BLOCK = 1 << 20
_NAME = "ranked-{:014d}.npz"


class CacheBlock(NamedTuple):
  """Location of the answers of one model batch of a cache to some samples.

  `state` is (additions of models, additions of samples) of the cache as the worker must find it.
  """

  folder: str
  state: tuple[tuple[int, ...], tuple[int, ...]]
  models: int  # Index of the batch of models.
  samples: int  # Index of the batch of samples.
  inside: int  # First sample of the block within its batch, a multiple of 64.
  first: int  # First sample of the block within the cache.
  size: int


class RankedBlock(NamedTuple):
  """Samples first, first + 1, ...: their sort keys uint16 [n] and ranks int64 [n]."""

  first: int
  counts: np.ndarray
  ranks: np.ndarray


def blocks(cache: accuracy_cache.AccuracyCache, size: int = BLOCK) -> Iterator[CacheBlock]:
  """Yields all blocks of a cache, of at most `size` samples (a multiple of 64)."""
  if size < 64 or size % 64:
    raise ValueError(f"Got blocks of {size} samples; expected a multiple of 64.")
  state, start = (cache.model_batches, cache.sample_batches), 0

  for batch, num in enumerate(cache.sample_batches):
    for inside in range(0, num, size):
      for models in range(len(cache.model_batches)):
        yield CacheBlock(os.fspath(cache.folder), state, models, batch, inside, start + inside,
                    min(size, num - inside))
    start += num


def tally(block: CacheBlock) -> tuple[int, np.ndarray]:
  """Counts a block: (first, uint16 [2, n] of models that solve, and saw, each sample)."""
  cache = _opened(block.folder, block.state)
  piece = cache.piece(block.models, block.samples)
  found = np.empty([2, block.size], np.uint16)
  for line, plane in zip(found, (piece.correct, piece.seen)):
    if plane is None:
      line[:] = len(piece.correct)
    else:
      line[:] = bit_rows.column_counts(list(np.asarray(plane)), block.size, first=block.inside)
  return block.first, found


def ranked(tallies: Any, num_models: int) -> Any:
  """Transforms a PCollection of (first, uint16 [2, n] of correct and seen) to `RankedBlock`s.

  Args:
    tallies: counts of all models and all samples, in any order, for example `tally` of blocks.
    num_models: M.
  """
  import apache_beam as beam  # pylint: disable=import-outside-toplevel
  counted = tallies | "sum models" >> beam.CombinePerKey(_sum)
  mean = (counted | "totals" >> beam.Map(lambda one: one[1].sum(axis=1, dtype=np.int64))
          | "sum samples" >> beam.CombineGlobally(_sum)
          | "mean" >> beam.Map(lambda totals: sample_counts.mean_answer(*totals.tolist())))
  keyed = counted | "keys" >> beam.Map(_keyed, num_models, beam.pvalue.AsSingleton(mean))
  starts = (keyed | "histograms" >> beam.Map(
      lambda one: (one[0], np.bincount(one[1], minlength=num_models + 1)))
            | "gather" >> beam.CombineGlobally(beam.combiners.ToListCombineFn())
            | "starts" >> beam.Map(_starts))
  return keyed | "ranks" >> beam.Map(_ranked, beam.pvalue.AsSingleton(starts))


def sort(folder: str, out: str, *, size: int = BLOCK, options: Any | None = None) -> None:
  """Sorts a cache that all workers can open; writes one file per block into `out`.

  Args:
    folder: folder of the cache.
    out: a new or empty folder, on any file system that Beam supports.
    size: number of samples of a block.
    options: apache_beam PipelineOptions; None: this machine.
  """
  import apache_beam as beam  # pylint: disable=import-outside-toplevel
  cache = accuracy_cache.AccuracyCache(folder)
  if not cache.num_models or not cache.num_samples:
    raise accuracy_cache.CacheError(f"{folder} has {cache.num_models} models and "
                                    f"{cache.num_samples} samples: there is nothing to sort.")
  if _files(out):
    raise accuracy_cache.CacheError(f"{out} has sorted blocks already; give a new folder.")
  beam.io.filesystems.FileSystems.mkdirs(out)
  with beam.Pipeline(options=options) as pipeline:
    tallies = (pipeline | "blocks" >> beam.Create(list(blocks(cache, size)))
               | "spread" >> beam.Reshuffle() | "tally" >> beam.Map(tally))
    _ = ranked(tallies, cache.num_models) | "write" >> beam.Map(_write, out)


def read(out: str) -> Iterator[RankedBlock]:
  """Reads the blocks that `sort` wrote, by position."""
  from apache_beam.io import filesystems  # pylint: disable=import-outside-toplevel
  for path in _files(out):
    with filesystems.FileSystems.open(path, "application/octet-stream") as file:
      data = io.BytesIO(file.read())
    with np.load(data, allow_pickle=False) as saved:
      yield RankedBlock(int(saved["first"]), saved["counts"], saved["ranks"])


def read_counts(out: str) -> np.ndarray:
  """Reads the sort keys of all samples: uint16 [N]."""
  parts = []
  size = 0
  for one in read(out):
    if one.first != size:
      raise accuracy_cache.CacheError(f"{out} has no block of sample {size}; sort again.")
    parts.append(one.counts)
    size += len(one.counts)
  if not parts:
    raise accuracy_cache.CacheError(f"{out} has no sorted blocks; make them with sort().")
  return np.concatenate(parts)


@functools.lru_cache(maxsize=2)
def _opened(folder: str, state: tuple[tuple[int, ...], tuple[int, ...]]
            ) -> accuracy_cache.AccuracyCache:
  """Opens the cache, once per worker. It may have grown since, but not joined what was there."""
  cache = accuracy_cache.AccuracyCache(folder)
  models, samples = state
  if cache.model_batches[:len(models)] != models or cache.sample_batches[:len(samples)] != samples:
    raise accuracy_cache.CacheError(
        f"{folder} has other models or samples here than where the pipeline was made: workers must "
        "share its disk, and nothing may be added until all of them have opened it. Sort again.")
  return cache


def _sum(arrays: Iterable[np.ndarray]) -> np.ndarray:
  return functools.reduce(np.add, arrays)


def _keyed(tallied: tuple[int, np.ndarray], num_models: int, mean: float
           ) -> tuple[int, np.ndarray]:
  first, (correct, seen) = tallied
  return first, sample_counts.expected(correct, seen, num_models, mean).astype(np.uint16)


def _starts(histograms: list[tuple[int, np.ndarray]]) -> dict[int, np.ndarray]:
  """First rank of each count, int64 [M + 1], by the `first` of a block."""
  histograms = sorted(histograms, key=lambda one: one[0])
  totals = _sum(histogram for _, histogram in histograms)
  next_rank = totals[::-1].cumsum()[::-1] - totals  # Higher counts are first.
  found = {}
  for first, histogram in histograms:
    found[first] = next_rank
    next_rank = next_rank + histogram
  return found


def _ranked(keyed: tuple[int, np.ndarray], starts: dict[int, np.ndarray]) -> RankedBlock:
  first, counts = keyed
  order = np.argsort(counts, kind="stable")  # A radix sort for 16 bits.
  in_order = counts[order]
  places = np.arange(len(counts)) - np.searchsorted(in_order, in_order)
  ranks = np.empty(len(counts), np.int64)
  ranks[order] = starts[first][in_order] + places
  return RankedBlock(first, counts, ranks)


def _write(one: RankedBlock, out: str) -> None:
  from apache_beam.io import filesystems  # pylint: disable=import-outside-toplevel
  stream = io.BytesIO()
  np.savez(stream, first=one.first, counts=one.counts, ranks=one.ranks)
  path = filesystems.FileSystems.join(out, _NAME.format(one.first))
  with filesystems.FileSystems.create(path, "application/octet-stream") as file:
    file.write(stream.getvalue())


def _files(out: str) -> list[str]:
  from apache_beam.io import filesystems  # pylint: disable=import-outside-toplevel
  found = filesystems.FileSystems.match([filesystems.FileSystems.join(out, "ranked-*.npz")])
  return sorted(one.path for one in found[0].metadata_list)
