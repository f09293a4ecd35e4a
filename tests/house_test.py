# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The house: who may import whom, read from the source with `ast`, and what else a file keeps to.

ROOF          suite/cli.py  *_commands.py  gin_files.py  gin_parse.py  experiment.py  reporting/
2nd FLOOR     suite/protocols/
1st FLOOR     suite/learners/
GROUND FLOOR  suite/data/  metrics/  compute/  models/  training/
CELLAR        tfds_builders/
"""

from __future__ import annotations

import ast
import logging
import os
import pathlib
import subprocess
import sys
from typing import Iterator, List, Tuple

import pytest

from suite.configs import gin_files
from suite.configs import gin_parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
LICENCE = ("# Copyright 2026 The Lifelong Suite Authors. "
           "Licensed under the Apache License, Version 2.0.")

# Room -> the rooms and modules it may import besides itself; what is not listed is not allowed.
GROUND = ("suite.data", "suite.metrics", "suite.compute", "suite.models", "suite.training")
ROOF = ("suite", "tfds_builders")
ROOMS = {
    "suite.protocols": (*GROUND, "suite.learners"),
    "suite.learners": GROUND,
    "suite.training": ("suite.data", "suite.metrics", "suite.compute", "suite.models"),
    "suite.data": ("suite.compute.seeds", "suite.models.addons", "tfds_builders"),
    "suite.metrics": (),
    "suite.compute": (),
    "suite.models": (),
    "suite.reporting": ROOF,
    "suite": ROOF,  # The modules that lie on the roof itself.
    "tfds_builders": (),
}
# Room -> the only modules of its own that its other modules may import.
SHARED = {
    "suite.protocols": ("suite.protocols.run_state",),
    "suite.learners": ("suite.contracts.learner", "suite.learners.starts"),
}
# Package -> the modules that may import it, and what the others do instead.
DOORS = {
    "gin": (("suite.cli", "suite.configs.gin_files", "suite.configs.gin_parse", "suite.experiment"),
            "take an argument, and let a gin file fill it"),
    "tensorflow_addons": (("suite.models.addons",), "call suite/models/addons.py"),
    "keras_cv": (("suite.models.keras_cv_models",), "call suite/models/keras_cv_models.py"),
}
# Room -> packages that it must do without, and why.
WITHOUT = {
    "suite.metrics": (("tensorflow", "keras", "tensorflow_datasets"), "numpy in, dict out"),
    "tfds_builders.rows": (("tensorflow", "tensorflow_datasets", "numpy"), "rows are facts"),
}
PICKLES = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal")


def is_in(module: str, packages) -> bool:
  return any(module == p or module.startswith(p + ".") for p in packages)


def module_name(path: pathlib.Path) -> str:
  """suite/contracts/tasks.py -> suite.contracts.tasks; a package's __init__ is the package."""
  parts = path.with_suffix("").parts
  return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
  return max((r for r in ROOMS if is_in(module, [r])), key=len)


def imports(path: pathlib.Path, tree: ast.AST) -> Iterator[Tuple[int, str]]:
  """(line, dotted name) of each import, wherever it stands; `from a import b` is a.b."""
  package = module_name(path.parent / "__init__.py").split(".")
  for node in ast.walk(tree):
    if isinstance(node, ast.Import):
      for alias in node.names:
        yield node.lineno, alias.name
    elif isinstance(node, ast.ImportFrom):
      above = package[: len(package) - node.level + 1] if node.level else []
      base = ".".join([*above, *filter(None, [node.module])])
      for alias in node.names:
        yield node.lineno, f"{base}.{alias.name}"


def broken_rules(path: pathlib.Path, source: str) -> List[str]:
  """What a file of `suite` or `tfds_builders` does against the house; `path` is relative to it."""
  tree, module, problems = ast.parse(source), module_name(path), []
  for line, imported in imports(path, tree):
    reason = (_against_the_floors(module, imported) or _through_the_wall(module, imported)
              or _a_name(path, imported))
    if reason:
      problems.append(f"{path}, line {line} imports {imported}: {reason}.")
  for node in ast.walk(tree):
    if isinstance(node, ast.Call):
      reason = _forbidden_call(module, node)
      if reason:
        problems.append(f"{path}, line {node.lineno}: {reason}.")
  return problems


def _against_the_floors(module: str, imported: str) -> str:
  if not is_in(imported, ("suite", "tfds_builders")):
    return ""
  room, other = room_of(module), room_of(imported)
  if room == other:
    shared = SHARED.get(room)
    if shared is None or is_in(imported, shared) or module == room:
      return ""
    return (f"the modules of {room} share only {', '.join(shared)}; move what both need one floor "
            "down")
  if is_in(imported, ROOMS[room]):
    return ""
  if room == "tfds_builders":
    return "the cellar knows nothing of the house; pass what it needs as an argument"
  if other == "tfds_builders":
    return "only suite/data knows the cellar; ask suite/data for it"
  return "floors look down only; pass what you need as an argument"


def _through_the_wall(module: str, imported: str) -> str:
  package = imported.split(".")[0]
  if package in PICKLES:
    return "a pickle runs whatever it holds; store arrays (npz, parquet) or JSON"
  if package in DOORS and not is_in(module, DOORS[package][0]):
    return f"only {', '.join(DOORS[package][0])} may; {DOORS[package][1]}"
  for room, (packages, why) in WITHOUT.items():
    if is_in(module, [room]) and is_in(imported, packages):
      return f"{room} does without: {why}"
  return ""


def _a_name(path: pathlib.Path, imported: str) -> str:
  if path.name == "__init__.py" or "." not in imported:
    return ""
  if is_in(module_name(path), ["tfds_builders.rows"]) and imported.count(".") > 2:
    return ""  # Tables of facts: Row(...) reads better than row.Row(...).
  parent = pathlib.Path(*imported.split(".")[:-1]).with_suffix(".py")
  return f"import the module {parent}, not a name out of it" if (ROOT / parent).is_file() else ""


def _forbidden_call(module: str, call: ast.Call) -> str:
  name = ast.unparse(call.func)
  for keyword in call.keywords:
    if keyword.arg == "allow_pickle" and getattr(keyword.value, "value", None) is not False:
      return "allow_pickle runs whatever the file holds; store plain arrays"
  if name == "print" and module not in ("suite.cli", "suite.commands.data_commands"):
    return "print is the command's; log with absl's logging.info"
  return ""


def sources(*folders: str) -> List[pathlib.Path]:
  return [p.relative_to(ROOT) for folder in folders for p in sorted((ROOT / folder).rglob("*.py"))]


OURS = sources("suite", "tfds_builders")
ALL = [*sources("suite", "tfds_builders", "tests", "tools"), pathlib.Path("setup.py")]
GIN = sorted((ROOT / "gin").rglob("*.gin"))


@pytest.mark.parametrize("path", OURS, ids=str)
def test_every_file_keeps_the_house(path):
  problems = broken_rules(path, (ROOT / path).read_text(encoding="utf-8"))
  assert not problems, "\n".join(problems)


@pytest.mark.parametrize("path, source, message", [
    ("suite/learners/x.py", "from suite.protocols import clear", "floors look down only; pass"),
    ("suite/learners/x.py", "def f():\n  import suite.reporting.tables", "line 2 imports suite."),
    ("suite/learners/x.py", "from suite.learners import replay", "share only suite.learners.lea"),
    ("suite/learners/x.py", "import tfds_builders", "only suite/data knows the cellar"),
    ("suite/learners/x.py", "from ..protocols import clear", "imports suite.protocols.clear"),
    ("suite/protocols/x.py", "from suite.protocols import nevis", "share only suite.protocols.run"),
    ("suite/protocols/x.py", "import gin", "only suite.cli"),
    ("suite/data/x.py", "from suite.compute import ledger", "floors look down only"),
    ("suite/data/x.py", "from suite import experiment", "floors look down only"),
    ("suite/models/x.py", "from suite.contracts import tasks", "floors look down only"),
    ("suite/models/x.py", "import tensorflow_addons as tfa", "call suite/models/addons.py"),
    ("suite/training/x.py", "from keras_cv import models", "call suite/models/keras_cv_models.py"),
    ("suite/metrics/x.py", "import tensorflow as tf", "numpy in, dict out"),
    ("tfds_builders/x.py", "from suite.contracts import tasks", "the cellar knows nothing of the house"),
    ("tfds_builders/rows/x.py", "import tensorflow_datasets as tfds", "rows are facts"),
    ("suite/data/x.py", "from suite.data.tasks import Task", "import the module suite/data/t"),
    ("suite/data/x.py", "import pickle", "a pickle runs whatever it holds"),
    ("suite/data/x.py", "np.load(f, allow_pickle=True)", "allow_pickle runs whatever"),
    ("suite/data/x.py", "print(1)", "log with absl"),
])
def test_a_file_against_the_house_is_caught(path, source, message):
  problem, = broken_rules(pathlib.Path(path), source)
  assert message in problem and problem.startswith(path)


@pytest.mark.parametrize("path, source", [
    ("suite/cli.py", "import gin\nimport tfds_builders\nfrom suite import experiment\nprint(1)"),
    ("suite/experiment.py", "import suite\nfrom suite.protocols import nevis"),
    ("suite/protocols/x.py", "from suite.protocols import run_state\nimport suite.metrics.matrix"),
    ("suite/learners/x.py", "from suite.contracts import learner\nimport suite.training.scoring.scoring"),
    ("suite/data/x.py", "import tfds_builders\nfrom suite.compute import seeds"),
    ("suite/data/x.py", "from suite.contracts import tasks"),
    ("suite/models/addons.py", "import tensorflow_addons as tfa\nfrom suite.models import heads"),
    ("suite/metrics/x.py", "import numpy as np\nfrom . import x\nnp.load(f, allow_pickle=False)"),
])
def test_a_file_that_keeps_the_house_passes(path, source):
  assert not broken_rules(pathlib.Path(path), source)


@pytest.mark.parametrize("path", ALL, ids=str)
def test_every_file_is_small_and_has_its_licence(path):
  lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
  assert lines[:1] == [LICENCE], f"{path} must begin with this line:\n{LICENCE}"
  assert len(lines) <= 400, f"{path} has {len(lines)} lines: split it, one concept a file"
  assert path.stem not in ("utils", "util", "common", "helpers", "misc"), (
      f"{path}: name the file after what it holds")


def test_tests_have_no_packages_and_gin_no_python():
  assert not [str(p) for p in (ROOT / "tests").rglob("__init__.py")], "tests import by importlib"
  assert not [str(p) for p in (ROOT / "gin").rglob("*.py")], "gin/__init__.py would hide gin itself"


@pytest.mark.parametrize("module", ["suite", "suite.cli", "suite.configs.gin_parse", "suite.contracts.tasks"])
def test_importing_what_people_start_with_leaves_tensorflow_alone(module):
  program = f"import sys, {module}; sys.exit('tensorflow' in sys.modules)"
  done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={**os.environ},
                        capture_output=True, text=True, check=False)
  assert done.returncode == 0, done.stderr or f"import {module} imports tensorflow"


@pytest.mark.parametrize("path", GIN, ids=lambda p: str(p.relative_to(ROOT)))
def test_gin_files_are_short(path):
  assert len(path.read_text(encoding="utf-8").splitlines()) <= 30, "compose it by include"


@pytest.mark.parametrize("name", gin_files.run_files())
def test_every_run_file_says_what_it_is_parses_and_sets_nothing_in_vain(name, caplog):
  _, path = gin_files.find(name)
  assert gin_files.description(path), f"{path}: begin with a comment that says what it runs"
  with caplog.at_level(logging.WARNING):
    gin_files.scan([path])
  assert not caplog.records, caplog.text
  gin_parse.parse([path])
