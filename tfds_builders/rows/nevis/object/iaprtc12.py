# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: IAPR TC-12, labels of regions."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import region_labels
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "iaprtc12",
    title="IAPR TC-12, labels of regions",
    layouts=(Layout(
        region_labels,
        files=(File("iapr-tc12.zip", "kaggle:nastyatima/iapr-tc12",
                    ("md5:ee251615ac2dbb55eea5a7e5e710740a",)),),
        args={"sets": {"matlab/training.mat": ("training", splits.TRAIN),
                       "matlab/validation.mat": ("validation", splits.VALIDATION),
                       "matlab/testing.mat": ("testing", splits.TEST)},
              "words": "benchmark/wlist.txt", "num_words": 276, "annotations": "saiaprtc12ok",
              "max_missing": 20},
        notes=notes.KAGGLE_REPACKED),),
    splits=splits.OFFICIAL,
    paper_size=10830,
    num_classes=276,
    channels=3,
    kind=MULTI_LABEL,
    compat=Compat(
        args={"sets": {"matlab/training.mat": ("training", splits.POOL),
                       "matlab/validation.mat": ("validation", splits.POOL)},
              "last_only": True},
        splits=splits.POOLED,
        paper=paper_rules.POOLED,
        notes="With defects of the reference: an image has the label of its last region only, "
              "and the official training and validation sets are divided again; the test set is "
              "not used."),
    paper_order=SORTED,
    version="2.0.0",
    homepage="https://www.imageclef.org/SIAPRdata",
    notes="The labels of all regions of an image, in the official splits of its segmentation "
          "(SAIAPR TC-12). A label is the line of its word in wlist.txt, from 0; some have no "
          "image. The paper has no results for it.",
    citation="""@article{escalante2010segmented,
  title={The segmented and annotated {IAPR TC-12} benchmark},
  author={Escalante, Hugo Jair and Hern{\\'a}ndez, Carlos A and Gonzalez, Jesus A and others},
  journal={Computer Vision and Image Understanding},
  volume={114},
  number={4},
  pages={419--428},
  year={2010}
}""")
