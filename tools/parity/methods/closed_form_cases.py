# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cases of methods that answer in closed form, and of the rules of memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools

import memory_fixtures
import method_cases
import method_fixtures
import numpy as np

_ABOUT = "10 classes of 32 features in phases of 6, 2 and 2; 500 rows, 1,000 tests after each phase"
_AT_ONCE = "10 classes of 32 features at once; 500 rows, 1,000 tests"
_STRENGTH = (
    "That code chooses the strength of a phase by the sums of this phase's rows alone, ours by the "
    "sums of all phases so far, with which it answers. Where both choose the same strength, the "
    "answers are equal (the rows of ranpac).")
_ACIL_ROWS = 180  # Of each class: 1,800 in all.


def _unit_length() -> method_fixtures.Arrays:
  found = method_fixtures.classes_in_turn()
  return {**found, **{name: found[name] / np.linalg.norm(found[name], axis=1, keepdims=True)
                      for name in ("train", "test")}}


def _lifted(method: str, size: int, rows: int = 50, seed: int = 0, **more: int
            ) -> method_fixtures.Arrays:
  import ours_statistics
  found = ours_statistics.lifted(
      method_fixtures.classes_in_turn(seed, rows=rows), method, size)
  return {**found, **{name: np.array(value) for name, value in more.items()}}


def _fourier() -> method_fixtures.Arrays:
  import ours_statistics
  return ours_statistics.lifted(method_fixtures.classes_in_turn(phases=(10,)), "randumb", 300)


def _with_k() -> method_fixtures.Arrays:
  # With this seed no two classes have nearly as many votes.
  return {**method_fixtures.classes_in_turn(10), "k": np.array(20)}


def _incremental(method: str, methods: Sequence[str], repository: str, **given: object
                 ) -> method_cases.Case:
  return method_cases.Case(**{
      "name": method, "methods": tuple(methods), "repository": repository,
      "program": "public_incremental", "inputs": method_fixtures.classes_in_turn,
      "ours": f"ours_statistics.{method}", "about": _ABOUT, "settings": {"method": method},
      **given})


def _statistic(method: str, methods: Sequence[str], repository: str, **given: object
               ) -> method_cases.Case:
  return _incremental(method, methods, repository, **{"program": "public_statistics", **given})


def _rule(name: str, rule: str, repository: str, inputs: Callable[[], method_fixtures.Arrays],
          ours: str, about: str, **given: object) -> method_cases.Case:
  """A rule of a memory or of a head; it proves no method, of which it is a part."""
  return method_cases.Case(name, (), repository, "public_memories", inputs,
                           f"ours_memories.{ours}", about, {"rule": rule}, **given)


def _head(name: str, methods: Sequence[str], head: str, repository: str,
          inputs: Callable[[], method_fixtures.Arrays], ours: str, about: str
          ) -> method_cases.Case:
  return method_cases.Case(name, tuple(methods), repository, "public_heads", inputs,
                           f"ours_heads.{ours}", about, {"head": head})


_at_once = functools.partial(method_fixtures.classes_in_turn, phases=(10,))

CASES = (
    _incremental("simple_cil", ["simple_cil", "ncm_cosine"], "sun-hailong/LAMDA-PILOT"),
    _incremental("ridge", ["ridge"], "RanPAC/RanPAC", inputs=_unit_length,
                 settings={"method": "ranpac"},
                 about=f"{_ABOUT}, of length 1; no random projection, strength 1"),
    _incremental("ranpac", ["ranpac"], "RanPAC/RanPAC",
                 inputs=functools.partial(_lifted, "ranpac", 300),
                 about=f"{_ABOUT}; the same 300 random features; both choose one strength"),
    _incremental("ranpac", ["ranpac"], "RanPAC/RanPAC", name="ranpac_choice",
                 inputs=functools.partial(_lifted, "ranpac", 300, seed=3),
                 about=f"{_ABOUT}; another seed, with which other strengths are chosen",
                 reasons=dict.fromkeys(("answers", "logits"), _STRENGTH)),
    *(_incremental(
        "acil", ["acil"], "LAMDA-CL/PyCIL", name=f"acil_{size}",
        inputs=functools.partial(_lifted, "acil", size, _ACIL_ROWS),
        about="10 classes of 32 features in phases of 6, 2 and 2; 1,800 rows, 1,000 tests after "
        f"each phase; the same {size:,} random features") for size in (400, 1800, 3000)),
    _incremental("loranpac", ["loranpac"], "liangzu/loranpac",
                 inputs=functools.partial(_lifted, "loranpac", 1000, rank=300),
                 about=f"{_ABOUT}; the same 1,000 random features, at most 300 directions"),
    _incremental("fecam", ["fecam"], "dipamgoswami/FeCAM",
                 about="10 classes of 32 features in phases of 6, 2 and 2; 500 rows, 1,000 tests "
                 "after the second and third phase"),
    _statistic("fecam_vit", ["fecam"], "dipamgoswami/FeCAM",
               inputs=functools.partial(method_fixtures.classes_in_turn, phases=(10, 10)),
               about="its script for transformers; 20 classes of 32 features in phases of 10; "
               "1,000 rows, 2,000 tests"),
    _statistic("slda", ["slda"], "tyler-hayes/Deep_SLDA"),
    _statistic("knn", ["knn"], "facebookresearch/dino", inputs=_with_k,
               about=f"{_ABOUT}; k = 20"),
    _statistic("mahalanobis", ["mahalanobis"], "peymanbateni/simple-cnaps", inputs=_at_once,
               about=_AT_ONCE),
    _statistic("randumb_legacy", ["randumb"], "drimpossible/RanDumb", inputs=_fourier,
               ours="ours_statistics.randumb",
               about=f"src/legacy_model.py without a further shrinkage; {_AT_ONCE}; the same 300 "
               "random features"),
    _statistic("randumb", ["randumb"], "drimpossible/RanDumb", inputs=_fourier,
               ours="ours_statistics.randumb_answers",
               about=f"{_AT_ONCE}; the same 300 random features", reasons={"answers": (
                   "scikit-learn shrinks the covariance of each class by OAS and takes their "
                   "mean, for which all rows of a class must be there at once. Ours shrinks the "
                   "one covariance that a stream keeps, as the README of the authors says and as "
                   "the code does that they kept for the paper's results (the rows of "
                   "randumb_legacy).")}),
    _head("meta_baseline", ["meta_baseline"], "cosines", "yinboc/few-shot-meta-baseline",
          method_fixtures.episode, "meta_baseline",
          "an episode of 5 classes with 5 rows each, 1,000 targets, first temperature"),
    _head("proto_net", ["protonet"], "distances", "yinboc/few-shot-meta-baseline",
          method_fixtures.episode, "proto_net",
          "method 'sqr', as prototypical networks; an episode of 5 classes with 5 rows each, 1,000 "
          "targets"),
    _head("imprinting", ["imprinting"], "imprinted", "YU1ut/imprinted-weights",
          functools.partial(method_fixtures.classes_in_turn, phases=(100,), features=256, rows=5,
                            tests=10), "imprinting",
          "code of others than the authors; 100 classes of 5 rows of 256 features, 1,000 tests, "
          "before anything is trained"),
    _head("oltr", ["oltr"], "oltr", "zhmiao/OpenLongTailRecognition-OLTR",
          method_fixtures.visual_memory, "oltr",
          "the visual memory of 10 classes with given weights, 1,000 features; the loss of the "
          "centroids and its gradients"),
    _rule("herding", "herding", "LAMDA-CL/PyCIL", memory_fixtures.herding, "herding",
          "iCaRL's exemplars, class by class: 120 of 300, 400 and 500 rows"),
    _rule("reservoir_rule", "reservoir", "aimagelab/mammoth", memory_fixtures.stream,
          "reservoir_rule", "12 of 60 rows",
          seeds=("of the first third", "of the second third")),
    _rule("greedy_balance", "greedy", "RaptorMai/online-continual-learning",
          memory_fixtures.labelled_stream, "greedy",
          "GDumb's memory of 30 of 104 rows of 5 classes, 40 streams",
          seeds=("mean place in the class",), reasons={"mean place in the class": (
              "GDumb takes no row of a class of which it holds as many as there is room for, so it "
              "keeps the first ones; ours keeps a random row of a class as likely as any other, "
              "which is what GDumb stands for in CLEAR's experiments.")}),
    _rule("bias_correction", "bias", "aimagelab/mammoth", memory_fixtures.biased_logits, "bias",
          "BiC's two numbers for 4 new of 10 classes from 200 rows, without our prior; 5,000 steps "
          "of Adam there, Newton's method here", allowed={"alpha and beta": 1e-3}),
    _rule("weight_alignment", "aligned", "LAMDA-CL/PyCIL", memory_fixtures.kernel, "aligned",
          "WA's kernel of 6 old and 4 new classes"),
)
