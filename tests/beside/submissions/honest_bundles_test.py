# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Honest bundles of all kinds of methods are verified: scores, costs, data, and replayed events.

Small nets on digits; a method is verified itself, or one that is made of the same class and parts.
"""

from __future__ import annotations

import os

import matrix_runs
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
# The other classes take 10 to 20 s each: LIFELONG_ALL_BUNDLES=1 runs them.
SLOWER = {"cfsl": ("maml_low", "maml_high", "protonet"), "classes": ("pretrain_tune",),
          "conv": ("simple_cnaps",), "vit": ("slca", "aper_adapter", "ease", "inf_lora"),
          "clip": ("clip_zero_shot",)}
IS_SLOW_RUN = bool(os.environ.get("LIFELONG_ALL_BUNDLES"))
# Shorter runs, by protocol and by method.
RUNS = {"clear": ("digits/clear", {"digits.buckets.num_buckets": 2}),
        "fluid": ("digits/fluid", {"digits.sequence.num_samples": 40})}
SHORTER = {"ncm": {}, "ranpac": {"RANPAC_SIZE": 16}, "mdt": {},
           "ft_prev": {"STEPS": 10, "VALIDATE_EVERY": 5}}
VIT = """from __gin__ import dynamic_registration
from suite.models import vit
include 'gin/debug.gin'
BACKBONE = @vit.vit
WEIGHTS = None
"""
DEBUG = ["gin/debug.gin"]
WITH_CLASSES = [*DEBUG, "gin/data/cfsl_with_classes.gin"]


def _class(name: str) -> str:
  protocol = next(one for one in ("clear", *methods.PROTOCOLS) if one in METHODS[name].protocols)
  return str(methods.makes_by_itself(name, protocol)[0]).rpartition(".")[2]


def test_every_class_of_learners_is_verified():
  verified, slower = ({_class(name) for names in cases.values() for name in names}
                      for cases in (VERIFIED, SLOWER))
  assert {_class(name) for name in METHODS} == verified | slower
  assert not verified & slower


def _check(run, name, folder, **given):
  """Runs a method, hands it in and verifies it."""
  python_run.run(run, learners=[name], workdir=folder / "w", keep="states=1", progress=False,
                 **given)
  bundle.pack(folder / "w", folder / "b.zip", bundle.About("CC0-1.0", "me@example.org"))
  report = verification.verify(folder / "b.zip", replay=2, draw=1, states=folder / "w", seeds=(0,))
  assert not report.failed and not report.waits, verification.text(report)
  assert report.badge.startswith("recomputed, replayed 2 of ") and "; same bytes)" in report.badge


@pytest.mark.parametrize("protocol, name", [
    (protocol, name) for protocol, names in VERIFIED.items() for name in names])
def test_an_honest_bundle_is_verified(protocol, name, tmp_path):
  run, values = RUNS[protocol]
  _check(run, name, tmp_path, params={**values, **SHORTER.get(name, {"EPOCHS": 1})})


@pytest.mark.skipif(not IS_SLOW_RUN, reason="set LIFELONG_ALL_BUNDLES=1: two minutes and more")
@pytest.mark.parametrize("kind, name", [
    (kind, name) for kind, names in SLOWER.items() for name in names])
def test_an_honest_bundle_of_a_larger_net_is_verified(kind, name, tmp_path):
  values = {}
  if kind == "clip":
    (tmp_path / "clip").mkdir()
    matrix_runs.write_clip(tmp_path / "clip")
    values = {"digits.buckets.num_buckets": 2, "image_ops.Plain.size": 8,
              "CLIP_FOLDER": str(tmp_path / "clip"),
              "CLASS_NAMES": [f"digit {number}" for number in range(10)]}
  (tmp_path / "vit.gin").write_text(VIT)
  files = {"clip": [], "vit": [tmp_path / "vit.gin"], "classes": WITH_CLASSES}.get(kind, DEBUG)
  _check("digits/cfsl" if kind in ("cfsl", "classes") else "digits/clear", name, tmp_path,
         params=values, files=files)
