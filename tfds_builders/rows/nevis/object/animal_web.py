# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: AnimalWeb."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "animal_web",
    title="AnimalWeb",
    layouts=(Layout(
        image_names,
        files=(File("animal_dataset_v1_c.rar",
                    "https://drive.google.com/uc?export=download&id=13PbHxUofhdJLZzql3TyqL2"
                   "2bQJ3HwDK4&confirm=y",
                    ("md5:d2d7e0a584ee4bd9badc74a9f2ef3b82",)),),
        args={"template": "{label}_{item}", "extensions": ("jpg", "jpeg"),
              "fields": {"label": "[^_/]+"}, "others": True}),
             Layout(
        image_names,
        files=(File("animal_web.tar.gz"),),
        args={"template": "{label}_{item}", "extensions": ("jpg", "jpeg"),
              "fields": {"label": "[^_/]+"}, "others": True},
        notes="The same files, packed again."),),
    splits=splits.POOLED,
    paper_size=12909,
    num_classes=352,
    channels=3,
    version="2.0.0",
    homepage="https://fdmaproject.wordpress.com/author/fdmaproject/",
    notes="The label is the part of a name before the first underscore; the 352 labels include "
          "animal, uc, colo and monte. Reading the RAR archive needs bsdtar, unrar or 7z; the "
          "same files packed as animal_web.tar.gz need none of them. The reference removes "
          "copies before it draws, in the order of a folder listing; its draw is not reproduced.",
    citation="""@inproceedings{khan2020animalweb,
  title={AnimalWeb: a large-scale hierarchical dataset of annotated animal faces},
  author={Khan, Muhammad Haris and McDonagh, John and Khan, Salman and others},
  booktitle={CVPR},
  year={2020}
}""")
