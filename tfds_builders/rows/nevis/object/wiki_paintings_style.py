# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: WikiArt paintings by style."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import listed_images
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_URL = "http://web.fsktm.um.edu.my/~cschan/source/ICIP2017/"

ROW = Row(
    "wiki_paintings_style",
    title="WikiArt paintings by style",
    layouts=(Layout(
        listed_images,
        files=(File("wikiart.zip", _URL + "wikiart.zip",
                    ("md5:c6b43cbcd474b875a5626ffde3b627e1",)),
               File("wikiart_csv.zip", _URL + "wikiart_csv.zip",
                    ("md5:0d221e7cb0812da6b59044cfca9aafee",))),
        args={"lists": {"style_train.csv": splits.TRAIN, "style_val.csv": splits.TEST},
              "line": "{style}/{item}.jpg,{label}", "image": "{style}/{item}.jpg",
              "unlisted": True, "max_missing": 100}),),
    splits=splits.TRAIN_TEST,
    paper_size=48576,
    num_classes=27,
    class_names=tuple(str(number) for number in range(27)),
    channels=3,
    version="2.0.0",
    homepage="https://github.com/cs-chan/ArtGAN/tree/master/WikiArt%20Dataset",
    notes="Styles have the numbers that the lists give them. About 25 GB; both links are reported "
          "dead and one published zip has damaged members: they are left out and counted. The "
          "reference takes the first line of each list for a header and loses one image of each; "
          "its draw goes by the order of the lists, and is not reproduced.",
    license="non-commercial research",
    citation="""@article{tan2019improved,
  title={Improved {ArtGAN} for conditional synthesis of natural image and artwork},
  author={Tan, Wei Ren and Chan, Chee Seng and Aguirre, Hernan E and Tanaka, Kiyoshi},
  journal={IEEE Transactions on Image Processing},
  year={2019}
}""")
