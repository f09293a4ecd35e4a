# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: PASCAL VOC 2006, images of one class."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import voc
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import pascal
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "pascal_voc2006",
    title="PASCAL VOC 2006, images of one class",
    layouts=(Layout(
        voc,
        files=(File("voc2006_trainval.tar", pascal.DOWNLOAD_URL + "voc2006_trainval.tar",
                    ("md5:af06612e5ad9863bde6fa7aae55f8866",)),
               File("voc2006_test.tar", pascal.DOWNLOAD_URL + "voc2006_test.tar",
                    ("md5:6bd028d82d057621c4fc69e9c56517ef",))),
        args={"sets": {"voc2006_trainval.tar": ("trainval", splits.TRAIN),
                       "voc2006_test.tar": ("test", splits.TEST)},
              "image": "PNGImages/{item}.png"}),),
    splits=splits.TRAIN_TEST,
    compat=Compat(
        args={"several": voc.LAST},
        paper=paper_rules.TRAIN_TEST,
        notes="An image of several classes has one of them as its label, that whose list comes "
              "last in the archive: a correct answer may count as wrong, also in test. 2,618 "
              "images are train and validation."),
    paper_size=2211,
    num_classes=10,
    class_names=("bicycle", "bus", "car", "cat", "cow", "dog", "horse", "motorbike", "person",
                 "sheep"),
    channels=3,
    version="2.0.0",
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/voc2006/",
    notes="The images of the challenge show one or more classes each; the stream has one label "
          "per image. Images of several classes are left out here. The paper's size counts them.",
    citation="""@misc{everingham2006voc,
  title={The {PASCAL} visual object classes challenge 2006 results},
  author={Everingham, Mark and Zisserman, Andrew and Williams, Christopher K I and Van Gool, Luc},
  howpublished={http://www.pascal-network.org/challenges/VOC/voc2006/results.pdf},
  year={2006}
}""")
