# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: ImageNet (ILSVRC 2012)."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "imagenet2012",
    title="ImageNet (ILSVRC 2012)",
    layouts=(),
    tfds=TfdsSet(("imagenet2012:5.*.*",), {"train": splits.TRAIN, "validation": splits.TEST},
                 key="file_name",
                 manual="ILSVRC2012_img_train.tar and ILSVRC2012_img_val.tar from "
                        "https://image-net.org/download-images (an account is needed), put into "
                        "DATA_DIR/downloads/manual"),
    splits={splits.TRAIN: {splits.TRAIN: 0.90, splits.DEV: 0.05, splits.VALIDATION: 0.05},
            splits.TEST: splits.whole(splits.TEST)},
    paper={splits.TRAIN: paper_draws.slices({"train": 0.90, "dev": 0.05, "dev_test": 0.05}),
           splits.TEST: paper_draws.whole("test")},
    paper_size=1281167,
    num_classes=1000,
    channels=3,
    license="non-commercial research",
    version="2.0.0",
    homepage="https://image-net.org/",
    citation="""@article{russakovsky2015imagenet,
  title={ImageNet large scale visual recognition challenge},
  author={Russakovsky, Olga and Deng, Jia and others},
  journal={International Journal of Computer Vision},
  year={2015}
}""")
