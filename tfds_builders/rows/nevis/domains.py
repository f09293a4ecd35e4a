# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: tasks that test on another domain than they train on."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import hdf5_arrays
from tfds_builders.parsers import shared_classes
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

# The domain that is tested on is halved; the others are trained on.
_NEW_DOMAIN = {splits.TRAIN: {splits.TRAIN: 1.0},
               splits.TEST: {splits.VALIDATION: 0.5, splits.TEST: 0.5}}

_OFFICE_CLASSES = {
    "back_pack": "backpack", "bike": "touring-bike", "calculator": "calculator",
    "headphones": "headphones", "keyboard": "keyboard", "laptop_computer": "laptop",
    "monitor": "monitor", "mouse": "mouse", "mug": "mug", "projector": "projector"}
_CALTECH_CLASSES = {
    "003.backpack": "backpack", "224.touring-bike": "touring-bike", "027.calculator": "calculator",
    "101.head-phones": "headphones", "045.computer-keyboard": "keyboard",
    "127.laptop-101": "laptop", "046.computer-monitor": "monitor", "047.computer-mouse": "mouse",
    "041.coffee-mug": "mug", "238.video-projector": "projector"}

OFFICE_CALTECH_10 = Row(
    "office_caltech_10",
    title="Office-Caltech-10",
    layouts=(Layout(
        shared_classes,
        files=(
            File("domain_adaptation_images.tar.gz",
                 "https://drive.google.com/uc?id=0B4IapRTv9pJ1WGZVd1VDMmhwdlE&export=download"
                 "&confirm=y",
                 ("md5:1b536d114869a5a8aa4580b89e9758fb",)),
            File("256_ObjectCategories.tar",
                 "https://data.caltech.edu/records/nyy15-4j048/files/256_ObjectCategories.tar",
                 ("md5:67b4f42ca05d46448c6bb8ecd2220f6d",))),
        args={"parts": {
            "domain_adaptation_images.tar.gz": {
                "template": "{domain}/images/{label}/{item}", "classes": _OFFICE_CLASSES,
                "domains": dict.fromkeys(("amazon", "dslr", "webcam"), splits.TRAIN)},
            "256_ObjectCategories.tar": {
                "template": "{domain}/{label}/{item}", "classes": _CALTECH_CLASSES,
                "domains": {"256_ObjectCategories": splits.TEST}}}},
        num_examples={splits.TRAIN: 1410, splits.TEST: 1123}),),
    splits=_NEW_DOMAIN,
    paper={splits.TRAIN: paper_draws.TRAIN_DEV, splits.TEST: paper_draws.HALVES},
    paper_size=1410,
    num_classes=10,
    class_names=tuple(_OFFICE_CLASSES.values()),
    channels=3,
    homepage="https://faculty.cc.gatech.edu/~judy/domainadapt/",
    notes="Trains on Office-31 (Amazon, DSLR and webcam) and tests on Caltech-256.",
    citation="""@inproceedings{gong2012geodesic,
  title={Geodesic flow kernel for unsupervised domain adaptation},
  author={Gong, Boqing and Shi, Yuan and Sha, Fei and Grauman, Kristen},
  booktitle={IEEE Conference on Computer Vision and Pattern Recognition},
  year={2012}
}""")

_PACS_CLASSES = ("dog", "elephant", "giraffe", "guitar", "horse", "house", "person")
_PACS_DOMAINS = {"photo": splits.TRAIN, "art_painting": splits.TRAIN, "cartoon": splits.TRAIN,
                 "sketch": splits.TEST}
_PACS_PARTS = {f"{domain}_{part}.hdf5": split for domain, split in _PACS_DOMAINS.items()
               for part in ("train", "val", "test")}
# It is not recorded which sum is whose.
_PACS_SUMS = tuple(f"md5:{value}" for value in (
    "7cd392ecb9e0ab0f0e8be9d8fc5ed5a2", "d5df8be042fd2525efeb29cfb2252026",
    "a91c0ee93df8278028ff49072317e24a", "e9205c7d19484ea8b5082abe1560dad3",
    "988c767ea2e542268be87044e3da60f5", "e1c23f2990c290b38a07c970750b6226",
    "4578bcf9207ffa2ad9608976e8f4cf37", "d2d58d2df269ffa2f79d68f5942e4109",
    "77fb7329500a70150d1b4637652720b9", "52c846632c2b903536c097e6ccd91c39",
    "44293bc45b2a41fba17cf163c8a01c0a", "9ea4965e0c61ad295437be4b6cf10681"))

PACS = Row(
    "pacs",
    title="PACS (photo, art painting, cartoon, sketch)",
    layouts=(
        Layout(
            hdf5_arrays,
            files=tuple(File(name, None, _PACS_SUMS) for name in _PACS_PARTS),
            args={"parts": _PACS_PARTS, "domains": tuple(_PACS_DOMAINS)},
            notes="Twelve files of the publisher's Google Drive folder, to be fetched by hand."),
        Layout(
            shared_classes,
            files=(File("PACS.zip"),),
            args={"parts": {"PACS.zip": {
                "template": "{domain}/{label}/{item}", "domains": _PACS_DOMAINS,
                "classes": {name: name for name in _PACS_CLASSES}}}},
            num_examples={splits.TRAIN: 6062, splits.TEST: 3929},
            notes="The folders kfold/DOMAIN/CLASS of image files, packed in one archive. Examples "
                  "have other keys than in the first layout, and images may be encoded otherwise, "
                  "so that the sketches are divided into validation and test in another way.")),
    splits=_NEW_DOMAIN,
    paper_size=6062,
    num_classes=7,
    class_names=_PACS_CLASSES,
    channels=3,
    homepage="https://dali-dl.github.io/project_iccv2017.html",
    notes="Tests on sketches. Copies within a domain are left out, as in the reference, whose draw "
          "goes by the order in which a folder happens to be listed and is not reproduced.",
    citation="""@inproceedings{li2017deeper,
  title={Deeper, broader and artier domain generalization},
  author={Li, Da and Yang, Yongxin and Song, Yi-Zhe and Hospedales, Timothy M.},
  booktitle={IEEE International Conference on Computer Vision},
  year={2017}
}""")

ROWS = (OFFICE_CALTECH_10, PACS)
