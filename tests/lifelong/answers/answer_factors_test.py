# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np

from suite.lifelong.answers import answer_factors


def test_factors_are_the_singular_vectors_of_the_centred_answers(monkeypatch):
  monkeypatch.setattr(answer_factors, "_BLOCK", 7)
  known = np.random.default_rng(0).integers(0, 2, [6, 50]).astype(np.uint8)
  factors = answer_factors.build(lambda samples: known[:, samples], np.arange(50), 3)
  centred = known - known.mean(axis=1, keepdims=True)
  expected = np.linalg.svd(centred, full_matrices=False)[2][:3].T * 50 ** 0.5
  scores = factors.scores(known)
  np.testing.assert_allclose(np.abs(scores), np.abs(expected), atol=1e-4)
  np.testing.assert_allclose(scores[10:13], factors.scores(known[:, 10:13]), atol=1e-6)
  np.testing.assert_allclose(factors.gram, centred @ centred.T / 50, atol=1e-12)


def test_models_that_answer_alike_make_no_factor():
  known = np.tile(np.random.default_rng(0).integers(0, 2, [1, 40]), [5, 1]).astype(np.uint8)
  assert answer_factors.build(lambda s: known[:, s], np.arange(40), 4).loadings.shape == (5, 1)
  constant = np.ones([3, 40], np.uint8)
  assert answer_factors.build(lambda s: constant[:, s], np.arange(40), 4).loadings.shape == (3, 0)


def test_embedded_models_are_as_far_apart_as_their_answers():
  known = np.random.default_rng(0).integers(0, 2, [4, 60]).astype(np.uint8)
  factors = answer_factors.build(lambda s: known[:, s], np.arange(60), 2)
  points = answer_factors.embedding(factors.gram, 4)
  centred = known - known.mean(axis=1, keepdims=True)
  assert np.isclose(np.sum((points[0] - points[1]) ** 2),
                    np.mean((centred[0] - centred[1]) ** 2))
