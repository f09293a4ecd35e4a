# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22's MT, PT, PT+FT-d and FT-s on a stream whose tasks are known to help one another.

A task has textures as classes, of one of two families. A small net needs more images than a later
task has to tell textures of its family apart, unless it has seen others of them.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import shutil

import numpy as np
import pytest
import stopped_runs

from suite.contracts import deliveries
from suite.contracts import refusals
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.streams import streams
from suite.learners import finetune
from suite.learners import starts
from suite.models import conv4
from suite.protocols import nevis
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import gradient_loop
from suite.training.gradient import search
from suite.training.gradient import trainer
from suite.training.multitask import auxiliary

SIZE = 8
NET = functools.partial(conv4.conv4, filters=8, blocks=2)


def _texture(rng, family, label):
  """An image of a class: the orientation of a wave, or the place of a spot, in random colors."""
  y, x = np.mgrid[:SIZE, :SIZE]
  if family == "waves":
    angle = label * np.pi / 4
    shape = np.sin((np.cos(angle) * x + np.sin(angle) * y) * 1.6 + rng.uniform(0, 2 * np.pi)) > 0
  else:
    row, column = divmod(label, 2)
    shape = (abs(y - 1.5 - 4 * row) <= 1) & (abs(x - 1.5 - 4 * column) <= 1)
  ink, paper = rng.uniform(0, 255, [2, 3])
  image = np.where(shape[..., None], ink, paper) + rng.normal(0, 12, [SIZE, SIZE, 3])
  return np.clip(image, 0, 255).astype(np.uint8)


def _splits(name, family, num_train, seed):
  rng, parts = np.random.default_rng(seed), {}
  for split, num in (("train", num_train), ("dev", 60), ("validation", 40), ("test", 120)):
    labels = np.arange(num) % 4
    images = np.stack([_texture(rng, family, label) for label in labels])
    parts[split] = image_set.ImageSet.from_arrays(
        f"{name} {split}", images, labels, kind="single_label", num_classes=4,
        ids=[f"{split}{i}" for i in range(num)])
  return parts


NAMES = ["waves", "spots", "few_waves"]


@pytest.fixture(name="stream", scope="module")
def _stream():
  """Many waves, many spots, then a few waves: the first task helps the third, not the second."""
  return streams.of([_splits("waves", "waves", 400, 0), _splits("spots", "spots", 400, 1),
                     _splits("few waves", "waves", 24, 2)], names=NAMES)


# Every set is a multiple of the batch size: a last, smaller batch would be traced again.
NEAREST = starts.Nearest(batch_size=8)


def _learner(start=starts.Random(), rule=None, *, models=None, **arguments):
  """Learners of the same `models`, those of another one, compile one net together."""
  multitask = None if rule is None else auxiliary.Multitask(rule, batch_size=16, weight=1.0)
  learner = finetune.Finetune(
      NET, start=start, multitask=multitask,
      transform=image_ops.Plain(SIZE),
      search=search.Search(num_trials=1, learning_rate=0.05, label_smoothing=0.0),
      trainer=trainer.Trainer(steps=60, batch_size=16, validate_every=20, save_every=20,
                              warmup_epochs=0, eval_batch_size=20), **arguments)
  if models is not None:
    learner._models = models
  return learner


def _run(folder, stream, learner, **stop):
  with stopped_runs.state(folder, **stop) as state:
    return nevis.run(learner, state=state, stream=stream, eval_batch_size=20)


@pytest.fixture(name="runs", scope="module")
def _runs(stream, tmp_path_factory):
  """Runs in WORKDIR/name: name -> (summary, Train records); "folder" is WORKDIR.

  WORKDIR/killed is MT's, as it is saved after 40 of 60 steps of the second task. "models" are those
  that all learners share.
  """
  folder = tmp_path_factory.mktemp("runs")
  indep, save, saved = _learner(), journal.Journal.save_partial, []
  models = indep._models
  learners = {"indep": indep, "ft_d": _learner(NEAREST, models=models), "mt": _mt(models=models)}
  found = {"folder": folder, "models": models}

  def copying(one, *arguments):
    save(one, *arguments)
    saved.append(one._event)
    if saved == [0, 0, 2, 2]:
      shutil.copytree(folder / "mt", folder / "killed")

  for name, learner in learners.items():
    with pytest.MonkeyPatch.context() as patch:
      if name == "mt":
        patch.setattr(journal.Journal, "save_partial", copying)
      summary = _run(folder / name, stream, learner)
    found[name] = summary, _trained(folder / name)
  return found


def _mt(**arguments):
  return _learner(NEAREST, auxiliary.Similar(1), **arguments)


def _trained(folder):
  return [r for r in stopped_runs.records(folder) if r["kind"] == "train"]


def test_ft_d_finds_the_source(runs):
  last = {name: runs[name][1][2]["start"]["from"] for name in ("indep", "ft_d", "mt")}
  # MT's net of the spots had waves beside them: either of its nets is near.
  assert last.pop("mt") in ("waves", "spots")
  assert last == {"indep": "random", "ft_d": "waves"}  # Not the previous task, the spots.
  errors = {name: runs[name][0]["errors"]["few_waves"] for name in last}
  assert errors["ft_d"] < errors["indep"] - 0.1


def test_mt_gains_where_data_is_scarce(runs):
  (summary, records), (other, its) = runs["mt"], runs["ft_d"]
  assert [r.get("auxiliary", {}).get("tasks") for r in records] == [
      None, {"waves": 400}, {records[2]["start"]["from"]: 400}]
  assert summary["errors"]["few_waves"] < other["errors"]["few_waves"]
  # 16 auxiliary images beside 16 in each of 60 steps of two tasks, in the phase of training.
  assert records[2]["examples_train"] - its[2]["examples_train"] == 2 * 60 * 16
  assert records[0]["flops_train"] == its[0]["flops_train"]
  assert 1.3 < records[2]["flops_train"] / its[2]["flops_train"] < 1.7


def _static(folder, static, stream, runs):
  learner = _learner(NEAREST, static=static, models=runs["models"])
  with pytest.raises(stopped_runs.Stop):
    _run(folder, stream, learner, stop_after=3)
  return _trained(folder)


def _without(records, *names):
  costs = ("flops", "macs", "examples", "steps")
  return [{key: value for key, value in record.items()
           if key.split("_")[0] not in costs and key not in names} for record in records]


def test_ft_s_takes_the_models_of_an_indep_run_or_trains_the_same_and_pays(runs, stream, tmp_path):
  reused = _static(runs["folder"] / "ft_s", "indep", stream, runs)
  paid = _static(tmp_path / "ft_s", "indep", stream, runs)  # There is no such run.
  assert [r["independent_models"] for r in reused] == ["indep"] * 2
  assert [r["independent_models"] for r in paid] == ["trained here"] * 2
  assert _without(reused, "independent_models") == _without(paid, "independent_models")
  assert reused[1]["start"]["candidates"] and paid[1]["steps"] == 2 * reused[1]["steps"]
  assert paid[1]["flops_select"] == (
      reused[1]["flops_select"] + reused[1]["flops_train"])  # Validation is a phase of its own.


def test_a_run_that_lacks_a_task_or_has_another_architecture_is_refused(runs, stream, tmp_path):
  shutil.copytree(runs["folder"] / "indep", tmp_path / "other")
  first = tmp_path / "other" / "weights" / "000000.waves.npz"
  arrays = weight_store.read_arrays(first)
  weight_store.write_arrays(first, {k: a[..., :3] if a.ndim == 4 else a for k, a in arrays.items()})
  with pytest.raises(ValueError, match=r"weights in .*other \(waves\) are of another architecture "
                     r"than the backbone .*/kernel is \[3, 3, 3, 8\] here and \[3, 3, 3, 3\]"):
    _static(tmp_path / "a", str(tmp_path / "other"), stream, runs)
  first.unlink()
  with pytest.raises(FileNotFoundError, match="has none of 'waves' as event 0; it has .*Run it f"):
    _static(tmp_path / "a", str(tmp_path / "other"), stream, runs)


def test_stopped_inside_auxiliary_batches_it_ends_as_if_it_had_not_been(
    runs, stream, monkeypatch):
  killed, calls, run = runs["folder"] / "killed", [], gradient_loop.GradientLoop.run
  assert len(stopped_runs.records(killed)) == 2
  monkeypatch.setattr(
      gradient_loop.GradientLoop, "run", lambda *arguments: (calls.append(1), run(*arguments))[1])
  with pytest.raises(stopped_runs.Stop):
    _run(killed, stream, _mt(), stop_after=4)
  assert len(calls) == 1  # Only the last 20 steps were to be taken.
  wanted = stopped_runs.records(runs["folder"] / "mt")[:4]
  assert json.dumps(stopped_runs.records(killed)) == json.dumps(wanted)


def test_an_auxiliary_task_whose_data_was_not_delivered_is_refused(stream, tmp_path):
  store = weight_store.WeightStore(tmp_path / "weights", -1)
  with pytest.raises(stopped_runs.Stop):
    _run(tmp_path, stream, _learner(rule=auxiliary.EveryTask()), stop_before=0)
  store.folder.mkdir()
  weight_store.write_arrays(store.folder / "000000.gone.npz", {"0000": np.zeros(1)})
  with stopped_runs.state(tmp_path) as state:
    context = dataclasses.replace(state.context(), event=1, store=weight_store.WeightStore(
        store.folder, 1))
    learner = _learner(rule=auxiliary.EveryTask())
    experience = stream.deliver(stream.events()[0])
    learner.begin(experience.task, context)
    with pytest.raises(ValueError, match="Auxiliary task 'gone' has no data: Task 'gone' has not"):
      learner.learn(experience, context)


@pytest.mark.parametrize("arguments, message", [
    (dict(start=starts.Previous(), rule=auxiliary.Similar(1)), "Similar chooses auxiliary "
     "tasks by the kNN errors of past models, which start Previous does not compute"),
    (dict(start=NEAREST, rule=auxiliary.EveryTask(), static=True), "static and mul"),
])
def test_auxiliary_tasks_that_cannot_be_chosen_are_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    _learner(**arguments)


def test_lambda_is_searched_only_by_learners_that_read_it(stream):
  space = search.Search(num_trials=1, space={"auxiliary_weight": (0.1, 1.0)})
  with pytest.raises(ValueError, match="Unknown parameters in Search.space: 'auxiliary_weight'"):
    finetune.Finetune(NET, search=space)
  finetune.Finetune(NET, search=space, start=NEAREST, multitask=auxiliary.Multitask())


def test_buckets_of_one_task_have_no_other_tasks():
  with pytest.raises(ValueError, match="Finetune cannot be given the buckets of one task"):
    refusals.check_learner(_mt(), deliveries.BUCKETS)
