# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: things counted, qualities scored, and tables of pixels and attributes."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import paper_permutations
from tfds_builders import splits
from tfds_builders.parsers import attribute_table
from tfds_builders.parsers import counting
from tfds_builders.parsers import image_quality
from tfds_builders.parsers import labelled_rows
from tfds_builders.parsers import volcanoes
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_UCI_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
_OFFICIAL = {"training": {splits.TRAIN: 1.0}, "validation": {splits.VALIDATION: 1.0},
             "test": {splits.TEST: 1.0}}
_TEST_BINS = ("The reference cuts counts into bins by those of all images; without this, those of "
              "the training images tell the cuts.")

LANDSAT = Row(
    "landsat",
    title="Statlog (Landsat Satellite)",
    layouts=(Layout(
        labelled_rows,
        files=(File("sat.trn", _UCI_URL + "statlog/satimage/sat.trn",
                    ("md5:2c5ba2900da0183cab2c41fdb279fa5b",)),
               File("sat.tst", _UCI_URL + "statlog/satimage/sat.tst",
                    ("md5:02c995991fecc864e809b2c4c42cd983",))),
        args={"parts": {"sat.trn": splits.TRAIN, "sat.tst": splits.TEST}, "height": 3, "width": 3,
              "stored_channels": 4, "channels": 3},
        num_examples={splits.TRAIN: 4435, splits.TEST: 2000}),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_size=3764,
    num_classes=7,
    class_names=("red soil", "cotton crop", "grey soil", "damp grey soil",
                 "soil with vegetation stubble", "mixture class", "very damp grey soil"),
    channels=3,
    licence="CC BY 4.0",
    homepage="https://archive.ics.uci.edu/dataset/146/statlog+landsat+satellite",
    notes="3 x 3 pixels; the first three of four spectral bands are stored as red, green and blue. "
          "No image is of the mixture class.",
    citation="""@misc{srinivasan1993statlog,
  title={Statlog ({Landsat} Satellite)},
  author={Srinivasan, Ashwin},
  howpublished={UCI Machine Learning Repository},
  year={1993},
  doi={10.24432/C55887}
}""")

MAGELLAN_VENUS_VOLCANOES = Row(
    "magellan_venus_volcanoes",
    title="Volcanoes on Venus (Magellan)",
    layouts=(Layout(
        volcanoes,
        files=(File("volcanoes.tar.gz", _UCI_URL + "volcanoes-mld/volcanoes.tar.gz",
                    ("md5:55143a4ec42b626126c9b4ed618f59f8",)),),
        args={"side": 1024},
        num_examples={splits.POOL: 134}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=102,
    num_classes=2,
    class_names=("no volcano", "volcano"),
    channels=1,
    licence="CC BY 4.0",
    homepage="https://archive.ics.uci.edu/dataset/103/volcanoes+on+venus+jartool+experiment",
    notes="Whole images of 1024 x 1024 pixels; of class 1 are those with a volcano that the "
          "experts are sure of (53 of 134).",
    citation="""@article{burl1998learning,
  title={Learning to recognize volcanoes on {Venus}},
  author={Burl, Michael C. and Asker, Lars and Smyth, Padhraic and Fayyad, Usama and Perona, Pietro
    and Crumpler, Larry and Aubele, Jayne},
  journal={Machine Learning},
  volume={30},
  year={1998}
}""")

MALL = Row(
    "mall",
    title="Mall (people counted)",
    layouts=(Layout(
        counting,
        files=(File("mall_dataset.zip",
                    "https://personal.ie.cuhk.edu.hk/~ccloy/files/datasets/mall_dataset.zip",
                    ("md5:48a772b5e55e8e9a66a3c8f98598fc3b",)),),
        args={"image": r"(?:^|/)frames/seq_(\d{6})\.jpg$",
              "counts": {"array": "mall_gt.mat", "variable": "count", "key": "{:06d}"},
              "parts": {"first": (800, splits.TRAIN, splits.TEST)},
              "num_bins": 10, "edges_from": (splits.TRAIN,)},
        num_examples={splits.TRAIN: 800, splits.TEST: 1200}),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_permutations.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_order=SORTED,
    compat=Compat(args={"edges_from": (splits.TRAIN, splits.TEST)}, notes=_TEST_BINS),
    paper_size=680,
    num_classes=10,
    channels=3,
    homepage="https://personal.ie.cuhk.edu.hk/~ccloy/downloads_mall_dataset.html",
    notes="Labels are ten bins of the number of people, about equally frequent in training. The "
          "images are frames of one film: validation frames are drawn among the first 800, as in "
          "the reference, and look like their neighbours.",
    citation="""@inproceedings{chen2012feature,
  title={Feature mining for localised crowd counting},
  author={Chen, Ke and Loy, Chen Change and Gong, Shaogang and Xiang, Tony},
  booktitle={British Machine Vision Conference},
  year={2012}
}""")

PATH_MNIST = Row(
    "path_mnist",
    title="Path MNIST (colorectal histology, 28 x 28)",
    layouts=(Layout(
        labelled_rows,
        files=(File("colorectal-histology-mnist.zip", "kaggle:kmader/colorectal-histology-mnist",
                    ("md5:e03501016bd54719567dfb954fe982fe",)),),
        args={"parts": {"hmnist_28_28_RGB.csv": splits.POOL}, "height": 28, "width": 28,
              "stored_channels": 3, "channels": 3, "separator": ",", "header_lines": 1},
        num_examples={splits.POOL: 5000},
        notes="Kaggle packs its archives again now and then, which changes their sums."),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=3356,
    num_classes=8,
    class_names=("tumor", "stroma", "complex", "lympho", "debris", "mucosa", "adipose", "empty"),
    channels=3,
    licence="CC BY 4.0",
    homepage="https://www.kaggle.com/datasets/kmader/colorectal-histology-mnist",
    notes="Names of the classes are those of the original folders, in their order.",
    citation="""@article{kather2016multi,
  title={Multi-class texture analysis in colorectal cancer histology},
  author={Kather, Jakob Nikolas and Weis, Cleo-Aron and Bianconi, Francesco and others},
  journal={Scientific Reports},
  volume={6},
  year={2016}
}""")

_SHANGHAI = r"^(?!.*shanghaitech_h5_empty)(?:.*/)?(part_[AB])/(train_data|test_data)/"

SHANGHAI_TECH = Row(
    "shanghai_tech",
    title="ShanghaiTech (crowds counted)",
    layouts=(Layout(
        counting,
        files=(File("shanghaitech.zip", "kaggle:tthien/shanghaitech",
                    ("md5:f547d65447063405ea78ab7fa9ae721b",)),),
        args={"image": _SHANGHAI + r"images/(IMG_\d+)\.jpg$",
              "counts": {"points": _SHANGHAI + r"ground[-_]truth/GT_(IMG_\d+)\.mat$"},
              "parts": {"folders": {"train_data": splits.TRAIN, "test_data": splits.TEST}},
              "num_bins": 10, "edges_from": (splits.TRAIN,)},
        num_examples={splits.TRAIN: 700, splits.TEST: 498},
        notes="Kaggle packs its archives again now and then, which changes their sums."),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_permutations.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_order=SORTED,
    compat=Compat(args={"edges_from": (splits.TRAIN, splits.TEST)}, notes=_TEST_BINS),
    paper_size=595,
    num_classes=10,
    channels=3,
    homepage="https://www.kaggle.com/datasets/tthien/shanghaitech",
    notes="Parts A and B in one. Labels are ten bins of the number of heads, about equally "
          "frequent in training. The reference draws in the order of Kaggle's archive, which is "
          "taken to be sorted by name.",
    citation="""@inproceedings{zhang2016single,
  title={Single-image crowd counting via multi-column convolutional neural network},
  author={Zhang, Yingying and Zhou, Desen and Chen, Siqin and Gao, Shenghua and Ma, Yi},
  booktitle={IEEE Conference on Computer Vision and Pattern Recognition},
  year={2016}
}""")

SUN_ATTRIBUTES = Row(
    "sun_attributes",
    title="SUN Attributes",
    layouts=(Layout(
        attribute_table,
        files=(File("SUNAttributeDB_Images.tar.gz",
                    "https://cs.brown.edu/~gmpatter/Attributes/SUNAttributeDB_Images.tar.gz",
                    ("md5:5966725c7306df6e05cd3ada7f45a18b",)),
               File("SUNAttributeDB.tar.gz",
                    "https://cs.brown.edu/~gmpatter/Attributes/SUNAttributeDB.tar.gz",
                    ("md5:883293e5b645822f6ae0046c6df54183",))),
        args={"names": ("images.mat", "images"), "num_attributes": 102, "folder": "images",
              "values": ("attributeLabels_continuous.mat", "labels_cv")},
        num_examples={splits.POOL: 14340}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=9692,
    num_classes=102,
    channels=3,
    kind=MULTI_LABEL,
    homepage="https://cs.brown.edu/~gmpatter/sunattributes.html",
    notes="An attribute is a label where at least one of three annotators saw it, as in the "
          "reference; it is more usual to ask for two.",
    citation="""@article{patterson2014sun,
  title={The {SUN} attribute database: beyond categories for deeper scene understanding},
  author={Patterson, Genevieve and Xu, Chen and Su, Hang and Hays, James},
  journal={International Journal of Computer Vision},
  volume={108},
  year={2014}
}""")

# Both sets distort the same 25 images, which are divided alike: 17, 3 and 5 of them, which is .68,
# .12 and .20.
_MEAN_OPINION = {"num_bins": 5, "scores": "mos_with_names.txt",
                 "held_out": {splits.VALIDATION: (6, 14, 22), splits.TEST: (3, 8, 13, 18, 23)}}
_BY_REFERENCE = {name: {name: 1.0} for name in splits.NAMES}
_TID_NOTES = ("Labels are five bins of the mean score that people gave (0: the worst), equally "
              "frequent in training. Copies of one reference image are in one split, the same in "
              "TID2008 and TID2013. The reference lists a folder in no order that is known, so its "
              "draw is not reproduced.")
_TID_COMPAT = Compat(
    args={"scores": "mssim.txt", "named": False, "held_out": {}}, splits=splits.POOLED,
    notes="The reference learns the bin of a computed metric (MSSIM) in place of people's scores, "
          "cuts the bins with test images, and has copies of each reference image in all splits.")
_TID_REPACKED = "The content of the rar archive, packed again; nothing that unpacks rar is needed."

_TID2008_COUNTS = {splits.TRAIN: 1156, splits.VALIDATION: 204, splits.TEST: 340}
_TID2013_COUNTS = {splits.TRAIN: 2040, splits.VALIDATION: 360, splits.TEST: 600}

TID2008 = Row(
    "tid2008",
    title="TID2008 (image quality)",
    layouts=(
        Layout(image_quality,
               files=(File("tid2008.rar", "https://ponomarenko.info/tid/tid2008.rar",
                           ("md5:732aeec405a57b589aeee4f1c58a4c1b",)),),
               args=_MEAN_OPINION, num_examples=_TID2008_COUNTS),
        Layout(image_quality, files=(File("tid2008.zip"),), args=_MEAN_OPINION,
               num_examples=_TID2008_COUNTS, notes=_TID_REPACKED)),
    splits=_BY_REFERENCE,
    compat=_TID_COMPAT,
    paper_size=1149,
    num_classes=5,
    channels=3,
    homepage="https://ponomarenko.info/tid2008.htm",
    notes=_TID_NOTES,
    citation="""@article{ponomarenko2009tid2008,
  title={{TID2008}: a database for evaluation of full-reference visual quality assessment metrics},
  author={Ponomarenko, Nikolay and Lukin, Vladimir and Zelensky, Alexander and others},
  journal={Advances of Modern Radioelectronics},
  volume={10},
  year={2009}
}""")

TID2013 = Row(
    "tid2013",
    title="TID2013 (image quality)",
    layouts=(
        Layout(image_quality,
               files=(File("tid2013.rar", "https://ponomarenko.info/tid2013/tid2013.rar",
                           ("md5:2c42bec2407adc49cf4d7858daf8f99b",)),),
               args=_MEAN_OPINION, num_examples=_TID2013_COUNTS),
        Layout(image_quality, files=(File("tid2013.zip"),), args=_MEAN_OPINION,
               num_examples=_TID2013_COUNTS, notes=_TID_REPACKED)),
    splits=_BY_REFERENCE,
    compat=_TID_COMPAT,
    paper_size=1973,
    num_classes=5,
    channels=3,
    homepage="https://ponomarenko.info/tid2013.htm",
    notes=_TID_NOTES,
    citation="""@article{ponomarenko2015image,
  title={Image database {TID2013}: peculiarities, results and perspectives},
  author={Ponomarenko, Nikolay and Jin, Lina and Ieremeiev, Oleg and others},
  journal={Signal Processing: Image Communication},
  volume={30},
  year={2015}
}""")

TRANCOS = Row(
    "trancos",
    title="TRANCOS (vehicles counted)",
    layouts=(Layout(
        counting,
        files=(File("TRANCOS_v3.tar.gz",
                    "https://universidaddealcala-my.sharepoint.com/:u:/g/personal/gram_uah_es/"
                    "Eank6osXQgxEqa-1bb0nVsoBc3xO4XDwENc_g0nc6t58BA?&Download=1",
                    ("md5:e9b4d5a62ab1fe5f542ec8326f2d4fda",)),),
        args={"image": r"(?:^|/)images/([^/]+)\.jpg$",
              "counts": {"lines": r"(?:^|/)images/([^/]+)\.txt$"},
              "parts": {"lists": {"training.txt": "training", "validation.txt": "validation",
                                  "test.txt": "test"}},
              "num_bins": 10, "edges_from": ("training",)},
        num_examples={"training": 403, "validation": 420, "test": 421}),),
    splits=_OFFICIAL,
    paper={"training": paper_draws.TRAIN_DEV, "validation": paper_draws.whole("dev_test"),
           "test": paper_draws.whole("test")},
    compat=Compat(args={"edges_from": ("training", "validation", "test")}, notes=_TEST_BINS),
    paper_size=403,
    num_classes=10,
    channels=3,
    homepage="https://gram.web.uah.es/data/datasets/trancos/index.html",
    notes="Labels are ten bins of the number of vehicles, about equally frequent in training.",
    citation="""@inproceedings{guerrero2015extremely,
  title={Extremely overlapping vehicle counting},
  author={Guerrero-G{\\'o}mez-Olmedo, Ricardo and Torre-Jim{\\'e}nez, Beatriz and
    L{\\'o}pez-Sastre, Roberto and Maldonado-Basc{\\'o}n, Saturnino and O{\\~n}oro-Rubio, Daniel},
  booktitle={Iberian Conference on Pattern Recognition and Image Analysis},
  year={2015}
}""")

ROWS = (LANDSAT, MAGELLAN_VENUS_VOLCANOES, MALL, PATH_MNIST, SHANGHAI_TECH, SUN_ATTRIBUTES,
        TID2008, TID2013, TRANCOS)
