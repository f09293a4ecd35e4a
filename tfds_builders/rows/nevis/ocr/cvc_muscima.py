# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: CVC-MUSCIMA, writers of music."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import listed_images
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_MUSIC_URL = "http://wwwo.cvc.uab.es/cvcmuscima/"

ROW = Row(
    "cvc_muscima",
    title="CVC-MUSCIMA, writers of music",
    layouts=(Layout(
        listed_images,
        files=(File("CVCMUSCIMA_WI.zip", _MUSIC_URL + "CVCMUSCIMA_WI.zip",
                    ("md5:33d7464a3dc376a9456bbfe7aad8c18f",)),
               File("Partitions_Set.zip", _MUSIC_URL + "Partitions_Set.zip",
                    ("md5:dd22cff47fd50ca01ee077b757a978cd",))),
        args={"lists": {"set_2_Independent/set_2_training_01.txt": splits.TRAIN,
                        "set_2_Independent/set_2_testing_01.txt": splits.TEST},
              "line": "{label}/{item}.png", "image": "PNG_GT_Gray/{label}/{item}.png",
              "unlisted": True}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_size=419,
    num_classes=50,
    class_names=tuple(f"w-{writer:02d}" for writer in range(1, 51)),
    channels=1,
    version="2.0.0",
    homepage="http://www.cvc.uab.es/cvcmuscima/",
    license="CC BY-NC-SA 4.0",
    notes="The gray pages, by partition 01 of the published set 2 ('independent'). All 50 writers "
          "copied the same 20 pages; train, dev and validation are not kept apart by page, as in "
          "the reference.",
    citation="""@article{fornes2012cvc,
  title={{CVC-MUSCIMA}: A ground truth of handwritten music score images for writer identification
         and staff removal},
  author={Forn{\\'e}s, Alicia and Dutta, Anjan and Gordo, Albert and Llad{\\'o}s, Josep},
  journal={International Journal on Document Analysis and Recognition},
  volume={15},
  number={3},
  pages={243--251},
  year={2012}
}""")
