# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: TRANCOS (vehicles counted)."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import counting
from tfds_builders.rows.nevis.shared import counts
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_OFFICIAL = {"training": splits.OFFICIAL[splits.TRAIN],
             "validation": splits.whole(splits.VALIDATION), "test": splits.whole(splits.TEST)}

ROW = Row(
    "trancos",
    title="TRANCOS (vehicles counted)",
    layouts=(Layout(
        counting,
        files=(File("TRANCOS_v3.tar.gz",
                    "https://universidaddealcala-my.sharepoint.com/:u:/g/personal/gram_uah_es/"
                    "Eank6osXQgxEqa-1bb0nVsoBc3xO4XDwENc_g0nc6t58BA?&Download=1",
                    ("md5:e9b4d5a62ab1fe5f542ec8326f2d4fda",)),),
        args={"image": r"(?:^|/)images/([^/]+)\.jpg$",
              "counts": {"lines": r"(?:^|/)images/([^/]+)\.txt$"},
              "parts": {"lists": {"training.txt": "training", "validation.txt": "validation",
                                  "test.txt": "test"}},
              "num_bins": 10, "edges_from": ("training",)},
        num_examples={"training": 403, "validation": 420, "test": 421}),),
    splits=_OFFICIAL,
    paper={"training": paper_draws.TRAIN_DEV, "validation": paper_draws.whole("dev_test"),
           "test": paper_draws.whole("test")},
    compat=Compat(args={"edges_from": ("training", "validation", "test")}, notes=counts.TEST_BINS),
    paper_size=403,
    num_classes=10,
    channels=3,
    version="2.0.0",
    homepage="https://gram.web.uah.es/data/datasets/trancos/index.html",
    notes="Labels are ten bins of the number of vehicles, about equally frequent in training.",
    citation="""@inproceedings{guerrero2015extremely,
  title={Extremely overlapping vehicle counting},
  author={Guerrero-G{\\'o}mez-Olmedo, Ricardo and Torre-Jim{\\'e}nez, Beatriz and
    L{\\'o}pez-Sastre, Roberto and Maldonado-Basc{\\'o}n, Saturnino and O{\\~n}oro-Rubio, Daniel},
  booktitle={Iberian Conference on Pattern Recognition and Image Analysis},
  year={2015}
}""")
