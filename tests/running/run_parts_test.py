# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What tells runs apart: each edit of a user changes the identity, and nothing else does."""

from __future__ import annotations

import functools
import importlib
import json
import linecache
import os
import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import suite
from suite.data.digits import digits
from suite.data.images import image_set
from suite.running import run_parts
from suite.state import run_identity

SCRIPT = '''"""A user's program."""
import helpers
import numpy as np
import tensorflow as tf

RATE = 0.05
SCALES = {"first": [1.0, 2.0]}


class Base:
  power = 2

  def grow(self, x):
    return x ** self.power


class Net(tf.keras.Model, Base):
  def __init__(self, width=4, activation="relu"):
    super().__init__()
    self.dense = tf.keras.layers.Dense(width, activation=activation)

  def call(self, x):
    return self.dense(tf.reshape(x, [-1, 12]))


def loss(labels, logits, weight=0.5):
  """Cross-entropy."""
  def inner(x):
    return helpers.half(x) * RATE
  return inner(logits[:, 0]) + weight * SCALES["first"][1]


def made(width):
  return lambda: Net(width)


class Learner:
  def __init__(self, rate):
    self._how_fast = rate
    self.steps = np.arange(3)

  def learn(self, x):
    return Base().grow(x) + self._how_fast


GIVEN = {"net": made(3), "loss": loss, "learner": Learner(0.1), "kind": Learner}
'''
HELPERS = '''
FACTOR = 0.5


def half(x):
  return other(x) * FACTOR


def other(x):
  return x + 1


def unused(x):
  return x
'''


@pytest.fixture(name="texts_of")
def _texts_of(tmp_path, monkeypatch):
  """Describes GIVEN of a program whose two files are as given."""
  monkeypatch.syspath_prepend(str(tmp_path))

  def texts(script=SCRIPT, helpers=HELPERS, old=True):
    for name, text in (("program", script), ("helpers", helpers)):
      path = tmp_path / f"{name}.py"
      path.write_text(text)
      if old:  # Files that are newer than the process may not be what runs.
        os.utime(path, (1e9, 1e9))
      monkeypatch.delitem(sys.modules, name, raising=False)
    linecache.clearcache()
    importlib.invalidate_caches()
    for cached in tmp_path.glob("__pycache__/*"):
      cached.unlink()
    parts = run_parts.Parts()
    parts.add("given", importlib.import_module("program").GIVEN)
    return parts.texts

  return texts


@pytest.mark.parametrize("before, after", [
    ("RATE = 0.05", "RATE = 0.06"), ("[1.0, 2.0]", "[1.0, 2.5]"), ("power = 2", "power = 3"),
    ("x ** self", "x * self"), ('activation="relu"', 'activation="tanh"'),
    ("width=4", "width=5"), ("[-1, 12]", "[-1, 6]"), ("weight=0.5", "weight=0.25"),
    ("half(x) * RATE", "half(x) + RATE"), ("+ weight", "- weight"), ("made(3)", "made(4)"),
    ("Net(width)", "Net(width + 1)"), ("Learner(0.1)", "Learner(0.2)"),
    ("np.arange(3)", "np.arange(4)"), ("logits[:, 0]", "logits[:, 1]"),
    ("(tf.keras.Model, Base)", "(Base, tf.keras.Model)")])
@pytest.mark.parametrize("old", [True, False])
def test_an_edit_of_a_program_is_a_difference(texts_of, before, after, old):
  assert SCRIPT.count(before) >= 1
  assert texts_of(old=old) != texts_of(SCRIPT.replace(before, after), old=old)


@pytest.mark.parametrize("before, after, is_read", [
    ("FACTOR = 0.5", "FACTOR = 0.6", True), ("x + 1", "x + 2", True),
    ("  return x\n", "  return -x\n", False)])
def test_code_that_is_called_in_another_file_counts(texts_of, before, after, is_read):
  assert (texts_of() != texts_of(helpers=HELPERS.replace(before, after))) == is_read


@pytest.mark.parametrize("before, after", [
    ("def loss", "# Told.\n\n\ndef loss"), ('"""Cross-entropy."""', '"""The loss."""'),
    ("helpers.half(x) * RATE", "(helpers.half(x)\n            * RATE)"), ("0.05", "5e-2")])
def test_comments_docstrings_and_layout_are_no_edits(texts_of, before, after):
  assert texts_of() == texts_of(SCRIPT.replace(before, after))


def test_the_difference_names_the_place(texts_of):
  said = run_identity.difference(texts_of(), texts_of(SCRIPT.replace("0.05", "0.06")))
  assert said == "code program.RATE was 0.05 and is 0.06"
  said = run_identity.difference(texts_of(), texts_of(helpers=HELPERS.replace("x + 1", "x + 2")))
  assert said == "code helpers.other has changed"


def test_source_that_is_newer_than_what_runs_is_not_read(texts_of, tmp_path):
  texts_of(old=False)
  module = sys.modules["program"]
  (tmp_path / "program.py").write_text(SCRIPT.replace("x ** self", "x * self"))  # Not imported.
  parts = run_parts.Parts()
  parts.add("given", module.GIVEN)
  assert parts.texts == texts_of(old=False)


def _texts(value):
  parts = run_parts.Parts()
  parts.add("value", value)
  return parts.texts


def _net(activation="relu", seed=0, trainable=True, **last):
  init = tf.keras.initializers.GlorotUniform(seed)
  return tf.keras.Sequential([
      tf.keras.layers.Flatten(input_shape=(2, 2, 3)),
      tf.keras.layers.Dense(8, activation=activation, kernel_initializer=init,
                            trainable=trainable), tf.keras.layers.Dense(2, **last)])


def test_a_model_is_its_layers_and_connections():
  base = _texts(_net())
  assert base == _texts(_net())  # Automatic names count up.
  for other in (_net("sigmoid"), _net(seed=1), _net(trainable=False), _net(use_bias=False),
                _net(activation=lambda x: x * 2)):
    assert _texts(other) != base
  assert _texts(_net(lambda x: x * 2)) != _texts(_net(lambda x: x * 3))

  def two(swapped):
    x = tf.keras.Input([3])
    a, b = tf.keras.layers.Dense(4)(x), tf.keras.layers.Dense(4, "relu")(x)
    return tf.keras.Model(x, tf.keras.layers.Subtract()([b, a] if swapped else [a, b]))

  assert _texts(two(False)) == _texts(two(False)) != _texts(two(True))


class Scaled(tf.keras.layers.Layer):
  """A layer without a configuration."""

  def __init__(self, scale, shift=None):
    super().__init__()
    self.scale, self.shift = scale, shift

  def build(self, shape):
    self.weight = self.add_weight("weight", shape[1:], initializer="random_normal")
    self.offset = self.add_weight("offset", shape[1:], initializer="zeros")

  def call(self, x):
    return x * self.scale * self.weight + self.offset


def test_a_layer_without_a_configuration_is_its_attributes():
  assert _texts(Scaled(2.0)) == _texts(Scaled(2.0)) != _texts(Scaled(3.0))
  assert _texts(Scaled(2.0, np.ones(3))) != _texts(Scaled(2.0, np.zeros(3)))


def test_first_weights_are_no_part_until_something_changes_them():
  net, same = _net(seed=None), _net(seed=None)
  assert _texts(net) == _texts(same)
  net.layers[1].kernel.assign(net.layers[1].kernel * 3)  # No draw of the initializer.
  assert _texts(net) != _texts(same)
  same.layers[2].bias.assign([0.0, 1e-6])  # Its initializer is a constant.
  assert "weights" in " ".join(_texts(same))
  tiny = tf.keras.Sequential([tf.keras.layers.Dense(2, use_bias=False, input_shape=(3,))])
  assert "value.weights" in _texts(tiny)  # Too few to tell.
  trained = _net(seed=None)
  trained.compile("sgd", "mse")
  trained.fit(np.zeros([4, 2, 2, 3]), np.zeros([4, 2]), verbose=0)
  assert "value.weights" in _texts(trained)


def test_weights_of_a_process_with_a_seed_count(monkeypatch):
  monkeypatch.setattr(run_parts.private_tensorflow, "seed_of_user", lambda: 7)
  assert _texts(_net(seed=None)) != _texts(_net(seed=None))


def test_draws_of_the_user_are_the_same_after_a_look_at_a_model():
  net = _net(seed=None)
  random.seed(4)
  expected = random.random()
  random.seed(4)
  _texts(net)
  assert random.random() == expected


def _images(pixels=None, labels=(0, 1, 1), **settings):
  pixels = np.arange(3 * 12, dtype=np.uint8).reshape(3, 2, 2, 3) if pixels is None else pixels
  return image_set.ImageSet.from_arrays("mine", pixels, np.asarray(labels), kind="single_label",
                                        num_classes=2, **settings)


def test_data_is_its_bytes_labels_ids_and_class_names():
  base, other = _texts(_images()), np.arange(3 * 12, dtype=np.uint8).reshape(3, 2, 2, 3)
  assert base == _texts(_images())
  other[2, 1, 1, 2] += 1
  for changed in (_images(other), _images(labels=(0, 1, 0)), _images(ids=["a", "b", "c"]),
                  _images(class_names=["x", "y"])):
    assert _texts(changed) != base
  encoded = [tf.io.encode_png(image).numpy() for image in other]
  jpeg = [tf.io.encode_jpeg(image).numpy() for image in other]

  def of(data):
    return image_set.ImageSet.from_encoded("mine", data, [0, 1, 1], kind="single_label",
                                           num_classes=2, memory_limit_bytes=1)

  assert _texts(of(encoded)) == _texts(of(encoded)) != _texts(of(jpeg))


def test_a_version_stands_for_images():
  other = np.zeros([3, 2, 2, 3], np.uint8)
  assert _texts(_images().with_version("1")) == _texts(_images(other).with_version("1"))
  assert _texts(_images().with_version("1")) != _texts(_images().with_version("2"))
  assert _texts(_images().with_version("1")) != _texts(
      _images(labels=(1, 1, 0)).with_version("1"))
  assert _images().with_version("1").subset([0, 2]).version == "1"


def test_a_use_of_data_is_no_difference():
  for data in (digits.buckets(), digits.sequence(), digits.nevis_stream(), digits.episodes("test")):
    before = _texts(data)
    if hasattr(data, "events"):
      for event in data.events()[:4]:
        if event.kind == "train":
          data.deliver(event)
    elif hasattr(data, "deliver"):
      data.deliver(0)
    elif hasattr(data, "episode"):
      data.episode(0)
    else:
      next(iter(data[0].test.eval_batches(8, transform=suite.learner(_net()).transform)))
    assert _texts(data) == before


def test_a_tensor_of_a_graph_that_a_learner_has_kept_is_its_shape():
  kept = []
  tf.function(lambda x: kept.append(x)).get_concrete_function(tf.TensorSpec([2, None]))
  assert _texts(kept) == {"value": "list of 1", "value[0]": "float32(2, None)"}


@pytest.mark.parametrize("one, other", [
    (1, 1.0), ("1", 1), ([1, 2], [2, 1]), ({"a": 1}, {"a": 2}), (pathlib.Path("a"), "b"),
    (np.float32(1), np.float64(1)), (functools.partial(max, 1), functools.partial(max, 2)),
    (tf.keras.optimizers.Adam(0.1), tf.keras.optimizers.Adam(0.2)),
    (np.random.default_rng(1), np.random.default_rng(2)), (float("nan"), float("inf")),
    (tf.keras.losses.Huber(1.0), tf.keras.losses.Huber(2.0)), ({1, 2}, {1, 3}), (b"a", b"b")])
def test_values_differ(one, other):
  assert _texts(one) != _texts(other)
  assert _texts(one) == _texts(one)


def test_files_that_an_argument_names_count_by_content(tmp_path, monkeypatch):
  def found(argument="folder"):
    return run_parts.contents("x", argument, [str(tmp_path)])

  (tmp_path / "a.jpg").write_bytes(b"one")
  first = found()
  assert list(first) == [f"x: content of {tmp_path}"] and found("name") == {}
  (tmp_path / "a.jpg").write_bytes(b"two")
  os.utime(tmp_path / "a.jpg", ns=(1, 1))
  assert found() != first
  monkeypatch.setattr(run_parts, "_MOST_BYTES", 2)  # Now by names and sizes alone.
  (tmp_path / "a.jpg").write_bytes(b"thr")
  large = found()
  (tmp_path / "a.jpg").write_bytes(b"fou")
  assert found() == large
  (tmp_path / "b.jpg").write_bytes(b"")
  assert found() != large


PROGRAM = """
import sys, json
import tensorflow as tf
import suite
from suite.data.digits import digits
from suite.running import run_parts

class Net(tf.keras.Model):
  def __init__(self):
    super().__init__()
    self.dense = tf.keras.layers.Dense(16)
  def call(self, x):
    return self.dense(tf.reshape(x, [-1, 192]))

net = Net()
net(tf.zeros([1, 8, 8, 3]))
parts = run_parts.Parts()
sequential = tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(8, 8, 3))])
given = [digits.buckets(), digits.sequence(), digits.nevis_stream(), digits.episodes("test"), net,
         {"set": {"b", "a", "c"}, "net": Net, "made": lambda: Net()}]
given += [suite.learner(sequential, name) for name in ("er", "slda", "icarl")]
given += [suite.learner(sequential, name).make("buckets") for name in ("er", "slda", "icarl")]
parts.add("given", given)
print(json.dumps(parts.texts))
"""


def test_two_processes_agree(tmp_path):
  (tmp_path / "program.py").write_text(PROGRAM)
  env = {**os.environ, "PYTHONPATH": str(pathlib.Path(suite.__file__).parents[1])}
  found = []
  for seed in ("1", "2"):
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True,
                          text=True, check=False, env={**env, "PYTHONHASHSEED": seed})
    assert not done.returncode, done.stderr
    found.append(json.loads(done.stdout.splitlines()[-1]))
  assert found[0] == found[1]
