# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Searches the best update times of a FLUID run on validation sequences, within a budget.

    python tools/update_oracle.py fluid/omniglot_update --learner finetune --workdir runs/oracle
      --candidates 43 86 172 344 --budget 500 --output times.json

The run file includes gin/data/fluid_update.gin. Each plan of times that the search tries (see
`suite/training/sequence/update_search.py`) is an ordinary run on each sequence, in a folder of
WORKDIR; its score is the mean of a measure of their summaries. Finished runs are not repeated: a
search that was stopped resumes where it was, and has the same result, with any number of JOBS.

The result is a JSON file of the times. A run on a test sequence takes them by
--gin_param "STRATEGY='at'" --gin_param "TIMES='times.json'".

The budget is a sum of times: the samples that one epoch of every update goes over. For a learner
that trains on all that is stored it is proportional to the multiply-adds of all updates.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
import concurrent.futures
import contextlib
import functools
import json
import multiprocessing
import pathlib
import sys
from typing import Any

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from absl import logging

import suite
from suite.running import this_process
from suite.training.sequence import update_search


class Runs:
  """Scores plans by runs.

  Args:
    run: name or path of the run file. learner: of its learners.
    folder: of the runs. sequences: what SEQUENCE is bound to; (): the run file's own.
    params: further bindings X=Y. settings: of `suite.run`, such as data_dir.
    measure: of the summaries.
  """

  def __init__(self, run: str, learner: str, folder: pathlib.Path, sequences: Sequence[str] = (),
               params: Sequence[str] = (), measure: str = "overall", **settings: Any):
    self._run, self._learner, self._folder = run, learner, folder
    self._sequences, self._params = tuple(sequences) or ("",), tuple(params)
    self._measure, self._settings = measure, settings

  def scores(self, plans: Sequence[update_search.UpdateTimes], map_runs: Callable[..., Any] = map
             ) -> list[float]:
    """The mean measure of each plan over the sequences; `map_runs` is `map`, or a pool's."""
    pairs = [(plan, sequence) for plan in plans for sequence in self._sequences]
    made, num = list(map_runs(self.value, *zip(*pairs))) if pairs else [], len(self._sequences)
    return [sum(made[first:first + num]) / num for first in range(0, len(made), num)]

  def value(self, plan: update_search.UpdateTimes, sequence: str) -> float:
    """The measure of a plan's run on a sequence, which is made unless it is finished."""
    folder = self._folder / (sequence or "run") / "_".join(["at", *map(str, plan)])
    path = folder / self._learner / "summary.json"
    if not path.exists():
      own = ["STRATEGY='at'", f"TIMES={plan!r}", f"experiment.run.only={self._learner!r}"]
      own += [f"SEQUENCE={sequence!r}"] if sequence else []
      suite.run(self._run, workdir=folder, params=[*own, *self._params], **self._settings)
    summary = json.loads(path.read_text(encoding="utf-8"))
    if self._measure not in summary:
      raise ValueError(f"The summary of {self._run} has no {self._measure!r}; give another "
                       f"--measure: {', '.join(sorted(summary))}.")
    logging.info("Updates after %s, %s: %s %.4f", list(plan) or "no sample", sequence,
                 self._measure, summary[self._measure])
    return float(summary[self._measure])


def main(arguments: Sequence[str] | None = None) -> int:
  args = _parser().parse_args(arguments)
  this_process.configure_python_logging()
  logging.set_verbosity(logging.INFO)
  runs = Runs(args.run, args.learner, args.workdir, args.sequences, args.gin_param, args.measure,
              **({"data_dir": args.data_dir} if args.data_dir else {}))
  with contextlib.ExitStack() as stack:
    map_runs = map if args.jobs == 1 else stack.enter_context(
        concurrent.futures.ProcessPoolExecutor(
            args.jobs, multiprocessing.get_context("spawn"))).map
    found = update_search.search(
        args.candidates, args.budget, functools.partial(runs.scores, map_runs=map_runs),
        width=args.width or None, starts=[tuple(plan) for plan in args.start])
  update_search.write(
      args.output, found.plan, run=args.run, learner=args.learner, measure=args.measure,
      sequences=args.sequences, params=args.gin_param, score=found.score,
      cost=update_search.cost(found.plan), budget=args.budget, width=args.width, starts=args.start,
      candidates=args.candidates,
      tried=[{"steps": plan, "score": score} for plan, score in found.scores.items()])
  logging.info("Best of %d plans within %d samples: updates after %s, %s %.4f; %s has them.",
               len(found.scores), args.budget, list(found.plan), args.measure, found.score,
               args.output)
  return 0


def _parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
  parser.add_argument("run", metavar="RUN", help="a run file with gin/data/fluid_update.gin")
  parser.add_argument("--learner", required=True, help="one of the run's learners")
  parser.add_argument("--workdir", type=pathlib.Path, required=True, help="folder of the runs")
  parser.add_argument("--output", type=pathlib.Path, required=True, metavar="FILE.json")
  parser.add_argument("--candidates", type=int, nargs="+", required=True, metavar="SAMPLES",
                      help="times after which there may be an update, in rising order")
  parser.add_argument("--start", type=int, nargs="+", action="append", default=[],
                      metavar="SAMPLES", help="a plan to start from, such as a strategy's times")
  parser.add_argument("--budget", type=int, required=True, help="greatest sum of the times")
  parser.add_argument("--width", type=int, default=1,
                      help="plans that a round of the search keeps; 0: all plans are tried")
  parser.add_argument("--measure", default="overall", help="of the summaries, higher is better")
  parser.add_argument("--sequences", nargs="*", default=["validation_0", "validation_1"],
                      help="what SEQUENCE is bound to; none: the run file's own sequence")
  parser.add_argument("--gin_param", action="append", default=[], metavar="X=Y")
  parser.add_argument("--jobs", type=int, default=1, help="processes that make the runs")
  parser.add_argument("--data_dir", help="directory of the prepared data sets")
  return parser


if __name__ == "__main__":
  sys.exit(main())
