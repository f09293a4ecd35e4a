# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: chest X-rays in class folders."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import class_folders
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_REPACKED = "Kaggle packs it again when it changes, and the sum changes with it."

PNEUMONIA_CHEST_XRAY = Row(
    "pneumonia_chest_xray",
    title="Pneumonia in chest X-rays",
    layouts=(Layout(
        class_folders,
        files=(File("chest-xray-pneumonia.zip", "kaggle:paultimothymooney/chest-xray-pneumonia",
                    ("md5:930763e3580e76de9c2c849ec933b5d6",)),),
        args={"template": "chest_xray/chest_xray/{split}/{label}/{item}.jpeg",
              "split_folders": {"train": splits.TRAIN, "val": splits.VALIDATION,
                                "test": splits.TEST},
              # The archive holds everything twice.
              "ignore": "chest_xray/(train|val|test)/.*"},
        num_examples={splits.TRAIN: 5216, splits.VALIDATION: 16, splits.TEST: 624},
        notes=_REPACKED),),
    splits={name: {name: 1.0} for name in splits.NAMES},
    paper_size=5216,
    num_classes=2,
    class_names=("NORMAL", "PNEUMONIA"),
    channels=1,
    homepage="https://www.kaggle.com/datasets/paultimothymooney/chest-xray-pneumonia",
    licence="CC BY 4.0",
    notes="The published splits: `validation` has only 16 images, too few to choose by. The "
          "reference also divides train into train and dev (.80, .20); that draw is not "
          "reproduced.",
    citation="""@article{kermany2018identifying,
  title={Identifying medical diagnoses and treatable diseases by image-based deep learning},
  author={Kermany, Daniel S and Goldbaum, Michael and Cai, Wenjia and others},
  journal={Cell},
  volume={172},
  number={5},
  pages={1122--1131},
  year={2018}
}""")

TUBERCOLOSIS = Row(
    "tubercolosis",
    title="Tuberculosis in chest X-rays",
    layouts=(Layout(
        class_folders,
        files=(File("tuberculosis-tb-chest-xray-dataset.zip",
                    "kaggle:tawsifurrahman/tuberculosis-tb-chest-xray-dataset",
                    ("md5:3abdda8a1100ff97c9dce7cc2413d941",)),),
        args={"template": "{label}/{item}.png"},
        num_examples={splits.POOL: 4200},
        notes=_REPACKED),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_order=SORTED,
    paper_size=2809,
    num_classes=2,
    class_names=("Normal", "Tuberculosis"),
    channels=3,
    homepage="https://www.kaggle.com/datasets/tawsifurrahman/tuberculosis-tb-chest-xray-dataset",
    notes="The name is misspelt in the paper and in the reference, and kept. The images of the two "
          "classes come from different collections, which may be told apart by more than the "
          "disease.",
    citation="""@article{rahman2020reliable,
  title={Reliable tuberculosis detection using chest X-ray with deep learning, segmentation and
         visualization},
  author={Rahman, Tawsifur and Khandakar, Amith and Kadir, Muhammad Abdul and others},
  journal={IEEE Access},
  volume={8},
  pages={191586--191601},
  year={2020}
}""")

_SYNTHETIC_URL = ("https://github.com/hasibzunair/synthetic-covid-cxr-dataset/releases/download/"
                  "v0.1/")

SYNTHETIC_COVID19_XRAY = Row(
    "synthetic_covid19_xray",
    title="Synthetic COVID-19 chest X-rays",
    layouts=(Layout(
        image_names,
        files=(File("G_NC.zip", _SYNTHETIC_URL + "G_NC.zip",
                    ("md5:bd82149d00283fca892bc41e997a3070",)),
               File("G_PC.zip", _SYNTHETIC_URL + "G_PC.zip",
                    ("md5:acf56668f97be81fd8c05c4308f80c61",))),
        args={"template": "{label}/{item}", "extensions": ("png", "jpg", "jpeg"),
              "labels": {"G1": "Normal", "G2": "Pneumonia"}},
        num_examples={splits.POOL: 21295}),),
    splits=splits.POOLED,
    paper_size=14410,
    num_classes=2,
    class_names=("Normal", "Pneumonia"),
    channels=3,
    homepage="https://github.com/hasibzunair/synthetic-covid-cxr-dataset",
    notes="Images made by a generative network from normal lungs (G_NC.zip) and from lungs with "
          "pneumonia (G_PC.zip). The reference's draw depends on how the system lists a folder, "
          "and is not reproduced.",
    citation="""@article{zunair2021synthesis,
  title={Synthesis of {COVID-19} chest {X}-rays using unpaired image-to-image translation},
  author={Zunair, Hasib and Hamza, A Ben},
  journal={Social Network Analysis and Mining},
  volume={11},
  number={1},
  year={2021}
}""")

ROWS = (PNEUMONIA_CHEST_XRAY, SYNTHETIC_COVID19_XRAY, TUBERCOLOSIS)
