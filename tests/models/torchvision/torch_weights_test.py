# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.models.torchvision import torch_resnet
from suite.models.torchvision import torch_weights

_SMALL = torch_resnet.Architecture((2, 1), False, 2)
_DEEP = torch_resnet.Architecture((1, 1), True, 2)


def _state(net, prefix="", head=True):
  rng = np.random.default_rng(0)
  found = {one.name: rng.normal(size=one.shape).astype(np.float32)
           for one in torch_resnet.table(net)}
  found = {k: abs(v) if k.endswith("running_var") else v for k, v in found.items()}
  if head:
    found["fc.weight"] = rng.normal(size=(5, net.num_features)).astype(np.float32)
    found["fc.bias"] = rng.normal(size=5).astype(np.float32)
  return {prefix + k: v for k, v in found.items()}


# Without the classifier: 11,689,512 - 513,000 and 25,557,032 - 2,049,000, as torchvision prints.
@pytest.mark.parametrize("name, trained", [("resnet18", 11_176_512), ("resnet50", 23_508_032)])
def test_the_tables_hold_as_many_weights_as_torchvision(name, trained):
  table = torch_resnet.table(torch_resnet.KNOWN[name])
  assert sum(np.prod(one.shape, dtype=int) for one in table if "running" not in one.name) == trained


@pytest.mark.parametrize("net", [_SMALL, _DEEP])
def test_every_weight_of_the_model_is_in_the_table_and_is_assigned(net):
  model = torch_resnet.resnet((32, 32, 3), net)
  found = torch_resnet.read(_state(net), "f")
  assert found.net == net and found.layout == "torchvision"
  torch_weights.assign(model, found)
  names = [one.name for one in torch_resnet.table(net)]
  assert len(set(names)) == len(names) == len(model.weights)
  kernel = model.get_layer("stage1_block0_1_conv").kernel.numpy()
  np.testing.assert_array_equal(kernel[..., 1, 0], found.weights["layer1.0.conv1.weight"][0, 1])
  assert model.output_shape[-1] == net.num_features
  assert np.isfinite(model(tf.zeros([1, 32, 32, 3]))).all()


def test_mocos_projection_is_no_classifier_and_its_query_encoder_is_taken():
  state = {**_state(_DEEP, "module.encoder_q."), **_state(_SMALL, "module.encoder_k."),
           "module.queue": np.zeros((2, 3), np.float32)}
  found = torch_resnet.read({"epoch": 3, "state_dict": state}, "f")
  assert found.layout == "moco" and found.classifier is None and found.net == _DEEP


def test_the_classifier_is_turned():
  state = _state(_SMALL)
  kernel, bias = torch_resnet.read(state, "f").classifier
  np.testing.assert_array_equal(kernel, state["fc.weight"].T)
  assert bias.shape == (5,)


@pytest.mark.parametrize("change, message", [
    (lambda s: s.pop("layer1.1.bn2.bias"), r"1 arrays are missing.*layer1.1.bn2.bias \[2\]"),
    (lambda s: s.update({"layer1.0.conv1.weight": np.zeros((2, 2, 5, 5))}),
     r"layer1.0.conv1.weight is \[2, 2, 5, 5\], expected \[2, 2, 3, 3\]"),
    (lambda s: s.update({"other": np.zeros(3)}), r"other \[3\] is not expected"),
    (lambda s: s.update({"fc.weight": np.zeros((5, 9))}), "has a classifier of"),
    (lambda s: s.pop("conv1.weight"), "holds no ResNet"), (lambda s: s.clear(), "holds no ResNet"),
])
def test_differences_are_named(change, message):
  state = _state(_SMALL)
  change(state)
  with pytest.raises(ValueError, match=message):
    torch_resnet.read(state, "file.pth")


def test_another_net_than_the_one_named_is_refused():
  with pytest.raises(ValueError, match="file.pth is not a checkpoint of resnet50 .*--net"):
    torch_resnet.read(_state(_SMALL), "file.pth", "resnet50")
  with pytest.raises(ValueError, match="Unknown net 'vgg'; allowed are resnet18"):
    torch_resnet.read(_state(_SMALL), "file.pth", "vgg")
  with pytest.raises(ValueError, match="holds a list"):
    torch_resnet.read([1], "file.pth")
