# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Flickr materials."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "flickr_material_database",
    title="Flickr materials",
    layouts=(Layout(
        image_names,
        files=(File("FMD.zip",
                    "http://people.csail.mit.edu/celiu/CVPR2010/FMD/FMD.zip",
                    ("md5:0721ba72cd981aa9599a81bbfaaebd75",)),),
        args={"template": "image/{label}/{item}", "extensions": ("jpg",), "others": True},
        num_examples={splits.POOL: 1000}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_order=SORTED,
    paper_size=676,
    num_classes=10,
    channels=3,
    class_names=("fabric", "foliage", "glass", "leather", "metal", "paper", "plastic", "stone",
                 "water", "wood"),
    version="2.0.0",
    homepage="https://people.csail.mit.edu/celiu/CVPR2010/FMD/",
    notes="Masks and files of the authors' programs are not read.",
    citation="""@article{sharan2014flickr,
  title={Accuracy and speed of material categorization in real-world images},
  author={Sharan, Lavanya and Rosenholtz, Ruth and Adelson, Edward H},
  journal={Journal of Vision},
  year={2014}
}""")
