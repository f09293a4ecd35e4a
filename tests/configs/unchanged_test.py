# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import pytest

from suite.configs import gin_files
from suite.configs import unchanged


def test_the_same_text_passes_and_another_is_refused_with_the_differences(tmp_path):
  path = tmp_path / "config.gin"
  unchanged.check(path, "A = 1\n", "a run")
  path.write_text("A = 1\nB = 2\n")
  unchanged.check(path, "A = 1\nB = 2\n", "a run")
  with pytest.raises(gin_files.ConfigError) as error:
    unchanged.check(path, "A = 1\nB = 3\n", "a run")
  text = str(error.value)
  assert f"{tmp_path} holds a run of another configuration" in text
  assert "-B = 2\n+B = 3" in text and "Give another --workdir" in text
