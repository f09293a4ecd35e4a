# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: objects, animals, signs and lungs."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_TEST_BUTTERFLIES = {
    "admiral": (6, 9, 14, 41, 53, 55, 66, 86, 92, 103),
    "black_swallowtail": (2, 4, 15, 22, 25, 27, 28, 31, 35, 41),
    "machaon": (12, 14, 20, 24, 25, 29, 52, 53, 82, 83),
    "monarch_closed": (9, 23, 27, 28, 29, 36, 44, 58, 67, 72),
    "monarch_open": (8, 15, 21, 34, 35, 46, 58, 76, 78, 83),
    "peacock": (1, 20, 22, 52, 59, 86, 96, 124, 126, 131),
    "zebra": (6, 18, 21, 26, 31, 43, 57, 75, 78, 90),
}

_FINDINGS = ("COVID", "Lung_Opacity", "Normal", "Viral Pneumonia")

ALOI = Row(
    "aloi",
    title="Amsterdam library of object images",
    layouts=(Layout(
        image_names,
        files=(File("aloi_red4_ill.tar",
                    "http://aloi.science.uva.nl/tars/aloi_red4_ill.tar",
                    ("md5:0f72c3acf66908e61b6f8d5bf5981193",)),
               File("aloi_red4_col.tar",
                    "http://aloi.science.uva.nl/tars/aloi_red4_col.tar",
                    ("md5:c0486588258de8a26df4ed7aff0b34f8",)),
               File("aloi_red4_view.tar",
                    "http://aloi.science.uva.nl/tars/aloi_red4_view.tar",
                    ("md5:ca29f342bb0c1fa4788e9f76f591ec59",)),),
        args={"template": "{label}/{item}", "extensions": ("png",),
              "split_files": {"aloi_red4_ill.tar": splits.TEST, "aloi_red4_col.tar": splits.TRAIN,
                              "aloi_red4_view.tar": splits.TRAIN}}),),
    splits=splits.TRAIN_TEST,
    paper_size=71494,
    num_classes=1000,
    channels=3,
    class_names=tuple(str(number) for number in range(1, 1001)),
    homepage="https://aloi.science.uva.nl/",
    notes="Trained on changes of colour and view, tested on changes of illumination. The "
          "reference's draw needs the order of the archives, which nobody recorded; it is not"
          " reproduced.",
    citation="""@article{geusebroek2005amsterdam,
  title={The Amsterdam library of object images},
  author={Geusebroek, Jan-Mark and Burghouts, Gertjan J and Smeulders, Arnold W M},
  journal={International Journal of Computer Vision},
  year={2005}
}""")

ANIMAL = Row(
    "animal",
    title="Animal silhouettes",
    layouts=(Layout(
        image_names,
        files=(File("non_rigid_shape_A.zip",
                    "http://xiang.bai.googlepages.com/non_rigid_shape_A.zip",
                    ("md5:d88d44dc6d2382de3a5857d86fb5d430",)),
               File("non_rigid_shape_B.zip",
                    "http://xiang.bai.googlepages.com/non_rigid_shape_B.zip",
                    ("md5:dae4a05b9797a3109078d1553173b9a8",)),),
        args={"template": "{label}/{item}", "extensions": ("tif", "gif", "png", "jpg", "bmp")}),),
    splits=splits.POOLED,
    paper_size=1346,
    num_classes=20,
    channels=1,
    homepage="https://sites.google.com/site/xiangbai/animaldataset",
    notes="Class ids of the reference follow the order of a Python set and move from run to "
          "run; here they follow the names. The reference's draw depends on how the system "
          "lists a folder, and is not reproduced.",
    citation="""@inproceedings{bai2009integrating,
  title={Integrating contour and skeleton for shape classification},
  author={Bai, Xiang and Liu, Wenyu and Tu, Zhuowen},
  booktitle={ICCV Workshops},
  year={2009}
}""")

ANIMAL_WEB = Row(
    "animal_web",
    title="AnimalWeb",
    layouts=(Layout(
        image_names,
        files=(File("animal_dataset_v1_c.rar",
                    "https://drive.google.com/uc?export=download&id=13PbHxUofhdJLZzql3TyqL2"
                   "2bQJ3HwDK4&confirm=y",
                    ("md5:d2d7e0a584ee4bd9badc74a9f2ef3b82",)),),
        args={"template": "{label}_{item}", "extensions": ("jpg", "jpeg"),
              "fields": {"label": "[^_/]+"}, "others": True}),
             Layout(
        image_names,
        files=(File("animal_web.tar.gz"),),
        args={"template": "{label}_{item}", "extensions": ("jpg", "jpeg"),
              "fields": {"label": "[^_/]+"}, "others": True},
        notes="The same files, packed again."),),
    splits=splits.POOLED,
    paper_size=12909,
    num_classes=352,
    channels=3,
    homepage="https://fdmaproject.wordpress.com/author/fdmaproject/",
    notes="The label is what stands before the first underscore of a name; among the 352 are "
          "odd ones such as animal, uc, colo and monte. Reading the RAR archive needs bsdtar,"
          " unrar or 7z; the same files packed as animal_web.tar.gz are read without. The "
          "reference removes copies before it draws, in the order in which the system lists a"
          " folder; its draw is not reproduced.",
    citation="""@inproceedings{khan2020animalweb,
  title={AnimalWeb: a large-scale hierarchical dataset of annotated animal faces},
  author={Khan, Muhammad Haris and McDonagh, John and Khan, Salman and others},
  booktitle={CVPR},
  year={2020}
}""")

BELGIUM_TSC = Row(
    "belgium_tsc",
    title="Belgian traffic signs",
    layouts=(Layout(
        image_names,
        files=(File("BelgiumTSC_Training.zip",
                    "http://www.vision.ee.ethz.ch/~timofter/BelgiumTSC/BelgiumTSC_Training.zip",
                    ("md5:c727ca9d00e3964ca676286a1808ccee",)),
               File("BelgiumTSC_Testing.zip",
                    "http://www.vision.ee.ethz.ch/~timofter/BelgiumTSC/BelgiumTSC_Testing.zip",
                    ("md5:d208de4566388791c0028da8d6a545cc",)),),
        args={"template": "{label}/{item}", "extensions": ("ppm",),
              "fields": {"label": r"\d{5}"},
              "split_files": {"BelgiumTSC_Training.zip": splits.TRAIN,
                              "BelgiumTSC_Testing.zip": splits.TEST}}),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_order=SORTED,
    paper_size=3887,
    num_classes=62,
    channels=3,
    class_names=tuple(f"{number:05d}" for number in range(62)),
    homepage="https://btsd.ethz.ch/shareddata/",
    notes="Classes are the five-digit folders.",
    citation="""@article{timofte2014multi,
  title={Multi-view traffic sign detection, recognition, and 3D localisation},
  author={Timofte, Radu and Zimmermann, Karel and Van Gool, Luc},
  journal={Machine Vision and Applications},
  year={2014}
}""")

BUTTERFLIES = Row(
    "butterflies",
    title="Butterflies",
    layouts=(Layout(
        image_names,
        files=(File("butterflies.zip",
                    "https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/"
                   "ponce_grp/data/butterflies/butterflies.zip",
                    ("md5:cc9bfe5e22f9001262b785ff33221581",)),),
        args={"template": "{label}/{prefix}{number}", "extensions": ("jpg",),
              "fields": {"label": "|".join(_TEST_BUTTERFLIES), "prefix": "[A-Za-z_]*",
                         "number": r"\d+"},
              "test_numbers": _TEST_BUTTERFLIES}),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_size=460,
    num_classes=7,
    channels=3,
    class_names=tuple(_TEST_BUTTERFLIES),
    homepage="https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/data/",
    notes="Ten listed images of each class are the test split. Class ids of the reference "
          "follow the order of a Python set; here they follow the names.",
    citation="""@inproceedings{lazebnik2004semi,
  title={Semi-local affine parts for object recognition},
  author={Lazebnik, Svetlana and Schmid, Cordelia and Ponce, Jean},
  booktitle={BMVC},
  year={2004}
}""")

CALTECH256 = Row(
    "caltech256",
    title="Caltech 256",
    layouts=(Layout(
        image_names,
        files=(File("256_ObjectCategories.tar",
                    "https://drive.google.com/u/0/uc?id=1r6o0pSROcV1_VwT4oSjA2FBUSCWGuxLK&e"
                   "xport=download&confirm=y",
                    ("md5:67b4f42ca05d46448c6bb8ecd2220f6d",)),),
        args={"template": "{label}/{item}", "extensions": ("jpg", "jpeg"),
              "fields": {"label": r"\d{3}\.[^/]+"}, "others": True}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=20696,
    num_classes=257,
    channels=3,
    homepage="https://data.caltech.edu/records/nyy15-4j048",
    notes="256 objects and clutter.",
    citation="""@techreport{griffin2007caltech,
  title={Caltech-256 object category dataset},
  author={Griffin, Gregory and Holub, Alex and Perona, Pietro},
  institution={California Institute of Technology},
  year={2007}
}""")

COIL20 = Row(
    "coil20",
    title="COIL-20, processed",
    layouts=(Layout(
        image_names,
        files=(File("coil-20-proc.zip",
                    "http://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/coil-2"
                   "0/coil-20-proc.zip",
                    ("md5:464dec76a6abfcd00e8de6cf1e7d0acc",)),),
        args={"template": "obj{label}__{item}", "extensions": ("png",)},
        num_examples={splits.POOL: 1440}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_order=SORTED,
    paper_size=973,
    num_classes=20,
    channels=3,
    class_names=tuple(str(number) for number in range(1, 21)),
    homepage="http://www.cs.columbia.edu/CAVE/software/softlib/coil-20.php",
    notes="Views of one object, five degrees apart, fall into all splits, as in the "
          "reference.",
    citation="""@techreport{nene1996coil20,
  title={Columbia object image library (COIL-20)},
  author={Nene, Sameer A and Nayar, Shree K and Murase, Hiroshi},
  institution={Columbia University},
  year={1996}
}""")

COVID = Row(
    "covid_19_xray",
    title="COVID-19 chest X-rays",
    layouts=(Layout(
        image_names,
        files=(File("covid19-radiography-database.zip",
                    "kaggle:tawsifurrahman/covid19-radiography-database",
                    ("md5:1888824db56de7f47b886a536961b763",)),),
        args={"template": "{label}/{item}", "extensions": ("png",),
              "labels": {name: name for name in _FINDINGS}, "others": True}),),
    splits=splits.POOLED,
    paper_size=14281,
    num_classes=4,
    channels=1,
    class_names=_FINDINGS,
    homepage="https://www.kaggle.com/datasets/tawsifurrahman/covid19-radiography-database",
    notes="Newer editions hold the images in a subfolder, with masks beside them: they are "
          "another layout. Kaggle packs its archive again when it changes, and the sum "
          "changes with it. The reference removes copies before it draws; its draw is not "
          "reproduced.",
    citation="""@article{chowdhury2020can,
  title={Can AI help in screening viral and COVID-19 pneumonia?},
  author={Chowdhury, Muhammad E H and Rahman, Tawsifur and Khandakar, Amith and others},
  journal={IEEE Access},
  year={2020}
}""")

ROWS = (ALOI, ANIMAL, ANIMAL_WEB, BELGIUM_TSC, BUTTERFLIES, CALTECH256, COIL20, COVID)
