# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: FGVC-Aircraft, families."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import listed_images
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "fgvc_aircraft_family",
    title="FGVC-Aircraft, families",
    layouts=(Layout(
        listed_images,
        files=(File(
            "fgvc-aircraft-2013b.tar.gz",
            "https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/archives/"
            "fgvc-aircraft-2013b.tar.gz", ("md5:d4acdd33327262359767eeaa97a4f732",)),),
        args={"lists": {"data/images_family_trainval.txt": splits.TRAIN,
                        "data/images_family_test.txt": splits.TEST},
              "line": "{item} {label}", "image": "data/images/{item}.jpg"},
        num_examples={splits.TRAIN: 6667, splits.TEST: 3333}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_size=5683,
    num_classes=70,
    channels=3,
    version="2.0.0",
    homepage="https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/",
    license="non-commercial research",
    notes="The strip with the photographer's name, the last 20 lines of each image, is left in, as "
          "in the reference.",
    citation="""@article{maji2013fine,
  title={Fine-grained visual classification of aircraft},
  author={Maji, Subhransu and Rahtu, Esa and Kannala, Juho and Blaschko, Matthew and
          Vedaldi, Andrea},
  journal={arXiv preprint arXiv:1306.5151},
  year={2013}
}""")
