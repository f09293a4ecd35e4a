# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Shared flags of the tools that time the authors' code; independent of the suite."""

from __future__ import annotations

import argparse
import os
import pathlib


def options(parser: argparse.ArgumentParser) -> argparse.Namespace:
  """Adds the shared flags, parses, and sets PyTorch to the CPU and the number of threads."""
  parser.add_argument("--checkout", type=pathlib.Path, required=True)
  parser.add_argument("--seconds", type=float, default=20.0)
  parser.add_argument("--threads", type=int, default=2)
  found = parser.parse_args()
  found.checkout = found.checkout.resolve()
  os.environ.update(CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS=str(found.threads),
                    MKL_NUM_THREADS=str(found.threads))
  import torch
  torch.set_num_threads(found.threads)
  return found
