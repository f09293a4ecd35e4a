# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Fashion-MNIST."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import idx
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

_URL = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"

ROW = Row(
    "fashion_mnist",
    title="Fashion-MNIST",
    # Of a mirror; the reference's draw is of TFDS's store, which only TFDS writes.
    layouts=(Layout(
        idx,
        files=(
            File("train-images-idx3-ubyte.gz", _URL + "train-images-idx3-ubyte.gz",
                 ("sha256:3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",),
                 ("md5:f4a8712d7a061bf5bd6d2ca38dc4d50a",), 26421880),
            File("train-labels-idx1-ubyte.gz", _URL + "train-labels-idx1-ubyte.gz",
                 ("sha256:a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",),
                 ("md5:9018921c3c673c538a1fc5bad174d6f9",), 29515),
            File("t10k-images-idx3-ubyte.gz", _URL + "t10k-images-idx3-ubyte.gz",
                 ("sha256:346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",),
                 ("md5:8181f5470baa50b63fa0f6fddb340f0a",), 4422102),
            File("t10k-labels-idx1-ubyte.gz", _URL + "t10k-labels-idx1-ubyte.gz",
                 ("sha256:67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",),
                 ("md5:15d484375f8d13e6eb1aabb0c3f46965",), 5148)),
        args={"parts": {
            splits.TRAIN: ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
            splits.TEST: ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")}},
        num_examples={splits.TRAIN: 60000, splits.TEST: 10000},
        built_from_real=True),),
    tfds=TfdsSet(("fashion_mnist:3.*.*",), tfds_splits.TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.SLICED_TRAIN_TEST,
    paper_size=51000,
    num_classes=10,
    class_names=("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                 "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
    channels=1,
    version="2.0.0",
    homepage="https://github.com/zalandoresearch/fashion-mnist",
    citation="""@article{xiao2017fashion,
  title={Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms},
  author={Xiao, Han and Rasul, Kashif and Vollgraf, Roland},
  journal={arXiv:1708.07747},
  year={2017}
}""")
