# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Settings of a process of its own; they are those of a process, so each is tried in one."""

from __future__ import annotations

import pytest

SCRIPT = """
import gc
import sys
from suite.running import this_process
import tensorflow as tf

this_process.settle(debug=sys.argv[1] == "debug")
graph = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([])).graph
print(min(len(list(graph.get_operations()[-1].traceback)), 2), gc.get_threshold()[0])
"""


@pytest.mark.parametrize("mode, expected", [("run", "1 20000"), ("debug", "2 20000")])
def test_operations_keep_their_stack_for_debugging_only(mode, expected, python):
  done = python.run(["-c", SCRIPT, mode])
  assert done.returncode == 0 and done.stdout.split("\n")[0] == expected, done.stderr
