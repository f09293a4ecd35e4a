# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A CLIP with a ResNet against the outputs of OpenAI's code on the same generated weights.

small_resnet/answers.npz was made by `tools/parity/public_clip.py FOLDER --resnet OPENAI` (commit
d05afc4, torch 2.15.0), without the pixels.
"""

import pathlib
import shutil

import numpy as np
import safetensors_writer

from suite.models.clip import architecture
from suite.models.clip import weight_files

FOLDER = pathlib.Path(__file__).parents[1] / "models/clip"


def test_a_resnet_equals_the_reference(load_tool, tmp_path):
  generated = load_tool("generated_weights")
  clip = architecture.Clip(6, architecture.AttentionResNet(64, (1, 2, 1, 1), 4),
                           architecture.Text(24, 534, architecture.Body(64, 2, 1, 256)))
  shapes = {}
  for one in [*weight_files.image_weights(clip), *weight_files.text_weights(clip)]:
    thirds = 1 if one.part is None else 3  # Joint projections hold three parts.
    shapes[one.openai] = (thirds * one.shape[0], *one.shape[1:])
  safetensors_writer.write(tmp_path / "model.safetensors", {
      name: generated.weight(name, shape) for name, shape in shapes.items()})
  shutil.copy(FOLDER / "small_clip/merges.txt", tmp_path)
  with np.load(FOLDER / "small_resnet/answers.npz", allow_pickle=False) as answers:
    np.savez(tmp_path / "answers.npz", pixels=generated.pixels(64, 2), **answers)
  compare = load_tool("clip_parity").compare
  found = compare(tmp_path)
  assert found["token ids"] == 0
  assert max(found["image"], found["text"]) < 1e-5
