# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Olivetti (ORL, AT&T) faces."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import class_folders
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "olivetti_face",
    title="Olivetti (ORL, AT&T) faces",
    layouts=(Layout(
        class_folders,
        files=(File(
            "att_faces.zip",
            "https://www.cl.cam.ac.uk/Research/DTG/attarchive/pub/data/att_faces.zip"),),
        args={"template": "{label}/{item}.pgm"},
        num_examples={splits.POOL: 400},
        built_from_real=True),),
    splits=splits.POOLED,
    paper_size=288,
    num_classes=40,
    class_names=tuple(f"s{subject}" for subject in range(1, 41)),
    channels=1,
    version="2.0.0",
    homepage="https://cam-orl.co.uk/facedatabase.html",
    notes="The reference reads a Kaggle copy with 41 labels, resized to 80 x 70; these are the 40 "
          "subjects of the publisher, 10 images each, 112 x 92. The published archive has no known "
          "checksum: it is used with a warning.",
    citation="""@inproceedings{samaria1994parameterisation,
  title={Parameterisation of a stochastic model for human face identification},
  author={Samaria, Ferdinando S and Harter, Andy C},
  booktitle={Proceedings of the Second IEEE Workshop on Applications of Computer Vision},
  pages={138--142},
  year={1994}
}""")
