# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Office-Caltech-10."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import shared_classes
from tfds_builders.rows.nevis.object import caltech256
from tfds_builders.rows.nevis.shared import domains
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_OFFICE_CLASSES = {
    "back_pack": "backpack", "bike": "touring-bike", "calculator": "calculator",
    "headphones": "headphones", "keyboard": "keyboard", "laptop_computer": "laptop",
    "monitor": "monitor", "mouse": "mouse", "mug": "mug", "projector": "projector"}

_CALTECH_CLASSES = {
    "003.backpack": "backpack", "224.touring-bike": "touring-bike", "027.calculator": "calculator",
    "101.head-phones": "headphones", "045.computer-keyboard": "keyboard",
    "127.laptop-101": "laptop", "046.computer-monitor": "monitor", "047.computer-mouse": "mouse",
    "041.coffee-mug": "mug", "238.video-projector": "projector"}

ROW = Row(
    "office_caltech_10",
    title="Office-Caltech-10",
    layouts=(Layout(
        shared_classes,
        files=(
            File("domain_adaptation_images.tar.gz",
                 "https://drive.google.com/uc?id=0B4IapRTv9pJ1WGZVd1VDMmhwdlE&export=download"
                 "&confirm=y",
                 ("md5:1b536d114869a5a8aa4580b89e9758fb",)),
            *caltech256.ROW.layouts[0].files),
        args={"parts": {
            "domain_adaptation_images.tar.gz": {
                "template": "{domain}/images/{label}/{item}", "classes": _OFFICE_CLASSES,
                "domains": dict.fromkeys(("amazon", "dslr", "webcam"), splits.TRAIN)},
            "256_ObjectCategories.tar": {
                "template": "{domain}/{label}/{item}", "classes": _CALTECH_CLASSES,
                "domains": {"256_ObjectCategories": splits.TEST}}}},
        num_examples={splits.TRAIN: 1410, splits.TEST: 1123}),),
    splits=domains.NEW_DOMAIN,
    paper={splits.TRAIN: paper_draws.TRAIN_DEV, splits.TEST: paper_draws.HALVES},
    paper_size=1410,
    num_classes=10,
    class_names=tuple(_OFFICE_CLASSES.values()),
    channels=3,
    version="2.0.0",
    homepage="https://faculty.cc.gatech.edu/~judy/domainadapt/",
    notes="Trains on Office-31 (Amazon, DSLR and webcam) and tests on Caltech-256.",
    citation="""@inproceedings{gong2012geodesic,
  title={Geodesic flow kernel for unsupervised domain adaptation},
  author={Gong, Boqing and Shi, Yuan and Sha, Fei and Grauman, Kristen},
  booktitle={IEEE Conference on Computer Vision and Pattern Recognition},
  year={2012}
}""")
