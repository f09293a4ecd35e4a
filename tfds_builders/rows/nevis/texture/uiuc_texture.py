# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: UIUC textures."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_UIUC_URL = ("https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/data/"
             "texture_database/")

ROW = Row(
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
    version="2.0.0",
    homepage="https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/"
             "data/index.html",
    notes=notes.FOLDER_ORDER,
    citation="""@article{lazebnik2005sparse,
  title={A sparse texture representation using local affine regions},
  author={Lazebnik, Svetlana and Schmid, Cordelia and Ponce, Jean},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume={27},
  number={8},
  pages={1265--1278},
  year={2005}
}""")
