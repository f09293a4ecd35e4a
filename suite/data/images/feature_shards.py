# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Features on disk, in shards that are complete or absent.

  DIR/features.json                      their data set, and the encoder
  DIR/bucket_03/00002/features.npy       float32 [n, D], the third shard of a split
  DIR/bucket_03/00002/ids.json           the n ids of its images, in order
"""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

MANIFEST = "features.json"
_FEATURES, _IDS = "features.npy", "ids.json"


class FeatureSplit(NamedTuple):
  """features: float32 [N, D]. ids: [N]."""

  features: np.ndarray
  ids: List[str]


def shard_folder(folder: pathlib.Path, split: str, number: int) -> pathlib.Path:
  """The folder of a shard."""
  return pathlib.Path(folder) / split / f"{number:05d}"


def ranges(num_examples: int, shard_size: int) -> Iterator[Tuple[int, int]]:
  """(first, end) of each shard of a split."""
  for first in range(0, num_examples, shard_size):
    yield first, min(first + shard_size, num_examples)


def write_shard(folder: pathlib.Path, features: np.ndarray, ids: Sequence[str]) -> None:
  """Writes both files of a shard into an existing, empty folder."""
  np.save(folder / _FEATURES, np.ascontiguousarray(features, np.float32), allow_pickle=False)
  (folder / _IDS).write_text(json.dumps(list(ids)))


def read_manifest(folder: pathlib.Path) -> Dict[str, Any]:
  """The contents of features.json."""
  path = pathlib.Path(folder) / MANIFEST
  if not path.is_file():
    raise FileNotFoundError(f"{folder} has no {MANIFEST}. Write features there with: suite data "
                            "features NAME --encoder RUN_DIR --out DIR")
  return json.loads(path.read_text())


def read_split(folder: pathlib.Path, split: str) -> FeatureSplit:
  """All features of a split; an error if it is missing or not finished."""
  manifest = read_manifest(folder)
  facts: Mapping[str, Any] = manifest["splits"].get(split, {})
  if not facts:
    raise ValueError(f"{folder} has no features of split {split!r}; it has "
                     f"{', '.join(sorted(manifest['splits']))}. Write them with: suite data "
                     f"features {manifest['data_set']} --split {split} --out {folder}")
  features: List[np.ndarray] = []
  ids: List[str] = []
  for number, (first, end) in enumerate(ranges(facts["num_examples"], manifest["shard_size"])):
    shard = shard_folder(folder, split, number)
    if not shard.is_dir():
      raise ValueError(f"The features of split {split!r} in {folder} are not finished: shard "
                       f"{shard.name} is missing. Run the same command again; it resumes there.")
    found = np.load(shard / _FEATURES, allow_pickle=False)
    names = json.loads((shard / _IDS).read_text())
    wanted = (end - first, manifest["feature_size"])
    if found.shape != wanted or len(names) != len(found):
      raise ValueError(f"{shard} has features {found.shape} and {len(names)} ids; {wanted} "
                       "features are expected. Delete the folder and run the same command again.")
    features.append(found)
    ids += names
  return FeatureSplit(np.concatenate(features), ids)
