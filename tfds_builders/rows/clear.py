# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR-10 and CLEAR-100: images, published features and metadata, by time bucket."""

from __future__ import annotations

from typing import Any

from tfds_builders import clear_splits
from tfds_builders.parsers import clear_features
from tfds_builders.parsers import clear_images
from tfds_builders.parsers import clear_listing
from tfds_builders.parsers import clear_metadata
from tfds_builders.rows import row as row_lib
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_HOST = ("https://huggingface.co/datasets/elvishelvis6/CLEAR-Continual_Learning_Benchmark/resolve/"
         "main")
_FORMER_HOST = "https://clear-challenge.s3.us-east-2.amazonaws.com"
_FEATURE_SIZE = 2048

_CITATION = """@inproceedings{lin2021clear,
  title={The {CLEAR} Benchmark: Continual {LE}arning on Real-World Imagery},
  author={Lin, Zhiqiu and Shi, Jia and Pathak, Deepak and Ramanan, Deva},
  booktitle={NeurIPS Datasets and Benchmarks},
  year={2021}
}"""

_IID = ("`place` is an image's place in its bucket as the released lists have it, and "
        "`iid_test_0` to `iid_test_4` tell whether it is a test image of the five released 70/30 "
        "splits (False in other buckets). Buckets are known by their folders' names, never by "
        "position.")
_SUMS = ("The known MD5 sums were taken from the former host; the present copy may differ. If it "
         "does, build from a mirror that you trust.")

# md5 as published by users of the former host; sha256 and sizes by the present one.
_FILES: dict[str, File] = {file.name: file for file in (
    File("clear10-train-image-only.zip", f"{_HOST}/clear10-train-image-only.zip",
         checksums=("md5:5171f720810d60b471c308dee595d430",)),
    File("clear10-test.zip", f"{_HOST}/clear10-test.zip",
         checksums=("md5:bf9a85bfb78fe742c7ed32648c9a3275",)),
    File("clear10-train.zip", f"{_HOST}/clear10-train.zip"),
    File("clear10-public.zip", checksums=("md5:04d3b228599bdd5a874c261907ebe217",)),
    File("clear100-train-image-only.zip", f"{_HOST}/clear100-train-image-only.zip",
         checksums=("md5:ea85cdba9efcb3abf77eaab5554052c8",
                    "sha256:0376b952674e6ef55c3923ee4ce61e5b299fea4e29bbc4780530636e8988fd72"),
         size=3_289_951_359),
    File("clear100-test.zip", f"{_HOST}/clear100-test.zip",
         checksums=("md5:e160815fb5fd4bc71dacd339ff41e6a9",
                    "sha256:c939753be4e62dc7732347e5e636ea599022c82f45443ea9e7166167e467abd0"),
         size=1_640_361_665),
    File("clear100-train.zip", f"{_HOST}/clear100-train.zip"),
    File("clear100-workshop-avalanche.zip"),
)}
_FIRST_EDITION = {"clear10": "clear10-public.zip", "clear100": "clear100-workshop-avalanche.zip"}
# Where it may still be: neither link was tried.
_FIRST_WAS_AT = ("The first edition was at {host}/{name}, which was reported gone in 2025; "
                 "Zenodo's record 5528797 is said to be of CLEAR.")


def _splits(with_tests: bool) -> dict[str, dict[str, float]]:
  names = [clear_listing.split_name(bucket, is_test) for is_test in (False, True)[:1 + with_tests]
           for bucket in range(clear_listing.NUM_BUCKETS)]
  return {name: {name: 1.0} for name in names}


def _layout(parser: Any, names: tuple[str, ...], notes: str = "", edition: str | None = None,
            **args: Any) -> Layout:
  files = tuple(_FILES.get(name, File(name)) for name in names)
  return Layout(parser, files=files, notes=notes,
                args={"edition": edition or clear_listing.PRESENT, **args})


def _row(name: str, title: str, family: str, layouts: list[Layout], notes: str,
         **facts: Any) -> Row:
  with_tests = any("tests" in layout.args for layout in layouts)
  made = _splits(with_tests)
  optional = tuple(one for one in made if one.startswith("test_") or one.endswith("_00"))
  return Row(
      name, title=title, layouts=tuple(layouts), splits=made, optional=optional, channels=3,
      num_classes={"clear10": 11, "clear100": 100}[family], unique=False,
      homepage="https://clear-benchmark.github.io", license="CC BY 4.0 (as the host says)",
      notes=f"{notes} {_IID} {_SUMS}", citation=_CITATION, **facts)


def _rows(family: str, label: str) -> tuple[Row, ...]:
  small, full, test = (f"{family}-train-image-only.zip", f"{family}-train.zip",
                       f"{family}-test.zip")
  first = _FIRST_EDITION[family]
  was_at = _FIRST_WAS_AT.format(host=_FORMER_HOST, name=first)
  unlabeled = f"{family}-bucket-0.zip"
  tests: dict[str, Any] = {"tests": (test,)}
  kinds = ("moco_b0", "moco_imagenet", "byol_imagenet", "imagenet")
  features = {kind: [_layout(clear_features, (first,), was_at, edition=clear_listing.FIRST,
                             kind=kind)]
              for kind in (kinds if family == "clear10" else kinds[:1])}
  features["moco_b0"].insert(0, _layout(clear_features, (full,), kind="moco_b0"))
  images = _row(
      "images", f"{label}: images", family,
      [_layout(clear_images, (small, test, unlabeled), **tests, unlabeled=(unlabeled,),
               notes="With images of bucket 0 that were fetched one by one and packed by hand."),
       _layout(clear_images, (small, test), **tests),
       _layout(clear_images, (full, test), **tests),
       _layout(clear_images, (first,), edition=clear_listing.FIRST,
               notes=f"Without test images. {was_at}")],
      "`bucket_00` is what the archive has of it: nothing in CLEAR-10, labeled images in some "
      "editions of CLEAR-100; unlabeled images (label -1) if they are given as "
      "all_images/0/*.jpg in a separate zip. `test_bucket_*` are the released test images, where "
      "they are given.",
      features=clear_splits.DECLARED)
  metadata = _row(
      "metadata", f"{label}: what Flickr says of the images", family,
      [_layout(clear_metadata, (train, test), **tests) for train in (small, full)],
      "No images: time of upload (`uploaded`, seconds since 1970 UTC), title, user, licence, by "
      "the ids of `images`.",
      features={**clear_splits.DECLARED, **clear_metadata.DECLARED},
      feature_size=row_lib.NO_INPUT)
  vectors = [_row(
      kind, f"{label}: features {kind}", family, layouts,
      f"{_FEATURE_SIZE} float32 numbers an image, `feature`, as published; there are none of test "
      "images.", features=clear_splits.DECLARED, feature_size=_FEATURE_SIZE)
             for kind, layouts in features.items()]
  return (images, metadata, *vectors)


CLEAR10_ROWS = _rows("clear10", "CLEAR-10")
CLEAR100_ROWS = _rows("clear100", "CLEAR-100")
