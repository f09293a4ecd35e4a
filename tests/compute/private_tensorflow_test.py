# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import pathlib
import re

import pytest
import tensorflow as tf

import suite
from suite.compute import private_tensorflow


@pytest.mark.parametrize("owner", ["tensorflow.python.framework.ops", "tensorflow.python.gone",
                                   "tf.Graph"])
def test_what_tensorflow_has_changed_is_named(owner):
  expected = rf"{tf.__version__} has no {owner}\._nothing_like_it.*2\.15 and"
  with pytest.raises(ImportError, match=expected):
    private_tensorflow._part(owner, "_nothing_like_it")


def test_no_other_module_uses_private_parts():
  root = pathlib.Path(suite.__file__).parent
  private = re.compile(r"tensorflow\.python|(from|import) keras\.src|tf_keras")
  found = [p.name for p in root.rglob("*.py") if private.search(p.read_text(encoding="utf-8"))]
  # trust.py has the names of parts that it refuses.
  assert sorted(found) == ["__init__.py", "private_tensorflow.py", "trust.py"]
  imported = re.compile(r"^ *(from|import) (tensorflow|tf_keras|keras)", re.MULTILINE)
  assert not imported.search((root / "configs" / "trust.py").read_text(encoding="utf-8"))
