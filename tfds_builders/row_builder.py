# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A TFDS builder with one configuration per row."""

from __future__ import annotations

from collections.abc import Iterator
import functools
import json
import pathlib
from typing import Any

from absl import logging
import numpy as np
import tensorflow_datasets as tfds

from tfds_builders import catalog
from tfds_builders import row_records
from tfds_builders import sources
from tfds_builders import spool as spool_lib
from tfds_builders.rows import row as row_lib

_FEATURES = {"text": tfds.features.Text, "int64": lambda: tfds.features.Scalar(np.int64),
             "float32": lambda: tfds.features.Scalar(np.float32),
             "bool": lambda: tfds.features.Scalar(np.bool_)}


_BEAM_FACTS = "beam_facts.json"  # Written by the pipeline.


def configs(family: str) -> list:
  """Returns one TFDS configuration for each row of a family and each of its variants."""
  return [tfds.core.BuilderConfig(name=row.name, version=row.version, description=row.title)
          for row in catalog.rows(family)]


def features(row: row_lib.Row) -> dict[str, Any]:
  """Returns the TFDS features of a row's records by name."""
  found: dict[str, Any] = {**row_records.input_features(row), "id": tfds.features.Text()}
  found.update({name: _FEATURES[kind]() for name, kind in row.features.items()})
  if row.kind == row_lib.MULTI_LABEL:
    found["labels"] = tfds.features.Tensor(shape=(row.num_classes,), dtype=np.uint8)
  else:
    found["label"] = (tfds.features.ClassLabel(names=row.class_names) if row.class_names else
                      tfds.features.ClassLabel(num_classes=row.num_classes))
  return found


class RowBuilder(
    tfds.core.GeneratorBasedBuilder, skip_registration=True):  # type: ignore[call-arg]
  """Builds `family/row`; a family is a subclass that defines only its configurations.

  Records are in the order of a hash of their keys (TFDS's default): archives that hold the same
  files in another order give the same records, and a prefix of a split is a fair sample of it.
  `disable_shuffling` would keep the order of the archive, which is neither.
  """

  VERSION = tfds.core.Version("1.0.0")
  RELEASE_NOTES = {"1.0.0": "First version."}

  def __init__(self, *args: Any, config: Any = None, **kwargs: Any):
    if isinstance(config, str):
      catalog.find(f"{self.name}/{config.partition(':')[0]}")  # Names what is near.
    super().__init__(*args, config=config, **kwargs)

  @functools.cached_property
  def row(self) -> row_lib.Row:
    return catalog.find(f"{self.name}/{self.builder_config.name}")[1]

  def _info(self) -> tfds.core.DatasetInfo:
    row = self.row
    label = "labels" if row.kind == row_lib.MULTI_LABEL else "label"
    supervised_keys = (row_records.input_name(row), label)
    return tfds.core.DatasetInfo(
        builder=self,
        description=" ".join(part for part in (f"{row.title}.", row.notes) if part),
        features=tfds.features.FeaturesDict(features(row)),
        supervised_keys=supervised_keys if row_records.input_name(row) else None,
        homepage=row.homepage,
        citation=row.citation,
        license=row.license or None,
        metadata=tfds.core.MetadataDict())

  def _download_and_prepare(self, dl_manager, download_config) -> None:
    # Beam is used if the download configuration has Beam options (`--beam_pipeline_options`).
    self._on_beam = bool(download_config.beam_runner or download_config.beam_options)
    super()._download_and_prepare(dl_manager, download_config)
    if self._on_beam:
      self._take_beam_facts()
    spool_lib.flush(pathlib.Path(self.data_dir))  # Before TFDS gives the folder its name.

  def _source(self, dl_manager) -> sources.Source:
    return sources.locate(f"{self.name}/{self.row.name}", self.row, dl_manager,
                          pathlib.Path(self.data_dir_root))

  def _split_generators(self, dl_manager) -> dict[str, Any]:
    row = self.row
    source = self._source(dl_manager)
    self.info.metadata.update({"kind": row.kind, "num_classes": row.num_classes,
                               "origin": source.origin, "files": dict(source.sha256)})
    if self._on_beam:
      from tfds_builders import beam_build  # pylint: disable=g-import-not-at-top
      build = beam_build.Build(row, source.parts, source.num_examples,
                               pathlib.Path(self.data_dir) / _BEAM_FACTS)
      return {split: build.split(split, _keyed_record) for split in row.split_names}
    # During preparation self.data_dir is TFDS's incomplete folder, which is removed on failure.
    spool = spool_lib.Spool(row, self.data_dir)
    spool.fill(source.examples, source.num_examples)
    self._take_facts(spool.counts, spool.unreadable, spool.class_names or list(source.class_names),
                     spool.digests.removed if row.unique else {})
    if row.holds_images:
      spool.digests.save(self.data_dir, spool.split_names)
    return {split: self._generate_examples(spool, split) for split in spool.split_names}

  def _generate_examples(self, spool, split) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in spool.read(split):
      yield _keyed_record(self.row, one)

  def _take_beam_facts(self) -> None:
    path = pathlib.Path(self.data_dir) / _BEAM_FACTS
    facts = json.loads(path.read_text())
    path.unlink()
    self._take_facts(facts["counts"], facts["unreadable"], facts["class_names"],
                     facts["duplicates_removed"])

  def _take_facts(self, counts, unreadable, class_names, removed) -> None:
    """Writes the facts that are known after the source was read to the metadata and the log."""
    row = self.row
    if row.class_names is None and class_names and row.kind == row_lib.SINGLE_LABEL:
      self.info.features["label"].names = class_names
    self.info.metadata.update({"source_examples": dict(counts), "class_names": class_names,
                               "unreadable": unreadable, "duplicates_removed": removed})
    if unreadable:
      logging.warning("%s/%s: %d images cannot be decoded and are left out: %s", self.name,
                      row.name, len(unreadable), "; ".join(unreadable[:5]))
    if any(removed.values()):
      logging.info("%s/%s: left out because a later split holds the same image: %s", self.name,
                   row.name, removed)


def _keyed_record(row: row_lib.Row, one: spool_lib.Record) -> tuple[str, dict[str, Any]]:
  """Returns (key, features)."""
  record = {**row_records.input_in_record(row, one.image), "id": one.key, **one.extra}
  if row.kind == row_lib.MULTI_LABEL:
    record["labels"] = np.zeros(row.num_classes, np.uint8)
    record["labels"][one.label] = 1
  else:
    record["label"] = one.label
  return one.key, record
