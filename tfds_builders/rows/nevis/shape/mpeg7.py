# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: MPEG-7 shapes."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "mpeg7",
    title="MPEG-7 shapes",
    layouts=(Layout(
        image_names,
        files=(File("MPEG7dataset.zip",
                    "https://dabi.temple.edu/external/shape/MPEG7/MPEG7dataset.zip",
                    ("md5:bedd54856c425dcc6e242515c4f67d75",)),),
        args={"template": "{label}-{item}", "extensions": ("gif",),
              "ignore": "confusion|shapedata"},
        num_examples={splits.POOL: 1400}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_order=SORTED,
    paper_size=943,
    num_classes=70,
    channels=1,
    version="2.0.0",
    homepage="https://dabi.temple.edu/external/shape/MPEG7/",
    notes="GIF images become PNG.",
    citation="""@inproceedings{latecki2000shape,
  title={Shape descriptors for non-rigid shapes with a single closed contour},
  author={Latecki, Longin Jan and Lak{\\"a}mper, Rolf and Eckhardt, Ulrich},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2000}
}""")
