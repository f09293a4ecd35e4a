# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: MS COCO, single objects."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import coco_boxes
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_COCO = "http://images.cocodataset.org"

ROW = Row(
    "coco_single_label",
    title="MS COCO, single objects",
    layouts=(Layout(
        coco_boxes,
        files=(File("train2017.zip", f"{_COCO}/zips/train2017.zip",
                    ("md5:cced6f7f71b7629ddf16f17bbcfab6b2",), size=19336861798),
               File("val2017.zip", f"{_COCO}/zips/val2017.zip",
                    ("md5:442b8da7639aecaf257c1dceb8ba8c80",), size=815585330),
               File("annotations_trainval2017.zip",
                    f"{_COCO}/annotations/annotations_trainval2017.zip",
                    ("md5:f4bbac642086de4f52a3fdda2de5fa2c",), size=252907541)),
        args={"photos": {"train2017.zip": ("instances_train2017.json", splits.TRAIN),
                         "val2017.zip": ("instances_val2017.json", splits.TEST)},
              "min_side": 16}),),
    splits=splits.TRAIN_TEST,
    paper_size=82783,
    num_classes=90,
    channels=3,
    version="2.0.0",
    homepage="https://cocodataset.org",
    license="annotations CC BY 4.0; images under Flickr's terms",
    notes="A crop for each annotated object, with sides rounded to whole pixels; boxes "
          "with a side below 16 are left out, as in the reference, and boxes around crowds, "
          "which it keeps. 80 of the 90 labels are used. Crops of one photograph are in one "
          "split; the reference's (and those of the compat variant) can be in several.",
    paper_order=SORTED,
    compat=Compat("Crops of one photograph fall into different splits; boxes around crowds count. "
                  "Drawn in the order of the annotations, as in the reference; the paper's size is "
                  "that of another edition.",
                  args={"crowds": True, "by_photo": False, "numbered": True},
                  paper=paper_rules.TRAIN_TEST),
    citation="""@inproceedings{lin2014microsoft,
  title={{Microsoft COCO}: Common objects in context},
  author={Lin, Tsung-Yi and Maire, Michael and Belongie, Serge and others},
  booktitle={European Conference on Computer Vision},
  year={2014}
}""")
