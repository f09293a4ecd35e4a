# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image sets from arrays, data sets, folders: every example once, and mistakes said."""

from __future__ import annotations

import types

import numpy as np
import pandas
from PIL import Image
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from suite.data.images import image_set
from suite.data.own import image_sources
from suite.data.streams import buckets

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
  np.testing.assert_array_equal(found.images, IMAGES)
  np.testing.assert_array_equal(found.labels, LABELS)


def test_images_of_several_sizes_and_gray_ones():
  sizes = [np.full([size, size, 1], size, np.uint8) for size in (3, 4, 5)]
  dataset = tf.data.Dataset.from_generator(
      lambda: zip(sizes, range(3)), output_signature=(
          tf.TensorSpec([None, None, 1], tf.uint8), tf.TensorSpec([], tf.int64)))
  found = image_sources.from_dataset(dataset)
  assert found.pixels(2)[:, 0, 0, 0].tolist() == [3, 4, 5]
  with pytest.raises(ValueError, match=r"differ in size; give size=, .*images.pixels\(size=64\)"):
    _ = found.images
  assert image_sources.from_arrays(IMAGES[..., 0], LABELS).pixels().shape == (7, 4, 4, 1)
  listed = image_sources.from_arrays(sizes, ["b", "a", "b"], ids=["x", "y", "z"])
  assert listed.pixels(2)[:, 0, 0, 0].tolist() == [3, 4, 5]
  assert listed.labels.tolist() == [1, 0, 1] and listed.ids.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("rows, wanted", [
    (np.eye(4, dtype=np.int64)[[0, 1, 2, 3, 0, 1, 2]], [[0], [1], [2], [3], [0], [1], [2]]),
    (np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1]] + [[0, 0, 1]] * 3, np.float32),
     [[0, 1], [], [1, 2], [0, 1, 2], [2], [2], [2]]),
    ([[0, 2], [1], [], [2], [0], [1], [3]], [[0, 2], [1], [], [2], [0], [1], [3]]),
    ([["a", "c"], ["b"], [], ["c"], ["a"], ["b"], ["d"]], [[0, 2], [1], [], [2], [0], [1], [3]])])
def test_several_labels(rows, wanted):
  found = image_sources.from_arrays(IMAGES, rows, kind="multi_label")
  assert [np.flatnonzero(row).tolist() for row in found.labels] == wanted


@pytest.mark.parametrize("labels, names", [
    (list("bcabcab"), ["a", "b", "c"]), (np.array(list("bcabcab"), object), ["a", "b", "c"]),
    (pandas.Series(list("bcabcab"), dtype="category"), ["a", "b", "c"]),
    (np.eye(3, dtype=np.float32)[[1, 2, 0, 1, 2, 0, 1]], None),
    (pandas.Series([1, 2, 0, 1, 2, 0, 1], dtype="Int64"), None)])
def test_names_and_one_hot_rows_become_class_numbers(labels, names):
  found = image_sources.from_arrays(IMAGES, labels)
  assert found.labels.tolist() == [1, 2, 0, 1, 2, 0, 1] and found.num_classes == 3
  assert found.class_names == (names and tuple(names))


def test_names_that_are_numbers_are_sorted_by_value():
  found = image_sources.from_arrays(IMAGES, ["10", "9", "1"] * 2 + ["1"])
  assert found.class_names == ("1", "9", "10") and found.labels.tolist() == [2, 1, 0, 2, 1, 0, 0]


def test_names_are_places_in_the_names_that_are_given():
  found = image_sources.from_arrays(IMAGES, list("bcabcab"), class_names=["c", "x", "b", "a"])
  assert found.labels.tolist() == [2, 0, 3, 2, 0, 3, 2] and found.num_classes == 4


@pytest.mark.parametrize("mode, labels", [
    ("categorical", [0, 0, 1, 1]), ("int", [0, 0, 1, 1]), ("binary", [0, 0, 1, 1])])
def test_class_folders_by_keras(tmp_path, mode, labels):
  for number, name in enumerate(["cat", "cat", "dog", "dog"]):
    (tmp_path / name).mkdir(exist_ok=True)
    tf.io.write_file(str(tmp_path / name / f"{number}.png"),
                     tf.io.encode_png(np.full([4, 4, 3], 40 * number, np.uint8)))
  dataset = tf.keras.utils.image_dataset_from_directory(
      tmp_path, label_mode=mode, image_size=(4, 4), shuffle=False, batch_size=3)
  found = image_sources.from_dataset(dataset)
  assert found.labels.tolist() == labels and found.class_names == ("cat", "dog")
  assert found.pixels()[:, 0, 0, 0].tolist() == [0, 40, 80, 120]


def test_features():
  vectors = IMAGES.reshape(7, -1) / 100.0 - 1
  found = image_sources.from_features(vectors, list("abcabca"))
  np.testing.assert_array_equal(found.features, vectors.astype(np.float32))
  assert found.labels.tolist() == LABELS.tolist() and found.class_names == ("a", "b", "c")
  with pytest.raises(AttributeError, match="'mine' holds no images; its examples are .features"):
    _ = found.images
  with pytest.raises(ValueError, match=r"shape \[7, 4, 4, 3\]; expected numbers \[N, D\]. Images"):
    image_sources.from_features(IMAGES, LABELS)
  with pytest.raises(ValueError, match="has 7 feature vectors and 5 labels"):
    image_sources.from_features(vectors, LABELS[:5])


class _Rows(list):
  """A Hugging Face `Dataset`: rows, and features of its columns."""

  def __init__(self, labels, **feature):
    super().__init__({"image": i, "label": c} for i, c in zip(IMAGES, labels))
    self.features = {"label": types.SimpleNamespace(**feature)}


def test_pillow_images_and_paths(tmp_path):
  colors = np.zeros([4, 4, 3], np.uint8)
  colors[:2], colors[2:] = (250, 20, 20), (20, 20, 250)
  palette = Image.fromarray(colors).quantize(4)
  found = image_sources.from_arrays([palette, palette], ["a", "b"])
  np.testing.assert_array_equal(found.pixels(), [colors, colors])
  Image.fromarray(colors).save(tmp_path / "a.png")
  rows = [{"image": path, "label": 0} for path in (str(tmp_path / "a.png"), tmp_path / "a.png")]
  np.testing.assert_array_equal(image_sources.from_huggingface(rows).pixels(), [colors, colors])


def test_names_of_hugging_face():
  rows = _Rows([2, 0, 1, 2], names=["ant", "bee", "cat"], num_classes=3)
  found = image_sources.from_huggingface(rows)
  assert found.class_names == ("ant", "bee", "cat") and found.labels.tolist() == [2, 0, 1, 2]
  element = types.SimpleNamespace(names=["ant", "bee", "cat"], num_classes=3)
  listed = image_sources.from_huggingface(_Rows([[0, 1], [1, 0], [0, 2]], feature=element))
  assert listed.labels.tolist() == [[1, 1, 0], [1, 1, 0], [1, 0, 1]]
  assert (listed.kind, listed.class_names) == ("multi_label", ("ant", "bee", "cat"))
  named = image_sources.from_huggingface({"image": IMAGES[:3], "label": ["b", "a", "b"]})
  assert named.labels.tolist() == [1, 0, 1] and named.class_names == ("a", "b")


def test_an_image_folder_of_tfds_keeps_its_names(tmp_path):
  def builder(*classes):
    for split in ("train", "test"):
      for number, name in enumerate(classes * 2):
        path = tmp_path / "".join(classes) / split / name / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full([4, 4, 3], 40 * number, np.uint8)).save(path)
    return tfds.ImageFolder(str(tmp_path / "".join(classes)))

  first, second = builder("cat", "dog"), builder("dog", "eel")
  found = image_sources.from_tfds(first)
  assert (found.name, found.class_names, found.size) == ("catdog train", ("cat", "dog"), 4)
  assert sorted(zip(found.pixels()[:, 0, 0, 0].tolist(), found.labels.tolist())) == [
      (0, 0), (40, 1), (80, 0), (120, 1)]
  assert image_sources.from_tfds(first, "train[:1]+test").size == 5
  pipeline = second.as_dataset(split="train")
  with pytest.raises(ValueError, match=r"from_tfds\(builder, split\), or class_names=builder"):
    image_sources.from_dataset(pipeline)
  for other in (image_sources.from_tfds(second, "train"), image_sources.from_dataset(
      pipeline, class_names=second.info.features["label"].names)):
    assert other.class_names == ("dog", "eel")
    joined = buckets.of([found, other], class_names=["cat", "dog", "eel"])
    assert set(joined[1].train.labels.tolist()) == {1, 2}
  with pytest.raises(ValueError, match="was given list; it takes the name of a prepared data set"):
    image_sources.from_tfds([first])
  with pytest.raises(ValueError, match="data_dir='x' is for a name"):
    image_sources.from_tfds(first, data_dir="x")


def test_splits_of_hugging_face():
  names = {"names": ["a", "b", "c"], "num_classes": 3}
  source = {"train": _Rows(LABELS, **names), "val": _Rows([2, 1], **names),
            "test": _Rows([0], **names), "extra": _Rows([1], **names)}
  found = image_sources.from_huggingface(source, name="pets")
  assert {split: one.labels.tolist() for split, one in found.items()} == {
      "train": LABELS.tolist(), "validation": [2, 1], "test": [0], "extra": [1]}
  assert found["test"].name == "pets test"
  np.testing.assert_array_equal(found["validation"].pixels(), IMAGES[:2])
  assert image_sources.from_huggingface(source, split="val").labels.tolist() == [2, 1]
  with pytest.raises(ValueError, match="has no split 'dev'; it has train, val, test, extra"):
    image_sources.from_huggingface(source, split="dev")
  with pytest.raises(KeyError, match="'pets' has no set 'dev'; it has train, validation, test"):
    _ = found["dev"]
  with pytest.raises(AttributeError, match="not one image set but the sets train, validation"):
    _ = found.labels
  with pytest.raises(ValueError, match="'val' and 'valid', which both mean 'validation'"):
    image_sources.from_huggingface({"val": source["val"], "valid": source["val"]})


@pytest.mark.parametrize("batched", [False, True])
def test_dark_images_of_floats_are_dark(batched):
  images = np.stack([np.full([4, 4, 3], pixel, np.float32) for pixel in (0.6, 200, 1, 30)])
  dataset = _dataset(images, [0, 1, 0, 1])
  found = image_sources.from_dataset(dataset.batch(1) if batched else dataset)
  assert found.pixels()[:, 0, 0, 0].tolist() == [1, 200, 1, 30]


def test_what_may_be_meant_otherwise_is_said(caplog):
  image_sources.from_arrays(np.full([10, 8, 8, 1], 16, np.uint8), np.arange(1, 11))
  said = caplog.text
  assert "labels from 1 to 10 and no image of class 0" in said and "labels - 1" in said
  assert "no pixel above 16 of 255" in said
  caplog.clear()
  image_sources.from_arrays(IMAGES, LABELS)
  image_sources.from_arrays(IMAGES, LABELS + 1, num_classes=4)
  image_sources.from_arrays(IMAGES, ["tench, Tinca", "a", "b"] * 2 + ["a"])
  assert not caplog.text
  labels = ["cat;dog", "cat", "dog"] * 2 + ["cat"]
  image_sources.from_arrays(IMAGES, labels)
  assert "1 classes that look like several ones, such as 'cat;dog'" in caplog.text
  several = image_sources.from_arrays(
      IMAGES, [label.split(";") for label in labels], kind="multi_label")
  assert several.class_names == ("cat", "dog")


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
    (lambda: image_sources.from_dataset(IMAGES), "takes a tf.data.Dataset, such as"),
    (lambda: image_sources.from_dataset(_dataset(labels=LABELS.astype(np.float32))),
     "labels of type float32; give class numbers"),
    (lambda: image_sources.from_arrays(IMAGES, ["a", "b", ""] * 2 + ["a"]),
     "is unlabelled in part: 2 of 7 labels are empty"),
    (lambda: image_sources.from_arrays(IMAGES, ["a", None, "b", "a", float("nan"), "b", "a"]),
     "2 of 7 labels are empty .None or NaN"),
    (lambda: image_sources.from_arrays(IMAGES, [0, -1, 1, 0, 1, 1, 0]),
     "is unlabelled in part: 1 of 7 labels are -1"),
    (lambda: image_sources.from_huggingface([{"image": i, "label": -1} for i in IMAGES]),
     "is unlabelled: 7 of 7 labels are -1"),
    (lambda: image_sources.from_arrays(IMAGES, [0.0, np.nan, 1, 0, 1, 1, 0]), "labels are NaN"),
    (lambda: image_sources.from_arrays(IMAGES, list("abcabca"), class_names=["a", "b"]),
     "has the classes 'a', 'b', 'c'; 'c' are not among the classes wanted"),
    (lambda: image_sources.from_arrays(IMAGES, LABELS[:, None]), r"shape \[7, 1\].*labels\[:, 0\]"),
    (lambda: image_sources.from_arrays(IMAGES, np.eye(3)[LABELS].astype(int) | [1, 0, 0]),
     "not all of them one-hot.*np.argmax.*kind='multi_label'"),
    (lambda: image_sources.from_arrays(IMAGES / 255, LABELS), "float pixels of at most 1; the sui"),
    (lambda: image_sources.from_dataset(_dataset(IMAGES / 255)), "pixels of at most 1; the suite"),
    (lambda: image_sources.from_arrays(IMAGES - 127.0, LABELS), "has pixels from -127 to"),
    (lambda: image_sources.from_arrays(IMAGES.transpose(0, 3, 1, 2), LABELS), "with 4 channels"),
    (lambda: image_sources.from_arrays(IMAGES, LABELS[:5]), "has 7 images and 5 labels"),
    (lambda: image_sources.from_arrays(IMAGES[..., 0].reshape(7, 16), LABELS),
     r"shape \[7, 16\], a row each; give pixels .*reshape\(-1, 4, 4\)"),
    (lambda: image_sources.from_dataset({"train": 1}), "given dict of train; from_dataset takes a"),
    (lambda: image_sources.from_arrays(IMAGES, None), "has no labels; give a class number or a na"),
    (lambda: image_sources.from_arrays(IMAGES, LABELS - 5), "labels from -5 to -3; class numbers"),
    (lambda: image_sources.from_arrays(IMAGES, LABELS * 10**6), "3 different labels from 0 to"),
    (lambda: image_sources.from_arrays(IMAGES, LABELS, kind="multi_label"), "takes rows of 0"),
    (lambda: image_sources.from_arrays(IMAGES * np.nan, LABELS), "pixels that are NaN"),
    (lambda: image_sources.from_huggingface("beans"), "datasets.load_dataset..beans., split"),
    (lambda: image_sources.from_huggingface({}), "has no splits; give a DatasetDict"),
    (lambda: image_sources.from_huggingface(list(zip(IMAGES, LABELS))), "rows of type tuple; expe"),
    (lambda: image_sources.from_huggingface(_Rows(LABELS), split="train"), "is for a DatasetDict"),
    (lambda: image_sources.from_arrays(IMAGES, [[0]] * 6 + [[1, 2]]), "lists of several lengths"),
    (lambda: image_sources.from_arrays(IMAGES, [["a", "b"]] * 7),
     r"has the label \['a', 'b'\]; an image has one name, or for kind='multi_label' a list"),
    (lambda: image_sources.from_arrays(IMAGES, list("abcabca"), kind="multi_label"),
     "has the label 'a'; an image has one name, or for kind='multi_label' a list of names"),
    (lambda: image_sources.from_arrays(IMAGES, [[10**9]] * 6 + [[1, 2]], kind="multi_label"),
     "have 3 from 1 to 1000000000; allowed are 0..9999. Give names"),
    (lambda: image_sources.from_huggingface([{"img": 1}]), "has no column 'image'; it has img"),
    (lambda: image_set.ImageSet("mine", _dataset().batch(2), LABELS, kind="single_label",
                                num_classes=3), "suite.images.from_dataset"),
])
def test_mistakes_are_said(make, message):
  with pytest.raises(ValueError, match=message):
    make()
