# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Belgian traffic signs."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "belgium_tsc",
    title="Belgian traffic signs",
    layouts=(Layout(
        image_names,
        files=(File("BelgiumTSC_Training.zip",
                    "http://www.vision.ee.ethz.ch/~timofter/BelgiumTSC/BelgiumTSC_Training.zip",
                    ("md5:c727ca9d00e3964ca676286a1808ccee",)),
               File("BelgiumTSC_Testing.zip",
                    "http://www.vision.ee.ethz.ch/~timofter/BelgiumTSC/BelgiumTSC_Testing.zip",
                    ("md5:d208de4566388791c0028da8d6a545cc",)),),
        args={"template": "{label}/{item}", "extensions": ("ppm",),
              "fields": {"label": r"\d{5}"},
              "split_files": {"BelgiumTSC_Training.zip": splits.TRAIN,
                              "BelgiumTSC_Testing.zip": splits.TEST}}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_order=SORTED,
    paper_size=3887,
    num_classes=62,
    channels=3,
    class_names=tuple(f"{number:05d}" for number in range(62)),
    version="2.0.0",
    homepage="https://btsd.ethz.ch/shareddata/",
    notes="Classes are the five-digit folders.",
    citation="""@article{timofte2014multi,
  title={Multi-view traffic sign detection, recognition, and 3D localisation},
  author={Timofte, Radu and Zimmermann, Karel and Van Gool, Luc},
  journal={Machine Vision and Applications},
  year={2014}
}""")
