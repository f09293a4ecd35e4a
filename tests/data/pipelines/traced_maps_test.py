# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Maps that are traced once give what `Dataset.map` gives, and outlive what made them."""

from __future__ import annotations

import dataclasses
import gc

import numpy as np
import pytest
import tensorflow as tf

from suite.data.pipelines import traced_maps

_TRACED: list[str] = []


def _rows(name, factor, element, rows, offsets):
  """Appends to `_TRACED` when it is traced, only."""
  _TRACED.append(name)
  number, = offsets
  return {"row": tf.gather(rows, element % tf.shape(rows, tf.int64)[0]) * factor,
          "number": (element + number, name)}


def _mapped(name, rows, number, *, factor=2, num=5):
  return traced_maps.mapped(
      tf.data.Dataset.range(num), _rows, static=(name, factor),
      tensors=(rows, (np.int64(number),)))



def test_it_gives_what_map_gives():
  rows = np.arange(12, dtype=np.float32).reshape(4, 3)
  found = _mapped("as_map", rows, 7)
  expected = tf.data.Dataset.range(5).map(lambda element: _rows(
      "as_map", 2, element, tf.constant(rows), (tf.constant(7, tf.int64),)))
  assert found.cardinality() == 5
  assert found.element_spec == expected.element_spec
  for one, other in zip(found.as_numpy_iterator(), expected.as_numpy_iterator(), strict=True):
    np.testing.assert_array_equal(one["row"], other["row"])
    assert one["number"] == other["number"]


def test_one_graph_serves_all_data_sets_of_one_form():
  for length, number in ((4, 1), (9, 2), (9, 3)):
    rows = np.full([length, 2], number, np.int32)
    found = list(_mapped("shared", rows, number).as_numpy_iterator())
    assert [e["number"][0] for e in found] == [number + k for k in range(5)]
    assert all((e["row"] == 2 * number).all() for e in found)
  assert _TRACED.count("shared") == 1


@pytest.mark.parametrize("other", [
    dict(factor=3), dict(rows=np.zeros([4, 3], np.int32)), dict(rows=np.zeros([4, 2], np.int64))])
def test_another_form_has_a_graph_of_its_own(other):
  name = f"own {other}"
  _mapped(name, np.zeros([4, 2], np.int32), 1)
  _mapped(name, other.get("rows", np.zeros([4, 2], np.int32)), 1, factor=other.get("factor", 2))
  assert _TRACED.count(name) == 2


@dataclasses.dataclass(frozen=True)
class _Scaled:
  factor: int

  def __call__(self, element):
    return element * self.factor


def _called(function, element):
  return function(element)


def test_equal_objects_share_a_graph_and_others_do_not():
  results = [list(traced_maps.mapped(tf.data.Dataset.range(3), _called, static=(_Scaled(factor),)
                                     ).as_numpy_iterator()) for factor in (2, 2, 5)]
  assert results == [[0, 2, 4], [0, 2, 4], [0, 5, 10]]


def test_a_data_set_is_read_after_its_graph_is_forgotten():
  kept = _mapped("forgotten", np.ones([4, 2], np.int32), 1).batch(2)
  traced_maps._traced.cache_clear()
  gc.collect()
  assert [batch["row"].shape for batch in kept.as_numpy_iterator()] == [(2, 2), (2, 2), (1, 2)]


def test_variables_that_a_function_reads_are_those_of_the_moment():
  held = _Held(tf.Variable(3, dtype=tf.int64))
  dataset = traced_maps.mapped(tf.data.Dataset.range(2), _called, static=(held,))
  assert list(dataset.as_numpy_iterator()) == [3, 4]
  held.variable.assign(10)
  assert list(dataset.as_numpy_iterator()) == [10, 11]


class _Held:

  def __init__(self, variable):
    self.variable = variable

  def __call__(self, element):
    return element + self.variable
