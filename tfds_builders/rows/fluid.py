# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID: the five published sequences."""

from __future__ import annotations

from tfds_builders.parsers import fluid_sequence
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

URL = "https://github.com/RAIVNLab/FLUID"
_FILES = "https://raw.githubusercontent.com/RAIVNLab/FLUID/master"
_NOTES = (
    "Records come in the order of a hash, as in every TFDS data set: sort by the feature "
    "`position` to deliver them. `novel` is true for the classes that are not in the pretraining "
    "set (ImageNet-1K). Labels are those of the published head, where a base class keeps its "
    "ImageNet-1K index and novel classes take the other 750. Images are those of ImageNet-22K "
    "(fall 2011) as they are; the authors' own copies may be resized. Sequences 1 and "
    "2 are for validation, 3 to 5 for testing.")

_CITATION = """@article{wallingford2023fluid,
  title={{FLUID}: A unified evaluation framework for flexible sequential data},
  author={Wallingford, Matthew and Kusupati, Aditya and Alizadeh-Vahid, Keivan and Walsman, Aaron
          and Kembhavi, Aniruddha and Farhadi, Ali},
  journal={Transactions on Machine Learning Research},
  year={2023}
}"""

# Samples by published label file.
SIZES = {1: 89030, 2: 87549, 3: 90133, 4: 86988, 5: 89921}


def _row(number: int) -> Row:
  labels = "all_labels.npy" if number == 2 else f"all_labels{number}.npy"
  order = f"sequence{number}.npy"

  def layout(archive: str, notes: str) -> Layout:
    return Layout(
        fluid_sequence,
        files=(File(order, f"{_FILES}/S{number}/{order}"),
               File(labels, f"{_FILES}/S{number}/{labels}"), File(archive)),
        args={"sequence_file": order, "label_file": labels},
        num_examples={fluid_sequence.STREAM: SIZES[number]}, notes=notes)

  return Row(
      f"sequence{number}",
      title=f"FLUID, sequence {number}",
      layouts=(
          layout("fall11_whole.tar", "ImageNet-22K, one tar a class within a tar; needs an account "
                                     "at image-net.org."),
          layout(f"fluid_images{number}.tar", "The images of this sequence, packed by hand: any "
                                              "folders, the published base names.")),
      splits={fluid_sequence.STREAM: {fluid_sequence.STREAM: 1.0}},
      num_classes=1000,
      channels=3,
      homepage=URL,
      license="ImageNet: non-commercial research; the sequences have no license",
      features={"position": "int64", "novel": "bool", "wnid": "text"},
      unique=False,
      notes=_NOTES + (" One of its 1,000 labels has no sample." if number == 1 else ""),
      citation=_CITATION)


ROWS = tuple(_row(number) for number in SIZES)
