# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Applies small mutations to the code, one at a time, and says which of them the tests catch.

  pytest --cov --cov-context=test [TESTS ...]     writes .coverage: which test runs which line
  python tools/mutations.py --coverage .coverage --number 80 --seed 0
  python tools/mutations.py --tests tests/metrics --files "suite/metrics/*.py" --number 10
  pytest --durations=0 > times; python tools/mutations.py --coverage .coverage --times times

Draws lines, and of each line one mutation: a sign, a number that is off by one, a term that is
left out, two arguments that are swapped, another comparison. Each is applied to a copy of the
checkout, where the tests that run its line end at their first failure: quick ones first, if their
times are given. A test that fails without the mutation, too, is left out and the others go on. With
--whole, all tests run for the mutations that survive. With --fork, each run is a fork of a process
that has imported TensorFlow. Functions that AutoGraph converts and processes that tests start leave
no coverage: their lines are drawn with --tests only.

The exit code is 0 if all mutations are caught. One at the time limit counts as caught there: look
whether its tests are without end or only many, and raise --time_limit.
"""

from __future__ import annotations

import argparse
import ast
import collections
from collections.abc import Iterator, Mapping, Sequence
import copy
import dataclasses
import fnmatch
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILES = tuple(f"suite/{wing}/*.py"
              for wing in ("training", "metrics", "compute", "protocols", "lifelong"))
CAUGHT, SURVIVED, NO_TEST, TIMEOUT = "caught", "survived", "no test", "time limit"
_SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
_COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
_NOT_COPIED = (".git", ".venv*", "__pycache__", "*.egg-info", ".coverage*")


@dataclasses.dataclass(frozen=True)
class Mutation:
  """One change of one expression.

  Attributes:
    file: relative to the checkout. line: of its beginning. kind: what is changed.
    start, end: offsets of the expression in the file's bytes. before, after: its text.
  """

  file: str
  line: int
  kind: str
  start: int
  end: int
  before: str
  after: str

  def apply(self, source: bytes) -> bytes:
    return source[:self.start] + self.after.encode() + source[self.end:]


@dataclasses.dataclass
class Outcome:
  mutation: Mutation
  state: str
  num_tests: int
  seconds: float
  test: str = ""  # That failed.


def mutations(file: str, source: str) -> list[Mutation]:
  """All mutations of a file; none of annotations, messages, decorators and docstrings."""
  starts = [0]
  for line in source.encode().splitlines(keepends=True):
    starts.append(starts[-1] + len(line))
  found = []
  for node in _expressions(ast.parse(source)):
    begin = starts[node.lineno - 1] + node.col_offset
    end = starts[node.end_lineno - 1] + node.end_col_offset
    before = source.encode()[begin:end].decode()
    for kind, changed in _changes(node):
      after = ast.unparse(ast.fix_missing_locations(changed))
      if not isinstance(changed, (ast.Call, ast.Constant)):
        after = f"({after})"
      found.append(Mutation(file, node.lineno, kind, begin, end, before, after))
  return found


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
  for name, value in ast.iter_fields(node):
    if name in ("annotation", "returns", "decorator_list", "msg") or isinstance(
        node, (ast.Raise, ast.JoinedStr)):
      continue
    for child in value if isinstance(value, list) else [value]:
      if isinstance(child, ast.expr):
        yield child
      if isinstance(child, ast.AST):
        yield from _expressions(child)


def _changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
  """(kind, changed copy) of one expression, without its parts."""
  if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
    changed = copy.deepcopy(node)
    changed.op = _SIGNS[type(node.op)]()
    yield "sign", changed
    if isinstance(node.op, (ast.Add, ast.Sub)):
      yield "dropped term", copy.deepcopy(node.left)
  elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
    yield "sign", copy.deepcopy(node.operand)
  elif isinstance(node, ast.Constant) and type(node.value) is int:
    yield "off by one", ast.Constant(node.value + 1)
  elif isinstance(node, ast.Call) and len(node.args) >= 2 and not any(
      isinstance(argument, ast.Starred) for argument in node.args[:2]):
    changed = copy.deepcopy(node)
    changed.args[:2] = changed.args[1], changed.args[0]
    if ast.dump(changed) != ast.dump(node):
      yield "swapped arguments", changed
  elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
    changed = copy.deepcopy(node)
    changed.ops[0] = _COMPARISONS[type(node.ops[0])]()
    yield "comparison", changed
  elif isinstance(node, ast.BoolOp):
    changed = copy.deepcopy(node)
    changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "comparison", changed


def read_coverage(path: pathlib.Path, root: pathlib.Path) -> dict[tuple[str, int], list[str]]:
  """The tests that run each line, by (file, line), from a file of `pytest --cov-context=test`."""
  import coverage

  data, tests = coverage.CoverageData(str(path)), {}
  data.read()
  for name in data.measured_files():
    place = pathlib.Path(name)
    file = place.relative_to(root).as_posix() if place.is_relative_to(root) else name
    for line, contexts in data.contexts_by_lineno(name).items():
      found = sorted({context.split("|")[0] for context in contexts if "::" in context})
      if found:
        tests[file, line] = found
  return tests


def read_times(text: str) -> dict[str, float]:
  """The seconds of tests by name, from the output of `pytest --durations=0`."""
  times: dict[str, float] = collections.defaultdict(float)
  for seconds, test in re.findall(r"^ *([\d.]+)s (?:setup|call|teardown) +(\S.*)$", text,
                                  re.MULTILINE):
    times[test] += float(seconds)
  return times


def draw(candidates: Sequence[Mutation], number: int, seed: int) -> list[Mutation]:
  """One mutation of each of `number` lines, drawn without replacement; order is by chance."""
  lines: dict[tuple[str, int], list[Mutation]] = {}
  for one in candidates:
    lines.setdefault((one.file, one.line), []).append(one)
  chance = random.Random(seed)
  chosen = chance.sample(sorted(lines), min(number, len(lines)))
  return [chance.choice(lines[line]) for line in chosen]


class Copy:
  """A copy of the checkout in which mutations are tried."""

  def __init__(self, root: pathlib.Path, folder: pathlib.Path, time_limit: float,
               forks: bool = False):
    self.root = folder / "copy"
    self._time_limit, self._forks = time_limit, forks
    self._broken: set[str] = set()
    shutil.copytree(root, self.root, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_COPIED))

  def outcome(self, mutation: Mutation, tests: Sequence[str]) -> Outcome:
    """Runs the tests on the mutated copy."""
    path, began = self.root / mutation.file, time.monotonic()
    source, left = path.read_bytes(), [test for test in tests if test not in self._broken]
    try:
      while left:
        path.write_bytes(mutation.apply(source))
        code, failed = self._pytest(left)
        seconds = time.monotonic() - began
        if code is None:
          return Outcome(mutation, TIMEOUT, len(left), seconds)
        if code == 0:
          return Outcome(mutation, SURVIVED, len(left), seconds)
        path.write_bytes(source)
        # A file that cannot be imported names no test.
        if code == 1 and failed in left and self._pytest([failed])[0] == 1:
          self._broken.add(failed)
          left.remove(failed)
          continue
        return Outcome(mutation, CAUGHT, len(left), seconds, failed)
    finally:
      path.write_bytes(source)
    return Outcome(mutation, NO_TEST, 0, time.monotonic() - began)

  def _pytest(self, tests: Sequence[str]) -> tuple[int | None, str]:
    """The exit code, None after the time limit; and the test that failed first."""
    arguments = ["-x", "-q", "-rfE", "-p", "no:cacheprovider", "--no-header", *tests]
    if self._forks:
      code, output = self._fork(arguments)
    else:
      try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments], cwd=self.root, capture_output=True,
            text=True, check=False, timeout=self._time_limit,
            env={**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"})
      except subprocess.TimeoutExpired:
        return None, ""
      code, output = done.returncode, done.stdout
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
    return code, found[1] if found else ""

  def _fork(self, arguments: Sequence[str]) -> tuple[int | None, str]:
    """The same in a fork of this process, which has imported TensorFlow and nothing of the copy."""
    log = self.root.parent / "output"
    pid = os.fork()
    if not pid:
      os.setsid()  # What tests start ends with it.
      descriptor = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
      os.dup2(descriptor, 1)
      os.dup2(descriptor, 2)
      os.chdir(self.root)
      os.environ["PYTHONPATH"] = str(self.root)
      sys.dont_write_bytecode = True
      sys.path[0] = str(self.root)  # In place of the folder of this tool.
      import pytest

      code = int(pytest.main(list(arguments)))
      sys.stdout.flush()
      os._exit(code)
    deadline, status = time.monotonic() + self._time_limit, None
    while status is None and time.monotonic() < deadline:
      ended, found = os.waitpid(pid, os.WNOHANG)
      if ended:
        status = found
      else:
        time.sleep(0.05)
    try:
      os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
      pass
    if status is None:
      os.waitpid(pid, 0)
      return None, ""
    return os.waitstatus_to_exitcode(status), log.read_text(encoding="utf-8", errors="replace")


def table(outcomes: Sequence[Outcome]) -> str:
  """One line a mutation, and how many of them are caught."""
  lines = ["| mutation | kind | before | after | tests | result | s | caught by |",
           "| --- | --- | --- | --- | --- | --- | --- | --- |"]
  for one in outcomes:
    mutation = one.mutation
    texts = (" ".join(text.split()).replace("|", "\\|")
             for text in (mutation.before, mutation.after))
    lines.append(" | ".join([
        f"| {mutation.file}:{mutation.line}", mutation.kind, *(f"`{text}`" for text in texts),
        str(one.num_tests), one.state, f"{one.seconds:.0f}", f"{one.test} |"]))
  caught, ended = (sum(one.state == state for one in outcomes) for state in (CAUGHT, TIMEOUT))
  # A loop without end is seen; tests that are many are not.
  limit = f", and {ended} ended at the time limit" if ended else ""
  return "\n".join([*lines, "", f"{caught} of {len(outcomes)} mutations are caught{limit}."])


def _candidates(root: pathlib.Path, patterns: Sequence[str],
                covered: Mapping[tuple[str, int], list[str]] | None,
                only_tests: Sequence[str]) -> list[Mutation]:
  found = []
  for path in sorted(root.rglob("*.py")):
    file = path.relative_to(root).as_posix()
    if any(fnmatch.fnmatch(file, pattern) for pattern in patterns):
      found += mutations(file, path.read_text(encoding="utf-8"))
  if covered is not None:
    found = [one for one in found if (one.file, one.line) in covered]
    if only_tests:
      found = [one for one in found if all(
          test.startswith(tuple(only_tests)) for test in covered[one.file, one.line])]
  return found


def main(argv: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  which = parser.add_mutually_exclusive_group(required=True)
  which.add_argument("--coverage", type=pathlib.Path, help="a file of pytest --cov-context=test")
  which.add_argument("--tests", nargs="+", help="tests of all mutations: paths, or paths::names")
  parser.add_argument("--times", type=pathlib.Path, help="output of pytest --durations=0")
  parser.add_argument("--fork", action="store_true", help="import TensorFlow once, on Linux")
  parser.add_argument("--number", type=int, default=80, help="of mutations")
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--files", nargs="+", default=FILES, help="patterns of files to be mutated")
  parser.add_argument("--only_run_by", nargs="+", default=(), metavar="TEST",
                      help="draw lines that only tests run whose names begin so")
  parser.add_argument("--time_limit", type=float, default=600, help="seconds of a run of pytest")
  parser.add_argument("--whole", action="store_true", help="run all tests for survivors")
  parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the checkout")
  parser.add_argument("--json", type=pathlib.Path, help="a file for the outcomes")
  arguments = parser.parse_args(argv)
  if arguments.only_run_by and not arguments.coverage:
    parser.error("--only_run_by needs --coverage.")
  root = arguments.root.resolve()
  covered = read_coverage(arguments.coverage, root) if arguments.coverage else None
  candidates = _candidates(root, arguments.files, covered, arguments.only_run_by)
  if not candidates:
    parser.error("No line of these files can be mutated, or no test runs one.")
  times = read_times(arguments.times.read_text(encoding="utf-8")) if arguments.times else {}
  if arguments.fork:
    # As `suite` and tests/conftest.py have them; read when TensorFlow and numpy are imported.
    for name in ("TF_ENABLE_ONEDNN_OPTS", "OPENBLAS_NUM_THREADS"):
      os.environ.setdefault(name, "1")
    from absl import logging

    logging.use_absl_handler()
    import tensorflow  # noqa: F401
  outcomes = []
  with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
    made = Copy(root, pathlib.Path(folder), arguments.time_limit, arguments.fork)
    for number, mutation in enumerate(draw(candidates, arguments.number, arguments.seed), 1):
      tests = arguments.tests if covered is None else sorted(
          covered[mutation.file, mutation.line], key=lambda test: times.get(test, 0.0))
      outcome = made.outcome(mutation, tests)
      if outcome.state == SURVIVED and arguments.whole:
        outcome = made.outcome(mutation, ["tests"])
      outcomes.append(outcome)
      print(f"{number}: {mutation.file}:{mutation.line}, {mutation.kind}: {outcome.state}",
            file=sys.stderr, flush=True)
  print(table(outcomes))
  if arguments.json:
    arguments.json.write_text(json.dumps([dataclasses.asdict(one) for one in outcomes], indent=1))
  return 0 if all(one.state in (CAUGHT, TIMEOUT) for one in outcomes) else 1


if __name__ == "__main__":
  sys.exit(main())
