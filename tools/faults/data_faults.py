# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Faults of data: archives, images, arrays, accuracy caches, gin files and command lines.

Bytes are changed at random. What is read must be what was written, or be refused by a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import io
import pathlib
import random
import shutil
import tarfile
import time
import zipfile

import forked
import numpy as np
import outcomes
from PIL import Image
import run_faults

from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import run_files
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import cache_check
from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import image_arrays
from tfds_builders.parsers import images
from tfds_builders.parsers import mat_files

SLOW = 30.0  # Seconds after which reading counts as hanging.
_EXPECTED = (errors.DataError, gin_files.ConfigError, accuracy_cache.CacheError)
_WORDS = ("run", "list", "report", "data", "lifelong", "verify", "build", "doctor", "status",
          "quickstart", "digits/fluid", "nowhere", "--workdir", "--gin_param", "--gin_file",
          "--strategy", "multi_worker", "--devices", "0", "-1", "STEPS=", "STEPS='x'", "=",
          "--jobs", "--only", "--cache", "/dev/null", "", "\x01", "é", "a" * 300, "--help",
          "nevis/mnist")


def mutated(data: bytes, draw: random.Random) -> bytes:
  """A copy with a few changed, removed, repeated or extreme bytes."""
  found = bytearray(data)
  for _ in range(draw.randint(1, 4)):
    at, length = draw.randrange(len(found) + 1), draw.randint(1, 16)
    how = draw.choice(["bit", "random", "cut", "insert", "extreme", "repeat"])
    if how == "bit" and at < len(found):
      found[at] ^= 1 << draw.randrange(8)
    elif how == "random":
      found[at:at + length] = draw.randbytes(length)
    elif how == "cut":
      del found[at:at + length]
    elif how == "insert":
      found[at:at] = draw.randbytes(length)
    elif how == "extreme":
      found[at:at + 8] = draw.choice([b"\xff" * 8, bytes(8), b"\x7f" + b"\xff" * 7, b"99999999"])
    else:
      found[at:at] = found[at:at + 64]
  return bytes(found)


def _read(kind: str, what: str, read: Callable[[], object]) -> outcomes.Fault:
  """The outcome of reading: a value, or a message; anything else is lost."""
  begun = time.monotonic()
  try:
    read()
    outcome, said = outcomes.SURVIVED, ""
  except _EXPECTED as error:
    outcome, said = outcomes.REFUSED, str(error)
  except Exception as error:  # The kind of error is what is looked for.
    outcome, said = outcomes.TRACEBACK, f"{type(error).__name__}: {error}"
  if time.monotonic() - begun > SLOW:
    outcome, said = outcomes.TRACEBACK, f"took {time.monotonic() - begun:.0f} s"
  return outcomes.Fault(kind, what, outcome, said)


def _tar(format_: int, mode: str) -> bytes:
  stream = io.BytesIO()
  with tarfile.open(fileobj=stream, mode=mode, format=format_) as archive:  # type: ignore
    for index in range(4):
      info = tarfile.TarInfo(f"folder/{'long' * 40 * index}é{index}.txt")
      info.size = 100 * index
      archive.addfile(info, io.BytesIO(b"x" * info.size))
  return stream.getvalue()


def _zip() -> bytes:
  stream = io.BytesIO()
  with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
    for index in range(4):
      archive.writestr(f"folder/é{index}.txt", b"x" * 100 * index)
  return stream.getvalue()


def of_archives(folder: pathlib.Path, draw: random.Random) -> Iterator[outcomes.Fault]:
  """An archive with changed bytes is read member by member."""
  make = {"zip": _zip, "pax": lambda: _tar(tarfile.PAX_FORMAT, "w"),
          "gnu": lambda: _tar(tarfile.GNU_FORMAT, "w"),
          "pax.gz": lambda: _tar(tarfile.PAX_FORMAT, "w:gz"),
          "ustar.xz": lambda: _tar(tarfile.GNU_FORMAT, "w:xz")}
  kind = draw.choice(sorted(make))
  path = folder / "archive"
  path.write_bytes(mutated(make[kind](), draw))
  yield _read("changed archive", kind, lambda: list(archives.members(path)))


def of_images(folder: pathlib.Path, draw: random.Random) -> Iterator[outcomes.Fault]:
  """An image with changed bytes is converted, and checked as builders do."""
  del folder
  kind, stream = draw.choice(["GIF", "BMP", "TIFF", "PNG", "JPEG", "PPM"]), io.BytesIO()
  pixels = np.arange(9 * 7 * 3, dtype=np.uint8).reshape(9, 7, 3)
  Image.fromarray(pixels).save(stream, kind)
  data = mutated(stream.getvalue(), draw)
  yield _read("changed image", kind,
              lambda: images.unreadable([(images.encoded(data, "x"), "x")], 3))


def of_arrays(folder: pathlib.Path, draw: random.Random) -> Iterator[outcomes.Fault]:
  """A .npy or MATLAB file with changed bytes is read."""
  del folder
  if draw.random() < 0.5:
    stream = io.BytesIO()
    np.save(stream, np.arange(60, dtype=np.float32).reshape(3, 4, 5))
    data = mutated(stream.getvalue(), draw)
    yield _read("changed array file", "npy", lambda: image_arrays.load(data, "x.npy"))
    return
  cell = np.empty(3, object)
  cell[:] = ["text", np.arange(6.0), np.array([[1]])]
  data = mutated(mat_files.packed({"cell": cell, "record": {"a": 1, "b": "two"}}), draw)
  yield _read("changed array file", "mat",
              lambda: mat_files.read(data, "x.mat", ["cell", "record"], squeeze=True))


def of_caches(folder: pathlib.Path, draw: random.Random) -> Iterator[outcomes.Fault]:
  """A file of an accuracy cache is damaged; then a model is added."""
  whole, rng = folder / "cache", np.random.default_rng(0)
  answers = rng.integers(-1, 2, (6, 300)).astype(np.int8)
  if not whole.exists():
    cache = accuracy_cache.AccuracyCache(whole, create=True)
    cache.add_models(["m0", "m1"], answers[:2, :200], [f"s{i}" for i in range(200)])
    cache.add_samples([f"s{i}" for i in range(200, 300)], answers[:2, 200:])
    for index in range(2, 6):
      cache.add_models([f"m{index}"], answers[index:index + 1])
  damaged = folder / "damaged_cache"
  shutil.rmtree(damaged, ignore_errors=True)
  shutil.copytree(whole, damaged)
  path = draw.choice(sorted(p for p in damaged.iterdir() if p.name != "lock"))
  how = draw.choice(run_faults.DAMAGES)
  run_faults.spoil(path, how, draw)
  fault = _read("damaged file of a cache", f"{path.name} {how}", lambda: accuracy_cache.
                AccuracyCache(damaged).add_models(["new"], answers[:1]))
  if fault.outcome == outcomes.SURVIVED:
    found = accuracy_cache.AccuracyCache(damaged)
    same = found.models[:-1] == [f"m{i}" for i in range(6)] and np.array_equal(
        found.matrix(found.models[:-1]), answers)
    if not same or cache_check.problems(damaged):
      fault = fault._replace(outcome=outcomes.SILENT)
  yield fault


def of_gin_files(folder: pathlib.Path, draw: random.Random) -> Iterator[outcomes.Fault]:
  """A run file with changed bytes is parsed; nothing of it is called."""
  path = draw.choice(sorted(run_files.shipped().values()))
  changed = folder / "changed.gin"
  changed.write_bytes(mutated(path.read_bytes(), draw))
  yield _read("changed gin file", path.stem,
              lambda: gin_parse.parse([changed], names=["shipped"]))


def of_command_lines(folder: pathlib.Path, draw: random.Random) -> Iterator[outcomes.Fault]:
  """A command of random words must end by itself, with a known exit code and no traceback."""
  words = [draw.choice(_WORDS) for _ in range(draw.randint(1, 6))]
  if words[0] == "run":  # A run that begins is another kind's business.
    words += ["--gin_param", "experiment.run.seed='not a number'"]
  done = forked.run([*words, "--data_dir", str(folder / "data")] if words[0] == "data" else words,
                    seconds=60)
  known = done.code in (0, 1, 2) and "Traceback" not in done.output
  yield outcomes.Fault("random command line", " ".join(map(repr, words)),
                       (outcomes.SURVIVED if done.code == 0 else outcomes.REFUSED) if known else
                       outcomes.TRACEBACK, done.output[-300:])


KINDS = ((of_archives, 8), (of_images, 4), (of_arrays, 4), (of_caches, 5), (of_gin_files, 2),
         (of_command_lines, 1))
