# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Honest bundles of all kinds of methods are verified: scores, costs, data, and replayed events.

Small nets on digits; a method is verified itself, or one that is made of the same class and parts.
"""

from __future__ import annotations

import pytest

from suite.beside.submissions import bundle
from suite.beside.submissions import verification
from suite.configs import methods
from suite.running import python_run

METHODS = {method.name: method for method in methods.load()}
# Methods whose bundles are verified here, by protocol: one of each class of learners, and of what
# is stored between events (all rows, exemplars, a teacher, models of the past, choices).
VERIFIED = {
    "clear": ("head_only", "joint", "er", "lwf", "imprinting", "exemplar_tuning", "oltr", "ncm",
              "ranpac", "ft_prev"),
    "fluid": ("mdt",)}
# Classes of learners whose nets take longer than a test may: by hand, see docs/submissions.md.
BY_HAND = ("Maml", "Slca", "MetaMahalanobis", "MetaCentroids", "EmbeddedMaml", "PretrainTune",
           "AdaptedStatistics", "SubspaceEnsemble", "InfLora", "ClipZeroShot")
# Shorter runs, by protocol and by method.
RUNS = {"clear": ("digits/clear", {"digits.buckets.num_buckets": 2}),
        "fluid": ("digits/fluid", {"digits.sequence.num_samples": 40})}
SHORTER = {"ncm": {}, "ranpac": {"RANPAC_SIZE": 16}, "mdt": {},
           "ft_prev": {"STEPS": 10, "VALIDATE_EVERY": 5}}


def _class(name: str) -> str:
  protocol = next(one for one in ("clear", *methods.PROTOCOLS) if one in METHODS[name].protocols)
  return str(methods.makes_by_itself(name, protocol)[0]).rpartition(".")[2]


def test_every_class_of_learners_is_verified():
  verified = {_class(name) for names in VERIFIED.values() for name in names}
  assert {_class(name) for name in METHODS} == verified | set(BY_HAND)
  assert not verified & set(BY_HAND)


@pytest.mark.parametrize("protocol, name", [
    (protocol, name) for protocol, names in VERIFIED.items() for name in names])
def test_an_honest_bundle_is_verified(protocol, name, tmp_path):
  run, values = RUNS[protocol]
  python_run.run(run, learners=[name], workdir=tmp_path / "w", keep="states=1", progress=False,
                 params={**values, **SHORTER.get(name, {"EPOCHS": 1})})
  bundle.pack(tmp_path / "w", tmp_path / "b.zip", bundle.About("CC0-1.0", "me@example.org"))
  report = verification.verify(tmp_path / "b.zip", replay=2, draw=1, states=tmp_path / "w",
                               seeds=(0,))
  assert not report.failed and not report.waits, verification.text(report)
  assert report.badge.startswith("recomputed, replayed 2 of ") and "; same bytes)" in report.badge
