# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: MIT indoor scenes."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import listed_images
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_INDOOR_ARGS = {
    "lists": {"TrainImages.txt": splits.TRAIN, "TestImages.txt": splits.TEST},
    "line": "{label}/{item}.jpg", "image": "Images/{label}/{item}.jpg", "unlisted": True}

ROW = Row(
    "mit_scenes",
    title="MIT indoor scenes",
    layouts=(
        Layout(
            listed_images,
            files=(File("indoor-scenes-cvpr-2019.zip", "kaggle:itsahmad/indoor-scenes-cvpr-2019",
                        ("md5:b5a8ee875edc974ab49f4cad3b8607da",)),),
            args=_INDOOR_ARGS,
            num_examples={splits.TRAIN: 5360, splits.TEST: 1340},
            notes=notes.KAGGLE_REPACKED),
        Layout(
            listed_images,
            files=(File("indoorCVPR_09.tar",
                        "http://groups.csail.mit.edu/vision/LabelMe/NewImages/indoorCVPR_09.tar"),
                   File("TrainImages.txt", "http://web.mit.edu/torralba/www/TrainImages.txt"),
                   File("TestImages.txt", "http://web.mit.edu/torralba/www/TestImages.txt")),
            args=_INDOOR_ARGS,
            num_examples={splits.TRAIN: 5360, splits.TEST: 1340},
            notes="The publisher's own files; their sums are not known, so they are used with a "
                  "warning.")),
    splits=splits.TRAIN_TEST,
    paper_size=4554,
    num_classes=67,
    channels=3,
    version="2.0.0",
    homepage="http://web.mit.edu/torralba/www/indoor.html",
    notes="Only the 6,700 images of the published lists are used, of 15,620. The reference draws "
          "its splits in the order of the lists, which is not reproduced.",
    citation="""@inproceedings{quattoni2009recognizing,
  title={Recognizing indoor scenes},
  author={Quattoni, Ariadna and Torralba, Antonio},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2009}
}""")
