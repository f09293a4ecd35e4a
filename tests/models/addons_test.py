# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import importlib.util
import math
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from suite.models import addons


def test_rotate_a_quarter_turns_counter_clockwise():
  image = np.array([[1, 2], [3, 4]], np.uint8).reshape([1, 2, 2, 1])
  turned = addons.rotate(image, tf.constant([math.pi / 2]), interpolation="nearest")
  assert turned.dtype == tf.uint8
  np.testing.assert_array_equal(turned[0, :, :, 0], [[2, 4], [1, 3]])


def test_cutout_fills_a_square_around_each_centre():
  images = tf.ones([2, 4, 4, 1])
  out = addons.cutout(images, 2, tf.constant([[1, 1], [3, 3]])).numpy()[..., 0]
  # The square reaches from centre - 1 to centre: rows and columns 0..1 and 2..3.
  assert out[0, :2, :2].sum() == 0 and out[0].sum() == 12
  assert out[1, 2:, 2:].sum() == 0 and out[1].sum() == 12


def test_image_ops_run_in_a_pipeline():
  def change(image):
    image = addons.rotate(image[None], tf.constant([0.1]))
    return addons.cutout(image, 2, tf.constant([[1, 1]]))[0]

  data = tf.data.Dataset.from_tensor_slices(tf.ones([2, 4, 4, 3])).map(
      tf.autograph.experimental.do_not_convert(change))
  assert [image.shape for image in data] == [(4, 4, 3), (4, 4, 3)]


def test_odd_cutout_is_refused():
  with pytest.raises(ValueError, match="size is 3; cutout needs an even number"):
    addons.cutout(tf.ones([1, 4, 4, 1]), 3, tf.constant([[1, 1]]))


def test_without_the_library_there_are_stand_ins(monkeypatch):
  monkeypatch.setattr(addons, "_library", lambda: None)
  decays = {"decays": lambda variable: variable.name.startswith("kernel")}
  kernel, bias = tf.Variable([8.0], name="kernel"), tf.Variable([8.0], name="bias")
  optimizer = addons.sgdw(
      learning_rate=0.5, weight_decay=0.25, momentum=0.0, nesterov=False, **decays)
  optimizer.apply_gradients([(tf.zeros([1]), kernel), (tf.zeros([1]), bias)])
  assert (kernel.numpy(), bias.numpy()) == (6.0, 8.0)
  adam = addons.adamw(learning_rate=0.0, weight_decay=0.25, beta_1=0.9, beta_2=0.9, epsilon=1e-7,
                      **decays)
  adam.apply_gradients([(tf.zeros([1]), kernel), (tf.zeros([1]), bias)])
  assert (kernel.numpy(), bias.numpy()) == (4.5, 8.0)
  test_rotate_a_quarter_turns_counter_clockwise()
  test_cutout_fills_a_square_around_each_centre()
  test_image_ops_run_in_a_pipeline()


def test_libraries_are_imported_late_and_quietly():
  """TFDS and scikit-learn, keras-cv and tensorflow-addons, in one process."""
  if importlib.util.find_spec("tensorflow_addons") is None:
    pytest.skip("needs tensorflow-addons")
  program = """
import sys
import warnings

import tensorflow as tf

from suite.data.digits import digits
from suite.data.images import image_set
from suite.data.images import prepared_sets
from suite.data.images import tfds_source
from suite.data.streams import streams
from suite.models import addons
from suite.models import vit

streams.nevis("full")
digits.nevis_stream().events()
late = {"tensorflow_datasets", "tfds_builders", "sklearn", "keras_cv", "tensorflow_addons"}
assert not late & set(sys.modules)
vit.vit((16, 16, 3), layers=1, width=8, heads=2, mlp_size=8)
assert "keras_cv" in sys.modules and "tensorflow_addons" not in sys.modules
warnings.simplefilter("error", UserWarning)  # Its farewell.
addons.rotate(tf.ones([1, 2, 2, 1]), tf.constant([0.0]))
assert "tensorflow_addons" in sys.modules
"""
  done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
  assert done.stdout == b""
