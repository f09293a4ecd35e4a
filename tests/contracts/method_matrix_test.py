# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Every method under every protocol (suite/configs/methods.csv), by its gin files.

Where it runs it learns, is resumed bit for bit and knows its costs, or its learner is made of the
same parts as that of a cell which does; elsewhere it is refused before anything is trained. Runs of
`AGAIN` are started once more when they are over: a new learner takes the state of their end.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import json
import types
from typing import Any
from unittest import mock

from absl import logging
import matrix_runs
import numpy as np
import pytest
import tensorflow as tf

from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import methods
from suite.configs import run_files
from suite.contracts import deliveries
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.data.images import example_arrays
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.learners import zero_shot
from suite.protocols import clear
from suite.protocols import incremental

METHODS = {method.name: method for method in methods.load()}
CELLS = [(name, protocol) for protocol in methods.PROTOCOLS for name in METHODS]
# Under `incremental`, whose column is that of `clear`, one method of each kind.
GROWING = ("er", "ewc", "lwf", "icarl", "wa", "bic", "ranpac", "loranpac", "slda",
           "ncm", "ft_prev")
# These cells are not run: their learners are made of the same parts as those of a cell that is,
# and differ in numbers or in what is named; that is compared. First those with another method:
IN_THE_NET = ("_hooks", "objective")  # A layer of the net, and the loss.
AS_OTHERS = {
    **{(name, "nevis"): ("lora", IN_THE_NET) for name in ("l2p", "dual_prompt", "coda_prompt")},
    ("online_ewc", "nevis"): ("ewc", ("anchor",)),
    # What a task changes; tests/training/episodic/inner_loop_test.py has both.
    **{(name, "cfsl"): ("maml_low", ("adapted",)) for name in ("anil", "boil")},
    **{(name, protocol): (other, but) for protocol in ("nevis", "fluid", "cfsl")
       for name, other, but in (
           ("ncm_cosine", "ncm", ("similarity",)), ("simple_cil", "ncm", ("similarity",)))},
    # Which random weights; tests/learners/statistics_learner_test.py has both.
    **{("acil", protocol): ("ranpac", ("_drawn",)) for protocol in ("nevis", "cfsl")},
    ("head_only", "cfsl"): ("finetune", ()),
    ("lwf_growing", "fluid"): ("lwf", ("_growing", "_is_constant"))}
# Then those with the cell of the method itself under another protocol. What a protocol adds runs
# under it with methods of the same family, on sequences in fluid_oracle_test.py, too.
# What a protocol sets, and what its cells have in place of images, is not compared.
SETTINGS = {"nevis": ("head",), "clear": ("schedule", "start"), "cfsl": ("_training",),
            "fluid": ("_base", "augments", "keep", "keeps_velocities", "train_on")}
# Three methods have further settings that depend on the protocol: FLUID's EWC has the published
# penalty (tests/protocols/fluid_published_ewc_test.py), CLEAR's online EWC other Fisher
# information, and its A-GEM looks at all of the memory.
OF_FISHER = ("fisher", "observes")
OWN_SETTINGS = {"ewc": ("anchor", *OF_FISHER), "online_ewc": OF_FISHER,
                "agem": ("sample_size",)}
INPUT = ("transform", "_features", "given")
RUN_ELSEWHERE = {
    "nevis": {"clear": ("aper_adapter", "ease", "inf_lora", "mas", "rwalk", "last_layers", "ridge",
                        "mahalanobis", "fecam", "randumb", "loranpac", "constellation", "oltr",
                        "protomaml", "slca", "each_bucket", "si", "exemplar_tuning",
                        "meta_baseline", "imprinting", "knn", "first_order_maml", "simple_cnaps")},
    "clear": {"nevis": ("clip_zero_shot", "clip_prototypes", "indep", "ft_prev", "ft_s", "lora")},
    "fluid": {"clear": ("mas", "rwalk", "online_ewc", "er_aml", "mer", "gss", "agem",
                        "der_plus_plus", "scr", "reservoir", "biased_reservoir", "joint",
                        "cumulative", "each_bucket", "last_layers", "aper_adapter",
                        "constellation", "randumb", "ridge", "der", "oltr", "imprinting",
                        "cwr_star", "slda", "mahalanobis", "fecam", "ewc", "wa", "protomaml",
                        "mir", "gdumb", "simple_cnaps", "si", "gem", "split_head", "meta_baseline",
                        "budgeted", "protonet", "ranpac", "first_order_maml", "acil",
                        "head_only"),
              "nevis": ("clip_zero_shot", "clip_prototypes", "lora")},
    "cfsl": {"clear": ("constellation",), "nevis": ("clip_prototypes",)}}
MADE_AS = {
    **{(name, protocol): ((other, protocol), but)
       for (name, protocol), (other, but) in AS_OTHERS.items()},
    **{(name, protocol): ((name, other), (
        *SETTINGS[protocol], *SETTINGS[other], *OWN_SETTINGS.get(name, ()), *INPUT,
        *(["net"] if protocol == "fluid" and METHODS[name].file == "gradient" else [])))
       for protocol, found in RUN_ELSEWHERE.items() for other, names in found.items()
       for name in names}}
DELIVERIES = {"nevis": deliveries.TASKS, "clear": deliveries.BUCKETS, "cfsl": deliveries.EPISODES,
              "fluid": deliveries.SEQUENCE}
RUNS = [*((n, p) for n, p in CELLS if p in METHODS[n].protocols and (n, p) not in MADE_AS),
        *((name, "incremental") for name in GROWING)]
REFUSED = [(n, p) for n, p in CELLS if p in METHODS[n].refusals]

# Stopped and resumed: one of each kind of state under each protocol; under `clear` all that run but
# these.
IN_ATTENTION = ("l2p", "dual_prompt", "lora")  # Variables of a layer of the net, as CODA-Prompt's.
# Their states are resumed under another protocol, too, and like ones are under `clear`.
NOT_THERE = ("ft_d", "lwf", "icarl", "exemplar_tuning", "ncm", "knn", "loranpac", "ranpac",
             *IN_ATTENTION)
RESUMED = {
    "nevis": ("finetune", "ewc", "indep", "ft_prev", "ft_d", "ft_s", "clip_zero_shot",
              "clip_prototypes"),
    "clear": tuple(name for name, protocol in RUNS
                   if protocol == "clear" and name not in NOT_THERE),
    # A teacher; a memory of numbers of samples; exemplars; statistics that answer in turn; heads
    # that labels change.
    "fluid": ("finetune", "lwf", "er", "icarl", "exemplar_tuning", "ncm", "mdt", "knn",
              "loranpac"),
    "incremental": ("er", "icarl", "ranpac", "loranpac"),
    "cfsl": ("protonet", "maml_plus_plus", "maml_high")}
# These run on CFSL alone, with the variables of the last two.
AS_MAML = {"maml_low", "anil", "boil", "sca", "pretrain_tune", "init_tune"}
# Under NEVIS'22, where a task has variables of its own, and of what is meta-trained on CFSL alone.
AGAIN = {(name, protocol) for name, protocol in RUNS if name not in RESUMED[protocol]
         and (protocol == "nevis" or name in AS_MAML or name in IN_ATTENTION)}
# Resumed after an event that was worked through and not committed, as after `kill -9` in the second
# training, of a sequence in the second offline phase: images that are kept, rows of a memory,
# numbers of samples; weights, each time.
UNCOMMITTED = {("cumulative", "clear"): 3, ("er", "clear"): 3, ("er", "fluid"): 4}
# Each is planned with a rate, where no step is taken; one of each kind also with steps that are
# measured. `python tools/planned.py` compares all of both.
MEASURED = (("ewc", "clear"), ("protonet", "cfsl"), ("protonet", "clear"), ("er", "fluid"))

# The events after which a run is stopped: a task, a bucket and a part of another, an offline phase;
# under `incremental` a task, before the classes of the next one come.
STOPS = {"nevis": 2, "clear": 3, "incremental": 2, "fluid": 3, "cfsl": 1}
# One is stopped amid its meta-training, the others at its end: all weights, and the state of
# the optimizer, are compared then, and the second graph of an update is not made.
STOPPED_AMID, META_TRAINING_ENDS = ("protonet",), 2
# Chance: 1 in 5 and 1 in 10 classes; 1 in 10; the most frequent class, 0.26; 1 in 2.
ABOVE_CHANCE = {"nevis": 0.3, "clear": 0.3, "incremental": 0.6, "fluid": 0.3, "cfsl": 0.6}
# Answers by words, which a net of random weights does not know.
UNTAUGHT = ("clip_zero_shot",)
# Of the first, updates are on single rows.
FEWER_EPOCHS = {("mer", "clear"): "EPOCHS = 1", ("mer", "fluid"): "EPOCHS = 4",
                # Answers by means of exemplars are right from the start.
                ("scr", "clear"): "EPOCHS = 1", ("scr", "fluid"): "EPOCHS = 2"}
# What prompts train in a net of random weights is little.
SLOWLY = {("l2p", "clear"): """
EPOCHS = 30
BATCH_SIZE = 32
RATE = 0.1
"""}
# These train on the rows of a small memory alone.
FEW_ROWS, MORE_EPOCHS = ("gdumb", "reservoir", "biased_reservoir"), "EPOCHS = 20"
# Their inner steps are not learned: they take more of them, with a small rate.
PLAIN_STEPS = ("init_tune", "pretrain_tune")
THREE_STEPS = """
inner_loop.InnerLoop.steps = 3
inner_loop.InnerLoop.rate = 0.02
"""
# Pretrain + Tune trains on the classes of the data set.
WITH_CLASSES = "include 'gin/data/cfsl_with_classes.gin'"
# Its features are means over cells, which take some filters and updates.
OF_CELLS = """
constellation.ConstellationConv4.filters = 32
base_episodes.BaseEpisodes.updates_per_epoch = 20
"""
# Its rows are compared in as many calls as there are blocks.
FEW_BLOCKS = """
BATCH_SIZE = 64
EPOCHS = 1
RATE = 0.2
gss.Gss.block = 64
"""
# The gradient of a critic is differentiated twice; MAML_HIGH has the second order of the steps.
FIRST_ORDER = "coupled/meta_schedules.MetaTraining.second_order = False"
# Their episodes of base classes are one code under three protocols; under the others than `clear`
# the net stays as it began.
BASE_EPISODES = ("simple_cnaps", "protonet", "meta_baseline", "first_order_maml", "protomaml")
NO_EPISODES = """
base_episodes.BaseEpisodes.epochs = 0
first_order/base_episodes.BaseEpisodes.epochs = 0
"""
# Others have two support sets: MAML_LOW, Init + Tune, Meta-Baseline and all that never meta-trains.
ONE_SET = ("sca", "maml_plus_plus", "maml_high", "protonet", "simple_cnaps", "pretrain_tune")
# They take more updates before their answers are better than chance.
SLOW_STARTERS = ("sca", "maml_plus_plus")
META_TRAINED = ("protonet", "meta_baseline", "constellation", "simple_cnaps", "maml_low", "anil",
                "boil", "maml_plus_plus", "maml_high", "sca", "pretrain_tune")


def extra(name: str, protocol: str) -> str:
  """Bindings of a cell besides those of all."""
  if protocol == "cfsl" and name in PLAIN_STEPS:
    sets = "\nNUM_SUPPORT_SETS = 1" if name in ONE_SET else ""
    return f"UPDATES = {30 * (name in META_TRAINED)}" + sets + THREE_STEPS + WITH_CLASSES
  if protocol == "cfsl":
    updates = ["UPDATES = 30"] if name in META_TRAINED else []
    if name in SLOW_STARTERS:
      updates = ["UPDATES = 60", "cfsl.run.updates_per_event = 30"]
    if name in ONE_SET:
      updates.append("NUM_SUPPORT_SETS = 1")
    return "\n".join(updates + ([FIRST_ORDER] if name == "sca" else []))
  if name == "constellation":
    return OF_CELLS
  if protocol != "clear" and name in BASE_EPISODES:
    return NO_EPISODES
  if protocol == "clear" and name == "gss":
    return FEW_BLOCKS
  if (name, protocol) in SLOWLY:
    return SLOWLY[name, protocol]
  if (name, protocol) in FEWER_EPOCHS:
    return FEWER_EPOCHS[name, protocol]
  return MORE_EPOCHS if protocol == "clear" and name in FEW_ROWS else ""


def accuracy(summary: dict[str, Any]) -> float:
  """The accuracy over the whole run."""
  protocol = summary["protocol"]
  if protocol == "nevis":
    return 1.0 - summary["mean_error_all"]
  return {"incremental": lambda: summary["average_incremental_accuracy"],
          "clear": lambda: summary["in_domain"], "fluid": lambda: summary["closed"]["overall"],
          "cfsl": lambda: summary["accuracy"]}[protocol]()


@pytest.fixture(name="unread")
def _unread(monkeypatch):
  """A function: the names of splits of buckets that no learner has read."""
  delivered, read = [], set()

  def learning(learner):
    def learned(experience, context):
      delivered.extend((experience.train, experience.dev))
      return own_costs.learning(learner)(experience, context)

    return learned

  for module in (clear, incremental):
    monkeypatch.setattr(module, "own_costs", types.SimpleNamespace(learning=learning))

  def watched(function):
    def reading(images, *arguments, **named):
      read.add(id(images))
      return function(images, *arguments, **named)

    return reading

  for owner, name in ((image_set.ImageSet, "eval_batches"), (image_set.ImageSet, "train_batches"),
                      (feature_set.FeatureSet, "eval_batches"), (example_arrays, "_images")):
    monkeypatch.setattr(owner, name, watched(getattr(owner, name)))
  return lambda: [part.name for part in delivered if id(part) not in read]


@pytest.mark.parametrize("name, protocol", RUNS)
def test_a_method_learns_is_resumed_and_knows_its_costs(name, protocol, tmp_path, unread):
  cell = matrix_runs.CellRun(tmp_path, METHODS[name], protocol, extra(name, protocol))
  is_trained = protocol == "cfsl" and name in META_TRAINED and name not in STOPPED_AMID
  uncommitted = UNCOMMITTED.get((name, protocol), 0)
  is_resumed = name in RESUMED[protocol]
  stop = META_TRAINING_ENDS if is_trained else STOPS[protocol]
  whole = cell.whole(uncommitted or stop if is_resumed else 0)
  learned = cell.episodic_weights() if is_trained else []
  logging.info("%s on %s: accuracy %.3f", name, protocol, accuracy(whole))
  assert accuracy(whole) > (0.0 if name in UNTAUGHT else ABOVE_CHANCE[protocol])
  assert whole["flops"] > 0 and whole["macs"] is not None
  # Every method has the same rows: those of validation splits, too.
  assert name in UNTAUGHT or not unread()
  if uncommitted:
    assert cell.records("whole")[uncommitted]["kind"] == "train"
    cell.uncommitted(uncommitted)
    assert len(cell.records("resumed")) == uncommitted
  if is_resumed:
    assert cell.resumed() == whole
    assert json.dumps(cell.records("resumed")) == json.dumps(cell.records("whole"))
  elif is_trained or (name, protocol) in AGAIN:
    at_its_end = cell.state()
    assert cell.again() == whole
    np.testing.assert_equal(cell.state(), at_its_end)
  if is_trained:
    assert len(learned) > 8
    np.testing.assert_equal(cell.episodic_weights(), learned)
  real = cell.records("whole")
  for rate in (1e12, None) if (name, protocol) in MEASURED else (1e12,):
    events, planned = cell.planned(rate=rate)
    assert events == len(real)
    assert matrix_runs.costs(planned) == matrix_runs.costs(real[-1])


def made_of(part: Any, but: Sequence[str]) -> Any:
  """The classes and functions that a learner is made of, and its options, but for its numbers."""
  if isinstance(part, (bool, str)):
    return part
  function = getattr(part, "func", part)
  if callable(function) and not isinstance(function, (tf.Module, type)) and hasattr(
      function, "__qualname__"):
    return function.__qualname__
  if not type(part).__module__.startswith("suite."):
    return type(part)
  parts = part._asdict() if hasattr(part, "_asdict") else vars(part)
  return type(part), {name: made_of(value, but) for name, value in parts.items()
                      if name not in but}


@pytest.fixture(scope="module", name="compared")
def _compared(tmp_path_factory):
  """The learners that `MADE_AS` compares, by cell."""
  alike, found = {}, {}
  folder = tmp_path_factory.mktemp("learners")
  matrix_runs.write_clip(folder)
  for name, protocol in dict.fromkeys([*MADE_AS, *(other for other, _ in MADE_AS.values())]):
    key = protocol, matrix_runs.settings_of(METHODS[name], protocol)
    alike.setdefault(key, []).append(METHODS[name])
  # A CLIP of one folder is read, and made, once for all.
  with mock.patch.object(zero_shot, "_features", functools.cache(zero_shot._features)):
    for i, ((protocol, _), chosen) in enumerate(alike.items()):
      gin_parse.gin.clear_config()
      made = matrix_runs.learners(folder / str(i), chosen, protocol, clip=folder)
      found.update(((name, protocol), learner) for name, learner in made.items())
  gin_parse.gin.clear_config()
  return found


@pytest.mark.parametrize("name, protocol", MADE_AS)
def test_a_method_that_is_not_run_is_made_as_one_that_is(name, protocol, compared):
  other, but = MADE_AS[name, protocol]
  assert other in RUNS
  assert made_of(compared[name, protocol], but) == made_of(compared[other], but)
  refusals.check_learner(compared[name, protocol], DELIVERIES[protocol])


@pytest.mark.parametrize("name, protocol", REFUSED)
def test_a_method_is_refused_before_anything_is_trained(name, protocol, tmp_path):
  cell = matrix_runs.CellRun(tmp_path, METHODS[name], protocol)
  with pytest.raises(ValueError) as error:
    cell.whole(0)
  assert METHODS[name].refusals[protocol] in str(error.value)
  assert cell.records("whole") == []


def test_every_method_runs_and_each_state_is_resumed():
  resumed = {(name, protocol) for protocol, names in RESUMED.items() for name in names}
  assert resumed <= set(RUNS)
  made_as_maml = {name for (name, _), (other, _) in AS_OTHERS.items() if other == "maml_low"}
  assert {name for name, _ in resumed} | AS_MAML | set(IN_ATTENTION) == set(METHODS)
  assert {name for name, _ in RUNS} == set(METHODS) - made_as_maml
  for name in AS_MAML:
    assert METHODS[name].protocols == ["cfsl"]


def test_every_gin_file_of_the_table_has_the_macro_that_it_names():
  for method in METHODS.values():
    path = gin_files.root() / "gin" / "learners" / f"{method.file}.gin"
    assert f"\n{method.macro} = @" in path.read_text(encoding="utf-8"), (method.name, path)


def test_every_shelf_has_a_method_of_the_table_or_settings_of_a_protocol():
  used = {method.file for method in METHODS.values()}
  others = {*methods.PROTOCOLS, "encoder", "leaderboard", "unlabelled"}
  found = {path.stem for path in (gin_files.root() / "gin" / "learners").glob("*.gin")}
  assert found == used | others


@pytest.mark.parametrize("table", ["leaderboard/smoke", "leaderboard/cpu"])
@pytest.mark.parametrize("protocol", methods.PROTOCOLS)
def test_the_leaderboards_methods_are_those_of_the_table(table, protocol):
  files = run_files.shipped()
  rows = gin_files.scan([files[table]]).parameters["table.run.runs"].value
  found = gin_files.scan([files[f"{table}_{protocol}"]])
  learners = found.parameters["experiment.run.learners"].value
  running = {name: f"%{METHODS[name].macro}" for name in rows
             if protocol in METHODS[name].protocols}
  if protocol == "cfsl":  # ProtoNets, which are meta-trained there, have their own run file.
    assert running.pop("protonet") == "%PROTONET"
  assert found.macros[learners[1:]].value == running


def test_four_fifths_of_the_cells_of_nevis_clear_and_fluid_run():
  running, cells = methods.filled(list(METHODS.values()))
  assert running >= 0.8 * cells
