# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: CIFAR-10."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import cifar_binary
from tfds_builders.parsers import class_folders
from tfds_builders.rows.nevis.shared import cifar
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "cifar10",
    title="CIFAR-10",
    layouts=(
        Layout(
            cifar_binary,
            files=(File(
                "cifar-10-binary.tar.gz",
                "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                ("sha256:c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",),
                size=170052171),),
            args={"batches": {
                "data_batch_1.bin": splits.TRAIN, "data_batch_2.bin": splits.TRAIN,
                "data_batch_3.bin": splits.TRAIN, "data_batch_4.bin": splits.TRAIN,
                "data_batch_5.bin": splits.TRAIN, "test_batch.bin": splits.TEST}},
            num_examples={splits.TRAIN: 50000, splits.TEST: 10000}),
        Layout(
            class_folders,
            files=(File(
                "cifar10-jpg.tar.xz", None,
                ("sha256:3448a12cf05fbc56035b1ee2e5b172c150e4997ec8b5bb6c92c7fbc098fbcb72",),
                size=18574404),),
            args={"template": "{split}/{label}/{item}.jpg",
                  "split_folders": {"train": splits.TRAIN, "test": splits.TEST}},
            num_examples={splits.TRAIN: 50000, splits.TEST: 10000},
            built_from_real=True,
            notes="JPEG copies: slightly lossy, and named by class, so that the keys, and with "
                  "them the division into splits, are not those of the original.")),
    splits=splits.TRAIN_TEST,
    paper_size=42500,
    num_classes=10,
    class_names=("airplane", "automobile", "bird", "cat", "deer",
                 "dog", "frog", "horse", "ship", "truck"),
    channels=3,
    tfds=TfdsSet(("cifar10:3.*.*",), tfds_splits.TRAIN_TEST),
    version="2.0.0",
    homepage=cifar.HOMEPAGE,
    citation=cifar.CITATION)
