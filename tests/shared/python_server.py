# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Python processes that start within milliseconds: forks of one that has imported TensorFlow.

`start` does what `subprocess.Popen([sys.executable, ...], stdout=PIPE)` does. A fork has
its own pid, directory, environment and pipes, runs a program as `__main__` and ends as an
interpreter does. The server has imported the suite but run no operation, so that TensorFlow's
threads, devices and settings are those of the fork. (A `multiprocessing` fork server ends its forks
by `os._exit`, without what a distributed run does when it ends.)

Three things differ from a fresh interpreter: the import is not tested; hashes of strings are alike
in all forks, so that of two runs which are compared one must be a fresh process (`fresh=True`); and
tests never cut the power, so nothing waits for the disk, and operations keep no Python stack.

pytest counts the CPU time of forks only when the server ends. If the variable FORK_TIMES names a
file, the server adds a JSON line for each fork: its test, its arguments and its CPU seconds.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pathlib
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRELOADED = ("suite.cli", "suite.experiment", "suite.data.digits.digits",
             "suite.learners.exemplar_tuning", "suite.learners.finetune", "suite.learners.gradient",
             "suite.learners.protonet", "suite.learners.weight_imprinting", "suite.lifelong.api",
             "suite.protocols.cfsl", "suite.protocols.clear", "suite.protocols.fluid",
             "suite.protocols.nevis", "suite.running.python_run", "keras_tuner", "sklearn.datasets")
# Read by Python, numpy, TensorFlow and TFDS when they are imported.
READ_AT_IMPORT = ("KERAS_BACKEND", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED", "TFDS_DATA_DIR",
                  "TF_CPP_MIN_LOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS", "TF_USE_LEGACY_KERAS")


class Server:
  """Starts processes; the server itself starts with the first one."""

  def __init__(self):
    self._process = self._channel = None
    self._environment = {}

  def start(self, arguments, *, cwd=ROOT, env=None, stderr=subprocess.STDOUT, fresh=False):
    """Starts Python with `arguments`: `-m MODULE ...`, `-c CODE ...` or `FILE ...`.

    Args:
      arguments: of the interpreter.
      cwd: working directory.
      env: environment; None: that of this process.
      stderr: subprocess.STDOUT or subprocess.PIPE.
      fresh: whether an interpreter starts that has imported nothing.

    Returns:
      A `subprocess.Popen`, or an object with the same methods, in text mode.
    """
    env = dict(os.environ if env is None else env)
    if sys.platform != "linux" or fresh or not self._serves(env):
      return subprocess.Popen([sys.executable, *arguments], cwd=cwd, env=env, text=True,
                              stdout=subprocess.PIPE, stderr=stderr)
    return Fork(self._channel, [*map(str, arguments)], str(cwd), env, stderr)

  def run(self, arguments, *, timeout=600, **settings):
    """Starts a process and waits for its end, as `subprocess.run(capture_output=True)`."""
    process = self.start(arguments, stderr=subprocess.PIPE, **settings)
    try:
      out, err = process.communicate(timeout=timeout)
    finally:
      process.kill()
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)

  def close(self):
    if self._process is not None:
      self._channel.close()
      self._process.wait(timeout=60)

  def _serves(self, env):
    if self._process is None:
      self._channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      # `suite` sets the flag before it imports TensorFlow.
      self._environment = {"TF_ENABLE_ONEDNN_OPTS": "1", **os.environ, "PYTHONPATH": str(ROOT)}
      self._process = subprocess.Popen([sys.executable, __file__, str(other.fileno())],
                                       env=self._environment, pass_fds=[other.fileno()])
      other.close()
    return all(env.get(name) == self._environment.get(name) for name in READ_AT_IMPORT
               if name != "TF_ENABLE_ONEDNN_OPTS" or name in env)


class Fork:
  """The methods of `subprocess.Popen` for a process of the server."""

  def __init__(self, channel, arguments, cwd, env, stderr):
    self.returncode, self._streams, writers = None, [], []
    for _ in range(1 if stderr == subprocess.STDOUT else 2):
      reader, writer = os.pipe()
      writers.append(writer)
      self._streams.append(_Stream(reader))
    reader, writer = os.pipe()
    writers.append(writer)
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    request = json.dumps({"arguments": arguments, "cwd": cwd, "env": env, "test": test}).encode()
    socket.send_fds(channel, [request], writers)
    for writer in writers:
      os.close(writer)
    self._status = os.fdopen(reader, encoding="utf-8")
    self.pid = self._read_status()

  def _read_status(self):
    line = self._status.readline()
    if not line:
      raise RuntimeError("The server of processes has ended; its output is above.")
    return int(line)

  def poll(self):
    if self.returncode is None and select.select([self._status], [], [], 0)[0]:
      self.returncode = self._read_status()
      self._status.close()
    return self.returncode

  def wait(self, timeout=None):
    deadline = None if timeout is None else time.monotonic() + timeout
    while self.poll() is None:
      left = None if deadline is None else deadline - time.monotonic()
      if left is not None and left <= 0:
        raise subprocess.TimeoutExpired(str(self.pid), timeout)
      select.select([self._status], [], [], left)
    return self.returncode

  def kill(self):
    if self.poll() is None:
      try:
        os.kill(self.pid, signal.SIGKILL)
      except ProcessLookupError:  # It has just ended.
        pass

  def communicate(self, timeout=None):
    self.wait(timeout)
    out, *err = (stream.text() for stream in self._streams)
    return out, *(err or [None])


class _Stream(threading.Thread):
  """Reads a pipe to its end."""

  def __init__(self, reader):
    super().__init__(daemon=True)
    self._reader, self._text = os.fdopen(reader, encoding="utf-8", errors="replace"), ""
    self.start()

  def run(self):
    with self._reader:
      self._text = self._reader.read()

  def text(self):
    self.join()
    return self._text


def _import_all():
  from absl import logging

  logging.use_absl_handler()  # TensorFlow has its own if there is none when it is imported.
  for name in PRELOADED:
    importlib.import_module(name)
  from tensorflow.python.eager import context

  from suite.compute import private_tensorflow

  private_tensorflow.keep_stacks(False)
  os.fsync = lambda descriptor: None
  # A fork would lack its threads.
  assert context.context()._context_handle is None, "An import has run an operation."
  assert threading.active_count() == 1, threading.enumerate()
  context._reset_context()
  gc.collect()
  gc.freeze()
  gc.set_threshold(50_000, 10, 10)


def _serve(channel):
  """Forks until the channel is closed; returns in a fork with its request, at the end with None."""
  running = {}  # From file descriptors of processes to pipes for their exit codes.
  open_channel = True
  while open_channel or running:
    ready, _, _ = select.select([*running, *([channel] if open_channel else [])], [], [])
    for one in ready:
      if one is not channel:
        status = running.pop(one)
        _, code, used = os.wait4(one.pid, 0)
        _note_times(one.request, used)
        _tell(status, os.waitstatus_to_exitcode(code))
        os.close(status)
        os.close(one.descriptor)
        continue
      data, descriptors, _, _ = socket.recv_fds(channel, 1 << 20, 3)
      if not data:
        open_channel = False
        continue
      *streams, status = descriptors
      request = json.loads(data)
      pid = os.fork()
      if not pid:
        for stream, number in zip((streams[0], streams[-1]), (1, 2)):
          os.dup2(stream, number)
        for number in (*descriptors, *running.values(), *(one.descriptor for one in running)):
          os.close(number)
        channel.close()
        return request
      for stream in streams:
        os.close(stream)
      _tell(status, pid)
      running[_Running(pid, request)] = status
  return None


class _Running:
  """A process whose end `select` can wait for."""

  def __init__(self, pid, request):
    self.pid, self.descriptor, self.request = pid, os.pidfd_open(pid), request

  def fileno(self):
    return self.descriptor


def _note_times(request, used):
  path = os.environ.get("FORK_TIMES")
  if path:
    line = {"test": request["test"], "arguments": request["arguments"],
            "seconds": round(used.ru_utime + used.ru_stime, 2)}
    with open(path, "a", encoding="utf-8") as file:
      file.write(json.dumps(line) + "\n")


def _tell(status, number):
  try:
    os.write(status, f"{number}\n".encode())
  except BrokenPipeError:  # The one who asked has ended.
    pass


def _become(request):
  """Runs the program of a request as `__main__`."""
  import numpy as np

  np.random.seed()  # noqa: NPY002  Fresh processes differ in it.
  os.environ.clear()
  os.environ.update(request["env"])
  os.chdir(request["cwd"])
  kind, *rest = request["arguments"]
  added = [part for part in request["env"].get("PYTHONPATH", "").split(os.pathsep) if part]
  # The first is the folder of this file.
  sys.path[1:] = [*added, *(part for part in sys.path[1:] if part not in added)]
  importlib.invalidate_caches()
  if kind in ("-m", "-c"):
    name, *arguments = rest
    sys.path[0], sys.argv = "", [kind, *arguments]
    if kind == "-m":
      runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
      sys.modules["__main__"] = main = types.ModuleType("__main__")
      exec(compile(name, "<string>", "exec"), main.__dict__)
  else:
    sys.path[0], sys.argv = str(pathlib.Path(kind).resolve().parent), [kind, *rest]
    runpy.run_path(kind, run_name="__main__")


def _main():
  with socket.socket(fileno=int(sys.argv[1])) as channel:
    _import_all()
    request = _serve(channel)
  if request is not None:
    _become(request)


if __name__ == "__main__":
  _main()
