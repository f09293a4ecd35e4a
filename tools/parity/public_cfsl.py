# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Times the learners that CFSL's authors published, for comparison with `tools/bench cfsl`.

  git clone https://github.com/AntreasAntoniou/FewShotContinualLearning DIR
  PYTHON_WITH_TORCH tools/parity/public_cfsl.py low_train --checkout DIR --threads 2

Their learners and configurations run unmodified, on the CPU. Episodes are drawn by their code from
images of noise and batched before the measurement, which covers `run_train_iter` and
`run_validation_iter` only. Shapes are Omniglot's, 5-way 1-shot, 25 targets per set. The output is
one line of JSON: tasks per second, the median over stretches of about two seconds, and their range.
torchvision, PIL and tqdm, which only their file reading uses, may be missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import contextlib
import io
import json
import os
import pathlib
import statistics
import sys
import time
from typing import Any, NamedTuple
import warnings

import public_code

_PIECE = 2.0  # Seconds.


class Case(NamedTuple):
  """One of their configurations, by the parts of its name, and its use."""

  variant: str
  model: str
  condition: str
  num_sets: int
  batch_size: int
  train: bool

  @property
  def config(self) -> str:
    return (f"omniglot_variant_{self.variant}_5_way_1_{self.model}_shot_{self.condition}_False_"
            f"{self.num_sets}_1_LSLR_conditioned_0.json")


def _cases() -> dict[str, Case]:
  low, high = ("default", "maml++_low-end", ""), ("default", "maml++_high-end", "")
  sca, proto = ("SCA", "maml++_high-end", "preds"), ("default", "vgg-matching_network", "")
  cases = {"low_train_8": Case(*low, 1, 8, True), "low_train_nss10": Case(*low, 10, 1, True),
           "low_eval_nss10": Case(*low, 10, 1, False),
           "proto_eval_nss10": Case(*proto, 10, 1, False)}
  for name, of in (("low", low), ("high", high), ("sca", sca), ("proto", proto)):
    cases[f"{name}_train"], cases[f"{name}_eval"] = (Case(*of, 1, 1, t) for t in (True, False))
  return cases


CASES = _cases()


def load(case: Case, checkout: pathlib.Path) -> tuple[Any, Any, Any]:
  """Builds their model, arguments and data set over noise."""
  import numpy as np

  sys.path.insert(0, str(checkout))
  sys.argv = ["public", "--name_of_args_json_file",
              str(checkout / "experiment_config" / case.config)]
  with public_code.stand_ins("tqdm", "PIL", "torchvision"):
    from utils import parser_utils
    args, _ = parser_utils.get_args()
    args.batch_size = case.batch_size
    import data
    import few_shot_learning_system
  kinds = {"maml++_high-end": "EmbeddingMAMLFewShotClassifier",
           "maml++_low-end": "VGGMAMLFewShotClassifier",
           "vgg-matching_network": "MatchingNetworkFewShotClassifier"}
  model = getattr(few_shot_learning_system, kinds[args.classifier_type])(**vars(args))
  source = object.__new__(data.FewShotLearningDatasetParallel)
  rng = np.random.default_rng(0)
  source.dataset = {str(c): list(rng.integers(0, 2, (20, 1, 28, 28)).astype(np.float32))
                    for c in range(200)}
  source.dataset_size_dict = {key: len(images) for key, images in source.dataset.items()}
  source.load_into_memory, source.num_channels, source.current_iter = True, 1, 0
  for key in ("seed", "num_classes_per_set", "num_samples_per_support_class",
              "num_samples_per_target_class", "num_support_sets", "class_change_interval",
              "overwrite_classes_in_each_task"):
    setattr(source, key, getattr(args, key))
  return model, args, source


def batches_of(case: Case, source: Any) -> list[Any]:
  from torch.utils import data
  num = case.batch_size * (4 if case.batch_size > 1 or case.num_sets > 1 else 16)
  source.num_tasks_per_epoch = num
  return list(data.DataLoader(data.Subset(source, range(num)), batch_size=case.batch_size))


def piece(step: Callable[[], Any], size: int, seconds: float, least: int) -> float:
  """Tasks per second over at least `seconds` seconds and `least` steps."""
  steps, start = 0, time.perf_counter()
  while steps < least or time.perf_counter() - start < seconds:
    step()
    steps += 1
  return steps * size / (time.perf_counter() - start)


def measure(case: Case, checkout: pathlib.Path, seconds: float) -> dict[str, Any]:
  model, args, source = load(case, checkout)
  batches, done = batches_of(case, source), [0]

  def step(train: bool = case.train) -> None:
    batch, number = batches[done[0] % len(batches)], done[0]
    done[0] += 1
    if train:
      model.run_train_iter(data_batch=batch, epoch=number / args.total_iter_per_epoch,
                           current_iter=number)
    else:
      model.run_validation_iter(data_batch=batch)

  piece(lambda: step(True), case.batch_size, 1.0, 3)  # Evaluations also follow training steps.
  piece(step, case.batch_size, _PIECE, 3)
  start, cpu, rates = time.perf_counter(), time.process_time(), []
  while time.perf_counter() - start < seconds:
    rates.append(piece(step, case.batch_size, _PIECE, 1))
  cores = (time.process_time() - cpu) / (time.perf_counter() - start)
  return {"tasks_per_second": round(statistics.median(rates), 3), "least": round(min(rates), 3),
          "most": round(max(rates), 3), "pieces": len(rates), "cores_used": round(cores, 2),
          "parameters": sum(p.numel() for p in model.parameters() if p.requires_grad)}


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("case", choices=sorted(CASES))
  options = public_code.options(parser)
  os.environ.setdefault("DATASET_DIR", "none")  # A part of a path that is never opened.
  warnings.simplefilter("ignore")
  import torch
  case = CASES[options.case]
  with contextlib.redirect_stdout(io.StringIO()):  # Their critic prints with every call.
    found = measure(case, options.checkout, options.seconds)
  print(json.dumps({"case": options.case, **found, "threads": torch.get_num_threads(),
                    "torch": torch.__version__, "config": case.config}))
  return 0


if __name__ == "__main__":
  sys.exit(main())
