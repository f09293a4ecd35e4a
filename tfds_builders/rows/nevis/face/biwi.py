# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Biwi Kinect head poses."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import head_poses
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_BIWI_SUBJECTS = {"train": (5, 6, *range(11, 25)), "dev": (2, 7), "dev_test": (3, 9),
                  "test": (1, 4, 8, 10)}

ROW = Row(
    "biwi",
    title="Biwi Kinect head poses",
    layouts=(Layout(
        head_poses,
        files=(File("biwi-kinect-head-pose-database.zip",
                    "kaggle:kmader/biwi-kinect-head-pose-database",
                    ("md5:59d49d96e5719f248f6d66f8ff205569",)),),
        args={"num_bins": 5, "subjects": _BIWI_SUBJECTS, "bins_from": ("train", "dev")},
        notes=notes.KAGGLE_REPACKED),),
    splits={part: splits.whole(split) for part, split in paper_draws.SPLITS.items()},
    paper={part: paper_draws.whole(part) for part in paper_draws.SPLITS},
    paper_size=11325,
    kind=MULTI_LABEL,
    num_classes=15,
    channels=3,
    version="2.0.0",
    homepage="https://www.kaggle.com/datasets/kmader/biwi-kinect-head-pose-database",
    license="research use",
    notes="Three angles with five bins each; exactly one bin an angle. The angles are the "
          "reference's, whose names for them do not fit this camera. Bins hold equally many frames "
          "of the subjects of train and dev; in the reference of all, test subjects included. "
          "Subjects of a split are those of the reference.",
    compat=Compat("Bins end where those of the reference do: at quantiles of all frames, test "
                  "subjects included. (Its stored labels are off by one at the upper edge and put "
                  "right when they are read; here they are right from the beginning.)",
                  args={"bins_from": tuple(_BIWI_SUBJECTS)}),
    citation="""@article{fanelli2013random,
  title={Random forests for real time {3D} face analysis},
  author={Fanelli, Gabriele and Dantone, Matthias and Gall, Juergen and others},
  journal={International Journal of Computer Vision},
  volume={101},
  year={2013}
}""")
