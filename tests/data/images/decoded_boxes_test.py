# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Boxes of images of which no more is decoded than they need: the pixels of whole images."""

from __future__ import annotations

import dataclasses
import functools
import io

import numpy as np
from PIL import Image
import pytest
import tensorflow as tf

from suite.data.images import clear_transform
from suite.data.images import contrastive_views
from suite.data.images import decoding
from suite.data.images import image_ops
from suite.data.images import sampling

NEVIS = image_ops.Nevis(16)
FORMS = [dict(format="JPEG", quality=92, subsampling=s) for s in (0, 1, 2)] + [
    dict(format="JPEG", quality=60, subsampling=2, progressive=True), dict(format="JPEG", mode="L"),
    dict(format="JPEG", mode="CMYK"), dict(format="PNG"), dict(format="PNG", mode="L"),
    dict(format="BMP"), dict(format="GIF"), dict(format="JPEG", restart_marker_blocks=1)]


def _picture(rng, height, width):
  """Colors that change within a few pixels, for which a decoder smooths."""
  coarse = rng.integers(0, 256, [-(-height // 5), -(-width // 5), 3], dtype=np.uint8)
  fine = np.kron(coarse, np.ones([5, 5, 1]))[:height, :width]
  return np.clip(fine + rng.normal(0, 20, fine.shape), 0, 255).astype(np.uint8)


def _encoded(pixels, format, mode="RGB", **how):
  file = io.BytesIO()
  Image.fromarray(pixels).convert(mode).save(file, format=format, **how)
  return file.getvalue()


def _files(num, seed=0):
  """Files of random sizes, some of few pixels, in turn of all forms."""
  rng = np.random.default_rng(seed)
  sides = rng.integers(1, np.where(np.arange(num) % 5, 150, 20)[:, None], [num, 2])
  return [_encoded(_picture(rng, *map(int, pair)), **FORMS[i % len(FORMS)])
          for i, pair in enumerate(sides)]


def _through_pipeline(files, transform, seeds, training, headers=None):
  batch = {"image": tf.constant(files), "seed": seeds, "id": tf.constant(["x"] * len(files))}
  if headers is not None:
    batch["header"] = tf.constant(headers)
  return next(iter(decoding.decoded_batches(
      tf.data.Dataset.from_tensors(batch), transform, training=training, name="s",
      are_jpeg=headers is not None and bool(headers[:, 2].all()))))["image"].numpy()


@pytest.fixture(name="through_pipeline", scope="module")
def _through_shared_pipelines():
  """As `_through_pipeline` with the seeds of the places in _files(44), once for each transform."""
  seeds = sampling.row_seeds((1, 44), tf.range(44, dtype=tf.int64))
  files = _files(44)

  @functools.cache
  def through(transform, training):
    return files, seeds, _through_pipeline(files, transform, seeds, training)

  return through


# Evaluation of the second and the third is that of the first, and training by `Plain` evaluation.
@pytest.mark.parametrize("transform, trainings", [
    (NEVIS, (True, False)),
    (dataclasses.replace(NEVIS, uniform_in="area", area=(0.01, 0.2)), (True,)),
    (dataclasses.replace(NEVIS, crop=False, flip_probability=1.0), (True,)),
    (clear_transform.Clear(16, longest=1.5), (True, False)),
    (image_ops.Augmented(dataclasses.replace(NEVIS, size=1), (image_ops.Cutout(4),)),
     (True, False)),
    (image_ops.Plain(8), (False,)),
    (contrastive_views.Views((NEVIS, dataclasses.replace(NEVIS, uniform_in="area"))),
     (True, False))])
def test_pixels_are_those_of_whole_images(transform, trainings, through_pipeline):
  for training in trainings:

    @tf.function(input_signature=[tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.uint64)],
                 autograph=False)
    def whole(file, seed, training=training):
      image = tf.io.decode_image(file, channels=3, expand_animations=False)[None]
      image = tf.ensure_shape(image, [1, None, None, 3])
      return (transform.train(image, seed[None]) if training else transform.evaluate(image))[0]

    files, seeds, got = through_pipeline(transform, training)
    for row, file in enumerate(files):
      np.testing.assert_array_equal(got[row], whole(file, seeds[row]),
                                    err_msg=f"{row} {FORMS[row % len(FORMS)]}")
  assert (image_ops.cropping(transform) is None) == isinstance(transform, image_ops.Plain)


@pytest.mark.parametrize("is_chosen", [
    lambda form: form.get("format") in ("JPEG", "PNG"), lambda form: "subsampling" in form])
def test_headers_that_are_known_give_the_same_pixels(is_chosen, through_pipeline):
  files, seeds, wanted = through_pipeline(NEVIS, True)
  rows = [i for i in range(len(files)) if is_chosen(FORMS[i % len(FORMS)])]
  chosen = [files[i] for i in rows]
  headers = decoding.headers(chosen)
  np.testing.assert_array_equal(headers, [decoding._header(file) for file in chosen])
  found = _through_pipeline(chosen, NEVIS, tf.gather(seeds, rows), True, headers)
  np.testing.assert_array_equal(found, wanted[rows])
  assert decoding.headers([*chosen, b"GIF89a"]) is None


@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_a_box_at_any_place_of_a_block_is_that_of_the_whole_image(subsampling):
  """Blocks of JPEG have 8 or 16 pixels a side; boxes begin and end at each of them."""
  file = _encoded(_picture(np.random.default_rng(3), 50, 60), "JPEG", quality=90,
                  subsampling=subsampling)
  whole = tf.io.decode_jpeg(file, channels=3)[None]
  boxes = tf.constant([(y, x, h, w) for y, x in zip(range(17), range(33, 16, -1))
                       for h, w in ((1, 17), (16, 9), (2.5, 26))], tf.float64)
  sides = tf.repeat([[50, 60]], len(boxes), 0)
  windows = image_ops.windows_of(
      image_ops.corners_of(boxes[:, None], sides[:, None], 16), sides)
  assert (windows.crop[:, 2:].numpy() <= boxes[:, 2:].numpy() + 9).all()
  resampled = image_ops.resample(tf.repeat(whole, len(boxes), 0), boxes, 16)
  for place, wanted in enumerate(resampled):
    window = tf.nest.map_structure(lambda part, place=place: part[place], windows)
    pixels = tf.io.decode_and_crop_jpeg(file, window.crop, channels=3)
    np.testing.assert_array_equal(image_ops.resampled_window(pixels, window, 16)[0], wanted)


def test_a_subclass_that_changes_whole_images_gets_whole_images(through_pipeline):

  class Inverted(image_ops.Nevis):

    def train(self, images, seeds):
      return 255 - super().train(images, seeds)

  files, seeds, wanted = through_pipeline(NEVIS, True)
  assert image_ops.cropping(Inverted(16)) is None
  assert image_ops.cropping(image_ops.Augmented(Inverted(16))) is None
  np.testing.assert_array_equal(_through_pipeline(files, Inverted(16), seeds, True), 255 - wanted)


def test_a_damaged_image_is_named():
  good = _encoded(_picture(np.random.default_rng(0), 40, 40), "JPEG")
  bad = tf.Variable("")  # One pipeline for all.
  batches = tf.data.Dataset.range(1).map(lambda _: {
      "image": tf.stack([good, bad.read_value(), good]), "seed": tf.constant([1, 2, 3], tf.uint64),
      "id": tf.constant(["a", "cat_7", "b"])})
  decoded = decoding.decoded_batches(batches, image_ops.Nevis(8, crop=False), training=False,
                                     name="pets")
  for one in (good[:10], good[:len(good) // 2], b"", b"\x89PNG\r\n\x1a\n" + good[:30]):
    bad.assign(one)
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)pets cannot be decoded.*cat_7"):
      list(decoded)
  bad.assign(good)
  assert len(list(decoded)) == 1
