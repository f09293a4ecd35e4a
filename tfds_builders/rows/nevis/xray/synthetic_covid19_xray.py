# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Synthetic COVID-19 chest X-rays."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_SYNTHETIC_URL = ("https://github.com/hasibzunair/synthetic-covid-cxr-dataset/releases/download/"
                  "v0.1/")

ROW = Row(
    "synthetic_covid19_xray",
    title="Synthetic COVID-19 chest X-rays",
    layouts=(Layout(
        image_names,
        files=(File("G_NC.zip", _SYNTHETIC_URL + "G_NC.zip",
                    ("md5:bd82149d00283fca892bc41e997a3070",)),
               File("G_PC.zip", _SYNTHETIC_URL + "G_PC.zip",
                    ("md5:acf56668f97be81fd8c05c4308f80c61",))),
        args={"template": "{label}/{item}", "extensions": ("png", "jpg", "jpeg"),
              "labels": {"G1": "Normal", "G2": "Pneumonia"}},
        num_examples={splits.POOL: 21295}),),
    splits=splits.POOLED,
    paper_size=14410,
    num_classes=2,
    class_names=("Normal", "Pneumonia"),
    channels=3,
    version="2.0.0",
    homepage="https://github.com/hasibzunair/synthetic-covid-cxr-dataset",
    notes="Images made by a generative network from normal lungs (G_NC.zip) and from lungs with "
          "pneumonia (G_PC.zip). The reference's draw depends on the order of a folder listing "
          "and is not reproduced.",
    citation="""@article{zunair2021synthesis,
  title={Synthesis of {COVID-19} chest {X}-rays using unpaired image-to-image translation},
  author={Zunair, Hasib and Hamza, A Ben},
  journal={Social Network Analysis and Mining},
  volume={11},
  number={1},
  year={2021}
}""")
