# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Unions: a data set made of prepared data sets of its family, copies across them removed.

A benchmark such as Lifelong-ImageNet is all of its sources together. Its union is built from what
is prepared, not from archives; a source that is missing stops the build, unless it is left out by
name, which the metadata "left_out" then says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import functools
import pathlib

from tfds_builders import errors
from tfds_builders import sources
from tfds_builders import splits
from tfds_builders import status
from tfds_builders.parsers import example
from tfds_builders.rows import row as row_lib


def members(row: row_lib.Row, without: Sequence[str] = ()) -> tuple[str, ...]:
  """Returns the rows that a union is made of; DataError if `without` names others, or all."""
  unknown = sorted(set(without) - set(row.union))
  chosen = tuple(name for name in row.union if name not in without)
  if unknown or not chosen:
    raise errors.DataError(
        f"{row.name} cannot be built without {', '.join(unknown or row.union)}. " +
        (f"It is made of {', '.join(row.union)}." if row.union else "It is no union.") +
        (" Leave one of them in." if not unknown else ""))
  return chosen


def missing(family: str, row: row_lib.Row, data_dir: status.DataDir,
            without: Sequence[str] = ()) -> list[str]:
  """Returns the members of a union that are not prepared, as "family/name"."""
  return [name for name in (f"{family}/{one}" for one in members(row, without))
          if status.inspect(name, data_dir).state != status.PREPARED]


def source(family: str, row: row_lib.Row, data_dir: pathlib.Path, without: Sequence[str] = ()
           ) -> sources.Source:
  """Finds the prepared members of a union; DataError names all that are missing.

  Args:
    family: of the data set.
    row: a row with `union`.
    data_dir: where data sets are prepared.
    without: members that are left out.
  """
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  lacking = missing(family, row, data_dir, without)
  if lacking:
    parts = ",".join(name.partition("/")[2] for name in lacking)
    raise errors.DataError(
        f"{family}/{row.name} is a union of {len(row.union)} data sets, of which these are not "
        f"prepared in {data_dir}: {', '.join(lacking)}. Prepare them: suite data build "
        f"{' '.join(lacking)}; or leave them out: suite data build {family}/{row.name} "
        f"--without {parts}")
  builders = [tfds.builder(f"{family}/{name}", data_dir=data_dir)
              for name in members(row, without)]
  return sources.Source("union", {builder.info.full_name: "" for builder in builders}, {},
                        tuple(functools.partial(_examples, builder, row) for builder in builders))


def _examples(builder, row: row_lib.Row) -> Iterator[example.Example]:
  """Yields the stored examples; keys begin with the name of the member."""
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  name = builder.builder_config.name
  for record in tfds.as_numpy(builder.as_dataset(
      split=splits.TEST, decoders={"image": tfds.decode.SkipDecoding()})):
    key = record["id"].decode()
    extra = {feature: _value(record.get(feature), kind)
             for feature, kind in row.features.items()}
    yield example.Example(splits.TEST, f"{name}/{key}", int(record["label"]), record["image"],
                          f"{builder.info.full_name}, {key}", extra=extra)


def _value(value, kind: str):
  """A feature of a member; that of a member without it is 0 or an empty text."""
  if kind == "text":
    return value.decode() if value is not None else ""
  return int(value) if value is not None else 0
