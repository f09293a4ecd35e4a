# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading of a whole accuracy cache, to say what of it is damaged."""

from __future__ import annotations

import pathlib

import numpy as np

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import committed
from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_counts


def problems(folder: pathlib.Path) -> list[str]:
  """Returns what is wrong, with what to do; [] if every byte is what was written.

  Of additions, the first damaged one is named: those after it cannot be kept without it. Files that
  early versions wrote have no digests; their sizes are compared.
  """
  try:
    cache = accuracy_cache.AccuracyCache(folder)
  except accuracy_cache.CacheError as error:
    return [str(error)]
  log = committed.read(cache.folder / committed.COMMITS)
  for number, line in enumerate(log.lines):
    found = [piece_files.damage(path, num_bytes, digest, whole=True)
             for path, num_bytes, digest in committed.files(cache.folder, line, "sha256")]
    if any(found):
      return [f"{problem}. {committed.remedy(cache.folder, log, number)}"
              for problem in found if problem]
  if cache.problem:
    return [f"{cache.problem}. {committed.remedy(cache.folder, log, len(log.lines))}"]
  wrong = []
  try:
    num = sum(map(len, cache.sample_ids.chunks()))
  except (IndexError, ValueError) as error:
    wrong.append(f"The ids of {cache.folder} cannot be read: {error}. Put back its files of ids.")
  else:
    if num != cache.num_samples:
      wrong.append(f"{cache.folder} has {num} ids for {cache.num_samples} samples. Put back its "
                   "files of ids.")
  path = cache.folder / sample_counts.FILE
  if path.exists():
    saved = sample_counts.SampleCounts(cache, save=False)
    counted = sample_counts.SampleCounts(cache, keep=False)
    same = (np.array_equal(saved.correct, counted.correct) and
            np.array_equal(saved.totals, counted.totals))
    if saved.seen is None or counted.seen is None:
      same &= saved.seen is counted.seen
    else:
      same &= np.array_equal(saved.seen, counted.seen)
    if not same:
      wrong.append(f"{path} is damaged. Remove it; it is made again.")
  try:
    active_samples.read(cache.folder)
  except accuracy_cache.CacheError as error:
    wrong.append(str(error))
  documents = cache_tasks.Documents(cache.folder, cache.states())
  if documents.problem:
    wrong.append(f"{documents.problem}. Put it back, or remove it: documents are then not checked.")
  return wrong
