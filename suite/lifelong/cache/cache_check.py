# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading of a whole accuracy cache, to say what of it is damaged."""

from __future__ import annotations

import pathlib

import numpy as np

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import catalog
from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_counts


def problems(folder: pathlib.Path) -> list[str]:
  """Returns what is wrong, with what to do; [] if every byte is what was written."""
  try:
    cache = accuracy_cache.AccuracyCache(folder)
    tables = catalog.read(cache.folder, ["files"])
  except accuracy_cache.CacheError as error:
    return [str(error)]
  found = [piece_files.damage(cache.folder, piece_files.Facts(*row)) for row in tables["files"]]
  if any(found):
    return [f"{one}. {accuracy_cache.REMEDY.format(folder)}" for one in found if one]
  if structure := catalog.problem(cache.folder):
    return [structure]
  wrong = []
  num = sum(map(len, cache.sample_ids.chunks()))
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
  return wrong
