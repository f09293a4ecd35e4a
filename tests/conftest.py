# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What every test gets: no trace of gin, or of the caller's settings, from one test to the next."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # Read when TensorFlow is imported.

import gin
from gin import config as gin_config
import pytest


@pytest.fixture(autouse=True)
def _gin_forgets():
  gin.enter_interactive_mode()  # Lets two tests register different functions of one name.
  # clear_config keeps what is registered: a test's stand-in would answer to that name for ever.
  registered = gin_config._REGISTRY.copy(), dict(gin_config._INVERSE_REGISTRY)
  yield
  gin.exit_interactive_mode()
  gin.clear_config()
  gin_config._REGISTRY, gin_config._INVERSE_REGISTRY = registered


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch):
  for name in ("LIFELONG_DATA_DIR", "LIFELONG_MIRROR", "TFDS_DATA_DIR", "TF_CONFIG"):
    monkeypatch.setenv(name, "")  # Noted, so that what a test sets is undone after it.
    monkeypatch.delenv(name)
