# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Chars74K, English."""

from __future__ import annotations

import string

from tfds_builders import splits
from tfds_builders.parsers import sampled_characters
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_CHARS = "http://www.ee.surrey.ac.uk/CVSSP/demos/chars74k"

ROW = Row(
    "chars74k",
    title="Chars74K, English",
    layouts=(Layout(
        sampled_characters,
        files=(File("EnglishImg.tgz", f"{_CHARS}/EnglishImg.tgz",
                    ("md5:85d157e0c58f998e1cda8def62bcda0d",)),
               File("EnglishHnd.tgz", f"{_CHARS}/EnglishHnd.tgz",
                    ("md5:95e9ee6d929809ef4c2f509f86388c72",)),
               File("EnglishFnt.tgz", f"{_CHARS}/EnglishFnt.tgz",
                    ("md5:f6710b1302a7e9693d904b16389d9d8a",))),
        args={"kinds": {"EnglishImg.tgz": ("Img/GoodImg/Bmp", "Img/BadImag/Bmp"),
                        "EnglishHnd.tgz": ("Hnd/Img",), "EnglishFnt.tgz": ("Fnt",)}}),),
    splits=splits.POOLED,
    paper_size=45740,
    num_classes=62,
    class_names=tuple(string.digits + string.ascii_uppercase + string.ascii_lowercase),
    channels=3,
    version="2.0.0",
    homepage="http://www.ee.surrey.ac.uk/CVSSP/demos/chars74k",
    license="research use",
    notes="Characters of photographs, of a tablet and of fonts in one pool. The reference reads "
          "the official lists first; the order in which it takes the three kinds changes with "
          "Python's hash seed, so its draw cannot be reproduced.",
    citation="""@inproceedings{decampos2009character,
  title={Character recognition in natural images},
  author={de Campos, Te{\\'o}filo E. and Babu, Bodla Rakesh and Varma, Manik},
  booktitle={International Conference on Computer Vision Theory and Applications},
  year={2009}
}""")
