# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: DomainNet, real."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "domainnet",
    title="DomainNet, real",
    layouts=(),
    tfds=TfdsSet(("domainnet/real:1.*.*",), tfds_splits.TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper_size=102770,
    num_classes=345,
    channels=3,
    version="2.0.0",
    homepage="http://ai.bu.edu/M3SDA/",
    compat=Compat(
        tfds=TfdsSet(
            tuple(f"domainnet/{domain}:1.*.*" for domain in (
                "real", "painting", "clipart", "quickdraw", "infograph", "sketch")),
            {"train": splits.TRAIN, "test": splits.DEV},
            sources={"domainnet/sketch": {splits.TRAIN: splits.VALIDATION,
                                          splits.DEV: splits.TEST}}),
        splits=splits.GIVEN,
        paper={splits.TRAIN: paper_draws.whole("train"), splits.DEV: paper_draws.whole("dev"),
               splits.VALIDATION: paper_draws.whole("dev_test"),
               splits.TEST: paper_draws.whole("test")},
        notes="What the code of the reference does: it trains on real, painting, clipart, "
              "quickdraw and infograph, and tests on sketch."),
    notes="The domain that the paper names is real (DomainNet-Real), whose size it gives; the code "
          "of the reference goes from five domains to sketch.",
    citation="""@inproceedings{peng2019moment,
  title={Moment matching for multi-source domain adaptation},
  author={Peng, Xingchao and Bai, Qinxun and Xia, Xide and Huang, Zijun and Saenko, Kate and
    Wang, Bo},
  booktitle={ICCV},
  year={2019}
}""")
