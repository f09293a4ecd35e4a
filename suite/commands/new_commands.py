# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite new method NAME`: a method to change, its test and a README; `suite new images FOLDER`."""

from __future__ import annotations

import argparse
import importlib.util
import keyword
import pathlib
import re

from suite.commands import parsing
from suite.configs import gin_files
from suite.configs import run_settings

_NAME, _CLASS = "my_method", "MyMethod"  # In the texts below.
_METHOD = '''"""MyMethod: experience replay, in which replayed rows count half. Make it your method.

    python my_method.py     runs it on five tasks of digits
    pytest                  tests it
"""

import suite
from suite.data.digits import digits
from suite.training.memories import memory as memories
from suite.training.memories import reservoir
from suite.training.objectives import objective
import tensorflow as tf


class MyMethod(objective.Objective):
  """One training step; its lines are in the order of the paper.

  Args:
    share: how much a replayed row counts.
  """

  needs = frozenset({objective.REPLAY})

  def __init__(self, share=0.5):
    super().__init__()
    self.share = share

  def step(self, rows, net, memory):
    drawn = memory.draw()
    now, then = net.logits(rows, drawn)  # One pass through the net.
    loss = net.cross_entropy(now, rows.labels)
    if not memory.is_empty:
      loss += self.share * net.cross_entropy(then, drawn.labels)
    net.update(loss)
    memory.store(rows)


def net(image_shape):
  return tf.keras.Sequential([
      tf.keras.Input(image_shape), tf.keras.layers.Rescaling(1 / 255), tf.keras.layers.Flatten(),
      tf.keras.layers.Dense(32, "relu")])


def learner(**settings):
  """The method around a net of images [8, 8, 3]; settings are those of GradientLearner."""
  return suite.learner(net, "finetune", **{
      "image_size": 8, "objective": MyMethod(), "train_on": "current", "epochs": 10,
      "learning_rate": 0.01, "memory": memories.Memory(100, reservoir.Reservoir()),
      "replay_batch": 16, "remember": "each_step", **settings})


if __name__ == "__main__":
  print(suite.run(protocol="incremental", buckets=digits.class_buckets(),
                  learners={"my_method": learner()}, workdir="runs/my_method"))
'''
_TEST = '''"""A step of MyMethod, worked out by hand."""

import math

import my_method
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.memories import step_rows
import tensorflow as tf


def test_a_replayed_row_counts_half():
  model = tf.keras.Sequential([
      tf.keras.layers.Dense(2, kernel_initializer="zeros", input_shape=(3,))])
  step = train_step.TrainStep(model, objective=my_method.MyMethod(share=0.5),
                              optimizer=optimizers.Sgd(model.trainable_variables))
  new, old = (step_rows.Rows(tf.ones([1, 3]), tf.constant([label], tf.int64), sizes=(1,))
              for label in (0, 1))
  memory = step_rows.StepMemory(new, num=1, is_empty=False, draws=[old])
  net = step.take(new, memory, rate=tf.constant(0.1))
  # All logits are 0, so that each row has the loss log 2.
  assert math.isclose(net.loss, 1.5 * math.log(2), rel_tol=1e-6)
  assert memory.drawn == [1] and model.get_weights()[1][0] > 0  # The new row's class gains.
'''
_README = '''# MyMethod

`my_method.py` has the method, a class with a `step`, and the net that it trains; change both.

    python my_method.py     five tasks of digits: accuracy, forgetting, FLOPs
    pytest                  my_method_test.py: a step, worked out by hand

Your data: `buckets=suite.buckets.of_classes(suite.images.from_directory("photos"), num_tasks=5)`.

What `rows`, `net` and `memory` have, and other forms of a method: docs/own/method.md of the suite.
'''
FILES = {f"{_NAME}.py": _METHOD, f"{_NAME}_test.py": _TEST, "README.md": _README}


def add(new: argparse.ArgumentParser) -> None:
  """Adds the action of `suite new`."""
  actions = parsing.group(new, "actions", "ACTION")
  images = actions.add_parser(
      "images", help="write handwritten digits into a new folder, as suite compare reads images",
      description="Writes FOLDER/CLASS/NUMBER.png, 1,797 images of scikit-learn in ten folders: "
      "data to try the suite on, and the layout that your own images need.")
  run_settings.add_flags(images, "debug")
  images.add_argument("folder", metavar="FOLDER", type=pathlib.Path, help="a new folder")
  images.set_defaults(do=_new_images)
  method = actions.add_parser(
      "method", help="write a method, its test and a README into a new folder",
      description="Writes NAME/NAME.py, NAME/NAME_test.py and NAME/README.md: a method that runs "
      "and is tested, for you to change. Nothing is written over.")
  run_settings.add_flags(method, "debug")
  method.add_argument("name", metavar="NAME",
                      help="of the method, folder and file: small letters, digits and _")
  method.set_defaults(do=_new_method)


def _new_images(args: argparse.Namespace) -> int:
  from suite.data.digits import digits
  folder = _new_folder(args.folder)
  digits.write(folder)
  print(f"Wrote {digits.NUM_IMAGES:,} images of {len(digits.WORDS)} classes into {folder}. Try "
        f"them: suite compare {folder} --methods er,slda")
  return 0


def _new_method(args: argparse.Namespace) -> int:
  _check_name(args.name)
  folder = _new_folder(pathlib.Path(args.name))
  title = "".join(part.capitalize() for part in args.name.split("_"))
  for file, text in FILES.items():
    (folder / file.replace(_NAME, args.name)).write_text(
        text.replace(_NAME, args.name).replace(_CLASS, title), encoding="utf-8")
  print(f"Wrote {', '.join(str(path) for path in sorted(folder.iterdir()))}. Try it: cd {folder} "
        "&& pytest")
  return 0


def _new_folder(folder: pathlib.Path) -> pathlib.Path:
  """Makes a folder, which must not be there."""
  try:
    folder.mkdir()
  except FileExistsError as error:
    raise gin_files.ConfigError(f"{folder} is there already, and nothing was written. Give another "
                                "name, or move it away.") from error
  except OSError as error:
    raise gin_files.ConfigError(f"The folder {folder} cannot be made: {error.strerror}.") from error
  return folder


def _check_name(name: str) -> None:
  """Refuses what is no name of a module, or would hide another one."""
  if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "my_method"
    plain = f"method_{plain}" if keyword.iskeyword(plain) or not plain[0].isalpha() else plain
    raise gin_files.ConfigError(f"{name!r} is no name for a Python file. Give small letters, "
                                f"digits and _, a letter first: suite new method {plain}")
  if not pathlib.Path(name).exists() and importlib.util.find_spec(name) is not None:
    raise gin_files.ConfigError(f"{name!r} is the name of an installed package, which the file "
                                f"would hide. Give another name: suite new method my_{name}")
