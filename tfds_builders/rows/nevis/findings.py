# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: what is found in a picture: in a mammogram, in its regions, in what people do."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import case_tables
from tfds_builders.parsers import person_boxes
from tfds_builders.parsers import region_labels
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_REPACKED = "Kaggle packs its archive again when it changes, and the sum changes with it."

DDSM = Row(
    "ddsm",
    title="CBIS-DDSM mammograms",
    layouts=(Layout(
        case_tables,
        files=(File("cbis-ddsm-breast-cancer-image-dataset.zip",
                    "kaggle:awsaf49/cbis-ddsm-breast-cancer-image-dataset",
                    ("md5:eba16e95a30193fcbda1d2668d96015f",)),),
        # The order is that of the reference.
        args={"tables": {"calc_case_description_train_set.csv": splits.TRAIN,
                         "mass_case_description_train_set.csv": splits.TRAIN,
                         "calc_case_description_test_set.csv": splits.TEST,
                         "mass_case_description_test_set.csv": splits.TEST},
              "info": "dicom_info.csv", "max_missing": 30},
        notes=_REPACKED),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_size=2075,
    num_classes=3,
    class_names=("BENIGN", "MALIGNANT", "BENIGN_WITHOUT_CALLBACK"),
    channels=1,
    homepage="https://www.kaggle.com/datasets/awsaf49/cbis-ddsm-breast-cancer-image-dataset",
    licence="CC BY 3.0 (the collection at TCIA)",
    notes="Full mammograms of some 5,000 x 3,000 pixels; the official splits of masses and of "
          "calcifications, put together. An image with several abnormalities has the label of "
          "the first, as in the reference. Here images of one patient are not divided between "
          "train and validation; the reference draws image by image. A patient whose masses are "
          "in one official split may have calcifications in the other.",
    citation="""@article{lee2017curated,
  title={A curated mammography data set for use in computer-aided detection and diagnosis research},
  author={Lee, Rebecca Sawyer and Gimenez, Francisco and Hoogi, Assaf and others},
  journal={Scientific Data},
  volume={4},
  year={2017}
}""")

IAPRTC12 = Row(
    "iaprtc12",
    title="IAPR TC-12, labels of regions",
    layouts=(Layout(
        region_labels,
        files=(File("iapr-tc12.zip", "kaggle:nastyatima/iapr-tc12",
                    ("md5:ee251615ac2dbb55eea5a7e5e710740a",)),),
        args={"sets": {"matlab/training.mat": ("training", splits.TRAIN),
                       "matlab/validation.mat": ("validation", splits.VALIDATION),
                       "matlab/testing.mat": ("testing", splits.TEST)},
              "words": "benchmark/wlist.txt", "num_words": 276, "annotations": "saiaprtc12ok",
              "max_missing": 20},
        notes=_REPACKED),),
    splits={name: {name: 1.0} for name in splits.NAMES},
    paper_size=10830,
    num_classes=276,
    channels=3,
    kind=MULTI_LABEL,
    compat=Compat(
        args={"sets": {"matlab/training.mat": ("training", splits.POOL),
                       "matlab/validation.mat": ("validation", splits.POOL)},
              "last_only": True},
        splits=splits.POOLED,
        paper={splits.POOL: paper_draws.POOLED},
        notes="With defects of the reference: an image has the label of its last region only, and "
              "the official training and validation sets are drawn anew, the test set unused."),
    paper_order=SORTED,
    homepage="https://www.imageclef.org/SIAPRdata",
    notes="The labels of all regions of an image, in the official splits of its segmentation "
          "(SAIAPR TC-12). A label is the line of its word in wlist.txt, from 0; some have no "
          "image. The paper has no results for it.",
    citation="""@article{escalante2010segmented,
  title={The segmented and annotated {IAPR TC-12} benchmark},
  author={Escalante, Hugo Jair and Hern{\\'a}ndez, Carlos A and Gonzalez, Jesus A and others},
  journal={Computer Vision and Image Understanding},
  volume={114},
  number={4},
  pages={419--428},
  year={2010}
}""")

_ACTIONS = ("jumping", "phoning", "playinginstrument", "reading", "ridingbike", "ridinghorse",
            "running", "takingphoto", "usingcomputer", "walking", "other")

VOC_ACTIONS = Row(
    "voc_actions",
    title="Pascal VOC 2012, actions",
    layouts=(Layout(
        person_boxes,
        files=(File("VOCtrainval_11-May-2012.tar",
                    "http://pjreddie.com/media/files/VOCtrainval_11-May-2012.tar",
                    ("md5:6cd6e144f989b92b3379bac3b3de84fd",)),),
        args={"name": "trainval", "split": "trainval", "listed": _ACTIONS[:-1],
              "actions": _ACTIONS}),),
    splits={"trainval": splits.POOLED[splits.POOL]},
    paper_size=4234,
    num_classes=11,
    class_names=_ACTIONS,
    channels=3,
    kind=MULTI_LABEL,
    compat=Compat(
        args={"by_photo": False},
        notes="With a defect of the reference: people of one photograph fall into different "
              "splits."),
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/voc2012/",
    notes="A crop of each annotated person of the official training and validation photographs; "
          "the test annotations are not public. People of one photograph stay in one split. The "
          "reference's draw depends on the order of a set of strings, another in every process, "
          "and is not reproduced. Links to the archive are often down; any copy of it will do.",
    citation="""@article{everingham2010pascal,
  title={The Pascal visual object classes (VOC) challenge},
  author={Everingham, Mark and Van Gool, Luc and Williams, Christopher K I and Winn, John and
    Zisserman, Andrew},
  journal={International Journal of Computer Vision},
  year={2010}
}""")

ROWS = (DDSM, IAPRTC12, VOC_ACTIONS)
