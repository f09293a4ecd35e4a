# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An encoder written and read again, without the code that made it."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from suite.models import conv4
from suite.models import resnet
from suite.models import vit
from suite.state import encoder_file
from suite.system import sealed_json


@pytest.mark.parametrize("make", [
    lambda: conv4.conv4((8, 8, 3), filters=4, blocks=2),
    lambda: resnet.resnet((8, 8, 3), blocks=(1, 1, 1, 1)),  # One of keras-cv's.
    lambda: resnet.resnet((16, 16, 3), blocks=(1,), stem="small", width=0.1, norm="group"),
    lambda: vit.vit((8, 8, 3), layers=1, width=4, heads=2, mlp_size=4)])
def test_what_is_read_makes_the_same_features(make, tmp_path):
  model, images = make(), np.random.default_rng(0).integers(0, 256, (2, 16, 16, 3))
  images = images[:, :model.input_shape[1], :model.input_shape[1]].astype(np.float32)
  encoder_file.save(tmp_path, model, {"pretext": "moco", "updates": 3})
  found = encoder_file.load(tmp_path)
  np.testing.assert_array_equal(found.model()(images), model(images))
  assert found.about["pixel_range"] == [0, 255] and found.about["pretext"] == "moco"
  assert found.about["image_size"] == model.input_shape[1]
  assert found.about["feature_size"] == model.output_shape[-1]


def test_layers_of_ours_are_known_wherever_an_encoder_is_read():
  folder = pathlib.Path(conv4.__file__).parent
  ours = [path.stem for path in folder.rglob("*.py") if "serializable(" in path.read_text()]
  assert "conv4" in ours and all(hasattr(encoder_file, name) for name in ours), ours


def test_a_torn_pair_and_a_missing_file_are_said(tmp_path):
  model = conv4.conv4((8, 8, 3), filters=4, blocks=2)
  with pytest.raises(FileNotFoundError, match="has no encoder.npz. Give the directory of a pretr"):
    encoder_file.load(tmp_path)
  encoder_file.save(tmp_path, model, {})
  before = (tmp_path / "encoder.json").read_text()
  model.weights[0].assign_add(np.ones(model.weights[0].shape))
  encoder_file.save(tmp_path, model, {})
  (tmp_path / "encoder.json").write_text(before)
  with pytest.raises(ValueError, match="is not what encoder.json describes: the run was killed"):
    encoder_file.load(tmp_path)


def test_an_architecture_that_cannot_be_made_is_said(tmp_path):
  encoder_file.save(tmp_path, conv4.conv4((8, 8, 3), filters=4, blocks=2), {})
  about = sealed_json.read(tmp_path / "encoder.json")
  about["architecture"]["class_name"] = "Unheard"
  (tmp_path / "encoder.json").write_text(sealed_json.text(about))
  with pytest.raises(ValueError, match="cannot be made: The model in encoder.json holds the "
                     "layer 'Unheard'.* Give its weights, encoder.npz, to a learner"):
    encoder_file.load(tmp_path).model()


def test_the_digest_is_of_values_shapes_and_types():
  ones = np.ones([2, 3], np.float32)
  same = [ones, ones * 2, ones.reshape(3, 2), ones.astype(np.float64)]
  assert len({encoder_file.digest([array]) for array in same}) == 4
  assert encoder_file.digest([ones]) == encoder_file.digest([ones.copy()])


def test_a_start_has_the_weights_and_their_cost(tmp_path):
  model, cost = conv4.conv4((8, 8, 3), filters=4, blocks=1), {"flops": 7, "macs": 3}
  encoder_file.save(tmp_path / "new", model, {"cost": cost, "year": 2015})
  encoder_file.save(tmp_path / "old", model, {})  # Written before encoders had a cost.
  for place, unsaid, wanted in (("new", {"flops": 1}, cost), ("old", {"flops": 1}, {"flops": 1}),
                                ("new/encoder.npz", {"flops": None}, {"flops": None})):
    found = encoder_file.starting(tmp_path / place, model, unsaid)
    assert found.cost == wanted and found.year == (2015 if place == "new" else None)
    assert encoder_file.digest(found.weights) == encoder_file.digest(model.get_weights())


def test_differences_of_an_architecture_are_named():
  model = conv4.conv4((8, 8, 3), filters=4, blocks=1)
  weights = model.get_weights()
  encoder_file.check_fits([*weights, np.zeros([3])], model, "there")  # A head comes after it.
  message = (
      r"are of another architecture than the backbone 'conv4' "
      rf"\({len(weights) - 1} arrays, .*kernel is \[3, 3, 3, 4\] here "
      r"and \[2, 3, 3, 4\] there; 1 weights from block1\S* on are missing")
  with pytest.raises(ValueError, match=message):
    encoder_file.check_fits([weights[0][:2], *weights[1:-1]], model, "there")
