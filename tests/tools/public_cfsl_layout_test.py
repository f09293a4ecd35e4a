# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Layouts of both sides; the authors' code itself is not at hand in tests."""

from __future__ import annotations

import types

import numpy as np
import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("public_cfsl_layout")


@pytest.mark.parametrize("name, shape, theirs", [
    ("block1/kernel", (3, 3, 2, 5), (5, 2, 3, 3)), ("block1/bias", (5,), (5,)),
    ("head/kernel", (5, 4), (4, 5)), ("inner_rates", (5, 4), (5, 4)),
    ("norm_scale", (5, 4), (5, 4)), ("critic/layer1", (5, 4), (4, 5))])
def test_weights_go_to_their_layout_and_back(tool, name, shape, theirs):
  value = np.random.default_rng(0).normal(size=shape)
  there = tool.to_theirs(name, value)
  assert there.shape == theirs
  np.testing.assert_array_equal(tool.to_ours(name, there, shape), value)


def test_a_kernel_keeps_its_place_and_channels(tool):
  value = np.zeros((3, 3, 2, 5))
  value[0, 2, 1, 4] = 1.0  # Row 0, column 2, from channel 1 to filter 4.
  assert tool.to_theirs("block1/kernel", value)[4, 1, 0, 2] == 1.0
  assert tool.to_ours("block1/narrow", np.arange(6.0).reshape(2, 3, 1, 1), (3, 2)).tolist() == [
      [0, 3], [1, 4], [2, 5]]


def test_layers_of_their_nets_have_our_names(tool):
  names = {"layer_dict.conv0.conv.weight": "block1", "layer_dict.conv_3.conv.bias": "block4",
           "layer_dict.conv_0_0.conv.weight": "conv", "layer_dict.linear.weights": "head",
           "layer_dict.attention_layer_0_0.layer_dict.attention_network_output_layer.bias": "gate",
           "layer_dict.attention_pre_logit_layer.layer_dict.x.weights": "late_gate"}
  assert {name: tool._layer(name) for name in names} == names


class _Model:
  """A net of one layer with a norm, as their models present it: K = 2 steps."""

  def __init__(self):
    part = types.SimpleNamespace
    self.classifier = part(named_parameters=lambda: [
        ("layer_dict.conv0.conv.weight", "kernel"), ("layer_dict.conv0.norm_layer.weight", "scale"),
        ("layer_dict.conv0.norm_layer.running_mean", "mean"),
        ("layer_dict.conv0.norm_layer.bias", "offset")])
    self.inner_loop_optimizer = part(
        names_learning_rates_dict={"layer_dict-conv0-conv-weight": "rate"})


def _arrays(rows, *critic):
  every = {"block1/kernel": (3, 3, 1, 4), "inner_rates": (2, 1), "norm_scale": (rows, 1, 4),
           "norm_offset": (rows, 1, 4), "critic_rates": (1, 1), "critic_norm_scale": (1, 1, 4),
           "critic_norm_offset": (1, 1, 4)}
  return {name: np.zeros(shape) for name, shape in every.items()
          if critic or not name.startswith("critic")}


def test_rows_of_a_critic_skip_the_pass_that_is_not_used(tool):
  def rows(layout, parameter):
    return [(entry.name, entry.theirs.start, entry.theirs.stop) for entry in layout.entries
            if entry.parameter == parameter]

  plain = tool.Layout(_Model(), _arrays(3))
  assert rows(plain, "scale") == [("norm_scale", 0, 3)]
  assert rows(plain, "rate") == [("inner_rates", 0, 2)]
  sca = tool.Layout(_Model(), _arrays(3, "critic"))
  assert rows(sca, "offset") == [
      ("norm_offset", 0, 2), ("norm_offset", 3, 4), ("critic_norm_offset", 4, 5)]
  assert rows(sca, "rate") == [("inner_rates", 0, 2), ("critic_rates", 3, 4)]


def test_an_array_that_no_parameter_is_stops_the_comparison(tool):
  with pytest.raises(AssertionError, match="unheard_of"):
    tool.Layout(_Model(), {**_arrays(3), "unheard_of": np.zeros(1)})
