# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Import of models' answers from files.

| file | form |
|---|---|
| .npy | [M, N] of 1 (correct), 0 (wrong), -1 (not evaluated) |
| .npz | as `answers`, or bits as `A_packed` with `n_samples`; `ids`, `model_names` if there |
| .csv, .tsv, .parquet | tables of three orientations, see `table_files`; also with ; and as .gz |
| .json, .jsonl, .eval | logs of harnesses, see `harness_logs`; or objects as lines of a table |

Answers are 1, 0, true, false, or scores between; an empty cell or null was not evaluated.

A log has several metrics and filters. Which of them are read is said by the user, for all tasks or
for each (`Choice`), by the cache, which keeps what its answers are, or by the harness. If several
are left that differ, the user is asked. `Report` says what was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import fnmatch
import functools
import pathlib
import re
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from suite.lifelong.answers import generations
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import answer_entries
from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import harness_logs
from suite.lifelong.cache import log_files
from suite.lifelong.cache import log_layouts
from suite.lifelong.cache import table_files
from suite.lifelong.cache import task_groups

REFUSE, MEAN = answer_entries.REFUSE, answer_entries.MEAN
KINDS = (".csv", ".eval", ".json", ".jsonl", ".jsonlines", ".ndjson", ".npy", ".npz", ".parquet",
         ".tsv")
_SHOWN = 6  # Number of tasks or models that are listed.


class NoSamplesError(accuracy_cache.CacheError):
  """The files are those that harnesses write beside their logs."""


@dataclasses.dataclass(frozen=True, eq=False)
class ImportedAnswers:
  """Answers of M models to N samples, as read from files.

  Attributes:
    models: M names.
    ids: N ids, or None if the file has none.
    answers: [M, N] of 1, 0 and -1, or bool; or scores float64 in [0, 1], or, if they are to be kept
      as values, of any range, NaN: not evaluated.
    tasks: the tasks of the samples, if they have any.
    hashes: uint64 [N], hash of each document, 0 if unknown; None: none is known.
    sources: the file of each hash [N], if there are hashes.
    groups: of the tasks, as harnesses report them.
    numbers: int64 [M, N], runs that each score is of; None: of one.
  """

  models: list[str]
  ids: list[str] | None
  answers: np.ndarray
  tasks: dict[str, cache_tasks.Task] = dataclasses.field(default_factory=dict)
  hashes: np.ndarray | None = None
  sources: list[str] | None = None
  groups: task_groups.Groups = dataclasses.field(default_factory=dict)
  numbers: np.ndarray | None = None

  @property
  def is_graded(self) -> bool:
    """Whether there are scores that are not 0 or 1."""
    return self.answers.dtype.kind == "f" and bool(np.any(
        (self.answers != 0) & (self.answers != 1) & ~np.isnan(self.answers)))

  def values(self) -> np.ndarray:
    """Scores float64 [M, N], NaN where not evaluated."""
    if self.answers.dtype.kind == "f":
      return self.answers
    return np.where(np.asarray(self.answers, np.int8) == accuracy_cache.NOT_EVALUATED, np.nan,
                    self.answers)

  def bits(self, threshold: float | None = None) -> np.ndarray:
    """Answers 1, 0 or -1 [M, N]; scores count as correct from the threshold on."""
    if self.answers.dtype.kind != "f":
      return self.answers
    known = ~np.isnan(self.answers)
    if threshold is None and self.is_graded:
      model, sample = np.argwhere((self.answers != 0) & (self.answers != 1) & known)[0].tolist()
      name = str((self.ids or range(10**18))[sample])
      task = self.tasks.get(name.rpartition("/")[0])
      metric = f" ({task.metric})" if task and task.metric else ""
      raise accuracy_cache.CacheError(
          f"The score{metric} of model {self.models[model]!r} on {name!r} is "
          f"{self.answers[model, sample]:g}; a cache keeps right or wrong. Say from which score "
          "on an answer is right: --threshold 0.5. Or keep scores of any kind: --values.")
    right = self.answers >= (0.5 if threshold is None else threshold)
    return np.where(known, right, accuracy_cache.NOT_EVALUATED).astype(np.int8)


class Choice:
  """A name for all tasks, or names by task: "acc", "arc=acc_norm,gsm8k=exact_match" or both.

  A task is given by its whole name, by its beginning before ":" or "," (HELM's scenario), by its
  end after "/" (inspect-ai), or by a pattern such as mmlu_*.
  """

  def __init__(self, text: str, flag: str):
    """`flag`: the option of the command line, for messages."""
    self._flag, self._text = flag, text
    self.default = ""
    self._named: list[tuple[str, str]] = []
    self._met: set[tuple[str, str]] = set()
    for part in filter(None, (one.strip() for one in text.split(","))):
      task, equals, name = part.rpartition("=")
      if not equals and self.default or not name:
        raise accuracy_cache.CacheError(f"Got {flag} {text!r}; expected one name for all tasks, or "
                                        f"a name by task: {flag} arc=NAME,gsm8k=NAME.")
      if equals:
        self._named.append((task, name))
      else:
        self.default = name

  def of(self, task: str) -> tuple[str, bool]:
    """The name for a task, "" for none, and whether it was given for this task."""
    short = {task, re.split("[:,]", task)[0], task.rpartition("/")[2]}
    best = [one for one in self._named if one[0] in short] or [
        one for one in self._named if fnmatch.fnmatchcase(task, one[0])]
    if best:
      self._met.add(best[0])
      return best[0][1], True
    return self.default, False

  def check(self, tasks: Iterable[str]) -> None:
    """Raises an error if a task that is named was not read."""
    unknown = [task for task, _ in self._named if task not in {one for one, _ in self._met}]
    if unknown:
      raise accuracy_cache.CacheError(
          f"{self._flag} {self._text!r} names {', '.join(unknown)}; the tasks are "
          f"{_some(tasks) or 'not known'}.")


@dataclasses.dataclass(frozen=True)
class Options:
  """How files are read; see `suite lifelong add-models --help`.

  Attributes:
    names: names of the models if the file has none; otherwise their number must match.
    id_column, score: names of the columns of ids and of answers; `score` also of a metric, for all
      tasks or by task.
    keep: name of the filter of lm-evaluation-harness, or of HELM's perturbation, as `score`.
    repeats: of different answers of one model to one sample, see `answer_entries.join`; pass@K and
      maj@K are those of `generations`.
    model_column, task_column: names of columns.
    known: tasks of the cache, whose metrics and filters are read unless others are asked for.
    values: scores are kept as they are: numbers of any range.
    is_all: whether all files are read at once, so that a task that is named must be among them.
  """

  names: Sequence[str] = ()
  id_column: str = ""
  score: str = ""
  keep: str = ""
  repeats: str = REFUSE
  model_column: str = ""
  task_column: str = ""
  known: Mapping[str, cache_tasks.Task] = dataclasses.field(default_factory=dict)
  values: bool = False
  is_all: bool = True


@dataclasses.dataclass
class Report:
  """What was read.

  Attributes:
    files, skipped: names of files.
    models: names of models; tasks: what was read of each, with its number of documents.
    merged: number of lines that repeat another one; averaged: of answers that are means.
    dropped: reason -> number of answers that were left out.
    notes: what was chosen, and from what.
    named_by_file: model -> the file whose name it has, since no column has one.
  """

  files: list[str] = dataclasses.field(default_factory=list)
  skipped: list[str] = dataclasses.field(default_factory=list)
  models: list[str] = dataclasses.field(default_factory=list)
  tasks: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
  merged: int = 0
  averaged: int = 0
  dropped: dict[str, int] = dataclasses.field(default_factory=dict)
  notes: list[str] = dataclasses.field(default_factory=list)
  named_by_file: dict[str, str] = dataclasses.field(default_factory=dict)

  def record(self) -> dict[str, Any]:
    return dataclasses.asdict(self)

  def lines(self) -> list[str]:
    """What was read, as lines of text."""
    text = (f"read {_count(len(self.files), 'file')}, {_count(len(self.models), 'model')} "
            f"({_some(self.models)})")
    found = [f"{text}, {_count(len(self.tasks), 'task')}:" if self.tasks else text]
    for name, one in self.tasks.items():
      what = f"  {name}: {_count(one['documents'], 'document')}, metric {one['metric'] or '?'}"
      found.append(what + (f", filter {one['filter']}" if one["filter"] else ""))
    if self.skipped:
      found.append(f"  no samples in {_some(self.skipped)}, which were left out")
    if self.merged:
      found.append(f"  {_count(self.merged, 'line')} that repeat another line exactly were merged")
    if self.averaged:
      found.append(f"  {_count(self.averaged, 'answer')} are means of repeated runs")
    found += [f"  {_count(num, 'answer')} {reason} were left out"
              for reason, num in self.dropped.items() if num]
    return [*found, *(f"  {one}" for one in dict.fromkeys(self.notes))]


def _count(num: int, what: str) -> str:
  return f"{num:,} {what}{'' if num == 1 else 's'}"


def _some(names: Iterable[str]) -> str:
  names = list(names)
  more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
  return ", ".join(names[:_SHOWN]) + more


def read(path: pathlib.Path, names: Sequence[str] = (), options: Options | None = None
         ) -> ImportedAnswers:
  """Reads one file; see `read_all`."""
  options = options or Options()
  found, = read_all([path], dataclasses.replace(options, names=list(names) or options.names))
  return found


def read_all(paths: Iterable[pathlib.Path], options: Options) -> list[ImportedAnswers]:
  """Reads files; those with a line an answer, and logs, make one table.

  Raises:
    accuracy_cache.CacheError: a file is missing, damaged or of another form; it names the line.
  """
  return read_reported(paths, options)[0]


def read_reported(paths: Iterable[pathlib.Path], options: Options
                  ) -> tuple[list[ImportedAnswers], Report]:
  """Reads files as `read_all`; also returns what was read."""
  report = Report()
  tables: list[tuple[pathlib.Path, ImportedAnswers]] = []
  found: list[log_files.Log | table_files.TableAnswers] = []
  selected = _Selected(options, report)
  named: dict[str, pathlib.Path] = {}
  for path in _files(paths):
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if kind not in KINDS:
      raise accuracy_cache.CacheError(f"{path} is none of {', '.join(KINDS)}, some also as .gz.")
    try:
      if kind in (".npy", ".npz"):
        tables.append((path, _arrays(path, options.values)))
        report.files.append(str(path))
        continue
      read_log: Any = None
      if kind in log_files.KINDS:
        read_log = harness_logs.read(path, selected.wanted)
      elif kind == ".parquet":
        read_log = log_layouts.of_parquet(path) or None
      if isinstance(read_log, list):
        (report.files if read_log else report.skipped).append(str(path))
        found += read_log
        continue
      columns, name = selected.columns, (
          path.with_suffix("").stem if path.suffix == ".gz" else path.stem)
      if path.parent.name == "predictions":  # WORKDIR/LEARNER/predictions/0003.parquet.
        run = path.resolve().parent.parent
        name = f"{run.parent.name}/{run.name}/{name}"
      opened = functools.partial(log_files.opened, path)
      one = (table_files.read_table(path, name, columns, opened)
             if read_log is None else
             table_files.from_table(path, read_log, name, columns, 1))
    except RecursionError as error:
      raise accuracy_cache.CacheError(f"{path} cannot be read: it is nested too deeply.") from error
    except (OSError, EOFError, pa.ArrowException, UnicodeDecodeError) as error:
      if isinstance(error, accuracy_cache.CacheError):
        raise
      raise accuracy_cache.CacheError(f"{path} cannot be read: {error}") from error
    report.files.append(str(path))
    report.notes += one.notes
    if one.matrix is not None:
      models, ids, scores = one.matrix
      tables.append((path, ImportedAnswers(models, ids, _plain(scores))))
      continue
    assert one.entries is not None
    # A log is one of several of its model; a table without a column of models is all of one.
    if one.is_named_by_file:
      report.named_by_file[name] = str(path)
      if name in named:
        raise accuracy_cache.CacheError(f"{named[name]} and {path} both have a model {name!r}. "
                                        "Rename one of them, or join them to one file.")
      named[name] = path
    found.append(one)
  if found:
    groups = {name: group for one in found if isinstance(one, log_files.Log)
              for name, group in one.groups.items()}
    table = _joined(selected.entries(found), options, selected.tasks, report)
    tables.append((pathlib.Path(report.files[0]), dataclasses.replace(table, groups=groups)))
  elif not tables:
    raise NoSamplesError(f"{_some(report.skipped)}: no file has samples. Give the per-sample logs "
                         "(lm-eval: --log_samples).")
  for path, table in tables:
    if options.names and len(options.names) != len(table.answers):
      raise accuracy_cache.CacheError(
          f"{path} has the answers of {len(table.answers)} models, but {len(options.names)} names "
          "are given.")
  tables = [(path, dataclasses.replace(one, models=list(options.names or one.models)))
            for path, one in tables]
  report.models = list(dict.fromkeys(name for _, one in tables for name in one.models))
  return [one for _, one in tables], report


def _files(paths: Iterable[pathlib.Path]) -> Iterator[pathlib.Path]:
  """The files, and those of folders that may have answers, at any depth."""
  for path in map(pathlib.Path, paths):
    if not path.is_dir():
      yield path
      continue
    inside = [one for one in sorted(path.rglob("*")) if one.is_file() and (
        one.with_suffix("").suffix if one.suffix == ".gz" else one.suffix) in KINDS
              and not any(part.startswith(".") for part in one.relative_to(path).parts)]
    if not inside:
      raise accuracy_cache.CacheError(f"{path} is a folder without files of answers; they end in "
                                      f"{', '.join(KINDS)}.")
    yield from inside


def _joined(entries: Sequence[answer_entries.Entries], options: Options,
            tasks: Mapping[str, cache_tasks.Task], report: Report) -> ImportedAnswers:
  """One table of all entries."""
  kind, most = generations.parsed(options.repeats)
  joined = answer_entries.join(entries, MEAN if most else options.repeats)
  if most:
    joined = dataclasses.replace(joined, scores=_generations(entries, joined, kind, most))
    report.notes.append(f"answers are {kind}@{most} of repeated runs")
  report.merged, report.averaged = joined.num_merged, joined.num_averaged
  names = list(tasks)
  codes = cache_tasks.codes(names, [joined.ids]) if names else np.zeros(0, np.int32)
  for name, one in tasks.items():
    report.tasks[name] = {"metric": one.metric, "filter": one.filter,
                          "documents": int(np.sum(codes == names.index(name)))}
  sources = None
  if joined.sources is not None:
    sources = [entries[max(0, index)].path for index in joined.sources.tolist()]
  return ImportedAnswers(joined.models, joined.ids, _plain(joined.scores), dict(tasks),
                         joined.hashes, sources, numbers=joined.numbers)


def _generations(entries: Sequence[answer_entries.Entries], joined: answer_entries.Joined,
                 kind: str, k: int) -> np.ndarray:
  """pass@k or maj@k of each answer, of all its runs: [M, N]."""
  seen = ~np.isnan(joined.scores)
  num = seen.astype(np.int64) if joined.numbers is None else joined.numbers
  for one in entries:
    if np.any((one.scores != 0) & (one.scores != 1) & ~np.isnan(one.scores)):
      raise accuracy_cache.CacheError(
          f"{one.path} has scores that are not right or wrong; {kind}@{k} counts right ones. Take "
          "their mean: --repeats mean --values.")
  found = np.full(joined.scores.shape, np.nan)
  few = seen & (num < k)
  if few.any():
    model, sample = np.argwhere(few)[0].tolist()
    raise accuracy_cache.CacheError(
        f"Model {joined.models[model]!r} has {int(num[model, sample])} answers to "
        f"{joined.ids[sample]!r}; {kind}@{k} needs {k}. Give the other runs, too, or a smaller "
        "number.")
  found[seen] = generations.reduced(num[seen], np.rint(joined.scores[seen] * num[seen]), kind, k)
  return found


class _Selected:
  """What is read of logs and tables that have several metrics or filters.

  Attributes:
    tasks: what was read of each task.
  """

  def __init__(self, options: Options, report: Report):
    self._options, self._report = options, report
    self._score, self._keep = Choice(options.score, "--score"), Choice(options.keep, "--filter")
    self.tasks: dict[str, cache_tasks.Task] = {}
    self._asked: dict[tuple[str, str], list[str]] = {}  # (flag, task) -> what there is.
    self._unnamed = False  # Whether a log does not name its filters.
    self._parts: set[tuple[str, str]] = set()  # (task, beginning of a document with a slash).
    self.wanted = log_files.Wanted(
        lambda task: self._of("metric", task), lambda task: self._of("filter", task))
    self.columns = table_files.Columns(
        options.model_column, options.task_column, options.id_column, self._score.default,
        options.values)

  def _of(self, what: str, task: str) -> str:
    """The metric or filter that is asked for, or that the cache keeps; "" for none."""
    choice = self._score if what == "metric" else self._keep
    name, is_own = choice.of(task)
    known = self._options.known.get(task)
    stored = getattr(known, what) if known else ""
    if stored and name and stored != name and (what == "metric" or is_own):
      flag = "--score" if what == "metric" else "--filter"
      raise accuracy_cache.CacheError(
          f"The cache keeps the answers to {task} by {what} {stored}; got {flag} {name}. Answers "
          f"of two kinds cannot be compared: leave out {flag}, or make another cache.")
    return stored or name

  def entries(self, found: Sequence[log_files.Log | table_files.TableAnswers]
              ) -> list[answer_entries.Entries]:
    """Entries with one metric and filter a task; asks for what is not clear."""
    entries = []
    for one in found:
      entries += [self._of_log(one)] if isinstance(one, log_files.Log) else self._of_table(one)
    if self._asked:
      raise accuracy_cache.CacheError(self._question())
    tasks = list(self.tasks)
    if self._options.is_all:
      self._score.check(tasks)
      self._keep.check(tasks)
    for task, part in self._parts:
      other = next((one for one in tasks if f"{task}/{part}/".startswith(f"{one}/")
                    and len(one) > len(task)), None)
      if other:
        raise accuracy_cache.CacheError(
            f"Task {task} has documents {part}/..., which are those of task {other} by name. "
            "Rename one of the tasks.")
    return entries

  def _question(self) -> str:
    """One line that says what there is and how to choose."""
    said, flags = [], []
    for flag in ("--score", "--filter"):
      mine: dict[tuple[str, ...], list[str]] = {}
      for (one, task), names in self._asked.items():
        if one == flag:
          mine.setdefault(tuple(names), []).append(task)
      what = "metrics" if flag == "--score" else "filters"
      said += [f"{_some(tasks) or 'The file'} has {what} {', '.join(names)}"
               for names, tasks in mine.items()]
      values = [f"{task}={names[0]}" if task else names[0]
                for names, tasks in mine.items() for task in tasks]
      if values:
        flags.append(f"{flag} {','.join(values)}")
    unnamed = (" The filters have no names in the log, which has an answer of each to every "
               "document: they are numbered in that order." if self._unnamed else "")
    return (f"{'; '.join(said)}.{unnamed} Which answers are meant? For example: "
            f"{' '.join(flags)}")

  def _task(self, name: str, metric: str, filter_name: str, source: str) -> None:
    if not name:
      return
    known = self.tasks.get(name)
    new = cache_tasks.Task(metric, filter_name, source)
    if known and (known.metric, known.filter) != (metric, filter_name):
      raise accuracy_cache.CacheError(
          f"{source}: the answers to {name} are {metric} {filter_name}, but {known.metric} "
          f"{known.filter} in {known.source}. Choose what all files have: --score {name}=NAME "
          f"--filter {name}=NAME")
    self.tasks.setdefault(name, new)

  def _of_log(self, log: log_files.Log) -> answer_entries.Entries:
    keep = np.ones(len(log.documents), bool)
    chosen = ""
    if log.filters is not None:
      kinds = list(dict.fromkeys(log.filters))
      wanted = self._of("filter", log.task)
      chosen = wanted if wanted in kinds else kinds[0]
      if wanted and wanted not in kinds and (kinds != ["none"] or self._keep.of(log.task)[1]):
        hint = (": the log does not name them, they are numbered in their order" if log.unnamed
                else "")
        raise accuracy_cache.CacheError(
            f"{log.path} has no filter {wanted!r}; it has {', '.join(kinds)}{hint}. Choose one: "
            f"--filter {log.task}={kinds[0]}")
      if len(kinds) > 1 and not wanted:
        self._asked["--filter", log.task] = kinds
        self._unnamed |= log.unnamed
      keep = np.array([one == chosen for one in log.filters])
    metric = self._metric(log, keep)
    for reason, num in log.dropped.items():
      self._report.dropped[reason] = self._report.dropped.get(reason, 0) + num
    if not keep.all():
      reason = f"of other filters than {chosen} ({log.task})"
      self._report.dropped[reason] = self._report.dropped.get(reason, 0) + int((~keep).sum())
    self._task(log.task, metric, "" if chosen == "none" else chosen, str(log.path))
    self._parts |= {(log.task, one.rpartition("/")[0]) for one in log.documents if "/" in one}
    chosen_at = np.flatnonzero(keep)
    places = None if log.places is None else np.array(log.places)[keep]
    prefix = f"{log.task}/" if log.task else ""
    values = np.array(log.metrics[metric], np.float64)[keep] if metric in log.metrics else (
        np.full(len(chosen_at), np.nan))

    def where(index: int) -> str:
      place = index + 1 if places is None else places[index]
      return f"{log.path}, {log.unit} {place}, {metric}"

    return answer_entries.Entries(
        pa.array([log.model] * len(chosen_at), pa.string()),
        pa.array([prefix + log.documents[index] for index in chosen_at.tolist()], pa.string()),
        answer_entries.scores(pa.array(values, pa.float64(), from_pandas=True), where,
                              self._options.values), str(log.path), places=places,
        hashes=None if log.hashes is None else np.array(log.hashes, np.uint64)[keep],
        repeats=None if log.repeats is None else pa.array(
            [log.repeats[index] for index in chosen_at.tolist()], pa.string()), unit=log.unit,
        of_folder=log.of_folder)

  def _metric(self, log: log_files.Log, keep: np.ndarray) -> str:
    wanted = self._of("metric", log.task)
    if wanted and wanted in log.metrics:
      return wanted
    values = {name: np.array(column, np.float64)[keep] for name, column in log.metrics.items()
              if not log.named or name in log.named}
    good = {name: one for name, one in values.items()
            if not np.isnan(one).all() and not np.any(np.isinf(one)) and (
                self._options.values or not np.any((one < 0) | (one > 1)))}
    if wanted:
      raise accuracy_cache.CacheError(
          f"{log.path} has no metric {wanted!r}; it has {', '.join(log.metrics)}. Choose by task: "
          f"--score {log.task or 'TASK'}={next(iter(good or log.metrics), 'NAME')}")
    main = {name: one for name, one in good.items() if name in log.main}
    names = list(main or good)
    if not names:
      raise accuracy_cache.CacheError(
          f"{log.path} has no metric between 0 and 1; it has "
          f"{', '.join(log.metrics) or 'none'}. Name one: --score {log.task or 'TASK'}=NAME, with "
          "--values if its scores are of another range")
    if log.main and not main and len(good) > 1:
      self._report.notes.append(f"{log.task} has no {log.main[0]}, the metric that its harness "
                                "reports")
    same = all(np.array_equal(good[names[0]], good[name], equal_nan=True) for name in names[1:])
    if len(names) > 1 and same:
      self._report.notes.append(f"{log.task}: {' and '.join(names)} are equal in "
                                f"{log.path.name}; {names[0]} is read")
    elif len(names) > 1:
      self._asked["--score", log.task] = names
    elif main and len(good) > 1:
      self._report.notes.append(f"{log.task}: {names[0]} is the metric that its harness reports; "
                                f"{', '.join(name for name in good if name not in main)} not read")
    return names[0]

  def _of_table(self, one: table_files.TableAnswers) -> list[answer_entries.Entries]:
    """Entries of a table, of one metric and filter for each task."""
    entries = one.entries
    assert entries is not None
    num = len(entries.scores)
    tasks = one.tasks if one.tasks is not None else pa.array([""], pa.string()).take(
        pa.array(np.zeros(num, np.int8)))
    coded = compute.dictionary_encode(tasks)
    names, code = coded.dictionary.to_pylist(), coded.indices.to_numpy()
    if one.metrics is None and one.filters is None:
      for name in names:
        self._task(name, self._options.known[name].metric if name in self._options.known else "",
                   "", entries.path)
        self._of("metric", name)
        self._keep.of(name)
      return [entries]
    keep = np.ones(num, bool)
    for index, name in enumerate(names):
      here = code == index
      chosen = {}
      for what, flag, column in (("metric", "--score", one.metrics),
                                 ("filter", "--filter", one.filters)):
        if column is None:
          continue
        values = np.array(compute.fill_null(column, "none").to_pylist(), object)
        kinds = list(dict.fromkeys(values[here].tolist()))
        wanted = self._of(what, name)
        if wanted and wanted not in kinds and kinds != ["none"]:
          raise accuracy_cache.CacheError(f"{entries.path} has no {what} {wanted!r} of {name}; it "
                                          f"has {', '.join(kinds)}. Choose one: {flag} "
                                          f"{name + '=' if name else ''}{kinds[0]}")
        if len(kinds) > 1 and not wanted:
          self._asked[flag, name] = kinds
        chosen[what] = wanted if wanted in kinds else kinds[0]
        here = here & (values == chosen[what])
      keep[(code == index) & ~here] = False
      metric, kept = chosen.get("metric", ""), chosen.get("filter", "")
      self._task(name, "" if metric == "none" else metric, "" if kept == "none" else kept,
                 entries.path)
    if not keep.all():
      reason = "of other metrics or filters"
      self._report.dropped[reason] = self._report.dropped.get(reason, 0) + int((~keep).sum())
    at = pa.array(np.flatnonzero(keep))
    return [dataclasses.replace(
        entries, models=entries.models.take(at), ids=entries.ids.take(at),
        scores=entries.scores[keep], places=np.flatnonzero(keep) + entries.first_line,
        hashes=None if entries.hashes is None else entries.hashes[keep],
        repeats=None if entries.repeats is None else entries.repeats.take(at),
        others=None if entries.others is None else entries.others.take(at))]


def _arrays(path: pathlib.Path, any_number: bool) -> ImportedAnswers:
  if path.suffix == ".npy":
    return _named(path, np.atleast_2d(_load(path)), None, None, any_number)
  with _load(path) as saved:
    if "answers" in saved:
      answers = np.atleast_2d(saved["answers"])
    elif {"A_packed", "n_samples"} <= set(saved):
      answers = np.unpackbits(saved["A_packed"], axis=1, count=int(saved["n_samples"]))
    else:
      raise accuracy_cache.CacheError(
        f"{path} has {sorted(saved)}; needed is `answers` [M, N], or `A_packed` and `n_samples`."
      )
    return _named(path, answers, saved.get("model_names"), saved.get("ids"), any_number)


def _plain(scores: np.ndarray) -> np.ndarray:
  """Scores as 1, 0 and -1 if none is graded."""
  known = ~np.isnan(scores)
  if np.all((scores == 0) | (scores == 1) | ~known):
    return np.where(known, scores == 1, accuracy_cache.NOT_EVALUATED).astype(np.int8)
  return scores


def _load(path: pathlib.Path) -> Any:
  try:
    return np.load(path, allow_pickle=False)
  except ValueError as error:
    raise accuracy_cache.CacheError(f"{path} is damaged, or holds Python objects, which are not "
                                    f"read: {error}") from error


def _named(path: pathlib.Path, answers: np.ndarray, names: Any, ids: Any, any_number: bool
           ) -> ImportedAnswers:
  models = ([str(name) for name in names] if names is not None else
            [path.stem] if len(answers) == 1 else
            [f"{path.stem}/{index}" for index in range(len(answers))])
  if any_number and answers.dtype.kind in "iuf":
    answers = answers.astype(np.float64)
  elif answers.dtype.kind == "f":
    answers = np.where(answers == accuracy_cache.NOT_EVALUATED, np.nan, answers)
    bad = (answers < 0) | (answers > 1)
    if bad.any():
      raise accuracy_cache.CacheError(f"{path} has {answers[bad][0]:g} at {np.argwhere(bad)[0]}; "
                                      "expected 1, 0, scores between, -1 or NaN; scores of any "
                                      "range are kept with --values.")
    answers = _plain(answers)
  return ImportedAnswers(models, None if ids is None else [str(one) for one in ids], answers)
