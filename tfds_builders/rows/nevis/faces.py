# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: faces."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_BY_POSE = {"train": {splits.TRAIN: 1.0}, "dev": {splits.TRAIN: 1.0},
            "dev_test": {splits.VALIDATION: 1.0}, "test": {splits.TEST: 1.0}}

ABERDEEN = Row(
    "aberdeen",
    title="Aberdeen faces",
    layouts=(Layout(
        image_names,
        files=(File("Aberdeen.zip",
                    "http://pics.stir.ac.uk/zips/Aberdeen.zip",
                    ("md5:1f7044bd5f0bed01286263aa580a7a87",)),),
        args={"template": "{label}{rest}", "extensions": ("jpg",),
              "fields": {"label": "[A-Za-z_]+", "rest": "[^A-Za-z_/][^/]*|"},
              "renamed": {"marieg": "marie", "heatherg": "heather", "kayg": "kay",
                          "neilg": "neil", "graemeg": "graeme", "dhawleyg": "dhawley",
                          "clean_adrian": "adrian", "jsheenang": "jsheenan"}}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=468,
    num_classes=91,
    channels=3,
    homepage="http://pics.stir.ac.uk/",
    notes="The label is the person's name, with which the file's begins; eight people have "
          "two names in the source and one here. The reference lists 92 people, of whom 91 "
          "have images.",
    citation="""@misc{aberdeen1992,
  title={The Aberdeen face database},
  author={Hancock, Peter},
  howpublished={Psychological Image Collection at Stirling (PICS)},
  year={1992}
}""")

CMU_AMP = Row(
    "cmu_amp_expression",
    title="CMU AMP facial expressions",
    layouts=(Layout(
        image_names,
        files=(File("faceExpressionDatabase.zip",
                    "http://chenlab.ece.cornell.edu/_download/FaceAuthentication/faceExpres"
                   "sionDatabase.zip",
                    ("md5:f6c2fdf87c095c17e2527c36a0528966",)),),
        args={"template": "{label}{item}", "extensions": ("bmp",),
              "fields": {"label": "[A-M]", "item": r"\d+"}},
        num_examples={splits.POOL: 975}),),
    splits=splits.POOLED,
    paper_size=650,
    num_classes=13,
    channels=1,
    class_names=tuple("ABCDEFGHIJKLM"),
    homepage="http://chenlab.ece.cornell.edu/projects/FaceAuthentication/Default.html",
    notes="13 people, 75 images each; the label is the person, not the expression. The "
          "reference draws within each class, from a list of positions; here a hash of the "
          "name does.",
    citation="""@article{liu2003face,
  title={Face authentication for multiple subjects using eigenflow},
  author={Liu, Xiaoming and Chen, Tsuhan and Kumar, B V K Vijaya},
  journal={Pattern Recognition},
  year={2003}
}""")

EXTENDED_YALEB = Row(
    "extended_yaleb",
    title="Extended Yale B faces",
    layouts=(Layout(
        image_names,
        files=(File("extended-yale-dataset-b.zip",
                    "kaggle:souvadrahati/extended-yale-dataset-b",
                    ("md5:ef37284be91fe0c81dcd96baa948a2db",)),),
        args={"template": "{label}_{split}A{item}", "extensions": ("pgm",),
              "ignore": "Ambient",
              "split_folders": {"P00": "train", "P02": "train", "P03": "train", "P04": "train",
                                "P07": "train", "P05": "dev", "P01": "dev_test", "P06": "test",
                                "P08": "test"}}),),
    splits=_BY_POSE,
    paper={"train": paper_draws.whole("train"), "dev": paper_draws.whole("dev"),
           "dev_test": paper_draws.whole("dev_test"), "test": paper_draws.whole("test")},
    paper_size=10688,
    num_classes=28,
    channels=1,
    homepage="http://vision.ucsd.edu/~leekc/ExtYaleDatabase/ExtYaleB.html",
    notes="28 people. Split by pose, as in the reference: 0, 2, 3, 4, 5 and 7 to train, 1 to "
          "validate, 6 and 8 to test. Kaggle packs its archive again when it changes, and the"
          " sum changes with it.",
    citation="""@article{georghiades2001few,
  title={From few to many: illumination cone models for face recognition},
  author={Georghiades, Athinodoros S and Belhumeur, Peter N and Kriegman, David J},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year={2001}
}""")

ROWS = (ABERDEEN, CMU_AMP, EXTENDED_YALEB)
