# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The accuracy cache on disk: which model answers which sample correctly.

  cache/cache.db         SQLite: models, tasks, groups, families, questions, and what the files
                         are (`catalog`)
        0007.right.npy   answers of an addition, one bit each; .seen, .value, .number
                         (`piece_files`)
        0007.ids.bin     ids of the added samples (`sample_ids`), unless they are 0, 1, 2, ...
        counts.npz       see `sample_counts`; made again if it is lost

                 samples of the 1st   3rd addition
  1st (models)   [ rectangle       ]  [          ]     An addition of models is a rectangle of all
  2nd (models)   [ rectangle       ]  [ rectangle]     samples that there are, one of samples of
  4th (models)   [ rectangle                     ]     all models; together they are the matrix.

An addition writes and syncs its planes, then commits their rows; a crash in between leaves files
that the next addition overwrites. Missing answers that come are new rows of their models: the
rectangle is cut above and below them, which writes nothing. Small rectangles are joined, as are all
once there are many (`cache_changes`): a joined file is written, its row is committed, the old files
are removed. Files never change, so a reader needs no lock; one whose file was removed since reads
the rows again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
import contextlib
import logging
import os
import pathlib
from typing import Any

import numpy as np

from suite.lifelong.cache import bit_rows
from suite.lifelong.cache import cache_changes
from suite.lifelong.cache import cache_input
from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import catalog
from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_ids

_LOGGER = logging.getLogger(__name__)
NOT_EVALUATED = cache_input.NOT_EVALUATED
CacheError = cache_input.CacheError
ValueRange, Given = cache_changes.ValueRange, cache_changes.Given
RIGHT, SEEN, VALUE, NUMBER = piece_files.KINDS
DOCUMENTS, CLUSTERS = cache_changes.DOCUMENTS, cache_changes.CLUSTERS
REMEDY = ("Put the file back from a copy; or give up what was added since: suite lifelong verify "
          "--cache {} --cut")
_NOTHING = Given()
_TRIES = 3  # A reader may meet files being replaced, but not again and again.


def is_cache(folder: str | os.PathLike) -> bool:
  return (pathlib.Path(folder) / catalog.MARK).exists()


def check_clusters(found: np.ndarray, what: str) -> None:
  """Raises a CacheError if all samples [N] are of one cluster; 0: a sample by itself."""
  if len(found) and found[0] != 0 and np.all(found == found[0]):
    raise CacheError(f"{what} has one cluster for all samples: nothing says how much clusters "
                     "differ. Leave it out, or give finer ones.")


class AccuracyCache:
  """M models x N samples; an answer is 1 (correct), 0 (wrong) or -1 (not evaluated).

  Attributes:
    folder: the cache's folder.
    models: names of the models, in the order in which they were added.
    num_samples: N.
    problem: what is damaged, so that the cache was opened as it was before; "" if nothing is.
    files: its files, by name.
  """

  def __init__(self, folder: str | os.PathLike, *, create: bool = False):
    """Opens the cache at its last committed state.

    With `create` it need not exist: its first addition creates it, unless that is refused.
    """
    self.folder = pathlib.Path(folder)
    if not create or is_cache(self.folder):
      catalog.check_version(self.folder)
    self.refresh()

  def refresh(self) -> None:
    """Reads what other processes have committed since."""
    for _ in range(_TRIES):
      tables = catalog.read(self.folder)
      self._take(tables)
      if not self.problem or catalog.read(self.folder, ["files"])["files"] == tables["files"]:
        break  # Otherwise the file was removed by a writer that has joined it.
    if self.problem:
      _LOGGER.warning("%s: the cache is opened as it was before that.", self.problem)

  def _take(self, tables: catalog.Tables) -> None:
    self.problem, self.files = "", dict[str, piece_files.Checked]()
    for facts in (piece_files.Facts(*row) for row in tables["files"]):
      try:
        self.files[facts.name] = piece_files.Checked(self.folder, facts)
      except CacheError as error:
        self.problem = self.problem or str(error).partition(". Put it")[0]
    self._tables = self._whole(tables) if self.problem else tables
    self.models: list[str] = [name for name, _ in self._tables["models"]]
    self._places = {name: index for index, name in enumerate(self.models)}
    self._ids = sample_ids.SampleIds([
        sample_ids.Batch(*row).opened(self.files) for row in self._tables["ids"]])
    self._num_samples = len(self._ids)
    self._pieces = [piece_files.Piece(piece_files.Rectangle(*row), self.files)
                    for row in self._tables["planes"]]

  def _whole(self, tables: catalog.Tables) -> catalog.Tables:
    """The last state that needs none of the files that are damaged."""
    places = [piece_files.Rectangle(*row) for row in tables["planes"]]
    bad = [one for one in places if not self.files.keys() >= set(one.files())]
    batches = [sample_ids.Batch(*row) for row in tables["ids"]]
    ends = np.cumsum([one.samples for one in batches]).tolist()
    least = min((end - one.samples for end, one in zip(ends, batches)
                 if one.file not in (None, *self.files)), default=sum(one[0] for one in batches))
    models, samples = next(
        (models, samples) for models, samples, _ in [*tables["commits"][::-1], (0, 0, "")]
        if samples <= least and all(one.model >= models or one.sample >= samples for one in bad))
    return {
        **tables, "models": tables["models"][:models],
        "planes": [tuple(one._replace(models=min(one.ends[0], models) - one.model,
                                      samples=min(one.ends[1], samples) - one.sample))
                   for one in places if one.model < models and one.sample < samples],
        "ids": [tuple(one) for one, end in zip(batches, ends) if end <= samples],
        "columns": [one for one in tables["columns"]
                    if one[1] in self.files and one[2] <= samples],
        "commits": [one for one in tables["commits"] if one[0] <= models and one[1] <= samples],
        "questions": [one for one in tables["questions"] if one[2] <= samples]}

  @property
  def threshold(self) -> float | None:
    """Score from which on graded answers were counted as correct; None: there were none so far."""
    return dict(self._tables["settings"]).get("threshold")

  def agreed_threshold(self, given: float | None) -> float | None:
    """Returns the threshold for graded answers: that of the cache, or the given one if it has none.

    Raises:
      CacheError: they differ, or the given one is not in (0, 1].
    """
    if given is not None and not 0.0 < given <= 1.0:
      raise CacheError(f"Got a threshold of {given:g}; expected a score above 0, and 1 at most: "
                       "--threshold 0.5.")
    stored = self.threshold
    if given is not None and self.value_range is not None:
      raise CacheError(f"{self.folder} keeps scores as values; got a threshold of {given:g}. Leave "
                       "out --threshold, or put right and wrong into another cache.")
    if None not in (given, stored) and given != stored:
      raise CacheError(f"{self.folder} counts graded answers as correct from {stored:g} on; got a "
                       f"threshold of {given:g}. Models that are cut at different scores cannot be "
                       "compared: leave out --threshold, or put them into another cache.")
    return given if stored is None else stored

  @property
  def value_range(self) -> cache_changes.ValueRange | None:
    """The range of the scores that are kept; None: the answers are right or wrong."""
    found = dict(self._tables["settings"])
    return ValueRange(found["low"], found["high"]) if "low" in found else None

  @property
  def tasks(self) -> dict[str, cache_tasks.Task]:
    """The tasks of the samples, by name; {} if none are known."""
    return cache_tasks.of_rows(self._tables["tasks"])

  def sample_tasks(self) -> tuple[list[str], np.ndarray]:
    """Names of the tasks, and the number of the task of each sample: int32 [N], -1 for none.

    Tasks without a sample are left out. Without tasks: ([], int32 [0]).
    """
    names = list(self.tasks)
    if not names:
      return [], np.zeros(0, np.int32)
    codes = cache_tasks.codes(names, self.sample_ids.chunks())
    used, codes = np.unique(codes, return_inverse=True)
    first = int(used[0] < 0)
    return [names[index] for index in used[first:].tolist()], (codes - first).astype(np.int32)

  @property
  def documents(self) -> np.ndarray:
    """Hash of the document of each of the first n samples, 0 where none is known: uint64 [n]."""
    return self.column(DOCUMENTS, np.uint64)

  def check_documents(self, ids: Sequence[str], hashes: np.ndarray | None,
                      sources: Sequence[str] | str) -> None:
    """Raises a CacheError if ids of the cache are other documents: hashes uint64 [n], 0: unknown.

    `sources`: the file of each, or of all.
    """
    if hashes is not None and len(self.documents):
      cache_tasks.check_documents(
          self.documents, self.sample_ids.find(ids), hashes, ids,
          [sources] * len(ids) if isinstance(sources, str) else sources, self.tasks)

  @property
  def clusters(self) -> np.ndarray | None:
    """Number of the cluster of each sample, such as its passage: int64 [N]; None: of none known.

    A sample without a cluster is one by itself.
    """
    if not self._tables[CLUSTERS]:
      return None
    found = np.zeros(self.num_samples, np.int64)
    known = self.column(CLUSTERS, np.uint32)[:self.num_samples]
    found[:len(known)] = known
    alone = np.flatnonzero(found == 0)
    found[alone] = len(self._tables[CLUSTERS]) + 1 + np.arange(len(alone))
    return found - 1

  def set_clusters(self, ids: Sequence[str], names: Sequence[str], *, replace: bool = False
                   ) -> None:
    """Keeps the cluster of each of these samples; those of others stay as they are.

    Raises:
      CacheError: all samples would be of one cluster, or, without `replace`, a sample is of another
        one in the cache.
    """
    with self._writing() as change:
      samples = change.samples_of(ids)
      places = {name: index for index, (name,) in enumerate(change.tables[CLUSTERS], start=1)}
      codes = np.array([places.setdefault(str(name), len(places) + 1) for name in names], np.uint32)
      after = np.zeros(self.num_samples, np.uint32)
      old = self.column(CLUSTERS, np.uint32)[:self.num_samples]
      after[:len(old)] = old
      differing = np.flatnonzero((after[samples] != 0) & (after[samples] != codes))
      if len(differing) and not replace:
        place = int(differing[0])
        raise CacheError(
            f"{ids[place]!r} is of cluster {list(places)[after[samples[place]] - 1]!r} in "
            f"{self.folder}; got {str(names[place])!r}, as of {len(differing):,} samples. Take "
            "the new ones: suite lifelong clusters --replace.")
      after[samples] = codes
      check_clusters(after, "the file")
      change.tables[CLUSTERS] = [(name,) for name in places]
      change.set_column(CLUSTERS, samples, codes)

  def column(self, name: str, dtype: Any) -> np.ndarray:
    """What is known of the first n samples, such as `DOCUMENTS`: [n]."""
    for one, file, _ in self._tables["columns"]:
      if one == name:
        return piece_files.Plane(self.files[file], 0, 1)[0].view(dtype)
    return np.zeros(0, dtype)

  def states(self) -> dict[tuple[int, int], str]:
    """Digest of each state that the cache has had, by its numbers of models and of samples.

    Equal digests stand for equal answers.
    """
    return {(models, samples): state for models, samples, state in self._tables["commits"]}

  @property
  def state(self) -> str:
    """Digest of the present state."""
    return self.states().get((self.num_models, self.num_samples), "")

  @property
  def num_samples(self) -> int:
    return self._num_samples

  @property
  def num_models(self) -> int:
    return len(self.models)

  @property
  def pieces(self) -> Sequence[piece_files.Piece]:
    """The rectangles that make the matrix."""
    return self._pieces

  @property
  def sample_ids(self) -> sample_ids.SampleIds:
    return self._ids

  @property
  def ids(self) -> np.ndarray:
    """All ids in the order in which samples were added: str [N]; `sample_ids` reads only some."""
    return np.array([one for chunk in self.sample_ids.chunks() for one in chunk], str)

  def answers(self, model: int | str, samples: np.ndarray) -> np.ndarray:
    """Answers of one model to int [n] samples: int8 [n]; costs n lookups."""
    found = self._cells(RIGHT, samples, [model])[0].view(np.int8)
    found[self._cells(SEEN, samples, [model])[0] == 0] = NOT_EVALUATED
    return found

  def matrix(self, models: Sequence[int | str] | None = None) -> np.ndarray:
    """Answers of the given models (default: all), unpacked: int8 [M, N]."""
    chosen = range(self.num_models) if models is None else models
    everything = np.arange(self.num_samples)
    found = np.empty([len(chosen), self.num_samples], np.int8)
    for row, model in enumerate(chosen):
      found[row] = self.answers(model, everything)
    return found

  def columns(self, samples: np.ndarray, models: Sequence[int | str] | None = None, *,
              seen: bool = False) -> np.ndarray:
    """Whether models (default: all) are known to answer samples int [n] correctly: uint8 [M, n].

    With `seen`: whether they were evaluated on these samples.
    """
    return self._cells(SEEN if seen else RIGHT, samples, models)

  def values(self, samples: np.ndarray, models: Sequence[int | str] | None = None) -> np.ndarray:
    """Scores of models (default: all) on samples int [n]: float32 [M, n], NaN: not evaluated."""
    return self._cells(VALUE, samples, models)

  def numbers(self, samples: np.ndarray, models: Sequence[int | str] | None = None) -> np.ndarray:
    """Numbers of generations that scores are means of: uint16 [M, n], 0: not evaluated."""
    return self._cells(NUMBER, samples, models)

  def _cells(self, kind: str, samples: np.ndarray, models: Sequence[int | str] | None
             ) -> np.ndarray:
    """What `piece_files.Piece.cells` says of the kind, for all of the cache."""
    places = np.array([self._place(m) for m in (
        range(self.num_models) if models is None else models)], np.int64)
    samples = np.asarray(samples, np.int64)
    found = np.empty([len(places), len(samples)], piece_files.CELLS.get(kind, np.uint8))
    for piece in self._pieces:
      at = piece.at
      rows = np.flatnonzero((places >= at.model) & (places < at.ends[0]))
      if not rows.size:
        continue
      chosen = np.flatnonzero((samples >= at.sample) & (samples < at.ends[1]))
      if chosen.size:
        here = piece.cells(kind, places[rows] - at.model, samples[chosen] - at.sample)
        if here.shape == found.shape:
          return here
        found[np.ix_(rows, chosen)] = here
    return found

  def totals(self, first_model: int = 0, first_sample: int = 0) -> np.ndarray:
    """Number of correct and of evaluated answers of each model: int64 [M, 2].

    Models and samples before `first_model` and `first_sample` are left out.
    """
    found = np.zeros([self.num_models, 2], np.int64)
    for piece in self._pieces:
      at = piece.at
      first, known = max(first_model, at.model), max(first_sample, at.sample) - at.sample
      if first >= at.ends[0] or known >= at.samples:
        continue
      for column, kind in enumerate((RIGHT, SEEN)):
        plane = piece.planes.get(kind)
        here = None if plane is None else plane[first - at.model:at.models]
        found[first:at.ends[0], column] += (
            at.samples - known if here is None else
            bit_rows.row_counts(here, at.samples) - bit_rows.row_counts(here, known))
    return found[first_model:]

  def complete_models(self) -> list[str]:
    """Names of the models that were evaluated on all samples."""
    return [name for name, (_, seen) in zip(self.models, self.totals().tolist())
            if seen == self.num_samples]

  def counts(self, models: Sequence[int | str] | None = None
             ) -> tuple[np.ndarray, np.ndarray | None]:
    """Number of correct models [N] and of evaluated models [N] of each sample; None: all."""
    chosen = np.zeros(self.num_models, bool)
    chosen[[self._place(m) for m in models] if models is not None else slice(None)] = True
    return self._tally(chosen, (0, 0))

  def further_counts(self, num_models: int, num_samples: int
                     ) -> tuple[np.ndarray, np.ndarray | None]:
    """As `counts`, without the answers of the first models to the first samples."""
    return self._tally(np.ones(self.num_models, bool), (num_models, num_samples))

  def _tally(self, chosen: np.ndarray, beyond: tuple[int, int]
             ) -> tuple[np.ndarray, np.ndarray | None]:
    correct, seen = np.zeros([2, self.num_samples],
                             np.uint8 if chosen.sum() < 256 else np.uint16)
    is_whole = True
    for piece in self._pieces:
      at = piece.at
      rows = np.flatnonzero(chosen[at.model:at.ends[0]])
      old = rows[rows + at.model < beyond[0]]
      for some, first in ((rows[len(old):], 0), (old, max(0, beyond[1] - at.sample))):
        if len(some) and first < at.samples:
          here = slice(at.sample + first, at.ends[1])
          correct[here] += piece.counts(RIGHT, some, first)
          is_whole &= SEEN not in piece.planes
          seen[here] += (piece.counts(SEEN, some, first) if SEEN in piece.planes else
                         seen.dtype.type(len(some)))
    return correct, None if is_whole else seen

  def add_models(self, names: Sequence[str], answers: Iterable[np.ndarray],
                 ids: Sequence[str] | None = None, *, numbers: np.ndarray | None = None,
                 **facts: Any) -> None:
    """Adds models with their answers to all samples.

    Args:
      names: names of the models; none may be in the cache.
      answers: [m, N], or any iterable of rows, packed one at a time. In an empty cache it defines
        the number of samples, and `ids` is required.
      ids: ids [N] of the columns; None: those of the cache. Rows are reordered as the cache;
        samples of the cache that are not among them were not evaluated.
      numbers: of scores that are means of generations, how many there are: uint16 [m, N].
      **facts: of `Given`.
    """
    known = Given(**facts)
    if known.values:
      answers = [cache_input.checked_values(row, f"model {name!r}")
                 for name, row in cache_input.paired([str(name) for name in names], answers)]
    with self._writing(known, ids, answers) as change:
      names = cache_input.checked_names(names, self._places)
      order = None
      if self.num_samples:
        order = cache_input.columns(ids, self.sample_ids)
      else:
        change.add_ids(cache_input.new_ids(ids, self.sample_ids))
      size = change.num_samples
      rows = (cache_input.packed(row, order, size, name, change.middle)
              for name, row in cache_input.paired(names, answers))
      if numbers is not None:
        rows = (cache_input.numbered(row, one, order, size, name)
                for row, one, name in zip(rows, numbers, names))
      change.add_rows(rows, (self.num_models, len(names), 0, size))
      change.tables["models"] += [(name, "") for name in names]
      change.commit(names)

  def add_samples(self, ids: Sequence[str], answers: np.ndarray,
                  models: Sequence[str] | None = None, *, numbers: np.ndarray | None = None,
                  **facts: Any) -> None:
    """Adds samples with the answers of all models.

    Args:
      ids: ids of the samples; none may be in the cache.
      answers: [M, n].
      models: [M] names of the rows; None: those of the cache. Models of the cache that are not
        among them were not evaluated on these samples.
      numbers: as of `add_models`, of the rows.
      **facts: of `Given`.
    """
    known = Given(**facts)
    if known.values:
      answers = cache_input.checked_values(answers, "the new samples")
    with self._writing(known, ids, answers) as change:
      if not self.models:
        raise CacheError("The cache has no models yet: add models first; that also brings samples.")
      ids = cache_input.new_ids(ids, self.sample_ids)
      answers = np.asarray(answers)
      names = list(self.models if models is None else models)
      if answers.shape != (len(names), len(ids)):
        raise CacheError(f"Got answers of shape {list(answers.shape)} for {len(names)} models and "
                         f"{len(ids)} new samples.")
      unknown = sorted(set(names) - self._places.keys())
      if unknown or len(set(names)) < len(names):
        raise CacheError(f"Rows must be models of the cache, each once; unknown: {unknown}.")
      if not known.values:
        answers = cache_input.checked(answers, "the new samples")
      missing = np.full(len(ids), np.nan if known.values else NOT_EVALUATED, answers.dtype)
      given = dict(zip(names, answers))
      rows = (cache_input.packed(given.get(name, missing), None, len(ids), name, change.middle)
              for name in self.models)
      if numbers is not None:
        runs, none = dict(zip(names, numbers)), np.zeros(len(ids), np.int64)
        rows = (cache_input.numbered(row, runs.get(name, none), None, len(ids), name)
                for row, name in zip(rows, self.models))
      change.add_rows(rows, (0, self.num_models, self.num_samples, len(ids)))
      change.add_ids(ids)
      change.commit([])

  def add_answers(self, names: Sequence[str], answers: np.ndarray, ids: Sequence[str],
                  **facts: Any) -> int:
    """Adds answers of models of the cache to samples of the cache that were not evaluated.

    Args:
      names: [m] models.
      answers: [m, n], -1 for what was not evaluated, NaN among scores that are kept as values.
      ids: [n] samples.
      **facts: of `Given`.

    Returns:
      number of new answers. Those that the cache has already are left as they are.

    Raises:
      CacheError: an answer differs from the one that the cache has.
    """
    known = Given(**facts)
    answers = (cache_input.checked_values(answers, "the new file") if known.values else
               cache_input.checked(np.asarray(answers), "the new file"))
    with self._writing(known, ids, answers) as change:
      if answers.shape != (len(names), len(ids)):
        raise CacheError(f"Got answers of shape {list(answers.shape)} for {len(names)} models and "
                         f"{len(ids)} samples.")
      samples, num = change.samples_of(ids), 0
      new: dict[int, tuple[np.ndarray, np.ndarray]] = {}
      for name, given in zip(names, answers):
        if known.values:
          mine = self.values(samples, [name])[0]
          is_given, is_mine = ~np.isnan(given), ~np.isnan(mine)
        else:
          mine = self.answers(name, samples)
          is_given, is_mine = given != NOT_EVALUATED, mine != NOT_EVALUATED
        both = is_given & is_mine
        wrong = np.flatnonzero(both & (given != mine))
        if wrong.size:
          raise CacheError(
              f"Model {name!r} has another answer to {ids[int(wrong[0])]!r} in the cache; "
              f"{wrong.size:,} of {int(both.sum()):,} answers differ. Is it another run, or "
              "another model of this name? Leave the file out, or give its model another name.")
        chosen = np.flatnonzero(is_given & ~is_mine)
        if chosen.size:
          new[self._place(name)] = samples[chosen], given[chosen]
          num += len(chosen)
      if new:
        change.fill(new)
      return num

  def cut(self) -> None:
    """Gives up, for good, what was added after the last state that is whole (`problem`)."""
    with catalog.changing(self.folder) as tables:
      self._take(tables)
      tables.update(self._tables)
      cache_changes.forget_files(tables)
    self.refresh()

  def _place(self, model: int | str) -> int:
    if isinstance(model, str):
      if model not in self._places:
        raise CacheError(f"The cache has no model {model!r}; it has {len(self.models)}, such as "
                         f"{self.models[:3]}.")
      return self._places[model]
    if not 0 <= model < len(self.models):
      raise CacheError(f"The cache has no model {model}; its {self.num_models} models are 0 to "
                       f"{self.num_models - 1}.")
    return int(model)

  @contextlib.contextmanager
  def _writing(self, given: cache_changes.Given = _NOTHING, ids: Sequence[str] | None = None,
               answers: Any = ()) -> Iterator[cache_changes.Change]:
    """Lock of the only writer, on the newest state; what is changed is committed at the end."""
    with catalog.changing(self.folder) as tables:
      self._take({name: list(rows) for name, rows in tables.items()})
      if self.problem:
        raise CacheError(f"{self.problem}, so nothing can be added. {REMEDY.format(self.folder)}")
      if ids is not None:
        self.check_documents(ids, given.hashes, "The new file")
      change = cache_changes.Change(self, tables)
      change.take(given, answers)
      yield change
      if ids is not None and given.hashes is not None and np.any(given.hashes):
        change.set_column(DOCUMENTS, change.samples_of(ids), np.asarray(given.hashes, np.uint64))
      change.join()
    self.refresh()
