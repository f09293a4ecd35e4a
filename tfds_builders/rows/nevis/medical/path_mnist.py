# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Path MNIST (colorectal histology, 28 x 28)."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import labeled_rows
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "path_mnist",
    title="Path MNIST (colorectal histology, 28 x 28)",
    layouts=(Layout(
        labeled_rows,
        files=(File("colorectal-histology-mnist.zip", "kaggle:kmader/colorectal-histology-mnist",
                    ("md5:e03501016bd54719567dfb954fe982fe",)),),
        args={"parts": {"hmnist_28_28_RGB.csv": splits.POOL}, "height": 28, "width": 28,
              "stored_channels": 3, "channels": 3, "separator": ",", "header_lines": 1},
        num_examples={splits.POOL: 5000},
        notes=notes.KAGGLE_REPACKED),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_size=3356,
    num_classes=8,
    class_names=("tumor", "stroma", "complex", "lympho", "debris", "mucosa", "adipose", "empty"),
    channels=3,
    license="CC BY 4.0",
    version="2.0.0",
    homepage="https://www.kaggle.com/datasets/kmader/colorectal-histology-mnist",
    notes="Names of the classes are those of the original folders, in their order.",
    citation="""@article{kather2016multi,
  title={Multi-class texture analysis in colorectal cancer histology},
  author={Kather, Jakob Nikolas and Weis, Cleo-Aron and Bianconi, Francesco and others},
  journal={Scientific Reports},
  volume={6},
  year={2016}
}""")
