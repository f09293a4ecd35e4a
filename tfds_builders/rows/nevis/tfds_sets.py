# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: sets that TFDS builds itself, A to F. `image`, `id` and splits are ours."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

_TRAIN_TEST = {"train": splits.TRAIN, "test": splits.TEST}
_OFFICIAL = {"train": splits.TRAIN, "validation": "validation", "test": splits.TEST}
_VALIDATED = {splits.TRAIN: {splits.TRAIN: 1.0}, "validation": {splits.VALIDATION: 1.0},
              splits.TEST: {splits.TEST: 1.0}}
# Ranges of TFDS's store, in its order.
_SLICED = {splits.TRAIN: paper_draws.SLICED_TRAIN_ONLY, splits.TEST: paper_draws.whole("test")}
_SLICED_VALIDATED = {splits.TRAIN: paper_draws.SLICED_TRAIN_DEV,
                     "validation": paper_draws.whole("dev_test"),
                     splits.TEST: paper_draws.whole("test")}
_COIL = {"train": {splits.TRAIN: 1.0}, "dev": {splits.TRAIN: 1.0},
         "validation": {splits.VALIDATION: 1.0}, "rest": {splits.TEST: 1.0}}
_CELEB_A = (
    "5_o_Clock_Shadow", "Arched_Eyebrows", "Attractive", "Bags_Under_Eyes", "Bald", "Bangs",
    "Big_Lips", "Big_Nose", "Black_Hair", "Blond_Hair", "Blurry", "Brown_Hair",
    "Bushy_Eyebrows", "Chubby", "Double_Chin", "Eyeglasses", "Goatee", "Gray_Hair",
    "Heavy_Makeup", "High_Cheekbones", "Male", "Mouth_Slightly_Open", "Mustache", "Narrow_Eyes",
    "No_Beard", "Oval_Face", "Pale_Skin", "Pointy_Nose", "Receding_Hairline", "Rosy_Cheeks",
    "Sideburns", "Smiling", "Straight_Hair", "Wavy_Hair", "Wearing_Earrings", "Wearing_Hat",
    "Wearing_Lipstick", "Wearing_Necklace", "Wearing_Necktie", "Young")

CALTECH101 = Row(
    "caltech101",
    title="Caltech 101",
    layouts=(),
    tfds=TfdsSet(("caltech101:3.*.*",), _TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper=_SLICED,
    paper_size=2601,
    num_classes=102,
    channels=3,
    homepage="https://doi.org/10.22002/D1.20086",
    notes="101 objects and background. TFDS's split: 30 training images a class.",
    citation="""@inproceedings{feifei2004learning,
  title={Learning generative visual models from few training examples},
  author={Fei-Fei, Li and Fergus, Rob and Perona, Pietro},
  booktitle={CVPR Workshop},
  year={2004}
}""")

CUB = Row(
    "caltech_birds2011",
    title="Caltech-UCSD Birds 200-2011",
    layouts=(),
    tfds=TfdsSet(("caltech_birds2011:0.*.*",), _TRAIN_TEST,
                 key="image/filename"),
    splits=splits.TRAIN_TEST,
    paper=_SLICED,
    paper_size=5094,
    num_classes=200,
    channels=3,
    homepage="http://www.vision.caltech.edu/datasets/cub_200_2011/",
    citation="""@techreport{wah2011caltech,
  title={The Caltech-UCSD Birds-200-2011 dataset},
  author={Wah, Catherine and Branson, Steve and Welinder, Peter and Perona, Pietro and
    Belongie, Serge},
  institution={California Institute of Technology},
  year={2011}
}""")

CELEB_A = Row(
    "celeb_a",
    title="CelebA attributes",
    layouts=(),
    tfds=TfdsSet(("celeb_a:2.*.*",), _OFFICIAL,
                 label="attributes"),
    splits=_VALIDATED,
    paper=_SLICED_VALIDATED,
    paper_size=162770,
    num_classes=40,
    channels=3,
    kind=MULTI_LABEL,
    class_names=_CELEB_A,
    homepage="http://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
    notes="Single-label in the paper's table, multi-label in its code and score: multi-label here.",
    citation="""@inproceedings{liu2015faceattributes,
  title={Deep learning face attributes in the wild},
  author={Liu, Ziwei and Luo, Ping and Wang, Xiaogang and Tang, Xiaoou},
  booktitle={ICCV},
  year={2015}
}""")

CIFAR100 = Row(
    "cifar100",
    title="CIFAR-100",
    layouts=(),
    tfds=TfdsSet(("cifar100:3.*.*",), _TRAIN_TEST, key="id"),
    splits=splits.TRAIN_TEST,
    paper=_SLICED,
    paper_size=42500,
    num_classes=100,
    channels=3,
    homepage="https://www.cs.toronto.edu/~kriz/cifar.html",
    notes="The 100 fine classes.",
    citation="""@techreport{krizhevsky2009learning,
  title={Learning multiple layers of features from tiny images},
  author={Krizhevsky, Alex},
  institution={University of Toronto},
  year={2009}
}""")

COIL100 = Row(
    "coil100",
    title="COIL-100",
    layouts=(),
    tfds=TfdsSet(("coil100:2.*.*",), {"train": "rest"},
                 label="object_id", split_by="angle_label", split_values={"rest": {
                     "train": (0, 1, 2, 70, 71), "dev": (16, 17, 18, 19, 20),
                     "validation": (50, 51, 52, 53, 54)}}),
    splits=_COIL,
    paper={"train": paper_draws.whole("train"), "dev": paper_draws.whole("dev"),
           "validation": paper_draws.whole("dev_test"), "rest": paper_draws.whole("test")},
    paper_size=6120,
    num_classes=100,
    channels=3,
    homepage="http://www.cs.columbia.edu/CAVE/software/softlib/coil-100.php",
    notes="Split by angle of view (72 views, 5 degrees apart): ten views to train, five to "
          "validate, 57 to test. The paper's size, 6,120, is not what its code does (1,000).",
    citation="""@techreport{nene1996columbia,
  title={Columbia object image library (COIL-100)},
  author={Nene, Sameer A and Nayar, Shree K and Murase, Hiroshi},
  institution={Columbia University},
  year={1996}
}""")

DOMAINNET = Row(
    "domainnet",
    title="DomainNet, real",
    layouts=(),
    tfds=TfdsSet(("domainnet/real:1.*.*",), _TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper_size=102770,
    num_classes=345,
    channels=3,
    homepage="http://ai.bu.edu/M3SDA/",
    compat=Compat(
        tfds=TfdsSet(
            tuple(f"domainnet/{domain}:1.*.*" for domain in (
                "real", "painting", "clipart", "quickdraw", "infograph", "sketch")),
            {"train": splits.TRAIN, "test": "dev"},
            sources={"domainnet/sketch": {splits.TRAIN: "validation", "dev": splits.TEST}}),
        splits={**_VALIDATED, "dev": {splits.TRAIN: 1.0}},
        paper={splits.TRAIN: paper_draws.whole("train"), "dev": paper_draws.whole("dev"),
               "validation": paper_draws.whole("dev_test"),
               splits.TEST: paper_draws.whole("test")},
        notes="What the code of the reference does: it trains on real, painting, clipart, "
              "quickdraw and infograph, and tests on sketch."),
    notes="The domain that the paper names is real (DomainNet-Real), whose size it gives; the code "
          "of the reference goes from five domains to sketch.",
    citation="""@inproceedings{peng2019moment,
  title={Moment matching for multi-source domain adaptation},
  author={Peng, Xingchao and Bai, Qinxun and Xia, Xide and Huang, Zijun and Saenko, Kate and
    Wang, Bo},
  booktitle={ICCV},
  year={2019}
}""")

DTD = Row(
    "dtd",
    title="Describable textures",
    layouts=(),
    tfds=TfdsSet(("dtd:3.*.*",), _OFFICIAL,
                 key="file_name"),
    splits=_VALIDATED,
    paper=_SLICED_VALIDATED,
    paper_size=1880,
    num_classes=47,
    channels=3,
    homepage="https://www.robots.ox.ac.uk/~vgg/data/dtd/",
    citation="""@inproceedings{cimpoi2014describing,
  title={Describing textures in the wild},
  author={Cimpoi, Mircea and Maji, Subhransu and Kokkinos, Iasonas and Mohamed, Sammy and
    Vedaldi, Andrea},
  booktitle={CVPR},
  year={2014}
}""")

EMNIST_BALANCED = Row(
    "emnist_balanced",
    title="EMNIST, balanced",
    layouts=(),
    tfds=TfdsSet(("emnist/balanced:3.*.*",), _TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper=_SLICED,
    paper_size=95880,
    num_classes=47,
    channels=1,
    homepage="https://www.nist.gov/itl/products-and-services/emnist-dataset",
    notes="Images lie on their side and mirrored, as published.",
    citation="""@inproceedings{cohen2017emnist,
  title={EMNIST: extending MNIST to handwritten letters},
  author={Cohen, Gregory and Afshar, Saeed and Tapson, Jonathan and van Schaik, Andr{\\'e}},
  booktitle={IJCNN},
  year={2017}
}""")

FASHION_MNIST = Row(
    "fashion_mnist",
    title="Fashion-MNIST",
    layouts=(),
    tfds=TfdsSet(("fashion_mnist:3.*.*",), _TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper=_SLICED,
    paper_size=51000,
    num_classes=10,
    channels=1,
    homepage="https://github.com/zalandoresearch/fashion-mnist",
    citation="""@article{xiao2017fashion,
  title={Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms},
  author={Xiao, Han and Rasul, Kashif and Vollgraf, Roland},
  journal={arXiv:1708.07747},
  year={2017}
}""")

IMAGENET2012 = Row(
    "imagenet2012",
    title="ImageNet (ILSVRC 2012)",
    layouts=(),
    tfds=TfdsSet(("imagenet2012:5.*.*",), {"train": splits.TRAIN, "validation": splits.TEST},
                 key="file_name",
                 manual="ILSVRC2012_img_train.tar and ILSVRC2012_img_val.tar from "
                        "https://image-net.org/download-images (an account is needed), put into "
                        "DATA_DIR/downloads/manual"),
    splits={splits.TRAIN: {splits.TRAIN: 0.95, splits.VALIDATION: 0.05},
            splits.TEST: {splits.TEST: 1.0}},
    paper={splits.TRAIN: paper_draws.slices({"train": 0.90, "dev": 0.05, "dev_test": 0.05}),
           splits.TEST: paper_draws.whole("test")},
    paper_size=1281167,
    num_classes=1000,
    channels=3,
    licence="non-commercial research",
    homepage="https://image-net.org/",
    citation="""@article{russakovsky2015imagenet,
  title={ImageNet large scale visual recognition challenge},
  author={Russakovsky, Olga and Deng, Jia and others},
  journal={International Journal of Computer Vision},
  year={2015}
}""")

ROWS = (CALTECH101, CUB, CELEB_A, CIFAR100, COIL100, DOMAINNET, DTD, EMNIST_BALANCED,
        FASHION_MNIST, IMAGENET2012)
