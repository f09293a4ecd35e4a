# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: CASIA-HWDB1.1, Chinese characters by hand."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import gnt
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_CASIA = "http://www.nlpr.ia.ac.cn/databases/Download/Offline/CharData"

ROW = Row(
    "casia_hwdb",
    title="CASIA-HWDB1.1, Chinese characters by hand",
    layouts=(Layout(
        gnt,
        files=(File("Gnt1.1TrainPart1.zip", f"{_CASIA}/Gnt1.1TrainPart1.zip",
                    ("md5:72bac7b6a5ce37f184f277421adfacfd",)),
               File("Gnt1.1TrainPart2.zip", f"{_CASIA}/Gnt1.1TrainPart2.zip",
                    ("md5:a8b76e4eccfb1fd8d56c448f6a096c27",)),
               File("Gnt1.1Test.zip", f"{_CASIA}/Gnt1.1Test.zip",
                    ("md5:e74f9a4863e73d8b80ed402452c97448",))),
        args={"sets": {"Gnt1.1TrainPart1.zip": splits.TRAIN, "Gnt1.1TrainPart2.zip": splits.TRAIN,
                       "Gnt1.1Test.zip": splits.TEST}},
        separate_files=True),),
    splits=splits.TRAIN_TEST,
    paper_size=797600,
    num_classes=3926,
    channels=1,
    version="2.0.0",
    homepage="http://www.nlpr.ia.ac.cn/databases/handwriting/Home.html",
    license="academic research",
    notes="Class ids are the places of the characters in sorted order; in the reference they "
          "change with Python's hash seed. 1,172,907 images in all. The reference's draw depends "
          "on the order of sorted file names; it is not offered.",
    citation="""@inproceedings{liu2011casia,
  title={{CASIA} online and offline {Chinese} handwriting databases},
  author={Liu, Cheng-Lin and Yin, Fei and Wang, Da-Han and Wang, Qiu-Feng},
  booktitle={International Conference on Document Analysis and Recognition},
  year={2011}
}""")
