# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs of several seeds in one process have the configuration of each alone."""

from __future__ import annotations

import pytest

from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import run_settings
from suite.running import launch
from suite.running import this_process
from suite.training.episodic import seed_folding


def test_each_seed_has_its_folder_its_configuration_and_its_command(tmp_path, monkeypatch):
  monkeypatch.setattr(this_process, "settle", lambda debug: None)
  monkeypatch.setattr(seed_folding.SeedFolding, "run", lambda self, calls: runs.extend(calls))
  runs = []
  file = run_settings.find("digits/cfsl_maml", params=["UPDATES=25"])
  command = f"suite run digits/cfsl_maml --workdir {tmp_path} --folded_seeds 3,5 --precision tf32"
  launch.folded_runs(file, run_settings.RunSettings(workdir=str(tmp_path), command=command), [3, 5])
  for seed, run in zip((3, 5), runs):
    given = run.keywords
    assert given["seed"] == seed and given["settings"].workdir == str(tmp_path / str(seed))
    assert given["settings"].command == (f"suite run digits/cfsl_maml --workdir {tmp_path}/{seed} "
                                         f"--seed {seed} --precision tf32")
    gin_parse.parse(file.paths(), [*file.bindings(), f"experiment.run.seed={seed}"])
    assert given["origin"].config_text == gin_parse.config_text()
  assert len(runs) == 2


def test_what_runs_of_one_seed_alone_can_do_is_refused():
  file = run_settings.find("digits/cfsl_maml")
  for settings, message in ((dict(share=True), "on one device: leave --share out"),
                            (dict(strategy="mirrored"), "on one device: leave --strategy out"),
                            (dict(keep="states=1"), "leave --keep out, or --fold_seeds")):
    with pytest.raises(gin_files.ConfigError, match=message):
      launch.folded_runs(file, run_settings.RunSettings(workdir="w", **settings), [0, 1])
