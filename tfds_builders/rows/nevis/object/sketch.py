# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Sketches of objects by people."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import class_folders
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "sketch",
    title="Sketches of objects by people",
    layouts=(Layout(
        class_folders,
        files=(File(
            "sketches_png.zip",
            "https://cybertron.cg.tu-berlin.de/eitz/projects/classifysketch/sketches_png.zip",
            ("md5:023123df86a928a5273e3ba11990d8fd",)),),
        args={"template": "png/{label}/{item}.png"},
        num_examples={splits.POOL: 20000}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_order=SORTED,
    paper_size=13536,
    num_classes=250,
    channels=1,
    version="2.0.0",
    homepage="https://cybertron.cg.tu-berlin.de/eitz/projects/classifysketch/",
    license="CC BY 4.0",
    citation="""@article{eitz2012humans,
  title={How do humans sketch objects?},
  author={Eitz, Mathias and Hays, James and Alexa, Marc},
  journal={ACM Transactions on Graphics},
  volume={31},
  number={4},
  year={2012}
}""")
