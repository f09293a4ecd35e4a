# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: the suite's streams, the paper's splits and the metrics beside dm_nevis.

No data set is read. Streams are compared by name, position and year; random splits by the part of
each position; splits of TFDS data sets by the ranges that the reference asks TFDS for; metrics on
random logits and labels.
"""

from __future__ import annotations

from collections.abc import Iterator

import authors as authors_lib
import numpy as np
import parity_rows

from suite.data.streams import nevis_table
from suite.metrics import classification
from suite.metrics import task_stream
from tfds_builders import paper_draws
from tfds_builders.rows import nevis

SIZES = (3, 400, 1593, 9298, 60000)  # Olivetti, Semeion, USPS and MNIST among them.
TFDS_SIZES = {"train": 12347, "validation": 2345, "test": 3456}
RULES = {"pooled": paper_draws.POOLED, "train_only": paper_draws.TRAIN_ONLY,
         "train_dev": paper_draws.TRAIN_DEV}
# By a loader with a rule of its own, not by ranges of TFDS.
OTHERWISE = ("coil100", "domainnet", "smallnorb")
ROUNDING = 1e-6  # Theirs is float32.
Row = parity_rows.Row


def canonical(name: str) -> str:
  """The suite's name of a data set of theirs: "voc/2007" is "voc2007"."""
  return name.replace("/", "_").replace("voc_2", "voc2")


def _stream_rows(authors: authors_lib.Authors) -> list[Row]:
  said, found = authors.ask("public_nevis", {}, what="streams"), []
  for variant, lines in (("FULL", nevis_table.full()), ("SHORT", nevis_table.short()),
                         ("TINY", nevis_table.tiny())):
    theirs = [(canonical(str(name)), int(year))
              for name, year in zip(said[variant], said[f"{variant}_years"])]
    mine = [(line.name, line.year) for line in lines]
    different = sum(a != b for a, b in zip(theirs, mine)) + abs(len(theirs) - len(mine))
    found.append(Row(f"stream {variant}: data set and year of each task", "the tables of both",
                     f"{len(theirs)} tasks", f"{len(mine)} tasks", different, "tasks that differ"))
  return found


def _draw_rows(authors: authors_lib.Authors) -> list[Row]:
  said, found = authors.ask("public_nevis", {}, what="draws", sizes=SIZES), []
  for rule, draw in RULES.items():
    theirs = np.concatenate([said[f"{rule}_{size}"] for size in SIZES])
    mine = np.concatenate([draw.assign(size) for size in SIZES])
    shares = ", ".join(f"{part} {share:.2f}" for part, share in draw.shares)
    found.append(Row(f"random split {shares}", f"{len(mine):,} examples in {len(SIZES)} sets",
                     *(f"{np.sum(parts == 'train'):,} in train" for parts in (theirs, mine)),
                     float(np.sum(theirs != mine)), "examples in another part"))
  return found


def _slice_rows(authors: authors_lib.Authors) -> list[Row]:
  rows = {row.tfds.names[0].split(":")[0]: row for row in nevis.ROWS
          if row.tfds is not None and row.name not in OTHERWISE}
  known = {_their_name(name): row for name, row in rows.items()}
  said = authors.ask("public_nevis", {}, what="slices", names=list(known), sizes=TFDS_SIZES)
  theirs, mine, missing = [], [], []
  for name, row in known.items():
    if not row.paper:
      missing.append(row.name)
      continue
    for split, source in row.tfds.splits.items():
      mine += row.paper[source].assign(TFDS_SIZES[split])
      theirs += said[f"{name}|{split}"].tolist()
  found = [Row("ranges of TFDS's splits",
               f"{len(known) - len(missing)} TFDS data sets, {len(mine):,} positions",
               *(f"{parts.count('train'):,} in train" for parts in (theirs, mine)),
               float(np.sum(np.array(theirs) != np.array(mine))), "positions in another part")]
  if missing:
    found.append(Row("TFDS data sets with the reference's ranges", f"{len(known)} TFDS data sets",
                     f"{len(known)}", f"{len(known) - len(missing)}", len(missing),
                     "data sets without them", reason=f"Not offered: {', '.join(missing)}. Its own "
                     "draw is by a hash of the image's name."))
  return found


def _their_name(name: str) -> str:
  return {"sun397/tfds": "sun397"}.get(name, name)


def _metric_rows(authors: authors_lib.Authors) -> list[Row]:
  rng, given = np.random.default_rng(0), {}
  sizes = ((500, 10), (321, 2), (1000, 100))  # Examples and classes.
  for i, (num, classes) in enumerate(sizes):
    logits = rng.normal(size=(num, classes)).astype(np.float32)
    labels = rng.integers(0, classes, num)
    logits[np.arange(num), labels] += 1
    given.update({f"logits_{i}": logits, f"labels_{i}": labels})
    many = (rng.uniform(size=(num, classes)) < 0.2).astype(np.int64)
    many[:, 0] = 0  # A class that no image has.
    given.update({f"many_{i}": many, f"chances_{i}": np.clip(
        many * 0.3 + rng.uniform(size=many.shape) * 0.7, 0, 1).round(2)})  # With ties.
  said = authors.ask("public_nevis", given, what="metrics")
  errors, entropies, precisions = [], [], []
  for i in range(len(sizes)):
    logits, labels = given[f"logits_{i}"], given[f"labels_{i}"]
    errors.append(classification.error_of(classification.top1(logits), labels))
    entropies.append(-np.log(classification.true_class_probability(logits, labels)).mean())
    precisions.append(classification.mean_average_precision(given[f"chances_{i}"],
                                                            given[f"many_{i}"]))
  mean = task_stream.mean_error(errors, [task_stream.META_TEST] * len(sizes))
  inputs = f"{len(sizes)} tasks of {', '.join(f'{n}' for n, _ in sizes)} images"

  def row(what: str, theirs: np.ndarray, mine: list[float]) -> Row:
    shown = [", ".join(f"{value:.4f}" for value in values) for values in (theirs, mine)]
    return Row(what, inputs, *shown, float(np.abs(np.asarray(theirs) - mine).max()),
               "largest difference", ROUNDING)

  return [row("top-1 error of a single-label task", 1 - said["single"][:, 0], errors),
          row("cross-entropy", said["single"][:, 1], entropies),
          row("mean average precision of a multi-label task, with an absent class", said["multi"],
              precisions),
          row("mean error of single-label tasks", np.array([1 - said["average"]]), [mean]),
          _tie_row(authors)]


def _tie_row(authors: authors_lib.Authors) -> Row:
  """Constant logits, as of a head of zeros; the labels are the first class."""
  logits, labels = np.zeros((100, 10), np.float32), np.zeros(100, np.int64)
  said = authors.ask("public_nevis", {"logits_0": logits, "labels_0": labels}, what="metrics")
  theirs = 1 - float(said["single"][0, 0])
  mine = classification.error_of(classification.top1(logits), labels)
  return Row("top-1 error where all logits are equal", "100 images of the first of 10 classes",
             f"{theirs:.2f}", f"{mine:.2f}", abs(theirs - mine), "difference",
             reason="Of equal logits the suite takes the first class, as numpy's argmax does; the "
             "reference takes the last one of numpy's argsort.")


def compare(authors: authors_lib.Authors, data_dir: str | None) -> Iterator[Row]:
  """All rows, in about half a minute; `data_dir` is not used."""
  del data_dir
  for rows in (_stream_rows, _draw_rows, _slice_rows, _metric_rows):
    yield from rows(authors)
