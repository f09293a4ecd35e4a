# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The classes and their queries: texts, given as features, or images of the collection.

CLEAR has one text or several subcategories for a class (section 3, "Visio-linguistic curation").

    class,prompt                        class,id
    laptop,"laptop, computer"           laptop,3001
    bus,bus                             laptop,3002
    line i is row i of QUERIES.npy      a class is the mean direction of its images
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import pathlib
import re
import types
from typing import Any, NamedTuple

import numpy as np

from suite.beside.curation import errors
from suite.beside.curation import feature_files
from suite.beside.curation import nearest_images
from suite.beside.curation import storage

BACKGROUND = "BACKGROUND"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)


class Queries(NamedTuple):
  """One query per class.

  Attributes:
    names: Q class names, sorted.
    prompts: Q texts that describe the queries.
    vectors: float64 [Q, D] of length 1.
    examples: class -> ids of the images that its query is the mean of; {} of texts.
  """

  names: list[str]
  prompts: list[str]
  vectors: np.ndarray
  examples: Mapping[str, Sequence[str]] = types.MappingProxyType({})


def read(table: pathlib.Path, vectors: pathlib.Path | None, features: feature_files.FeatureFiles,
         rows: Mapping[str, int], make: Callable[[], Any] | None = None) -> Queries:
  """Reads queries.

  Args:
    table: a CSV with `class` and `prompt`, or with `class` and `id`.
    vectors: .npy file of the prompts' features, [Q, D]; None with ids.
    features: features of the images.
    rows: id -> row of the features.
    make: builds an encoder with `encode_text`, for texts without features.
  """
  lines = storage.read_csv(table, ["class"])
  if not lines:
    raise errors.CurationError(f"{table} has no queries.")
  if "id" in lines[0]:
    if vectors is not None:
      raise errors.CurationError(f"{table} names images by id, so their features are known; leave "
                                 f"out {vectors}, or give a table of class and prompt.")
    examples: dict[str, list[str]] = {}
    for line in lines:
      examples.setdefault(line["class"], []).append(line["id"])
    unknown = sorted({line["id"] for line in lines} - set(rows))
    if unknown:
      raise errors.CurationError(f"{table} names images that are not in the collection: "
                                 f"{errors.some(unknown)}. Use ids of the table of images.")
    means = [feature_files.normalized(features.take(np.array([rows[i] for i in ids]))).mean(axis=0)
             for ids in examples.values()]
    return _sorted(list(examples), [f"images {', '.join(ids)}" for ids in examples.values()],
                   np.stack(means), table)._replace(examples=examples)
  prompts = [line.get("prompt") or line["class"] for line in lines]
  if vectors is None and make is not None:
    return from_text(make(), [line["class"] for line in lines], prompts)
  if vectors is None:
    raise errors.CurationError(
        f"{table} holds texts, and no model of texts comes with this tool. Give --clip DIR if CLIP "
        f"encoded the images; else encode {errors.some(prompts)} by the text half of the encoder "
        "of the images, one row a line, and give the .npy file.")
  return _sorted([line["class"] for line in lines], prompts, feature_files.read(vectors), table)


def from_text(encoder: Any, names: Sequence[str], prompts: Sequence[str]) -> Queries:
  """Computes queries by an encoder that has `encode_text(prompts) -> [Q, D]`."""
  if not hasattr(encoder, "encode_text"):
    raise errors.CurationError(
        f"{type(encoder).__name__} has no encode_text: it embeds images only. Use image queries, "
        "or features of the texts that were computed elsewhere by the matching text encoder.")
  return _sorted(list(names), list(prompts), np.asarray(encoder.encode_text(list(prompts))),
                 "the given texts")


def _sorted(names: list[str], prompts: list[str], vectors: np.ndarray, where: Any) -> Queries:
  wrong = sorted({name for name in names if not _NAME.fullmatch(name) or name == BACKGROUND})
  if wrong:
    raise errors.CurationError(
        f"{where}: {errors.some(wrong)} cannot be class names. They become folders and lines of "
        f"class_names.txt: letters, digits, '_' and '-'; {BACKGROUND} is made from low scores.")
  double = sorted({name for name in names if names.count(name) > 1})
  if double:
    raise errors.CurationError(f"{where}: classes {errors.some(double)} have several queries. Join "
                               "a class's texts with commas in one prompt, as CLEAR does.")
  if vectors.ndim != 2 or len(vectors) != len(names):
    raise errors.CurationError(f"{where}: {len(names)} queries, but features of shape "
                               f"{vectors.shape}. Row i must belong to line i.")
  order = sorted(range(len(names)), key=names.__getitem__)
  return Queries([names[i] for i in order], [prompts[i] for i in order],
                 nearest_images.as_queries(vectors, names)[order])
