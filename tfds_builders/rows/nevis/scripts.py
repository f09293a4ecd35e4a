# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: characters by hand and in the street, and textures."""

from __future__ import annotations

import string

from tfds_builders import splits
from tfds_builders.parsers import gnt
from tfds_builders.parsers import linked_textures
from tfds_builders.parsers import sampled_characters
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_CASIA = "http://www.nlpr.ia.ac.cn/databases/Download/Offline/CharData"

CASIA_HWDB = Row(
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
    homepage="http://www.nlpr.ia.ac.cn/databases/handwriting/Home.html",
    licence="academic research",
    notes="Class ids are the places of the characters in sorted order; in the reference they "
          "change with Python's hash seed. 1,172,907 images in all. The reference's draw goes by "
          "the order of sorted file names; it is not offered.",
    citation="""@inproceedings{liu2011casia,
  title={{CASIA} online and offline {Chinese} handwriting databases},
  author={Liu, Cheng-Lin and Yin, Fei and Wang, Da-Han and Wang, Qiu-Feng},
  booktitle={International Conference on Document Analysis and Recognition},
  year={2011}
}""")

_CHARS = "http://www.ee.surrey.ac.uk/CVSSP/demos/chars74k"

CHARS74K = Row(
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
    homepage="http://www.ee.surrey.ac.uk/CVSSP/demos/chars74k",
    licence="research use",
    notes="Characters of photographs, of a tablet and of fonts in one pool. The reference reads "
          "the official lists first; the order in which it takes the three kinds changes with "
          "Python's hash seed, so its draw cannot be had again.",
    citation="""@inproceedings{decampos2009character,
  title={Character recognition in natural images},
  author={de Campos, Te{\\'o}filo E. and Babu, Bodla Rakesh and Varma, Manik},
  booktitle={International Conference on Computer Vision Theory and Applications},
  year={2009}
}""")

VISTEX = Row(
    "vistex",
    title="VisTex reference textures",
    layouts=(Layout(
        linked_textures,
        files=(File("VisTex.tar.gz", "http://vismod.media.mit.edu/pub/VisTex/VisTex.tar.gz",
                    ("md5:f176ad5c9383141f981e3668b232add7",)),)),),
    splits=splits.POOLED,
    paper_size=125,
    num_classes=19,
    channels=3,
    homepage="https://vismod.media.mit.edu/vismod/imagery/VisionTexture/vistex.html",
    licence="free for research",
    notes="Some classes have very few images and can miss in a split. The reference takes images "
          "in the order of the file system, so its draw cannot be had again. 19 classes are "
          "expected; nobody has checked it on the archive.",
    citation="""@misc{picard1995vistex,
  title={Vision texture database},
  author={Picard, Rosalind and Graczyk, Chris and Mann, Steve and others},
  howpublished={Media Laboratory, MIT},
  year={1995}
}""")

ROWS = (CASIA_HWDB, CHARS74K, VISTEX)
