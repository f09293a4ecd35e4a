# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Gin files of somebody else name, import and hold what is allowed, and nothing else."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys

import pytest

from suite import cli
from suite.configs import gin_files
from suite.configs import gin_names
from suite.configs import gin_parse
from suite.configs import run_files
from suite.configs import run_settings
from suite.tables import table

HEAD = "from __gin__ import dynamic_registration\nfrom suite import experiment\n"
VALUE = "experiment.run.seed = {}\n"
LAMBDA = "{'class_name': 'Lambda', 'config': {'function': ('4wEAAAAA', None, None)}}"

REFUSED = {
    # Three files that once ran a command: a Lambda layer, a run within the run, a delegate.
    "layers that are deserialized": (
        "import keras\nfrom keras import layers\n"
        f"layers.deserialize.config = {LAMBDA}\nlayers.deserialize.use_legacy_format = True\n"
        "keras.Sequential.layers = [@layers.deserialize()]\n" + VALUE.format("@keras.Sequential()"),
        "imports 'keras'"),
    "a run of other parameters": (
        "from suite.running import python_run\npython_run.run.params = ['experiment.run.seed="
        "@experiment.os.system()']\n" + VALUE.format("@python_run.run()"),
        "imports 'suite.running.python_run'"),
    "a shared library": (
        "import tensorflow as tf\ntf.lite.experimental.load_delegate.library = 'evil.so'\n"
        + VALUE.format("@tf.lite.experimental.load_delegate()"), "imports 'tensorflow'"),
    # Imports.
    "a module of Python": ("import os\n" + VALUE.format("@os.getcwd()"), "imports 'os'"),
    "a module that nothing uses": ("import evil\n", "imports 'evil'"),
    "an alias of the suite's": ("from os import path as experiment\n", "imports 'os.path'"),
    "a short name": ("import os as o\n", "imports 'os'"),
    "a module that runs commands": ("from suite.system import processes\n", "processes'"),
    "gin itself": ("import gin\n" + VALUE.format("@gin.parse_config()"), "imports 'gin'"),
    "gin's parser of the suite": ("from suite.configs import gin_parse\n", "gin_parse'"),
    "the command line": ("from suite import cli\n" + VALUE.format("@cli.main()"), "suite.cli'"),
    "a part that no list has": ("from suite.state import weight_store\n", "weight_store'"),
    "a loader of models": ("from suite.beside.curation import encoders\n", "encoders'"),
    "numbers": ("import numpy as np\n" + VALUE.format("@np.load()"), "imports 'numpy'"),
    "one name for two modules": (
        "from suite.protocols import clear as p\nfrom suite.protocols import fluid as p\n",
        "imports two modules as 'p'"),
    "one name for a module and a package": (
        "import suite as x\nfrom suite.protocols import clear as x\n" + VALUE.format("@x.run()"),
        "imports two modules as 'x'"),
    # Names behind allowed modules.
    "what a module imports": (VALUE.format("@experiment.subprocess.run()"),
                              "names suite.experiment.subprocess.run, which is not allowed"),
    "what that imports": (VALUE.format("@experiment.pathlib.os.system()"), "os.system"),
    "a binding alone": ("experiment.subprocess.run.args = 'id'\n", "experiment.subprocess.run"),
    "in a list": (VALUE.format("[1, (2, @experiment.gc.collect)]"), "experiment.gc.collect"),
    "as a key": (VALUE.format("{@experiment.gc.collect: 1}"), "experiment.gc.collect"),
    "in a scope": (VALUE.format("@a/b/experiment.gc.collect()"), "experiment.gc.collect"),
    "of a macro": ("X = @experiment.gc.collect()\n" + VALUE.format("%X"), "gc.collect"),
    "a private function": (VALUE.format("@experiment._claim()"), "experiment._claim"),
    "another public one": ("from suite.state import encoder_file\n"
                           + VALUE.format("@encoder_file.weights_in()"), "encoder_file.weights_in"),
    "the package's Python interface": ("import suite\n" + VALUE.format("@suite.run()"),
                                       "names suite.run,"),
    "a method": ("from suite.learners import finetune\n"
                 + VALUE.format("@finetune.Finetune.learn"), "Finetune.learn"),
    "an attribute of a function": (VALUE.format("@experiment.run.__globals__.get()"),
                                   "Cannot read|__globals__"),
    "a name without a module": (VALUE.format("@system()"), "names system,"),
    "a module that is not imported": (VALUE.format("@os.system()"), "names os.system,"),
    "gin's own functions": (VALUE.format("@gin.singleton()"), "names gin.singleton,"),
    "a constant of a module": (VALUE.format("%experiment.sys.path"), "constant %experiment.sys"),
    "the run as a value": (VALUE.format("@experiment.run()"), "run by the command"),
    "a table as a value": ("from suite.tables import table\n" + VALUE.format("[@table.run]"),
                           "run by the command"),
    # Values.
    "bytes": (VALUE.format("b'code'"), "is no number, text"),
    "a set": (VALUE.format("[{1, 2}]"), "is no number, text|Cannot read"),
    "a complex number": (VALUE.format("1j"), "is no number, text|Cannot read"),
    "an ellipsis": (VALUE.format("..."), "is no number, text|Cannot read"),
    "a layer's description": (VALUE.format(LAMBDA), "describes an object of Keras"),
    "a function's description": (
        VALUE.format("[{'module': 'os', 'registered_name': None, 'config': 'system'}]"),
        "describes an object of Keras"),
    "code": (VALUE.format("__import__('os').system('id')"), "Cannot read"),
    "a comprehension": (VALUE.format("[x for x in (1,)]"), "Cannot read"),
    "a deep list": (VALUE.format("[" * 5000 + "]" * 5000), "Cannot read"),
}


def _check(tmp_path, text, names=("shipped",), bindings=()):
  path = tmp_path / "run.gin"
  path.write_text(HEAD + text)
  return gin_parse.parse([path], bindings, names=names)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_allowed_is_refused_before_anything_is_imported(tmp_path, case, monkeypatch):
  (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
  monkeypatch.syspath_prepend(str(tmp_path))
  monkeypatch.setattr(gin_parse.gin, "parse_config", lambda *_: pytest.fail("gin was called"))
  text, message = REFUSED[case]
  with pytest.raises(gin_files.ConfigError, match=message):
    _check(tmp_path, text)
  assert "evil" not in sys.modules


def test_includes_bindings_and_cells_of_tables_are_read_too(tmp_path):
  (tmp_path / "inside.gin").write_text("import os\n")
  with pytest.raises(gin_files.ConfigError, match="inside.gin imports 'os'"):
    _check(tmp_path, f"include '{tmp_path / 'inside.gin'}'\n")
  with pytest.raises(gin_files.ConfigError, match="--gin_param .* names .*gc.collect"):
    _check(tmp_path, "", bindings=["experiment.run.seed=@experiment.gc.collect()"])
  (tmp_path / "cell.gin").write_text(HEAD + "import os\nexperiment.run.seed = @os.getpid()\n")
  cell = table.TableCell("r", "c", 0, str(tmp_path / "cell.gin"), (), 0, (), (), tmp_path / "0")
  with pytest.raises(gin_files.ConfigError, match="Row 'r', column 'c'.*imports 'os'"):
    table.settings_texts([cell], ("shipped",))
  assert "imports 'os'" in table._first_problem([cell], ("shipped",))
  settings = run_settings.RunSettings(gin_names=("shipped", "mine.net"))
  command = cell.job(settings).command
  assert command[command.index("--gin_names") + 1] == "shipped,mine.net"


def test_own_functions_are_allowed_one_by_one_and_all_are_without_the_flag(tmp_path, monkeypatch):
  (tmp_path / "mine.py").write_text("def net():\n  pass\n\ndef other():\n  pass\n")
  monkeypatch.syspath_prepend(str(tmp_path))
  text = "import mine\nexperiment.run.protocol = @mine.net\n"
  with pytest.raises(gin_files.ConfigError, match="add the full name of the function or class to"):
    _check(tmp_path, text)
  _check(tmp_path, text, names=("shipped", "mine.net"))
  with pytest.raises(gin_files.ConfigError, match="names mine.other, which is not allowed"):
    _check(tmp_path, text.replace("@mine.net", "@mine.other"), names=("shipped", "mine.net"))
  with pytest.raises(gin_files.ConfigError, match="imports 'suite.experiment'"):
    _check(tmp_path, text, names=("mine.net",))
  _check(tmp_path, text, names=())


def test_all_shipped_runs_are_allowed_and_name_nothing_else():
  named, texts, refused = set(), set(), {}
  for path in sorted((gin_files.root() / "gin").rglob("*.gin")):
    found = gin_files.Scan()
    gin_files._Reading({str(path)}).read(path, 1, found)
    named |= set(found.functions)
    # Of cells of tables: "@module.function()" as text.
    texts |= set(re.findall(r"'@([\w.]+)", path.read_text(encoding="utf-8")))
  for name, path in run_files.shipped().items():
    try:
      gin_names.check(gin_files.scan([path]), [gin_names.SHIPPED])
    except gin_files.ConfigError as error:
      refused[name] = str(error)
  assert not refused
  assert named <= gin_names.shipped()
  assert texts
  assert not [text for text in texts
              if not any(name.endswith(f".{text}") for name in gin_names.shipped())]


def test_each_name_of_the_list_is_a_public_function_or_class_of_its_module():
  lines = gin_names._LIST.read_text().splitlines()[3:]
  assert lines == sorted(lines)
  wrong = []
  for name in gin_names.shipped():
    module, _, attribute = name.rpartition(".")
    target = getattr(importlib.import_module(module), attribute, None)
    own = getattr(inspect.unwrap(target), "__module__", "") == module if target else False
    if not own or not (inspect.isfunction(target) or inspect.isclass(target)):
      wrong.append(name)
    if module.startswith(("suite.system", "suite.beside.curation", *gin_names._NEVER)):
      wrong.append(name)
  assert not wrong


def test_the_list_has_the_public_doors_and_no_loader_of_models():
  doors = ("images", "streams", "buckets", "episodes", "sequences")
  modules = importlib.import_module("suite")._MODULES
  for door in doors:
    functions = [name for name in gin_names.shipped() if name.startswith(f"{modules[door]}.")]
    assert functions, door
  loads = ("load_model", "model_from_json", "deserialize", "load_weights", "subprocess", "exec(",
           "eval(", "parse_config", "import_module")
  for name in gin_names.shipped() - {"suite.tables.table.run", "suite.experiment.run"}:
    target = functools.reduce(getattr, [name.rpartition(".")[2]],
                              importlib.import_module(name.rpartition(".")[0]))
    source = inspect.getsource(inspect.unwrap(target))
    assert not [word for word in loads if word in source], name


@pytest.mark.parametrize("given, message", [
    ("shipped mine", "got 'shipped mine', allowed are shipped, and full names"),
    ("suite", "allowed are shipped, and full names of single functions"),
    ("shipped,", "allowed are shipped"), ("", "allowed are shipped"),
    ("shipped,mine.1net", "allowed are shipped"),
    ("shipped,suite.running.python_run.run", "takes gin or code as text"),
    ("gin.parse_config", "takes gin or code as text"),
])
def test_the_flag_takes_full_names(given, message, capsys):
  with pytest.raises(ValueError, match=message):
    gin_names.parsed(given)
  assert cli.main(["run", "quickstart", "--gin_names", given]) == 2
  assert message in capsys.readouterr().err


def test_the_former_flag_names_the_new_one(capsys):
  assert cli.main(["run", "quickstart", "--trusted_modules", "suite,tensorflow"]) == 2
  assert "Now gin_names, --gin_names shipped, lists" in capsys.readouterr().err
  with pytest.raises(gin_files.ConfigError, match="has no setting 'trusted_modules': it let a gin"):
    run_settings.from_python({"trusted_modules": ("suite",)})
