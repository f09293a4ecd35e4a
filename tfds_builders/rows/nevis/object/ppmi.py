# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: People playing, or holding, musical instruments."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "ppmi",
    title="People playing, or holding, musical instruments",
    layouts=(Layout(
        image_names,
        files=(File("norm_ppmi_12class.zip",
                    "http://vision.stanford.edu/Datasets/norm_ppmi_12class.zip",
                    ("md5:88118d8c6b50d72f0bb37a89269185ab",)),),
        args={"template": "{act}/{instrument}/{split}/{item}", "label": "{act}/{instrument}",
              "extensions": ("jpg",),
              "split_folders": {"train": splits.TRAIN, "test": splits.TEST}}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_order=SORTED,
    paper_size=2023,
    num_classes=24,
    channels=3,
    version="2.0.0",
    homepage="https://ai.stanford.edu/~bangpeng/ppmi.html",
    notes="A class is an instrument and whether it is played or only held: 12 x 2. Class ids are "
          "those of the sorted names; the reference's changed with Python's hash seed.",
    citation="""@inproceedings{yao2010grouplet,
  title={Grouplet: A structured image representation for recognizing human and object
         interactions},
  author={Yao, Bangpeng and Fei-Fei, Li},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2010}
}""")
