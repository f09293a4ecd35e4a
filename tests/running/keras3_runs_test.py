# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Models of Keras 3 under every protocol: counted like those of tf.keras, resumed byte for byte."""

from __future__ import annotations

import functools
import os
import pathlib

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

import suite
from suite.compute import distribution
from suite.contracts import deliveries
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.data.own import image_sources
from suite.data.sequences import sequences
from suite.data.streams import buckets
from suite.data.streams import streams
from suite.learners import finetune
from suite.learners import pretrainer
from suite.protocols import cfsl
from suite.protocols import clear
from suite.protocols import fluid
from suite.protocols import nevis
from suite.protocols import pretrain
from suite.running import object_run
from suite.running import own_learner
from suite.training.episodic import inner_loop
from suite.training.gradient import optimizers
from suite.training.gradient import search
from suite.training.gradient import trainer
from suite.training.pretraining import pretexts
from suite.training.sequence import update_strategies

keras = pytest.importorskip(
    "keras", minversion="3", reason="needs Keras 3, which TensorFlow 2.16 and later bring")
SHAPE = (4, 4, 1)
ROOT = pathlib.Path(suite.__file__).parents[1]
on: distribution.Distribution | None = None  # The devices of all runs; None: one.
# One process has two devices.
ON_TWO = """
import functools, pathlib, sys
from suite.compute import distribution
two = distribution.build("mirrored", 2)
import keras3_runs_test as runs
runs.on = two
runs.resumed(pathlib.Path(sys.argv[1]), functools.partial(runs.fine_tuning, runs.with_draws()),
             runs.nevis.run, 1, stream=runs.streams.of([runs.images(), runs.images(classes=2)]))
"""


def net(kit, *middle, last=6):
  return kit.Sequential([
      kit.layers.InputLayer(SHAPE), kit.layers.Rescaling(1 / 255),
      kit.layers.Conv2D(3, 3, use_bias=False), kit.layers.BatchNormalization(),
      kit.layers.Flatten(), *middle, kit.layers.Dense(last, "relu")])


def with_draws():
  return net(keras, keras.layers.Dropout(0.5))


def images(num=40, classes=3, seed=0):
  """Classes by brightness."""
  rng, labels = np.random.default_rng(seed), np.arange(num) % classes
  pixels = rng.integers(0, 40, [num, *SHAPE]) + 90 * labels[:, None, None, None]
  return image_sources.from_arrays(pixels.astype(np.uint8), labels, name=f"set{classes}")


def two_buckets():
  return buckets.of([(images(seed=i), images(12, seed=9 + i)) for i in range(2)])


def sequence():
  return sequences.of(images(48, seed=3), num_base_classes=2)


def run(folder, make, protocol, stop_before=None, **settings):
  with stopped_runs.state(folder, stop_before=stop_before, on=on) as state:
    return protocol(make(), state=state, **settings)


def resumed(folder, make, protocol, stop_before, **settings):
  """Records of a run that was stopped and resumed; they equal those of one that was not."""
  run(folder / "whole", make, protocol, **settings)
  with pytest.raises(stopped_runs.Stop):
    run(folder / "stopped", make, protocol, stop_before=stop_before, **settings)
  run(folder / "stopped", make, protocol, **settings)
  found = stopped_runs.records(folder / "whole")
  assert stopped_runs.records(folder / "stopped") == found
  return found


def test_a_run_on_buckets_is_counted_and_resumed(tmp_path):
  mine = own_learner.learner(
      with_draws(), optimizer=keras.optimizers.AdamW(
          keras.optimizers.schedules.ExponentialDecay(0.05, 4, 0.5)),
      loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
      augment=keras.layers.RandomBrightness(0.05), epochs=2, batch_size=16)
  mine.options["optimizer"] = optimizers.Keras(keras.optimizers.Nadam(0.01), keep=True)
  found = resumed(tmp_path, functools.partial(mine.make, deliveries.BUCKETS), clear.run, 3,
                  buckets=two_buckets())
  counted = []
  for kit in (keras, tf.keras):
    plain = own_learner.learner(net(kit), epochs=1, batch_size=16,
                                optimizer=kit.optimizers.SGD(0.05, momentum=0.9))
    run(tmp_path / kit.__name__, functools.partial(plain.make, deliveries.BUCKETS), clear.run,
        buckets=two_buckets())
    counted.append(stopped_runs.records(tmp_path / kit.__name__)[0]["flops_train"])
  assert found[0]["flops_train"] > 0 and counted[0] == pytest.approx(counted[1], rel=0.05)


@pytest.mark.parametrize("head", ["own", "replace"])
def test_runs_on_tasks_are_resumed(head, tmp_path):
  def made(image_shape, num_classes):
    return net(keras, keras.layers.Dropout(0.3), last=num_classes)

  mine = own_learner.learner(
      made, transform=image_ops.Plain(size=4, channels=1), head=head, epochs=1)
  found = resumed(tmp_path, functools.partial(mine.make, deliveries.TASKS), nevis.run, 1,
                  stream=streams.of([images(), images(classes=2)]))
  assert found[0]["flops_train"] > 0


def fine_tuning(model):
  return finetune.Finetune(
      model, search=search.Search(num_trials=1, learning_rate=0.01, label_smoothing=0.0),
      trainer=trainer.Trainer(steps=6, batch_size=8, validate_every=2, save_every=2,
                              optimizer=keras.optimizers.Adam()),
      transform=own_learner.learner(model).transform)


def test_two_devices_train_a_model_and_resume(python, tmp_path):
  paths = [ROOT, ROOT / "tests" / "shared", ROOT / "tests" / "running"]
  done = python.run(["-c", ON_TWO, str(tmp_path)], timeout=500, env={
      **os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.pathsep.join(map(str, paths))})
  assert done.returncode == 0, done.stderr[-3000:]
  errors = [r["error"] for r in stopped_runs.records(tmp_path / "whole") if "error" in r]
  assert errors and np.isfinite(errors).all()


def test_fine_tuning_is_resumed_within_a_training(tmp_path, monkeypatch):
  make = functools.partial(fine_tuning, with_draws())
  stream = streams.of([images()])
  run(tmp_path / "whole", make, nevis.run, stream=stream)
  save = trainer._Run.save
  with monkeypatch.context() as patched:
    patched.setattr(trainer._Run, "save", stopped_runs.stopping(
        save, lambda one: one.step == 4, after=True))
    with pytest.raises(stopped_runs.Stop):
      run(tmp_path / "stopped", make, nevis.run, stream=stream)
  run(tmp_path / "stopped", make, nevis.run, stream=stream)
  assert stopped_runs.records(tmp_path / "stopped") == stopped_runs.records(tmp_path / "whole")


def test_a_sequence_is_learned_and_its_macs_are_those_of_the_same_tf_keras_net(tmp_path):
  base = images(36).subset(np.flatnonzero(np.arange(36) % 3 < 2))
  macs = []
  for kit in (keras, tf.keras):
    mine = own_learner.learner(net(kit), epochs=1, batch_size=8)
    run(tmp_path / kit.__name__, functools.partial(mine.make, deliveries.SEQUENCE), fluid.run,
        sequence=sequence(), base=base, update=update_strategies.Every(16))
    last = stopped_runs.records(tmp_path / kit.__name__)[-1]
    macs.append({key: value for key, value in last.items() if key.startswith("macs_")})
  assert macs[0] and macs[0] == macs[1]


@pytest.mark.parametrize("method", ["protonet", "maml", "pretrain_tune"])
def test_episodes_are_learned_as_with_the_same_tf_keras_net_and_resumed(method, tmp_path):
  def make(kit, model):
    return own_learner.learner(
        model, method, optimizer=kit.optimizers.Adam(0.01),
        **({"num_classes": 10} if method == "pretrain_tune" else {}),
        inner=inner_loop.InnerLoop(steps=2, rate=0.1, extend_rows=True,
                                   learn_rates=method == "maml")).make(deliveries.EPISODES)

  def model(kit):
    return kit.Sequential([
        kit.layers.InputLayer((8, 8, 3)), kit.layers.Rescaling(1 / 255),
        kit.layers.Conv2D(3, 3), kit.layers.BatchNormalization(epsilon=0.0011),
        kit.layers.ReLU(), kit.layers.LayerNormalization(epsilon=0.001), kit.layers.Flatten()])

  settings = dict(
      updates=4, updates_per_event=2, test_episodes=4,
      episodes_train=digits.episodes(way=2, **({"with_classes": True} if method == "pretrain_tune"
                                               else {})),
      episodes_test=digits.episodes("test", way=2))
  ours, theirs = model(keras), model(tf.keras)
  ours.layers[1].kernel.assign(np.random.default_rng(0).normal(0.0, 0.2, [3, 3, 3, 3]))
  theirs.set_weights(ours.get_weights())
  found = resumed(tmp_path / "keras3", lambda: make(keras, ours), cfsl.run, 1, **settings)
  run(tmp_path / "tf", lambda: make(tf.keras, theirs), cfsl.run, **settings)
  other = stopped_runs.records(tmp_path / "tf")
  for name in ("macs", "macs_per_task"):
    assert [r.get(name) for r in found] == [r.get(name) for r in other]
  # Of the first updates: Adam's make differences of rounding larger.
  assert found[0]["loss"] == pytest.approx(other[0]["loss"], rel=1e-3)


def test_a_backbone_is_pretrained_and_resumed(tmp_path):
  def backbone(image_shape):
    return keras.Sequential([
        keras.Input(image_shape), keras.layers.Conv2D(3, 3), keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.2), keras.layers.GlobalAveragePooling2D()])

  def make():
    return pretrainer.Pretrainer(
        pretext=pretexts.Supervised, backbone=backbone, batch_size=8, learning_rate=0.1,
        transform=image_ops.Plain(size=4, channels=3))

  colored = image_sources.from_arrays(
      np.repeat(np.random.default_rng(0).integers(0, 255, [40, 4, 4, 1]), 3, -1).astype(np.uint8),
      np.arange(40) % 3, name="colored")
  found = resumed(tmp_path, make, pretrain.run, 1, images=colored, updates=4, updates_per_event=2,
                  labelled=True)
  assert found[0]["flops_pretrain"] > 0


def test_models_in_suite_run_are_described_the_same_in_every_process():
  texts = [object_run.text(own_learner.learner(
      keras.models.clone_model(model), optimizer=keras.optimizers.Adam(),
      augment=[keras.layers.RandomRotation(0.1)])) for model in [with_draws()] * 2]
  assert texts[0].replace("#", "") and texts[0].split("#")[0] == texts[1].split("#")[0]
