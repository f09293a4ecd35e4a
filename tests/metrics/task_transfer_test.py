# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Starts, chains and transfer of a stream of four tasks, worked out by hand."""

import numpy as np

from suite.metrics import task_stream

NAN = float("nan")


def _records(*lines):
  """Train and Predict records of (task, start, error, candidates)."""
  records = []
  for task, start, error, candidates in lines:
    records += [{"kind": "train", "task_key": task,
                 "start": {"from": start, "candidates": candidates}},
                {"kind": "predict", "task_key": task, "error": error}]
  return records


RECORDS = _records(
    ("my a", "random", 0.5, {}), ("b", "my_a", 0.4, {"my_a": 0.3}),
    ("c", "my_a", 0.3, {"my_a": 0.1, "b": 0.2, "random": 0.6}),
    ("d", "c", 0.2, {"my_a": 0.5, "b": 0.4, "c": 0.3, "random": 0.8}))


def _stored(key):
  return key.replace(" ", "_")


def test_edges_name_tasks_by_their_keys():
  assert task_stream.start_edges(RECORDS, _stored) == [
      (None, "my a"), ("my a", "b"), ("my a", "c"), ("c", "d")]


def test_a_source_from_outside_the_stream_keeps_its_name():
  edges = task_stream.start_edges(_records(("a", "imagenet.npz", 0.1, {})))
  assert edges == [("imagenet.npz", "a")] and task_stream.chain_lengths(edges) == {"a": 1}


def test_a_learner_without_starts_has_no_edges():
  assert not task_stream.start_edges([{"kind": "train", "task_key": "a"}])


def test_chains_and_hubs():
  edges = task_stream.start_edges(RECORDS, _stored)
  assert task_stream.chain_lengths(edges) == {"my a": 0, "b": 1, "c": 1, "d": 2}
  assert task_stream.num_started(edges) == {"my a": 2, "c": 1}


def test_knn_errors_stand_by_source_and_later_task():
  names, errors = task_stream.knn_errors(RECORDS, _stored)
  assert names == ["my a", "b", "c", "d", "random"]
  np.testing.assert_array_equal(errors, [
      [NAN, 0.3, 0.1, 0.5, NAN], [NAN, NAN, 0.2, 0.4, NAN], [NAN, NAN, NAN, 0.3, NAN],
      [NAN] * 5, [NAN, NAN, 0.6, 0.8, NAN]])
  # Task c: the mean of 0.1, 0.2 and 0.6 is 0.3.
  np.testing.assert_allclose(task_stream.advantage(errors)[:, 2], [0.2, 0.1, NAN, NAN, -0.3])


def test_trained_pairs_are_those_whose_source_began_at_random():
  independent = {"b": 0.45, "c": 0.25}
  pairs = task_stream.trained_pairs([RECORDS], independent, _stored)
  assert pairs == [("my a", "b", 0.4, 0.45), ("my a", "c", 0.3, 0.25)]  # d comes from a chain.
  gains = task_stream.as_matrix(pairs, ["my a", "b", "c"])
  np.testing.assert_allclose(gains, [[NAN, 0.05, -0.05], [NAN] * 3, [NAN] * 3])


def test_tasks_trained_with_auxiliary_ones_are_no_pairs():
  records = [{**record, "auxiliary": {"tasks": ["b"]}} if record["task_key"] == "c" else record
             for record in RECORDS]
  assert [pair.task for pair in task_stream.trained_pairs([records], {}, _stored)] == ["b"]


def test_pairs_of_several_runs_are_averaged_and_unknown_gains_left_out():
  pairs = [task_stream.TrainedPair("a", "b", 0.2, 0.5),
           task_stream.TrainedPair("a", "b", 0.4, 0.5),
           task_stream.TrainedPair("a", "b", 0.4, None)]
  assert pairs[2].gain is None
  np.testing.assert_allclose(task_stream.as_matrix(pairs, ["a", "b"]), [[NAN, 0.2], [NAN, NAN]])
