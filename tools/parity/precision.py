# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/results/cfsl/precision.md: meta-gradients in float32 beside float64, at full size.

    python tools/parity/precision.py --data_dir DIR    measures what the page's rows lack
    python tools/parity/precision.py --page            writes the page from the rows
    python tools/parity/precision.py --page --check    fails if the page is out of date

The rows are docs/results/cfsl/precision.jsonl (`--rows`); delete those that are to be measured
again. It needs the prepared data set cfsl_omniglot/images. Each model, number of support sets and
setting of oneDNN is a process of its own; `--models`, `--sets`, `--onednn` and `--episodes` choose
among them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import json
import os
import pathlib
import statistics
import subprocess
import sys
from typing import Any

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import made_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results" / "cfsl" / "precision.md"
ROWS = PAGE.with_suffix(".jsonl")
MODELS, SETS, NOISES, EPISODES = ("maml", "high", "sca", "proto"), (1, 3, 10), (1.0, 0.0), (3, 4)
TITLES = {"maml": "MAML++ low-end", "high": "MAML++ high-end", "sca": "SCA", "proto": "ProtoNets"}
LOSS, GRADIENT = 1e-4, 5e-3  # What float32 is to keep, where decisions are equal.

_HEAD = """# Meta-gradients in float32

<!-- Made by `tools/parity/precision.py`; do not edit. -->

Loss and meta-gradient of Omniglot's episodes (5-way 1-shot, 5 inner steps on each of NSS support
sets, task type B above one), at initial weights with rates, scales and offsets moved off their
round initial values. Errors are those of float32 against float64: of the loss, absolute, and of the
whole gradient, relative. A cell is the median over the episodes, with the largest in brackets.

- *kernel*: the norms take their moments from TensorFlow's fused kernel, as they once did. *now*:
  the suite's norms (`suite/models/episodic/twice_norm.py`). Both are the compiled graph that
  training runs. The rows are older than the fold of the first norm into its convolution, whose
  moments are computed in float64 (`suite/models/episodic/twice_norm.py`).
- *same decisions*: float64 with every winner of a pooling window and every sign of a LeakyReLU's
  argument as float32 had them, beside float32 run op by op. This is what rounding does to the
  arithmetic. The suite keeps 1e-4 of the loss and 0.5% of the gradient here.
- *differ*: the decisions of float32 that float64 decides otherwise, of those that it makes.
- *tie-free* images have normal noise of one grey level (of 255), which leaves no equal numbers in
  flat regions; *real* images are as drawn, most pooling windows of the first layer hold ties.

## What decides

A meta-gradient jumps where two numbers of a window change their order, or a number its sign. An
error of float32 that meets such a place changes one inner step by about 1e-5, the next step meets
more of them, and within some ten steps the gradient is another one: after that no precision of the
arithmetic brings it back. It happens with any float32 (and, rarer, with float64) and depends on the
episode; better norms make it rarer. With the same decisions the gradients agree. Low-end at NSS 10,
after fifty inner steps, is beyond that point with either norm; high-end and SCA are not.

Ties are not among these places. Equal numbers of a window come from equal patches and pass on
equal gradients, so it does not matter which of them wins: the first by rows in the suite. *shared*
divides the gradient among all tied numbers instead. What a rewrite of the graph (Grappler's
constant folding, say) changes in the last bits is an error like others.

"""


def missing(rows: list[dict[str, Any]], args: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
  """Yields (model, NSS, oneDNN, episodes) of processes that have rows to measure."""
  there = {(r["model"], r["num_sets"], r["onednn"], r["episode"], r["noise"]) for r in rows}
  for num_sets in args.sets:
    for model in args.models:
      for onednn in args.onednn:
        left = [e for e in args.episodes
                if any((model, num_sets, onednn, e, noise) not in there for noise in NOISES)]
        if left:
          yield model, num_sets, onednn, left


def read(path: pathlib.Path) -> list[dict[str, Any]]:
  """The measured rows, of each the last."""
  lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
  rows = [json.loads(line) for line in lines]
  key = lambda r: (r["num_sets"], MODELS.index(r["model"]), -r["noise"], -r["onednn"], r["episode"])
  return sorted({key(row): row for row in rows}.values(), key=key)


def measure(args: argparse.Namespace) -> None:
  """Measures what is missing, in one process after another, and appends it to the file."""
  for model, num_sets, onednn, episodes in list(missing(read(args.rows), args)):
    command = [sys.executable, __file__, "--rows", str(args.rows), "--cell", "--models", model,
               "--sets", str(num_sets), "--onednn", str(onednn),
               "--episodes", ",".join(map(str, episodes))]
    if args.data_dir:
      command += ["--data_dir", args.data_dir]
    print(f"{TITLES[model]}, NSS {num_sets}, oneDNN {onednn}", flush=True)
    subprocess.run(command, env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": str(onednn)}, check=True)


def measure_cell(args: argparse.Namespace) -> None:
  """Measures one cell in this process."""
  import precision_runs  # TensorFlow reads the setting of oneDNN when it is imported.
  import tensorflow as tf  # pylint: disable=g-import-not-at-top

  tf.config.threading.set_intra_op_parallelism_threads(1)
  rows = precision_runs.cell(args.models[0], args.sets[0], args.data_dir, args.episodes, NOISES)
  for row in rows:
    line = json.dumps({**row, "onednn": args.onednn[0]})
    with args.rows.open("a", encoding="utf-8") as file:
      file.write(line + "\n")


def page(rows: list[dict[str, Any]]) -> str:
  """The page from all rows."""
  text = _HEAD + "## float32 against float64\n\n"
  text += _table("| model | NSS | images | oneDNN | episodes | kernel: loss | gradient | now: loss "
                 "| gradient | same decisions: loss | gradient | differ | of |", 4, 9,
                 (_single_line(part) for part in _grouped(rows, "onednn")))
  text += ("\n## float64 against itself\n\n*rounded* moves every weight by a relative 2^-24, as "
           "rounding to float32 may; the difference is that of float64 from float64.\n\n")
  text += _table("| model | NSS | images | loss | rounded: loss | gradient | shared: loss | "
                 "gradient |", 3, 5, (_double_line(part) for part in _grouped(rows)))
  worst = [max(abs(r["forced"][0]) / LOSS, r["forced"][1] / GRADIENT) for r in rows]
  kept = sum(abs(r["now"][0]) <= LOSS and r["now"][1] <= GRADIENT for r in rows)
  was = sum(abs(r["before"][0]) <= LOSS and r["before"][1] <= GRADIENT for r in rows)
  return text + (
      f"\n{len(rows)} comparisons of an episode. With the same decisions "
      f"{sum(w <= 1 for w in worst)} keep {LOSS:g} of the loss and {GRADIENT:.1%} of the gradient; "
      f"with its own decisions {kept}, and {was} with the kernel's moments.\n")


def _grouped(rows: list[dict[str, Any]], *more: str) -> list[list[dict[str, Any]]]:
  groups: dict[Any, list[dict[str, Any]]] = {}
  for row in rows:
    if not more and row["onednn"] != 1:  # float64 knows no oneDNN.
      continue
    groups.setdefault(tuple(row[k] for k in ("model", "num_sets", "noise", *more)), []).append(row)
  return list(groups.values())


def _named(part: list[dict[str, Any]]) -> list[str]:
  first = part[0]
  return [TITLES[first["model"]], str(first["num_sets"]), "tie-free" if first["noise"] else "real"]


def _values(part: list[dict[str, Any]], name: str) -> list[str]:
  cells = []
  for index, form in ((0, "{:.0e}"), (1, "{:.2g}%")):
    values = [abs(row[name][index]) * (100 if index else 1) for row in part]
    most = f" ({form.format(max(values))})" if len(values) > 1 else ""
    cells.append(form.format(statistics.median(values)) + most)
  return cells


def _single_line(part: list[dict[str, Any]]) -> list[str]:
  differ, of = (statistics.median(v) for v in zip(*((r["single"][2], r["decided"]) for r in part)))
  return [*_named(part), "on" if part[0]["onednn"] else "off", str(len(part)),
          *_values(part, "before"),
          *_values(part, "now"), *_values(part, "forced"), f"{differ:,.0f}", f"{of:,.0f}"]


def _double_line(part: list[dict[str, Any]]) -> list[str]:
  losses = ", ".join(f"{row['loss']:.6f}" for row in part)
  return [*_named(part), losses, *_values(part, "moved"), *_values(part, "shared")]


def _table(head: str, texts: int, numbers: int, lines: Iterator[list[str]]) -> str:
  rule = "|" + "---|" * texts + "---:|" * numbers
  return "\n".join([head, rule, *(f"| {' | '.join(line)} |" for line in lines)]) + "\n"


def main() -> int:
  numbers = lambda text: tuple(int(part) for part in text.split(","))
  parser = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--rows", type=pathlib.Path, default=ROWS, help="JSON lines of measurements")
  parser.add_argument("--data_dir", help="of the prepared data")
  parser.add_argument("--models", type=lambda text: tuple(text.split(",")), default=MODELS)
  parser.add_argument("--sets", type=numbers, default=SETS)
  parser.add_argument("--onednn", type=numbers, default=(1, 0))
  parser.add_argument("--episodes", type=numbers, default=EPISODES)
  parser.add_argument("--page", action="store_true", help="only write the page")
  parser.add_argument("--check", action="store_true", help="only compare the page")
  parser.add_argument("--cell", action="store_true", help=argparse.SUPPRESS)
  args = parser.parse_args()
  unknown = set(args.models) - set(MODELS)
  if unknown:
    parser.error(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(MODELS)}")
  if args.cell:
    measure_cell(args)
  elif args.page:
    return made_page.finish(PAGE, page(read(args.rows)), args.check, "not what its rows give; run "
                            "tools/parity/precision.py --page")
  else:
    measure(args)
  return 0


if __name__ == "__main__":
  sys.exit(main())
