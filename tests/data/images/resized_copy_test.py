# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A packed copy has the examples of its split, is made once, and survives kills and a full disk."""

from __future__ import annotations

import errno
import json
import pathlib
import shutil
import threading

import numpy as np
import pytest
import tensorflow as tf

from suite import cli
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.images import packed_images
from suite.data.images import prepared_sets
from suite.data.images import resized_copy
from suite.data.images import tfds_source
from suite.system import file_lock
from suite.system import sealed_json

SIDE = 4  # The pictures have 6 to 8 x 7 pixels.


@pytest.fixture(name="data_dir")
def _data_dir(pictures_dir, tmp_path, monkeypatch):
  monkeypatch.setattr(resized_copy, "PART_SIZE", 8)  # 23 pictures: 8, 8, 7.
  return shutil.copytree(pictures_dir, tmp_path / "data")


@pytest.fixture(name="made", scope="module")
def _made(pictures_dir, tmp_path_factory):
  """Data beside which a copy of the images of several shapes is."""
  folder = shutil.copytree(pictures_dir, tmp_path_factory.mktemp("made") / "data")
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(resized_copy, "PART_SIZE", 8)
    _source(folder)
  return folder


@pytest.fixture(name="parts")
def _parts(monkeypatch):
  """The numbers of images that are decoded, part by part."""
  found, decoded = [], resized_copy._decoded
  monkeypatch.setattr(resized_copy, "_decoded",
                      lambda *a: found.append(len(a[1]["label"])) or decoded(*a))
  return found


def _source(data_dir, config="mixed", side=SIDE):
  return prepared_sets.open_source(f"suite_test_pictures/{config}", "train", data_dir=data_dir,
                                   resized_side=side)


def _images(data_dir, config="mixed", side=SIDE, **limit):
  return prepared_sets.read_source(_source(data_dir, config, side), **limit)


def _folder(data_dir, config="mixed", side=SIDE):
  version = pathlib.Path(data_dir, "suite_test_pictures", config, "1.0.0")
  return version / "packed" / str(side) / "train"


@pytest.mark.parametrize("config", ["mixed", "multi_hot"])
def test_examples_are_those_of_the_split_with_smaller_images(data_dir, config):
  images = _images(data_dir, config, memory_limit_bytes=0)
  originals, labels, ids = _source(data_dir, config, side=None).read()
  np.testing.assert_array_equal(images.labels, labels)
  assert images.labels.dtype == labels.dtype and list(images.ids) == ids
  for place, original in enumerate(originals):
    pixels = images.store.image(place)
    before = tf.io.decode_image(original, 3)
    height, width = before.shape[:2]
    shorter = min(height, width)
    sides = [round(height * SIDE / shorter), round(width * SIDE / shorter)]
    assert list(pixels.shape[:2]) == sides and min(sides) == SIDE
    # An oracle: each new pixel is a triangle-weighted mean of the old ones, first along y, then x.
    rows = _triangle(height, sides[0]) @ np.asarray(before, np.float64).reshape(height, -1)
    found = np.einsum("xw,hwc->hxc", _triangle(width, sides[1]),
                      rows.reshape(sides[0], width, 3))
    np.testing.assert_allclose(pixels, found, atol=0.51)


def _triangle(old, new):
  """Weights [new, old] of antialiased bilinear resizing."""
  scale = old / new
  centers = (np.arange(new) + 0.5) * scale
  weights = np.maximum(0, 1 - np.abs(np.arange(old)[None] + 0.5 - centers[:, None]) / scale)
  return weights / weights.sum(1, keepdims=True)


def test_smaller_images_keep_their_pixels_and_records_say_how_many_do_not(data_dir):
  images, originals = _images(data_dir, side=6), _source(data_dir, side=None).read()[0]
  originals = [tf.io.decode_image(one, 3).numpy() for one in originals]
  are_same = [np.array_equal(images.store.image(i), one) for i, one in enumerate(originals)]
  assert are_same == [min(one.shape[:2]) <= 6 for one in originals]
  about = _source(data_dir, side=6).describe()
  assert about["side"] == 6 and about["resized"] == are_same.count(False) > 0
  assert about["format"] == packed_images.FORMAT and len(about["sha256"]) == 16


def test_a_copy_is_made_once_and_again_if_the_data_changed(data_dir, parts):
  before = _source(data_dir).describe()
  assert _source(data_dir).describe() == before and parts == [8, 8, 7]
  path = _folder(data_dir) / packed_images.MANIFEST
  manifest = sealed_json.read(path)
  manifest["of"]["num_bytes"] += 1
  path.write_text(sealed_json.text(manifest))
  (_folder(data_dir) / "of.json").write_text(json.dumps(manifest["of"]))
  assert _source(data_dir).describe() == before and parts == 2 * [8, 8, 7]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left")])
def test_a_killed_process_or_full_disk_leaves_whole_parts_and_the_next_resumes(
    data_dir, made, monkeypatch, parts, stop):
  whole = _source(made).describe()
  pixels = (_folder(made) / packed_images.PIXELS).read_bytes()
  bordered, calls = packed_images.bordered, []

  def until(image):
    calls.append(1)
    if len(calls) == 8 + 8 + 3:  # In the middle of the third part.
      raise stop
    return bordered(image)

  monkeypatch.setattr(packed_images, "bordered", until)
  with pytest.raises((KeyboardInterrupt, OSError)) as error:
    _source(data_dir)
  if isinstance(stop, OSError):
    assert str(error.value).startswith("Cannot write resized images to ") and "\n" not in str(
        error.value) and "What is finished is kept: make room" in str(error.value)
  with open(_folder(data_dir) / packed_images.PIXELS, "ab") as file:
    file.write(b"half an image")
  monkeypatch.setattr(packed_images, "bordered", bordered)
  del parts[:]
  assert _source(data_dir).describe() == whole and parts == [7]
  assert (_folder(data_dir) / packed_images.PIXELS).read_bytes() == pixels


def test_runs_that_start_together_make_one_copy(data_dir, parts):
  found = []
  threads = [threading.Thread(target=lambda: found.append(_source(data_dir).describe()))
             for _ in range(3)]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  assert len(parts) == 3 and found[0] == found[1] == found[2]


def _flip(path):
  data = bytearray(path.read_bytes())
  data[-1] ^= 1
  path.write_bytes(data)


def _older(path):
  manifest = sealed_json.read(path)
  path.write_text(sealed_json.text({**manifest, "format": 0}))


@pytest.mark.parametrize("name, harm, message", [
    ("pixels.bin", _flip, "pixels.bin was changed after it was made"),
    ("pixels.bin", lambda path: path.unlink(), "pixels.bin has no bytes, but [0-9,]+ were written"),
    ("pixels.bin", lambda path: path.write_bytes(b"abc"), "pixels.bin has 3 bytes, but [0-9,]+ w"),
    ("index.npz", _flip, "index.npz is missing or was changed after it was made"),
    ("packed.json", lambda path: path.write_text("{"), "packed.json is damaged"),
    ("packed.json", _older, "packed images of format 0; this version reads format 1")])
def test_a_copy_that_is_not_what_was_made_is_refused(data_dir, name, harm, message):
  _source(data_dir)
  harm(_folder(data_dir) / name)
  with pytest.raises(ValueError, match=f"{message}.*Delete .*train; it is then made again"):
    _source(data_dir)


def test_batches_are_those_of_the_images_held_in_memory(data_dir):
  packed = _images(data_dir, memory_limit_bytes=0)
  assert isinstance(packed.store, packed_images.PackedStore)
  encoded = [tf.io.encode_png(packed.store.image(place)).numpy() for place in range(packed.size)]
  held = image_set.ImageSet.from_encoded(
      packed.name, encoded, packed.labels, kind=packed.kind, num_classes=packed.num_classes,
      ids=packed.ids, memory_limit_bytes=0)
  part = np.array([20, 3, 3 + 4])
  for one, other, transform in ((packed, held, image_ops.Plain(5)),
                                (packed.subset(part), held.subset(part), image_ops.Nevis(3))):
    pairs = [*zip(one.eval_batches(7, transform=transform),
                  other.eval_batches(7, transform=transform)),
             *zip(one.train_batches(6, seed=(0, 1), transform=transform, first_step=3).take(5),
                  other.train_batches(6, seed=(0, 1), transform=transform, first_step=3))]
    assert len(pairs) >= 6
    for a, b in pairs:
      assert sorted(a) == sorted(b)
      for key, value in a.items():
        np.testing.assert_array_equal(value, b[key], err_msg=key)
  assert packed.within(1, seed=0) is packed  # It is in no process's own memory.


def test_images_of_one_shape_are_an_array_if_they_fit(data_dir):
  for limit, kind in ((2**20, "RawStore"), (0, "PackedStore")):
    images = _images(data_dir, "same_shape", memory_limit_bytes=limit)
    assert type(images.store).__name__ == kind
  np.testing.assert_array_equal(
      images.store.image(5), _images(data_dir, "same_shape").pixels()[5])


def test_copies_are_listed_and_deleted(data_dir, capsys):
  _source(data_dir)
  _source(data_dir, "multi_hot", 5)
  (_folder(data_dir) / packed_images.MANIFEST).unlink()
  older = _folder(data_dir).parents[2] / "resized" / "74" / "train"
  older.mkdir(parents=True)
  (older / "of.json").write_text(json.dumps(
      {"data_set": "suite_test_pictures/mixed", "split": "train", "side": 74}))
  assert cli.main(["data", "copies", "--data_dir", str(data_dir)]) == 0
  rows = [line.split()[:4] for line in capsys.readouterr().out.splitlines()[1:4]]
  assert rows == [["suite_test_pictures/mixed", "train", "4", "unfinished"],
                  ["suite_test_pictures/mixed", "train", "74", "older"],
                  ["suite_test_pictures/multi_hot", "train", "5", "complete"]]
  command = ["data", "copies", "suite_test_pictures/mixed", "--delete"]
  assert cli.main([*command, "--data_dir", str(data_dir)]) == 0
  assert "2 copies, " in capsys.readouterr().out
  [left] = resized_copy.copies(data_dir)
  assert left.data_set == "suite_test_pictures/multi_hot" and left.num_bytes > 23 * 7 * 7 * 3
  with file_lock.held(left.folder.parent / "train.lock"), pytest.raises(file_lock.LockedError):
    resized_copy.evict(left)


def test_an_image_that_cannot_be_decoded_is_named(data_dir, monkeypatch):
  read = tfds_source.SplitSource.examples

  def broken(self):
    return read(self).map(lambda e: {
        **e, "image": tf.where(e["id"] == "picture_11", "no image", e["image"])})

  monkeypatch.setattr(tfds_source.SplitSource, "examples", broken)
  with pytest.raises(ValueError, match="Image 'picture_11' of data set .* cannot be decoded"):
    _source(data_dir, "same_shape")


def test_least_side_is_eight_sevenths():
  assert [resized_copy.least_side(size) for size in (7, 32, 64, 224)] == [8, 37, 74, 256]
  with pytest.raises(ValueError, match="resized_side=0"):
    resized_copy.open_split(None, 0)
