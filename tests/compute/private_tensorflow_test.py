# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest
import tensorflow as tf

import suite
from suite.compute import private_tensorflow


@pytest.mark.parametrize("owner", ["tensorflow.python.framework.ops", "tensorflow.python.gone",
                                   "tf.Graph"])
def test_what_tensorflow_has_changed_is_named(owner):
  expected = rf"{tf.__version__} has no {owner}\._nothing_like_it.*2\.15 and"
  with pytest.raises(ImportError, match=expected):
    private_tensorflow._part(owner, "_nothing_like_it")


def test_no_other_module_uses_private_parts():
  root = pathlib.Path(suite.__file__).parent
  private = re.compile(r"tensorflow\.python|(from|import) keras\.src|tf_keras")
  found = [p.name for p in root.rglob("*.py") if private.search(p.read_text(encoding="utf-8"))]
  # learner.py, learner_state.py and objective.py have names of libraries; initial.py does without
  # Keras' holder of seeds where there is none, and modules of models import nothing of compute.
  assert sorted(found) == [
      "__init__.py", "initial.py", "learner.py", "learner_state.py", "objective.py",
      "private_tensorflow.py"]


def _pipeline() -> tf.data.Dataset:
  return tf.data.Dataset.range(6).map(lambda i: {"i": i, "name": tf.strings.as_string(i)}).filter(
      lambda row: row["i"] % 2 == 0).map(
          lambda row: tf.random.stateless_uniform([2], [7, row["i"]]))


def _attributes(dataset: tf.data.Dataset) -> list:
  return [set(function.function.function_def.attr) for function in dataset._functions()]


def test_plain_data_functions_give_the_same_elements():
  with private_tensorflow.plain_data_functions():
    plain = _pipeline()
  assert [*map(bytes, plain.as_numpy_iterator())] == [*map(bytes, _pipeline().as_numpy_iterator())]


def test_data_functions_are_plain_inside_only():
  @private_tensorflow.plain_data_functions()
  def decorated():
    with private_tensorflow.plain_data_functions():
      pass
    return _pipeline()

  inside, outside = decorated(), _pipeline()
  assert all("experimental_ints_on_device" in names for names in _attributes(inside))
  assert not any("experimental_ints_on_device" in names for names in _attributes(outside))
  with pytest.raises(ZeroDivisionError), private_tensorflow.plain_data_functions():
    raise ZeroDivisionError
  assert "experimental_ints_on_device" not in _attributes(_pipeline())[0]


def _stack_of_an_operation(dataset: tf.data.Dataset) -> list:
  return list(dataset._functions()[0].function.graph.get_operations()[-1].traceback)


def test_operations_of_plain_data_functions_keep_no_stack(monkeypatch):
  monkeypatch.setattr(private_tensorflow, "_keeps_stacks", True)
  with private_tensorflow.plain_data_functions():
    plain = _pipeline()
  assert len(_stack_of_an_operation(plain)) == 1  # XLA crashes on none.
  inner = _stack_of_an_operation(_pipeline())[-1]
  # No frame of the suite is among those that TensorFlow leaves out at the end.
  assert pathlib.Path(inner.filename).name == "ops.py"


def _traced(x: tf.Tensor) -> tf.Tensor:
  """Operations of all kinds that enter a function's graph again."""
  with tf.GradientTape() as tape:
    tape.watch(x)
    with tf.device("/cpu:0"), tf.name_scope("inner"), tf.control_dependencies([x]):
      y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
    y = tf.cond(tf.reduce_sum(y) > 0.0, lambda: y + 1.0, lambda: y - 1.0)
    with tf.init_scope():
      assert tf.executing_eagerly()
      with tf.Graph().as_default() as other:
        tf.constant(1.0)
      kept = tf.constant(2.0)
    assert len(other.get_operations()) == 1
  return tape.gradient(y, x) * kept


def test_a_graph_that_is_entered_again_is_the_same_graph(monkeypatch):
  def graph():
    function = tf.function(_traced, autograph=False)
    found = function.get_concrete_function(tf.TensorSpec([2]))
    made = [(op.name, op.type, op.device, [t.name for t in op.inputs],
             [before.name for before in op.control_inputs]) for op in found.graph.get_operations()]
    return made, function(tf.constant([1.0, 2.0]))

  operations, value = graph()
  monkeypatch.setattr(
      private_tensorflow._func_graph, "as_default", private_tensorflow._enter_graph)
  expected_operations, expected = graph()
  assert operations == expected_operations
  assert any(device.endswith("CPU:0") for _, _, device, _, _ in operations)
  assert any(before for *_, before in operations)
  np.testing.assert_array_equal(value, expected)
  np.testing.assert_array_equal(value, 2.0 * 4.0 * np.array([1.0, 8.0]))


def test_callbacks_of_a_graph_that_is_entered_again_are_called_where_it_is_left():
  called = []

  @tf.function(autograph=False)
  def traced():
    graph = tf.compat.v1.get_default_graph()
    outer = graph._scope_exit_callbacks
    with graph.as_default() as again:
      assert again is graph
      graph._scope_exit_callbacks.append(lambda: called.append("inner"))
    assert called == ["inner"] and graph._scope_exit_callbacks is outer
    with pytest.raises(ZeroDivisionError), graph.as_default():
      raise ZeroDivisionError
    return tf.constant(0.0)

  traced()


def test_operations_without_a_stack_have_a_frame_whose_code_stays():
  """TensorFlow's stacks do not keep the code of their frames alive; it reads them much later."""
  assert [frame.name for frame in private_tensorflow._NO_STACK] == ["_bootstrap"]
