# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Caltech cars and motorbikes."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import nested
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_CALTECH_URL = "https://data.caltech.edu/records/"

ROW = Row(
    "caltech_categories",
    title="Caltech cars and motorbikes",
    layouts=(Layout(
        nested,
        files=(File("Cars_2001.zip", _CALTECH_URL + "dvx6b-vsc46/files/Cars_2001.zip?download=1",
                    ("md5:e68efb9197ed6a9bc94ce46c79378d29",)),
               File("Cars_1999.zip", _CALTECH_URL + "fmbpr-ezq86/files/Cars_1999.zip?download=1",
                    ("md5:79b12e08cf5f711f27bbd3e9c6bf371f",)),
               File("motorbikes_side.zip",
                    _CALTECH_URL + "pxb2q-1e144/files/motorbikes_side.zip?download=1",
                    ("md5:ac51dc40c8df085c6663f38307685079",))),
        args={"inner": {"Cars_2001.zip": "cars_brad.tar", "Cars_1999.zip": "cars_markus.tar",
                        "motorbikes_side.zip": "motorbikes_side.tar"},
              "labels": {"Cars_2001.zip": "car", "Cars_1999.zip": "car",
                         "motorbikes_side.zip": "motorcycle"},
              "split": splits.POOL}),),
    splits=splits.POOLED,
    paper_size=996,
    num_classes=2,
    class_names=("car", "motorcycle"),
    channels=3,
    version="2.0.0",
    homepage="https://data.caltech.edu/",
    notes="Cars of 1999 and 2001, and motorbikes of 2001. The reference downloads an archive of "
          "faces too and does not use it. Its draw depends on the order within the archives, "
          "1999 first, and is not reproduced.",
    citation="""@inproceedings{fergus2003object,
  title={Object class recognition by unsupervised scale-invariant learning},
  author={Fergus, Robert and Perona, Pietro and Zisserman, Andrew},
  booktitle={CVPR},
  year={2003}
}""")
