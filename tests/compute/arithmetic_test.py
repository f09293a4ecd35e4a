# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Settings that change rounding: reading, limiting and comparing them."""

from __future__ import annotations

import os
import platform
import sys

import pytest

from suite.compute import arithmetic

CODE = """
import tensorflow as tf
import threadpoolctl
from suite.compute import arithmetic
for number in (1, 3):
  print(arithmetic.limit_op_threads(number), arithmetic.of_this_process().op_threads)
  tf.zeros([])
  print({pool["num_threads"] for pool in threadpoolctl.threadpool_info()
         if pool["user_api"] == "blas"} == {number})
"""


@pytest.mark.parametrize("extra, expected", [
    ({}, "True 1 True False 1 True"),
    ({"TF_NUM_INTRAOP_THREADS": "2"}, "True 2 False True 2 False")])
def test_threads_are_limited_before_tensorflow_starts_and_not_after(extra, expected, python):
  env = {k: v for k, v in os.environ.items() if k != "TF_NUM_INTRAOP_THREADS"}
  # As OPENBLAS_NUM_THREADS=2 does, which a process reads when it imports numpy.
  code = "import threadpoolctl; threadpoolctl.threadpool_limits(2)" * bool(extra) + CODE
  done = python.run(["-c", code], env={**env, **extra})
  assert not done.returncode, done.stderr[-3000:]
  assert done.stdout.split() == expected.split()


ONEDNN = """
{first}
import tensorflow as tf
import os
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "{later}"  # Read when TensorFlow was imported, not now.
from suite.running import this_process
from suite.compute import arithmetic
for _ in range(2):
  this_process.import_tensorflow()
print(arithmetic.of_this_process().onednn)
images, kernel = tf.random.normal([8, 16, 16, 8]), tf.ones([3, 3, 8, 8])
tf.function(lambda images: tf.nn.conv2d(images, kernel, 1, "SAME"))(images)
"""


@pytest.mark.skipif(not (sys.platform == "linux" and platform.machine() == "x86_64"),
                    reason="TensorFlow has oneDNN there")
@pytest.mark.parametrize("first, given, later, expected, warnings", [
    ("import suite", None, "0", True, 0), ("import suite", "0", "1", False, 1),
    ("import suite", "0", "0", False, 0), ("", "0", "1", False, 1)])
def test_onednn_is_what_tensorflow_computes_with(first, given, later, expected, warnings, python):
  env = {k: v for k, v in os.environ.items() if k != arithmetic.ONEDNN}
  env.update({} if given is None else {arithmetic.ONEDNN: given}, ONEDNN_VERBOSE="1")
  done = python.run(["-c", ONEDNN.format(first=first, later=later)], env=env, fresh=True)
  assert not done.returncode, done.stderr[-3000:]
  computed = any("onednn_verbose" in line and ",convolution," in line
                 for line in done.stdout.splitlines())
  assert (str(expected) in done.stdout.splitlines(), computed) == (True, expected)
  assert done.stderr.count("Put `import suite` first") == warnings, done.stderr


def test_what_differs_is_said_with_what_to_set():
  now = arithmetic.Arithmetic(op_threads=4, onednn=True)
  now.check({"op_threads": 4, "onednn": True})
  now.check({})
  with pytest.raises(ValueError, match="op_threads was 2 and is 4; onednn was False and is True: "
                     ".* Set TF_NUM_INTRAOP_THREADS=2 and TF_ENABLE_ONEDNN_OPTS=0 in"):
    now.check({"op_threads": 2, "onednn": False})


def test_settings_by_flags_are_compared_with_the_defaults_of_earlier_versions():
  now = arithmetic.of_this_process(precision="bfloat16", xla=True, deterministic=False)
  now.check({"precision": "bfloat16", "xla": True, "deterministic": False})
  with pytest.raises(ValueError) as caught:
    now.check({"op_threads": now.op_threads})
  assert str(caught.value) == (
      "precision was float32 and is bfloat16; xla was False and is True; deterministic was True "
      "and is False: the numbers would differ. Give --precision float32. Give no --xla. Give "
      "--deterministic.")


CLUSTERS = """
import tensorflow as tf
from suite.compute import arithmetic, flops
arithmetic.compile_clusters({})

@tf.function
def f(x):
  for _ in range(4):
    x = tf.tanh(x * 1.1 + 0.3) * tf.sigmoid(x)
  return tf.reduce_sum(x)

x = tf.linspace(0.0, 1.0, 1000)
for _ in range(5):  # Clusters are compiled after a few calls.
  f(x)
print(flops.count(f.get_concrete_function(x)).flops)
"""


def test_xla_compiles_on_a_cpu_what_is_counted_as_without_it(tmp_path, python):
  counted = []
  for compiles in (True, False):
    folder = tmp_path / str(compiles)
    env = {**os.environ, "XLA_FLAGS": f"--xla_dump_to={folder} --xla_dump_hlo_as_text"}
    done = python.run(["-c", CLUSTERS.format(compiles)], env=env)
    assert not done.returncode, done.stderr[-3000:]
    counted.append(float(done.stdout))
    assert folder.exists() == compiles  # What XLA compiled, it has written down.
  assert counted[0] == counted[1] > 1000
