# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Updates are shared out among calls that take about a second each."""

import itertools
import types

import numpy as np
import tensorflow as tf

from suite.training.episodic import episode_graphs


def _take(monkeypatch, seconds, *numbers):
  """(the losses, the number of updates of each call) where an update takes `seconds`."""
  clock, calls, losses = [0.0], [], itertools.count()

  def updates(batches, number):
    assert batches == "batches"
    calls.append(int(number))
    clock[0] += seconds * calls[-1]
    return tf.constant([float(next(losses)) for _ in range(calls[-1])])

  monkeypatch.setattr(episode_graphs, "time", types.SimpleNamespace(monotonic=lambda: clock[0]))
  taken = episode_graphs.ManyUpdates(updates, "batches")
  return np.concatenate([taken.take(n) for n in numbers]), calls


def test_calls_take_about_a_second(monkeypatch):
  losses, calls = _take(monkeypatch, 0.125, 20, 3)
  assert calls == [1, 8, 8, 3, 3]
  assert losses.tolist() == list(range(23))


def test_a_long_update_is_a_call(monkeypatch):
  losses, calls = _take(monkeypatch, 1.5, 3)
  assert calls == [1, 1, 1] and losses.tolist() == [0, 1, 2]


def test_no_time_at_all(monkeypatch):
  _, calls = _take(monkeypatch, 0.0, 20)
  assert calls == [1, 19]
