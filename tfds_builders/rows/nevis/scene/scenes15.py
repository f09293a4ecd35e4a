# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: 15 scene categories."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import class_folders
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "scenes15",
    title="15 scene categories",
    layouts=(Layout(
        class_folders,
        files=(File(
            "scene_categories.zip",
            "https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/data/"
            "scene_categories/scene_categories.zip", ("md5:58828019197b2ad0a7efb472e7a85c2a",)),),
        args={"template": "{label}/{item}.jpg"},
        num_examples={splits.POOL: 4485}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_order=SORTED,
    paper_size=3021,
    num_classes=15,
    class_names=("CALsuburb", "MITcoast", "MITforest", "MIThighway", "MITinsidecity",
                 "MITmountain", "MITopencountry", "MITstreet", "MITtallbuilding", "PARoffice",
                 "bedroom", "industrial", "kitchen", "livingroom", "store"),
    channels=1,
    version="2.0.0",
    homepage="https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/"
             "data/index.html",
    notes="Eight of the classes hold the photographs of scenes8, here in gray.",
    citation="""@inproceedings{lazebnik2006beyond,
  title={Beyond bags of features: Spatial pyramid matching for recognizing natural scene
         categories},
  author={Lazebnik, Svetlana and Schmid, Cordelia and Ponce, Jean},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2006}
}""")
