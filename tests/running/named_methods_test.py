# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Methods by name, from the command line, of run files in Python, and around a user's model."""

from __future__ import annotations

import functools
import inspect

import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import methods
from suite.configs import run_settings
from suite.contracts import deliveries
from suite.contracts import refusals
from suite.learners import finetune
from suite.learners import gradient
from suite.learners import statistics_learner
from suite.learners import weight_imprinting
from suite.metrics import own_metrics
from suite.models.own import own_model
from suite.reporting import table_dir
from suite.reporting import tables
from suite.running import launch
from suite.running import own_learner
from suite.running import python_run
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.objectives import der

layers = tf.keras.layers


def net():
  return tf.keras.Sequential([layers.Rescaling(1 / 255, input_shape=(4, 4, 1)), layers.Flatten(),
                              layers.Dense(6, "relu")])


def test_a_method_is_made_around_a_model_with_its_settings():
  made = own_learner.learner(net(), "der_plus_plus", memory_size=5, beta=0.25, epochs=2,
                             batch_size=8).make(deliveries.BUCKETS)
  assert isinstance(made, gradient.GradientLearner) and isinstance(made.objective, der.Der)
  assert (made.memory.capacity, made.objective._beta, made.objective._alpha) == (5, 0.25, 0.2)
  recipe = made._recipe
  assert (recipe.epochs, recipe.batch_size, recipe.replay_batch) == (2, 8, 32)
  assert isinstance(made._optimizer, optimizers.Keras) and recipe.learning_rate == pytest.approx(
      0.001)  # Adam's.
  assert made.transform.shape == (4, 4, 1)


def test_a_setting_of_a_shared_part_reaches_it():
  """A head and a net stand in macros, whose scope gin opens."""
  made = own_learner.learner(net(), "er", start="zeros", norms="fixed").make(deliveries.BUCKETS)
  assert made.head.start == "zeros"


@pytest.mark.parametrize("name, delivery, options, kind", [
    ("slda", deliveries.SEQUENCE, {"shrinkage": 0.1}, statistics_learner.StatisticsLearner),
    ("imprinting", deliveries.TASKS, {"scale": 2.0}, weight_imprinting.WeightImprinting),
    ("indep", deliveries.TASKS, {"steps": 7}, finetune.Finetune),
    ("ridge", deliveries.EPISODES, {}, statistics_learner.StatisticsLearner)])
def test_methods_of_other_families(name, delivery, options, kind):
  made = own_learner.learner(net(), name, **options).make(delivery)
  assert isinstance(made, kind)


def test_no_argument_of_suite_learner_is_a_setting_of_a_method():
  settings = {name for method in methods.load() for protocol in method.protocols
              for name in methods.build_of(method, protocol).settings}
  assert {"size", "epochs", "batch_size", "optimizer", "num_classes"} <= settings
  assert not settings & set(inspect.signature(own_learner.learner).parameters)


def test_settings_reach_the_method_not_the_images():
  made = own_learner.learner(net(), "RanPAC", size=50).make(deliveries.BUCKETS)
  assert made.transform.shape == (4, 4, 1) and made._lift.size == 50
  for delivery in (deliveries.BUCKETS, deliveries.SEQUENCE, deliveries.TASKS):
    made = own_learner.learner(net(), "EWC", epochs=2, batch_size=5, lr=0.5).make(delivery)
    recipe = made._recipe
    assert (recipe.epochs, recipe.batch_size, recipe.learning_rate) == (2, 5, 0.5)
  adam = tf.keras.optimizers.Adam(0.3)
  for optimizer in ("adamw", adam):
    made = own_learner.learner(net(), "indep", optimizer=optimizer).make(deliveries.TASKS)
    assert made._trainer.optimizer is optimizer


def test_several_methods_are_each_made_under_their_own_configuration():
  makers = {name: functools.partial(
      own_learner.learner(net(), "er", epochs=epochs).make, deliveries.BUCKETS)
            for name, epochs in (("one", 1), ("two", 2), ("again", 1))}
  _, found = refusals.before_first_event(
      lambda learner, *, state: {}, makers, seed=0, distribution=distribution.build(),
      metrics=own_metrics.OwnMetrics(None), configuration=gin_parse.num_parsed)
  for name, epochs in (("one", 1), ("two", 2), ("again", 1)):
    assert found[name]()._recipe.epochs == epochs
    assert f"EPOCHS = {epochs}\n" in gin_parse.config_text()  # What it calls later reads this.


def test_head_and_optimizer_of_a_method():
  made = own_learner.learner(net(), "ewc", head="own", strength=3.0, learning_rate=0.1,
                             optimizer=tf.keras.optimizers.SGD()).make(deliveries.TASKS)
  assert isinstance(made.head, class_heads.OwnHead) and made._recipe.learning_rate == 0.1
  # MER is about its optimizer, and episodes have a functional form of plain descent.
  for name, delivery in (("mer", deliveries.BUCKETS), ("er", deliveries.EPISODES)):
    made = own_learner.learner(net(), name).make(delivery)
    assert made._optimizer == optimizers.Momentum(0.0)


@pytest.mark.parametrize("make, message", [
    (lambda: own_learner.learner(net(), "der_pluss"), "no method 'der_pluss'.* Nearest: der_plus_"),
    (lambda: own_learner.learner(net(), "er", memory=3), "'er'.* has no setting 'memory'; it has .*"
     "Nearest: memory_size"),
    (lambda: own_learner.learner(net(), "maml_low"), "makes a network of its own and takes no mod"),
    (lambda: own_learner.learner(net(), "er", loss=len), "takes no loss, which is for finetune"),
    (lambda: own_learner.learner(net(), "er").make(deliveries.TASKS), "'er' does not run under ne"),
    (lambda: own_learner.learner(net(), "er", memory_size=0.5).make(deliveries.BUCKETS),
     "it takes a whole number"),
    (lambda: own_learner.learner(net(), "slda", epochs=3), "has no setting 'epochs'"),
    (lambda: own_learner.learner(net(), "slda", optimizer=tf.keras.optimizers.Adam),
     "has no setting 'optimizer'"),
    (lambda: own_learner.learner(net(), "indep", optimizer=3), "optimizer made int"),
    (lambda: own_learner.learner(net(), "er", size=8), "as image_size= .8 was given as size="),
    (lambda: python_run.run("quickstart", learners=["er"]), "'er' does not run under nevis"),
    (lambda: python_run.run("quickstart", learners={"a": 1}), "its learners may be replaced by"),
    (lambda: python_run.run("quickstart", seeds=3), r"seeds is 3; give a list of whole numbers"),
    (lambda: python_run.run("quickstart", seeds=[0, 0]), "give each seed once")])
def test_mistakes_are_said_before_anything_is_trained(make, message):
  with pytest.raises(ValueError, match=message):
    make()


def test_a_run_takes_methods_in_place_of_its_learners(tmp_path):
  file = run_settings.find("digits/clear", methods=["er"], params=["memory_size=7"])
  run = launch.experiment_run(
      file, run_settings.RunSettings(workdir=str(tmp_path / "w")),
      instead=lambda protocol, learners, seed, distribution: {
          name: make() for name, make in learners.items()})
  er = run()["er"]
  assert er.memory.capacity == 7 and not isinstance(er.net, own_model.Backbone)


def test_a_run_with_several_seeds_is_a_table_of_one_row(tmp_path, monkeypatch):
  file = run_settings.find("digits/clear", methods=["er"], params=["MEMORY=7"])
  settings = run_settings.RunSettings(workdir=str(tmp_path / "w"))
  cells = launch.table_run(file, settings, seeds=[0, 3], instead=lambda chosen, waiting: waiting)()
  assert [cell.seed for cell in cells] == [0, 3]
  command = cells[1].job(settings).command
  assert command[command.index("--methods") + 1] == "er"
  assert command[-4:] == ["--gin_param", "experiment.run.seed=3", "--gin_param", "MEMORY=7"]
  assert launch.seeded(file, 5, None).params[-1] == "experiment.run.seed=5"
  table = run_settings.find("digits/cfsl_table")
  assert launch.seeded(table, None, [4, 5]).params == ["table.run.seeds=(4, 5)"]
  with pytest.raises(gin_files.ConfigError, match="leave one of them out"):
    launch.seeded(file, 1, [2])
  # The report: a line for each learner, mean and deviation.
  of_table = table_dir.TableDir(tmp_path / "t", "one/run", "", ["one/run"], ["clear"], [0, 1],
                                {"accuracy": "accuracy"})
  monkeypatch.setattr(table_dir.TableDir, "learners", lambda self, row: ["er", "ewc"])
  monkeypatch.setattr(table_dir.TableDir, "summaries", lambda self, row, column, learner: {
      0: {"accuracy": 0.25}, 1: {"accuracy": 0.75}})
  (tmp_path / "t").mkdir()
  (tmp_path / "t" / table_dir.FILE).write_text(of_table.text())
  lines = tables.report([tmp_path / "t"]).splitlines()
  assert any(line.split() == ["er", "50.00", "±35.36"] for line in lines), lines
