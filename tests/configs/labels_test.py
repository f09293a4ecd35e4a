# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One name, one method: a label of a run file is what --methods makes of that name in the run."""

from __future__ import annotations

from typing import Any

import pytest

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import methods
from suite.configs import run_files
from suite.configs import run_settings
from suite.configs import signatures

METHODS = {method.name: method for method in methods.load()}
RUNS = run_files.shipped()
# Learners that are no methods of the table, nor one of them with other values.
OTHERS = {
    "supervised", "moco", "encoder", "conv4", "resnet18", "resnet34",  # Pretraining.
    "mt", "mt_top3", "mt_prev_all", "mt_prev_random", "mt_ind_all", "mt_ind_random", "pt",
    "pt_ft_d", "from_first", "from_second", "from_third",  # NEVIS'22's further baselines.
    "pseudo_finetune", "pseudo_er", "continued_encoder", "frozen_encoder",  # Unlabelled images.
    "ncm_share", "exemplar_tuning_mdt", "head_only_mdt", "ncm_crops", "exemplar_tuning_crops",
    "oltr_net", "protonet_paper"}
# Methods under another label, which reports name beside it.
OTHER_VALUES = {"bhpo": "indep", "network": "indep", "maml_low_cosine": "maml_low"}


def learners(found: gin_files.Scan) -> dict[str, Any]:
  value = gin_files.value_in(found.history, methods.LEARNERS)
  return value if isinstance(value, dict) else {}


def made(history: gin_bindings.History, value: Any, outer: str = "") -> Any:
  """What a value stands for: of a call its function and all arguments, but for the network's."""
  while isinstance(value, gin_bindings.GinReference) and value.name == gin_bindings.MACRO:
    value = history[value.scope, gin_bindings.MACRO, "value"][-1].value
  if isinstance(value, (list, tuple)):
    return [made(history, one, outer) for one in value]
  if not isinstance(value, gin_bindings.GinReference):
    return value
  scope, arguments = value.scope or outer, {}
  for name, parameter in signatures.parameters(value.name).items():
    key = next((key for key in gin_bindings.inherited(scope, value.name, name)
                if key in history), None)
    is_nets = name == "backbone" or value.name.endswith("FrozenBackbone") and name == "size"
    if not is_nets:
      arguments[name] = (parameter.default if key is None else
                         made(history, history[key][-1].value, scope))
      if not isinstance(arguments[name], (str, dict, list)):
        arguments[name] = repr(arguments[name])
  return {value.name: arguments}


@pytest.mark.parametrize("run", [
    name for name, path in RUNS.items() if learners(gin_files.scan([path], checks=False))])
def test_a_label_is_the_method_of_that_name(run):
  found = gin_files.scan([RUNS[run]], checks=False)
  if gin_files.protocol_in(found.history) not in methods.NAMED:
    return
  for label, maker in learners(found).items():
    if label not in METHODS:
      assert label in OTHERS or str(maker) == f"%{METHODS[OTHER_VALUES[label]].macro}"
      continue
    file = run_settings.find(run, methods=[label])
    by_name = gin_files.scan(file.paths(), file.bindings(), checks=False)
    assert made(found.history, maker) == made(by_name.history, learners(by_name)[label]), label


def test_reports_name_what_a_label_does_not_say():
  file = run_settings.find("digits/clear_table", methods=["er", "ncm"],
                           params=["memory_size=7", "EPOCHS=12"])
  assert file.changes(gin_files.scan(file.paths(), file.bindings())) == {"er": "memory_size=7"}
  file = run_settings.find("nevis/bhpo", params=["trainer.Trainer.momentum=0.5"])
  found = gin_files.scan(file.paths(), file.bindings())
  assert file.changes(found) == {"bhpo": "indep: momentum=0.5"}
  file = run_settings.find("digits/clear", methods=["ranpac", "slda"], method_settings="cpu")
  assert file.folder == "digits/clear-ranpac-slda-cpu"
  found = gin_files.scan(file.paths(), file.bindings())
  assert found.macros["RANPAC_SIZE"].value == 2000
  assert file.changes(found) == {"ranpac": "settings=cpu"}


def test_reports_name_what_a_run_file_changes_of_a_method():
  file = run_settings.find("digits/clear_methods")
  assert file.changes(gin_files.scan(file.paths(), file.bindings(), checks=False)) == {
      "mas": "strength=0.02", "lwf_growing": "step=9", "mer": "within=0.1, batches=1"}


@pytest.mark.parametrize("run, protocol", [
    ("digits/clear", "clear"), ("digits/fluid", "fluid"), ("digits/incremental", "incremental")])
def test_a_method_as_it_is_has_nothing_beside_its_name(run, protocol):
  names = [one.name for one in METHODS.values() if methods.column(protocol) in one.protocols]
  file = run_settings.find(run, methods=names)
  assert not file.changes(gin_files.scan(file.paths(), file.bindings(), checks=False))


@pytest.mark.parametrize("changed, message", [
    ({"params": ["strength=2.0"]}, "setting 'strength', and no .* It is a setting of ewc, onlin"),
    ({"method_settings": "gpu"}, "Methods have no settings 'gpu'; allowed are cpu, or none")])
def test_settings_are_refused_in_one_line(changed, message):
  with pytest.raises(gin_files.ConfigError, match=message) as error:
    run_settings.find("digits/clear_table", methods=["er"], **changed)
  assert "\n" not in str(error.value)


def test_a_label_that_two_methods_have_is_refused(tmp_path):
  run = tmp_path / "run.gin"
  run.write_text("from __gin__ import dynamic_registration\nfrom suite import experiment\n"
                 "include 'gin/runs/digits/clear_table.gin'\n\n"
                 "experiment.run.learners = {'er': %ER,\n    'ncm': %NCM, 'er': %DER}\n")
  with pytest.raises(gin_files.ConfigError, match=r"run\.gin, line 5: the label 'er' is given "):
    gin_files.scan([run])
  twice = "experiment.run.learners={'er': %ER, 'er': %DER}"
  with pytest.raises(gin_files.ConfigError, match="--gin_param .*: the label 'er' is given twice"):
    gin_files.scan([RUNS["digits/clear_table"]], [twice])
