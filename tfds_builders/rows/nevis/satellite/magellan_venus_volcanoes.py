# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Volcanoes on Venus (Magellan)."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import volcanoes
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import uci
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "magellan_venus_volcanoes",
    title="Volcanoes on Venus (Magellan)",
    layouts=(Layout(
        volcanoes,
        files=(File("volcanoes.tar.gz", uci.URL + "volcanoes-mld/volcanoes.tar.gz",
                    ("md5:55143a4ec42b626126c9b4ed618f59f8",)),),
        args={"side": 1024},
        num_examples={splits.POOL: 134}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_size=102,
    num_classes=2,
    class_names=("no volcano", "volcano"),
    channels=1,
    license="CC BY 4.0",
    version="2.0.0",
    homepage="https://archive.ics.uci.edu/dataset/103/volcanoes+on+venus+jartool+experiment",
    notes="Whole images of 1024 x 1024 pixels; of class 1 are those with a volcano that the "
          "experts are sure of (53 of 134).",
    citation="""@article{burl1998learning,
  title={Learning to recognize volcanoes on {Venus}},
  author={Burl, Michael C. and Asker, Lars and Smyth, Padhraic and Fayyad, Usama and Perona, Pietro
    and Crumpler, Larry and Aubele, Jayne},
  journal={Machine Learning},
  volume={30},
  year={1998}
}""")
