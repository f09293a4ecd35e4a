# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: places, and people in them."""

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

_INDOOR_ARGS = {
    "lists": {"TrainImages.txt": splits.TRAIN, "TestImages.txt": splits.TEST},
    "line": "{label}/{item}.jpg", "image": "Images/{label}/{item}.jpg", "unlisted": True}

MIT_SCENES = Row(
    "mit_scenes",
    title="MIT indoor scenes",
    layouts=(
        Layout(
            listed_images,
            files=(File("indoor-scenes-cvpr-2019.zip", "kaggle:itsahmad/indoor-scenes-cvpr-2019",
                        ("md5:b5a8ee875edc974ab49f4cad3b8607da",)),),
            args=_INDOOR_ARGS,
            num_examples={splits.TRAIN: 5360, splits.TEST: 1340},
            notes="Kaggle packs it again when it changes, and the sum changes with it."),
        Layout(
            listed_images,
            files=(File("indoorCVPR_09.tar",
                        "http://groups.csail.mit.edu/vision/LabelMe/NewImages/indoorCVPR_09.tar"),
                   File("TrainImages.txt", "http://web.mit.edu/torralba/www/TrainImages.txt"),
                   File("TestImages.txt", "http://web.mit.edu/torralba/www/TestImages.txt")),
            args=_INDOOR_ARGS,
            num_examples={splits.TRAIN: 5360, splits.TEST: 1340},
            notes="The publisher's own files; their sums are not known, so they are used with a "
                  "warning.")),
    splits=splits.TRAIN_TEST,
    paper_size=4554,
    num_classes=67,
    channels=3,
    homepage="http://web.mit.edu/torralba/www/indoor.html",
    notes="Only the 6,700 images of the published lists are used, of 15,620. The reference draws "
          "its splits in the order of the lists, which is not reproduced.",
    citation="""@inproceedings{quattoni2009recognizing,
  title={Recognizing indoor scenes},
  author={Quattoni, Ariadna and Torralba, Antonio},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2009}
}""")

SCENES15 = Row(
    "scenes15",
    title="15 scene categories",
    layouts=(Layout(
        class_folders,
        files=(File(
            "scene_categories.zip",
            "https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/data/"
            "scene_categories/scene_categories.zip", ("md5:58828019197b2ad0a7efb472e7a85c2a",)),),
        args={"template": "{label}/{item}.jpg"},
        num_examples={splits.POOL: 4485}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_order=SORTED,
    paper_size=3021,
    num_classes=15,
    class_names=("CALsuburb", "MITcoast", "MITforest", "MIThighway", "MITinsidecity",
                 "MITmountain", "MITopencountry", "MITstreet", "MITtallbuilding", "PARoffice",
                 "bedroom", "industrial", "kitchen", "livingroom", "store"),
    channels=1,
    homepage="https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/"
             "data/index.html",
    notes="Eight of the classes hold the photographs of scenes8, here in grey.",
    citation="""@inproceedings{lazebnik2006beyond,
  title={Beyond bags of features: Spatial pyramid matching for recognizing natural scene
         categories},
  author={Lazebnik, Svetlana and Schmid, Cordelia and Ponce, Jean},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2006}
}""")

SCENES8 = Row(
    "scenes8",
    title="8 outdoor scene categories",
    layouts=(Layout(
        image_names,
        files=(File(
            "spatial_envelope_256x256_static_8outdoorcategories.zip",
            "https://people.csail.mit.edu/torralba/code/spatialenvelope/"
            "spatial_envelope_256x256_static_8outdoorcategories.zip",
            ("md5:c26fe529d49848091a759d7aadd267f5",)),),
        args={"template": "{label}_{item}", "extensions": ("jpg",)},
        num_examples={splits.POOL: 2688}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_order=SORTED,
    paper_size=1811,
    num_classes=8,
    class_names=("coast", "forest", "highway", "insidecity", "mountain", "opencountry", "street",
                 "tallbuilding"),
    channels=3,
    homepage="https://people.csail.mit.edu/torralba/code/spatialenvelope/",
    citation="""@article{oliva2001modeling,
  title={Modeling the shape of the scene: A holistic representation of the spatial envelope},
  author={Oliva, Aude and Torralba, Antonio},
  journal={International Journal of Computer Vision},
  volume={42},
  number={3},
  pages={145--175},
  year={2001}
}""")

PPMI = Row(
    "ppmi",
    title="People playing, or holding, musical instruments",
    layouts=(Layout(
        image_names,
        files=(File("norm_ppmi_12class.zip",
                    "http://vision.stanford.edu/Datasets/norm_ppmi_12class.zip",
                    ("md5:88118d8c6b50d72f0bb37a89269185ab",)),),
        args={"template": "{act}/{instrument}/{split}/{item}", "label": "{act}/{instrument}",
              "extensions": ("jpg",),
              "split_folders": {"train": splits.TRAIN, "test": splits.TEST}}),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_order=SORTED,
    paper_size=2023,
    num_classes=24,
    channels=3,
    homepage="https://ai.stanford.edu/~bangpeng/ppmi.html",
    notes="A class is an instrument and whether it is played or only held: 12 x 2. Class ids are "
          "those of the sorted names; the reference's changed with Python's hash seed.",
    citation="""@inproceedings{yao2010grouplet,
  title={Grouplet: A structured image representation for recognizing human and object
         interactions},
  author={Yao, Bangpeng and Fei-Fei, Li},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2010}
}""")

UMIST = Row(
    "umist",
    title="UMIST (Sheffield) faces",
    layouts=(Layout(
        class_folders,
        files=(File("face.tar.gz", "http://eprints.lincoln.ac.uk/id/eprint/16081/1/face.tar.gz",
                    ("md5:11011ab5dded043f5e4331711c2407c8",)),),
        args={"template": "{label}/{item}.pgm"},
        num_examples={splits.POOL: 1013}),),
    splits=splits.POOLED,
    paper={splits.POOL: paper_draws.POOLED},
    paper_size=686,
    num_classes=20,
    class_names=tuple(f"1{letter}" for letter in "abcdefghijklmnopqrst"),
    channels=1,
    homepage="http://eprints.lincoln.ac.uk/id/eprint/16081",
    notes="Each person turns from profile to front: neighbouring frames are much alike, and the "
          "random splits, as in the reference, put them on both sides.",
    citation="""@incollection{graham1998characterising,
  title={Characterising virtual eigensignatures for general purpose face recognition},
  author={Graham, Daniel B and Allinson, Nigel M},
  booktitle={Face Recognition: From Theory to Applications},
  year={1998}
}""")

ROWS = (MIT_SCENES, PPMI, SCENES15, SCENES8, UMIST)
