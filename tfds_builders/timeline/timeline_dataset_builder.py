# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("timeline/NAME")`: dated images of a user, by time bucket.

Its configurations are what `tfds_builders.timelines.build` has prepared; TFDS reads them from their
files, as it does any data set whose configuration the code does not list.
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import functools
from typing import Any

import tensorflow_datasets as tfds

from tfds_builders import errors
from tfds_builders import row_builder
from tfds_builders import sources
from tfds_builders.rows import row as row_lib


@dataclasses.dataclass(eq=False)
class TimelineConfig(tfds.core.BuilderConfig):
  """What is needed to build one timeline.

  Attributes:
    row: its facts.
    source: its images.
    facts: further facts for the metadata.
  """

  row: Any = dataclasses.field(default=None, repr=False)
  source: Any = dataclasses.field(default=None, repr=False)
  facts: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)


class Timeline(row_builder.RowBuilder):
  """Images by time bucket, from a user's own table or archive."""

  def __init__(self, *, data_dir: Any = None,
               config: None | str | tfds.core.BuilderConfig = None, version: Any = None):
    if not isinstance(config, TimelineConfig):
      name = f"timeline/{config or 'NAME'}"
      raise errors.DataError(
          f"{name} is not prepared in {data_dir or 'the default folder of TFDS'}. A timeline is "
          f"made of your own images: suite data timeline TABLE --by year --name {config or 'NAME'}")
    super().__init__(data_dir=data_dir, config=config, version=version)

  @functools.cached_property
  def row(self) -> row_lib.Row:
    return self.builder_config.row

  def _source(self, dl_manager) -> sources.Source:
    del dl_manager
    return self.builder_config.source

  def _split_generators(self, dl_manager) -> dict[str, Any]:
    found = super()._split_generators(dl_manager)
    self.info.metadata.update(self.builder_config.facts)
    return found
