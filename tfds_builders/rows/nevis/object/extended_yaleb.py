# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Extended Yale B faces."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
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
    splits={part: splits.whole(split) for part, split in paper_draws.SPLITS.items()},
    paper={part: paper_draws.whole(part) for part in paper_draws.SPLITS},
    paper_size=10688,
    num_classes=28,
    channels=1,
    version="2.0.0",
    homepage="http://vision.ucsd.edu/~leekc/ExtYaleDatabase/ExtYaleB.html",
    notes="28 people. Split by pose, as in the reference: 0, 2, 3, 4 and 7 are train, 5 dev, 1 "
          "validation, 6 and 8 test. " + notes.KAGGLE_REPACKED,
    citation="""@article{georghiades2001few,
  title={From few to many: illumination cone models for face recognition},
  author={Georghiades, Athinodoros S and Belhumeur, Peter N and Kriegman, David J},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year={2001}
}""")
