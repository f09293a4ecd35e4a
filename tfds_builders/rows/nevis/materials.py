# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: materials."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

FMD = Row(
    "flickr_material_database",
    title="Flickr materials",
    layouts=(Layout(
        image_names,
        files=(File("FMD.zip",
                    "http://people.csail.mit.edu/celiu/CVPR2010/FMD/FMD.zip",
                    ("md5:0721ba72cd981aa9599a81bbfaaebd75",)),),
        args={"template": "image/{label}/{item}", "extensions": ("jpg",), "others": True},
        num_examples={splits.POOL: 1000}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_order=SORTED,
    paper_size=676,
    num_classes=10,
    channels=3,
    class_names=("fabric", "foliage", "glass", "leather", "metal", "paper", "plastic", "stone",
                 "water", "wood"),
    homepage="https://people.csail.mit.edu/celiu/CVPR2010/FMD/",
    notes="Masks and files of the authors' programs are not read.",
    citation="""@article{sharan2014flickr,
  title={Accuracy and speed of material categorization in real-world images},
  author={Sharan, Lavanya and Rosenholtz, Ruth and Adelson, Edward H},
  journal={Journal of Vision},
  year={2014}
}""")

KTH_TIPS = Row(
    "kth_tips",
    title="KTH-TIPS materials",
    layouts=(Layout(
        image_names,
        files=(File("kth_tips_col_200x200.tar",
                    "https://www.csc.kth.se/cvap/databases/kth-tips/kth_tips_col_200x200.tar",
                    ("md5:4f92fe540feb4f3c66938291e4516f6c",)),),
        args={"template": "{label}/{item}", "extensions": ("png",)},
        num_examples={splits.POOL: 810}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=554,
    num_classes=10,
    channels=3,
    homepage="https://www.csc.kth.se/cvap/databases/kth-tips/",
    notes="The random crop that the reference declares is never applied there, nor here.",
    citation="""@inproceedings{hayman2004significance,
  title={Class-specific material categorisation},
  author={Caputo, Barbara and Hayman, Eric and Mallikarjuna, P},
  booktitle={ICCV},
  year={2004}
}""")

KTH_TIPS_2A = Row(
    "kth_tips_2a",
    title="KTH-TIPS2-a materials",
    layouts=(Layout(
        image_names,
        files=(File("kth-tips2-a_col_200x200.tar",
                    "https://www.csc.kth.se/cvap/databases/kth-tips/kth-tips2-a_col_200x200.tar",
                    ("md5:911eb17220748fa36e6524aea71db7d7",)),),
        args={"template": "{label}/sample_{sample}/{item}", "extensions": ("png",)}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=3097,
    num_classes=11,
    channels=3,
    homepage="https://www.csc.kth.se/cvap/databases/kth-tips/",
    notes="Images of one sample of a material fall into all splits, as in the reference.",
    citation="""@inproceedings{caputo2005class2a,
  title={Class-specific material categorisation},
  author={Caputo, Barbara and Hayman, Eric and Mallikarjuna, P},
  booktitle={ICCV},
  year={2005}
}""")

KTH_TIPS_2B = Row(
    "kth_tips_2b",
    title="KTH-TIPS2-b materials",
    layouts=(Layout(
        image_names,
        files=(File("kth-tips2-b_col_200x200.tar",
                    "https://www.csc.kth.se/cvap/databases/kth-tips/kth-tips2-b_col_200x200.tar",
                    ("md5:00470a104a57f5a5be22cc8a0f234c4e",)),),
        args={"template": "{label}/sample_{sample}/{item}", "extensions": ("png",)}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=3191,
    num_classes=11,
    channels=3,
    homepage="https://www.csc.kth.se/cvap/databases/kth-tips/",
    notes="Images of one sample of a material fall into all splits, as in the reference.",
    citation="""@inproceedings{caputo2005class2b,
  title={Class-specific material categorisation},
  author={Caputo, Barbara and Hayman, Eric and Mallikarjuna, P},
  booktitle={ICCV},
  year={2005}
}""")

ROWS = (FMD, KTH_TIPS, KTH_TIPS_2A, KTH_TIPS_2B)
