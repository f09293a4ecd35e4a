# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: MNIST handwritten digits."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import idx
from tfds_builders.rows.nevis.shared import digits
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

_MNIST_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"

ROW = Row(
    "mnist",
    title="MNIST handwritten digits",
    layouts=(Layout(
        idx,
        files=(
            File("train-images-idx3-ubyte.gz", _MNIST_URL + "train-images-idx3-ubyte.gz",
                 ("sha256:440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",),
                 ("md5:6bbc9ace898e44ae57da46a324031adb",), 9912422),
            File("train-labels-idx1-ubyte.gz", _MNIST_URL + "train-labels-idx1-ubyte.gz",
                 ("sha256:3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",),
                 ("md5:a25bea736e30d166cdddb491f175f624",), 28881),
            File("t10k-images-idx3-ubyte.gz", _MNIST_URL + "t10k-images-idx3-ubyte.gz",
                 ("sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",),
                 ("md5:2646ac647ad5339dbf082846283269ea",), 1648877),
            File("t10k-labels-idx1-ubyte.gz", _MNIST_URL + "t10k-labels-idx1-ubyte.gz",
                 ("sha256:f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",),
                 ("md5:27ae3e4e09519cfbb04c329615203637",), 4542)),
        args={"parts": {
            splits.TRAIN: ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
            splits.TEST: ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")}},
        num_examples={splits.TRAIN: 60000, splits.TEST: 10000},
        built_from_real=True),),
    splits=splits.TRAIN_TEST,
    paper_size=51000,
    num_classes=10,
    class_names=digits.CLASS_NAMES,
    channels=1,
    tfds=TfdsSet(("mnist:3.*.*",), tfds_splits.TRAIN_TEST),
    version="2.0.0",
    homepage="http://yann.lecun.com/exdb/mnist/",
    citation="""@article{lecun1998gradient,
  title={Gradient-based learning applied to document recognition},
  author={LeCun, Yann and Bottou, L{\\'e}on and Bengio, Yoshua and Haffner, Patrick},
  journal={Proceedings of the IEEE},
  volume={86},
  number={11},
  pages={2278--2324},
  year={1998}
}""")
