# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reproduces published numbers of methods, with the settings of their papers.

  python tools/proofs permuted_mnist --data ../shared/data --methods er der_plus_plus --seeds 0 1 2

  python tools/proofs page                               # docs/proofs.md of docs/results/proofs.csv

Each line is a number of a paper and what the suite has. `--store` puts it into the file. DATA holds
mnist/, the four idx files.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import gzip
import os
import pathlib
import sys
import tempfile
import time
from typing import Any, Callable, Mapping

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import made_page
import numpy as np

from suite.compute import distribution
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.streams import buckets as buckets_lib
from suite.learners import gradient
from suite.models import mlp
from suite.protocols import clear
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import gss
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import der
from suite.training.objectives import ewc
from suite.training.objectives import gem
from suite.training.objectives import si

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, STORED = ROOT / "docs" / "proofs.md", ROOT / "docs" / "results" / "proofs.csv"
FIELDS = ("benchmark", "method", "seeds", "mean", "deviation")
BUFFER, BATCH = 200, 128


@dataclasses.dataclass(frozen=True)
class Row:
  """A published number: final average accuracy in percent.

  Attributes:
    title: of the method. published: the paper's mean over ten seeds. rate: of learning.
    parts: the method's parts, of `GradientLearner`.
  """

  title: str
  published: float
  rate: float
  parts: Callable[[], Mapping[str, Any]]


def replay(objective: Any = None, rule: Any = None, batch: int = BATCH) -> dict[str, Any]:
  return {"objective": objective, "memory": memory.Memory(BUFFER, rule or reservoir.Reservoir()),
          "replay_batch": batch, "remember": "each_step"}


# Buzzega et al., 2020, table 2 (P-MNIST, buffer of 200), with the rates and weights that its
# authors chose (github.com/aimagelab/mammoth at 0d727a7, utils/best_args.py).
PERMUTED_MNIST = {
    "sgd": Row("SGD (fine-tuning)", 40.70, 0.2, dict),
    "online_ewc": Row("online EWC", 75.79, 0.1, lambda: {
        "objective": ewc.Ewc(strength=0.7, anchor="last", decay=1.0, fisher="example")}),
    "si": Row("SI", 65.86, 0.1, lambda: {"objective": si.Si(strength=1.0, epsilon=1.0)}),
    "er": Row("ER", 72.37, 0.2, replay),
    "gem": Row("GEM", 66.93, 0.1, lambda: {
        "objective": gem.Gem(margin=0.5),
        "memory": memory.Memory(BUFFER, reservoir.GroupBalanced("bucket"))}),
    "agem": Row("A-GEM", 66.42, 0.1, lambda: {
        "objective": gem.Agem(sample_size=BATCH, chunk=BATCH),
        "memory": memory.Memory(BUFFER, reservoir.GroupBalanced("bucket"))}),
    "gss": Row("GSS (greedy)", 63.72, 0.2, lambda: replay(
        rule=gss.Gss(subset=10, block=BATCH), batch=10)),
    "der": Row("DER", 81.74, 0.2, lambda: replay(der.Der(alpha=1.0))),
    "der_plus_plus": Row("DER++", 83.58, 0.1, lambda: replay(der.Der(alpha=1.0, beta=1.0))),
}

HEAD = """# Proofs

Published numbers of methods, made again with the suite's learners and the settings of their papers,
which `tools/proofs` has; it runs on two CPU cores.

## Permuted MNIST

20 tasks, each all of MNIST with its pixels in another order, one pass over each; a network of two
layers of 100; batches of 128, 128 replayed rows (10 for GSS), 200 slots; plain SGD. The number is
the mean accuracy on all 20 tests after the last task, in percent (Buzzega et al., 2020, table 2).

<!-- not run: needs MNIST -->
```sh
python tools/proofs permuted_mnist --data DIR --seeds 0 --store      # DIR/mnist: the four idx files
```

| method | learning rate | published | suite | seeds | difference |
|---|---:|---:|---:|---:|---:|"""
NOTES = (
    "Replayed memories take rows in with each step, DER and DER++ with the logits of that moment "
    "(`GradientLearner.remember`).",)


def idx(folder: pathlib.Path, name: str) -> np.ndarray:
  """The content of an idx file of bytes."""
  with gzip.open(folder / f"{name}.gz", "rb") as file:
    data = file.read()
  shape = [int.from_bytes(data[4 + 4 * d:8 + 4 * d], "big") for d in range(data[3])]
  return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def permuted_mnist(folder: pathlib.Path, seed: int, num_tasks: int = 20) -> buckets_lib.Buckets:
  """MNIST's pixels in [0, 1], in another random order in each task."""
  parts = {part: (idx(folder, f"{part}-images-idx3-ubyte").reshape([-1, 784]),
                  idx(folder, f"{part}-labels-idx1-ubyte")) for part in ("train", "t10k")}

  def made(part: str, order: np.ndarray, name: str) -> feature_set.FeatureSet:
    pixels, labels = parts[part]
    return feature_set.FeatureSet.from_arrays(
        name, pixels[:, order].astype(np.float32) / 255, labels.astype(np.int64),
        kind=tasks.SINGLE_LABEL, num_classes=10)

  rng = np.random.default_rng([seed, 784])
  orders = [rng.permutation(784) for _ in range(num_tasks)]
  return buckets_lib.Buckets(
      tasks.Task("permuted_mnist", tasks.SINGLE_LABEL, 10),
      tuple(buckets_lib.Bucket(f"task_{t + 1:02d}", made("train", order, f"train{t}"),
                               made("t10k", order, f"test{t}")) for t, order in enumerate(orders)))


def final_accuracy(row: Row, buckets: buckets_lib.Buckets, seed: int) -> float:
  """The mean accuracy on all tasks after the last one, in percent."""
  learner = gradient.GradientLearner(
      transform=feature_set.Features(784),
      net=trainable_parts.AllLayers(mlp.mlp(784, hidden=(100, 100))),
      optimizer=optimizers.Momentum(0.0), epochs=1, batch_size=BATCH, learning_rate=row.rate,
      **row.parts())
  with tempfile.TemporaryDirectory() as folder:
    writer = run_writer.RunWriter(pathlib.Path(folder), None, progress.Progress("proof"))
    state = run_state.RunState(pathlib.Path(folder), writer, name="proof", seed=seed,
                               distribution=distribution.build())
    try:
      # A gradient learner trains on validation images, too.
      summary = clear.run(learner, state=state, buckets=buckets)
    finally:
      writer.close()
  return 100 * float(np.mean(summary["matrix"][-1]))


def page(stored: list[dict[str, str]]) -> str:
  """docs/proofs.md: the latest stored row of each method beside the paper's number."""
  found = {row["method"]: row for row in stored if row["benchmark"] == "permuted_mnist"}
  lines = [HEAD]
  for name, row in PERMUTED_MNIST.items():
    if name in found:
      ours = found[name]
      difference = float(ours["mean"]) - row.published
      spread = f" ± {ours['deviation']}" if int(ours["seeds"]) > 1 else ""
      lines.append(f"| {row.title} | {row.rate:g} | {row.published:.2f} | {ours['mean']}{spread} | "
                   f"{ours['seeds']} | {difference:+.2f} |")
  return "\n".join([*lines, *(f"\n{note}" for note in NOTES)]) + "\n"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("benchmark", choices=["permuted_mnist", "page"])
  parser.add_argument("--data", default=os.environ.get("LIFELONG_DATA", "../shared/data"))
  parser.add_argument("--methods", nargs="+", choices=list(PERMUTED_MNIST),
                      default=list(PERMUTED_MNIST))
  parser.add_argument("--seeds", nargs="+", type=int, default=[0])
  parser.add_argument("--check", action="store_true", help="whether the page is of its rows")
  parser.add_argument("--store", action="store_true", help=f"add the rows to {STORED.name}")
  args = parser.parse_args()
  if args.benchmark == "page":
    with open(STORED, newline="") as file:
      return made_page.finish(PAGE, page(list(csv.DictReader(file))), args.check,
                              "not what its rows give; run python tools/proofs page.")
  folder = pathlib.Path(args.data) / "mnist"
  if not folder.is_dir():
    print(f"{folder} is not there; give --data a folder with mnist/, the four idx files.")
    return 2
  rows: dict[str, list[float]] = {}
  for seed in args.seeds:
    buckets = permuted_mnist(folder, seed)
    for name in args.methods:
      began, cpu = time.monotonic(), time.process_time()
      found = final_accuracy(PERMUTED_MNIST[name], buckets, seed)
      rows.setdefault(name, []).append(found)
      print(f"{name} seed {seed}: {found:.2f} (published {PERMUTED_MNIST[name].published:.2f}), "
            f"{time.monotonic() - began:.0f} s, {time.process_time() - cpu:.0f} CPU s", flush=True)
  if args.store:
    with open(STORED, "a", newline="") as file:
      writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
      if not file.tell():
        writer.writeheader()
      for name, found in rows.items():
        writer.writerow({"benchmark": args.benchmark, "method": name, "seeds": len(found),
                         "mean": f"{np.mean(found):.2f}", "deviation": f"{np.std(found):.2f}"})
  return 0


if __name__ == "__main__":
  sys.exit(main())
