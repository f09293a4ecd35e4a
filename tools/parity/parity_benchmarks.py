# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The benchmarks that `tools/parity` compares, in the order of docs/parity.md."""

from __future__ import annotations

from typing import NamedTuple


class Benchmark(NamedTuple):
  """The module and function that compare a benchmark, and what docs/parity.md says of it."""

  module: str
  function: str
  title: str
  repository: str
  about: str


BENCHMARKS = {
    "fluid": Benchmark(
        "fluid_parity", "compare", "FLUID", "github.com/RAIVNLab/FLUID",
        "The authors' loop, trainers and models on sequences of features. Their data sets begin "
        "with the last sample of the sequence and are replaced. Exemplar Tuning was not published: "
        "it is compared with the paper's equation 1, written by hand in float64. MDT was not, "
        "either: its answers follow from the logits of the authors' NCM, its scores by "
        "scikit-learn."),
    "cfsl": Benchmark(
        "cfsl_parity", "compare_cfsl", "Continual few-shot learning",
        "github.com/AntreasAntoniou/FewShotContinualLearning",
        "One meta-training loss and its gradient for every meta-learned number, in float64 on both "
        "sides, from the same weights, rates and norms."),
    "maml_plus_plus": Benchmark(
        "cfsl_parity", "compare_plus_plus", "MAML++",
        "github.com/AntreasAntoniou/HowToTrainYourMAMLPytorch",
        "As above, with MAML++'s own code: multi-step loss, first and second order."),
    "clear": Benchmark(
        "clear_avalanche", "compare", "CLEAR", "github.com/ContinualAI/avalanche",
        "Avalanche's strategies, with which CLEAR's table was made, on five buckets of features "
        "that drift. Both nets begin at zero."),
    "lifelong": Benchmark(
        "lifelong_parity", "compare", "Sort & Search", "github.com/bethgelab/sort-and-search",
        "The functions of the published script; its module `utils` is missing there, but they do "
        "not need it."),
    "nevis": Benchmark(
        "nevis_parity", "compare", "NEVIS'22", "github.com/google-deepmind/dm_nevis",
        "Streams, the random draws and ranges behind the splits `NAME_paper`, and metrics; no data "
        "set is read."),
    "methods": Benchmark(
        "method_cases", "compare", "Methods", "what tools/parity/methods/repositories.csv names",
        "Single methods beside public code on the same inputs, which follow from a seed. CODE is a "
        "folder with a checkout OWNER+NAME of each repository that a row names; one that is not "
        "there, or is at another commit, is named with its `git clone`, and its rows stay as they "
        "are. The answers of the public code are in `docs/results/parity/methods`, without any "
        "code, and `tests/tools/methods_parity_test.py` compares ours with them. In closed form "
        "and in single updates, equal means the same answers, and the same values but for "
        "rounding."),
}
