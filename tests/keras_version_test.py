# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`import suite` makes tf.keras Keras 2, or says how; modules stand in for TensorFlow 2.16."""

from __future__ import annotations

import importlib
import os
import sys
import types

import pytest

import suite


def _given(monkeypatch, *, tf_keras, value=None, keras=None):
  """A process with or without tf-keras, the environment set or not, TensorFlow imported."""
  monkeypatch.setattr(importlib.util, "find_spec", lambda name: tf_keras or None)
  monkeypatch.setenv("TF_USE_LEGACY_KERAS", value or "")  # Noted, so that it is undone.
  if value is None:
    monkeypatch.delenv("TF_USE_LEGACY_KERAS")
  version = {"__version__": keras} if keras else {}
  module = types.SimpleNamespace(keras=types.SimpleNamespace(**version))
  monkeypatch.setitem(sys.modules, "tensorflow", module)


def test_keras_2_is_asked_for_where_tf_keras_is_installed(monkeypatch):
  _given(monkeypatch, tf_keras=True)
  importlib.reload(suite)
  assert os.environ["TF_USE_LEGACY_KERAS"] == "1"


def test_tensorflow_2_15_is_left_alone_without_tf_keras(monkeypatch):
  _given(monkeypatch, tf_keras=False)
  importlib.reload(suite)
  assert "TF_USE_LEGACY_KERAS" not in os.environ


def test_keras_3_that_is_there_already_is_refused(monkeypatch):
  _given(monkeypatch, tf_keras=True, keras="3.15.1")
  with pytest.raises(ImportError, match=r"Keras 3\.15\.1 .* runs on Keras 2.*before tensorflow"):
    importlib.reload(suite)


def test_keras_3_asked_for_by_name_is_refused(monkeypatch):
  _given(monkeypatch, tf_keras=True, value="0")
  with pytest.raises(ImportError, match=r"TF_USE_LEGACY_KERAS is '0'.*set TF_USE_LEGACY_KERAS=1"):
    importlib.reload(suite)
