# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Pascal VOC 2007."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.nevis.shared import pascal
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "voc2007",
    title="Pascal VOC 2007",
    layouts=(),
    tfds=TfdsSet(("voc/2007",), tfds_splits.OFFICIAL,
                 label="labels", key="image/filename"),
    splits=splits.OFFICIAL,
    paper_size=2501,
    num_classes=20,
    channels=3,
    kind=MULTI_LABEL,
    class_names=pascal.CLASS_NAMES,
    version="2.0.0",
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/voc2007/",
    notes="Classes that occur in the image, difficult objects included. " + notes.NEW_TFDS_VERSION,
    citation=pascal.CITATION)
