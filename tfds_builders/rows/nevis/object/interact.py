# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: INTERACT: what two people do."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import annotated_lines
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_INTERACT = "https://computing.ece.vt.edu/~santol/projects/zsl_via_visual_abstraction/interact"
_PHOTOS, _DRAWN = "interact_stand-alone_dataset", "interact_illustration_category_dataset"

ROW = Row(
    "interact",
    title="INTERACT: what two people do",
    layouts=(Layout(
        annotated_lines,
        files=(File(f"{_PHOTOS}_images.zip", f"{_INTERACT}/{_PHOTOS}/{_PHOTOS}_images.zip",
                    ("md5:93d7a853e0e596e7ef7fecc4808ffdf8",)),
               File(f"{_PHOTOS}_annotations.zip",
                    f"{_INTERACT}/{_PHOTOS}/{_PHOTOS}_annotations.zip",
                    ("md5:aef1de2ad7c596a566cd78414a266f5f",)),
               File(f"{_DRAWN}_images.zip", f"{_INTERACT}/{_DRAWN}/{_DRAWN}_images.zip",
                    ("md5:47c043e360a177c026fa7b7652fdf5b2",)),
               File(f"{_DRAWN}_annotations.zip", f"{_INTERACT}/{_DRAWN}/{_DRAWN}_annotations.zip",
                    ("md5:56dec629f180077eb2a76b3f67c7b02f",))),
        args={"sets": {f"{_PHOTOS}_images.zip": (f"{_PHOTOS}_annotations.zip", "photos"),
                       f"{_DRAWN}_images.zip": (f"{_DRAWN}_annotations.zip", "illustrations")},
              "num_classes": 60}),),
    splits={"photos": splits.POOLED[splits.POOL], "illustrations": splits.whole(splits.TRAIN)},
    paper_size=2090,
    num_classes=60,
    channels=3,
    version="2.0.0",
    homepage="https://computing.ece.vt.edu/~santol/projects/zsl_via_visual_abstraction",
    notes="All illustrations are training images; the reference adds them to its train, and not "
          "to its train and dev together. It shuffles photographs class by class; that draw is "
          "not offered. Three photographs of the archive are truncated and are left out.",
    citation="""@inproceedings{antol2014zero,
  title={Zero-shot learning via visual abstraction},
  author={Antol, Stanislaw and Zitnick, C. Lawrence and Parikh, Devi},
  booktitle={European Conference on Computer Vision},
  year={2014}
}""")
