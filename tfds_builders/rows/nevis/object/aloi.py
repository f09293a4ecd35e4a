# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Amsterdam library of object images."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "aloi",
    title="Amsterdam library of object images",
    layouts=(Layout(
        image_names,
        files=(File("aloi_red4_ill.tar",
                    "http://aloi.science.uva.nl/tars/aloi_red4_ill.tar",
                    ("md5:0f72c3acf66908e61b6f8d5bf5981193",)),
               File("aloi_red4_col.tar",
                    "http://aloi.science.uva.nl/tars/aloi_red4_col.tar",
                    ("md5:c0486588258de8a26df4ed7aff0b34f8",)),
               File("aloi_red4_view.tar",
                    "http://aloi.science.uva.nl/tars/aloi_red4_view.tar",
                    ("md5:ca29f342bb0c1fa4788e9f76f591ec59",)),),
        args={"template": "{label}/{item}", "extensions": ("png",),
              "split_files": {"aloi_red4_ill.tar": splits.TEST, "aloi_red4_col.tar": splits.TRAIN,
                              "aloi_red4_view.tar": splits.TRAIN}}),),
    splits=splits.TRAIN_TEST,
    paper_size=71494,
    num_classes=1000,
    channels=3,
    class_names=tuple(str(number) for number in range(1, 1001)),
    version="2.0.0",
    homepage="https://aloi.science.uva.nl/",
    notes="Trained on changes of color and view, tested on changes of illumination. The "
          "reference's draw needs the order of the archives, which is not recorded, so it is not "
          "reproduced.",
    citation="""@article{geusebroek2005amsterdam,
  title={The Amsterdam library of object images},
  author={Geusebroek, Jan-Mark and Burghouts, Gertjan J and Smeulders, Arnold W M},
  journal={International Journal of Computer Vision},
  year={2005}
}""")
