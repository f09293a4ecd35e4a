# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: one row a data set, in modules of at most 400 lines, grouped by what they hold."""

from __future__ import annotations

from tfds_builders.rows.nevis import annotated
from tfds_builders.rows.nevis import digits
from tfds_builders.rows.nevis import domains
from tfds_builders.rows.nevis import drawings
from tfds_builders.rows.nevis import faces
from tfds_builders.rows.nevis import findings
from tfds_builders.rows.nevis import fine_grained
from tfds_builders.rows.nevis import first
from tfds_builders.rows.nevis import materials
from tfds_builders.rows.nevis import measured
from tfds_builders.rows.nevis import objects
from tfds_builders.rows.nevis import outdoors
from tfds_builders.rows.nevis import paintings
from tfds_builders.rows.nevis import people
from tfds_builders.rows.nevis import pieces
from tfds_builders.rows.nevis import scenes
from tfds_builders.rows.nevis import scripts
from tfds_builders.rows.nevis import textures
from tfds_builders.rows.nevis import tfds_sets
from tfds_builders.rows.nevis import tfds_sets_more
from tfds_builders.rows.nevis import things
from tfds_builders.rows.nevis import xrays

MODULES = (annotated, digits, domains, drawings, faces, findings, fine_grained, first, materials,
           measured, objects, outdoors, paintings, people, pieces, scenes, scripts, textures,
           tfds_sets, tfds_sets_more, things, xrays)

ROWS = tuple(sorted((row for module in MODULES for row in module.ROWS), key=lambda row: row.name))
