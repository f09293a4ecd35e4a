# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cases of methods that are trained by gradient: losses, updates, penalties and short runs."""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

import gradient_fixtures
import method_cases
import transformer_cases

_ABOUT = ("{} tasks of {} rows and 2 classes, {} steps each on all rows; "
          "logits of 24 tests after each task")
_SHAPES = {"rows": 12, "num_tasks": 2}

_THREE_TASKS = functools.partial(gradient_fixtures.tasks, num_tasks=3)


def _case(name: str, repository: str, program: str, method: str, steps: int, shape: dict[str, int],
          others: dict[str, Any], args: dict[str, Any]) -> method_cases.Case:
  sizes = {**_SHAPES, **shape}
  return method_cases.Case(
      name, (name,), repository, program, functools.partial(gradient_fixtures.tasks, **sizes),
      f"ours_gradient.{name}", _ABOUT.format(sizes["num_tasks"], sizes["rows"], steps),
      {"method": method, "steps": [steps] * sizes["num_tasks"], "args": args, **others})


def _mammoth(name: str, method: str, steps: int, *, shape: dict[str, int] | None = None,
             others: dict[str, Any] | None = None, **args: Any) -> method_cases.Case:
  return _case(name, "aimagelab/mammoth", "public_mammoth", method, steps, shape or {},
               others or {}, args)


def _facil(name: str, method: str, steps: int, **args: Any) -> method_cases.Case:
  return _case(name, "mmasana/FACIL", "public_facil", method, steps, {"num_tasks": 3}, {}, args)


def _avalanche(name: str, strategy: str, steps: int, *, first: int = 0, shared: int = 0,
               batch: int = 12, **arguments: Any) -> method_cases.Case:
  return method_cases.Case(
      name, (name,), "ContinualAI/avalanche", "public_avalanche",
      functools.partial(_THREE_TASKS, shared=shared),
      f"ours_gradient.{name}", f"3 tasks of 12 rows and 2 classes, {steps} steps each on all rows; "
      "the weights of a linear layer after the last one",
      {"method": strategy, "epochs": steps, "arguments": arguments, "first": first,
       "batch": batch})


def _phases(name: str, repository: str, inputs: Callable[[], method_cases.Arrays], about: str,
            **values: Any) -> method_cases.Case:
  return method_cases.Case(
      name, (name,), repository, "public_phases", inputs, f"ours_gradient.{name}", about,
      {"method": name, "values": {"num_workers": 0, "weight_decay": 0.0, **values}})


def _replay(name: str, repository: str, about: str, inputs: Callable[[], method_cases.Arrays],
            **settings: Any) -> method_cases.Case:
  return method_cases.Case(name, (name,), repository, "public_replay", inputs,
                           f"ours_gradient.{name}", about, {"method": name, **settings})


CASES: tuple[method_cases.Case, ...] = (
    _mammoth("finetune", "sgd.Sgd", 3, optim_mom=0.9),
    _mammoth("er", "er.Er", 1),
    _mammoth("der", "der.Der", 2, alpha=0.3),
    _mammoth("der_plus_plus", "derpp.Derpp", 1, shape={"rows": 11}, alpha=0.2, beta=0.5),
    _mammoth("er_ace", "er_ace.ErACE", 2, shape={"shared": 1}, task_free=True,
             use_custom_classifier=False),
    _mammoth("agem", "agem.AGem", 5),
    _mammoth("gem", "gem.Gem", 5, gamma=0.5),
    _mammoth("si", "si.SI", 4, shape={"num_tasks": 3, "scale": 0.3}, c=5.0, xi=0.1),
    _mammoth("online_ewc", "ewc_on.EwcOn", 4, shape={"num_tasks": 3}, e_lambda=5.0, gamma=0.8),
    _mammoth("icarl", "icarl.ICarl", 3, others={"steps": [3, 5]}, opt_wd=0, use_original_icarl_transform=0,
             compute_theoretical_best=0, buffer_size=8, lr=0.4),
    _mammoth("gdumb", "gdumb.GDumb", 1, others={"last": 1}, batch_size=24, fitting_epochs=1,
             maxlr=1.0, minlr=1.0, cutmix_alpha=None),
    _mammoth("joint", "joint.Joint", 1, others={"last": 1}, n_epochs=4, batch_size=24, lr_scheduler=None),
    _facil("lwf", "lwf", 3, lamb=2.0, T=2),
    method_cases.Case(
        "ewc", ("ewc",), "GMvandeVen/continual-learning", "public_van_de_ven", _THREE_TASKS,
        "ours_gradient.ewc", _ABOUT.format(3, 12, 4) + "; the information is a sum over N rows, "
        "theirs divided by N - 1", {"steps": 4, "attributes": {
            "weight_penalty": True, "reg_strength": 11.0, "offline": True, "fisher_labels": "all"}}),
    _replay("mir", "RaptorMai/online-continual-learning",
            "2 tasks of 24 rows, a step each; their choice of 8 rows of the memory's 24, then a "
            "step on new and chosen rows as one set; logits of 24 tests",
            functools.partial(gradient_fixtures.tasks, rows=24), num=8),
    _replay("scr", "RaptorMai/online-continual-learning",
            "2 tasks of 12 rows, a step each on new and all earlier rows; their net and loss, one "
            "view; cosines of 24 tests with class means", gradient_fixtures.projected_tasks,
            temperature=0.2),
    _replay("er_aml", "pclucas14/AML",
            "2 tasks of 12 rows, a step each on new and all earlier rows; their loss beside the "
            "other rows of the step, where they draw some; logits of 24 tests",
            functools.partial(gradient_fixtures.tasks, shared=1), temperature=0.2),
    _replay("mer", "mattriemer/MER",
            "2 tasks of a row, 3 batches each of it and of the row before; logits of 24 tests",
            functools.partial(gradient_fixtures.tasks, rows=1),
            args={"batches_per_example": 3, "beta": 0.5, "gamma": 0.8}),
    _phases("wa", "LAMDA-CL/PyCIL", gradient_fixtures.tasks,
            "2 tasks of 12 rows and 2 classes, 3 and 5 steps on all rows and 8 exemplars; logits "
            "of 24 tests after each task", init_epoch=3, epochs=5, init_weight_decay=0.0),
    _phases("slca", "GengDavid/SLCA", _THREE_TASKS,
            "3 tasks of 12 rows and 2 classes, 4 steps each on all rows, the backbone at a quarter "
            "of the rate, without the alignment, which draws at random; logits of 24 tests after "
            "each task", epochs=4),
    _avalanche("head_only", "Naive", 4),
    _avalanche("each_bucket", "Naive", 4, first=2),
    _avalanche("cumulative", "Cumulative", 4, batch=36),
    _avalanche("budgeted", "Cumulative", 4, batch=36),
    _avalanche("cwr_star", "CWRStar", 4, cwr_layer_name=None),
    _avalanche("lwf_growing", "LwF", 4, shared=3, alpha=[0.0, 0.5, 1.0], temperature=2.0),
    _facil("mas", "mas", 4, lamb=3.0, alpha=0.5, fi_num_samples=-1),
    *transformer_cases.CASES,
)
