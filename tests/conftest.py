# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What every test gets: no trace of gin, or of the caller's settings, from one test to the next."""

import gc
import importlib.util
import json
import os
import pathlib
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # Read when TensorFlow is imported.
# As `suite run`; TensorFlow's default depends on the processor.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
# Read when numpy is imported: matrices are small here, and threads that share a core wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gin
from gin import config as gin_config
import pytest
import python_server

import suite
from suite import cli
from suite.reporting import records
from suite.reporting import run_dir

ROOT = pathlib.Path(suite.__file__).parents[1]
_PATIENCE_SECONDS = 600


@pytest.fixture(autouse=True)
def _gin_forgets():
  gin.enter_interactive_mode()  # Lets two tests register different functions of one name.
  # clear_config keeps what is registered: a test's stand-in would answer to that name for ever.
  registered = gin_config._REGISTRY.copy(), dict(gin_config._INVERSE_REGISTRY)
  yield
  gin.exit_interactive_mode()
  gin.clear_config()
  gin_config._REGISTRY, gin_config._INVERSE_REGISTRY = registered


_SETTINGS = ("LIFELONG_DATA_DIR", "LIFELONG_MIRROR", "TFDS_DATA_DIR", "TF_CONFIG")


@pytest.fixture(autouse=True, scope="module")
def _settings_of_a_module():
  """What a module's fixtures set ends with it; with other settings no process is a fork."""
  with pytest.MonkeyPatch.context() as patch:
    for name in _SETTINGS:
      patch.setenv(name, "")
      patch.delenv(name)
    yield


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch):
  for name in _SETTINGS:
    monkeypatch.setenv(name, "")  # Noted, so that what a test sets is undone after it.
    monkeypatch.delenv(name)
  monkeypatch.setenv("COLUMNS", "400")  # Whatever terminal the tests are started in.


def _op_determinism_stays():
  """A run in a test's process turns determinism on; ops, and what they cost, are others then."""
  name = "tensorflow.python.framework.config"  # The test may be the one that imports it.
  before = name in sys.modules and sys.modules[name].is_op_determinism_enabled()
  yield
  if name in sys.modules and sys.modules[name].is_op_determinism_enabled() and not before:
    sys.modules[name].disable_op_determinism()


# Those of a module come before its own fixtures, which may run something, too.
_of_a_test = pytest.fixture(autouse=True)(_op_determinism_stays)
_of_a_module = pytest.fixture(autouse=True, scope="module")(_op_determinism_stays)


def pytest_collection_finish():
  """Excludes imported modules from garbage collection, which becomes rarer, too."""
  gc.collect()
  gc.freeze()
  gc.set_threshold(50_000, 10, 10)


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk():
  """No test cuts the power: what a killed process has written stays in the page cache."""
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(os, "fsync", lambda descriptor: None)
    yield


@pytest.fixture(autouse=True, scope="module")
def _operations_keep_no_stack():
  """As in `suite run`."""
  if "tensorflow" in sys.modules:
    from suite.compute import private_tensorflow

    private_tensorflow.keep_stacks(False)


@pytest.fixture(autouse=True, scope="module")
def _graphs_are_run_as_they_are():
  """TensorFlow's graph optimizer takes a tenth of the time of tests, which run a graph few times.

  Processes of `suite run` that tests start have it; tests/graph_optimizer_test.py compares.
  """
  tensorflow = sys.modules.get("tensorflow")
  if tensorflow is not None:
    tensorflow.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


@pytest.fixture(autouse=True, scope="module")
def _graphs_go():
  """Graphs hold one another in circles; thousands of tests leave gigabytes of them."""
  yield
  tensorflow = sys.modules.get("tensorflow")
  if tensorflow is not None:
    tensorflow.keras.backend.clear_session()
  gc.collect()
  gc.freeze()  # What modules import and keep need not be looked at after each of them.


@pytest.fixture(name="python", scope="session")
def _python():
  """Starts Python processes that need not import TensorFlow again."""
  server = python_server.Server()
  yield server
  server.close()


def _gin_params(params):
  return [part for param in params for part in ("--gin_param", param)]


class Processes:
  """`suite run` in separate processes, to be killed and to be resumed."""

  def __init__(self, python):
    self._python = python
    path = ROOT / "tools" / "kill_resume.py"
    spec = importlib.util.spec_from_file_location("kill_resume", path)
    self.tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(self.tool)

  def start(self, run, workdir, *, params=(), path=ROOT, flags=(), fresh=False):
    """The process of `suite run`; `path` holds modules that the run file asks for.

    Of two runs that are compared one is `fresh`, so that hashes of strings differ.
    """
    command = ["-m", "suite", "run", str(run), "--workdir", str(workdir), *flags]
    command += _gin_params(params)
    search = os.pathsep.join([str(ROOT), str(path)])
    return self._python.start(
        command, cwd=path, fresh=fresh,
        env={**os.environ, "PYTHONPATH": search, "CUDA_VISIBLE_DEVICES": ""})

  def finish_here(self, run, workdir, *, params, path):
    """The whole run in the test's own process, whose hashes of strings are not those of a fork.

    It computes as a process that `start` starts: in graphs that are optimized, without a GPU. A
    process that has one cannot leave it out any more, so that a fresh one runs there.
    """
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
      self.finish(self.start(run, workdir, params=params, path=path, fresh=True))
      return
    optimized = tf.config.optimizer.get_experimental_options().get("disable_meta_optimizer", False)
    with pytest.MonkeyPatch.context() as patch:
      patch.syspath_prepend(str(path))
      tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})
      tf.keras.backend.clear_session()  # Names of layers count from 1, as in a process.
      try:
        assert cli.main(["run", str(run), "--workdir", str(workdir), *_gin_params(params)]) == 0
      finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": optimized})

  def finish(self, process):
    output, _ = process.communicate(timeout=_PATIENCE_SECONDS)
    assert process.returncode == 0, output[-3000:]

  def kill_when(self, process, is_time):
    """A SIGKILL as soon as is_time(), which looks into the work directory."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not is_time():
      assert process.poll() is None, process.communicate()[0][-3000:]
      assert time.monotonic() < deadline
      time.sleep(0.002)
    process.kill()
    process.communicate()

  def num_records(self, folder):
    path = folder / "records.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0

  def assert_same(self, whole, killed, names):
    """Records and summaries but for times, predictions as bytes, of the learners named are equal.

    The digest of the last record, which a summary has, covers times.
    """
    assert self.tool.compare(whole, killed) == []
    for name in names:
      folders = [d / name for d in (whole, killed)]
      lines = [[json.dumps(records.strip_times(record))
                for record in records.read(d / "records.jsonl")] for d in folders]
      assert lines[0] == lines[1]
      summaries = [json.dumps(run_dir.read_json(d / "summary.json")) for d in folders]
      assert summaries[0] == summaries[1]
      files = [sorted(path.name for path in (d / "predictions").iterdir()) for d in folders]
      assert files[0] and files[0] == files[1]
      for file in files[0]:
        first, second = ((d / "predictions" / file).read_bytes() for d in folders)
        assert first == second, file


@pytest.fixture(scope="session")
def processes(python):
  return Processes(python)
