# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: CMU AMP facial expressions."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
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
    version="2.0.0",
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
