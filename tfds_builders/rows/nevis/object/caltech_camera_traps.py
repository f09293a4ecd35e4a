# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Caltech Camera Traps."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import coco_labels
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_LILA = "https://lilablobssc.blob.core.windows.net/caltechcameratraps"

ROW = Row(
    "caltech_camera_traps",
    title="Caltech Camera Traps",
    layouts=(Layout(
        coco_labels,
        files=(File("eccv_18_all_images_sm.tar.gz", f"{_LILA}/eccv_18_all_images_sm.tar.gz",
                    ("md5:8143c17aa2a12872b66f284ff211531f",)),
               File("eccv_18_annotations.tar.gz", f"{_LILA}/eccv_18_annotations.tar.gz",
                    ("md5:66a1f481b44aa1edadf75c9cfbd27aba",))),
        args={"images_file": "eccv_18_all_images_sm.tar.gz",
              "tables": {"train_annotations.json": splits.TRAIN,
                         "trans_val_annotations.json": splits.VALIDATION,
                         "trans_test_annotations.json": splits.TEST}}),),
    splits=splits.OFFICIAL,
    paper=paper_rules.OFFICIAL,
    paper_size=13553,
    num_classes=16,
    class_names=("bobcat", "opossum", "empty", "coyote", "raccoon", "bird", "dog", "cat",
                 "squirrel", "rabbit", "skunk", "rodent", "badger", "deer", "car", "fox"),
    channels=3,
    version="2.0.0",
    homepage="https://lila.science/datasets/caltech-camera-traps",
    license="CDLA-Permissive-1.0",
    notes="Cameras of the test set (trans) are in no other; an image has the class of its last "
          "annotation, as in the reference. LILA has moved its files since; if the links are dead, "
          "look there for files of these names.",
    citation="""@inproceedings{beery2018recognition,
  title={Recognition in Terra Incognita},
  author={Beery, Sara and Van Horn, Grant and Perona, Pietro},
  booktitle={European Conference on Computer Vision},
  year={2018}
}""")
