# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Compares our CLIP with the outputs of another implementation on the same weights.

  python tools/parity/clip_parity.py FOLDER [--clip-model RN50]

FOLDER is one of tools/parity/public_clip.py. Without ftfy only texts in ASCII are compared. The
exit status is 1 if token ids differ, or if an embedding differs by more than 1e-4 of the largest.
"""

from __future__ import annotations

import argparse
import pathlib
import resource
import sys
import time

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import numpy as np

TOLERANCE = 1e-4


def compare(folder: pathlib.Path, name: str | None = None) -> dict[str, float]:
  """Computes differences as shares of the largest value, and the number of other token ids."""
  from suite.models.clip import byte_pairs
  from suite.models.clip import weight_files
  with np.load(folder / "answers.npz", allow_pickle=False) as file:
    answers = dict(file)
  towers = weight_files.load(folder, name)
  text = towers.clip.text
  pairs = byte_pairs.load(folder, text.vocabulary, text.length)
  same = np.array([byte_pairs.ftfy is not None or one.isascii() for one in answers["texts"]])
  ids = pairs.batch(answers["texts"][same].tolist())
  found = {"image": towers.image.predict_on_batch(answers["pixels"].astype(np.float32)),
           "text": towers.text.predict_on_batch(answers["ids"])}
  return {**{key: float(np.abs(value - answers[key]).max() / np.abs(answers[key]).max())
             for key, value in found.items()},
          "token ids": float(np.count_nonzero(ids != answers["ids"][same]))}


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("folder", type=pathlib.Path)
  parser.add_argument("--clip-model", help="the architecture that the weights must have")
  args = parser.parse_args()
  start = time.monotonic()
  found = compare(args.folder, args.clip_model)
  peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
  print(f"Largest difference, as a share of the largest value: image {found['image']:.1e}, "
        f"text {found['text']:.1e}; {found['token ids']:.0f} token ids differ. "
        f"{time.monotonic() - start:.0f} s, {peak:.1f} GiB.")
  return int(found["token ids"] > 0 or max(found["image"], found["text"]) > TOLERANCE)


if __name__ == "__main__":
  sys.exit(main())
