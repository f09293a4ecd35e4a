# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/results/cfsl/episodes.md: digests of the tasks, and the ceiling of each convention.

    python tools/make_episode_page.py [--data_dir DIR]            writes the page
    python tools/make_episode_page.py --check [--data_dir DIR]    fails if the page is out of date

It reads the prepared data set cfsl_omniglot; nothing is trained.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import pathlib
import sys

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import made_page
import numpy as np

from suite.data.episodes import cfsl_data
from suite.data.episodes import episode_conventions
from suite.data.episodes import episodes

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "results" / "cfsl" / "episodes.md"
NUM_TASKS = 600
TASKS = (("FSL", 1), *((kind, n) for kind in "ABC" for n in (3, 5, 10)), ("D", 4), ("D", 8))

_HEAD = """# The tasks that are asked, Omniglot

<!-- Made by `tools/make_episode_page.py` from `{data}`; do not edit. -->

## Validation and test tasks

SHA-256 over the first 600 tasks of each split, seed 0, convention `spec`: for each task a line
`[ids, labels]` of JSON with its images' ids and labels, support sets first
(`Episodes.digest(600)`). Whoever gets the same digest was asked the same questions.

"""

_CEILINGS = """
## What a convention allows

Accuracy over the 600 test tasks of one who knows the class of every image, and guesses where a
class was shown under several labels; in brackets the share of target images that are support images
of the task, too. Under `spec` it is 100% and none, always. Table 2 of the paper was made under
`paper_feb`, its D columns presumably under `paper_apr`.

"""


def ceiling(source: episodes.Episodes, classes: np.ndarray, num_tasks: int
            ) -> tuple[float, float]:
  """Returns the highest accuracy and the share of targets among the support images."""
  support, target = np.split(source.indices(0, num_tasks), [source.num_support], axis=1)
  shown_as, asked_as = np.split(source.labels, [source.num_support])
  right: list[float] = []
  for seen, asked in zip(classes[support], classes[target]):
    labels = {c: set(shown_as[seen == c]) for c in seen}
    right += [label in labels[c] and 1 / len(labels[c]) for c, label in zip(asked, asked_as)]
  leaked = np.mean([np.mean(np.isin(t, s)) for s, t in zip(support, target)])
  return float(np.mean(right)), float(leaked)


def page(data_dir: str | None) -> str:
  """Renders the page."""
  splits = {name: cfsl_data.load("cfsl_omniglot", name, data_dir=data_dir)
            for name in ("validation", "test")}
  lines = [_HEAD.format(data=splits["test"].data), "| tasks | validation | test |\n",
           "| --- | --- | --- |\n"]
  for kind, n in TASKS:
    digests = [_source(kind, n, name, "spec", data_dir).digest(NUM_TASKS) for name in splits]
    lines.append(f"| {_title(kind, n)} | `{digests[0]}` | `{digests[1]}` |\n")
  lines += [_CEILINGS, *_ceiling_rows(splits["test"].labels, data_dir)]
  return "".join(lines)


def _ceiling_rows(classes: np.ndarray, data_dir: str | None) -> Iterator[str]:
  yield "| tasks | `paper_feb` | `paper_apr` |\n| --- | ---: | ---: |\n"
  for kind, n in TASKS:
    cells = []
    for convention in episode_conventions.CONVENTIONS[1:]:
      most, leaked = ceiling(_source(kind, n, "test", convention, data_dir), classes, NUM_TASKS)
      cells.append(f"{most:.1%} ({leaked:.1%})")
    yield f"| {_title(kind, n)} | {cells[0]} | {cells[1]} |\n"


def _source(kind: str, n: int, split: str, convention: str, data_dir: str | None
            ) -> episodes.Episodes:
  return cfsl_data.episodes("cfsl_omniglot", split, task_type=kind, num_support_sets=n,
                            convention=convention, data_dir=data_dir)


def _title(kind: str, n: int) -> str:
  return kind if n == 1 else f"{kind}, {n} sets"


def main(argv: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--data_dir", help="where TFDS keeps prepared data sets")
  parser.add_argument("--check", action="store_true", help="compare, do not write")
  args = parser.parse_args(argv)
  return made_page.finish(
      PAGE, page(args.data_dir), args.check, "not what would be written: the tasks are others. Run "
      "it without --check and look at the difference.")


if __name__ == "__main__":
  sys.exit(main())
