# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: the sets that came first. Facts only; fields are explained in `row.py`."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import cifar_binary
from tfds_builders.parsers import class_folders
from tfds_builders.parsers import idx
from tfds_builders.parsers import pixel_table
from tfds_builders.parsers import tiny_imagenet
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

_DIGITS = tuple("0123456789")

_MNIST_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"

MNIST = Row(
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
    class_names=_DIGITS,
    channels=1,
    tfds=TfdsSet(("mnist:3.*.*",), {"train": splits.TRAIN, "test": splits.TEST}),
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

CIFAR10 = Row(
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
                  "them the division into train and validation, are not those of the original.")),
    splits=splits.TRAIN_TEST,
    paper_size=42500,
    num_classes=10,
    class_names=("airplane", "automobile", "bird", "cat", "deer",
                 "dog", "frog", "horse", "ship", "truck"),
    channels=3,
    tfds=TfdsSet(("cifar10:3.*.*",), {"train": splits.TRAIN, "test": splits.TEST}),
    homepage="https://www.cs.toronto.edu/~kriz/cifar.html",
    citation="""@techreport{krizhevsky2009learning,
  title={Learning multiple layers of features from tiny images},
  author={Krizhevsky, Alex},
  institution={University of Toronto},
  year={2009}
}""")

OLIVETTI_FACE = Row(
    "olivetti_face",
    title="Olivetti (ORL, AT&T) faces",
    layouts=(Layout(
        class_folders,
        files=(File(
            "att_faces.zip",
            "https://www.cl.cam.ac.uk/Research/DTG/attarchive/pub/data/att_faces.zip"),),
        args={"template": "{label}/{item}.pgm"},
        num_examples={splits.POOL: 400},
        built_from_real=True),),
    splits=splits.POOLED,
    paper_size=288,
    num_classes=40,
    class_names=tuple(f"s{subject}" for subject in range(1, 41)),
    channels=1,
    homepage="https://cam-orl.co.uk/facedatabase.html",
    notes="The reference reads a Kaggle copy with 41 labels, resized to 80 x 70; these are the 40 "
          "subjects of the publisher, 10 images each, 112 x 92. The published archive has no known "
          "checksum: it is used with a warning.",
    citation="""@inproceedings{samaria1994parameterisation,
  title={Parameterisation of a stochastic model for human face identification},
  author={Samaria, Ferdinando S and Harter, Andy C},
  booktitle={Proceedings of the Second IEEE Workshop on Applications of Computer Vision},
  pages={138--142},
  year={1994}
}""")

SEMEION = Row(
    "semeion",
    title="Semeion handwritten digits",
    layouts=(Layout(
        pixel_table,
        files=(File(
            "semeion.data",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data",
            ("md5:cb545d371d2ce14ec121470795a77432",
             # The same table, written again from integers.
             "sha256:09a2151e239fa261aaed8197af90464da91ad6e8ee8e4bcf9013edef0d53623a")),),
        args={"height": 16, "width": 16, "num_classes": 10, "maximum": 1.0},
        num_examples={splits.POOL: 1593},
        built_from_real=True),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=1074,
    num_classes=10,
    class_names=_DIGITS,
    channels=1,
    homepage="https://archive.ics.uci.edu/dataset/178/semeion+handwritten+digit",
    notes="Pixels are 0 or 1 in the source, 0 or 255 here.",
    citation="""@misc{semeion1994,
  title={Semeion Handwritten Digit},
  author={{Semeion Research Center of Sciences of Communication} and Tattile},
  howpublished={UCI Machine Learning Repository},
  year={1994},
  doi={10.24432/C5SC8V}
}""")

TINY_IMAGENET = Row(
    "tiny_imagenet",
    title="Tiny ImageNet",
    layouts=(
        Layout(
            tiny_imagenet,
            files=(File("tiny-imagenet-200.zip", "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
                        ("md5:90528d7ca1a48142e341f4ef8d21d0de",), size=248100043),),
            num_examples={splits.TRAIN: 100000, splits.TEST: 10000}),
        Layout(
            tiny_imagenet,
            files=(File(
                "tiny-imagenet-200-slim.tar.xz", None,
                ("sha256:42d7eddb21e1f34c51d39a5d20ff8e19b963701d7486f0eb960c81477363a29e",),
                size=68946544),),
            num_examples={splits.TRAIN: 40000, splits.TEST: 10000},
        built_from_real=True,
            notes="The first 200 of the 500 training images of each class.")),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_order=SORTED,
    paper_size=85099,
    num_classes=200,
    channels=3,
    homepage="http://cs231n.stanford.edu/",
    notes="The labelled validation images are `test`, as in the reference; the test images have no "
          "public labels. Some images are grey; they decode to three equal channels.",
    citation="""@misc{le2015tiny,
  title={Tiny {ImageNet} visual recognition challenge},
  author={Le, Ya and Yang, Xuan},
  howpublished={CS 231N course, Stanford University},
  year={2015}
}""")

ROWS = (CIFAR10, MNIST, OLIVETTI_FACE, SEMEION, TINY_IMAGENET)
