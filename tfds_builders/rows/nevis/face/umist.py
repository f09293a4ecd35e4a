# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: UMIST (Sheffield) faces."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import class_folders
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "umist",
    title="UMIST (Sheffield) faces",
    layouts=(Layout(
        class_folders,
        files=(File("face.tar.gz", "http://eprints.lincoln.ac.uk/id/eprint/16081/1/face.tar.gz",
                    ("md5:11011ab5dded043f5e4331711c2407c8",)),),
        args={"template": "{label}/{item}.pgm"},
        num_examples={splits.POOL: 1013}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_size=686,
    num_classes=20,
    class_names=tuple(f"1{letter}" for letter in "abcdefghijklmnopqrst"),
    channels=1,
    version="2.0.0",
    homepage="http://eprints.lincoln.ac.uk/id/eprint/16081",
    notes="Each person turns from profile to front: neighboring frames are much alike, and the "
          "random splits, as in the reference, put them on both sides.",
    citation="""@incollection{graham1998characterising,
  title={Characterising virtual eigensignatures for general purpose face recognition},
  author={Graham, Daniel B and Allinson, Nigel M},
  booktitle={Face Recognition: From Theory to Applications},
  year={1998}
}""")
