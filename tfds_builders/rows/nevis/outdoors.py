# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: signs, animals, objects and people in photographs and frames."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import annotated_lines
from tfds_builders.parsers import class_attributes
from tfds_builders.parsers import coco_boxes
from tfds_builders.parsers import coco_labels
from tfds_builders.parsers import head_poses
from tfds_builders.parsers import listed_pools
from tfds_builders.parsers import traffic_signs
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_GTSRB = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370"

GERMAN_TSR = Row(
    "german_tsr",
    title="German Traffic Sign Recognition Benchmark",
    layouts=(Layout(
        traffic_signs,
        files=(File("GTSRB_Final_Training_Images.zip", f"{_GTSRB}/GTSRB_Final_Training_Images.zip",
                    ("md5:f33fd80ac59bff73c82d25ab499e03a3",)),
               File("GTSRB_Final_Test_Images.zip", f"{_GTSRB}/GTSRB_Final_Test_Images.zip",
                    ("md5:c7e4e6327067d32654124b0fe9e82185",)),
               File("GTSRB_Final_Test_GT.zip", f"{_GTSRB}/GTSRB_Final_Test_GT.zip",
                    ("md5:fe31e9c9270bbcd7b84b7f21a9d9d9e5",))),
        args={"train": "GTSRB_Final_Training_Images.zip", "test": "GTSRB_Final_Test_Images.zip",
              "table": "GTSRB_Final_Test_GT.zip"},
        num_examples={splits.TRAIN: 39209, splits.TEST: 12630}),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_order=SORTED,
    paper_size=33392,
    num_classes=43,
    channels=3,
    homepage="https://benchmark.ini.rub.de",
    notes="The 30 frames of one sign that was passed by are not divided between train and "
          "validation here; the reference draws frame by frame, so its dev sets hold near copies "
          "of training images.",
    citation="""@inproceedings{stallkamp2011gtsrb,
  title={The {German Traffic Sign Recognition Benchmark}: A multi-class classification competition},
  author={Stallkamp, Johannes and Schlipsing, Marc and Salmen, Jan and Igel, Christian},
  booktitle={International Joint Conference on Neural Networks},
  year={2011}
}""")

AWA2 = Row(
    "awa2",
    title="Animals with Attributes 2",
    layouts=(Layout(
        class_attributes,
        files=(File("AwA2-data.zip", "https://cvml.ist.ac.at/AwA2/AwA2-data.zip",
                    ("md5:eaa27cf799d5cf55af372356d7281b5e",)),),
        args={"num_attributes": 85},
        num_examples={splits.TRAIN: 30337, splits.TEST: 6985}),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_size=25827,
    kind=MULTI_LABEL,
    num_classes=85,
    channels=3,
    homepage="https://cvml.ist.ac.at/AwA2",
    licence="licences of the single images, which all allow research",
    notes="A zero-shot task: the ten test classes are not among the forty training classes, and "
          "all images of a class share one set of attributes.",
    citation="""@article{xian2018zero,
  title={Zero-shot learning: a comprehensive evaluation of the good, the bad and the ugly},
  author={Xian, Yongqin and Lampert, Christoph H. and Schiele, Bernt and Akata, Zeynep},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year={2018}
}""")

_BIWI_SUBJECTS = {"train": (5, 6, *range(11, 25)), "dev": (2, 7), "dev_test": (3, 9),
                  "test": (1, 4, 8, 10)}

BIWI = Row(
    "biwi",
    title="Biwi Kinect head poses",
    layouts=(Layout(
        head_poses,
        files=(File("biwi-kinect-head-pose-database.zip",
                    "kaggle:kmader/biwi-kinect-head-pose-database",
                    ("md5:59d49d96e5719f248f6d66f8ff205569",)),),
        args={"num_bins": 5, "subjects": _BIWI_SUBJECTS, "bins_from": ("train", "dev")},
        notes="Kaggle packs its archive again when it changes, and the sum changes with it."),),
    splits={"train": {splits.TRAIN: 1.0}, "dev": {splits.TRAIN: 1.0},
            "dev_test": {splits.VALIDATION: 1.0}, "test": {splits.TEST: 1.0}},
    paper={name: paper_draws.whole(name) for name in paper_draws.NAMES},
    paper_size=11325,
    kind=MULTI_LABEL,
    num_classes=15,
    channels=3,
    homepage="https://www.kaggle.com/datasets/kmader/biwi-kinect-head-pose-database",
    licence="research use",
    notes="Three angles with five bins each; exactly one bin an angle. The angles are the "
          "reference's, whose names for them do not fit this camera. Bins hold equally many frames "
          "of the training subjects; in the reference of all, test subjects included. "
          "Subjects of a split are those of the reference (train is its train and dev).",
    compat=Compat("Bins end where those of the reference do: at quantiles of all frames, test "
                  "subjects included. (Its stored labels are off by one at the upper edge and put "
                  "right when they are read; here they are right from the beginning.)",
                  args={"bins_from": tuple(_BIWI_SUBJECTS)}),
    citation="""@article{fanelli2013random,
  title={Random forests for real time {3D} face analysis},
  author={Fanelli, Gabriele and Dantone, Matthias and Gall, Juergen and others},
  journal={International Journal of Computer Vision},
  volume={101},
  year={2013}
}""")

_LILA = "https://lilablobssc.blob.core.windows.net/caltechcameratraps"

CALTECH_CAMERA_TRAPS = Row(
    "caltech_camera_traps",
    title="Caltech Camera Traps",
    layouts=(Layout(
        coco_labels,
        files=(File("eccv_18_all_images_sm.tar.gz", f"{_LILA}/eccv_18_all_images_sm.tar.gz",
                    ("md5:8143c17aa2a12872b66f284ff211531f",)),
               File("eccv_18_annotations.tar.gz", f"{_LILA}/eccv_18_annotations.tar.gz",
                    ("md5:66a1f481b44aa1edadf75c9cfbd27aba",))),
        args={"images_file": "eccv_18_all_images_sm.tar.gz",
              "tables": {"train_annotations.json": splits.TRAIN,
                         "trans_val_annotations.json": splits.VALIDATION,
                         "trans_test_annotations.json": splits.TEST}}),),
    splits={name: {name: 1.0} for name in splits.NAMES},
    paper={splits.TRAIN: paper_draws.TRAIN_DEV, splits.VALIDATION: paper_draws.whole("dev_test"),
           splits.TEST: paper_draws.whole("test")},
    paper_size=13553,
    num_classes=16,
    class_names=("bobcat", "opossum", "empty", "coyote", "raccoon", "bird", "dog", "cat",
                 "squirrel", "rabbit", "skunk", "rodent", "badger", "deer", "car", "fox"),
    channels=3,
    homepage="https://lila.science/datasets/caltech-camera-traps",
    licence="CDLA-Permissive-1.0",
    notes="Cameras of the test set (trans) are in no other; an image has the class of its last "
          "annotation, as in the reference. LILA has moved its files since; if the links are dead, "
          "look there for files of these names.",
    citation="""@inproceedings{beery2018recognition,
  title={Recognition in Terra Incognita},
  author={Beery, Sara and Van Horn, Grant and Perona, Pietro},
  booktitle={European Conference on Computer Vision},
  year={2018}
}""")

_COCO = "http://images.cocodataset.org"

COCO_SINGLE_LABEL = Row(
    "coco_single_label",
    title="MS COCO, single objects",
    layouts=(Layout(
        coco_boxes,
        files=(File("train2017.zip", f"{_COCO}/zips/train2017.zip",
                    ("md5:cced6f7f71b7629ddf16f17bbcfab6b2",)),
               File("val2017.zip", f"{_COCO}/zips/val2017.zip",
                    ("md5:442b8da7639aecaf257c1dceb8ba8c80",)),
               File("annotations_trainval2017.zip",
                    f"{_COCO}/annotations/annotations_trainval2017.zip",
                    ("md5:f4bbac642086de4f52a3fdda2de5fa2c",))),
        args={"photos": {"train2017.zip": ("instances_train2017.json", splits.TRAIN),
                         "val2017.zip": ("instances_val2017.json", splits.TEST)},
              "min_side": 16}),),
    splits=splits.TRAIN_TEST,
    paper_size=82783,
    num_classes=90,
    channels=3,
    homepage="https://cocodataset.org",
    licence="annotations CC BY 4.0; images under Flickr's terms",
    notes="A crop for each annotated object, with sides rounded to whole pixels; boxes "
          "with a side below 16 are left out, as in the reference, and boxes around crowds, "
          "which it keeps. 80 of the 90 labels are used. Crops of one photograph are in one "
          "split; the reference's (and those of the compat variant) can be in several.",
    paper_order=SORTED,
    compat=Compat("Crops of one photograph fall into different splits; boxes around crowds count. "
                  "Drawn in the order of the annotations, as in the reference; the paper's size is "
                  "that of another edition.",
                  args={"crowds": True, "by_photo": False, "numbered": True},
                  paper={splits.TRAIN: paper_draws.TRAIN_ONLY,
                         splits.TEST: paper_draws.whole("test")}),
    citation="""@inproceedings{lin2014microsoft,
  title={{Microsoft COCO}: Common objects in context},
  author={Lin, Tsung-Yi and Maire, Michael and Belongie, Serge and others},
  booktitle={European Conference on Computer Vision},
  year={2014}
}""")

_IG02 = "http://lear.inrialpes.fr/people/marszalek/data/ig02"

IG02 = Row(
    "ig02",
    title="Graz-02",
    layouts=(Layout(
        listed_pools,
        files=(File("ig02-v1.0-bikes.zip", f"{_IG02}/ig02-v1.0-bikes.zip",
                    ("md5:13266fdf968176fa3aebdd439184254f",)),
               File("ig02-v1.0-cars.zip", f"{_IG02}/ig02-v1.0-cars.zip",
                    ("md5:34de933832755ee009c6f0e9d9c6426e",)),
               File("ig02-v1.0-people.zip", f"{_IG02}/ig02-v1.0-people.zip",
                    ("md5:f80d8d21f018197979c72b977986fd2f",))),
        args={"labels": {"ig02-v1.0-bikes.zip": "bikes", "ig02-v1.0-cars.zip": "cars",
                         "ig02-v1.0-people.zip": "people"}, "ending": ".image.png"}),),
    splits=splits.TRAIN_TEST,
    paper_size=747,
    num_classes=3,
    class_names=("bikes", "cars", "people"),
    channels=3,
    homepage="http://lear.inrialpes.fr/people/marszalek/data/ig02",
    notes="The official test lists are the test split; the reference means to, but by a typing "
          "error pools all images.",
    compat=Compat("The official lists are ignored: all images are one pool, with those of the "
                  "training lists first.", args={"pooled": True}, splits=splits.POOLED,
                  paper={splits.POOL: paper_draws.POOLED}),
    citation="""@inproceedings{marszalek2007accurate,
  title={Accurate object localization with shape masks},
  author={Marsza{\\l}ek, Marcin and Schmid, Cordelia},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2007}
}""")

_INTERACT = "https://computing.ece.vt.edu/~santol/projects/zsl_via_visual_abstraction/interact"
_PHOTOS, _DRAWN = "interact_stand-alone_dataset", "interact_illustration_category_dataset"

INTERACT = Row(
    "interact",
    title="INTERACT: what two people do",
    layouts=(Layout(
        annotated_lines,
        files=(File(f"{_PHOTOS}_images.zip", f"{_INTERACT}/{_PHOTOS}/{_PHOTOS}_images.zip",
                    ("md5:93d7a853e0e596e7ef7fecc4808ffdf8",)),
               File(f"{_PHOTOS}_annotations.zip",
                    f"{_INTERACT}/{_PHOTOS}/{_PHOTOS}_annotations.zip",
                    ("md5:aef1de2ad7c596a566cd78414a266f5f",)),
               File(f"{_DRAWN}_images.zip", f"{_INTERACT}/{_DRAWN}/{_DRAWN}_images.zip",
                    ("md5:47c043e360a177c026fa7b7652fdf5b2",)),
               File(f"{_DRAWN}_annotations.zip", f"{_INTERACT}/{_DRAWN}/{_DRAWN}_annotations.zip",
                    ("md5:56dec629f180077eb2a76b3f67c7b02f",))),
        args={"sets": {f"{_PHOTOS}_images.zip": (f"{_PHOTOS}_annotations.zip", "photos"),
                       f"{_DRAWN}_images.zip": (f"{_DRAWN}_annotations.zip", "illustrations")},
              "num_classes": 60}),),
    splits={"photos": splits.POOLED[splits.POOL], "illustrations": {splits.TRAIN: 1.0}},
    paper_size=2090,
    num_classes=60,
    channels=3,
    homepage="https://computing.ece.vt.edu/~santol/projects/zsl_via_visual_abstraction",
    notes="All illustrations are training images; the reference adds them to its train, and not "
          "to its train and dev together. It shuffles photographs class by class; that draw is "
          "not offered. Three photographs of the archive are truncated and are left out.",
    citation="""@inproceedings{antol2014zero,
  title={Zero-shot learning via visual abstraction},
  author={Antol, Stanislaw and Zitnick, C. Lawrence and Parikh, Devi},
  booktitle={European Conference on Computer Vision},
  year={2014}
}""")

ROWS = (AWA2, BIWI, CALTECH_CAMERA_TRAPS, COCO_SINGLE_LABEL, GERMAN_TSR, IG02, INTERACT)
