# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import concurrent.futures
import functools
import hashlib
import random

import numpy as np
import pytest
import tensorflow as tf

from suite.models import conv4
from suite.models import initial
from suite.models import vit


def small_conv():
  return conv4.conv4((8, 8, 3), filters=3, blocks=2)


def small_vit():
  return vit.vit((16, 16, 3), layers=1, width=8, heads=2, mlp_size=8)


def digest(weights):
  return hashlib.sha256(b"".join(w.tobytes() for w in weights)).hexdigest()


@functools.cache
def of_seed_1(build):
  return initial.initial_weights(build, 1)


@pytest.mark.parametrize("build", [small_conv, small_vit])
def test_same_seed_same_weights_other_seed_other_weights(build):
  first = of_seed_1(build)
  assert digest(first) == digest(initial.initial_weights(build, 1))
  assert digest(first) != digest(initial.initial_weights(build, 2))
  build().set_weights(first)


def test_layers_of_the_same_shape_differ():
  kernels = [w for w in of_seed_1(small_conv) if w.shape == (3, 3, 3, 3)]
  assert len(kernels) == 2 and (kernels[0] != kernels[1]).any()


def test_whatever_was_built_or_drawn_before_does_not_matter():
  first = of_seed_1(small_conv)
  small_vit()
  random.random()
  tf.random.uniform([])
  assert digest(first) == digest(initial.initial_weights(small_conv, 1))


def test_what_is_made_has_the_seeds_weights_and_one_build_serves_where_it_can():
  build, builds = small_vit, []

  def pair():
    builds.append(build())
    return "other", builds[-1]

  first = digest(of_seed_1(build))
  (_, model), weights = initial.made(pair, 1, lambda found: found[1])
  assert digest(weights) == digest(model.get_weights()) == first
  assert builds == [model]
  with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
    (_, model), weights = initial.made(pair, 1, lambda found: found[1])
  assert digest(weights) == first != digest(model.get_weights())
  assert len(builds) == 3 and builds[1] is model


def test_keras_global_seed_has_no_effect_and_is_left_as_it_was():
  first = of_seed_1(small_conv)

  def draws():
    numpy_draw = np.random.random()  # noqa: NPY002
    return (digest(small_conv().get_weights()), tf.random.uniform([]).numpy(), numpy_draw,
            random.random())

  tf.keras.utils.set_random_seed(5)
  expected = draws()
  tf.keras.utils.set_random_seed(5)
  again = initial.initial_weights(small_conv, 1)
  assert draws() == expected
  tf.keras.utils.set_random_seed(5)
  made = initial.made(small_conv, 1)[1]
  assert draws() == expected
  assert digest(made) == digest(again) == digest(first)


def test_scope_and_graph_of_the_caller_do_not_matter():
  first = digest(of_seed_1(small_conv))
  with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
    assert digest(initial.initial_weights(small_conv, 1)) == first
  with tf.Graph().as_default():
    assert digest(initial.initial_weights(small_conv, 1)) == first


def test_another_process_gets_the_same(python):
  program = (
      "import hashlib\n"
      "from suite.models import conv4, initial\n"
      "build = lambda: conv4.conv4((8, 8, 3), filters=3, blocks=2)\n"
      "weights = initial.initial_weights(build, 1)\n"
      "print(hashlib.sha256(b''.join(w.tobytes() for w in weights)).hexdigest())\n")
  result = python.run(["-c", program])
  assert result.returncode == 0, result.stderr
  assert result.stdout.split()[-1] == digest(of_seed_1(small_conv))


def test_builders_that_use_python_random_numbers_do_not_matter():
  # Importing keras-cv in the middle of a build does.
  def build():
    random.random()
    return small_conv()

  assert digest(initial.initial_weights(build, 1)) == digest(of_seed_1(small_conv))


def test_threads_do_not_disturb_each_other():
  expected = [digest(initial.initial_weights(small_conv, seed)) for seed in range(4)]
  with concurrent.futures.ThreadPoolExecutor(4) as executor:
    got = executor.map(lambda seed: digest(initial.initial_weights(small_conv, seed)), range(4))
  assert list(got) == expected


def test_an_error_in_the_builder_reaches_the_caller():
  with pytest.raises(ZeroDivisionError):
    initial.initial_weights(lambda: 1 / 0, 1)


def test_negative_seed_is_refused():
  with pytest.raises(ValueError, match="seed is -1; it must not be negative"):
    initial.initial_weights(small_conv, -1)
