# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Food-101N, verified images."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import listed_images
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "food101n",
    title="Food-101N, verified images",
    layouts=(Layout(
        listed_images,
        files=(File(
            "Food-101N_release.zip",
            "https://drive.google.com/u/0/uc?id=1s9NyXpi9bO-UZUvk65WVvEUExNkZ1v9V"
            "&export=download&confirm=y", ("md5:596b41b48de43342ef1efbb2fd508e06",)),),
        args={"lists": {"meta/verified_train.tsv": splits.TRAIN,
                        "meta/verified_val.tsv": splits.TEST},
              "line": "{label}/{item}.jpg\t{flag}", "image": "images/{label}/{item}.jpg",
              "keep": {"flag": "1"}, "header_lines": 1, "unlisted": True, "max_missing": 1}),),
    splits=splits.TRAIN_TEST,
    compat=Compat(
        args={"keep": {}},
        paper=paper_rules.TRAIN_TEST,
        notes="The result of the verification is ignored, as in the reference, so about a fifth "
              "of the labels, also in test, are known to be wrong."),
    paper_size=45032,
    num_classes=101,
    channels=3,
    version="2.0.0",
    homepage="https://kuanghuei.github.io/Food-101N/",
    notes="Only images that were verified (verified_train.tsv; verified_val.tsv is test) and "
          "found to show their dish; the reference ignores the result. The 250,000 images that "
          "were not verified are left out, as in the reference. The paper's size is that of "
          "52,867 images by the reference's draw, one less than are listed: one may be missing.",
    citation="""@inproceedings{lee2018cleannet,
  title={{CleanNet}: Transfer learning for scalable image classifier training with label noise},
  author={Lee, Kuang-Huei and He, Xiaodong and Zhang, Lei and Yang, Linjun},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2018}
}""")
