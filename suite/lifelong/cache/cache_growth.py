# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Growth of a cache by files: new models, new samples and missing answers at once.

Versions of a task are told by the hashes of its documents. Where a document under a known id has
changed:

  refuse    (default) the file is refused, and names the document
  version   the changed document is a new sample ID@2 (then @3, ...); the earlier one is retired:
            it keeps its answers, and leaves estimates. A document that is known under another id of
            the task, as after a new order, is that sample.

Documents that did not change keep their answers of both versions. Once a version is known, later
files of it need no option: a document is looked for among the versions of its id.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import accuracy_import
from suite.lifelong.cache import active_samples

REFUSE, VERSION = "refuse", "version"


@dataclasses.dataclass
class Added:
  """What an addition brought.

  Attributes:
    models: names of new models.
    num_samples: number of new samples.
    num_answers: number of new answers.
    retired: ids of documents that another version replaced.
    ids: of all samples of the table, as the cache has them.
  """

  models: list[str] = dataclasses.field(default_factory=list)
  num_samples: int = 0
  num_answers: int = 0
  retired: list[str] = dataclasses.field(default_factory=list)
  ids: list[str] = dataclasses.field(default_factory=list)


def versioned(cache: accuracy_cache.AccuracyCache, table: accuracy_import.ImportedAnswers,
              changed: str = REFUSE) -> tuple[accuracy_import.ImportedAnswers, list[str]]:
  """Names the samples of a table by the versions of their documents.

  Args:
    cache: the cache.
    table: answers as read from files.
    changed: what changed documents that are of no known version are, "refuse" or "version".

  Returns:
    (the table with ids of samples of the cache, or new ones; ids that are replaced). With "refuse"
    such documents keep their ids, which `AccuracyCache.check_documents` refuses.
  """
  if table.ids is None or table.hashes is None or not cache.num_samples:
    return table, []
  known = cache.documents
  if not len(known):
    return table, []
  ids, given = list(table.ids), table.hashes
  samples = cache.sample_ids.find(ids)
  mine = np.where((samples >= 0) & (samples < len(known)), known[np.minimum(
      np.maximum(samples, 0), len(known) - 1)], 0)
  differing = np.flatnonzero((mine != 0) & (given != 0) & (mine != given)).tolist()
  if not differing:
    return table, []
  elsewhere = _documents(cache, known, ids, differing) if changed == VERSION else {}
  replaced, taken = [], set(ids) - {ids[index] for index in differing}
  for index in differing:
    task, number = ids[index].rpartition("/")[0], 2
    other = elsewhere.get((task, int(given[index])))
    if other is not None and other not in taken:
      name = other
    else:
      while True:
        name = f"{ids[index]}@{number}"
        place = int(cache.sample_ids.find([name])[0])
        if place < 0 or (place < len(known) and known[place] == given[index]):
          break
        number += 1
      if place < 0 and changed != VERSION:
        continue
      if place < 0:
        replaced += [ids[index], *(f"{ids[index]}@{k}" for k in range(2, number))]
    taken.add(name)
    ids[index] = name
  replaced = [one for one in replaced if one not in taken]
  return dataclasses.replace(table, ids=ids), replaced


def _documents(cache: accuracy_cache.AccuracyCache, known: np.ndarray, ids: Sequence[str],
               differing: Sequence[int]) -> dict[tuple[str, int], str]:
  """(task, hash) -> id of the documents that the cache has of the tasks of some ids."""
  wanted = {ids[index].rpartition("/")[0] for index in differing}
  found: dict[tuple[str, int], str] = {}
  place = 0
  for chunk in cache.sample_ids.chunks():
    for one in chunk:
      task = one.rpartition("/")[0]
      if task in wanted and place < len(known) and known[place]:
        found[task, int(known[place])] = one
      place += 1
  return found


def given(cache: accuracy_cache.AccuracyCache, table: accuracy_import.ImportedAnswers,
          threshold: float | None = None, values: bool = False
          ) -> tuple[np.ndarray, dict[str, Any]]:
  """Answers of a table as a cache keeps them, and what is said of them (`accuracy_cache.Given`).

  Args:
    cache: the cache.
    table: answers as read from files.
    threshold: score from which on graded answers are correct, if the cache has none.
    values: a new cache keeps scores as they are.
  """
  agreed = cache.agreed_threshold(threshold)
  keeps = values or cache.value_range is not None
  return table.values() if keeps else table.bits(agreed), {
      "threshold": agreed if table.is_graded and not keeps else None, "tasks": table.tasks,
      "hashes": table.hashes, "values": keeps, "numbers": table.numbers if keeps else None}


def add(cache: accuracy_cache.AccuracyCache, table: accuracy_import.ImportedAnswers, *,
        threshold: float | None = None, changed: str = REFUSE, values: bool = False) -> Added:
  """Adds whatever a table has that the cache has not: samples, models and answers.

  Answers that the cache has already are left as they are, so that a file may be added again, as
  after a kill between the steps.

  Args:
    cache: the cache, with all samples; it may be empty.
    table: answers as read from files, with ids.
    threshold: score from which on graded answers are correct, if the cache has none.
    changed: see `versioned`.
    values: a new cache keeps scores as they are.

  Raises:
    CacheError: an answer or a document differs from that of the cache; nothing is added.
  """
  answers, facts = given(cache, table, threshold, values)
  is_given = ~np.isnan(answers) if facts["values"] else answers != accuracy_cache.NOT_EVALUATED
  if table.ids is None:
    raise accuracy_cache.CacheError("The file has no ids, so its answers cannot be joined: give a "
                                    "table with ids, or add it by suite lifelong add-models.")
  table, replaced = versioned(cache, table, changed)
  assert table.ids is not None
  cache.check_documents(table.ids, table.hashes, table.sources or "The new file")
  ids, hashes, numbers = list(table.ids), facts.pop("hashes"), facts.pop("numbers")
  places = {name: row for row, name in enumerate(table.models)}
  old = [name for name in table.models if name in set(cache.models)]
  new = [name for name in table.models if name not in set(old)]
  found = Added(new, retired=replaced, num_answers=int(is_given.sum()), ids=ids)
  if not cache.num_models:
    cache.add_models(new, answers, ids, hashes=hashes, numbers=numbers, **facts)
    found.num_samples = len(ids)
    return found
  def rows_of(names: Sequence[str], cells: np.ndarray | None) -> Any:
    return None if cells is None else cells[[places[name] for name in names]]

  is_new = cache.sample_ids.find(ids) < 0
  known = np.flatnonzero(~is_new)
  rows, runs = rows_of(old, answers), rows_of(old, numbers)
  if old and len(known):  # Refuses answers that differ before anything is added.
    known_ids = [ids[index] for index in known.tolist()]
    num = cache.add_answers(old, rows[:, known], known_ids,
                            hashes=None if hashes is None else hashes[known], **facts)
    found.num_answers -= int(rows_of(old, is_given)[:, known].sum()) - num
  if replaced:  # Before the samples that replace them: after a kill it is done again.
    active_samples.retire(cache, replaced)
  if is_new.any():
    chosen = np.flatnonzero(is_new)
    cache.add_samples([ids[index] for index in chosen.tolist()], rows[:, chosen], old,
                      hashes=None if hashes is None else hashes[chosen],
                      numbers=None if runs is None else runs[:, chosen], **facts)
    found.num_samples = len(chosen)
  if new:
    cache.add_models(new, rows_of(new, answers), ids, hashes=hashes,
                     numbers=rows_of(new, numbers), **facts)
  return found
