# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/methods.md from suite/configs/methods.csv: which method runs under which protocol.

    python tools/make_methods_page.py             writes docs/methods.md
    python tools/make_methods_page.py --check     fails if docs/methods.md is out of date
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
import pathlib
import sys

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import made_page

from suite.configs import methods

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "methods.md"

_HEAD = """# Methods

Made by `tools/make_methods_page.py` from `suite/configs/methods.csv`; do not edit.

{num_methods} methods. Of the {cells} cells of NEVIS, CLEAR and FLUID (without methods for
episodes alone) {running} run, {percent:.0f}%; {on_cfsl} methods run on CFSL.
`tests/contracts/method_matrix_test.py` runs every cell on the embedded digits: a method that runs
learns above chance, resumes bit for bit, and has known FLOPs and MACs; all others are
refused by a message before anything is trained.

A cell names the gin file under `gin/learners` and the macro of the learner in it. A run file
includes that file, then `gin/learners/on_nevis.gin`, `on_clear.gin` or `on_fluid.gin` (CFSL needs
none), and sets the upper-case names; [extending.md](extending.md) shows how to add a method.
"""
_REASONS = """
## Why a method does not run

NEVIS's tasks have separate classes, and a gradient learner has a head for each of them
(`PerTask`). Memories, joint training and LwF need one list of classes in all phases; CWR\\* and the
split head have one head.
"""
_DEVICES = """
## Several devices of one machine

With `--strategy mirrored` every method of the table runs. Records are those of one device up to
rounding, but for batch norms, which normalize the share of each device by itself; most methods on
CLEAR, FLUID and CFSL were compared (not SCA and Pretrain + Tune, and of NEVIS fine-tuning alone).
MAML++ high-end drifts away from one device within some updates; the cause was not examined.
`tests/devices_test.py` compares a part of them.

| methods | training on several devices |
| --- | --- |
| NEVIS's baselines (`Finetune`) | shared: each device has a part of every batch |
| compositions of the gradient learner, imprinting and exemplar tuning, on NEVIS, CLEAR and \
FLUID | shared: each device has a part of the incoming and of the replayed rows; `batch_size` and \
`replay_batch` are multiples of the number of devices |
| MAML, SCA, prototypical networks and Pretrain + Tune on CFSL | shared: each device has a part of \
the episodes of an update |
| tuning within episodes on CFSL; nearest class means, LDA, thresholds | none: there are no \
gradient steps between episodes, or none at all; the first device learns |
| meta-training on NEVIS, CLEAR and FLUID (prototypical networks, Meta-Baseline, MAML) | the first \
device: an update has one episode |

`tests/devices_test.py`, `tests/distribution_test.py` and `tests/cfsl_distribution_test.py` compare
records, `tests/training/gradient/device_shares_test.py` every objective.
"""
_SHOWN = {"nevis": "NEVIS", "clear": "CLEAR", "fluid": "FLUID", "cfsl": "CFSL"}


def page() -> str:
  """Renders the page in Markdown."""
  every = methods.load()
  running, cells = methods.filled(every)
  on_cfsl = sum("cfsl" in method.protocols for method in every)
  head = _HEAD.format(num_methods=len(every), cells=cells, running=running,
                      percent=100 * running / cells, on_cfsl=on_cfsl)
  return "\n".join([head, _matrix(every), _REASONS, _refusals(every), _DEVICES])


def _matrix(every: Iterable[methods.Method]) -> str:
  lines = [_row(["method", "paper", *_SHOWN.values()]), _row(["---"] * (2 + len(_SHOWN)))]
  for method in every:
    cells = [_cell(method.cells[name]) for name in _SHOWN]
    lines.append(_row([_escaped(method.title), method.paper or "-", *cells]))
  return "\n".join(lines) + "\n"


def _cell(cell: methods.Cell) -> str:
  if cell.refusal:
    return "-"
  return f"[{cell.file}](../gin/learners/{cell.file}.gin) `{cell.macro}`"


def _refusals(every: Iterable[methods.Method]) -> str:
  """The messages, each with the protocols and methods that it is of."""
  found: dict[str, dict[str, list[str]]] = {}
  for method in every:
    for name, cell in method.cells.items():
      if cell.refusal:
        found.setdefault(cell.refusal, {}).setdefault(_SHOWN[name], []).append(method.title)
  lines = [_row(["message", "where", "methods"]), _row(["---"] * 3)]
  for message, where in found.items():
    for protocol, titles in where.items():
      lines.append(_row([f"... {message} ...", protocol, _escaped("; ".join(titles))]))
  return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
  return text.replace("*", "\\*")


def _row(cells: Sequence[str]) -> str:
  return "| " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
  args = parser.parse_args(arguments)
  return made_page.finish(
      PAGE, page(), args.check, "stale. Run: python tools/make_methods_page.py")


if __name__ == "__main__":
  sys.exit(main())
