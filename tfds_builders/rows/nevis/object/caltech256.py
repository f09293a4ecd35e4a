# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Caltech 256."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "caltech256",
    title="Caltech 256",
    layouts=(Layout(
        image_names,
        files=(File("256_ObjectCategories.tar",
                    "https://data.caltech.edu/records/nyy15-4j048/files/256_ObjectCategories.tar",
                    ("md5:67b4f42ca05d46448c6bb8ecd2220f6d",)),),
        args={"template": "{label}/{item}", "extensions": ("jpg", "jpeg"),
              "fields": {"label": r"\d{3}\.[^/]+"}, "others": True}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_size=20696,
    num_classes=257,
    channels=3,
    version="2.0.0",
    homepage="https://data.caltech.edu/records/nyy15-4j048",
    notes="256 objects and clutter.",
    citation="""@techreport{griffin2007caltech,
  title={Caltech-256 object category dataset},
  author={Griffin, Gregory and Holub, Alex and Perona, Pietro},
  institution={California Institute of Technology},
  year={2007}
}""")
