# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Animal silhouettes."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "animal",
    title="Animal silhouettes",
    layouts=(Layout(
        image_names,
        files=(File("non_rigid_shape_A.zip",
                    "http://xiang.bai.googlepages.com/non_rigid_shape_A.zip",
                    ("md5:d88d44dc6d2382de3a5857d86fb5d430",)),
               File("non_rigid_shape_B.zip",
                    "http://xiang.bai.googlepages.com/non_rigid_shape_B.zip",
                    ("md5:dae4a05b9797a3109078d1553173b9a8",)),),
        args={"template": "{label}/{item}", "extensions": ("tif", "gif", "png", "jpg", "bmp")}),),
    splits=splits.POOLED,
    paper_size=1346,
    num_classes=20,
    channels=1,
    version="2.0.0",
    homepage="https://sites.google.com/site/xiangbai/animaldataset",
    notes="Class ids of the reference follow the order of a Python set and change from run to "
          "run; here they follow the names. The reference's draw depends on the order of a "
          "folder listing and is not reproduced.",
    citation="""@inproceedings{bai2009integrating,
  title={Integrating contour and skeleton for shape classification},
  author={Bai, Xiang and Liu, Wenyu and Tu, Zhuowen},
  booktitle={ICCV Workshops},
  year={2009}
}""")
