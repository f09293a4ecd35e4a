# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("clear_avalanche")


def test_fine_tuning_in_whole_batches_is_plain_momentum(tool):
  rng = np.random.default_rng(0)
  train = rng.normal(size=(2, 20, tool.WIDTH)).astype(np.float32)
  labels = np.stack([rng.permutation(np.arange(20) % tool.CLASSES) for _ in range(2)])
  series = tool.Series(train, labels, train[:, :10], labels[:, :10])
  found = tool.ours(series, tool.METHODS[0].ours(), 20, 0)
  weights = np.zeros((tool.WIDTH + 1, tool.CLASSES))
  accuracies = []
  for features, targets in zip(train, labels):
    inputs, velocity = np.append(features, np.ones((20, 1)), 1), np.zeros_like(weights)
    for epoch in range(tool.EPOCHS):
      powers = np.exp(inputs @ weights)
      error = powers / powers.sum(1, keepdims=True) - np.eye(tool.CLASSES)[targets]
      velocity = 0.9 * velocity + inputs.T @ error / 20
      weights -= tool.RATE * 0.1 ** (epoch // tool.FALLS_EVERY) * velocity
    accuracies.append([np.mean(np.argmax(x @ weights[:-1] + weights[-1], 1) == y)
                       for x, y in zip(series.test, series.test_labels)])
  np.testing.assert_allclose(found["kernel"], weights[:-1], atol=1e-5)
  np.testing.assert_allclose(found["bias"], weights[-1], atol=1e-5)
  np.testing.assert_allclose(found["accuracies"], accuracies)


def test_nine_methods_of_both_sides_are_made_anew_for_each_run(tool):
  assert len(tool.METHODS) == len({method.strategy for method in tool.METHODS}) == 9
  for method in tool.METHODS:
    first, second = method.ours(), method.ours()
    assert first.keys() == second.keys()
    for name in ("objective", "memory", "head"):
      assert name not in first or first[name] is not second[name]
