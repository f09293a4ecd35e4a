# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Pascal VOC 2012."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.nevis.shared import pascal
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "voc2012",
    title="Pascal VOC 2012",
    layouts=(),
    tfds=TfdsSet(("voc/2012",), {"train": splits.TRAIN, "validation": "validation"},
                 label="labels", key="image/filename"),
    splits={splits.TRAIN: splits.OFFICIAL[splits.TRAIN],
            splits.VALIDATION: {splits.VALIDATION: 0.5, splits.TEST: 0.5}},
    paper_size=5717,
    num_classes=20,
    channels=3,
    kind=MULTI_LABEL,
    class_names=pascal.CLASS_NAMES,
    version="2.0.0",
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/voc2012/",
    notes="The official test labels are not public: the official validation split is halved, by a "
          "hash here and by position in the reference. " + notes.NEW_TFDS_VERSION,
    citation=pascal.CITATION)
