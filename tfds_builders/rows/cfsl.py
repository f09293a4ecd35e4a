# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Few-shot learning: Omniglot as CFSL divides it, SlimageNet64, and MiniImageNet."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import class_splits
from tfds_builders.parsers import downsampled_imagenet
from tfds_builders.parsers import omniglot
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_CITATION = """@article{antoniou2020cfsl,
  title={Defining Benchmarks for Continual Few-Shot Learning},
  author={Antoniou, Antreas and Patacchiola, Massimiliano and Ochal, Mateusz and Storkey, Amos},
  journal={arXiv preprint arXiv:2004.11967},
  year={2020}
}"""

_OMNIGLOT_CITATION = """@article{lake2015omniglot,
  title={Human-level concept learning through probabilistic program induction},
  author={Lake, Brenden M. and Salakhutdinov, Ruslan and Tenenbaum, Joshua B.},
  journal={Science},
  volume={350},
  number={6266},
  year={2015}
}"""

_OMNIGLOT_URL = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python"

# Classes never change their split; within one, every image stays.
BY_CLASS = {name: splits.whole(name) for name in (splits.TRAIN, splits.VALIDATION, splits.TEST)}

OMNIGLOT_ROWS = (
    Row("images",
        title="Omniglot, 1,623 characters divided as in continual few-shot learning",
        layouts=(Layout(
            omniglot,
            files=(File("images_background.zip", f"{_OMNIGLOT_URL}/images_background.zip",
                        checksums=("md5:68d2efa1b9178cc56df9314c21c6e718",
                                   "md5:344e1c8478e4d116e77cb530d21da2fb"), size=9464212),
                   File("images_evaluation.zip", f"{_OMNIGLOT_URL}/images_evaluation.zip",
                        checksums=("md5:6b91aef0f799c5bb55b94e3f2daec811",
                                   "md5:e475f68a61b6b0c80a09fe8337cf1245"), size=6462886)),
            args={"num_classes": omniglot.SPLITS, "seed": 100},
            num_examples={name: 20 * count for name, count in omniglot.SPLITS.items()},
            built_from_real=True,
            notes="The second sum of each file is of a copy that was packed again."),),
        splits=BY_CLASS,
        num_classes=1623,
        channels=1,
        unique=False,
        homepage="https://github.com/brendenlake/omniglot",
        license="MIT (the repository that holds the archives)",
        notes=("Splits are by class: 1,200 characters for training, 211 for validation, 212 for "
               "test, drawn from all 50 alphabets with the benchmark's own seed (100). Labels are "
               "the places of \"Alphabet/characterNN\" in sorted order. Drawings are 105 x 105; "
               "the benchmark scales them to 28 x 28 by nearest neighbor. Equal drawings of "
               "different characters are kept: there are 20 of each."),
        citation=_OMNIGLOT_CITATION),
)

_SPLIT_CLASSES = {splits.TRAIN: 700, splits.VALIDATION: 100, splits.TEST: 200}
_SPLIT_IMAGES = {name: 200 * count for name, count in _SPLIT_CLASSES.items()}
_MINI_CLASSES = {splits.TRAIN: 64, splits.VALIDATION: 16, splits.TEST: 20}
MINI_IMAGENET_ROWS = (
    Row("images", title="MiniImageNet, 100 classes divided as by Ravi and Larochelle",
        layouts=(Layout(
            class_splits, files=(File("mini-imagenet.tar"),),
            args={"template": "{split}/{label}/{item}.jpg",
                  "split_folders": {"train": splits.TRAIN, "val": splits.VALIDATION,
                                    "test": splits.TEST},
                  "classes": _MINI_CLASSES, "images_per_class": 600},
            num_examples={name: 600 * count for name, count in _MINI_CLASSES.items()},
            steps=("from ImageNet's training images take those that train.csv, val.csv and "
                   "test.csv of https://github.com/twitter-research/meta-learning-lstm "
                   "(data/miniImagenet) name, 84 x 84 pixels, into the folders train, val and "
                   "test, a folder for each WordNet id;",
                   "tar -cf DIR/mini-imagenet.tar train val test")),),
        splits=BY_CLASS, num_classes=100, channels=3, unique=False,
        homepage="https://github.com/twitter-research/meta-learning-lstm",
        license="ImageNet: non-commercial research",
        notes="600 images of each class; 64 classes for training, 16 for validation, 20 for test. "
              "Nobody publishes the images under ImageNet's terms; copies differ in how they were "
              "scaled to 84 x 84 pixels.",
        citation="""@inproceedings{ravi2017optimization,
  title={Optimization as a model for few-shot learning},
  author={Ravi, Sachin and Larochelle, Hugo},
  booktitle={International Conference on Learning Representations},
  year={2017}
}"""),
)


def _slimagenet(name: str, title: str, homepage: str, layout: Layout, notes: str) -> Row:
  return Row(
      name, title=title, layouts=(layout,), splits=BY_CLASS, num_classes=1000, channels=3,
      unique=False, homepage=homepage,
      license="ImageNet: non-commercial research", notes=notes, citation=_CITATION)


SLIMAGENET_ROWS = (
    _slimagenet(
        "images", "SlimageNet64, as published", "https://zenodo.org/record/3672132",
        Layout(class_splits, files=(File("SlimageNet64.tar.bz2"),),
               args={"template": "{split}/{label}/{item}.{extension}",
                     "split_folders": {"train": splits.TRAIN, "val": splits.VALIDATION,
                                       "test": splits.TEST},
                     "classes": _SPLIT_CLASSES, "images_per_class": 200},
               num_examples=_SPLIT_IMAGES,
               steps=("save the archive of https://zenodo.org/record/3672132 as "
                      "DIR/SlimageNet64.tar.bz2 (the name that it has there, and its sum, were not "
                      "checked)",)),
        "1,000 ImageNet classes with 200 images of 64 x 64 pixels each; splits are by class, 700 / "
        "100 / 200, as the folders of the archive say, and nothing else is trusted. Labels are the "
        "sorted folder names n0001, n0002, ... The paper names zenodo.org/record/3672132; the name "
        "of the file there, and its checksum, have not been checked by a download."),
    _slimagenet(
        "from_imagenet64", "SlimageNet64, made from down-sampled ImageNet",
        "https://github.com/AntreasAntoniou/FewShotContinualLearning",
        Layout(downsampled_imagenet,
               files=tuple(File(f"train_data_batch_{part}.npz") for part in range(1, 11)),
               args={"images_per_class": 200, "classes": _SPLIT_CLASSES, "side": 64},
               num_examples=_SPLIT_IMAGES,
               notes="The 64 x 64 training batches as .npz, from image-net.org (an account)."),
        "The same kind of set, but NOT the published images: the published 200 of a class hang on "
        "an order of files that is unknown, so this takes the first 200 of each class. "
        "Classes 1-700 / 701-800 / 801-1000 of the arrays' own numbering (the devkit's, not that "
        "of sorted WordNet ids) are training, validation and test. Do not compare results on it "
        "with published ones."),
)
