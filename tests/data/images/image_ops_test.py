# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image transforms against slow per-image oracles, eagerly and inside tf.data."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import image_ops
from suite.data.images import sampling

SEEDS = sampling.row_seeds((3, 4), tf.range(16, dtype=tf.int64))


def _images(height, width, channels=3, num=16):
  rng = np.random.default_rng([height, width, channels])
  return rng.integers(0, 256, (num, height, width, channels)).astype(np.uint8)


def _oracle(image, box, size, flip=False):
  """One image, pixel by pixel: half-pixel centers, edges repeated."""
  y, x, height, width = box
  out = np.zeros((size, size, image.shape[-1]))
  for i in range(size):
    for j in range(size):
      row = np.clip(y + (i + 0.5) * height / size - 0.5, 0, image.shape[0] - 1)
      column = np.clip(x + (j + 0.5) * width / size - 0.5, 0, image.shape[1] - 1)
      top, left = int(row), int(column)
      bottom, right = min(top + 1, image.shape[0] - 1), min(left + 1, image.shape[1] - 1)
      a, b = row - top, column - left
      out[i, j] = ((1 - a) * ((1 - b) * image[top, left] + b * image[top, right])
                   + a * ((1 - b) * image[bottom, left] + b * image[bottom, right]))
  return out[:, ::-1] if flip else out


def _box_oracle(draws, height, width, area=(0.08, 1.0), aspect=(3 / 4, 4 / 3)):
  for a, r, y, x in np.reshape(draws, (10, 4)):
    pixels = (area[0] + a * (area[1] - area[0])) * height * width
    ratio = aspect[0] + r * (aspect[1] - aspect[0])
    w, h = np.sqrt(pixels * ratio), np.sqrt(pixels / ratio)
    if w <= width and h <= height:
      return y * (height - h), x * (width - w), h, w
  return 0.0, 0.0, height, width


def _box_by_height_oracle(draws, height, width, area=(0.08, 1.0), aspect=(3 / 4, 4 / 3)):
  for r, u, y, x in np.reshape(draws, (10, 4)):
    ratio = aspect[0] + r * (aspect[1] - aspect[0])
    lowest, highest = (np.sqrt(share * height * width / ratio) for share in area)
    highest = min(highest, height, width / ratio)
    h = lowest + u * (highest - lowest)
    if lowest <= highest and h * h * ratio >= 0.1 * height * width:
      return y * (height - h), x * (width - h * ratio), h, h * ratio
  side = min(height, width)
  return (height - side) // 2, (width - side) // 2, side, side


SIZES = [(8, 8), (5, 20), (20, 5), (64, 48), (1, 1), (3, 3), (2, 60)]


@pytest.mark.parametrize("height, width", SIZES)
def test_random_boxes_equal_the_slow_oracle(height, width):
  draws = sampling.uniform(SEEDS, 40)
  area, aspect = (0.08, 1.0), (3 / 4, 4 / 3)
  boxes = image_ops.random_boxes(draws, height, width, area=area, aspect=aspect)
  want = [_box_oracle(row, height, width) for row in draws.numpy()]
  np.testing.assert_allclose(boxes, want, rtol=1e-12)


@pytest.mark.parametrize("height, width", SIZES)
def test_random_crops_equal_the_slow_oracle(height, width):
  images = _images(height, width)
  got = image_ops.Nevis(12).train(images, SEEDS).numpy()
  draws = sampling.uniform(SEEDS, 41).numpy()
  for b in range(16):
    box = _box_by_height_oracle(draws[b, :40], height, width)
    want = _oracle(images[b], box, 12, draws[b, 40] < 0.5)
    np.testing.assert_allclose(got[b], want, atol=0.51)


def test_random_crops_can_be_drawn_by_area():
  images = _images(20, 5)
  got = image_ops.Nevis(12, uniform_in="area").train(images, SEEDS).numpy()
  draws = sampling.uniform(SEEDS, 41).numpy()
  want = [_oracle(images[b], _box_oracle(draws[b, :40], 20, 5), 12, draws[b, 40] < 0.5)
          for b in range(16)]
  np.testing.assert_allclose(got, want, atol=0.51)
  with pytest.raises(ValueError, match="uniform_in is 'width'; allowed are 'height', 'area'"):
    image_ops.Nevis(12, uniform_in="width")


@pytest.mark.parametrize("transform", [image_ops.Nevis(16), image_ops.Plain(16)])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_row_is_the_same_in_any_batch_eager_or_in_a_pipeline(transform, channels):
  images = _images(13, 21, channels)
  eager = transform.train(images, SEEDS).numpy()
  alone = np.concatenate([transform.train(images[b:b + 1], SEEDS[b:b + 1]) for b in range(3)])
  train = tf.autograph.experimental.do_not_convert(transform.train)
  dataset = tf.data.Dataset.from_tensors((images, SEEDS)).map(train)
  unknown = tf.function(transform.train, input_signature=[
      tf.TensorSpec([None, None, None, channels], tf.uint8), tf.TensorSpec([None], tf.uint64)],
                        autograph=False)
  np.testing.assert_array_equal(eager[:3], alone)
  np.testing.assert_array_equal(eager, next(iter(dataset)))
  np.testing.assert_array_equal(eager, unknown(images, SEEDS))
  assert eager.shape == (16, 16, 16, 3) and eager.dtype == np.uint8


def test_boxes_keep_to_area_aspect_and_image():
  height, width = 40, 70
  draws = sampling.uniform(sampling.row_seeds((1, 1), tf.range(4000, dtype=tf.int64)), 40)
  boxes = image_ops.random_boxes(draws, height, width, area=(0.08, 1.0), aspect=(3 / 4, 4 / 3))
  y, x, h, w = boxes.numpy()[boxes[:, 3] < width].T
  assert len(y) > 3980  # The rest found no box in ten attempts and is whole.
  share, aspect, eps = h * w / (height * width), w / h, 1e-9
  assert share.min() >= 0.08 - eps and share.max() <= 1 + eps
  assert aspect.min() >= 3 / 4 - eps and aspect.max() <= 4 / 3 + eps
  assert min(y.min(), x.min()) >= 0
  assert (y + h).max() <= height + eps and (x + w).max() <= width + eps
  assert share.min() < 0.09 and share.max() > 0.7  # A wide image holds no square box of all of it.


def test_an_image_too_long_for_any_box_is_used_whole():
  draws = sampling.uniform(SEEDS, 40)
  boxes = image_ops.random_boxes(draws, 2, 100, area=(0.5, 1.0), aspect=(3 / 4, 4 / 3))
  np.testing.assert_array_equal(boxes, np.tile([0.0, 0.0, 2.0, 100.0], (16, 1)))


@pytest.mark.parametrize("height, width", [(50, 80), (256, 64)])
def test_boxes_by_height_are_drawn_as_tensorflow_draws_them(height, width):
  num, area, aspect = 4000, (0.08, 1.0), (3 / 4, 4 / 3)
  draws = sampling.uniform(sampling.row_seeds((1, 1), tf.range(num, dtype=tf.int64)), 40)
  boxes = image_ops.random_boxes_by_height(
      draws, height, width, area=area, aspect=aspect, covered=0.1).numpy()

  def other(seed):
    begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
        [height, width, 3], tf.constant([[[0.0, 0.0, 1.0, 1.0]]]), seed=seed,
        min_object_covered=0.1, aspect_ratio_range=aspect, area_range=area, max_attempts=10)
    return tf.concat([begin[:2], size[:2]], 0)

  wanted = tf.function(lambda seeds: tf.map_fn(other, seeds))(
      tf.stack([tf.range(num), tf.range(num)], 1)).numpy().astype(float)
  for name, of in (("area", lambda b: b[:, 2] * b[:, 3] / (height * width)),
                   ("aspect", lambda b: b[:, 3] / b[:, 2]),
                   ("y", lambda b: b[:, 0] / height), ("x", lambda b: b[:, 1] / width)):
    one, two = of(boxes), of(wanted)
    # Pixels are whole there: a height is off by half a pixel at most.
    np.testing.assert_allclose(np.quantile(one, (0.1, 0.5, 0.9)), np.quantile(two, (0.1, 0.5, 0.9)),
                               atol=0.035, err_msg=name)
    assert one.mean() == pytest.approx(two.mean(), abs=0.015), name


def test_a_box_by_height_is_worked_by_hand():
  # Aspect 1 + .5 * 1 = 1.5. A box of area .06 * 100 * 100 is 20 high, the highest has width 100.
  draws = np.zeros([1, 40])
  draws[0, :4] = 0.5, 0.25, 0.5, 1.0
  box = image_ops.random_boxes_by_height(
      tf.constant(draws), 100, 100, area=(0.06, 1.0), aspect=(1.0, 2.0), covered=0.0).numpy()[0]
  height = 20 + 0.25 * (100 / 1.5 - 20)
  np.testing.assert_allclose(box, [(100 - height) / 2, 100 - 1.5 * height, height, 1.5 * height])
  # It covers 15.05% of the image. If that is too little, the next attempt counts.
  draws[0, 4:8] = 0.5, 1.0, 0.0, 0.0
  box = image_ops.random_boxes_by_height(
      tf.constant(draws), 100, 100, area=(0.06, 1.0), aspect=(1.0, 2.0), covered=0.2).numpy()[0]
  np.testing.assert_allclose(box, [0, 0, 100 / 1.5, 100])


def test_without_any_box_by_height_the_central_square_is_taken():
  draws = sampling.uniform(SEEDS, 40)
  boxes = image_ops.random_boxes_by_height(
      draws, 2, 101, area=(0.5, 1.0), aspect=(3 / 4, 4 / 3), covered=0.1)
  np.testing.assert_array_equal(boxes, np.tile([0.0, 49.0, 2.0, 2.0], (16, 1)))


def test_half_of_the_images_are_mirrored():
  image = np.tile(np.arange(0, 80, 10, dtype=np.uint8)[None, None, :, None], (1000, 8, 1, 3))
  seeds = sampling.row_seeds((0, 0), tf.range(1000, dtype=tf.int64))
  out = image_ops.Nevis(8, area=(1.0, 1.0), aspect=(1.0, 1.0)).train(image, seeds).numpy()
  mirrored = out[:, 0, 0, 0] > out[:, 0, -1, 0]
  assert 450 < mirrored.sum() < 550
  want = np.where(mirrored[:, None, None, None], image[:, :, ::-1], image)
  np.testing.assert_array_equal(out, want)


def test_evaluation_takes_the_central_square():
  # 2 x 5, columns 0 10 20 30 40: a square of 2 with one spare pixel left and two right.
  image = np.tile(np.arange(0, 50, 10, dtype=np.uint8)[None, None, :, None], (1, 2, 1, 1))
  out = image_ops.Nevis(2).evaluate(image).numpy()
  assert out[0, :, :, 0].tolist() == [[10, 20], [10, 20]]
  tall = image_ops.Nevis(2).evaluate(image.transpose(0, 2, 1, 3)).numpy()
  assert tall[0, :, :, 0].tolist() == [[10, 10], [20, 20]]
  # Twice as large: samples at columns .75 1.25 1.75 2.25, so the square's neighbors take part.
  assert image_ops.Nevis(4).evaluate(2 * image).numpy()[0, 0, :, 0].tolist() == [15, 25, 35, 45]


@pytest.mark.parametrize("size", [7, 16, 40])
def test_a_whole_image_is_resized_as_tensorflow_does(size):
  images = _images(16, 16)
  want = tf.image.resize(images, [size, size]).numpy()
  np.testing.assert_allclose(image_ops.Plain(size).evaluate(images), want, atol=0.51)


def test_an_image_of_the_right_size_is_left_alone():
  images = _images(8, 8)
  np.testing.assert_array_equal(image_ops.Plain(8).train(images, SEEDS), images)
  np.testing.assert_array_equal(image_ops.Nevis(8).evaluate(images), images)


def test_gray_is_repeated_and_other_channels_are_refused():
  images = _images(8, 8, 1)
  np.testing.assert_array_equal(image_ops.Plain(8).evaluate(images), np.repeat(images, 3, -1))
  with pytest.raises(ValueError, match="Images have 2 channels"):
    image_ops.to_rgb(tf.zeros([1, 2, 2, 2]))


def test_extra_ops_change_training_only_and_a_row_is_the_same_in_any_batch():
  images = _images(16, 16)
  transform = image_ops.Augmented(
      image_ops.Plain(16), ops=(image_ops.Rotate(30.0), image_ops.Cutout(6)))
  assert transform.size == 16
  np.testing.assert_array_equal(transform.evaluate(images), images)
  eager = transform.train(images, SEEDS).numpy()
  assert eager.dtype == np.uint8 and (eager != images).mean() > 0.5
  alone = np.concatenate([transform.train(images[b:b + 1], SEEDS[b:b + 1]) for b in range(3)])
  np.testing.assert_array_equal(eager[:3], alone)
  dataset = tf.data.Dataset.from_tensors((images, SEEDS)).map(
      tf.autograph.experimental.do_not_convert(transform.train))
  np.testing.assert_array_equal(eager, next(iter(dataset)))


def test_cutout_blackens_one_square():
  white = np.full((16, 12, 12, 3), 255, np.uint8)
  out = image_ops.Cutout(4)(white, SEEDS).numpy()
  black = (out == 0).all(-1)
  assert black.any(axis=(1, 2)).all() and black.sum(axis=(1, 2)).max() == 16
  assert len({tuple(np.argwhere(b)[0]) for b in black}) > 4


def test_rotation_keeps_to_its_greatest_angle():
  line = np.zeros((16, 33, 33, 3), np.uint8)
  line[:, 16] = 255
  out = image_ops.Rotate(20.0)(line, SEEDS).numpy()[..., 0].astype(float)
  # Height of the line's right end over its middle, 16 pixels to the right.
  ends = (out[:, :, 30] * np.arange(33)).sum(1) / out[:, :, 30].sum(1) - 16
  angles = np.degrees(np.arctan2(np.abs(ends), 14))
  assert angles.max() < 21 and angles.max() > 8 and (ends > 0).any() and (ends < 0).any()


def test_rand_augment_changes_a_row_by_its_own_seed_eagerly_and_in_a_data_set():
  images, op = _images(8, 8)[:6], image_ops.RandAugment(magnitude=0.5)
  found = op(images, SEEDS[:6]).numpy()
  assert found.dtype == np.uint8 and found.shape == images.shape
  alone = np.concatenate([op(images[b:b + 1], SEEDS[b:b + 1]) for b in range(2)])
  np.testing.assert_array_equal(found[:2], alone)
  dataset = tf.data.Dataset.from_tensors((images, SEEDS[:6])).map(
      tf.autograph.experimental.do_not_convert(lambda x, s: op(x, s)))
  np.testing.assert_array_equal(found, next(iter(dataset)))
  assert (found != images).any(axis=(1, 2, 3)).sum() >= 3
  with pytest.raises(ValueError, match="num_ops=2, magnitude=1.5; allowed are"):
    image_ops.RandAugment(magnitude=1.5)


def test_stored_images_are_left_alone():
  images = tf.ones([2, 4, 4, 1], tf.uint8)
  assert image_ops.AsStored(4).evaluate(images) is images
  assert image_ops.AsStored(4).train(images, None) is images
  with pytest.raises(ValueError, match="4 x 4 pixels; AsStored.size is 5"):
    image_ops.AsStored(5).evaluate(images)


def test_a_transform_without_crop_and_flip_trains_on_what_it_evaluates():
  images = tf.random.stateless_uniform([4, 12, 16, 3], [1, 2], 0, 256, tf.int32)
  images, seeds = tf.cast(images, tf.uint8), tf.constant([1, 2, 3, 4], tf.uint64)
  base = image_ops.Nevis(8)
  for transform in (base, image_ops.Augmented(base)):
    whole = transform.varied(crop=False, flip=False)
    np.testing.assert_array_equal(whole.train(images, seeds), base.evaluate(images))
    flipped = transform.varied(crop=False, flip=True).train(images, seeds).numpy()
    mirrored = [not np.array_equal(a, b) for a, b in zip(flipped, base.evaluate(images))]
    assert any(mirrored) and not all(mirrored)
    np.testing.assert_array_equal(
        transform.varied(crop=True, flip=True).train(images, seeds), base.train(images, seeds))


def test_mirrored_edges_are_those_of_pad_on_random_sizes():
  rng = np.random.default_rng(0)
  calls = {(margin, axis): tf.function(
      lambda images, margin=margin, axis=axis: image_ops.mirrored(images, margin, axis=axis),
      input_signature=[tf.TensorSpec([None, None, None, None], tf.uint8)])
           for margin in (1, 3) for axis in (1, 2)}
  for _ in range(40):
    batch, height, width, channels = rng.integers([1, 3, 3, 1], [4, 40, 40, 4])
    images = tf.constant(rng.integers(0, 256, [batch, height, width, channels]), tf.uint8)
    for (margin, axis), call in calls.items():
      paddings = [[0, 0]] * 4
      paddings[axis] = [margin, margin]
      np.testing.assert_array_equal(call(images), tf.pad(images, paddings, "SYMMETRIC"))


def test_crops_of_random_sizes_and_boxes_are_those_of_padded_images(monkeypatch):
  rng, boxes = np.random.default_rng(1), []
  for _ in range(70):
    height, width = rng.integers(1, 90, 2)
    images = tf.constant(rng.integers(0, 256, [2, height, width, 3]), tf.uint8)
    sides = rng.uniform(0.2, 1.0, [2, 2]) * [height, width]
    starts = rng.uniform(0.0, 1.0, [2, 2]) * ([height, width] - sides)
    boxes.append((images, np.concatenate([starts, sides], 1), rng.random(2) < 0.5))
  found = [image_ops.resample(images, box, 8, flip).numpy() for images, box, flip in boxes]

  def by_pad(images, margin, *, axis):
    paddings = [[0, 0]] * 4
    paddings[axis] = [margin, margin]
    return tf.pad(images, paddings, "SYMMETRIC")

  monkeypatch.setattr(image_ops, "mirrored", by_pad)
  for one, (images, box, flip) in zip(found, boxes):
    np.testing.assert_array_equal(one, image_ops.resample(images, box, 8, flip))
