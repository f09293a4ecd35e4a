# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Graz-02."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import listed_pools
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_IG02 = "http://lear.inrialpes.fr/people/marszalek/data/ig02"

ROW = Row(
    "ig02",
    title="Graz-02",
    layouts=(Layout(
        listed_pools,
        files=(File("ig02-v1.0-bikes.zip", f"{_IG02}/ig02-v1.0-bikes.zip",
                    ("md5:13266fdf968176fa3aebdd439184254f",)),
               File("ig02-v1.0-cars.zip", f"{_IG02}/ig02-v1.0-cars.zip",
                    ("md5:34de933832755ee009c6f0e9d9c6426e",)),
               File("ig02-v1.0-people.zip", f"{_IG02}/ig02-v1.0-people.zip",
                    ("md5:f80d8d21f018197979c72b977986fd2f",))),
        args={"labels": {"ig02-v1.0-bikes.zip": "bikes", "ig02-v1.0-cars.zip": "cars",
                         "ig02-v1.0-people.zip": "people"}, "ending": ".image.png"}),),
    splits=splits.TRAIN_TEST,
    paper_size=747,
    num_classes=3,
    class_names=("bikes", "cars", "people"),
    channels=3,
    version="2.0.0",
    homepage="http://lear.inrialpes.fr/people/marszalek/data/ig02",
    notes="The official test lists are the test split; the reference intends this but pools all "
          "images because of a typing error.",
    compat=Compat("The official lists are ignored: all images are one pool, with those of the "
                  "training lists first.", args={"pooled": True}, splits=splits.POOLED,
                  paper=paper_rules.POOLED),
    citation="""@inproceedings{marszalek2007accurate,
  title={Accurate object localization with shape masks},
  author={Marsza{\\l}ek, Marcin and Schmid, Cordelia},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2007}
}""")
