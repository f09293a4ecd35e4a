# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: notMNIST letters."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import class_folders
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_LETTERS = {"template": "notMNIST_small/{label}/{item}.png", "ignore": ".*notMNIST_large/.*"}

ROW = Row(
    "not_mnist",
    title="notMNIST letters",
    layouts=(
        Layout(
            class_folders,
            files=(File("notmnist.zip", "kaggle:jwjohnson314/notmnist",
                        ("md5:e2a47bb2a88c2c6bcae60d9f95223ace",)),),
            args=_LETTERS,
            notes=notes.KAGGLE_REPACKED),
        Layout(
            class_folders,
            files=(File("notMNIST_small.tar.gz",
                        "https://commondatastorage.googleapis.com/books1000/notMNIST_small.tar.gz",
                        size=8458043),),
            args=_LETTERS,
            notes="A public copy of the same images; its sum is not known, so it is used with a "
                  "warning.")),
    splits=splits.POOLED,
    paper_size=12345,
    num_classes=10,
    class_names=tuple("ABCDEFGHIJ"),
    channels=1,
    version="2.0.0",
    homepage="http://yaroslavvb.blogspot.com/2011/09/notmnist-dataset.html",
    notes="The smaller, cleaner part. Two files are known to be damaged, and are left out. Many "
          "letters occur several times, some under two labels; the reference drops copies within a "
          "class before it draws its splits, and that draw is not reproduced.",
    citation="""@misc{bulatov2011notmnist,
  title={{notMNIST} dataset},
  author={Bulatov, Yaroslav},
  howpublished={http://yaroslavvb.blogspot.com/2011/09/notmnist-dataset.html},
  year={2011}
}""")
