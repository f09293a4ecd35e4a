# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A folder of gin files for the tests of this folder."""

import pytest

from suite.configs import gin_files


@pytest.fixture
def shelf(tmp_path, monkeypatch):
  """A folder with gin/ in the place of the shipped one; write(name, text) adds a file."""
  monkeypatch.setattr(gin_files, "root", lambda: tmp_path)
  monkeypatch.chdir(tmp_path)

  def write(name, text):
    path = tmp_path / "gin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path

  return write
