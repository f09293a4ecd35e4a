# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Caltech 101 Silhouettes, 28 x 28."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import mat_arrays
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_SILHOUETTES_URL = "https://people.cs.umass.edu/~marlin/data/"

ROW = Row(
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
    splits={"train": splits.OFFICIAL[splits.TRAIN], "val": splits.whole(splits.VALIDATION),
            "test": splits.whole(splits.TEST)},
    paper={"train": paper_draws.TRAIN_DEV, "val": paper_draws.whole("dev_test"),
           "test": paper_draws.whole("test")},
    compat=Compat(
        args={"left_dark": "train"},
        splits={"train": splits.whole(splits.TRAIN), "dev": splits.whole(splits.DEV),
                "val": splits.whole(splits.VALIDATION), "test": splits.whole(splits.TEST)},
        paper={"train": paper_draws.whole("train"), "dev": paper_draws.whole("dev"),
               "val": paper_draws.whole("dev_test"), "test": paper_draws.whole("test")},
        notes="The reference scales its training images twice, so that they are stored as 0 and 1 "
              "and look black, the others as 0 and 255; and it leaves all of them transposed."),
    paper_size=4100,
    num_classes=101,
    channels=1,
    version="2.0.0",
    homepage="https://people.cs.umass.edu/~marlin/data.shtml",
    notes="Black and white, upright. Class ids go by the sorted names of the classes.",
    citation="""@inproceedings{marlin2010inductive,
  title={Inductive principles for restricted {Boltzmann} machine learning},
  author={Marlin, Benjamin and Swersky, Kevin and Chen, Bo and Freitas, Nando},
  booktitle={International Conference on Artificial Intelligence and Statistics},
  year={2010}
}""")
