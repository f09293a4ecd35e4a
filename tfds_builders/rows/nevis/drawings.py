# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: silhouettes, sketches, letters and sheets of music."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import class_folders
from tfds_builders.parsers import image_names
from tfds_builders.parsers import listed_images
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

MPEG7 = Row(
    "mpeg7",
    title="MPEG-7 shapes",
    layouts=(Layout(
        image_names,
        files=(File("MPEG7dataset.zip",
                    "https://dabi.temple.edu/external/shape/MPEG7/MPEG7dataset.zip",
                    ("md5:bedd54856c425dcc6e242515c4f67d75",)),),
        args={"template": "{label}-{item}", "extensions": ("gif",),
              "ignore": "confusion|shapedata"},
        num_examples={splits.POOL: 1400}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_order=SORTED,
    paper_size=943,
    num_classes=70,
    channels=1,
    homepage="https://dabi.temple.edu/external/shape/MPEG7/",
    notes="GIF images become PNG.",
    citation="""@inproceedings{latecki2000shape,
  title={Shape descriptors for non-rigid shapes with a single closed contour},
  author={Latecki, Longin Jan and Lak{\\"a}mper, Rolf and Eckhardt, Ulrich},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2000}
}""")

SKETCH = Row(
    "sketch",
    title="Sketches of objects by people",
    layouts=(Layout(
        class_folders,
        files=(File(
            "sketches_png.zip",
            "https://cybertron.cg.tu-berlin.de/eitz/projects/classifysketch/sketches_png.zip",
            ("md5:023123df86a928a5273e3ba11990d8fd",)),),
        args={"template": "png/{label}/{item}.png"},
        num_examples={splits.POOL: 20000}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_order=SORTED,
    paper_size=13536,
    num_classes=250,
    channels=1,
    homepage="https://cybertron.cg.tu-berlin.de/eitz/projects/classifysketch/",
    licence="CC BY 4.0",
    citation="""@article{eitz2012humans,
  title={How do humans sketch objects?},
  author={Eitz, Mathias and Hays, James and Alexa, Marc},
  journal={ACM Transactions on Graphics},
  volume={31},
  number={4},
  year={2012}
}""")

_LETTERS = {"template": "notMNIST_small/{label}/{item}.png", "ignore": ".*notMNIST_large/.*"}

NOT_MNIST = Row(
    "not_mnist",
    title="notMNIST letters",
    layouts=(
        Layout(
            class_folders,
            files=(File("notmnist.zip", "kaggle:jwjohnson314/notmnist",
                        ("md5:e2a47bb2a88c2c6bcae60d9f95223ace",)),),
            args=_LETTERS,
            notes="Kaggle packs it again when it changes, and the sum changes with it."),
        Layout(
            class_folders,
            files=(File("notMNIST_small.tar.gz",
                        "https://commondatastorage.googleapis.com/books1000/notMNIST_small.tar.gz",
                        size=8458043),),
            args=_LETTERS,
            notes="A public copy of the same images; its sum is not known, so it is used with a "
                  "warning.")),
    splits=splits.POOLED,
    paper_size=12345,
    num_classes=10,
    class_names=tuple("ABCDEFGHIJ"),
    channels=1,
    homepage="http://yaroslavvb.blogspot.com/2011/09/notmnist-dataset.html",
    notes="The smaller, cleaner part. Two files are known to be damaged, and are left out. Many "
          "letters occur several times, some under two labels; the reference drops copies within a "
          "class before it draws its splits, and that draw is not reproduced.",
    citation="""@misc{bulatov2011notmnist,
  title={{notMNIST} dataset},
  author={Bulatov, Yaroslav},
  howpublished={http://yaroslavvb.blogspot.com/2011/09/notmnist-dataset.html},
  year={2011}
}""")

_MUSIC_URL = "http://wwwo.cvc.uab.es/cvcmuscima/"

CVC_MUSCIMA = Row(
    "cvc_muscima",
    title="CVC-MUSCIMA, writers of music",
    layouts=(Layout(
        listed_images,
        files=(File("CVCMUSCIMA_WI.zip", _MUSIC_URL + "CVCMUSCIMA_WI.zip",
                    ("md5:33d7464a3dc376a9456bbfe7aad8c18f",)),
               File("Partitions_Set.zip", _MUSIC_URL + "Partitions_Set.zip",
                    ("md5:dd22cff47fd50ca01ee077b757a978cd",))),
        args={"lists": {"set_2_Independent/set_2_training_01.txt": splits.TRAIN,
                        "set_2_Independent/set_2_testing_01.txt": splits.TEST},
              "line": "{label}/{item}.png", "image": "PNG_GT_Gray/{label}/{item}.png",
              "unlisted": True}),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_size=419,
    num_classes=50,
    class_names=tuple(f"w-{writer:02d}" for writer in range(1, 51)),
    channels=1,
    homepage="http://www.cvc.uab.es/cvcmuscima/",
    licence="CC BY-NC-SA 4.0",
    notes="The grey pages, by partition 01 of the published set 2 ('independent'). All 50 writers "
          "copied the same 20 pages; train and validation are not kept apart by page, as in the "
          "reference.",
    citation="""@article{fornes2012cvc,
  title={{CVC-MUSCIMA}: A ground truth of handwritten music score images for writer identification
         and staff removal},
  author={Forn{\\'e}s, Alicia and Dutta, Anjan and Gordo, Albert and Llad{\\'o}s, Josep},
  journal={International Journal on Document Analysis and Recognition},
  volume={15},
  number={3},
  pages={243--251},
  year={2012}
}""")

ROWS = (CVC_MUSCIMA, MPEG7, NOT_MNIST, SKETCH)
