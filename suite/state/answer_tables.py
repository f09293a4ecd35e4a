# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Complete answers of many models to one test set, for protocols that hold models out.

| source | what is read |
|---|---|
| work or run directory | all predictions/*.parquet, with the probability of the true class |
| accuracy cache (`suite lifelong`) | models evaluated on every sample that is not retired |
| .npz | `A_packed` and `n_samples`, or `answers` [M, N]; and the optional arrays |

Optional arrays of an npz: `model_names` [M], `ids` [N], `conf` [k, N], the probability of the true
class by the models `conf_models` [k], and `domain` [N], places in `domain_names`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import csv
import dataclasses
import hashlib
import pathlib
from typing import Any, NamedTuple

import numpy as np

from suite.lifelong.answers import known_answers
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.state import predictions

COST_COLUMNS = ("model", "flops", "gpu_seconds")
ANY_MODEL = "*"


@dataclasses.dataclass(frozen=True, eq=False)
class AnswerTable:
  """One test set.

  Attributes:
    models: M names.
    ids: N ids of samples.
    answers: 0/1 [M, N], 1 for correct.
    with_confidence: int64 [k], the models with the probability of the true class.
    domains: name -> samples, int64; {} if they are not known.
    labels: of the samples; () if they are not known.
  """

  models: tuple[str, ...]
  ids: tuple[str, ...]
  answers: known_answers.KnownAnswers
  with_confidence: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
  domains: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)
  labels: tuple[Any, ...] = ()

  @property
  def name(self) -> str:
    first = self.models[0] if self.models else "none"
    return f"{first} ({len(self.models)} models, {len(self.ids)} samples)"


class CachedRows:
  """Rows of an accuracy cache, whose bits stay on disk; see `known_answers.Rows`."""

  def __init__(self, cache: accuracy_cache.AccuracyCache, models: Sequence[str]):
    self._cache, self._models = cache, list(models)
    self.shape = len(self._models), cache.num_samples

  def row(self, index: int) -> np.ndarray:
    return self._cache.answers(self._models[index], np.arange(self.shape[1])).astype(np.uint8)

  def columns(self, rows: np.ndarray, samples: np.ndarray) -> np.ndarray:
    return self._cache.columns(samples, self._names(rows))

  def counts(self, rows: np.ndarray) -> np.ndarray:
    return self._cache.counts(self._names(rows))[0]

  def confidences(self, rows: np.ndarray) -> np.ndarray:
    raise ValueError(f"{self._cache.folder} has no confidences (the probability of the true class) "
                     f"of its {len(rows)} models, which sort=\"confidence\" needs. Take saved "
                     "predictions, or an npz with conf and conf_models.")

  def _names(self, rows: np.ndarray) -> list[str]:
    return [self._models[row] for row in rows.tolist()]


class AnswerCost(NamedTuple):
  """What a model spends for one answer; None: not known."""

  flops: float | None
  gpu_seconds: float | None

  def saved(self, answers: int) -> dict[str, float | None]:
    """What so many answers that are not asked save."""
    return {"saved_answers": answers,
            "saved_flops": None if self.flops is None else self.flops * answers,
            "saved_gpu_hours": (None if self.gpu_seconds is None else
                                self.gpu_seconds * answers / 3600)}


def load_costs(path: str) -> dict[str, AnswerCost]:
  """Reads a csv with the columns model, flops and gpu_seconds, each for one answer.

  An empty cell is not known. The model * stands for all that have no line.
  """
  with open(path, encoding="utf-8-sig", newline="") as file:
    reader = csv.DictReader(file)
    if tuple(reader.fieldnames or ()) != COST_COLUMNS:
      raise ValueError(f"{path} has the columns {reader.fieldnames}; expected "
                       f"{','.join(COST_COLUMNS)}, of one answer each.")
    try:
      found = {line["model"]: AnswerCost(*(
          float(line[name]) if line[name] else None for name in COST_COLUMNS[1:]))
               for line in reader}
    except ValueError as error:
      raise ValueError(f"{path}, line {reader.line_num}: {error}. Costs are numbers, or empty "
                       "where they are not known.") from error
  if any(value is not None and not 0 <= value < float("inf")
         for cost in found.values() for value in cost):
    raise ValueError(f"{path} has a cost below 0, or infinite; leave unknown ones empty.")
  return found


def cost_of(costs: Mapping[str, AnswerCost], model: str) -> AnswerCost:
  """The cost of a model's answer; unknown where the file has neither the model nor *."""
  return costs.get(model, costs.get(ANY_MODEL, AnswerCost(None, None)))


def fingerprint(tables: Sequence[AnswerTable]) -> str:
  """Digest of names and answers: 16 hexadecimal digits."""
  digest = hashlib.sha256()
  for table in tables:
    digest.update("\n".join([*table.models, *table.ids]).encode())
    for model in range(len(table.models)):
      digest.update(table.answers.row(model).tobytes())
  return digest.hexdigest()[:16]


def load(sources: str | Sequence[str], min_models: int, last_of_run: bool = False
         ) -> tuple[list[AnswerTable], list[str]]:
  """Reads tables, one for each test set, and the names of those that are left out.

  Args:
    sources: work directories or run directories, accuracy caches, .npz files; see above.
    min_models: least number of models of a table.
    last_of_run: of saved predictions, use only the last model of a run and learner on the same
      samples; earlier ones, as after each bucket of CLEAR, are nearly equal.
  """
  places = [sources] if isinstance(sources, str) else list(sources)
  caches = [place for place in places if accuracy_cache.is_cache(place)]
  files = [place for place in places if pathlib.Path(place).suffix == ".npz"]
  every = of_predictions([one for one in places if one not in caches + files], last_of_run)
  for cache in map(active_samples.opened, caches):
    models = cache.complete_models()
    every.append(AnswerTable(tuple(models), tuple(cache.ids.tolist()),
                             known_answers.KnownAnswers(CachedRows(cache, models))))
  every += map(_of_arrays, files)
  tables = [table for table in every if len(table.models) >= max(2, min_models)]
  if not tables:
    sizes = sorted((len(table.models) for table in every), reverse=True)
    raise ValueError(
        f"{', '.join(places)}: no {min_models} saved predictions are of the same test samples; "
        f"got {sizes} models for {len(every)} test sets. Add runs of more learners on the same "
        "data, such as those of suite run quickstart, or lower lifelong.run.min_models.")
  return tables, [table.name for table in every if table not in tables]


def of_predictions(folders: Sequence[str], last_of_run: bool = False) -> list[AnswerTable]:
  """Reads the saved predictions of runs, a table for each set of ids with labels, by `load`."""
  groups: dict[Any, dict[str, tuple[np.ndarray, np.ndarray | None]]] = {}
  for name, path in sorted(_files(folders).items()):
    saved = predictions.load(path)
    order = np.argsort(saved.id)
    # Many data sets have the ids 0, 1, 2, ..., so the labels are compared, too.
    labels = tuple(tuple(label.tolist()) if isinstance(label, np.ndarray) else int(label)
                   for label in (saved.label[i] for i in order))
    rows = groups.setdefault((tuple(saved.id[order].tolist()), labels), {})
    if last_of_run:  # Events have numbers of fixed width, and files come in order.
      for other in [other for other in rows if _run_of(other) == _run_of(name)]:
        del rows[other]
    sure = saved.true_class_probability  # A list for each sample of a multi-label task.
    rows[name] = (np.packbits(saved.correct[order]),
                  sure[order] if isinstance(sure, np.ndarray) else None)
  found = []
  for (ids, labels), rows in groups.items():
    confidences = {place: sure for place, (_, sure) in enumerate(rows.values()) if sure is not None}
    source = known_answers.PackedRows([bits for bits, _ in rows.values()], len(ids), confidences)
    found.append(AnswerTable(tuple(rows), ids, known_answers.KnownAnswers(source),
                             source.with_confidence, labels=labels))
  return found


def _of_arrays(path: str) -> AnswerTable:
  """Reads an npz."""
  with np.load(path, allow_pickle=False) as saved:
    names = set(saved.files)
    if {"A_packed", "n_samples"} <= names:
      bits, num = saved["A_packed"], int(saved["n_samples"])
    elif "answers" in names:
      answers = saved["answers"]
      if answers.ndim != 2 or not np.all((answers == 0) | (answers == 1)):
        raise ValueError(f"{path}: answers of shape {list(answers.shape)} are no matrix [M, N] of "
                         "0 and 1. Put answers that are not complete into a cache: suite "
                         "lifelong add-models.")
      bits, num = np.packbits(answers, axis=1), answers.shape[1]
    else:
      raise ValueError(f"{path} has {sorted(names)}; needed is `A_packed` with `n_samples`, or "
                       "`answers` [M, N].")
    models = (saved["model_names"].tolist() if "model_names" in names else
              [f"model{place}" for place in range(len(bits))])
    ids = saved["ids"].tolist() if "ids" in names else range(num)
    rows = saved["conf_models"].tolist() if {"conf", "conf_models"} <= names else []
    confidences = dict(zip(rows, saved["conf"])) if rows else {}
    domains = {}
    if {"domain", "domain_names"} <= names:
      domain = saved["domain"]
      domains = {name: np.flatnonzero(domain == place)
                 for place, name in enumerate(saved["domain_names"].tolist())}
  source = known_answers.PackedRows(list(bits), num, confidences)
  return AnswerTable(tuple(map(str, models)), tuple(map(str, ids)),
                     known_answers.KnownAnswers(source), source.with_confidence, domains)


def _files(folders: Sequence[str]) -> dict[str, pathlib.Path]:
  """{"quickstart/indep/0003": path} of every predictions file in the folders, at any depth."""
  found: dict[str, pathlib.Path] = {}
  for folder in folders:
    root = pathlib.Path(folder).resolve()
    paths = sorted(root.rglob("predictions/*.parquet"))
    if not paths:
      raise FileNotFoundError(
          f"There are no saved predictions in {folder} (looked for predictions/*.parquet in it and "
          "in all of its folders). Make some with: suite run quickstart, or set "
          "lifelong.run.predictions to the --workdir of another run.")
    for path in paths:
      inside = path.relative_to(root).parts[:-2]  # LEARNER; ROW/COLUMN/SEED/LEARNER of a table.
      name = "/".join((*(() if inside else (root.parent.name,)), root.name, *inside, path.stem))
      if found.setdefault(name, path) != path:
        raise ValueError(f"{found[name]} and {path} would both be called {name!r}. "
                         "Rename a work directory.")
  return found


def _run_of(name: str) -> str:
  return name.rpartition("/")[0]
