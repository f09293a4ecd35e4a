# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Statlog (Landsat Satellite)."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import labeled_rows
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import uci
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "landsat",
    title="Statlog (Landsat Satellite)",
    layouts=(Layout(
        labeled_rows,
        files=(File("sat.trn", uci.URL + "statlog/satimage/sat.trn",
                    ("md5:2c5ba2900da0183cab2c41fdb279fa5b",)),
               File("sat.tst", uci.URL + "statlog/satimage/sat.tst",
                    ("md5:02c995991fecc864e809b2c4c42cd983",))),
        args={"parts": {"sat.trn": splits.TRAIN, "sat.tst": splits.TEST}, "height": 3, "width": 3,
              "stored_channels": 4, "channels": 3},
        num_examples={splits.TRAIN: 4435, splits.TEST: 2000}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_size=3764,
    num_classes=7,
    class_names=("red soil", "cotton crop", "grey soil", "damp grey soil",
                 "soil with vegetation stubble", "mixture class", "very damp grey soil"),
    channels=3,
    license="CC BY 4.0",
    version="2.0.0",
    homepage="https://archive.ics.uci.edu/dataset/146/statlog+landsat+satellite",
    notes="3 x 3 pixels; the first three of four spectral bands are stored as red, green and blue. "
          "No image is of the mixture class.",
    citation="""@misc{srinivasan1993statlog,
  title={Statlog ({Landsat} Satellite)},
  author={Srinivasan, Ashwin},
  howpublished={UCI Machine Learning Repository},
  year={1993},
  doi={10.24432/C55887}
}""")
