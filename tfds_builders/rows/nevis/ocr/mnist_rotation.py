# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: MNIST digits, rotated."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import idx
from tfds_builders.rows.nevis.ocr import mnist
from tfds_builders.rows.nevis.shared import digits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "mnist_rotation",
    title="MNIST digits, rotated",
    layouts=(Layout(
        idx,
        files=mnist.ROW.layouts[0].files,
        args={**mnist.ROW.layouts[0].args, "rotated": (splits.TRAIN, splits.TEST)},
        num_examples=mnist.ROW.layouts[0].num_examples),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    compat=Compat(
        args={"rotated": (splits.TRAIN,)},
        notes="The reference leaves the test digits upright. Its angles come from a global "
              "generator and change with each reading of the data; they are not reproduced."),
    paper_size=51104,
    num_classes=10,
    class_names=digits.CLASS_NAMES,
    channels=1,
    version="2.0.0",
    homepage="http://yann.lecun.com/exdb/mnist/",
    notes="Each digit is rotated by whole degrees, given by a hash of its pixels.",
    citation="""@article{murugan2019so2,
  title={{SO(2)}-equivariance in neural networks using {Fourier} nonlinearity},
  author={Murugan, Muthuvel and Subrahmanyam, K. V.},
  journal={arXiv preprint},
  year={2019}
}""")
