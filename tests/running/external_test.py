# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A NumPy method under each protocol: it resumes with the same numbers, and costs are not counted.
"""

from __future__ import annotations

import io

import numpy as np
import pytest
import stopped_runs

import suite
from suite.contracts import deliveries
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.data.own import image_sources
from suite.data.sequences import sequences
from suite.data.streams import buckets
from suite.data.streams import streams
from suite.protocols import clear
from suite.protocols import fluid
from suite.protocols import incremental
from suite.protocols import nevis
from suite.running import external
from suite.running import run_parts
from suite.training.sequence import update_strategies

SHAPE = (4, 4, 3)


def images(num=24, first=0, seed=0, classes=4):
  """Two classes from `first` on, by brightness."""
  labels = np.arange(num) % 2 + first
  noise = np.random.default_rng(seed).integers(0, 30, [num, *SHAPE])
  return image_sources.from_arrays((60 * labels[:, None, None, None] + noise).astype(np.uint8),
                                   labels, name="bright", num_classes=classes)


def series(*firsts):
  return buckets.of([(images(first=first, seed=i), images(8, first, seed=9 + i))
                     for i, first in enumerate(firsts)])


# A perceptron whose state is changed in place, with a rate that falls: sums, number of trainings.


def learn(state, images, labels, about):
  weights, num = (np.zeros([len(images[0].ravel()), 0]), 0) if state is None else state
  weights = np.pad(weights, [(0, 0), (0, about.num_classes - weights.shape[1])])
  order = np.random.default_rng(about.seed).permutation(len(images))
  for x, label in zip(images[order].reshape(len(images), -1) / 255.0, labels[order]):
    found = int(np.argmax(x @ weights))
    rate = 1.0 / (1 + num)
    weights[:, label] += rate * x
    weights[:, found] -= rate * x
  images[:], labels[:] = 0, 0  # They are copies.
  return weights, num + 1


def predict(state, images, about):
  found = images.reshape(len(images), -1) / 255.0 @ state[0]
  images[:] = 0
  return found


def save(state):
  file = io.BytesIO()
  np.savez(file, weights=state[0], num=state[1])
  return file.getvalue()


def load(saved):
  arrays = np.load(io.BytesIO(saved))
  return arrays["weights"], int(arrays["num"])


FUNCTIONS = {"learn": learn, "predict": predict, "save": save, "load": load, "image_size": 4}


def perceptron(**others):
  return suite.external(**{**FUNCTIONS, **others})


def _run(folder, protocol, make=perceptron, stop_before=None, **arguments):
  with stopped_runs.state(folder, stop_before=stop_before) as state:
    return protocol(make()(), state=state, **arguments)


@pytest.mark.parametrize("protocol, arguments, stops", [
    (clear.run, lambda: {"buckets": series(0, 2)}, [0, 4]),
    (incremental.run, lambda: {"buckets": series(0, 2)}, [3]),
    (nevis.run, lambda: {"stream": streams.of(
        [images(classes=2), images(seed=1)], names=["two", "four"])}, [2]),
    (fluid.run, lambda: {"sequence": sequences.of(images(60)), "update": update_strategies.Every(
        interval=20), "blocks": fluid.Blocks(record_every=20, block_size=20, encode_batch=20)},
     [4])])
def test_a_stopped_run_has_the_same_records_and_unknown_costs(protocol, arguments, stops, tmp_path):
  for stop in stops:
    with pytest.raises(stopped_runs.Stop):
      _run(tmp_path / "stopped", protocol, stop_before=stop, **arguments())
  _run(tmp_path / "stopped", protocol, **arguments())
  summary = _run(tmp_path / "whole", protocol, **arguments())
  records = stopped_runs.records(tmp_path / "whole")
  assert stopped_runs.records(tmp_path / "stopped") == records
  for name in ("flops", "macs", "flops_train", "flops_predict", "steps_train"):
    assert records[-1][name] is summary[name] is None
  assert records[-1]["examples_train"] > 0
  accuracy = [one.get("accuracy", summary.get("overall")) for one in records][-1]
  assert accuracy is None or accuracy > 0.4


def test_what_save_leaves_out_is_lost_at_once(tmp_path):
  told = []

  def noting(state, *arguments):
    told.append(None if state is None else state[1])
    return learn(state, *arguments)

  def forgetful(saved):
    return load(saved)[0], 0

  _run(tmp_path, clear.run, lambda: perceptron(learn=noting, load=forgetful), buckets=series(0, 2))
  assert told == [None, 0]


def test_declared_costs_are_those_of_records(tmp_path):
  found = _run(tmp_path, clear.run, lambda: perceptron(cost={
      "learn": lambda num: (100 * num + 1, 40 * num), "predict": (10, 4)}), buckets=series(0, 2))
  assert (found["flops_train"], found["macs_train"]) == (4802, 1920)
  assert (found["flops_predict"], found["macs_predict"]) == (320, 128)


def test_a_plan_calls_no_function_and_has_declared_costs(tmp_path):
  with rehearsal.begun(measures=False):
    found = _run(tmp_path, clear.run, lambda: perceptron(learn=lambda *_: 1 / 0, cost={
        "learn": (100, 40)}), buckets=series(0, 2))
  assert found["flops_train"] == 4800 and found["flops_predict"] is None


@pytest.mark.parametrize("change, message", [
    ({"learn": lambda *_: None}, "learn returned None; it must return the state"),
    ({"save": lambda _: None}, r"save returned None; it must return bytes, such as torch.save"),
    ({"save": lambda _: b""}, "save returned b''; it must return bytes"),
    ({"load": lambda _: None}, "load returned None; it must return the state"),
    ({"predict": lambda s, x, about: np.zeros([len(x), 3])}, r"predict returned float64 \[2, 3\] "
     r"for 2 images; expected numbers \[2, 4\], a score for each of the about.num_classes"),
    ({"predict": lambda s, x, about: np.zeros(len(x), int)}, r"predict.* \[2\] .* like labels"),
    ({"predict": lambda s, x, about: "no"}, "predict returned <U2"),
    ({"predict": lambda s, x, about: np.full([len(x), 4], np.nan)}, "predict returned NaN for")])
def test_what_functions_return_is_checked_before_the_first_record(change, message, tmp_path):
  with pytest.raises(ValueError, match=f"suite.external's {message}"):
    _run(tmp_path, clear.run, lambda: perceptron(**change), buckets=series(0, 2))
  assert not stopped_runs.records(tmp_path)


def test_arguments_and_protocols_that_do_not_fit_are_refused():
  with pytest.raises(ValueError, match="suite.external's load is 3; give a function"):
    perceptron(load=3)
  with pytest.raises(ValueError, match="cost has 'train'; it may have learn and predict"):
    perceptron(cost={"train": (1, 1)})
  with pytest.raises(refusals.RefusedError, match="External cannot be given few-shot episodes"):
    refusals.check_learner(perceptron()(), deliveries.EPISODES)
  with pytest.raises(refusals.RefusedError, match="Leave --budget out"):
    refusals.check_keeps_budget(perceptron()())


def test_the_code_of_the_functions_is_the_identity_of_a_run():
  found = []
  for function in (predict, lambda state, images, about: images @ state[0]):
    parts = run_parts.Parts()
    parts.add("learner", perceptron(predict=function))
    found.append(parts.texts)
  described = {key.rpartition(".")[2] for key in found[0] if key.startswith("code ")}
  assert {"learn", "predict", "save", "load"} <= described
  assert found[0]["learner"].endswith(external.External.__name__) and found[0] != found[1]
