# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: 8 outdoor scene categories."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "scenes8",
    title="8 outdoor scene categories",
    layouts=(Layout(
        image_names,
        files=(File(
            "spatial_envelope_256x256_static_8outdoorcategories.zip",
            "https://people.csail.mit.edu/torralba/code/spatialenvelope/"
            "spatial_envelope_256x256_static_8outdoorcategories.zip",
            ("md5:c26fe529d49848091a759d7aadd267f5",)),),
        args={"template": "{label}_{item}", "extensions": ("jpg",)},
        num_examples={splits.POOL: 2688}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_order=SORTED,
    paper_size=1811,
    num_classes=8,
    class_names=("coast", "forest", "highway", "insidecity", "mountain", "opencountry", "street",
                 "tallbuilding"),
    channels=3,
    version="2.0.0",
    homepage="https://people.csail.mit.edu/torralba/code/spatialenvelope/",
    citation="""@article{oliva2001modeling,
  title={Modeling the shape of the scene: A holistic representation of the spatial envelope},
  author={Oliva, Aude and Torralba, Antonio},
  journal={International Journal of Computer Vision},
  volume={42},
  number={3},
  pages={145--175},
  year={2001}
}""")
