# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: digits and silhouettes."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import folder_tables
from tfds_builders.parsers import idx
from tfds_builders.parsers import libsvm
from tfds_builders.parsers import mat_arrays
from tfds_builders.rows.nevis import first
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_DIGITS = tuple("0123456789")

_OFFICIAL_TEST = {splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")}

MNIST_M = Row(
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
        paper={splits.POOL: paper_draws.POOLED},
        notes="The reference merges the label tables of the training and the test folder by file "
              "name, so that about 9,000 training images have the label of a test image, and then "
              "leaves out copies, which are told here by their files and there by their pixels."),
    paper_size=46111,
    num_classes=10,
    class_names=_DIGITS,
    channels=3,
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

MNIST_ROTATION = Row(
    "mnist_rotation",
    title="MNIST digits, rotated",
    layouts=(Layout(
        idx,
        files=first.MNIST.layouts[0].files,
        args={**first.MNIST.layouts[0].args, "rotated": (splits.TRAIN, splits.TEST)},
        num_examples=first.MNIST.layouts[0].num_examples),),
    splits=splits.TRAIN_TEST,
    paper=_OFFICIAL_TEST,
    compat=Compat(
        args={"rotated": (splits.TRAIN,)},
        notes="The reference leaves the test digits upright. Its angles are those of a global "
              "generator, other ones whenever the data are read, and are not reproduced."),
    paper_size=51104,
    num_classes=10,
    class_names=_DIGITS,
    channels=1,
    homepage="http://yann.lecun.com/exdb/mnist/",
    notes="Each digit is turned by a whole number of degrees that a hash of its pixels tells.",
    citation="""@article{murugan2019so2,
  title={{SO(2)}-equivariance in neural networks using {Fourier} nonlinearity},
  author={Murugan, Muthuvel and Subrahmanyam, K. V.},
  journal={arXiv preprint},
  year={2019}
}""")

_SILHOUETTES_URL = "https://people.cs.umass.edu/~marlin/data/"

SILHOUETTES_28 = Row(
    "silhouettes_28",
    title="Caltech 101 Silhouettes, 28 x 28",
    layouts=(Layout(
        mat_arrays,
        files=(
            File("caltech101_silhouettes_28.mat",
                 _SILHOUETTES_URL + "caltech101_silhouettes_28.mat",
                 ("md5:1432d2809e8bf111f1104a234731ddb1",)),
            File("caltech101_silhouettes_28_split1.mat",
                 _SILHOUETTES_URL + "caltech101_silhouettes_28_split1.mat",
                 ("md5:4483e9c14b188fd09937f9ea6f9ea777",))),
        args={"table": "caltech101_silhouettes_28_split1.mat",
              "names": ("caltech101_silhouettes_28.mat", "classnames"),
              "arrays": {"train": ("train_data", "train_labels"),
                         "val": ("val_data", "val_labels"),
                         "test": ("test_data", "test_labels")},
              "side": 28},
        num_examples={"train": 4100, "val": 2264, "test": 2307}),),
    splits={"train": {splits.TRAIN: 1.0}, "val": {splits.VALIDATION: 1.0},
            "test": {splits.TEST: 1.0}},
    paper={"train": paper_draws.TRAIN_DEV, "val": paper_draws.whole("dev_test"),
           "test": paper_draws.whole("test")},
    compat=Compat(
        args={"left_dark": "train"},
        splits={"train": {splits.TRAIN: 1.0}, "dev": {splits.TRAIN: 1.0},
                "val": {splits.VALIDATION: 1.0}, "test": {splits.TEST: 1.0}},
        paper={"train": paper_draws.whole("train"), "dev": paper_draws.whole("dev"),
               "val": paper_draws.whole("dev_test"), "test": paper_draws.whole("test")},
        notes="The reference scales its training images twice, so that they are stored as 0 and 1 "
              "and look black, the others as 0 and 255; and it leaves all of them transposed."),
    paper_size=4100,
    num_classes=101,
    channels=1,
    homepage="https://people.cs.umass.edu/~marlin/data.shtml",
    notes="Black and white, upright. Class ids go by the sorted names of the classes.",
    citation="""@inproceedings{marlin2010inductive,
  title={Inductive principles for restricted {Boltzmann} machine learning},
  author={Marlin, Benjamin and Swersky, Kevin and Chen, Bo and Freitas, Nando},
  booktitle={International Conference on Artificial Intelligence and Statistics},
  year={2010}
}""")

_LIBSVM_URL = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"

USPS = Row(
    "usps",
    title="USPS handwritten digits",
    layouts=(Layout(
        libsvm,
        files=(File("usps.bz2", _LIBSVM_URL + "usps.bz2",
                    ("md5:ec16c51db3855ca6c91edd34d0e9b197",)),
               File("usps.t.bz2", _LIBSVM_URL + "usps.t.bz2",
                    ("md5:8ea070ee2aca1ac39742fdd1ef5ed118",))),
        args={"parts": {"usps.bz2": splits.TRAIN, "usps.t.bz2": splits.TEST},
              "height": 16, "width": 16, "low": -1.0, "high": 1.0},
        num_examples={splits.TRAIN: 7291, splits.TEST: 2007}),),
    splits=splits.TRAIN_TEST,
    paper=_OFFICIAL_TEST,
    paper_size=6207,
    num_classes=10,
    class_names=_DIGITS,
    channels=1,
    homepage="https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html#usps",
    notes="Values from -1 to 1 become the nearest of 256 greys; the reference rounds them down.",
    citation="""@article{hull1994database,
  title={A database for handwritten text recognition research},
  author={Hull, Jonathan J.},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume={16},
  number={5},
  year={1994}
}""")

ROWS = (MNIST_M, MNIST_ROTATION, SILHOUETTES_28, USPS)
