# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22's PT-MT, PT-ext and PT+FT-d: what they start from, and what that costs."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest
import stopped_runs

from suite.data.digits import digits
from suite.data.images import image_ops
from suite.data.streams import task_mixture
from suite.learners import finetune
from suite.learners import pretrainer
from suite.learners import starts
from suite.models import conv4
from suite.protocols import nevis
from suite.protocols import pretrain
from suite.state import encoder_file
from suite.training.gradient import search
from suite.training.gradient import trainer
from suite.training.pretraining import pretexts

NET = functools.partial(conv4.conv4, filters=8, blocks=1)
TRANSFORM = image_ops.Plain(8)


@pytest.fixture(name="stream", scope="module")
def _stream():
  return digits.nevis_stream(max_train_images=200, num_tasks=4)


def _pretrain(folder, images, *, pretext=pretexts.Multitask, updates=60):
  learner = pretrainer.Pretrainer(pretext=pretext, backbone=NET, transform=TRANSFORM,
                                  batch_size=32, learning_rate=0.1)
  with stopped_runs.state(folder) as state:
    return learner, pretrain.run(learner, state=state, images=images, updates=updates,
                                 updates_per_event=20, labelled=True)


@pytest.fixture(name="pretrained", scope="module")
def _pretrained(stream, tmp_path_factory):
  """The directory, learner and summary of a pretraining on four tasks, one of them multi-label."""
  folder = tmp_path_factory.mktemp("pretrain") / "pt_mt"
  images = task_mixture.all_tasks(stream, groups=4)
  assert images.names == ("digits_0_4", "digits_rotated", "digits", "digits_mosaic")
  return (folder, *_pretrain(folder, images))


@pytest.fixture(name="models", scope="module")
def _models():
  """The compiled nets of all learners with NET."""
  return _learner(starts.Random())._models


def _learner(start, models=None, backbone=NET):
  learner = finetune.Finetune(
      backbone, start=start, transform=TRANSFORM,
      search=search.Search(num_trials=1, learning_rate=0.05, label_smoothing=0.0),
      trainer=trainer.Trainer(steps=20, batch_size=16, validate_every=10, warmup_epochs=0,
                                  eval_batch_size=64))
  if models is not None:
    learner._models = models
  return learner


def _records(folder, stream, start, *, stop_after=1, **arguments):
  with pytest.raises(stopped_runs.Stop), stopped_runs.state(
      folder, stop_after=stop_after) as state:
    nevis.run(_learner(start, **arguments), state=state, stream=stream)
  return [r for r in stopped_runs.records(folder) if r["kind"] == "train"]


def test_several_tasks_are_learned_together(pretrained):
  """How a run is resumed: tests/protocols/pretrain_test.py."""
  folder, learner, summary = pretrained
  assert summary["last_loss"] < summary["first_loss"] - 0.2
  saved = {id(variable) for variable in learner.variables}
  assert saved >= {id(variable) for variable in learner.pretext.model.variables}
  for one, other in zip(encoder_file.load(folder).weights, learner.encoder.get_weights()):
    np.testing.assert_array_equal(one, other)


def test_each_task_starts_from_the_encoder_whose_cost_is_charged_once(
    stream, pretrained, models, tmp_path):
  folder, _, summary = pretrained
  cost = json.loads((folder / "encoder.json").read_text())["cost"]
  assert cost == {name: summary[name] for name in ("flops", "macs", "examples", "steps")}
  first, second = _records(tmp_path, stream, starts.Pretrained(str(folder), year=2009),
                           stop_after=3, models=models)
  for record in (first, second):
    assert record["pretrained_year"] == 2009  # The encoder does not say it.
    assert record["start"] == {"from": "pretrained", "candidates": {}}
    assert record["pretrained"] == summary["encoder_digest"]
    assert {name: record[f"{name}_pretrain"] for name in cost} == cost
  assert first["flops"] == sum(
      first[f"flops_{phase}"] for phase in ("pretrain", "train", "validate"))


def test_a_pretrained_model_is_one_of_the_candidates(stream, pretrained, models, tmp_path):
  folder, *_ = pretrained
  start = starts.Nearest(k=3, pretrained=starts.Pretrained(str(folder)))
  first, second = _records(tmp_path, stream, start, stop_after=3, models=models)
  assert first["start"] == {"from": "pretrained", "candidates": {}}
  candidates = second["start"]["candidates"]
  assert sorted(candidates) == ["digits_0_4", "pretrained"]
  # Pretrained on these very images for longer than the first task was learned.
  assert second["start"]["from"] == "pretrained"
  assert candidates["pretrained"] < candidates["digits_0_4"]


def test_a_model_of_the_user_comes_with_its_weights_and_perhaps_without_a_cost(stream, tmp_path):
  model = NET((8, 8, 3))
  record, = _records(tmp_path, stream, starts.Pretrained(), backbone=model)
  assert record["pretrained"] == encoder_file.digest(model.get_weights())
  assert record["flops_pretrain"] is record["flops"] is None and record["flops_train"] > 0


def test_what_is_no_pretrained_model_is_refused(stream, pretrained, models, tmp_path):
  def refused(error, message, start, **other):
    with stopped_runs.state(tmp_path) as state, pytest.raises(error, match=message):
      nevis.run(_learner(start, **(other or {"models": models})), state=state, stream=stream)

  folder = str(pretrained[0])
  refused(ValueError, "Pretrained.encoder is None, but the backbone 'conv4' comes with random wei",
          starts.Pretrained())
  refused(ValueError, r"weights in .*pt_mt are of another architecture than the backbone 'conv4' "
          r"\(\d+ arrays, \d+ here\): block1\S*/kernel is \[3, 3, 3, 5\] here and \[3, 3, 3, 8\] "
          r"there; .*; and \d+ more. Give the backbone",
          starts.Pretrained(folder), backbone=functools.partial(conv4.conv4, filters=5, blocks=2))
  refused(ValueError, r"\d+ weights from block2\S* on are missing there",
          starts.Pretrained(folder), backbone=functools.partial(conv4.conv4, filters=8, blocks=2))
  refused(FileNotFoundError, "There is no file of weights 'no.npz'", starts.Pretrained("no.npz"))
  refused(FileNotFoundError, "nowhere has no encoder.npz", starts.Pretrained("nowhere"))


def test_sets_and_pretexts_must_belong_together(stream, tmp_path):
  images = task_mixture.one_task(stream, "digits")
  assert images.name.startswith("digits") and images.num_classes == 10
  with pytest.raises(ValueError, match="Supervised learns single_label tasks; 'digits, first 4, "
                     "meta-train tasks' is multi_label. Take pretexts.Multitask"):
    _pretrain(tmp_path, task_mixture.all_tasks(stream, groups=2),
              pretext=pretexts.Supervised)
  with pytest.raises(ValueError, match="no meta-train task 'cub'; it has digits_0_4, digits_rot"):
    task_mixture.one_task(stream, "cub")
