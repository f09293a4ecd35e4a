# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image sets from arrays, data sets, folders: every example once, and mistakes said."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import image_set
from suite.data.own import image_sources

IMAGES = np.random.default_rng(0).integers(0, 256, [7, 4, 4, 3]).astype(np.uint8)
LABELS = np.array([0, 1, 2, 0, 1, 2, 0])


def _dataset(images=IMAGES, labels=LABELS):
  return tf.data.Dataset.from_tensor_slices((images, labels))


def _as_dictionaries(image, label):
  return {"image": image, "label": label, "id": tf.strings.as_string(image[0, 0, 0])}


@pytest.mark.parametrize("made", [
    lambda: image_sources.from_arrays(IMAGES, LABELS),
    lambda: image_sources.from_arrays(IMAGES.astype(np.float32), list(LABELS)),
    lambda: image_sources.from_dataset(_dataset()),
    lambda: image_sources.from_dataset(_dataset().batch(3)),
    lambda: image_sources.from_dataset(_dataset().map(_as_dictionaries)),
    lambda: image_sources.from_dataset(_dataset().filter(lambda *_: True)),  # Unknown length.
    lambda: image_sources.from_huggingface([
        {"image": i, "label": int(c)} for i, c in zip(IMAGES, LABELS)]),
])
def test_all_sources_make_the_same_set(made):
  found = made()
  assert (found.size, found.num_classes, found.kind) == (7, 3, "single_label")
  np.testing.assert_array_equal(found.pixels(), IMAGES)
  np.testing.assert_array_equal(found.labels, LABELS)


def test_images_of_several_sizes_and_gray_ones():
  sizes = [np.full([size, size, 1], size, np.uint8) for size in (3, 4, 5)]
  dataset = tf.data.Dataset.from_generator(
      lambda: zip(sizes, range(3)), output_signature=(
          tf.TensorSpec([None, None, 1], tf.uint8), tf.TensorSpec([], tf.int64)))
  found = image_sources.from_dataset(dataset)
  assert found.pixels(2)[:, 0, 0, 0].tolist() == [3, 4, 5]
  with pytest.raises(ValueError, match="differ in size; give size="):
    found.pixels()
  assert image_sources.from_arrays(IMAGES[..., 0], LABELS).pixels().shape == (7, 4, 4, 1)


def test_several_labels():
  rows = np.eye(4, dtype=np.int64)[[0, 1, 2, 3, 0, 1, 2]]
  found = image_sources.from_arrays(IMAGES, rows, kind="multi_label")
  assert found.num_classes == 4 and found.labels.shape == (7, 4)


def test_class_folders(tmp_path):
  for number, name in enumerate(["dog", "cat", "dog"]):
    (tmp_path / name).mkdir(exist_ok=True)
    data = tf.io.encode_png(np.full([2, 2, 3], number, np.uint8)).numpy()
    (tmp_path / name / f"{number}.png").write_bytes(data)
  found = image_sources.from_directory(tmp_path)
  assert found.labels.tolist() == [0, 1, 1] and found.ids[0] == "cat/1.png"
  assert found.pixels()[:, 0, 0, 0].tolist() == [1, 0, 2]
  assert image_sources.from_directory(tmp_path, classes=["dog", "cat"]).labels.tolist() == [0, 0, 1]
  (tmp_path / "bird").mkdir()
  with pytest.raises(ValueError, match=r"the class folders \['bird'\] hold no image"):
    image_sources.from_directory(tmp_path)
  with pytest.raises(FileNotFoundError, match="There is no folder"):
    image_sources.from_directory(tmp_path / "photos")


@pytest.mark.parametrize("make, message", [
    (lambda: image_sources.from_dataset(_dataset().repeat()), "is an endless data set; leave out"),
    (lambda: image_sources.from_dataset(
        _dataset().repeat().filter(lambda *_: True), memory_limit_bytes=1000),
     "has not ended after 21 images"),
    (lambda: image_sources.from_dataset(_dataset().take(0)), "is an empty data set"),
    (lambda: image_sources.from_dataset(_dataset().map(lambda i, _: i)), "elements that are one t"),
    (lambda: image_sources.from_dataset(IMAGES), "takes a tf.data.Dataset. Arrays are for from_ar"),
    (lambda: image_sources.from_dataset(_dataset(labels=LABELS.astype(np.float32))),
     "labels of type float32; give class numbers"),
    (lambda: image_sources.from_arrays(IMAGES, list("abcabca")), "labels that are text, such as '"),
    (lambda: image_sources.from_arrays(IMAGES, LABELS[:, None]), r"shape \[7, 1\].*labels\[:, 0\]"),
    (lambda: image_sources.from_arrays(IMAGES, np.eye(3)[LABELS].astype(int)), "np.argmax"),
    (lambda: image_sources.from_arrays(IMAGES / 255, LABELS), "float pixels of at most 1; the sui"),
    (lambda: image_sources.from_arrays(IMAGES - 127.0, LABELS), "has pixels from -127 to"),
    (lambda: image_sources.from_arrays(IMAGES.transpose(0, 3, 1, 2), LABELS), "with 4 channels"),
    (lambda: image_sources.from_arrays(IMAGES, LABELS[:5]), "has 7 images and 5 labels"),
    (lambda: image_sources.from_huggingface([{"img": 1}]), "has no column 'image'; it has img"),
    (lambda: image_set.ImageSet("mine", _dataset().batch(2), LABELS, kind="single_label",
                                num_classes=3), "suite.images.from_dataset"),
])
def test_mistakes_are_said(make, message):
  with pytest.raises(ValueError, match=message):
    make()
