# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cases of methods that are trained by gradient: losses, updates, penalties and short runs.

A step takes all rows of a task, and replays the whole memory, so that neither side draws anything.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

import gradient_fixtures
import method_cases
import transformer_cases

_tasks = gradient_fixtures.tasks
_three = functools.partial(_tasks, num_tasks=3)


def _about(tasks: int, steps: int, also: str = "", rows: int = 12) -> str:
  return (f"{tasks} tasks of {rows} rows and 2 classes, {steps} steps each on all rows; logits of "
          f"24 tests after each task{also}")


def _mammoth(name: str, kind: str, steps: int, *, shape: dict[str, int] | None = None,
             also: str = "", otherwise: str = "", args: dict[str, Any] | None = None,
             **settings: Any) -> method_cases.Case:
  """A model of Mammoth; `shape` is of the tasks, `args` are of its command line."""
  sizes = {"num_tasks": 2, "rows": 12, **(shape or {})}
  return method_cases.Case(
      name, (name,), "aimagelab/mammoth", "public_mammoth", functools.partial(_tasks, **sizes),
      f"ours_gradient.{name}", _about(sizes["num_tasks"], steps, also, sizes["rows"]),
      {"method": kind, "steps": steps, "args": args or {}, **settings},
      otherwise=otherwise)


def _facil(name: str, steps: int, **args: Any) -> method_cases.Case:
  return method_cases.Case(
      name, (name,), "mmasana/FACIL", "public_facil", _three, f"ours_gradient.{name}",
      _about(3, steps), {"method": name, "steps": steps, "args": args})


def _avalanche(name: str, strategy: str, *, shared: int = 0, batch: int = 12, **arguments: Any
               ) -> method_cases.Case:
  return method_cases.Case(
      name, (name,), "ContinualAI/avalanche", "public_avalanche",
      functools.partial(_three, shared=shared), f"ours_gradient.{name}",
      "3 tasks of 12 rows and 2 classes, 4 steps each on all rows"
      f"{' so far' if batch > 12 else ''}; the weights of a linear layer after the last one",
      {"method": strategy, "epochs": 4, "arguments": arguments, "batch": batch})


def _phases(name: str, repository: str, inputs: Callable[[], method_cases.Arrays], about: str,
            **values: Any) -> method_cases.Case:
  return method_cases.Case(
      name, (name,), repository, "public_phases", inputs, f"ours_gradient.{name}", about,
      {"method": name, "values": {"num_workers": 0, "weight_decay": 0.0, **values}})


def _replay(name: str, repository: str, inputs: Callable[[], method_cases.Arrays], about: str,
            otherwise: str = "", **settings: Any) -> method_cases.Case:
  return method_cases.Case(
      name, (name,), repository, "public_replay", inputs, f"ours_gradient.{name}", about,
      {"method": name, **settings}, otherwise=otherwise)


CASES: tuple[method_cases.Case, ...] = (
    _mammoth("finetune", "sgd.Sgd", 3, args={"optim_mom": 0.9}),
    _mammoth("each_bucket", "sgd.Sgd", 3, also="; the last task alone, from the first weights",
             args={"optim_mom": 0.9}, first=1, last=1),
    _mammoth("joint", "joint.Joint", 1, also="; 4 steps at the end",
             args={"n_epochs": 4, "batch_size": 24, "lr_scheduler": None}, last=1),
    _avalanche("head_only", "Naive"),
    _avalanche("cumulative", "Cumulative", batch=36),
    _avalanche("reservoir", "Cumulative", batch=36),
    method_cases.Case(
        "biased_reservoir", ("biased_reservoir",), "ElvishElvis/CLEAR-Continual_Learning_Benchmark",
        "public_replay", gradient_fixtures.numbered_buckets, "ours_gradient.biased_reservoir",
        "the 12 rows that are held of 5 buckets of 12, alpha 1.5 of the fixed schedule, the newest "
        "leave; trained on as reservoir's", {"method": "biased_reservoir", "alpha": 1.5},
        seeds=[f"rows of bucket {bucket}" for bucket in range(1, 6)]),
    _avalanche("budgeted", "Cumulative", batch=36),
    _avalanche("cwr_star", "CWRStar", cwr_layer_name=None),
    _avalanche("lwf_growing", "LwF", shared=3, alpha=[0.0, 0.5, 1.0], temperature=2.0),
    _facil("lwf", 3, lamb=2.0, T=2),
    _facil("mas", 4, lamb=3.0, alpha=0.5, fi_num_samples=-1),
    method_cases.Case(
        "ewc", ("ewc",), "GMvandeVen/continual-learning", "public_van_de_ven", _three,
        "ours_gradient.ewc", _about(3, 4, "; they divide a sum over N rows by N - 1"), {
            "steps": 4, "attributes": {"weight_penalty": True, "reg_strength": 11.0,
                                       "offline": True, "fisher_labels": "all"}}),
    _mammoth("online_ewc", "ewc_on.EwcOn", 4, shape={"num_tasks": 3},
             args={"e_lambda": 5.0, "gamma": 0.8}),
    _mammoth("si", "si.SI", 4, shape={"num_tasks": 3, "scale": 0.3}, args={"c": 5.0, "xi": 0.1}),
    _mammoth("agem", "agem.AGem", 5),
    _mammoth("gem", "gem.Gem", 5, args={"gamma": 0.5}),
    _mammoth("er", "er.Er", 1),
    _mammoth("er_ace", "er_ace.ErACE", 2, shape={"shared": 1},
             also="; the first task has all classes",
             args={"task_free": True, "use_custom_classifier": False},
             otherwise="Equal where all classes have come; in the code, the authors' too "
             "(pclucas14/AML), classes that have not and the last one that has take part beside "
             "those of the batch, in the paper and here those of the batch alone"),
    _mammoth("der", "der.Der", 2, args={"alpha": 0.3}),
    _mammoth("der_plus_plus", "derpp.Derpp", 1, shape={"rows": 11},
             args={"alpha": 0.2, "beta": 0.5}),
    _replay("mir", "RaptorMai/online-continual-learning", functools.partial(_tasks, rows=24),
            "2 tasks of 24 rows, a step each; their choice of 8 rows of the memory's 24, then a "
            "step on new and chosen rows as one set; logits of 24 tests",
            "The choice is equal; the code, the authors' too (optimass/"
            "Maximally_Interfered_Retrieval), adds the means over new and over chosen rows, the "
            "paper's algorithm 1 and ours take one mean over both", num=8),
    _replay("scr", "RaptorMai/online-continual-learning", gradient_fixtures.projected_tasks,
            "2 tasks of 12 rows, a step each on new and all earlier rows; their net and loss, one "
            "view; cosines of 24 tests with class means",
            "Net and loss are equal; their code makes no step while the memory is empty, ours "
            "compares the first rows with each other", temperature=0.2),
    _replay("er_aml", "pclucas14/AML", functools.partial(_tasks, shared=1),
            "2 tasks of 12 rows, a step each on new and all earlier rows; their loss beside the "
            "other rows of the step; logits of 24 tests",
            "The loss is equal; their code draws a row of each kind from the memory for each new "
            "row, ours compares the rows of the step, as the paper's equation", temperature=0.2),
    _replay("mer", "mattriemer/MER", functools.partial(_tasks, rows=1),
            "2 tasks of a row, 3 batches each of it and of the row before; logits of 24 tests",
            args={"batches_per_example": 3, "beta": 0.5, "gamma": 0.8}),
    _mammoth("gdumb", "gdumb.GDumb", 1, also="; a step on the memory of all, without CutMix",
             args={"batch_size": 24, "fitting_epochs": 1, "maxlr": 1.0, "minlr": 1.0,
                   "cutmix_alpha": None}, last=1,
             otherwise="The training on the memory is equal; of a class that has its share GDumb "
             "keeps the first rows, ours random ones (case greedy_balance)"),
    _mammoth("icarl", "icarl.ICarl", 3, also=", cosines with the means of 8 exemplars; 5 steps of "
             "the second; their mean over 4 outputs has 4 times the rate",
             args={"opt_wd": 0, "use_original_icarl_transform": 0, "compute_theoretical_best": 0,
                   "buffer_size": 8, "lr": 0.4}, later_steps=5),
    _phases("wa", "LAMDA-CL/PyCIL", _tasks,
            "2 tasks of 12 rows and 2 classes, 3 and 5 steps on all rows and 8 exemplars; logits "
            "of 24 tests after each task", init_epoch=3, epochs=5, init_weight_decay=0.0),
    _phases("slca", "GengDavid/SLCA", _three,
            "3 tasks of 12 rows and 2 classes, 4 steps each on all rows, the backbone at a quarter "
            "of the rate, without the alignment, which draws at random; logits of 24 tests after "
            "each task", epochs=4),
    *transformer_cases.CASES,
)
