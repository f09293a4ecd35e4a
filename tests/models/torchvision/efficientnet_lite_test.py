# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A tiny net against loops in NumPy, the published ones by names and shapes, and refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite import cli
from suite.models.torchvision import efficientnet_lite
from suite.models.torchvision import torch_weights
from suite.state import encoder_file

_TINY = efficientnet_lite.Architecture(
    (efficientnet_lite.Stage(1, 3, 1, 1, 4), efficientnet_lite.Stage(2, 5, 2, 2, 6)), 10, stem=4,
    head=5)


def _arrays(net, head=True):
  rng = np.random.default_rng(0)
  found = {one.name: rng.normal(0, 0.7, one.shape).astype(np.float32)
           for one in efficientnet_lite.table(net)}
  found = {k: abs(v) + 0.1 if k.endswith("running_var") else v for k, v in found.items()}
  if head:
    found["_fc.weight"] = rng.normal(size=(3, net.head)).astype(np.float32)
    found["_fc.bias"] = rng.normal(size=3).astype(np.float32)
  return found


def _conv(x, kernel, strides):
  """x [H, W, C], kernel [O, I, k, k], padded as TensorFlow's "same"; depthwise if I is 1."""
  size = kernel.shape[-1]
  out = -(-x.shape[0] // strides)
  pad = max((out - 1) * strides + size - x.shape[0], 0)
  x = np.pad(x, [(pad // 2, pad - pad // 2)] * 2 + [(0, 0)])
  result = np.zeros([out, out, len(kernel)])
  for i, j in np.ndindex(out, out):
    patch = x[i * strides:i * strides + size, j * strides:j * strides + size]
    if kernel.shape[1] == 1 and x.shape[-1] > 1:
      result[i, j] = np.einsum("hwc,chw->c", patch, kernel[:, 0])
    else:
      result[i, j] = np.einsum("hwc,ochw->o", patch, kernel)
  return result


def _reference(arrays, pixels):
  """Features of one image by the names of PyTorch."""
  def unit(x, conv, norm, strides=1, relu=True):
    x = _conv(x, arrays[f"{conv}.weight"], strides)
    weight, bias, mean, var = (arrays[f"{norm}.{part}"] for part in (
        "weight", "bias", "running_mean", "running_var"))
    x = (x - mean) / np.sqrt(var + 1e-3) * weight + bias
    return np.clip(x, 0, 6) if relu else x

  x = unit((pixels - 127.0) / 128.0, "_conv_stem", "_bn0", 2)
  for i, strides in enumerate((1, 2, 1)):  # One block of the first stage, two of the second.
    before, name = x, f"_blocks.{i}"
    if i:
      x = unit(x, f"{name}._expand_conv", f"{name}._bn0")
    x = unit(x, f"{name}._depthwise_conv", f"{name}._bn1", strides)
    x = unit(x, f"{name}._project_conv", f"{name}._bn2", relu=False)
    x = before + x if strides == 1 and before.shape == x.shape else x
  return unit(x, "_conv_head", "_bn1").mean(axis=(0, 1))


def _write_safetensors(path, arrays):
  header, blocks, place = {}, [], 0
  for name, array in arrays.items():
    data = np.ascontiguousarray(array, "<f4").tobytes()
    header[name] = {"dtype": "F32", "shape": list(array.shape),
                    "data_offsets": [place, place + len(data)]}
    blocks.append(data)
    place += len(data)
  text = json.dumps(header).encode()
  path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blocks))


def test_a_converted_net_has_the_features_of_loops_in_numpy(tmp_path, monkeypatch, capsys):
  monkeypatch.setitem(efficientnet_lite.KNOWN, "tiny", _TINY)
  arrays = _arrays(_TINY)
  _write_safetensors(tmp_path / "tiny.safetensors", arrays)
  assert cli.main(["weights", "convert", str(tmp_path / "tiny.safetensors"), "--net", "tiny",
                   "--out", str(tmp_path / "out"), "--license", "MIT", "--year", "2019",
                   "--flops", "1e9"]) == 0
  assert "a classifier of 3 classes" in capsys.readouterr().out
  found = encoder_file.load(tmp_path / "out")
  assert found.about["source"]["layout"] == "efficientnet_lite_pytorch"
  assert (found.about["license"], found.about["year"], found.about["cost"]["flops"]) == (
      "MIT", 2019, 10**9)
  pixels = np.random.default_rng(1).integers(0, 256, [2, 10, 10, 3])
  got = found.model()(pixels.astype(np.float32), training=False).numpy()
  wanted = np.stack([_reference(arrays, image) for image in pixels])
  assert wanted.std() > 0.1
  np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


# Trained weights by the authors' table, in millions, with the classifier's 1,281,000; multiply-adds
# by hand: outputs of a convolution times what each takes.
@pytest.mark.parametrize("name, blocks, millions, mega_macs", [
    ("efficientnet_lite0", 16, 4.7, 407), ("efficientnet_lite1", 21, 5.4, 631),
    ("efficientnet_lite2", 21, 6.1, 899), ("efficientnet_lite3", 24, 8.2, 1440),
    ("efficientnet_lite4", 30, 13.0, 2640)])
def test_the_published_nets_by_names_shapes_and_cost(name, blocks, millions, mega_macs):
  net = efficientnet_lite.KNOWN[name]
  table = efficientnet_lite.table(net)
  names = [one.name for one in table]
  assert len(set(names)) == len(names)
  assert len({n.split(".")[1] for n in names if n.startswith("_blocks.")}) == blocks
  trained = sum(np.prod(one.shape, dtype=int) for one in table if "running" not in one.name)
  assert round((trained + 1_281_000) / 1e6, 1) == pytest.approx(millions, abs=0.1)
  shapes = {one.name: one.shape for one in table if one.layer.endswith("_conv")}
  side, macs = -(-net.image_size // 2), 0
  macs += np.prod(shapes["_conv_stem.weight"]) * side ** 2
  for i, block in enumerate(efficientnet_lite.blocks(net)):
    for part in ("_expand_conv", "_depthwise_conv", "_project_conv"):
      if part == "_depthwise_conv":
        side = -(-side // block.strides)
      macs += np.prod(shapes.get(f"_blocks.{i}.{part}.weight", (0,))) * side ** 2
  macs += np.prod(shapes["_conv_head.weight"]) * side ** 2 + 1_280_000
  assert macs / 1e6 == pytest.approx(mega_macs, rel=0.07)


def test_weights_of_another_net_are_refused_by_name():
  arrays = _arrays(efficientnet_lite.KNOWN["efficientnet_lite0"])
  assert efficientnet_lite.read(arrays, "f").name == "efficientnet_lite0"
  with pytest.raises(ValueError, match="f.pth is not a checkpoint of efficientnet_lite2"):
    efficientnet_lite.read(arrays, "f.pth", "efficientnet_lite2")
  arrays["_blocks.3._se_reduce.weight"] = np.zeros([6, 144, 1, 1])
  with pytest.raises(ValueError, match=r"not a checkpoint of efficientnet_lite0 .*_se_reduce.weight"
                     r" \[6, 144, 1, 1\] is not expected"):
    efficientnet_lite.read(arrays, "f.pth")
  wide = _arrays(efficientnet_lite.KNOWN["efficientnet_lite0"])
  wide["_conv_head.weight"] = np.zeros([1280, 352, 1, 1])
  with pytest.raises(ValueError, match=r"_conv_head.weight is \[1280, 352, 1, 1\], expected \[1280,"
                     r" 320, 1, 1\]"):
    efficientnet_lite.read(wide, "f.pth")
  with pytest.raises(ValueError, match="Unknown net 'b0'; allowed are efficientnet_lite0"):
    efficientnet_lite.check_name("b0")


def test_a_known_file_tells_license_year_and_cost():
  about = torch_weights.about("57934424" + 56 * "0")
  assert about["license"] == "Apache-2.0" and about["year"] == 2020
  # 350 epochs of 1,281,167 images, 407 million multiply-adds forward and twice as many backward.
  assert about["cost"]["macs"] == 3 * 407_000_000 * 350 * 1_281_167
  assert about["cost"]["flops"] == 2 * about["cost"]["macs"]
  assert about["cost_is"].startswith("an estimate")
  assert torch_weights.about(64 * "0") == {}
