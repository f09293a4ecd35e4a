# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.gradient import class_heads

KERNEL = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
HEADS = {"linear": class_heads.Linear, "per_task": class_heads.PerTask, "split": class_heads.Split,
         "cwr": class_heads.CwrStar}


def attached(head, is_input=True):
  """A head and its model, two features to three classes."""
  model = head.make(2, 3, is_input=is_input)
  head.attach(model, 3)
  return head, model


def test_columns_of_base_classes_stay():
  head, model = attached(class_heads.Split())
  head.kernel.assign(KERNEL)
  head.bias.assign([0.1, 0.2, 0.3])
  x = tf.constant([[1.0, 10.0]])
  np.testing.assert_allclose(model(x), [[41.1, 52.2, 63.3]], rtol=1e-6)
  head.after_base(tf.constant([True, False, True]))
  # What was learned of the second class, which is none of the base, is forgotten.
  np.testing.assert_allclose(model(x), [[41.1, 0.0, 63.3]], rtol=1e-6)
  with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(x))
  kernel, bias = tape.gradient(loss, model.trainable_variables)
  np.testing.assert_allclose(kernel, [[0, 1, 0], [0, 10, 0]])
  np.testing.assert_allclose(bias, [0, 1, 0])
  head.kernel.assign(tf.ones([2, 3]))
  np.testing.assert_allclose(model(x), [[41.1, 11.0, 63.3]], rtol=1e-6)


def test_a_split_head_is_in_a_checkpoint(tmp_path):
  head, model = attached(class_heads.Split())
  head.kernel.assign(KERNEL)
  head.after_base(tf.constant([True, True, False]))
  path = tf.train.Checkpoint(model=model).write(str(tmp_path / "c"))
  _, again = attached(class_heads.Split())
  tf.train.Checkpoint(model=again).read(path).assert_consumed()
  np.testing.assert_array_equal(again(tf.ones([1, 2])), [[5, 7, 0]])


@pytest.mark.parametrize("is_input", [False, True])
def test_a_linear_head_of_zeros(is_input):
  head, model = attached(class_heads.Linear("zeros"), is_input)
  head.set_start()
  assert (model(tf.ones([4, 2])).numpy() == 0).all()
  head.kernel.assign(KERNEL)
  head.bias.assign([1.0, 0.0, 0.0])
  found = model(tf.constant([[1.0, 10.0]]))
  np.testing.assert_allclose(found, [[42, 52, 63]])
  assert head.answers(found) is found
  head.set_start()
  assert not head.bias.numpy().any() and not head.kernel.numpy().any()


def test_a_random_start_leaves_weights_as_they_are():
  head, model = attached(class_heads.Linear())
  before = model.get_weights()
  head.set_start()
  np.testing.assert_array_equal(model.get_weights()[0], before[0])
  assert before[0].any() and head.new_rows(tf.constant([0, 1], tf.int64)) is None


@pytest.mark.parametrize("name", HEADS)
def test_every_head_is_a_model_of_two_layers_that_names_its_own(name):
  head, model = attached(HEADS[name]())
  assert model.output_shape == (None, 3) and head.is_per_task == (name == "per_task")
  layer, = head.layers()
  assert (layer.name, layer.macs, layer.trained) == ("head", 6, True)
  assert tf.keras.models.clone_model(model).output_shape == (None, 3)
  variables = model.trainable_variables
  assert head.before_phase(np.array([1, 1, 1]), variables) == variables


def test_prototypes_by_hand():
  # Means (2, 1) and (0, 3): kernel 2 c, bias -|c|^2; a class without rows has zeros.
  kernel, bias = class_heads.prototypes(
      tf.constant([[1.0, 1.0], [0.0, 3.0], [3.0, 1.0]]), tf.constant([0, 2, 0]), 3)
  np.testing.assert_allclose(kernel, [[4, 0, 0], [2, 0, 6]])
  np.testing.assert_allclose(bias, [-5, 0, -9])


def prototypes():
  head, model = attached(class_heads.Linear("prototypes"))
  head.set_start()
  return head, model


def test_new_classes_begin_at_prototypes_and_old_ones_stay():
  head, model = prototypes()
  labels = tf.constant([2, 0, 2], tf.int64)
  assert head.new_rows(labels).numpy().tolist() == [0, 1, 2]
  head.start_classes(tf.constant([[1.0, 1.0], [0.0, 3.0], [3.0, 1.0]]), labels)
  np.testing.assert_allclose(head.kernel, [[0, 0, 4], [6, 0, 2]])
  np.testing.assert_allclose(head.bias, [-9, 0, -5])
  f = np.array([[1.0, 2.0]], np.float32)
  # |f|^2 - |f - c|^2 = 5 - 2 and 5 - 2; the class without a sample is no answer.
  np.testing.assert_allclose(head.answers(model(f)), [[3, -np.inf, 3]])
  labels = tf.constant([2, 1], tf.int64)
  assert head.new_rows(labels).numpy().tolist() == [1]
  head.start_classes(tf.constant([[5.0, 0.0]]), labels[1:])
  np.testing.assert_allclose(head.kernel, [[0, 10, 4], [6, 0, 2]])
  np.testing.assert_allclose(head.bias, [-9, -25, -5])
  assert head.new_rows(tf.constant([0, 1, 2], tf.int64)).numpy().tolist() == []
  np.testing.assert_allclose(head.answers(model(f)), [[3, -15, 3]])


def test_classes_that_are_reset_begin_at_prototypes_again():
  head, _ = prototypes()
  labels = tf.constant([1], tf.int64)
  head.start_classes(tf.ones([1, 2]), labels)
  head.set_start()
  assert not head.kernel.numpy().any() and head.new_rows(labels).numpy().tolist() == [0]


def test_which_classes_have_begun_is_in_a_checkpoint(tmp_path):
  head, model = prototypes()
  head.start_classes(tf.ones([1, 2]), tf.constant([1], tf.int64))
  path = tf.train.Checkpoint(head=head, model=model).write(str(tmp_path / "c"))
  again, other = prototypes()
  tf.train.Checkpoint(head=again, model=other).read(path).assert_consumed()
  assert again.trained.numpy().tolist() == [False, True, False]
  np.testing.assert_array_equal(again.answers(other(tf.ones([1, 2]))), [[-np.inf, 2, -np.inf]])


def test_consolidation_is_asked_before_and_after_each_phase():
  head, model = attached(class_heads.CwrStar())
  variables = model.trainable_variables
  assert head.before_phase(np.array([4, 4, 0]), variables) == variables
  np.testing.assert_array_equal(head.kernel, np.zeros([2, 3]))
  head.kernel.assign([[1, 3, 9], [2, 6, 9]])
  head.after_phase(np.array([4, 4, 0]))
  np.testing.assert_allclose(head.kernel, [[-2, 0, 0], [-1, 3, 0]])
  below = tf.Variable(1.0)
  found = head.before_phase(np.array([1, 0, 5]), [below, *variables])
  assert [v.ref() for v in found] == [v.ref() for v in variables]
  np.testing.assert_allclose(head.kernel, [[-2, 0, 0], [-1, 0, 0]])


@pytest.mark.parametrize("is_input", [False, True])
@pytest.mark.parametrize("make", [class_heads.Linear, lambda s: class_heads.CwrStar(start=s)])
def test_weights_by_pytorch_s_rule_stay_as_drawn(make, is_input):
  head = make("pytorch")
  model = head.make(400, 30, is_input=is_input)
  head.attach(model, 30)
  head.set_start()
  kernel, bias = model.get_weights()
  assert 0.045 < kernel.max() <= 0.05 and 0.02 < bias.max() <= 0.05 and bias.min() < -0.02
  np.testing.assert_allclose(kernel.std(), 0.05 / np.sqrt(3), rtol=0.03)


def test_a_start_that_nobody_knows_is_refused():
  with pytest.raises(ValueError, match="CwrStar.start is 'zeros'; allowed are glorot, pytorch"):
    class_heads.CwrStar(start="zeros")
  with pytest.raises(ValueError, match="Linear.start is 'ones'; allowed are glorot, pytorch, z"):
    class_heads.Linear("ones")


def test_a_class_stays_in_the_head_it_came_with():
  head, _ = attached(class_heads.MultiHead())
  for now in ([1, 0, 1], [0, 1, 1], [0, 0, 1]):
    head.note_classes(tf.constant(np.array(now, bool)))
  np.testing.assert_array_equal(head.heads, [1, 2, 1])
