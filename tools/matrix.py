# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tries Pythons and TensorFlows: makes an environment of each, runs tests there, writes a table.

    python tools/matrix.py --folder /tmp/envs 3.11 3.13              what setup.cfg asks for there
    python tools/matrix.py --folder /tmp/envs 3.12:2.19 3.10:2.20    a TensorFlow by name
    python tools/matrix.py --folder /tmp/envs 3.13 --tests tests/models --update

Python 3.10 and 3.11 get TensorFlow 2.15 from setup.cfg; for a newer one, named, the packages are
those that LIFELONG_TENSORFLOW=newer asks for (setup.py). `uv` makes the environments if it is
installed, else `pythonX.Y -m venv`, of the PATH or of pyenv. An environment that is there is used
again; --remove deletes each of them (2 to 3 GB) after its tests. --update adds the rows to the
table in docs/dependencies.md, in place of rows of the same versions.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "dependencies.md"
START, END = "<!-- matrix -->\n", "<!-- end of matrix -->\n"
HEAD = ("| Python | TensorFlow | Keras | NumPy | tensorflow-addons | tests | result | date |\n"
        "|---|---|---|---|---|---|---|---|\n")
TESTS = ("tests/compute", "tests/models", "tests/state", "tests/metrics", "tests/data/images")
_VERSIONS = """
import importlib.metadata as metadata, platform
def version(*names):
  for name in names:
    try:
      return name, metadata.version(name)
    except metadata.PackageNotFoundError:
      pass
  return names[0], "none"
keras = version("tf-keras", "keras")
print(platform.python_version(), version("tensorflow")[1], " ".join(keras), version("numpy")[1],
      version("tensorflow-addons")[1], sep="|")
"""


class Line(NamedTuple):
  """A Python, "3.12", and the TensorFlow to install there, "2.19"; "": what setup.cfg asks for."""

  python: str
  tensorflow: str


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("lines", nargs="+", type=_line, metavar="X.Y[:TENSORFLOW]")
  parser.add_argument("--folder", type=pathlib.Path, required=True, help="of the environments")
  parser.add_argument("--tests", nargs="+", default=list(TESTS), metavar="PATH")
  parser.add_argument("--remove", action="store_true", help="delete an environment when tried")
  parser.add_argument("--update", action="store_true", help="write the rows into the page")
  args = parser.parse_args(arguments)
  rows = []
  for line in args.lines:
    rows.append(_tried(line, args.folder, args.tests))
    print(rows[-1], end="", flush=True)
    if args.remove:
      shutil.rmtree(_environment(line, args.folder), ignore_errors=True)
    if args.update:
      PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), [rows[-1]]), encoding="utf-8")
  return int(any("passed" not in row or "failed" in row for row in rows))


def updated(page: str, rows: Sequence[str]) -> str:
  """The page with the rows in its table, sorted, in place of those of the same versions."""
  before, rest = page.split(START)
  table, after = rest.split(END)
  kept = {_key(row): row for row in [*table.splitlines(keepends=True)[2:], *rows]}
  ordered = sorted(kept.values(), key=lambda row: [
      [int(part) for part in re.findall(r"\d+", cell)] for cell in _key(row)])
  return before + START + HEAD + "".join(ordered) + END + after


def _line(text: str) -> Line:
  if not re.fullmatch(r"3\.\d+(:2\.\d+)?", text):
    raise argparse.ArgumentTypeError(f"got {text!r}, expected for example 3.12 or 3.12:2.19")
  python, _, tensorflow = text.partition(":")
  return Line(python, tensorflow)


def _key(row: str) -> tuple[str, ...]:
  return tuple(cell.strip() for cell in row.split("|")[1:3])


def _environment(line: Line, folder: pathlib.Path) -> pathlib.Path:
  return folder / "-".join(filter(None, ["py" + line.python, line.tensorflow]))


def _tried(line: Line, folder: pathlib.Path, tests: Sequence[str]) -> str:
  """Installs and runs the tests; returns the row."""
  env = _environment(line, folder)
  today = datetime.date.today().isoformat()
  try:
    _install(line, env)
  except (OSError, subprocess.CalledProcessError) as error:
    said = str(getattr(error, "stderr", None) or error).strip().splitlines()[-1]
    asked = line.tensorflow or "by setup.cfg"
    return f"| {line.python} | {asked} | | | | | not installed: {said} | {today} |\n"
  python = str(env / "bin" / "python")
  versions = subprocess.run([python, "-c", _VERSIONS], capture_output=True, text=True, check=True)
  start = time.monotonic()
  done = subprocess.run(
      [python, "-m", "pytest", "-q", "--timeout=900", *tests], cwd=ROOT, text=True, check=False,
      capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"})
  said = (done.stdout.strip().splitlines() or [f"exit {done.returncode}"])[-1].strip("= ")
  log = env.with_name(f"{env.name}.log")
  log.write_text(done.stdout + done.stderr, encoding="utf-8")
  print(f"{line}: {said} in {time.monotonic() - start:.0f} s, see {log}", file=sys.stderr)
  result = re.sub(r" in [\d.]+s.*", "", said)
  named = ", ".join(f"`{test}`" for test in tests)
  return f"| {' | '.join(versions.stdout.strip().split('|'))} | {named} | {result} | {today} |\n"


def _install(line: Line, env: pathlib.Path) -> None:
  """Makes the environment, once."""
  done = env / "installed"
  if done.exists():
    return
  uv = shutil.which("uv")
  python = str(env / "bin" / "python")
  if uv:
    _run([uv, "venv", "--clear", "--seed", "--python", _interpreter(line.python) or line.python,
          str(env)])
  else:
    base = _interpreter(line.python)
    if not base:
      raise FileNotFoundError(f"python{line.python} was not found; install it, or uv")
    _run([base, "-m", "venv", "--clear", str(env)])
  pip = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install", "-q"]
  named = [f"tensorflow=={line.tensorflow}.*"] if line.tensorflow else []
  newer = {"LIFELONG_TENSORFLOW": "newer"} if named and line.tensorflow != "2.15" else {}
  _run([*pip, "-e", f"{ROOT}[dev]", *named], {**os.environ, **newer})
  done.write_text("")


def _interpreter(version: str) -> str:
  """The path of pythonX.Y that starts, or ""."""
  homes = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
  for path in [shutil.which(f"python{version}"), *map(str, reversed(homes))]:
    if path:
      done = subprocess.run([path, "--version"], capture_output=True, check=False)
      if done.returncode == 0:
        return path
  return ""


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
  subprocess.run(command, check=True, capture_output=True, text=True, env=environment)


if __name__ == "__main__":
  sys.exit(main())
