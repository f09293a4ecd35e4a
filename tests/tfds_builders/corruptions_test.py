# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Corruptions: 19 kinds x 5 severities, each a pure function of an image and its key."""

from __future__ import annotations

import colorsys
import hashlib

import numpy as np
from PIL import Image
import pytest
from sklearn import datasets

from tfds_builders.corruptions import corrupt
from tfds_builders.corruptions import kinds

# As published, these are not stronger in each next severity by the distance of pixels: other
# numbers in their levels go down, or (saturate, spatter) the picture changes in another way.
_NOT_BY_DISTANCE = {
    corrupt.CIFAR: ("glass_blur", "frost", "elastic_transform", "spatter", "saturate"),
    corrupt.IMAGENET: ("glass_blur", "frost", "fog", "elastic_transform", "saturate")}
_CASES = [(level_set, kind) for level_set in corrupt.SETS for kind in corrupt.KINDS]


def _photos(side):
  """Squares of scikit-learn's two photographs, uint8 [8, side, side, 3]."""
  photos = []
  for photo in datasets.load_sample_images().images:
    for left, top, size in ((100, 0, 427), (0, 0, 128), (150, 200, 128), (250, 90, 128)):
      square = Image.fromarray(photo).crop((left, top, left + size, top + size))
      photos.append(np.asarray(square.resize((side, side), Image.Resampling.BILINEAR)))
  return np.stack(photos)


_PHOTOS = {corrupt.CIFAR: _photos(32), corrupt.IMAGENET: _photos(96)}


def _distance(kind, severity, level_set):
  clean = _PHOTOS[level_set]
  dirty = np.stack([corrupt.corrupt(one, kind, severity, key=str(number), level_set=level_set)
                    for number, one in enumerate(clean)])
  return np.sqrt(np.mean((dirty.astype(np.float64) - clean) ** 2))


def test_there_are_nineteen_kinds_with_five_levels_each():
  assert len(corrupt.KINDS) == len(set(corrupt.KINDS)) == 19
  assert {name: len(kinds) for name, kinds in corrupt.FAMILIES.items()} == {
      "noise": 3, "blur": 4, "weather": 4, "digital": 4, "extra": 4}
  for table in corrupt.SETS.values():
    assert set(table) == set(corrupt.KINDS) and {len(five) for five in table.values()} == {5}


@pytest.mark.parametrize("level_set, kind", _CASES)
def test_severity_increases_the_distance_to_the_clean_image(level_set, kind):
  distances = [_distance(kind, severity, level_set) for severity in corrupt.SEVERITIES]
  assert min(distances) > 0.5
  if kind not in _NOT_BY_DISTANCE[level_set]:
    assert distances == sorted(distances) and len(set(distances)) == 5


@pytest.mark.parametrize("kind", corrupt.KINDS)
def test_result_is_a_pure_function_of_image_key_kind_and_severity(kind):
  image = _PHOTOS[corrupt.CIFAR][1]
  before = image.copy()
  first = corrupt.corrupt(image, kind, 3, key="a")
  assert first.dtype == np.uint8 and first.shape == image.shape
  np.testing.assert_array_equal(image, before)
  for key in ("b", "c"):
    corrupt.corrupt(image, kind, 3, key=key)
  np.testing.assert_array_equal(corrupt.corrupt(image, kind, 3, key="a"), first)


@pytest.mark.parametrize("kind", [
    kind for kind in corrupt.KINDS if kind not in (
        "defocus_blur", "zoom_blur", "brightness", "contrast", "pixelate", "jpeg_compression",
        "gaussian_blur", "saturate")])
def test_random_kinds_differ_from_image_to_image(kind):
  image = _PHOTOS[corrupt.CIFAR][1]
  assert (corrupt.corrupt(image, kind, 4, key="a") != corrupt.corrupt(image, kind, 4,
                                                                      key="b")).any()


@pytest.mark.parametrize("kind", corrupt.KINDS)
@pytest.mark.parametrize("shape", [(32, 48, 3), (5, 7, 3), (1, 1, 3)])
def test_any_size_is_taken(kind, shape):
  image = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
  for level_set in corrupt.SETS:
    for severity in (1, 5):
      assert corrupt.corrupt(image, kind, severity, key="x", level_set=level_set).shape == shape


@pytest.mark.parametrize("value", [0, 255])
@pytest.mark.parametrize("kind", corrupt.KINDS)
def test_black_and_white_images_survive(kind, value):
  image = np.full((16, 16, 3), value, np.uint8)
  with np.errstate(all="raise"):
    assert corrupt.corrupt(image, kind, 5, key="x").shape == (16, 16, 3)


@pytest.mark.parametrize("values, message", [
    (dict(kind="rain"), "Got kind 'rain'; allowed: gaussian_noise,"),
    (dict(severity=6), "Got severity 6; allowed: 1, 2, 3, 4, 5"),
    (dict(level_set="mnist"), "Got level_set 'mnist'; allowed: cifar, imagenet"),
    (dict(image=np.zeros((4, 4), np.uint8)), "uint8 .4, 4.; allowed: uint8 .H, W, 3."),
    (dict(image=np.zeros((4, 4, 3))), "float64"),
])
def test_bad_input(values, message):
  arguments = dict(image=np.zeros((4, 4, 3), np.uint8), kind="fog", severity=1, key="a", **{})
  arguments.update(values)
  with pytest.raises(ValueError, match=message):
    corrupt.corrupt(**arguments)


def _rng():
  return np.random.Generator(np.random.PCG64(0))


def test_noise_has_the_deviation_of_its_level():
  gray = np.full((200, 200, 3), 0.5)
  assert np.std(kinds.gaussian_noise(gray, 0.1, _rng()) - gray) == pytest.approx(0.1, rel=0.02)
  assert np.std(kinds.speckle_noise(gray, 0.2, _rng()) - gray) == pytest.approx(0.1, rel=0.02)
  # Of 0.5 * 50 photons the deviation is 5, in units of 1 / 50.
  assert np.std(kinds.shot_noise(gray, 50, _rng())) == pytest.approx(0.1, rel=0.02)
  changed = kinds.impulse_noise(gray, 0.07, _rng())
  assert np.mean(changed != 0.5) == pytest.approx(0.07, abs=0.003)
  assert np.mean(changed == 1.0) == pytest.approx(np.mean(changed == 0.0), abs=0.004)


def test_disk_below_radius_one_is_only_its_soft_edge():
  kernel = kinds.disk(0.3, 0.4)
  side = np.exp(-1 / 0.32)
  center = (1 / (1 + 2 * side)) ** 2
  assert kernel.shape == (17, 17) and kernel[8, 8] == pytest.approx(center)
  assert kernel[8, 9] == pytest.approx(center * side) and kernel[8, 10] == 0.0
  assert kinds.disk(10, 0.5).shape == (21, 21)
  assert np.count_nonzero(kinds.disk(1, 0.01) > 1e-6) == 5  # A cross.


def test_motion_runs_along_its_angle_and_keeps_the_sum():
  point = np.zeros((31, 31))
  point[15, 15] = 1.0
  level = kinds.along(point, 4, 2.0, angle=0.0)
  assert level.sum() == pytest.approx(1.0)
  assert np.flatnonzero(level.sum(axis=1)).tolist() == [15]
  assert np.flatnonzero(level.sum(axis=0)).tolist() == list(range(7, 16))
  weights = np.exp(-np.arange(9) ** 2 / 8.0)
  np.testing.assert_allclose(level[15, 7:16][::-1], weights / weights.sum())
  assert np.flatnonzero(kinds.along(point, 4, 2.0, angle=90.0).sum(axis=0)).tolist() == [15]


def test_magnified_keeps_size_and_middle():
  image = np.zeros((33, 33))
  image[16, 16] = 1.0
  np.testing.assert_array_equal(kinds.magnified(image, 1.0), image)
  large = kinds.magnified(image, 3.0)
  assert large.shape == (33, 33) and large[16, 16] == pytest.approx(1.0)
  assert large[16, 15] == pytest.approx(2 / 3, abs=0.05)


def test_glass_only_moves_pixels_nearby():
  image = np.arange(20 * 20, dtype=np.float64).reshape(20, 20, 1)
  moved = kinds.glass_blur(image, (1e-3, 2, 1), _rng())
  np.testing.assert_allclose(np.sort(moved.ravel()), image.ravel())
  np.testing.assert_array_equal(moved[0, :1], image[0, :1])


def test_color_spaces_agree_with_the_standard_library():
  values = _rng().random((50, 3))
  expected = np.array([colorsys.rgb_to_hsv(*one) for one in values])
  np.testing.assert_allclose(kinds.to_hsv(values), expected, atol=1e-12)
  np.testing.assert_allclose(kinds.to_rgb(expected), values, atol=1e-12)
  assert kinds.to_hsv(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
  assert kinds.gray(np.ones((2, 3))).tolist() == pytest.approx([1.0, 1.0])


def test_contrast_brightness_and_saturation_by_hand():
  pixels = np.array([[[0.2, 0.2, 0.2], [0.6, 0.4, 0.4]]])
  np.testing.assert_allclose(kinds.contrast(pixels, 0.5, _rng())[0],
                             [[0.3, 0.25, 0.25], [0.5, 0.35, 0.35]])
  np.testing.assert_allclose(kinds.brightness(pixels, 0.3, _rng())[0, 0], [0.5, 0.5, 0.5])
  np.testing.assert_allclose(kinds.saturate(pixels, (0.0, 0.0), _rng())[0, 1], [0.6, 0.6, 0.6])


def test_elastic_without_jitter_and_size_is_the_identity():
  pixels = _rng().random((12, 10, 3))
  np.testing.assert_allclose(kinds.elastic_transform(pixels, (0.0, 1.0, 0.0), _rng()), pixels)


def test_pixelate_averages_boxes():
  pixels = np.zeros((4, 4, 3))
  pixels[:2, :2] = [[[1.0], [0.0]], [[0.0], [1.0]]]
  coarse = kinds.pixelate(pixels, 0.5, _rng())
  assert coarse[:2, :2] == pytest.approx(128 / 255, abs=1 / 255) and not coarse[2:].any()


def test_clouds_fill_their_range_and_fade_faster_with_more_decay():
  def roughness(decay):
    field = kinds.clouds(64, 64, decay, _rng())
    assert field.min() == 0.0 and field.max() == 1.0
    return np.abs(np.diff(field, axis=0)).mean()
  assert roughness(3.0) < roughness(2.0) < roughness(1.4)
  assert kinds.clouds(5, 9, 2.0, _rng()).shape == (5, 9)


def test_snow_whitens_fog_grays_and_mud_darkens():
  image = _PHOTOS[corrupt.CIFAR][1]
  assert corrupt.corrupt(image, "snow", 5, key="a").mean() > image.mean()
  white = np.full((32, 32, 3), 255, np.uint8)
  assert corrupt.corrupt(white, "fog", 5, key="a").std() > 10
  assert corrupt.corrupt(white, "spatter", 5, key="a").mean() < 255
  frost = corrupt.corrupt(np.zeros((32, 32, 3), np.uint8), "frost", 5, key="a")
  assert frost[..., 2].mean() > frost[..., 0].mean() > 20  # Ice is a little blue.


@pytest.mark.parametrize("kind", ["impulse_noise", "shot_noise", "gaussian_noise"])
def test_draws_stay_what_they_are(kind):
  """A change of these sums changes all data sets that were built: raise the rows' version."""
  image = (np.arange(8 * 8 * 3) * 5 % 256).astype(np.uint8).reshape(8, 8, 3)
  got = hashlib.sha256(corrupt.corrupt(image, kind, 5, key="image").tobytes()).hexdigest()[:16]
  assert got == _SUMS[kind]


_SUMS = {"impulse_noise": "fc667900434e7944",
         "shot_noise": "a938cfb957d3b1fe",
         "gaussian_noise": "9c527d5e3f7ce59c"}
