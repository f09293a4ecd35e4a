# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The benchmarks that `tools/parity` compares, in the order of docs/parity.md."""

from __future__ import annotations

from typing import NamedTuple


class Benchmark(NamedTuple):
  """The module and function that compare a benchmark, its title and the repository's address."""

  module: str
  function: str
  title: str
  repository: str


BENCHMARKS = {
    "fluid": Benchmark("fluid_parity", "compare", "FLUID", "github.com/RAIVNLab/FLUID"),
    "cfsl": Benchmark("cfsl_parity", "compare_cfsl", "Continual few-shot learning",
                      "github.com/AntreasAntoniou/FewShotContinualLearning"),
    "maml_plus_plus": Benchmark("cfsl_parity", "compare_plus_plus", "MAML++",
                                "github.com/AntreasAntoniou/HowToTrainYourMAMLPytorch"),
    "clear": Benchmark("clear_avalanche", "compare", "CLEAR", "github.com/ContinualAI/avalanche"),
    "lifelong": Benchmark("lifelong_parity", "compare", "Sort & Search",
                          "github.com/bethgelab/sort-and-search"),
    "nevis": Benchmark("nevis_parity", "compare", "NEVIS'22",
                       "github.com/google-deepmind/dm_nevis"),
}
