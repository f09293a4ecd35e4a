# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: the PASCAL visual object classes challenges."""

DOWNLOAD_URL = "http://host.robots.ox.ac.uk/pascal/VOC/download/"

# From 2007 on.
CLASS_NAMES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa",
    "train", "tvmonitor")

# Of the challenges of 2007 and later.
CITATION = """@article{everingham2010pascal,
  title={The Pascal visual object classes (VOC) challenge},
  author={Everingham, Mark and Van Gool, Luc and Williams, Christopher K I and Winn, John and
    Zisserman, Andrew},
  journal={International Journal of Computer Vision},
  year={2010}
}"""
