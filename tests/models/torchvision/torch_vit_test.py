# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weights in two layouts give the features of a transformer written in NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suite.commands import data_features
from suite.models import vit_hooks
from suite.models.torchvision import torch_vit
from suite.models.torchvision import torch_weights
from suite.state import encoder_file

_NET = torch_vit.Architecture(4, 2, 128, 24, 2)  # Two heads of 64.


def _arrays(net, layout):
  rng = np.random.default_rng(0)
  return {one.name: rng.normal(0, 0.2, one.shape).astype(np.float32)
          for one in torch_vit.table(net, layout)}


def _reference(arrays, pixels, net):
  """Features [D] of an image in torchvision's names; GELU by the error function."""
  def norm(x, name):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
    return x * arrays[f"{name}.weight"] + arrays[f"{name}.bias"]

  def linear(x, name, end="."):
    return x @ arrays[f"{name}{end}weight"].T + arrays[f"{name}{end}bias"]

  x = (pixels / 255 - [.485, .456, .406]) / [.229, .224, .225]
  size, kernel = net.patch_size, arrays["conv_proj.weight"]
  patches = [np.einsum("hwc,ochw->o", x[i:i + size, j:j + size], kernel)
             for i in range(0, len(x), size) for j in range(0, len(x), size)]
  x = np.concatenate([arrays["class_token"][0], np.stack(patches) + arrays["conv_proj.bias"]])
  x = x + arrays["encoder.pos_embedding"][0]
  for i in range(net.layers):
    name = f"encoder.layers.encoder_layer_{i}"
    q, k, v = np.split(linear(norm(x, f"{name}.ln_1"), f"{name}.self_attention.in_proj", "_"), 3, 1)
    mixed = []
    for h in range(net.heads):
      part = slice(64 * h, 64 * h + 64)
      scores = np.exp(q[:, part] @ k[:, part].T / 8)
      mixed.append(scores / scores.sum(1, keepdims=True) @ v[:, part])
    x = x + linear(np.concatenate(mixed, 1), f"{name}.self_attention.out_proj")
    hidden = linear(norm(x, f"{name}.ln_2"), f"{name}.mlp.0")
    hidden *= 0.5 * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2)))
    x = x + linear(hidden, f"{name}.mlp.3")
  return norm(x, "encoder.ln")[0]


def test_features_in_both_layouts_are_those_of_numpy_and_survive_the_file(tmp_path):
  arrays = _arrays(_NET, "torchvision")
  found = torch_vit.read({**arrays, "heads.head.weight": np.zeros([5, 128]),
                          "heads.head.bias": np.zeros(5)}, "f")
  assert found.net == _NET and found.classifier[0].shape == (128, 5)
  model = torch_vit.build(found, None)
  torch_weights.assign(model, found)
  pixels = np.random.default_rng(1).integers(0, 256, [2, 8, 8, 3]).astype(np.float32)
  wanted = np.stack([_reference(arrays, image, _NET) for image in pixels])
  np.testing.assert_allclose(model(pixels), wanted, rtol=1e-4, atol=1e-5)
  encoder_file.save(tmp_path, model, {})
  loaded = data_features.encoder(str(tmp_path)).model
  np.testing.assert_array_equal(loaded(pixels), model(pixels))  # Its GELU is the exact one, too.
  frozen = vit_hooks.FrozenVit(loaded, "a test")
  tokens = frozen.tokens(pixels)
  for i in range(_NET.layers):
    tokens = frozen.block(i, tokens)
  np.testing.assert_allclose(frozen.features(tokens), wanted, rtol=1e-4, atol=2e-5)
  # timm's names for the same weights, pixels scaled as asked for.
  names = zip(torch_vit.table(_NET, "timm"), torch_vit.table(_NET, "torchvision"))
  timm = torch_vit.read({ours.name: arrays[theirs.name] for ours, theirs in names}, "f")
  assert timm.layout == "timm" and timm.classifier is None
  other = torch_vit.build(timm, 8, "imagenet")
  torch_weights.assign(other, timm)
  np.testing.assert_array_equal(other(pixels), model(pixels))


@pytest.mark.parametrize("layout, name", [("torchvision", "vit_b16"), ("timm", "vit_l16")])
def test_the_published_nets_have_as_many_weights(layout, name):
  patch_size, layers, width = torch_vit.KNOWN[name]
  net = torch_vit.Architecture(patch_size, layers, width, 4 * width, 14)
  parts = {one.name: np.prod(one.shape, dtype=int) for one in torch_vit.table(net, layout)}
  # Without the classifier: 86,567,656 - 769,000 and 304,326,632 - 1,025,000, as torchvision prints.
  assert sum(parts.values()) == {"vit_b16": 85_798_656, "vit_l16": 303_301_632}[name]
  assert torch_vit.named(net) == name


@pytest.mark.parametrize("change, message", [
    (lambda a: a.pop("blocks.1.attn.qkv.bias"), r"blocks.1.attn.qkv.bias \[384\] is missing"),
    (lambda a: a.update({"norm.weight": np.zeros(64)}),
     r"norm.weight is \[64\], expected \[128\]"),
    (lambda a: a.update({"reg_token": np.zeros([1, 4, 128])}), "reg_token .* is not expected"),
    (lambda a: a.pop("pos_embed"), "holds no vision transformer in the names of torchvision or"),
])
def test_differences_are_named(change, message):
  arrays = _arrays(_NET, "timm")
  change(arrays)
  with pytest.raises(ValueError, match=message):
    torch_vit.read(arrays, "file.pth")


def test_another_net_or_another_side_is_refused():
  arrays = _arrays(_NET, "timm")
  with pytest.raises(ValueError, match="file.pth is not a checkpoint of vit_b16 in the names"):
    torch_vit.read(arrays, "file.pth", "vit_b16")
  with pytest.raises(ValueError, match="--image_size 16 .* positions for 8 pixels"):
    torch_vit.build(torch_vit.read(arrays, "f"), 16)
