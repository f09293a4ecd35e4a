# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: PatchCamelyon."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "patch_camelyon",
    title="PatchCamelyon",
    layouts=(),
    tfds=TfdsSet(("patch_camelyon:2.*.*",), tfds_splits.OFFICIAL,
                 key="id"),
    splits=splits.OFFICIAL,
    paper=paper_rules.SLICED_OFFICIAL,
    paper_size=262144,
    num_classes=2,
    channels=3,
    license="CC0",
    version="2.0.0",
    homepage="https://patchcamelyon.grand-challenge.org/",
    citation="""@inproceedings{veeling2018rotation,
  title={Rotation equivariant CNNs for digital pathology},
  author={Veeling, Bastiaan S and Linmans, Jasper and Winkens, Jim and Cohen, Taco and
    Welling, Max},
  booktitle={MICCAI},
  year={2018}
}""")
