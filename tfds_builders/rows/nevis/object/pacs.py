# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: PACS (photo, art painting, cartoon, sketch)."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import hdf5_arrays
from tfds_builders.parsers import shared_classes
from tfds_builders.rows.nevis.shared import domains
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

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

# Google Drive's numbers of the twelve files, in the order of their sums. The reference's list does
# not tell their names.
_PACS_LINKS = tuple(f"https://drive.google.com/uc?id={value}&export=download" for value in (
    "1e2WfiUmpv25FzRHYrA_8rooqEWicwbGA", "1qvJeF3WgfZgBgNBnzJGOLVOMncLgi5uN",
    "10yRj3m8bB_PAiKqOcct1viTGu0DuT5un", "1ID0Y-v0EvKz1VL7XIKfZtb2FOxF89gVQ",
    "1BpaNvaSRXZ09xwnC5TWBv3ktOBj36mp7", "16pF2YwohULpkXV3NNRiBvDy4SBWyhxvz",
    "1gNHdceC8tS1JLcb6sZGaT7w6zwwTkiXp", "14_xcxAYTsURyhBKS2FBNwqQFNGIkDbP7",
    "1e8PvYV1Rbc3uDDKt0iADNNT6fXH95FIC", "1xj-PJhD4xBtPv6EETGImlA0Pju7KdIH0",
    "1li1j1-315EmjXbuqRnMIxiH_u7Kpj81b", "1OQnAweOPYbwhNt9uQ07aVV1GNmkTAcD2"))

ROW = Row(
    "pacs",
    title="PACS (photo, art painting, cartoon, sketch)",
    layouts=(
        Layout(
            hdf5_arrays,
            files=tuple(File(name, None, _PACS_SUMS) for name in _PACS_PARTS),
            args={"parts": _PACS_PARTS, "domains": tuple(_PACS_DOMAINS)},
            links=_PACS_LINKS,
            notes="Twelve files of the publisher's Google Drive folder, to be downloaded "
                  "manually."),
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
    splits=domains.NEW_DOMAIN,
    paper_size=6062,
    num_classes=7,
    class_names=_PACS_CLASSES,
    channels=3,
    version="2.0.0",
    homepage="https://dali-dl.github.io/project_iccv2017.html",
    notes="Tests on sketches. Copies within a domain are left out, as in the reference, whose "
          "draw depends on the order of a folder listing and is not reproduced.",
    citation="""@inproceedings{li2017deeper,
  title={Deeper, broader and artier domain generalization},
  author={Li, Da and Yang, Yongxin and Song, Yi-Zhe and Hospedales, Timothy M.},
  booktitle={IEEE International Conference on Computer Vision},
  year={2017}
}""")
