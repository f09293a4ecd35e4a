# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Edits programs and their data in one place each, and restarts unchanged ones: is a result stale?

  python tools/edited_runs.py --edits 300 --restarts 100 [--seed 0] [--program NAME] [--keep DIR]

Each program is a script as users write them, with `suite.run(protocol=...)` on its own data:
arrays, a folder of JPEG files, a TFDS set; a model instance without a seed, a function that makes a
model, a subclassed model, and with TensorFlow 2.16 or newer a Keras 3 model. An edit changes one
number, word or operator of the script or of the module beside it, one pixel or label, or one file.
The program then runs in the same work directory, to the line that says what happens; "finished
earlier" after an edit is a stale result. Edits that break a program are not counted. A restart runs
the unchanged program, every second one after `kill -9` at a random moment of a run; it must resume
or read that run, and end with its records. The exit code is 0 if nothing was stale and no restart
failed.
"""

from __future__ import annotations

import argparse
import ast
import collections
from collections.abc import Callable, Iterator
import contextlib
import os
import pathlib
import random
import re
import runpy
import shutil
import signal
import sys
import tempfile
import time
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

import suite
from suite.reporting import records

_HELPERS = '''
import tensorflow as tf
SCALE = 1.5
POWERS = [1, 2]


def weighted(losses):
  return losses * SCALE + shifted(losses)


def shifted(losses):
  return losses ** POWERS[1] * 0.1
'''
_START = '''
import helpers
import numpy as np
import suite
import tensorflow as tf
RATE = 0.01
LEVELS = 255.0


def loss(labels, logits):
  losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
  return helpers.weighted(losses) * (1.0 + RATE)


def buckets(images):
  return suite.buckets.of([images, images.subset(range(0, 30))], test_share=0.4)
'''
_SEQUENTIAL = '''
  net = tf.keras.Sequential([
      tf.keras.layers.Rescaling(1 / LEVELS, input_shape=(8, 8, 3)), tf.keras.layers.Flatten(),
      tf.keras.layers.Dense(8, activation='relu')])
'''
_MADE = ("\ndef made(image_shape):" + _SEQUENTIAL.replace("(8, 8, 3)", "image_shape")
         + "  return net\n")
_ARRAYS = '''
data = np.load('data.npz')
images = suite.images.from_arrays(data['images'], data['labels'])
'''
_FOLDER = '''
images = suite.images.from_directory('photos')
'''
_RUN = '''
suite.run(protocol='clear', buckets=buckets(images), workdir='runs', seed=3,
          learners={'mine': suite.learner(MODEL, image_size=8, epochs=2, batch_size=8, loss=loss,
                                          optimizer=tf.keras.optimizers.Adam(RATE))})
'''
PROGRAMS = {
    "instance": _START + _ARRAYS + _SEQUENTIAL.replace("\n  ", "\n") + _RUN.replace("MODEL", "net"),
    "function": _START + _FOLDER + _MADE
                + _RUN.replace("MODEL", "made"),
    "subclass": _START + _ARRAYS + '''
class Net(tf.keras.Model):
  gain = 2.0

  def __init__(self, width=8):
    super().__init__()
    self.width = width
    self.dense = tf.keras.layers.Dense(width, activation='relu')

  def get_config(self):
    return {'width': self.width}

  def call(self, x):
    return self.dense(tf.reshape(x, [-1, 192]) / LEVELS) * self.gain + 0.5


net = Net(8)
net(tf.zeros([1, 8, 8, 3]))
''' + _RUN.replace("MODEL", "net"),
    "tfds": _START + '''
images = suite.images.from_tfds('edited_digits', data_dir='tfds')
''' + _MADE + _RUN.replace("MODEL", "made"),
    "keras3": _START + _ARRAYS + '''
import keras
net = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.Rescaling(1 / LEVELS),
                        keras.layers.Flatten(), keras.layers.Dense(8, activation='relu')])
''' + _RUN.replace("MODEL", "net"),
}
_WORDS = {"relu": "tanh"}  # Other words of the programs name files and columns.
_OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
              ast.Pow: ast.Mult}
_BY_CHANCE = ("instance", "subclass", "keras3")  # Each start has other first weights.
_LINE = re.compile(r"^mine: (finished earlier|resumed|computed)", re.MULTILINE)


class EditedDigits(tfds.core.GeneratorBasedBuilder):
  """Sixty random images in a version that can change."""

  VERSION = tfds.core.Version("1.0.0")

  def _info(self) -> Any:
    return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({
        "image": tfds.features.Image(shape=(8, 8, 3)),
        "label": tfds.features.ClassLabel(num_classes=3)}))

  def _split_generators(self, dl_manager: Any) -> Any:
    return {"train": self._generate_examples()}

  def _generate_examples(self) -> Iterator[Any]:
    images, labels = arrays()
    for place, (image, label) in enumerate(zip(images, labels)):
      yield place, {"image": image, "label": int(label)}


def arrays() -> tuple[np.ndarray, np.ndarray]:
  """60 images of noise around one level for each of three classes, and their labels."""
  rng = np.random.default_rng(0)
  labels = np.arange(60) % 3
  return (rng.integers(0, 90, [60, 8, 8, 3]) + 60 * labels[:, None, None, None]).astype(
      np.uint8), labels


def lay_out(folder: pathlib.Path, program: str) -> None:
  """Writes a program and all its data."""
  folder.mkdir(parents=True)
  for name, text in (("train.py", PROGRAMS[program]), ("helpers.py", _HELPERS)):
    (folder / name).write_text(ast.unparse(ast.parse(text)))
  images, labels = arrays()
  np.savez(folder / "data.npz", images=images, labels=labels)
  for place, (image, label) in enumerate(zip(images, labels)):
    path = folder / "photos" / f"class_{label}" / f"{place:03d}.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tf.io.encode_jpeg(image).numpy())
  if program == "tfds":
    EditedDigits(data_dir=str(folder / "tfds")).download_and_prepare()


def edits_of(folder: pathlib.Path, program: str) -> list[tuple[str, Callable[[], None]]]:
  """All one-place edits: what each is, and what makes it."""
  found: list[tuple[str, Callable[[], None]]] = []
  for name in ("train.py", "helpers.py"):
    tree = ast.parse((folder / name).read_text())
    # Zeros that build a net: how many there are changes nothing.
    passed = {id(part) for call in ast.walk(tree) if isinstance(call, ast.Call)
              and ast.unparse(call.func) == "tf.zeros" for part in ast.walk(call)}
    for place, node in enumerate(ast.walk(tree)):
      if id(node) in passed:
        continue
      for number, change in enumerate(_changes(node)):
        def edit(name: str = name, place: int = place, number: int = number) -> None:
          again = ast.parse((folder / name).read_text())
          node = next(one for i, one in enumerate(ast.walk(again)) if i == place)
          _changes(node)[number][1]()
          (folder / name).write_text(ast.unparse(again))
        found.append((f"{name}, line {getattr(node, 'lineno', 0)}: {change[0]}", edit))
  if "data.npz" in PROGRAMS[program]:
    for place in range(12):
      found.append((f"a pixel of image {place}", lambda p=place: _change_arrays(folder, p, None)))
      found.append((f"the label of image {place}", lambda p=place: _change_arrays(folder, None, p)))
  if "photos" in PROGRAMS[program]:
    for path in sorted((folder / "photos").rglob("*.jpg"))[:24]:
      found.append((f"the file {path.name}", lambda p=path: p.write_bytes(
          tf.io.encode_jpeg(255 - tf.io.decode_jpeg(p.read_bytes())).numpy())))
      found.append((f"the name of {path.name}", lambda p=path: p.rename(
          p.with_name(f"x{p.name}"))))
  if program == "tfds":
    found.append(("the version of the TFDS set", lambda: _new_version(folder)))
  return found


def _changes(node: ast.AST) -> list[tuple[str, Callable[[], None]]]:
  """The edits of a node of a syntax tree."""
  if isinstance(node, ast.Constant) and isinstance(node.value, bool):
    return [(f"{node.value}", lambda: setattr(node, "value", not node.value))]
  if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
    return [(f"{node.value} + 1", lambda: setattr(node, "value", node.value + 1)),
            (f"{node.value} * 2", lambda: setattr(node, "value", node.value * 2 or 3))]
  if isinstance(node, ast.Constant) and node.value in _WORDS:
    return [(f"{node.value}", lambda: setattr(node, "value", _WORDS[node.value]))]
  if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
    return [(f"operator {type(node.op).__name__}",
             lambda: setattr(node, "op", _OPERATORS[type(node.op)]()))]
  return []


def _change_arrays(folder: pathlib.Path, pixel: int | None, label: int | None) -> None:
  with np.load(folder / "data.npz") as stored:
    images, labels = stored["images"].copy(), stored["labels"].copy()
  if pixel is not None:
    images[pixel, pixel % 8, 3, 1] ^= 1
  if label is not None:
    labels[label] = (labels[label] + 1) % 3
  np.savez(folder / "data.npz", images=images, labels=labels)


def _new_version(folder: pathlib.Path) -> None:
  shutil.rmtree(folder / "tfds")
  EditedDigits.VERSION = tfds.core.Version("1.0.1")
  EditedDigits(data_dir=str(folder / "tfds")).download_and_prepare()


@contextlib.contextmanager
def edited(folder: pathlib.Path, edit: Callable[[], None]) -> Iterator[None]:
  """A program with an edit, and as before afterwards."""
  with tempfile.TemporaryDirectory(dir=folder.parent) as kept:
    names = [name for name in ("train.py", "helpers.py", "data.npz", "photos", "tfds")
             if (folder / name).exists()]
    for name in names:
      copy = shutil.copytree if (folder / name).is_dir() else shutil.copy2
      copy(folder / name, pathlib.Path(kept) / name)
    edit()
    try:
      yield
    finally:
      for name in names:
        if (folder / name).is_dir():
          shutil.rmtree(folder / name)
        shutil.move(pathlib.Path(kept) / name, folder / name)


def run(folder: pathlib.Path, *, to_line: bool = False, seconds: float | None = None) -> str:
  """Runs a program in a child process; returns what it said.

  Args:
    folder: of the program.
    to_line: whether it is ended once it has said what happens with its run.
    seconds: after which it is killed; None: it ends by itself.
  """
  log = folder / "log"
  log.unlink(missing_ok=True)
  child = os.fork()
  if not child:
    _child(folder, log)
  began = time.monotonic()
  while True:
    done, status = os.waitpid(child, os.WNOHANG)
    text = log.read_text() if log.exists() else ""
    is_due = seconds is not None and time.monotonic() - began > seconds
    if done:
      return text + (f"\nexit {status}" if status else "")
    if is_due or (to_line and _LINE.search(text)):
      os.kill(child, signal.SIGKILL)
      os.waitpid(child, 0)
      return log.read_text() if log.exists() else ""
    time.sleep(0.02)


def _child(folder: pathlib.Path, log: pathlib.Path) -> None:
  code = 1
  try:
    os.chdir(folder)
    file = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    for name in ("train.py", "helpers.py"):
      os.utime(name, (1e9, 1e9))  # Older than this process, as when a new one begins.
    sys.path.insert(0, str(folder))
    runpy.run_path(str(folder / "train.py"), run_name="__main__")
    code = 0
  except BaseException as error:
    os.write(2, f"{type(error).__name__}: {error}\n".encode())
  finally:
    os._exit(code)


def latest_records(folder: pathlib.Path) -> list[dict[str, Any]]:
  """The records of the latest run of a program, without times."""
  return records.strip_times([record for run in suite.report(folder / "runs").runs
                              for record in run.records])


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--edits", type=int, default=300)
  parser.add_argument("--restarts", type=int, default=100)
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--program", choices=sorted(PROGRAMS), action="append", default=[])
  parser.add_argument("--keep", type=pathlib.Path, help="folder of the programs")
  args = parser.parse_args()
  is_new = tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 16)
  names = args.program or [name for name in PROGRAMS if name != "keras3" or is_new]
  counts: collections.Counter[str] = collections.Counter()
  with contextlib.ExitStack() as stack:
    root = args.keep or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    root = root.resolve()
    for number, name in enumerate(names):
      rng = random.Random(args.seed + number)
      _laid_out_in_child(root / name, name)
      _edit(root / name, name, -(-args.edits // len(names)), rng, counts)
      _restart(root / name, name, -(-args.restarts // len(names)), rng, counts)
      print(f"{name}: {dict(counts)}", flush=True)
  return int(bool(counts["stale"] or counts["refused"] or counts["other records"]))


def _laid_out_in_child(folder: pathlib.Path, name: str) -> None:
  """Lays a program out in a child: this process must run no op before it forks."""
  child = os.fork()
  if not child:
    lay_out(folder, name)
    os._exit(0)
  if os.waitpid(child, 0)[1]:
    raise RuntimeError(f"{name} could not be written to {folder}.")


def _edit(folder: pathlib.Path, program: str, num: int, rng: random.Random,
          counts: collections.Counter[str]) -> None:
  said = run(folder)
  if not re.search("mine: computed", said) or "exit" in said:
    raise RuntimeError(f"{program} does not run:\n{said}")
  every = edits_of(folder, program)
  chosen = rng.sample(every, min(num, len(every)))
  for what, edit in chosen:
    with edited(folder, lambda edit=edit: _in_child(edit)):
      said = run(folder, to_line=True)
    match = _LINE.search(said)
    kind = match[1] if match else "broken"
    counts["edits"] += kind != "broken"
    counts["broken"] += kind == "broken"
    if kind in ("finished earlier", "resumed"):
      counts["stale"] += 1
      print(f"{program}: STALE after {what}", flush=True)


def _in_child(edit: Callable[[], None]) -> None:
  child = os.fork()
  if not child:
    edit()
    os._exit(0)
  if os.waitpid(child, 0)[1]:
    raise RuntimeError("An edit could not be made; see above.")


def _restart(folder: pathlib.Path, program: str, num: int, rng: random.Random,
             counts: collections.Counter[str]) -> None:
  shutil.rmtree(folder / "runs")
  began = time.monotonic()
  run(folder)
  expected, took = latest_records(folder), time.monotonic() - began
  for number in range(num):
    is_killed = number % 2 == 0
    if is_killed:
      shutil.rmtree(folder / "runs")
      run(folder, seconds=rng.uniform(0.3, 1.0) * took)
    said = run(folder)
    counts["restarts"] += 1
    if re.search(", beside |exit", said) or not _LINE.search(said):
      counts["refused"] += 1
      print(f"REFUSED: {said}", flush=True)
    elif len(found := latest_records(folder)) != len(expected) or (
        program not in _BY_CHANCE and found != expected):
      counts["other records"] += 1


if __name__ == "__main__":
  sys.exit(main())
