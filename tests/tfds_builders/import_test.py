# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Importing registers the builders without importing TensorFlow."""

import subprocess
import sys


def test_import_registers_without_tensorflow():
  code = ("import sys, tfds_builders, tensorflow_datasets as tfds\n"
          "tfds_builders.status.inspect('nevis/mnist', '/nowhere')\n"
          "assert 'tensorflow' not in sys.modules\n"
          "assert tfds.builder_cls('nevis').BUILDER_CONFIGS\n"
          "assert not any(name == 'suite' or name.startswith('suite.') for name in sys.modules)")
  subprocess.run([sys.executable, "-c", code], check=True)
