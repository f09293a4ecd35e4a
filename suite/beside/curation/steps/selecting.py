# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The automatic steps of a curation: encode, buckets, queries."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence
import dataclasses
import pathlib
from typing import Any, NamedTuple

from absl import logging
import numpy as np

from suite.beside.curation import collection
from suite.beside.curation import encoders
from suite.beside.curation import errors
from suite.beside.curation import feature_files
from suite.beside.curation import image_table
from suite.beside.curation import manifest
from suite.beside.curation import queries as queries_lib
from suite.beside.curation import selection
from suite.beside.curation import storage
from suite.beside.curation import time_buckets


def encode(work: pathlib.Path, table: pathlib.Path, make: Callable[[], Any], *,
           parameters: Mapping[str, Any], weights: Sequence[pathlib.Path] = (),
           images: pathlib.Path | None = None, unit: str | None = None, again: bool = False
           ) -> manifest.Manifest:
  """Encodes image files into WORK/encode/features.npy; row i belongs to line i of the table.

  Args:
    work: folder of the curation.
    table: table of the images, with their paths.
    make: builds the encoder; called only if the step is not finished.
    parameters: parameters of the encoder, as plain values.
    weights: files that the encoder reads.
    images: root folder of the paths; None: the table's folder.
    unit: see `image_table.read`; features do not depend on it.
    again: whether to replace a step that was done with other inputs.
  """
  def write(folder: pathlib.Path) -> manifest.Counts:
    found = image_table.read(table, unit=unit)
    paths = collection.check_files(found, list(range(found.size)), images)
    encoder = make()
    out = folder / collection.ENCODED
    encoders.encode_files(encoder, paths, out)
    feature_files.FeatureFiles([out]).check(lambda row: str(found.ids[row]))
    return {"images": found.size, "width": encoder.width}

  return manifest.run(
      work, collection.ENCODE, inputs={"table": [table], "weights": list(weights)},
      parameters={**parameters, "images": collection.from_work(work, images)}, write=write,
      again=again)


def buckets(work: pathlib.Path, table: pathlib.Path,
            features: Sequence[pathlib.Path] | None = None, *, num: int = time_buckets.NUM,
            unit: str | None = None, old: bool = False, again: bool = False) -> manifest.Manifest:
  """Divides the images into time buckets, WORK/buckets.

  Args:
    work: folder of the curation.
    table: table of the images.
    features: files of features; None: those of `encode`.
    num: number of buckets.
    unit: see `image_table.read`; later steps read the table so, too.
    old: all images may be from before 1990.
    again: whether to replace a step that was done with other inputs.
  """
  inputs: dict[str, Sequence[pathlib.Path]] = {"table": [table], "features": features or ()}
  if not features:
    encoded = manifest.verified(work, collection.ENCODE)
    if encoded.inputs["table"][0]["blake2b"] != storage.digest(table):
      raise errors.CurationError(f"{encoded.folder} was encoded from another table than {table}. "
                                 "Encode again, or name the features.")
    inputs = {"table": [table], "features": [encoded.folder / collection.ENCODED],
              collection.ENCODE: [encoded.path]}

  def write(folder: pathlib.Path) -> manifest.Counts:
    found = image_table.read(table, unit=unit)
    vectors = feature_files.FeatureFiles(list(inputs["features"]))
    if not old:
      image_table.check_not_all_old(table, image_table.TIME, found.times, "--before-1990")
    if found.size != vectors.size:
      raise errors.CurationError(f"{table} has {found.size} images, but there are {vectors.size} "
                                 "feature vectors. Line i of the table must be row i.")
    places = time_buckets.split(found.times, found.ids, num)
    vectors.check(lambda row: str(found.ids[row]))
    ranges = time_buckets.ranges(places, found.times, found.ids)
    np.save(folder / collection.BUCKET_FILE, places, allow_pickle=False)
    storage.write_csv(folder / collection.RANGES, time_buckets.Range._fields, ranges)
    return {"images": found.size, "width": vectors.width,
            "buckets": [one._asdict() for one in ranges]}

  # Left out where it is not given: folders of earlier versions do not have it.
  parameters = {"num": num, **({"unit": unit} if unit else {})}
  return manifest.run(work, collection.BUCKETS, parameters=parameters, inputs=inputs, write=write,
                      again=again)


class TextQueries(NamedTuple):
  """Text queries by the encoder of the images.

  Attributes:
    make: builds an encoder with `encode_text`.
    files: files that the encoder reads, the weights first.
    parameters: plain values that affect it.
    texts: class -> prompt; {}: those of the table.
  """

  make: Callable[[], Any]
  files: Sequence[pathlib.Path]
  parameters: Mapping[str, Any]
  texts: Mapping[str, str] = {}


def queries(work: pathlib.Path, table: pathlib.Path | None, vectors: pathlib.Path | None = None, *,
            rule: selection.SelectionRule | None = None, by_text: TextQueries | None = None,
            by_faiss: bool | None = None, again: bool = False) -> manifest.Manifest:
  """Searches the queries: WORK/queries has candidates by class and bucket, and ambiguous images.

  The queries are those of a table, or `by_text.texts` if that is None. `by_faiss` does not affect
  what is found, see `nearest_images.search`.
  """
  rule = rule or selection.SelectionRule()
  before = manifest.verified(work, collection.BUCKETS)
  if by_text and (work / collection.ENCODE / manifest.NAME).exists():
    # Raises an error unless these weights encoded the images.
    encoded = manifest.verified(work, collection.ENCODE)
    weights = by_text.files[0]
    known = encoded.inputs.get("weights", [])
    if known and storage.digest(weights) not in [entry["blake2b"] for entry in known]:
      raise errors.CurationError(
          f"{weights} holds the weights of another CLIP than the one that encoded the images, "
          f"{known[0]['path']}: digest {storage.digest(weights)[:12]}..., not "
          f"{known[0]['blake2b'][:12]}... Give the same --clip to encode and to queries.")

  def write(folder: pathlib.Path) -> manifest.Counts:
    images, features = collection.table(work), collection.features(work)
    if table is not None:
      asked = queries_lib.read(table, vectors, features, images.rows(), by_text and by_text.make)
    else:
      assert by_text is not None
      asked = queries_lib.from_text(by_text.make(), list(by_text.texts),
                                    list(by_text.texts.values()))
    found = selection.select(features, collection.buckets(work), images.order(), asked, rule,
                             by_faiss)
    storage.write_csv(
        folder / collection.CANDIDATES, ["bucket", "class", "rank", "id", "score"],
        ((one.bucket, one.label, one.rank, images.ids[one.row], f"{one.score:.9f}")
         for one in found.candidates))
    storage.write_csv(
        folder / collection.AMBIGUOUS, ["bucket", "id", "classes"],
        ((one.bucket, images.ids[one.row], " ".join(one.labels)) for one in found.ambiguous))
    logging.info("%d candidates, %d ambiguous", len(found.candidates), len(found.ambiguous))
    claims = collections.Counter(" ".join(one.labels) for one in found.ambiguous)
    return {"classes": selection.class_names(asked.names, rule),
            "candidates": len(found.candidates), "ambiguous": len(found.ambiguous),
            "claims": dict(sorted(claims.items())), "buckets": found.counts,
            "prompts": dict(zip(asked.names, asked.prompts)),
            "examples": {name: list(ids) for name, ids in asked.examples.items()}}

  parameters = dataclasses.asdict(rule)
  inputs = {collection.BUCKETS: [before.path], "queries": [] if table is None else [table],
            "query_features": [] if vectors is None else [vectors]}
  if by_text:
    parameters.update(by_text.parameters, texts=dict(by_text.texts))
    inputs["encoder"] = list(by_text.files)
  return manifest.run(work, collection.QUERIES, parameters=parameters, inputs=inputs, write=write,
                      again=again)
