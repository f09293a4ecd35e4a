# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The images of NEVIS, from data to batches of crops of 64 x 64, in images per CPU second.

Each tree measures in a process of its own, with one thread, which is told when: rounds alternate
between the trees, and ratios are medians over rounds of what two candidates did in the same round.

  as stored    training crops from JPEGs of a size and of three quarters of its width, in memory
  decoding     the same JPEGs decoded whole, and nothing else
  packed       training crops from a packed copy with a shorter side of 74
  array        training crops from an array of images of the copy's shape
  validation   the validations of a trial, 50 passes over JPEGs, prepared in the first one

The pictures are smooth with a little noise, at quality 92. As a program it is one such process.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

SIZE, QUALITY, BATCH, PICTURES, PASSES = 64, 92, 32, 64, 50
CASES = {"256x256": (256, 256), "500x400": (400, 500)}
ARRAYS = (64, 32, 96)
SECONDS = 2.0  # Of the CPU, at least, of a candidate in a round: buffers may grow within it.
IDLE_SECONDS = 0.3  # Buffers are full if the process has used no CPU for so long.
Rates = dict[str, float]


def run(what: str, num_rounds: int, other: str | None) -> None:
  """Prints the table of `decode` or `pipeline`; `other` is another tree of the suite."""
  here = str(pathlib.Path(__file__).parents[2])
  trees = {"this": here, **({"other": other} if other else {})}
  processes = {name: _start(path, what) for name, path in trees.items()}
  rounds: list[dict[str, Rates]] = []
  try:
    for number in range(num_rounds + 1):
      found = {name: _ask(processes[name])
               for name in (list(trees) if number % 2 else reversed(list(trees)))}
      if number:  # The first round traces graphs and fills buffers.
        rounds.append(found)
  finally:
    for process in processes.values():
      process.stdin.close()
      process.wait()
  (_show_decode if what == "decode" else _show_arrays)(rounds)


def _start(path: str, what: str) -> Any:
  environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
  return subprocess.Popen([sys.executable, __file__, what], env=environment, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _ask(process: Any) -> Rates:
  process.stdin.write("\n")
  process.stdin.flush()
  line = process.stdout.readline()
  if not line:
    raise RuntimeError(f"{' '.join(process.args)} ended; run it by hand to see why.")
  return json.loads(line)


def _rate(rounds: list[dict[str, Rates]], name: str) -> str:
  return f"{statistics.median(found['this'][name] for found in rounds):,.0f}"


def _ratio(rounds: list[dict[str, Rates]], name: str, other: str, tree: str = "this") -> str:
  """The median ratio of two candidates; "" if the other tree is missing."""
  if tree not in rounds[0]:
    return ""
  return f"{statistics.median(r['this'][name] / r[tree][other] for r in rounds):.2f}"


def _show_decode(rounds: list[dict[str, Rates]]) -> None:
  print("| JPEG | as stored, images/s | to the other tree | to decoding | validation to training |"
        "\n|---|---:|---:|---:|---:|")
  for case in CASES:
    print(f"| {case} | {_rate(rounds, case)} | {_ratio(rounds, case, case, 'other')} |",
          f"{_ratio(rounds, case, f'{case} decoding')} |",
          f"{_ratio(rounds, f'{case} validation', case)} |")
  print(f"\npacked: {_rate(rounds, 'packed')} images/s, {_ratio(rounds, 'packed', 'array')} of an "
        "array of the same shape")


def _show_arrays(rounds: list[dict[str, Rates]]) -> None:
  print("| array | images/s | to the other tree |\n|---|---:|---:|")
  for side in map(str, ARRAYS):
    print(f"| {side} x {side} | {_rate(rounds, side)} | {_ratio(rounds, side, side, 'other')} |")


def _measure(what: str) -> None:
  """Measures all candidates for each line of the input."""
  import numpy as np  # pylint: disable=import-outside-toplevel
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  tf.config.threading.set_intra_op_parallelism_threads(1)
  tf.config.threading.set_inter_op_parallelism_threads(1)
  from suite.data.images import image_ops  # pylint: disable=import-outside-toplevel
  from suite.data.images import image_set  # pylint: disable=import-outside-toplevel
  rng, facts = np.random.default_rng(0), {"kind": "single_label", "num_classes": 4}
  options, transform = tf.data.Options(), image_ops.Nevis(SIZE)
  options.threading.private_threadpool_size = 1
  candidates: dict[str, Callable[[], int]] = {}

  def taking(dataset: Any) -> Callable[[], int]:
    iterator = iter(dataset.with_options(options))
    def take() -> int:
      next(iterator)
      return BATCH
    return take

  def training(images: Any) -> Callable[[], int]:
    return taking(images.train_batches(BATCH, seed=(0, 0), transform=transform))

  def array(*shape: int) -> Any:
    pixels = rng.integers(0, 256, (1000, *shape, 3), dtype=np.uint8)
    return image_set.ImageSet.from_arrays("array", pixels, np.arange(1000) % 4, **facts)

  def passes(images: Any) -> int:
    from suite.training.scoring import scoring  # pylint: disable=import-outside-toplevel
    ready = scoring.ReadyBatches(
        images.subset(np.arange(PICTURES)).eval_batches(BATCH, transform=transform), PICTURES)
    return sum(len(batch["mask"]) for _ in range(PASSES) for batch in ready)

  if what == "pipeline":
    candidates = {str(side): training(array(side, side)) for side in ARRAYS}
  else:
    jpegs: dict[str, Any] = {}
    for case, sides in CASES.items():
      encoded = list(_jpegs(*sides))
      images = image_set.ImageSet.from_encoded("jpeg", encoded, np.arange(PICTURES) % 4, **facts)
      whole = tf.data.Dataset.from_tensor_slices(tf.constant(encoded)).repeat().map(
          lambda image: tf.shape(tf.io.decode_image(image, channels=3, expand_animations=False)))
      candidates[case] = training(images)
      candidates[f"{case} decoding"] = taking(whole.batch(BATCH))
      jpegs[case] = images
    candidates["array"] = training(array(74, 98))
    try:
      from suite.data.images import packed_images  # pylint: disable=import-outside-toplevel
    except ImportError:  # The other tree is older.
      pass
    else:
      candidates.update({f"{case} validation": lambda images=images: passes(images)
                         for case, images in jpegs.items()})
      sides = np.tile(np.array([[74, 98]], np.int32), (1000, 1))
      path = pathlib.Path(tempfile.mkdtemp(prefix="lifelong-bench-"), "pixels.bin")
      path.write_bytes(b"".join(packed_images.bordered(image).tobytes() for image in rng.integers(
          0, 256, (1000, 74, 98, 3), dtype=np.uint8)))
      store = packed_images.PackedStore(
          packed_images.mapped(path), packed_images.offsets_of(sides), sides)
      path.unlink()
      candidates["packed"] = training(
          image_set.ImageSet("packed", store, np.arange(1000) % 4, **facts))

  for _ in sys.stdin:
    rates: Rates = {}
    for name, take in candidates.items():
      # From full buffers to full buffers, so that as many images are made as are taken.
      _settle()
      began, taken = time.process_time(), 0
      while time.process_time() - began < SECONDS:
        taken += take()
      _settle()
      rates[name] = taken / (time.process_time() - began)
    print(json.dumps(rates), flush=True)


def _settle() -> None:
  """Waits until nothing works in the background."""
  before, calm = time.process_time(), 0
  while calm < 2:
    time.sleep(IDLE_SECONDS / 2)
    now = time.process_time()
    calm, before = (calm + 1 if now - before < 0.002 else 0), now


def _jpegs(height: int, width: int) -> Iterator[bytes]:
  import numpy as np  # pylint: disable=import-outside-toplevel
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  rng = np.random.default_rng(0)
  coarse = rng.integers(0, 256, (max(2, height // 32), max(2, width // 32), 3)).astype(np.float32)
  smooth = tf.image.resize(coarse, (height, width), "bicubic").numpy()
  shown = np.clip(smooth + rng.normal(0, 4, (height, width, 1)), 0, 255).astype(np.uint8)
  for index in range(PICTURES):
    columns = width * 3 // 4 if index % 2 else width
    pixels = np.roll(shown, rng.integers(height), axis=0)[:, :columns]
    yield tf.io.encode_jpeg(pixels, quality=QUALITY).numpy()


if __name__ == "__main__":
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("what", choices=("decode", "pipeline"))
  _measure(parser.parse_args().what)
