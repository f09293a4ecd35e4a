# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The four splits of a task that a user gives."""

from __future__ import annotations

from typing import Any, Mapping, Tuple

from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import stratified_split
from suite.data.streams import stream_entry


def of(given: Any, place: int, seed: int) -> stream_entry.Splits:
  """The splits of task number `place`; one image set is divided by class, drawn by `seed`."""
  if isinstance(given, stream_entry.Splits):
    return given
  if isinstance(given, Mapping):
    if sorted(given) != sorted(stream_entry.SPLITS):
      raise ValueError(f"Task {place} of streams.of has the splits {sorted(given)}; give "
                       f"{', '.join(stream_entry.SPLITS)}, or one image set, which is divided.")
    return stream_entry.Splits(**given)
  if not hasattr(given, "eval_batches"):
    raise ValueError(f"Task {place} of streams.of is {type(given).__name__}; give an image set, "
                     "made by suite.images.from_arrays, from_dataset, from_directory or from_tfds.")

  def divide(images: examples.ExampleSet, share: float) -> Tuple[Any, Any]:
    if images.kind == tasks.SINGLE_LABEL:
      return stratified_split.split(images, share, seed=seed)
    return images.split(share, seed=seed)

  rest, test = divide(given, 0.30)
  rest, validation = divide(rest, 0.15 / 0.70)
  train, dev = divide(rest, 0.10 / 0.55)
  return stream_entry.Splits(train, dev, validation, test)
