# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""All panels of CLEAR's buckets for run directories, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import dataclasses
import os

from suite.contracts import descriptions
from suite.reporting import panel as panel_lib
from suite.reporting import run_streams
from suite.reporting import runs as runs_lib
from suite.reporting.run_panels import bucket_curves
from suite.reporting.run_panels import class_views

# Name to ask for: what it shows.
NAMES = {
    "distance": "accuracy by distance in time",
    "plasticity": "gain on the new bucket, change on earlier ones",
    "anytime": "accuracy on the buckets so far",
    "classes": "accuracy of each class by distance in time",
    "confusion": "confusions of classes, bucket by bucket",
    "paper_matrix": "the matrix beside a published one: the biased reservoir's, the challenge's",
}


def build(stream: run_streams.Stream, names: Sequence[str] = tuple(NAMES)
          ) -> list[panel_lib.Panel]:
  """Builds the panels of a stream with these names; those without data are left out."""
  if descriptions.BUCKETS not in stream.description.panels:
    return []
  needs = {"classes", "confusion"} & set(names)
  results = class_views.read(stream) if needs else []
  makers = {
      "distance": lambda: bucket_curves.by_distance(stream),
      "plasticity": lambda: bucket_curves.plasticity(stream),
      "anytime": lambda: bucket_curves.anytime(stream),
      "classes": lambda: class_views.drift(stream, results),
      "confusion": lambda: class_views.confusion(stream, results),
      "paper_matrix": lambda: bucket_curves.published(stream)}
  return [panel for name, make in makers.items() if name in names for panel in make()]


def load(dirs: Iterable[str | os.PathLike], names: Sequence[str] = tuple(NAMES)
         ) -> list[panel_lib.Panel]:
  """Builds the panels of all runs of CLEAR in the directories, at any depth.

  Names are numbered if there are several streams.
  """
  found = [build(stream, names) for stream in run_streams.build(runs_lib.load(dirs))
           if descriptions.BUCKETS in stream.description.panels]
  return [panel if len(found) == 1 else dataclasses.replace(panel, name=f"{panel.name}_stream{i}")
          for i, panels in enumerate(found, 1) for panel in panels]
