# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cases of methods on frozen transformers: what each adds to the net, on given weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import method_cases
import transformer_fixtures

_PILOT = "sun-hailong/LAMDA-PILOT"
_FIRST = ("Their first space ends before the threshold is reached (`#+1` is commented out), ours "
          "when it is. Their code, unlike the paper, decomposes H H' in the place of H, and "
          "divides A by the root of 3; their update of spaces, given H, is equal.")

_PREFIXES = ("The parts are equal; prefixes enter before the projections of keys and values, as "
             "the papers write it, and behind them in the code")


def _case(name: str, repository: str, inputs: Callable[[], method_cases.Arrays], about: str,
          reasons: dict[str, str] | None = None, otherwise: str = "", **settings: Any
          ) -> method_cases.Case:
  return method_cases.Case(name, (name,), repository, "public_transformers", inputs,
                           f"ours_transformers.{name}", about, {"method": name, **settings},
                           reasons=reasons or {}, otherwise=otherwise)


def _ease_inputs() -> method_cases.Arrays:
  return {**transformer_fixtures.adapters(), **transformer_fixtures.prototypes()}


CASES = (
    _case("lora", "liangyanshuo/InfLoRA", transformer_fixtures.low_ranks,
          "what a change of rank 2 adds to the values of an attention, the mean over 4 tokens"),
    _case("l2p", _PILOT, transformer_fixtures.prompts,
          "2 of 4 prompts for each of 3 queries, and the gradients of the pool, pull included",
          chosen=transformer_fixtures.CHOSEN, pull=0.1),
    _case("dual_prompt", _PILOT, transformer_fixtures.experts,
          "prefixes of 3 blocks, those of the last of 4 tasks in training and the nearest in "
          "testing, an image at a time: of several their code mixes images with keys and values",
          otherwise=_PREFIXES, task=3),
    _case("coda_prompt", _PILOT, transformer_fixtures.components,
          "prefixes of 5 blocks from 4 components in the second of 2 tasks, their loss and "
          "gradients", otherwise=_PREFIXES, orthogonality=0.1),
    _case("aper_adapter", _PILOT, transformer_fixtures.adapters,
          "what an adapter adds to tokens; answers are those of simple_cil",
          module="backbone.vit_adapter", scale=0.1),
    _case("ease", _PILOT, _ease_inputs,
          "what an adapter adds to tokens; prototypes of 6 classes in 3 subspaces, completed again",
          module="backbone.vit_ease", scale=0.1),
    _case("inf_lora", "liangyanshuo/InfLoRA", transformer_fixtures.inputs_in_turn,
          "spaces of the inputs of 3 phases, 12 features", {"directions_of_the_first": _FIRST},
          threshold=0.9),
)
