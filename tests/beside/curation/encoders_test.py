# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Encoders: Keras models with local weights on image files."""

import numpy as np
from PIL import Image
import pytest
import tensorflow as tf

from suite.beside.curation import encoders
from suite.beside.curation import errors
from suite.beside.curation import pictures


def _files(tmp_path, colours):
  paths = []
  for number, colour in enumerate(colours):
    paths.append(tmp_path / f"{number}.png")
    Image.new("RGB", (12 + number, 10), colour).save(paths[-1])
  return paths


def _model(size=None):
  inputs = tf.keras.Input((size, size, 3))
  return tf.keras.Model(inputs, tf.keras.layers.GlobalAveragePooling2D()(inputs))


def test_a_saved_model_embeds_in_full_batches(tmp_path):
  _model(8).save(tmp_path / "m.keras")
  paths = _files(tmp_path, [(255, 0, 0), (0, 128, 0), (0, 0, 64)])
  encoder = encoders.saved(tmp_path / "m.keras", batch_size=2)
  assert (encoder.width, encoder.size) == (3, 8)
  expected = [[255, 0, 0], [0, 128, 0], [0, 0, 64]]
  np.testing.assert_allclose(encoder.encode(paths), expected)
  encoders.encode_files(encoder, paths, tmp_path / "f.npy", batch_size=2)
  found = np.load(tmp_path / "f.npy")
  assert found.dtype == np.float32
  np.testing.assert_allclose(found, expected)


def test_hdf5_of_a_whole_model_is_read_as_well(tmp_path):
  _model(8).save(tmp_path / "m.h5")
  paths = _files(tmp_path, [(255, 0, 0)])
  np.testing.assert_allclose(encoders.saved(tmp_path / "m.h5").encode(paths), [[255, 0, 0]])


def test_pixels_are_scaled_as_asked(tmp_path):
  _model().save(tmp_path / "m.keras")
  paths = _files(tmp_path, [(255, 0, 127)])
  found = encoders.saved(tmp_path / "m.keras", scale="tf", size=4).encode(paths)
  np.testing.assert_allclose(found, [[1, -1, 127 / 127.5 - 1]], atol=1e-6)


def test_an_application_takes_local_weights_without_top(tmp_path):
  make = tf.keras.applications.MobileNet
  model = make(include_top=False, weights=None, input_shape=(32, 32, 3), pooling="avg")
  model.save_weights(tmp_path / "w_notop.h5")
  paths = _files(tmp_path, [(200, 10, 10), (0, 0, 0)])
  encoder = encoders.application("MobileNet", tmp_path / "w_notop.h5", 32, 2)
  pixels = np.stack([pictures.square(path, 32) for path in paths]).astype(np.float32)
  np.testing.assert_allclose(encoder.encode(paths), model.predict_on_batch(pixels / 127.5 - 1),
                             rtol=1e-4, atol=1e-5)
  with pytest.raises(errors.CurationError, match="does not hold weights of VGG16 without its top"):
    encoders.application("VGG16", tmp_path / "w_notop.h5", 32)


def test_squares_are_the_middle_of_the_resized_image(tmp_path):
  pixels = np.zeros((4, 12, 3), np.uint8)
  pixels[:, 4:8] = 100
  Image.fromarray(pixels).save(tmp_path / "a.png")
  assert (pictures.square(tmp_path / "a.png", 4) == 100).all()
  assert pictures.square(tmp_path / "a.png", 9).shape == (9, 9, 3)


def test_models_that_cannot_be_used(tmp_path):
  weights = tmp_path / "w.h5"
  with pytest.raises(errors.CurationError, match="There is no file .*w.h5. Nothing is downloaded"):
    encoders.application("ResNet50", weights)
  weights.write_bytes(b"x")
  with pytest.raises(errors.CurationError, match="w.h5 cannot be read as HDF5"):
    encoders.application("VGG16", weights, 32)
  with pytest.raises(errors.CurationError, match="no application 'CLIP'; it has .*ResNet50"):
    encoders.application("CLIP", weights)
  with pytest.raises(errors.CurationError, match="w.h5 cannot be read as HDF5"):
    encoders.saved(weights)
  with pytest.raises(errors.CurationError, match="Unknown scale 'x'; allowed are none, tf"):
    encoders.saved(weights, scale="x")
  (tmp_path / "bad.keras").write_bytes(b"x")
  with pytest.raises(errors.CurationError, match="bad.keras cannot be read as"):
    encoders.saved(tmp_path / "bad.keras")
  _model(8).save(tmp_path / "m.keras")
  with pytest.raises(errors.CurationError, match=r"takes \(None, 8, 8, 3\), asked was size=16"):
    encoders.saved(tmp_path / "m.keras", size=16)
  _model().save(tmp_path / "any.keras")
  with pytest.raises(errors.CurationError, match="Give --size"):
    encoders.saved(tmp_path / "any.keras")
  tf.keras.Sequential([tf.keras.Input((8, 8, 3)), tf.keras.layers.ReLU()]).save(
      tmp_path / "maps.keras")
  with pytest.raises(errors.CurationError, match=r"gives \(None, 8, 8, 3\); features \[B, D\]"):
    encoders.saved(tmp_path / "maps.keras")


def test_code_in_a_model_is_refused(tmp_path):
  inputs = tf.keras.Input((8, 8, 3))
  outputs = tf.keras.layers.Lambda(lambda x: tf.reduce_mean(x, [1, 2]))(inputs)
  tf.keras.Model(inputs, outputs).save(tmp_path / "m.keras")
  with pytest.raises(errors.CurationError, match="holds the layer 'Lambda', which is not allowed"):
    encoders.saved(tmp_path / "m.keras")


def test_files_that_are_no_images_are_named(tmp_path):
  (tmp_path / "a.jpg").write_bytes(b"\xff\xd8\xff broken")
  with pytest.raises(errors.CurationError, match="a.jpg is no image that can be read"):
    pictures.square(tmp_path / "a.jpg", 8)
