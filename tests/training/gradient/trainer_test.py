# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The recipe around the gradient loop, with a network that only counts its steps."""

from __future__ import annotations

import types

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.state import context as context_lib
from suite.state import journal
from suite.state import snapshots
from suite.state import weight_store
from suite.training.gradient import trainer as trainer_lib
from suite.training.scoring import scoring

CLASSES = 10
HYPER = {"learning_rate": 0.1, "label_smoothing": 0.2}


class Loop:
  """A loop of loss 1 a step; `lost_at` is the step whose loss is NaN."""

  def __init__(self, lost_at=None):
    self.step, self.calls, self.configured, self.lost_at = 0, [], None, lost_at

  def configure(self, **values):
    self.configured = values

  def reset_optimizer(self):
    self.step = 0

  def begin_draws(self, seed):
    """Nothing of it draws."""

  def run(self, iterator, num_steps, complete=None):
    assert complete is None
    del iterator
    self.calls.append(num_steps)
    before, self.step = self.step, self.step + num_steps
    is_lost = self.lost_at is not None and before < self.lost_at <= self.step
    return float("nan") if is_lost else float(num_steps)

  def state(self):
    return [np.array(self.step)]

  def restore(self, arrays):
    self.step = int(arrays[0])


class Network:
  """Its only weight is its step; at step s it is wrong about the share errors[s] of the images.

  At step 0 the share is 0.9 if `errors` does not say.
  """

  def __init__(self, errors, lost_at=None):
    self.loop, self.score, self._errors = Loop(lost_at), self, {0: 0.9, **errors}
    self.seen = []

  def set_weights(self, weights):
    self.start = weights

  def get_weights(self):
    return [np.array(self.loop.step)]

  def counted_loop(self, spec):
    assert spec["image"].shape == (4, 2, 2, 3)
    return types.SimpleNamespace(cost=lambda spec: flops.Cost(100, 30))

  def run(self, made, *, transform, batch_size, ledger, phase, batches):
    del transform, batch_size, ledger
    assert phase == "validate" and sum(len(batch["id"]) for batch in batches) >= made.size
    self.seen.append(made.ids.tolist())
    wrong = round(self._errors[self.loop.step] * made.size)
    answers = np.where(np.arange(made.size) < wrong, (made.labels + 1) % CLASSES, made.labels)
    return scoring.Outputs(made.ids, made.labels, np.eye(CLASSES)[answers])


def _set(num):
  return image_set.ImageSet.from_arrays(
      "s", np.zeros([num, 2, 2, 3], np.uint8), np.arange(num) % CLASSES, kind=tasks.SINGLE_LABEL,
      num_classes=CLASSES)


EXPERIENCE = types.SimpleNamespace(
    task=tasks.Task("t", tasks.SINGLE_LABEL, CLASSES), train=_set(20), dev=_set(10))


def _context(folder, ledger=None, disk=None, reports=None, event=0):
  ledger = ledger or ledger_lib.Ledger()
  return context_lib.Context(event=event,
                             ledger=ledger,
                             seeds=seeds.Seeds(7),
                             distribution=distribution.build(),
                             store=weight_store.WeightStore(folder, event),
                             journal=journal.Journal(event, ledger, disk),
                             report=lambda **values: None
                             if reports is None else reports.append(values))


def _fit(network, context, key="t/trial0", **values):
  trainer = trainer_lib.Trainer(**{"batch_size": 4, "warmup_epochs": 0, **values})
  return trainer.fit(network,
                     EXPERIENCE,
                     start=[np.array(-1)],
                     hyper=HYPER,
                     transform=image_ops.Plain(2),
                     context=context,
                     seeds=context.seeds.child("trial", 0),
                     key=key,
                     phase="train",
                     save_as="best")


def test_the_best_weights_are_kept_and_the_curve_says_why(tmp_path):
  ledger, reports = ledger_lib.Ledger(), []
  context = _context(tmp_path, ledger, reports=reports)
  network = Network({2: 0.5, 4: 0.2, 6: 0.4, 7: 0.2})
  result = _fit(network, context, steps=7, validate_every=2, save_every=100)
  assert result == {
      "status": "done", "validation_error": 0.2, "best_step": 4, "batch_size": 4,
      # The first of equals.
      "curve": [[0, None, 0.9], [2, 1.0, 0.5], [4, 1.0, 0.2], [6, 1.0, 0.4], [7, 1.0, 0.2]]}
  assert context.store.load(context.store.own("best")) == [np.array(4)]
  assert network.start == [np.array(-1)]
  totals = ledger.totals()
  assert (totals["flops_train"], totals["macs_train"]) == (700, 210)
  assert (totals["steps_train"], totals["examples_train"]) == (7, 28)
  assert [r["step"] for r in reports] == [0, 2, 4, 6, 7]
  assert reports[2] == {
      "key": "t/trial0", "step": 4, "steps": 7, "loss": 1.0, "validation_error": 0.2
  }


def test_the_errors_of_the_chief_decide_which_weights_are_the_best(tmp_path):
  chief, context = {0.2: 0.3, 0.3: 0.2}, _context(tmp_path)
  context.distribution.agreed = lambda error: chief.get(error, error)
  network = Network({2: 0.2, 4: 0.3})
  result = _fit(network, context, steps=4, validate_every=2, save_every=100)
  assert (result["best_step"], result["validation_error"]) == (4, 0.2)
  assert context.store.load(context.store.own("best")) == [np.array(4)]


def test_step_0_is_measured_but_never_the_result(tmp_path):
  context = _context(tmp_path)
  result = _fit(Network({0: 0.1, 1: 0.6, 2: 0.5}), context, steps=2, validate_every=1)
  assert result["curve"] == [[0, None, 0.1], [1, 1.0, 0.6], [2, 1.0, 0.5]]
  assert (result["best_step"], result["validation_error"]) == (2, 0.5)
  assert context.store.load(context.store.own("best")) == [np.array(2)]


@pytest.mark.parametrize("steps, validate_every, save_every, expected", [
    (7, 2, 100, [2, 2, 2, 1]),
    (6, 2, 3, [2, 1, 1, 2]),
    (5, 9, 9, [5]),
    (6, 6, 6, [6]),
    (3, 1, 1, [1, 1, 1]),
    (7, 3, 5, [3, 2, 1, 1]),
])
def test_runs_stop_at_every_validation_save_and_the_end(tmp_path, steps, validate_every, save_every,
                                                        expected):
  network = Network(dict.fromkeys(range(steps + 1), 0.5))
  result = _fit(network,
                _context(tmp_path),
                steps=steps,
                validate_every=validate_every,
                save_every=save_every)
  assert network.loop.calls == expected
  points = [s for s in range(1, steps + 1) if s % validate_every == 0 or s == steps]
  assert [p[0] for p in result["curve"]] == [0, *points]
  assert all(p[1] == 1.0 for p in result["curve"][1:])  # Mean loss a step, over saves too.


def test_a_loss_that_is_not_finite_ends_the_trial(tmp_path):
  ledger = ledger_lib.Ledger()
  context = _context(tmp_path, ledger)
  result = _fit(Network({2: 0.5}, lost_at=3), context, steps=8, validate_every=2, save_every=100)
  assert result == {
      "status": "failed", "validation_error": None, "best_step": None, "batch_size": 4,
      "curve": [[0, None, 0.9], [2, 1.0, 0.5]]
  }
  assert ledger.totals()["steps_train"] == 4  # What was spent is paid for all the same.
  with pytest.raises(FileNotFoundError):
    context.store.load(context.store.own("best"))


@pytest.mark.parametrize("epochs, steps, expected", [
    (7, 100, 42),  # 20 images in batches of 4: 5 and one more steps an epoch.
    (7, 30, 29),  # Never the whole training.
    (0, 30, 0),
    (0.5, 30, 3),
])
def test_warm_up_is_in_epochs_and_ends_before_the_training(tmp_path, epochs, steps, expected):
  network = Network({steps: 0.5})
  _fit(network,
       _context(tmp_path),
       steps=steps,
       validate_every=steps,
       save_every=steps,
       warmup_epochs=epochs)
  assert network.loop.configured == {
      "peak_rate": 0.1, "warmup_steps": expected, "total_steps": steps, "label_smoothing": 0.2}


def test_max_validation_draws_the_same_images_for_every_trial(tmp_path):
  seen = []
  for trial in (0, 1):
    network = Network({0: 0.25, 1: 0.25, 2: 0.25})
    result = _fit(network,
                  _context(tmp_path),
                  f"t/trial{trial}",
                  steps=2,
                  validate_every=1,
                  max_validation=4)
    seen += network.seen
    assert result["validation_error"] == 0.25
  assert len(seen) == 6 and len(set(map(tuple, seen))) == 1 and len(seen[0]) == 4
  network = Network({2: 0.1})
  _fit(network, _context(tmp_path), steps=2, validate_every=2, max_validation=50)
  assert network.seen == 2 * [EXPERIENCE.dev.ids.tolist()]


def test_the_dev_split_is_prepared_once_for_all_trials(tmp_path):
  passes = []

  class Counted(image_set.ImageSet):

    def eval_batches(self, batch_size, *, transform):
      return super().eval_batches(batch_size, transform=transform).map(counted)

  def counted(batch):
    tf.py_function(lambda: passes.append(1), [], [])
    return batch

  dev = Counted("dev", EXPERIENCE.dev.store, EXPERIENCE.dev.labels, kind=tasks.SINGLE_LABEL,
                num_classes=CLASSES)
  trainer = trainer_lib.Trainer(batch_size=4, steps=2, validate_every=1, eval_batch_size=4)
  context = _context(tmp_path)
  ready = trainer.validation(types.SimpleNamespace(dev=dev), image_ops.Plain(2), context)
  for trial in (0, 1):
    trainer.fit(Network({1: 0.5, 2: 0.5}), EXPERIENCE, start=[np.array(-1)], hyper=HYPER,
                transform=image_ops.Plain(2), context=context,
                seeds=context.seeds.child("trial", trial), key=f"t/trial{trial}", phase="train",
                save_as=f"best{trial}", validation=lambda: ready)
  assert len(passes) == 3  # Batches of 4, 4 and 2 images, in six validations.


def test_a_run_that_was_stopped_goes_on_from_its_last_save(tmp_path):
  errors = {2: 0.5, 4: 0.2, 6: 0.4, 7: 0.3}
  whole_ledger = ledger_lib.Ledger()
  whole = _fit(Network(errors),
               _context(tmp_path / "whole", whole_ledger),
               steps=7,
               validate_every=2,
               save_every=3)

  def stopping(network, after):
    network.loop.run = stopped_runs.stopping(
        network.loop.run, lambda *_: network.loop.step >= after)
    return network

  disk = snapshots.Snapshots(tmp_path / "progress")
  for after in (2, 4, 6):
    with pytest.raises(stopped_runs.Stop):
      _fit(stopping(Network(errors), after), _context(tmp_path / "cut", disk=disk), steps=7,
           validate_every=2, save_every=3)
  last, ledger = Network(errors), ledger_lib.Ledger()
  context = _context(tmp_path / "cut", ledger, disk)
  assert _fit(last, context, steps=7, validate_every=2, save_every=3) == whole
  assert last.loop.calls == [1]  # From step 6 on.
  assert context.store.load(context.store.own("best")) == [np.array(4)]
  times_out = [{k: v for k, v in one.totals().items() if "seconds" not in k}
               for one in (ledger, whole_ledger)]
  assert times_out[0] == times_out[1]
  # What is finished is neither run nor paid for again.
  idle = Network({})
  assert _fit(idle,
              _context(tmp_path / "cut", ledger, disk),
              steps=7,
              validate_every=2,
              save_every=3) == whole
  assert idle.loop.calls == []


def test_the_batch_is_the_papers_unless_it_is_given():
  assert trainer_lib.Trainer().batch(50_000) == 64
  assert trainer_lib.Trainer(batch_size=32).batch(50_000) == 32
  assert trainer_lib.Trainer(max_batch_size=32).batch(50_000) == 32  # B.
  assert trainer_lib.Trainer(batch_fraction=0.01).batch(50_000) == 256  # p: 500, rounded down.


@pytest.mark.parametrize("value", [0, -0.1, 1.5])
def test_a_fraction_that_is_no_share_is_refused(value):
  with pytest.raises(ValueError, match=rf"Trainer\.batch_fraction is {value}; .* at most 1"):
    trainer_lib.Trainer(batch_fraction=value)


def test_multi_label_tasks_are_validated_by_average_precision():
  labels = np.array([[1, 0], [0, 1], [1, 0]])
  outputs = scoring.Outputs(np.array(["a", "b", "c"]), labels, np.array([[3.0, 1], [2, 0], [1, 2]]))
  # Class 0: ranks 1 and 3, (1 + 2/3) / 2. Class 1: rank 3, 1/3.
  assert trainer_lib.validation_error(tasks.MULTI_LABEL,
                                      outputs) == pytest.approx(1 - (5 / 6 + 1 / 3) / 2)


@pytest.mark.parametrize(
    "name",
    ["steps", "validate_every", "save_every", "eval_batch_size", "batch_size", "max_batch_size",
     "max_validation"])
@pytest.mark.parametrize("value", [0, -3])
def test_settings_that_are_not_positive_are_refused(name, value):
  with pytest.raises(ValueError, match=rf"Trainer\.{name} is {value}; it must be at least 1"):
    trainer_lib.Trainer(**{name: value})


def test_the_loss_of_a_curve_ignores_where_saves_fall(tmp_path):
  """Sums are kept over a save between two validations."""
  network = Network({4: 0.5})
  network.loop.run = lambda iterator, num_steps, _: _advance(network.loop, num_steps)
  result = _fit(network, _context(tmp_path), steps=4, validate_every=4, save_every=1)
  assert result["curve"] == [[0, None, 0.9], [4, (1 + 2 + 3 + 4) / 4, 0.5]]


def _advance(loop, num_steps):
  loop.step += num_steps
  return float(loop.step)


def test_trained_images_are_those_of_the_seed(tmp_path):
  """The batches that the loop is handed are `train_batches` of the trial's seed from step 0."""
  ids = []

  def run(iterator, num_steps, complete=None):
    for _ in range(num_steps):
      ids.append([i.decode() for i in next(iterator)["id"].numpy()])
    return _advance(network.loop, num_steps)

  network = Network({2: 0.5})
  network.loop.run = run
  context = _context(tmp_path)
  _fit(network, context, steps=2, validate_every=2)
  expected = EXPERIENCE.train.train_batches(
      4, seed=context.seeds.child("trial", 0).pair("batches"), transform=image_ops.Plain(2))
  assert ids == [[i.decode() for i in b["id"].numpy()] for b in expected.take(2)]
