# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Compares the features of converted checkpoints with the source's (public_torchvision.py).

  python tools/parity/torchvision_parity.py FOLDER
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile

import numpy as np

from suite.commands import weights_commands
from suite.state import encoder_file

TOLERANCE = 1e-5  # Of the largest feature.


def difference(path: pathlib.Path, answers) -> tuple[float, float]:
  """Largest differences of features and logits (nan without a classifier), over the largest one."""
  name = path.name.split(".")[0].removesuffix("_moco")
  pixels = answers[f"{name}_pixels" if f"{name}_pixels" in answers else "pixels"]
  wanted = answers[f"{name}_features"]
  with tempfile.TemporaryDirectory() as folder:
    weights_commands.convert_checkpoint(path, pathlib.Path(folder), image_size=pixels.shape[1])
    got = encoder_file.load(pathlib.Path(folder)).model()(pixels, training=False).numpy()
    logits = float("nan")
    if (pathlib.Path(folder) / encoder_file.CLASSIFIER).exists():
      kernel, bias = encoder_file.classifier(folder)
      expected = answers[f"{name}_logits"]
      logits = float(np.max(np.abs(got @ kernel + bias - expected)) / np.max(np.abs(expected)))
  return float(np.max(np.abs(got - wanted)) / np.max(np.abs(wanted))), logits


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("folder", type=pathlib.Path)
  folder = parser.parse_args().folder
  answers = np.load(folder / "answers.npz")
  bad = False
  for path in sorted(p for p in folder.iterdir() if p.name != "answers.npz"):
    features, logits = difference(path, answers)
    bad |= features > TOLERANCE
    print(f"{path.name}: features differ by {features:.1e} of the largest, logits {logits:.1e}")
  raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
  main()
