# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: CIFAR-100."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import cifar
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "cifar100",
    title="CIFAR-100",
    layouts=(),
    tfds=TfdsSet(("cifar100:3.*.*",), tfds_splits.TRAIN_TEST, key="id"),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.SLICED_TRAIN_TEST,
    paper_size=42500,
    num_classes=100,
    channels=3,
    version="2.0.0",
    homepage=cifar.HOMEPAGE,
    notes="The 100 fine classes.",
    citation=cifar.CITATION)
