# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: UMD textures."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_UMD_URL = "http://users.umiacs.umd.edu/~fer/High-resolution-data-base/"

ROW = Row(
    "umd",
    title="UMD textures",
    layouts=(Layout(
        image_names,
        files=(File("textures-1.zip", _UMD_URL + "textures-1.zip",
                    ("md5:818b5b13035374cffd4db604e718ddbf",)),
               File("textures-2.zip", _UMD_URL + "textures-2.zip",
                    ("md5:e9853d0f7eaa9e57c4756e9017d0cbc9",))),
        args={"template": "{label}/{item}", "extensions": ("png", "jpg", "bmp", "pgm", "tif")},
        num_examples={splits.POOL: 1000}),),
    splits=splits.POOLED,
    paper_size=676,
    num_classes=25,
    class_names=tuple(str(number) for number in range(1, 26)),
    channels=1,
    version="2.0.0",
    homepage="http://users.umiacs.umd.edu/~fer/website-texture/texture.htm",
    notes="Classes have numbers only, from 1. " + notes.FOLDER_ORDER,
    citation="""@article{xu2009viewpoint,
  title={Viewpoint invariant texture description using fractal analysis},
  author={Xu, Yong and Ji, Hui and Ferm{\\"u}ller, Cornelia},
  journal={International Journal of Computer Vision},
  volume={83},
  number={1},
  pages={85--100},
  year={2009}
}""")
