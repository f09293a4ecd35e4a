# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import PIL.Image
import pytest
import tensorflow as tf

from suite.data.published import numbered_samples


def _image(height, width):
  small = np.random.default_rng(0).integers(0, 256, [height // 8 + 2, width // 8 + 2, 3], np.uint8)
  return np.asarray(PIL.Image.fromarray(small).resize((width, height), PIL.Image.BICUBIC))


def _torchvisions(image, resize, size, interpolation):
  """Resize and CenterCrop of torchvision on a Pillow image."""
  height, width = image.shape[:2]
  if width <= height:
    shape = resize, int(resize * height / width)
  else:
    shape = int(resize * width / height), resize
  found = PIL.Image.fromarray(image).resize(shape, getattr(PIL.Image, interpolation.upper()))
  top, left = round((shape[1] - size) / 2.0), round((shape[0] - size) / 2.0)
  return np.asarray(found.crop((left, top, left + size, top + size))).astype(int)


@pytest.mark.parametrize("interpolation", numbered_samples.INTERPOLATIONS)
@pytest.mark.parametrize("sides", [(95, 120), (140, 91), (33, 37), (64, 77), (64, 64)])
def test_whole_views_are_pillows_up_to_rounding(sides, interpolation):
  image = _image(*sides)
  ours = numbered_samples.whole_view(tf.constant(image), 64, 56, interpolation).numpy().astype(int)
  np.testing.assert_allclose(ours, _torchvisions(image, 64, 56, interpolation), atol=1)


def test_a_box_is_worked_out_by_hand():
  # Area 0.08 + 0.5 * 0.92 = 0.54 of 100 x 200: 10,800; ratio 1 in the middle: a side of 104, which
  # does not fit into 100. The second attempt has the least area, 1,600: 40 x 40.
  draws = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.999]])
  wide = numbered_samples.view_box(tf.constant(100), tf.constant(200), tf.constant(draws))
  assert wide.numpy().tolist() == [30, 160, 40, 40]
  none = numbered_samples.view_box(tf.constant(100), tf.constant(200), tf.constant(draws[:1]))
  assert none.numpy().tolist() == [0, 33, 100, 133]  # 4 / 3 of the height, in the middle.
  tall = numbered_samples.view_box(tf.constant(200), tf.constant(90), tf.constant(draws[:1]))
  assert tall.numpy().tolist() == [40, 0, 120, 90]


def test_random_views_follow_their_seeds_and_cover_the_image():
  image = tf.constant(_image(40, 60))
  view = tf.function(
    lambda seed: numbered_samples.random_view(image, seed, 8, "bilinear"), autograph=False
  )
  views = np.stack([view(tf.constant(i, tf.uint64)).numpy() for i in range(40)])
  again = view(tf.constant(3, tf.uint64)).numpy()
  np.testing.assert_array_equal(views[3], again)
  assert len(np.unique(views.reshape(40, -1), axis=0)) == 40


def test_an_unknown_interpolation_is_refused():
  with pytest.raises(ValueError, match="'nearest'; allowed are bilinear, bicubic"):
    numbered_samples.check_interpolation("nearest")
