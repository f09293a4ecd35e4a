# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Results of the finished steps of a curation: table, features, buckets, candidates."""

from __future__ import annotations

import os
import pathlib
from typing import NamedTuple

import numpy as np

from suite.beside.curation import errors
from suite.beside.curation import feature_files
from suite.beside.curation import image_table
from suite.beside.curation import manifest
from suite.beside.curation import storage
from suite.beside.curation import time_buckets

ENCODE, BUCKETS, QUERIES, SHEETS, VOTES, EXPORT = STEPS = (
    "encode", "buckets", "queries", "sheets", "votes", "export")
LABEL_STUDIO = "label_studio"
BUCKET_FILE, RANGES, CANDIDATES = "buckets.npy", "ranges.csv", "candidates.csv"
AMBIGUOUS, IMAGE_FILE, ENCODED = "ambiguous.csv", "images.csv", "features.npy"


class SavedCandidate(NamedTuple):
  """A line of candidates.csv."""

  bucket: int
  label: str
  rank: int
  id: str
  score: str


def table(work: pathlib.Path) -> image_table.ImageTable:
  """Reads the table that the buckets were made from."""
  step = manifest.verified(work, BUCKETS)
  path, = step.sources("table")
  return image_table.read(path, unit=step.parameters.get("unit"))


def features(work: pathlib.Path) -> feature_files.FeatureFiles:
  """Reads the features that the buckets were made from."""
  return feature_files.FeatureFiles(manifest.verified(work, BUCKETS).sources("features"))


def buckets(work: pathlib.Path) -> np.ndarray:
  """Reads the bucket of each image: int16 [N]."""
  folder = manifest.verified(work, BUCKETS).folder
  return np.load(folder / BUCKET_FILE, allow_pickle=False)


def spans(work: pathlib.Path) -> dict[int, str]:
  """Reads the time span of each bucket, as text."""
  path = manifest.verified(work, BUCKETS).folder / RANGES
  lines = storage.read_csv(path, list(time_buckets.Range._fields))
  return {int(line["bucket"]): f"{line['first_time'][:10]} to {line['last_time'][:10]}"
          for line in lines}


def candidates(work: pathlib.Path) -> list[SavedCandidate]:
  """Reads all candidates, by bucket, class and rank."""
  path = manifest.verified(work, QUERIES).folder / CANDIDATES
  return [SavedCandidate(int(line["bucket"]), line["class"], int(line["rank"]), line["id"],
                    line["score"])
          for line in storage.read_csv(path, ["bucket", "class", "rank", "id", "score"])]


def check_files(found: image_table.ImageTable, rows: list[int], root: pathlib.Path | None
                ) -> list[pathlib.Path]:
  """Finds the image files of some rows; raises an error that names the missing ones."""
  paths = [found.file(row, root) for row in rows]
  lacking = [path for path in paths if not path.is_file()]
  if lacking:
    raise errors.CurationError(f"{len(lacking)} of {len(paths)} image files are not there: "
                               f"{errors.some(lacking)}. Name the folder that the paths of "
                               f"{found.path} start from with --images, or leave them out.")
  return paths


def from_work(work: pathlib.Path, path: pathlib.Path | None) -> str | None:
  """Converts a path to its form in a manifest: relative to the folder of the curation."""
  return None if path is None else pathlib.PurePath(os.path.relpath(path, work)).as_posix()


def from_manifest(work: pathlib.Path, path: str | None) -> pathlib.Path | None:
  """Converts a path in the form of `from_work` back."""
  return None if path is None else pathlib.Path(os.path.normpath(work / path))
