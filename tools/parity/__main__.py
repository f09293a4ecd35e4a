# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs the authors' code and the suite on the same inputs and prints where they agree.

  python tools/parity fluid --code CODE --python PYTHON       answers of NCM, fine-tuning, ET
  python tools/parity cfsl --code CODE --python PYTHON        MAML++ in CFSL: loss, meta-gradient
  python tools/parity maml_plus_plus --code CODE ...          the same in MAML++'s own repository
  python tools/parity clear --code CODE --python PYTHON       nine methods beside Avalanche's
  python tools/parity lifelong --code CODE                    Sort & Search: orders, cuts, errors
  python tools/parity nevis --code CODE --python PYTHON       streams, splits, metrics
  python tools/parity methods --code CODE --python PYTHON     single methods, many repositories

CODE is a checkout of the authors' repository, which the suite neither contains nor fetches;
docs/parity.md names the repositories and the commits that were compared. For methods CODE is a
folder of checkouts OWNER+NAME at the commits of tools/parity/methods/repositories.csv; what is not
there is named with the command that clones it, `--only CASE ...` compares some, and without --code
the stored answers of the public code are compared with ours. PYTHON has the
authors' dependencies: torch for fluid, cfsl and maml_plus_plus; torch and the packages of
Avalanche, without torchvision, for clear; jax, chex, optax and scikit-learn for nevis; torch,
scikit-learn, tqdm, quadprog and the packages of Avalanche for methods.
`--data_dir` adds real data: a TFDS folder with cfsl_omniglot for cfsl and maml_plus_plus, a folder
with `cifar10_matrix.npz` for lifelong.

`--store` writes the rows to docs/results/parity, of which tools/make_parity_page.py makes
docs/parity.md. The exit status is 1 if a difference has no explanation, or nothing was compared.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import pathlib
import platform
import sys

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
sys.path.append(str(pathlib.Path(__file__).resolve().parent / "methods"))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import authors as authors_lib
import numpy as np
import parity_benchmarks
import parity_rows

import suite  # noqa: F401  # Before TensorFlow.


def _versions() -> dict[str, str]:
  import tensorflow as tf
  return {"Python": platform.python_version(), "tensorflow": tf.__version__,
          "numpy": np.__version__}


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("what", choices=parity_benchmarks.BENCHMARKS)
  parser.add_argument("--code", type=pathlib.Path, metavar="CODE")
  parser.add_argument("--python", default=sys.executable, metavar="PYTHON")
  parser.add_argument("--data_dir", metavar="DIR")
  parser.add_argument("--only", nargs="+", default=[], metavar="CASE")
  parser.add_argument("--store", action="store_true")
  args = parser.parse_args()
  benchmark = parity_benchmarks.BENCHMARKS[args.what]
  if args.code is None and args.what != "methods":
    parser.error(f"--code is missing; clone {benchmark.repository} and give its path")
  if args.code is not None and not args.code.is_dir():
    parser.error(f"--code {args.code} is no folder; clone {benchmark.repository} and give its path")
  if args.only and args.what != "methods":
    parser.error(f"--only {args.only[0]} names a case of methods; {args.what} is compared as one")
  # Programs there run in another folder; a link of a virtual environment must not be followed.
  python = os.path.abspath(args.python) if os.sep in args.python else args.python
  authors = None if args.code is None else authors_lib.Authors(args.code.resolve(), python)
  compare = getattr(importlib.import_module(benchmark.module), benchmark.function)
  rows = []
  given = (args.only, args.store) if args.what == "methods" else (args.data_dir,)
  for row in compare(authors, *given):
    print(row.line(), flush=True)
    rows.append(row)
  result = parity_rows.Result(
      benchmark.title, _command(args), _code(args.what, authors),
      datetime.date.today().isoformat(), {"here": _versions(), "there": _there(args.what, authors)},
      tuple(rows))
  if args.store:
    parity_rows.store(result, parity_rows.FOLDER / f"{args.what}.json")
  failed = result.failed()
  print(f"{len(rows)} rows, {len(failed)} with an unexplained difference")
  return int(bool(failed) or not rows)


def _there(what: str, authors: authors_lib.Authors | None) -> dict[str, str]:
  """Versions of the authors' side: of methods those that answered before, too."""
  stored = parity_rows.FOLDER / f"{what}.json"
  before = (parity_rows.load(stored).versions["there"]
            if what == "methods" and stored.is_file() else {})
  return {**before, **({} if authors is None else authors.versions)}


def _code(what: str, authors: authors_lib.Authors | None) -> str:
  if what == "methods" or authors is None:
    return "each row names its repository and commit"
  return f"{parity_benchmarks.BENCHMARKS[what].repository} at {authors.revision()}"


def _command(args: argparse.Namespace) -> str:
  parts = [f"python tools/parity {args.what} --code CODE"]
  parts += ["--python PYTHON"] * (args.python != sys.executable or args.what == "methods")
  parts += ["--data_dir DIR"] * bool(args.data_dir)
  return " ".join(parts)


if __name__ == "__main__":
  sys.exit(main())
