# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs Avalanche's strategies on short tasks, around a linear layer that begins at zero.

Settings: those of `public_clear`, which runs them for the comparison of CLEAR's table.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import public_clear
import public_code

_STAND_INS = ("pytorchcv", "pytorchcv.models", "pytorchcv.models.mobilenet", "torchmetrics",
              "torchmetrics.functional", "torchmetrics.image", "torchmetrics.image.fid",
              "tensorboard", "torch.utils.tensorboard")


def _answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
            ) -> public_code.Arrays:
  """The last weights, "kernel" [D, C] and "bias" [C]."""
  rows, labels = arrays["train"], arrays["train_labels"]
  given = {"train": rows, "train_labels": labels, "test": rows, "test_labels": labels}
  with public_code.stand_ins(*_STAND_INS):
    found = public_clear.answer(checkout, given, {
        "rate_falls_every": 10 ** 6, "rate": 0.1, "batch": arrays["train"].shape[1],
        "seeds": [0], "copies": False, **settings})
  return {name: found[name][0] for name in ("kernel", "bias")}


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))
