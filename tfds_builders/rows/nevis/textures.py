# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: photographs of surfaces."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_LISTED = ("The reference's draw depends on how the system lists a folder, and is not reproduced. "
           "The random crop that it declares is never applied there, nor here.")

_UIUC_URL = ("https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/data/"
             "texture_database/")

UIUC_TEXTURE = Row(
    "uiuc_texture",
    title="UIUC textures",
    layouts=(Layout(
        image_names,
        files=(File("T01-T05.zip", _UIUC_URL + "T01-T05.zip",
                    ("md5:e622e4708e336d51b3bbd45503618af1",)),
               File("T06-T10.zip", _UIUC_URL + "T06-T10.zip",
                    ("md5:50ab35564058d3f1d05e6f5d767db5df",)),
               File("T11-T15.zip", _UIUC_URL + "T11-T15.zip",
                    ("md5:d1c7584aeb0ab1e41c7157c60e84c3ad",)),
               File("T16-T20.zip", _UIUC_URL + "T16-T20.zip",
                    ("md5:d527ba7d820e1eeaef49f9c07b82aa34",)),
               File("T21-T25.zip", _UIUC_URL + "T21-T25.zip",
                    ("md5:74a29af10123f2be70ea481e5af3ec36",))),
        args={"template": "{label}/{item}", "extensions": ("jpg",)},
        num_examples={splits.POOL: 1000}),),
    splits=splits.POOLED,
    paper_size=676,
    num_classes=25,
    channels=1,
    homepage="https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/"
             "data/index.html",
    notes=_LISTED,
    citation="""@article{lazebnik2005sparse,
  title={A sparse texture representation using local affine regions},
  author={Lazebnik, Svetlana and Schmid, Cordelia and Ponce, Jean},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume={27},
  number={8},
  pages={1265--1278},
  year={2005}
}""")

_UMD_URL = "http://users.umiacs.umd.edu/~fer/High-resolution-data-base/"

UMD = Row(
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
    homepage="http://users.umiacs.umd.edu/~fer/website-texture/texture.htm",
    notes="Classes have numbers only, from 1. " + _LISTED,
    citation="""@article{xu2009viewpoint,
  title={Viewpoint invariant texture description using fractal analysis},
  author={Xu, Yong and Ji, Hui and Ferm{\\"u}ller, Cornelia},
  journal={International Journal of Computer Vision},
  volume={83},
  number={1},
  pages={85--100},
  year={2009}
}""")

ROWS = (UIUC_TEXTURE, UMD)
