# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: MNIST-M."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import folder_tables
from tfds_builders.rows.nevis.shared import digits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "mnist_m",
    title="MNIST-M",
    layouts=(Layout(
        folder_tables,
        files=(File(
            "mnist_m.tar.gz",
            "https://drive.google.com/uc?export=download&id=0B_tExHiYS-0veklUZHFYT19KYjg&confirm=t",
            ("md5:859df31c91afe82e80e5012ba928f279",)),),
        args={"folders": {"mnist_m_train": "mnist_m_train_labels.txt",
                          "mnist_m_test": "mnist_m_test_labels.txt"}}),),
    splits=splits.POOLED,
    compat=Compat(
        args={"merge_tables": True},
        paper=paper_rules.POOLED,
        notes="The reference merges the label tables of the training and the test folder by file "
              "name, so that about 9,000 training images have the label of a test image, and "
              "then leaves out copies, which are detected by their files here and by their "
              "pixels there."),
    paper_size=46111,
    num_classes=10,
    class_names=digits.CLASS_NAMES,
    channels=3,
    version="2.0.0",
    homepage="http://yaroslav.ganin.net/",
    notes="Its training and test images are one pool, as in the reference, whose draw goes by the "
          "position among images without a copy and is offered in the variant alone.",
    citation="""@article{ganin2016domain,
  title={Domain-adversarial training of neural networks},
  author={Ganin, Yaroslav and Ustinova, Evgeniya and Ajakan, Hana and others},
  journal={Journal of Machine Learning Research},
  volume={17},
  year={2016}
}""")
