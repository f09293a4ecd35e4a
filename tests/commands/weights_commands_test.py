# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import pathlib

import numpy as np
import pytest

from suite import cli
from suite.state import encoder_file

# Made by tools/parity/public_torchvision.py --small --size 64, with torchvision's own blocks.
_MADE = pathlib.Path(__file__).parents[1] / "models/torchvision/small_resnets"


@pytest.mark.parametrize("file, layout", [
    ("resnet18.pth", "torchvision"), ("resnet50_moco.pth.tar", "moco")])
def test_features_and_logits_are_torchvisions(file, layout, tmp_path, capsys):
  assert cli.main(["weights", "convert", str(_MADE / file), "--out", str(tmp_path),
                   "--image_size", "64"]) == 0
  assert layout in capsys.readouterr().out
  answers, name = np.load(_MADE / "answers.npz"), file.split(".")[0].removesuffix("_moco")
  encoder = encoder_file.load(tmp_path)
  assert encoder.about["source"]["file"] == file
  features = encoder.model()(answers["pixels"], training=False).numpy()
  np.testing.assert_allclose(features, answers[f"{name}_features"], rtol=1e-4, atol=1e-4)
  if layout == "moco":
    with pytest.raises(FileNotFoundError, match="MoCo's has none"):
      encoder_file.classifier(tmp_path)
  else:
    kernel, bias = encoder_file.classifier(tmp_path)
    np.testing.assert_allclose(
        features @ kernel + bias, answers[f"{name}_logits"], rtol=1e-4, atol=1e-4)


def test_another_net_or_no_file_is_refused_and_nothing_is_written(tmp_path, capsys):
  out = tmp_path / "out"
  command = ["weights", "convert", str(_MADE / "resnet18.pth"), "--out", str(out)]
  assert cli.main([*command, "--net", "resnet50"]) == 1
  said = capsys.readouterr().err
  assert "is not a checkpoint of resnet50" in said and "conv1.weight is [4, 3, 7, 7]" in said
  assert cli.main(["weights", "convert", str(tmp_path / "x.pth"), "--out", str(out)]) == 1
  assert "There is no file of weights" in capsys.readouterr().err
  assert not out.exists()
