# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Methods and nets in files of users: what is found, what it is given, what is refused."""

from __future__ import annotations

import pathlib

import pytest
import tensorflow as tf

from suite.configs import gin_files
from suite.configs import gin_names
from suite.contracts import deliveries
from suite.data.images import image_ops
from suite.learners import gradient
from suite.running import own_files
from suite.training.objectives import objective

METHODS = '''
from beside import RATE
from suite.training.objectives import objective
from suite.training.statistics import class_means
import tensorflow as tf


class Step(objective.Objective):
  pass


class Replay(objective.Objective):
  needs = frozenset({"replay"})


class Means(class_means.ClassMeans):
  pass


class Own:
  def __init__(self, image_size, net, rate=RATE):
    self.size, self.net = image_size, net

  def learn(self, experience, context):
    pass

  def predict(self, images):
    pass


class Asks:
  def __init__(self, cleverness):
    pass


class Breaks:
  def __init__(self):
    {}["nothing"]


def net(image_shape):
  return tf.keras.Sequential([tf.keras.Input(image_shape), tf.keras.layers.Flatten()])


def model():
  return net((4, 4, 3))


NUMBER = 3
'''
NETS = '''
import tensorflow as tf
K = tf.keras


class Net(K.Model):
  def __init__(self, how):
    super().__init__()
    self.how, self.flat, self.top = how, K.layers.Flatten(), K.layers.Dense(3)

  def call(self, x):
    logits = self.top(self.flat(x))
    return {"two": (logits, logits), "four": x}.get(self.how, tf.nn.softmax(logits))


def softmax(shape):
  return K.Sequential([K.Input(shape), K.layers.Flatten(), K.layers.Dense(3, "softmax")])


def two(shape):
  return Net("two")


def four(shape):
  return Net("four")


def probabilities(shape):
  return Net("probabilities")


def breaks(shape):
  raise RuntimeError("no luck")
'''


@pytest.fixture(name="folder")
def _folder(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  pathlib.Path("beside.py").write_text("RATE = 0.5\n")
  pathlib.Path("own_methods.py").write_text(METHODS)
  pathlib.Path("own_nets.py").write_text(NETS)
  return tmp_path


@pytest.mark.usefixtures("folder")
def test_each_kind_is_made_in_its_way():
  kinds = {name: own_files.kind_of(own_files.find(f"own_methods.py:{name}"))
           for name in ("Step", "Replay", "Means", "Own", "net")}
  assert list(kinds.values()) == [own_files.OBJECTIVE, own_files.REPLAY, own_files.STATISTIC,
                                  own_files.LEARNER, own_files.LEARNER]
  assert isinstance(own_files.made("own_methods.py:Step"), objective.Objective)
  transform = image_ops.Plain(size=4)
  own = own_files.learner("own_methods.py:Own", delivery=deliveries.BUCKETS, transform=transform,
                          net=len)
  assert (own.size, own.net, own.transform) == (4, len, transform)
  made = own_files.learner("own_methods.py:model", delivery=deliveries.BUCKETS)
  assert isinstance(made, gradient.GradientLearner)
  backbone = own_files.backbone("own_methods.py:net")
  assert own_files.check_net(backbone, (4, 4, 3), "own_methods.py:net") == 48


@pytest.mark.parametrize("text, source, message", [
    ("no.py:A", None, "There is no file 'no.py'"),
    ("a.py:B", "class A:\n  pass\n", "a.py has no 'B'. Known: A"),
    ("a.py", "class A:\n  def learn(self): pass\n  def predict(self): pass\nclass B(A):\n  pass\n",
     "a.py has A, B; name the one that is meant: a.py:A"),
    ("a.py", "X = 3\n", "a.py has no class or function. Write a class"),
    ("a.py:A", "import math\nimport nothing_here\n", "a.py, line 2: it cannot be imported (Module"),
    ("a.py:A", "def f(:\n", "a.py, line 1: it cannot be imported (SyntaxError"),
    ("own_methods.py:NUMBER", None, "is int; give a class, or a function that makes a learner"),
    ("own_methods.py:Asks", None, "Asks needs cleverness, and a run gives transform, features")])
@pytest.mark.usefixtures("folder")
def test_what_no_run_can_use_is_refused_in_one_line(text, source, message):
  if source is not None:
    pathlib.Path("a.py").write_text(source)
  with pytest.raises(gin_files.ConfigError) as error:
    own_files.kind_of(own_files.find(text))
  assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.usefixtures("folder")
def test_an_error_of_the_class_names_its_line():
  with pytest.raises(gin_files.ConfigError, match="own_methods.py, line 38: Breaks cannot be made"):
    own_files.learner("own_methods.py:Breaks", delivery=deliveries.BUCKETS)


@pytest.mark.parametrize("name, message", [
    ("softmax", "ends in a softmax.*head='replace'"), ("two", "has 2 outputs"),
    ("four", "features \\[B, D\\]: end it with pooling or Flatten"),
    ("probabilities", "own_nets.py:probabilities makes probabilities: .* leave the softmax"),
    ("breaks", "own_nets.py, line .*: the net cannot be made \\(RuntimeError: no luck\\)")])
@pytest.mark.usefixtures("folder")
def test_a_net_that_makes_no_features_is_refused_by_name(name, message):
  text = f"own_nets.py:{name}"
  with pytest.raises(ValueError, match=message):
    own_files.check_net(own_files.backbone(text), (4, 4, 3), text)


@pytest.mark.usefixtures("folder")
def test_a_model_file_is_a_net():
  tf.keras.Sequential([tf.keras.Input((4, 4, 1)), tf.keras.layers.Flatten(),
                       tf.keras.layers.Dense(2, "softmax")]).save("net.keras")
  made = own_files.backbone("net.keras", "replace")
  assert made.image_shape == (4, 4, 1)
  assert own_files.check_net(made, (4, 4, 1), "net.keras") == 16
  with pytest.raises(gin_files.ConfigError, match="There is no file 'none.keras'"):
    own_files.backbone("none.keras")


def test_gin_files_of_somebody_else_never_name_a_file_of_code():
  with pytest.raises(ValueError, match="suite.running"):
    gin_names.parsed("shipped,suite.running.own_files.learner")
