# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Programs that read what the suite has written where the suite cannot be imported.

`import without_suite`: setup.cfg has this folder on the tests' path. A fork of the `python` fixture
has the suite imported, which is quicker than a new interpreter that imports TensorFlow: it forgets
all that is ours first, so that whoever asks for it gets an ImportError.
"""

from __future__ import annotations

FORGET = """
import sys
import tensorflow as tf
from tensorflow_datasets.core import registered

def _is_ours(module):
  return module.split(".")[0] in ("suite", "tfds_builders")

for module in list(sys.modules):
  if _is_ours(module):
    sys.modules[module] = None
tf.keras.utils.get_custom_objects().clear()
for name, builder in list(registered._DATASET_REGISTRY.items()):
  if _is_ours(builder.__module__):
    del registered._DATASET_REGISTRY[name]
"""


def run(python, program, *arguments, cwd):
  """What the program prints; `python` is the fixture."""
  done = python.run(["-c", FORGET + program, *map(str, arguments)], cwd=cwd)
  assert done.returncode == 0, done.stderr
  return done.stdout
