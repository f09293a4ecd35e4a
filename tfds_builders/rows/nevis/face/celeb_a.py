# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: CelebA attributes."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

_CELEB_A = (
    "5_o_Clock_Shadow", "Arched_Eyebrows", "Attractive", "Bags_Under_Eyes", "Bald", "Bangs",
    "Big_Lips", "Big_Nose", "Black_Hair", "Blond_Hair", "Blurry", "Brown_Hair",
    "Bushy_Eyebrows", "Chubby", "Double_Chin", "Eyeglasses", "Goatee", "Gray_Hair",
    "Heavy_Makeup", "High_Cheekbones", "Male", "Mouth_Slightly_Open", "Mustache", "Narrow_Eyes",
    "No_Beard", "Oval_Face", "Pale_Skin", "Pointy_Nose", "Receding_Hairline", "Rosy_Cheeks",
    "Sideburns", "Smiling", "Straight_Hair", "Wavy_Hair", "Wearing_Earrings", "Wearing_Hat",
    "Wearing_Lipstick", "Wearing_Necklace", "Wearing_Necktie", "Young")

ROW = Row(
    "celeb_a",
    title="CelebA attributes",
    layouts=(),
    tfds=TfdsSet(("celeb_a:2.*.*",), tfds_splits.OFFICIAL,
                 label="attributes"),
    splits=splits.OFFICIAL,
    paper=paper_rules.SLICED_OFFICIAL,
    paper_size=162770,
    num_classes=40,
    channels=3,
    kind=MULTI_LABEL,
    class_names=_CELEB_A,
    version="2.0.0",
    homepage="http://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
    notes="Single-label in the paper's table, multi-label in its code and score: multi-label here.",
    citation="""@inproceedings{liu2015faceattributes,
  title={Deep learning face attributes in the wild},
  author={Liu, Ziwei and Luo, Ping and Wang, Xiaogang and Tang, Xiaoou},
  booktitle={ICCV},
  year={2015}
}""")
