# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The house: which module may import which, read from the source with `ast`.

ROOF          suite/cli.py  commands/  running/  tables/
              configs/ (the only gin)  experiment.py
              suite/reporting/                       records (JSON lines), tensorboard, tables
3rd FLOOR     suite/protocols/   nevis clear cfsl fluid lifelong; run_state (resume)
2nd FLOOR     suite/learners/    one method a file
1st FLOOR     suite/training/    episodic > sequence > pretraining > gradient > multitask > scoring
                                 > statistics > objectives > memories
GROUND FLOOR  suite/data/        digits > sequences > streams > episodes > images
              suite/contracts/   tasks, deliveries, examples, learner
              suite/state/       what a run keeps on disk, so that it can be resumed
              suite/models/  suite/metrics/  suite/compute/  suite/system/
CELLAR        tfds_builders/     knows nothing of suite
EVALUATION    suite/lifelong/    api > estimators > answers, cache; needs system and metrics only
BESIDE        suite/beside/      curation, submissions, watching, engines, trackers; nothing imports
                                 them, commands find them by entry points

A wing imports itself and the wings before it in WINGS. docs/architecture.md explains the rules.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Mapping, Sequence
import functools
import importlib.util
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Of `suite`, everything counted. Whoever adds code takes as much away, or raises it with a reason.
MOST_CODE_LINES = 65_600
# Low to high.
WINGS = (
    "tfds_builders",
    "suite.system", "suite.compute", "suite.metrics",
    "suite.lifelong.answers", "suite.lifelong.cache", "suite.lifelong.estimators", "suite.lifelong",
    "suite.models", "suite.models.own",
    "suite.models.episodic",
    "suite.state", "suite.contracts",
    "suite.data.pipelines", "suite.data.images", "suite.data.own",
    "suite.data.episodes", "suite.data.streams", "suite.data.sequences", "suite.data.published",
    "suite.data.digits",
    "suite.training.memories", "suite.training.objectives", "suite.training.statistics",
    "suite.training.scoring",
    "suite.training.multitask", "suite.training.gradient",
    "suite.training.ensembles", "suite.training.pretraining",
    "suite.training.sequence", "suite.training.episodic",
    "suite.learners", "suite.learners.estimators",
    "suite.protocols",
    "suite.reporting", "suite.configs", "suite.experiment", "suite.tables", "suite.running",
    "suite.commands", "suite.cli", "suite.__main__",
    # Nothing above imports what is beside.
    "suite.beside.curation", "suite.beside.curation.steps", "suite.beside.curation.timelines",
    "suite.beside.watching", "suite.beside.trackers", "suite.beside.engines",
    "suite.beside.submissions", "suite.beside.commands",
)
# Wing -> all that it may import, where that is less than the wings below it.
LESS = {
    "suite.system": (),
    "suite.compute": (),
    "suite.metrics": (),
    "suite.models": ("suite.models", "suite.compute.own_gradients"),
    "suite.data": ("suite.data", "suite.contracts", "suite.system", "suite.compute.seeds",
                   "suite.compute.byte_rows", "suite.compute.private_tensorflow",
                   "suite.compute.user_code", "suite.models.addons",
                   "suite.models.keras_cv_models", "tfds_builders"),
    "suite.lifelong": ("suite.lifelong", "suite.system", "suite.metrics"),
    "suite.beside.curation": ("suite.beside.curation", "suite.data", "suite.models", "suite.state",
                              "suite.compute.seeds", "suite.system", "tfds_builders"),
    "suite.beside.watching": ("suite.beside.watching", "suite.lifelong", "suite.reporting",
                              "suite.system"),
    "suite.beside.trackers": ("suite.reporting", "suite.configs"),
    "suite.beside.engines": ("suite.reporting.run_dir", "suite.configs", "suite.system"),
}
# Wing -> the wings below it that it must do without, and what to do instead.
NOT = {"suite.protocols": (("suite.learners",), "take a learner as an argument"),
       "suite.beside.submissions": ((
           "suite.beside.curation", "suite.beside.watching", "suite.beside.trackers",
           "suite.beside.engines"), "the wings beside the core do not know each other")}
# Wing -> the only modules in it that its other modules may import.
SHARED = {
    "suite.protocols": ("suite.protocols.run_state", "suite.protocols.bucket_loop",
                        "suite.protocols.few_answers"),
    "suite.learners": ("suite.learners.gradient", "suite.learners.starts",
                       "suite.learners.finetune_plan", "suite.learners.learner_each_task",
                       "suite.learners.statistics_learner", "suite.learners.around"),
}
# Package -> the modules and wings that may import it, and what the others do instead.
DOORS = {
    "gin": (("suite.cli", "suite.configs", "suite.experiment"),
            "take an argument, and let a gin file fill it"),
    "tensorflow_addons": (("suite.models.addons",), "call suite/models/addons.py"),
    "keras_cv": (("suite.models.keras_cv_models",), "call suite/models/keras_cv_models.py"),
    "tfds_builders": (("tfds_builders", "suite.data", "suite.beside.curation.steps.exporting",
                       "suite.commands.data_commands",
                       "suite.running.nets"), "ask suite/data for it"),
}
# Wing -> packages that it must do without, and why.
WITHOUT = {
    "suite.metrics": (("tensorflow", "keras", "tensorflow_datasets"), "numpy in, dict out"),
    "tfds_builders.rows": (("tensorflow", "tensorflow_datasets", "numpy"), "rows are facts"),
}
# Wing -> the only packages, of others than Python, that it may import.
ONLY = {"suite.lifelong": ("numpy", "scipy", "pyarrow")}
PICKLES = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal")
# Packages that are optional or take a while to import: a function may import them. tfds_builders
# imports TensorFlow Datasets and registers every builder.
SLOW = ("tensorflow", "tensorflow_datasets", "tensorflow_addons", "keras_cv", "keras_tuner",
        "sklearn", "scipy", "apache_beam", "matplotlib", "pandas", "pyarrow", "tfds_builders",
        "tqdm", "plotly", "jinja2", "argcomplete", "faiss", "array_record",
        "wandb", "mlflow", "ray", "fsspec")
# A function here may also import a module of ours that imports a slow package: help stays quick.
QUICK = ("suite.cli", "suite.commands", "suite.beside", "suite.tables", "suite.running",
         "suite.reporting.run_check", "suite.configs.chosen_settings")
# Imported for help, lists, completion and messages about misspelled words.
PARSERS = ("suite.cli", "suite.commands.parsing", *(
    f"suite.commands.{name}_commands" for name in (
        "run", "report", "show", "new", "data", "lifelong", "verify", "weights", "search")), *(
            f"suite.beside.commands.{name}_commands" for name in (
                "bundle", "curate", "fetch", "submit", "timeline", "watch")))
# What an installation of the part lifelong has, without TensorFlow and scikit-learn.
LIGHT = (*PARSERS, "suite.lifelong.api", "suite.lifelong.subsets",
         "suite.lifelong.adaptive_session", "suite.lifelong.watching",
         "suite.state.answer_tables",
         "suite.lifelong.estimators.irt_search", "suite.lifelong.cache.cache_check",
         "suite.lifelong.cache.accuracy_import", "suite.reporting.run_check")
PRINTING = ("suite.cli", "suite.beside.commands", "suite.commands.compare_commands",
            "suite.commands.data_commands", "suite.commands.new_commands",
            "suite.commands.report_commands",
            "suite.commands.run_commands", "suite.commands.search_commands",
            "suite.commands.show_commands",
            "suite.commands.verify_commands", "suite.commands.weights_commands")
# Folder of tests -> what it mirrors, where that is not suite.
BESIDE = {"tools": "tools", "tfds_builders": "tfds_builders"}


def _load_tool(name: str):
  spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


house_figures = _load_tool("house_figures")


def is_in(module: str, packages) -> bool:
  return any(module == p or module.startswith(p + ".") for p in packages)


@functools.cache
def wing_of(module: str) -> str:
  """The longest entry of WINGS that holds the module; "" if none does."""
  return max((w for w in WINGS if is_in(module, [w])), key=len, default="")


def broken_rules(path: pathlib.Path, source: str, slow: Sequence[str] = ()) -> list[str]:
  """What a file of `suite` or `tfds_builders` does against the house.

  Args:
    path: relative to the checkout.
    source: of the file.
    slow: the modules of ours that import a slow package, themselves or through others.
  """
  return problems_of(path, ast.parse(source), slow)


def problems_of(path: pathlib.Path, tree: ast.Module, slow: Sequence[str],
                source: str = "print allow_pickle") -> list[str]:
  """`broken_rules` of a syntax tree; calls are looked at if the source has one of these names."""
  module, problems = house_figures.module_name(path), []
  if not wing_of(module) and path.name != "__init__.py":
    problems.append(f"{path} is in no wing: move it to one, or add its folder to WINGS.")
  for one in house_figures.imports(path, tree):
    reason = (_against_the_wings(module, one.name) or _through_the_wall(module, one.name)
              or _a_name(path, one.name) or _inside_a_function(module, one, slow))
    if reason:
      problems.append(f"{path}, line {one.line} imports {one.name}: {reason}.")
  for node in ast.walk(tree) if re.search(r"\bprint\b|allow_pickle", source) else ():
    if isinstance(node, ast.Call):
      reason = _forbidden_call(module, node)
      if reason:
        problems.append(f"{path}, line {node.lineno}: {reason}.")
  return problems


def _against_the_wings(module: str, imported: str) -> str:
  wing, other = wing_of(module), wing_of(imported)
  if not is_in(imported, ("suite", "tfds_builders")) or imported.startswith("suite.__"):
    return ""
  if wing == other:
    shared = SHARED.get(wing)
    if shared is None or is_in(imported, shared) or module == wing:
      return ""
    return (f"the modules of {wing} share only {', '.join(shared)}; move what both need one floor "
            "down")
  if wing == "tfds_builders":
    return "the cellar knows nothing of the house; pass what it needs as an argument"
  if other == "tfds_builders" and not is_in(module, DOORS["tfds_builders"][0]):
    return f"only suite/data knows the cellar; {DOORS['tfds_builders'][1]}"
  if imported == "suite" or not wing or not other:
    return ""
  if WINGS.index(other) > WINGS.index(wing):
    return (f"{other} stands above {wing} and imports go down only; pass what you need as an "
            "argument")
  for place, allowed in LESS.items():
    if is_in(module, [place]) and not is_in(imported, allowed):
      return f"{place} imports {', '.join(allowed) or 'nothing of ours'} only; pass an argument"
  for place, (without, instead) in NOT.items():
    if is_in(module, [place]) and is_in(imported, without):
      return f"{place} does not know {', '.join(without)}; {instead}"
  return ""


def _through_the_wall(module: str, imported: str) -> str:
  package = imported.split(".")[0]
  if package in PICKLES:
    return "a pickle runs whatever it holds; store arrays (npz, parquet) or JSON"
  if package in DOORS and not is_in(module, DOORS[package][0]):
    return f"only {', '.join(DOORS[package][0])} may; {DOORS[package][1]}"
  for place, (packages, why) in WITHOUT.items():
    if is_in(module, [place]) and is_in(imported, packages):
      return f"{place} does without: {why}"
  for place, packages in ONLY.items():
    if is_in(module, [place]) and package not in {
        *packages, "suite", "tfds_builders", *sys.stdlib_module_names}:
      return f"{place} needs {', '.join(packages)} only"
  return ""


def _a_name(path: pathlib.Path, imported: str) -> str:
  if path.name == "__init__.py" or "." not in imported:
    return ""
  if is_in(house_figures.module_name(path), ["tfds_builders.rows"]) and imported.count(".") > 2:
    return ""  # Tables of facts: Row(...) reads better than row.Row(...).
  parent = pathlib.Path(*imported.split(".")[:-1]).with_suffix(".py")
  return f"import the module {parent}, not a name out of it" if (ROOT / parent).is_file() else ""


def _inside_a_function(module: str, one, slow: Sequence[str]) -> str:
  if not one.in_function or is_in(one.name, SLOW) or module.split(".")[0] == "tfds_builders":
    return ""
  if one.name == "numpy" and is_in(
      module, ("suite.commands", "suite.beside.commands")):  # See PARSERS.
    return ""
  if is_in(one.name, ("suite",)) and is_in(module, QUICK):
    return "" if is_in(one.name, slow) else (
        "it imports no slow package; import it at the top of the file")
  return "import it at the top of the file; in a function only an optional or slow package"


def _forbidden_call(module: str, call: ast.Call) -> str:
  for keyword in call.keywords:
    if keyword.arg == "allow_pickle" and getattr(keyword.value, "value", None) is not False:
      return "allow_pickle runs whatever the file holds; store plain arrays"
  if isinstance(call.func, ast.Name) and call.func.id == "print" and not is_in(
      module, PRINTING):
    return "print is the command's; log with absl's logging.info"
  return ""


def slow_modules(trees: Mapping[str, tuple[pathlib.Path, ast.AST]],
                 packages: Sequence[str] = SLOW, for_types: bool = True) -> list[str]:
  """The modules whose import imports one of the packages; a module's packages are imported with it.

  for_types: whether imports under `if TYPE_CHECKING` count: an interface that imports its modules
  when they are first used names them there.
  """
  needs, found = {}, set()
  for module, (path, tree) in trees.items():
    names = [one.name for one in house_figures.imports(path, tree)
             if not one.in_function and (for_types or not one.for_types)]
    if any(is_in(name, packages) for name in names):
      found.add(module)
    parts = module.split(".")
    needs[module] = {house_figures.known(name, trees) for name in names} | {
        ".".join(parts[:end]) for end in range(1, len(parts))}
  while True:
    more = {module for module, others in needs.items() if others & found} - found
    if not more:
      return sorted(found)
    found |= more


def repeated_names(paths: Sequence[pathlib.Path]) -> list[str]:
  """Names of modules that are used twice in suite."""
  places = collections.defaultdict(list)
  for path in paths:
    if path.parts[0] == "suite" and path.name != "__init__.py":
      places[path.stem].append(path.as_posix())
  return [f"{', '.join(found)} have one name; give each its own"
          for found in places.values() if len(found) > 1]


def unmirrored(tests: Sequence[pathlib.Path], paths: Sequence[pathlib.Path]) -> list[str]:
  """Tests in folders that suite does not have, or not in the folder of the module they name."""
  folders = {p.parent.as_posix() for p in paths}
  modules = {p.stem: p.parent for p in paths if p.parts[0] == "suite"}
  problems = []
  for test in tests:
    inner = pathlib.Path(*test.parts[1:-1])
    if not inner.parts:
      continue  # Tests of the whole.
    beside = BESIDE.get(inner.parts[0])
    mirrored = inner if beside else pathlib.Path("suite") / inner
    if mirrored.as_posix() not in folders:
      problems.append(f"{test}: there is no {mirrored}; tests stand in the folder of their module")
    module = modules.get(test.stem.removesuffix("_test"))
    if not beside and module is not None and module != mirrored:
      problems.append(f"{test}: its module is in {module}; move it there")
  return problems


def sources(*folders: str) -> list[pathlib.Path]:
  return [p.relative_to(ROOT) for folder in folders for p in sorted((ROOT / folder).rglob("*.py"))]


OURS = sources("suite", "tfds_builders")
TESTS = [path for path in sources("tests") if path.name.endswith("_test.py")]


@pytest.fixture(name="trees", scope="module")
def _trees():
  return house_figures.parsed(ROOT)


@pytest.fixture(name="slow", scope="module")
def _slow(trees):
  return slow_modules(trees, (*SLOW, "numpy"))


def test_every_file_keeps_the_house(trees, slow):
  problems = [problem for path, tree in trees.values() for problem in problems_of(
      path, tree, slow, (ROOT / path).read_text(encoding="utf-8"))]
  assert not problems, "\n".join(problems)


def test_help_lists_and_typos_import_no_arrays(trees):
  """A parser, and what `suite list` and a misspelled run need: at most half a second of CPU."""
  slow = slow_modules(trees, (*SLOW, "numpy"), for_types=False)
  assert not set(PARSERS) & set(slow)


def test_lifelong_evaluation_needs_no_tensorflow(trees):
  slow = slow_modules(trees, [one for one in SLOW if one not in ("scipy", "pyarrow")],
                      for_types=False)
  assert not set(LIGHT) & set(slow)


def test_every_wing_holds_a_module():
  modules = [house_figures.module_name(path) for path in OURS]
  assert not [wing for wing in WINGS if wing not in modules]


def test_no_import_leads_back_to_its_module(trees):
  arrows = house_figures.graph(trees)
  modules = house_figures.circles(arrows)
  assert not modules, f"import each other: {modules}; move what both need to a module below them"
  assert not house_figures.circles(house_figures.between_rooms(
      arrows, {module: path for module, (path, _) in trees.items()}))


def test_names_of_modules_are_unique():
  assert not repeated_names(OURS)


def test_tests_stand_where_their_modules_do():
  assert not unmirrored(TESTS, sources("suite", "tfds_builders", "tools"))


@pytest.mark.parametrize(
  "path, source, message",
  [
    ("suite/learners/x.py", "from suite.protocols import clear", "imports go down only; pass"),
    ("suite/learners/x.py", "def f():\n  import suite.reporting.tables", "line 2 imports suite."),
    ("suite/learners/x.py", "from suite.learners import replay", "share only suite.learners.gra"),
    ("suite/learners/x.py", "import tfds_builders", "only suite/data knows the cellar"),
    ("suite/learners/x.py", "from ..protocols import clear", "imports suite.protocols.clear"),
    ("suite/protocols/x.py", "from suite.protocols import nevis", "share only suite.protocols.run"),
    ("suite/protocols/x.py", "from suite.learners import maml", "take a learner as an argument"),
    ("suite/protocols/x.py", "from suite.reporting import records", "suite.reporting stands above"),
    ("suite/protocols/x.py", "import gin", "only suite.cli"),
    ("suite/reporting/x.py", "from suite.configs import gin_files", "suite.configs stands above"),
    ("suite/system/x.py", "from suite.compute import seeds", "suite.compute stands above"),
    ("suite/data/images/x.py", "from suite.data.digits import digits", "imports go down only"),
    ("suite/data/episodes/x.py", "from suite.data.streams import x", "imports go down only"),
    ("suite/data/images/x.py", "from suite.compute import ledger", "suite.data imports suite.data"),
    ("suite/data/images/x.py", "from suite import experiment", "imports go down only"),
    ("suite/training/memories/x.py", "from suite.training.gradient import trainer", "go down only"),
    ("suite/training/gradient/x.py", "import suite.training.sequence.step_a", "go down only"),
    ("suite/lifelong/answers/x.py", "from suite.lifelong.cache import piece_files", "go down only"),
    ("suite/beside/curation/x.py", "from suite.beside.curation.steps import voting",
     "suite.beside.curation.steps stan"),
    ("suite/beside/curation/x.py", "import tfds_builders", "only suite/data knows the cellar; ask"),
    ("suite/tables/x.py", "from suite import cli", "suite.cli stands above suite.tables"),
    ("suite/commands/x.py", "from suite.beside.curation import votes", "imports go down only"),
    ("suite/beside/submissions/x.py", "from suite.beside.engines import ray_tasks", "do not know"),
    ("suite/beside/engines/x.py", "from suite.beside.curation import votes", "suite.system only"),
    ("suite/lifelong/x.py", "from suite.compute import seeds", "suite.metrics only; pass an"),
    ("suite/lifelong/x.py", "from absl import logging", "needs numpy, scipy, pyarrow only"),
    ("suite/models/x.py", "from suite.training.episodic import self_critique",
     "imports go down only"),
    ("suite/models/x.py", "from suite.system import processes",
     "suite.compute.own_gradients only; pass an"),
    ("suite/models/x.py", "import tensorflow_addons as tfa", "call suite/models/addons.py"),
    ("suite/learners/x.py", "from keras_cv import models", "call suite/models/keras_cv_models.py"),
    ("suite/metrics/x.py", "import tensorflow as tf", "numpy in, dict out"),
    ("suite/metrics/x.py", "from suite.compute import graph_frame", "nothing of ours only"),
    ("tfds_builders/x.py", "from suite.contracts import tasks", "knows nothing of the house"),
    ("tfds_builders/rows/x.py", "import tensorflow_datasets as tfds", "rows are facts"),
    ("suite/data/images/x.py", "from suite.contracts.tasks import Task", "the module suite/contr"),
    ("suite/data/images/x.py", "import pickle", "a pickle runs whatever it holds"),
    ("suite/data/images/x.py", "np.load(f, allow_pickle=True)", "allow_pickle runs whatever"),
    ("suite/data/images/x.py", "print(1)", "log with absl"),
    ("suite/state/x.py", "def f():\n  import json", "at the top of the file; in a function only"),
    ("suite/state/x.py", "def f():\n  from suite.system import processes", "at the top of the fil"),
    ("suite/state/x.py", "class A:\n  def f(self):\n    import csv", "line 3"),
    ("suite/cli.py", "def f():\n  from suite.state import quick", "it imports no slow package"),
    ("suite/odd/x.py", "", "suite/odd/x.py is in no wing"),
  ],
)
def test_a_file_against_the_house_is_caught(path, source, message):
  problem, = broken_rules(pathlib.Path(path), source, slow=["suite.state.slow"])
  assert message in problem and problem.startswith(path)


@pytest.mark.parametrize("path, source", [
    ("suite/cli.py", "import gin\nfrom suite import experiment\nprint(1)"),
    ("suite/cli.py", "def f():\n  import tensorflow\n  from suite.state import slow"),
    ("suite/commands/data_commands.py", "def f():\n  import tfds_builders\n  print(1)"),
    ("suite/experiment.py", "import suite\nfrom suite.protocols import nevis"),
    ("suite/protocols/x.py", "from suite.protocols import run_state\nimport suite.metrics.matrix"),
    ("suite/learners/x.py", "from suite.contracts import learner\nimport suite.training.scoring"),
    ("suite/learners/x.py", "def f():\n  from sklearn import neighbors"),
    ("suite/data/streams/x.py", "import tfds_builders\nfrom suite.compute import seeds"),
    ("suite/data/digits/x.py", "from suite.contracts import tasks\nimport suite.data.images"),
    ("suite/models/addons.py", "import tensorflow_addons as tfa\nfrom suite.models import heads"),
    ("suite/metrics/x.py", "import numpy as np\nfrom . import x\nnp.load(f, allow_pickle=False)"),
    ("suite/lifelong/api.py", "from suite.lifelong.estimators import factor_model"),
])
def test_a_file_that_keeps_the_house_passes(path, source):
  assert not broken_rules(pathlib.Path(path), source, slow=["suite.state.slow"])


def test_a_circle_is_found_wherever_the_import_stands(tmp_path):
  for name, text in (("a", "from suite import b"), ("b", "def f():\n  from suite import c"),
                     ("c", "import suite.a"), ("d", "import suite.a"), ("__init__", "")):
    (tmp_path / "suite").mkdir(exist_ok=True)
    (tmp_path / "suite" / f"{name}.py").write_text(text)
  arrows = house_figures.graph(house_figures.parsed(tmp_path))
  assert house_figures.circles(arrows) == [["suite.a", "suite.b", "suite.c"]]


def test_slow_are_those_that_import_a_slow_package_through_others_too():
  texts = {"suite": "", "suite.a": "import scipy.stats", "suite.b": "from suite import a",
           "suite.c": "def f():\n  import scipy", "suite.p": "from suite import b", "suite.p.d": "",
           "suite.q": "from suite import c", "suite.t": "if TYPE_CHECKING:\n  import scipy"}
  trees = {name: (pathlib.Path(*name.split(".")).with_suffix(".py"), ast.parse(text))
           for name, text in texts.items()}
  assert slow_modules(trees) == ["suite.a", "suite.b", "suite.p", "suite.p.d", "suite.t"]
  assert "suite.t" not in slow_modules(trees, for_types=False)


def test_names_used_twice_are_caught():
  paths = [pathlib.Path(f"suite/data/m{i}.py") for i in range(30)]
  assert repeated_names(paths) == []
  twice, = repeated_names([*paths, pathlib.Path("suite/models/m3.py"),
                           pathlib.Path("suite/models/__init__.py")])
  assert twice == "suite/data/m3.py, suite/models/m3.py have one name; give each its own"


@pytest.mark.parametrize("test, message", [
    ("tests/data/tasks_test.py", "its module is in suite/contracts"),
    ("tests/old/any_test.py", "there is no suite/old"),
    ("tests/tools/old/a_test.py", "there is no tools/old"),
])
def test_tests_elsewhere_are_caught(test, message):
  paths = [pathlib.Path(p) for p in ("suite/contracts/tasks.py", "suite/data/a.py", "tools/b.py")]
  assert message in "".join(unmirrored([pathlib.Path(test)], paths))
  assert not unmirrored([pathlib.Path("tests/contracts/tasks_test.py"),
                         pathlib.Path("tests/a_test.py")], paths)


def test_the_code_is_no_longer_than_stated():
  found = house_figures.code_by_wing(ROOT)
  total = sum(one.lines for one in found.values())
  assert total <= MOST_CODE_LINES, (
      f"suite has {total} code lines, and at most {MOST_CODE_LINES} are stated (MOST_CODE_LINES, "
      f"docs/architecture.md): { {wing: one.lines for wing, one in found.items()} }. Delete what "
      "is said twice.")
