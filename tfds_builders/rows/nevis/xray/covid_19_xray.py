# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: COVID-19 chest X-rays."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_FINDINGS = ("COVID", "Lung_Opacity", "Normal", "Viral Pneumonia")

ROW = Row(
    "covid_19_xray",
    title="COVID-19 chest X-rays",
    layouts=(Layout(
        image_names,
        files=(File("covid19-radiography-database.zip",
                    "kaggle:tawsifurrahman/covid19-radiography-database",
                    ("md5:1888824db56de7f47b886a536961b763",)),),
        args={"template": "{label}/{item}", "extensions": ("png",),
              "labels": {name: name for name in _FINDINGS}, "others": True}),),
    splits=splits.POOLED,
    paper_size=14281,
    num_classes=4,
    channels=1,
    class_names=_FINDINGS,
    version="2.0.0",
    homepage="https://www.kaggle.com/datasets/tawsifurrahman/covid19-radiography-database",
    notes="Newer editions hold the images in a subfolder, with masks beside them, which is "
          "another layout. Kaggle repacks its archives from time to time, which changes their "
          "checksums. The reference removes copies before it draws; its draw is not reproduced.",
    citation="""@article{chowdhury2020can,
  title={Can AI help in screening viral and COVID-19 pneumonia?},
  author={Chowdhury, Muhammad E H and Rahman, Tawsifur and Khandakar, Amith and others},
  journal={IEEE Access},
  year={2020}
}""")
