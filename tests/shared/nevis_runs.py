# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Run directories of NEVIS'22 written by hand, for what is made from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import json
import pathlib
from typing import Any

# Four tasks, of which one is repeated; the last two are meta-test.
TASKS = (("a", 1, 2010), ("b", 1, 2012), ("a", 2, 2019), ("c", 1, 2020))
KEYS = ("a", "b", "a@2", "c")


def write(folder: pathlib.Path, errors: Sequence[float | None], *,
          starts: Sequence[str] = ("random",) * 4,
          candidates: Mapping[str, Mapping[str, float]] | None = None,
          flops: Mapping[str, int | None] | None = None, seed: int | None = None,
          is_finished: bool = True, tasks: Sequence[tuple[str, int, int]] = TASKS,
          summary: Mapping[str, Any] | None = None) -> pathlib.Path:
  """Writes the run of one learner, in a work directory with a configuration if it has a seed.

  Args:
    folder: WORKDIR/LEARNER.
    errors: of the first tasks; fewer than `tasks` are those of an unfinished run.
    starts, candidates: of each task, and by task.
    flops: by phase, at the end.
    seed: of the configuration.
    is_finished: whether there is a summary.
    summary: values beyond the usual ones.
  """
  folder.mkdir(parents=True)
  if seed is not None:
    (folder.parent / "config.gin").write_text(
        f"STEPS = 10\nexperiment.run.seed = {seed}\n")
  costs = {f"flops_{phase}": value for phase, value in (flops or {"train": 100}).items()}
  records = []
  for i, ((name, occurrence, year), error) in enumerate(zip(tasks, errors)):
    key = name if occurrence == 1 else f"{name}@{occurrence}"
    about = {"protocol": "nevis", "task": name, "task_key": key, "occurrence": occurrence,
             "year": year, "role": "meta_test" if year >= 2019 else "meta_train"}
    start = {"from": starts[i], "candidates": dict((candidates or {}).get(key, {}))}
    curve = [[0, None, 0.8], [10, 0.5, 0.4 if occurrence == 1 else 0.1]]
    records += [
        {"event": 2 * i, "kind": "train", **about, "train_size": 400 * 10 ** i, "dev_size": 100,
         "start": start, "trials": [{"trial": 0, "curve": curve}], "best_trial": 0, **costs},
        {"event": 2 * i + 1, "kind": "predict", "split": "test", "metric": "error",
         "error": error, **about, **costs}]
  (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
  if is_finished:
    meta_test = [r["error"] for r in records
                 if r["kind"] == "predict" and r["role"] == "meta_test"]
    mean = sum(meta_test) / len(meta_test) if meta_test and None not in meta_test else None
    (folder / "summary.json").write_text(json.dumps({
        "protocol": "nevis", "stream": "toy", "headline": "ok", "mean_error": mean, **costs,
        **(summary or {})}))
  return folder
