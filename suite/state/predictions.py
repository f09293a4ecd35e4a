# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Predictions of one Predict event on disk: Parquet, one row an example, zstd-compressed.

They are the accuracy cache that the lifelong benchmark reads, and suffice to recompute a printed
score. Every page has a checksum, which is verified when it is read. The file's metadata say which
run and event it belongs to.

| column | single-label | multi-label |
|---|---|---|
| id | string, unique | same |
| label | int64 | list of the positive classes |
| top1 | int64, -1 if the model answered NaN | same |
| true_class_probability | float32 | list, the probability of each positive class |
| correct | bool | bool: top1 is one of the labels |
| scores | absent | list of C scores, from which mean average precision is computed |

Where the classes have names, these are in the file's metadata, "class_names", as a JSON list.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import json
import os
import pathlib

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from suite.state import snapshots
from suite.system import atomic_files
from suite.system import io_errors

_REMEDY = "Restore it from a copy, or run the same command in a new work directory."
COLUMNS = ("id", "label", "top1", "true_class_probability", "correct")
_END = b"PAR1"
# Of the file's metadata.
RUN, EVENT, _CLASS_NAMES = b"suite.run", b"suite.event", b"class_names"


@dataclasses.dataclass(frozen=True, eq=False)
class Predictions:
  """N predictions, in the order of the test split.

  Attributes:
    id: [N] strings.
    label: int64 [N], or N arrays of positive classes.
    top1: int64 [N].
    true_class_probability: float32 [N], or N arrays, one value a positive class.
    correct: bool [N].
    scores: float32 [N, C] of a multi-label task, otherwise None.
    class_names: C names in the order of the labels; None: not known.
  """

  id: np.ndarray
  label: np.ndarray | list[np.ndarray]
  top1: np.ndarray
  true_class_probability: np.ndarray | list[np.ndarray]
  correct: np.ndarray
  scores: np.ndarray | None = None
  class_names: tuple[str, ...] | None = None

  @property
  def is_multi_label(self) -> bool:
    return self.scores is not None

  def __len__(self) -> int:
    return len(self.id)

  def multi_hot(self) -> np.ndarray:
    """Labels of a multi-label task as uint8 [N, C]."""
    if self.scores is None:
      raise ValueError("These predictions are of a single-label task; read .label instead.")
    labels = np.zeros(self.scores.shape, np.uint8)
    for row, positive in zip(labels, self.label):
      row[positive] = 1
    return labels


def save(path: str | os.PathLike, *, ids: Sequence[str] | np.ndarray, labels: np.ndarray,
         top1: np.ndarray, true_class_probability: np.ndarray | Sequence[np.ndarray],
         correct: np.ndarray, scores: np.ndarray | None = None,
         class_names: Sequence[str] | None = None, sync: bool = True,
         run: str = "", event: int | None = None) -> None:
  """Writes one file, completely or not at all (temporary name, then rename).

  Args:
    path: the file; its directory is made if needed.
    ids: [N] unique strings (or bytes, as TensorFlow returns them).
    labels: [N] class indices or [N, C] multi-hot.
    top1: [N] most likely class.
    true_class_probability: [N], or for multi-label N arrays, one value a positive class.
    correct: [N].
    scores: [N, C] of a multi-label task, kept as float32: score what was saved
      (`load(path).scores`) where the two must agree to the last bit.
    class_names: C names in the order of the labels, if they have any.
    sync: whether the file is flushed to the disk.
    run, event: what it belongs to, where that is known: the identity of the run.
  """
  labels = np.asarray(labels)
  multi_label = labels.ndim == 2
  if multi_label != (scores is not None):
    raise ValueError(f"Got labels of shape {list(labels.shape)} with scores "
                     f"{'missing' if scores is None else 'given'}; a multi-label task ([N, C] "
                     "multi-hot) needs scores, a single-label task ([N]) has none.")
  if isinstance(ids, np.ndarray) and ids.dtype.kind == "U":
    texts = ids.tolist()
  else:
    texts = [i.decode("utf-8") if isinstance(i, bytes) else str(i) for i in ids]
  if multi_label:
    probabilities = pa.array([np.asarray(v, np.float32) for v in true_class_probability],
                             pa.list_(pa.float32()))
  else:
    probabilities = pa.array(np.asarray(true_class_probability, np.float32), pa.float32())
  columns = {
      "id": pa.array(texts, pa.string()),
      "label": pa.array([np.flatnonzero(row) for row in labels] if multi_label else labels,
                        pa.list_(pa.int64()) if multi_label else pa.int64()),
      "top1": pa.array(np.asarray(top1), pa.int64()),
      "true_class_probability": probabilities,
      "correct": pa.array(np.asarray(correct, bool), pa.bool_()),
  }
  if multi_label:
    columns["scores"] = pa.array(list(np.asarray(scores, np.float32)), pa.list_(pa.float32()))
  _check_lengths(path, columns, labels)
  facts = {RUN: run.encode(), EVENT: str(event).encode()} if run else {}
  if class_names:
    facts[_CLASS_NAMES] = json.dumps(list(class_names)).encode()
  with atomic_files.opening(pathlib.Path(path), sync=sync) as file:
    parquet.write_table(pa.table(columns, metadata=facts or None), file, compression="zstd",
                        use_dictionary=False, write_page_checksum=True)


def check_end(path: str | os.PathLike) -> None:
  """A ValueError unless a file is there and has its end; for files that are known to be whole."""
  try:
    with open(path, "rb") as file:
      file.seek(-len(_END), os.SEEK_END)
      if file.read() == _END:
        return
  except OSError as error:  # It is not there, or empty.
    if io_errors.of(error):
      raise
  raise ValueError(f"{path} is missing or cut. {_REMEDY}")


def misplaced(path: str | os.PathLike, *, run: str, event: int) -> str:
  """Says that a file belongs to another run or event, by its end alone; "" if not, or unknown."""
  try:
    return _misplaced(path, parquet.read_schema(path), run, event)
  except (OSError, ValueError):  # It is not there, or damaged: whoever needs it says so.
    return ""


def _misplaced(path: str | os.PathLike, schema: pa.Schema, run: str, event: int | None) -> str:
  metadata = schema.metadata or {}
  for key, wanted, what in ((RUN, run, "another run"),
                            (EVENT, "" if event is None else str(event), "another event")):
    if wanted and metadata.get(key, wanted.encode()) != wanted.encode():
      return f"{path} belongs to {what}. {_REMEDY}"
  return ""


def load(path: str | os.PathLike, *, run: str = "", event: int | None = None) -> Predictions:
  """Reads and checks one file that `save` wrote.

  Args:
    path: the file.
    run, event: what it must belong to; "" and None: anything. A file of suite 0.1 does not say.
  """
  if not os.path.exists(path):
    raise FileNotFoundError(f"There are no predictions at {path}. {_REMEDY}")
  try:
    table = parquet.ParquetFile(path, page_checksum_verification=True).read()
  except Exception as error:  # Arrow raises errors of many kinds on damaged files.
    if io_errors.of(error):
      raise
    raise ValueError(f"{path} cannot be read as Parquet ({snapshots.reason(error)}); it is "
                     f"damaged. {_REMEDY}") from error
  schema, multi_label = table.schema, "scores" in table.schema.names
  if problem := _misplaced(path, schema, run, event):
    raise ValueError(problem)
  missing = [name for name in COLUMNS if name not in schema.names]
  if missing:
    raise ValueError(f"{path} has no columns {missing}; it has {schema.names}. Is it a "
                     f"predictions file of a run? If so, it is damaged. {_REMEDY}")
  types = {"id": pa.string(), "label": pa.int64(), "top1": pa.int64(),
           "true_class_probability": pa.float32(), "correct": pa.bool_()}
  if multi_label:
    types.update(label=pa.list_(pa.int64()), scores=pa.list_(pa.float32()),
                 true_class_probability=pa.list_(pa.float32()))
  for name, type_ in types.items():
    if schema.field(name).type != type_:
      raise ValueError(f"{path}: column {name!r} is {schema.field(name).type}; expected {type_} in "
                       f"a {'multi' if multi_label else 'single'}-label file. {_REMEDY}")
  column = {name: table.column(name).combine_chunks() for name in table.column_names}
  for name, values in column.items():
    if values.null_count:
      raise ValueError(f"{path}: column {name!r} has {values.null_count} empty cells; none may be. "
                       f"{_REMEDY}")
  named = (schema.metadata or {}).get(_CLASS_NAMES)
  scores = None
  if multi_label:
    rows = _lists(column["scores"])
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1:
      raise ValueError(
          f"{path}: rows have {widths} scores; expected one score a class in every row.")
    scores = np.stack(rows) if rows else np.zeros([0, 0], np.float32)
  return Predictions(
      id=np.array(column["id"].to_pylist(), dtype=str),
      label=_lists(column["label"]) if multi_label else column["label"].to_numpy(),
      top1=column["top1"].to_numpy(),
      true_class_probability=(_lists(column["true_class_probability"]) if multi_label
                              else column["true_class_probability"].to_numpy()),
      correct=column["correct"].to_numpy(zero_copy_only=False),
      scores=scores,
      class_names=tuple(json.loads(named)) if named else None)


def _check_lengths(
    path: str | os.PathLike, columns: dict[str, pa.Array], labels: np.ndarray) -> None:
  lengths = {name: len(values) for name, values in columns.items()}
  if len(set(lengths.values())) != 1:
    raise ValueError(f"Predictions for {path} have columns of different lengths: {lengths}; "
                     "expected N values each.")
  repeated = lengths["id"] - len(columns["id"].unique())
  if repeated:
    raise ValueError(f"Predictions for {path} repeat {repeated} ids; every example counts once, so "
                     "leave padding rows out.")
  if labels.ndim == 2:
    widths = {len(row) for row in columns["scores"].to_pylist()} - {labels.shape[1]}
    counts = [len(row) for row in columns["true_class_probability"].to_pylist()]
    if widths or counts != [int(np.count_nonzero(row)) for row in labels]:
      raise ValueError(f"Predictions for {path}: expected {labels.shape[1]} scores an example and "
                       "one true_class_probability a positive class.")


def _lists(column: pa.ListArray) -> list[np.ndarray]:
  """A list column as N arrays that share one buffer."""
  offsets = column.offsets.to_numpy()
  values = column.values.to_numpy(zero_copy_only=False)
  return [values[start:stop] for start, stop in zip(offsets[:-1], offsets[1:])]
