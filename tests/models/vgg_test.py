# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.models import vgg


def test_parameters_by_hand():
  model = vgg.vgg()
  pairs = [(3, 64), (64, 64), (64, 128), (128, 128), (128, 128), (128, 256), (256, 256), (256, 256),
           (256, 512), (512, 512), (512, 512)]
  expected = sum(9 * before * after + 2 * after for before, after in pairs)  # + scale and offset
  assert sum(int(np.prod(v.shape)) for v in model.trainable_variables) == expected == 7_785_664
  assert model.output_shape == (None, 512)


def test_narrow_net_takes_uint8_and_keeps_static_shapes():
  model = vgg.vgg((16, 16, 3), channels=(64, 512), strides=(1, 2), width=1 / 16, norm="group")
  step = tf.function(lambda x: model(x, training=True), autograph=False)
  concrete = step.get_concrete_function(tf.TensorSpec([2, 16, 16, 3], tf.uint8))
  assert concrete.output_shapes == (2, 32)
  assert [model.get_layer(f"layer{i}_conv").output_shape[1] for i in (1, 2)] == [16, 8]
  assert np.isfinite(concrete(tf.fill([2, 16, 16, 3], tf.constant(255, tf.uint8)))).all()


def test_channels_and_strides_must_match():
  with pytest.raises(ValueError, match="2 channels and 1 strides were given"):
    vgg.vgg(channels=(8, 8), strides=(1,))
