# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""All private parts of TensorFlow that the suite uses; a release without one is refused by name.

Each has no public counterpart, or one that is several times slower. The configuration
of TensorFlow's graph rewrites is here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import contextlib
import ctypes
import functools
import importlib
import pathlib
import threading
from typing import Any
import weakref

import tensorflow as tf

TESTED = "2.15 and 2.21"
_NO_STACK: Any = None
_IS_MKL_ENABLED = "_ZN10tensorflow12IsMklEnabledEv"  # bool tensorflow::IsMklEnabled()


def _part(owner: str, name: str) -> Any:
  """An attribute of a private module, or of `tf.Graph`; an error that says what is not there."""
  try:
    return getattr(tf.Graph if owner == "tf.Graph" else importlib.import_module(owner), name)
  except (ImportError, AttributeError) as error:
    raise ImportError(
        f"TensorFlow {tf.__version__} has no {owner}.{name}, which the suite uses. TensorFlow "
        f"{TESTED} have it: install one of them, or change {__name__}.") from error


_to_graph = _part("tensorflow.python.framework.function_def_to_graph", "function_def_to_graph")
_get_handle_data = _part("tensorflow.python.ops.handle_data_util", "get_handle_data")
_copy_handle_data = _part("tensorflow.python.ops.handle_data_util", "copy_handle_data")
_context = _part("tensorflow.python.eager.context", "context")
_global_seed = _part("tensorflow.python.eager.context", "global_seed")
_gradients = _part("tensorflow.python.framework.ops", "gradient_registry")
_get_function = _part("tf.Graph", "_get_function")
_is_function = _part("tf.Graph", "_is_function")
_create_op = _part("tf.Graph", "_create_op_internal")
_data_function = _part(
    "tensorflow.python.data.ops.structured_function", "StructuredFunctionWrapper")
_make_data_function = _data_function.__init__
_func_graph = _part("tensorflow.python.framework.func_graph", "FuncGraph")
_enter_graph = _func_graph.as_default
_ON_ONE_DEVICE = _part("tensorflow.python.eager.polymorphic_function.attributes", "INTS_ON_DEVICE")
# Attributes of a graph that a pipeline runs as it is, on the CPU; see `plain_data_functions`.
DATA_FUNCTION = {"_tf_data_function": True, _ON_ONE_DEVICE: True}
_stacks: Any = importlib.import_module("tensorflow.python.util.tf_stack")
_stack = _part("tensorflow.python.util.tf_stack", "extract_stack")
_read_only = _part("tensorflow.python.framework.auto_control_deps_utils",
                   "get_read_only_resource_input_indices_graph")
with_constants = _part("tensorflow.python.framework.convert_to_constants",
                       "convert_variables_to_constants_v2")
is_deterministic = _part("tensorflow.python.framework.config", "is_op_determinism_enabled")
_here = threading.local()


@functools.cache
def uses_onednn() -> bool:
  """Whether TensorFlow computes with oneDNN's kernels.

  It decides when it is imported, by TF_ENABLE_ONEDNN_OPTS or else by the CPU; what the environment
  says later has no effect. TensorFlow 2.15's own Python function decides again at its first call,
  so it is only asked where the library does not export the function that kernels ask.
  """
  folder = pathlib.Path(tf.sysconfig.get_lib())
  for pattern in ("libtensorflow_framework*", "libtensorflow_cc*"):
    for path in sorted(folder.glob(pattern)):
      try:
        function = getattr(ctypes.CDLL(str(path)), _IS_MKL_ENABLED)
      except (OSError, AttributeError):
        continue
      function.restype = ctypes.c_bool
      return bool(function())
  return bool(_part("tensorflow.python.util._pywrap_util_port", "IsMklEnabled")())


_seeds_of_runs: set[int] = set()


def set_seed(seed: int) -> None:
  """Sets TensorFlow's seed for a run."""
  tf.random.set_seed(seed)
  _seeds_of_runs.add(seed)


def seed_of_user() -> int | None:
  """TensorFlow's seed, if the user has set it; else None."""
  seed = _global_seed()
  return None if seed in _seeds_of_runs else seed


def written_handles(graph: Any) -> list[tf.Tensor]:
  """Handles of the variables outside of a function's graph that it writes."""
  outside = {id(inside): handle for handle, inside in graph.captures}
  read = set(_read_only(graph))
  return [outside[id(one)] for i, one in enumerate(graph.inputs)
          if one.dtype == tf.resource and i not in read and id(one) in outside]


def function_called(graph: tf.Graph, name: str) -> Any:
  """The function of this name in a graph's library, or None."""
  return _get_function(graph, name)


def is_function(graph: tf.Graph, name: str) -> bool:
  """Whether a graph's library has a function of this name."""
  return _is_function(graph, name)


def graph_of(definition: Any) -> tf.Graph:
  """The graph of a function's definition."""
  return _to_graph(definition)


def handle_data(tensor: tf.Tensor) -> bytes:
  """Returns the types and shapes of the elements of a resource or variant, as bytes."""
  return _get_handle_data(tensor).SerializeToString()


def copy_handle_data(source: tf.Tensor, target: tf.Tensor) -> None:
  """Tells TensorFlow that `target` holds elements like those of `source`."""
  _copy_handle_data(source, target)


def create_op(graph: tf.Graph, kind: str, inputs: Sequence[tf.Tensor], dtypes: Sequence[tf.DType],
              attrs: Mapping[str, Any]) -> tf.Operation:
  """Adds an op, in a third of the time of the public `create_op`."""
  return _create_op(graph, kind, inputs, dtypes, attrs=attrs, compute_device=False)


def call_options() -> Any:
  """The options by which this thread calls graphs; `tf.config` has not all of them."""
  return _context().function_call_options


def release_gradient_with(graph: tf.Graph, name: str) -> None:
  """Keeps the gradient function registered under a name for as long as its graph, not for ever."""
  held = getattr(graph, "_gradient_functions", {})
  if name in held:
    return
  registered = _gradients._registry
  function = registered[name]["type"]
  weak = weakref.ref(function)

  def gradient(op: tf.Operation, *upstream: tf.Tensor) -> Any:
    alive = weak()
    if alive is None:
      raise LookupError(f"The graph of the gradient {name} exists no more.")
    return alive(op, *upstream)

  registered[name]["type"] = gradient
  graph._gradient_functions = {**held, name: function}
  weakref.finalize(function, registered.pop, name, None).atexit = False


@contextlib.contextmanager
def plain_data_functions() -> Iterator[None]:
  """Lets pipelines that are made meanwhile begin in a third of the time; decorates, too.

  Whenever a pipeline begins, TensorFlow divides each of its functions among the devices and
  rewrites it, although all of it runs on the CPU; for every operation oneDNN's pass reads the list
  of all kernels twice. A function of one device is run as it is. Operations do not keep the Python
  stack that made them, a tenth of the time of tracing, which no error of a pipeline shows.
  """
  before = getattr(_here, "plain", False)
  _here.plain = True
  try:
    yield
  finally:
    _here.plain = before


def _begin_data_function(self: Any, *arguments: Any, defun_kwargs: Any = None, **named: Any
                         ) -> None:
  if getattr(_here, "plain", False):
    defun_kwargs = {**(defun_kwargs or {}), _ON_ONE_DEVICE: True}
  _make_data_function(self, *arguments, defun_kwargs=defun_kwargs, **named)


_data_function.__init__ = _begin_data_function


def keep_stacks(keep: bool) -> None:
  """Whether operations that are made from now on keep the Python stack that made them.

  Errors of graphs show it. Without it tracing takes up to a tenth less.
  """
  global _keeps_stacks
  _keeps_stacks = keep


def _extract_stack(stacklevel: int = 1) -> Any:
  if _keeps_stacks and not getattr(_here, "plain", False):
    return _stack(stacklevel + 1)
  return _NO_STACK


def _take_shortest_stack() -> None:
  global _NO_STACK
  _NO_STACK = _stack(stacklevel=len(list(_stack())))  # One frame: XLA crashes on an empty stack.


# A stack does not keep the code of its frames alive, and the code of a module that is being
# imported is freed afterwards. A thread's stack has none.
_thread = threading.Thread(target=_take_shortest_stack)
_thread.start()
_thread.join()

_keeps_stacks = True
_stacks.extract_stack = _extract_stack


class _EnteredAgain:
  """A function's graph that is the default one already."""

  __slots__ = ("_graph", "_callbacks")

  def __init__(self, graph: Any):
    self._graph = graph

  def __enter__(self) -> Any:
    self._callbacks = self._graph._scope_exit_callbacks
    self._graph._scope_exit_callbacks = []
    return self._graph

  def __exit__(self, *error: Any) -> None:
    try:
      for call in self._graph._scope_exit_callbacks:
        call()
    finally:
      self._graph._scope_exit_callbacks = self._callbacks


def _as_default(self: Any) -> Any:
  """Enters a function's graph; TensorFlow does so for every operation, and copies its stacks."""
  if tf.compat.v1.get_default_graph() is self and not tf.executing_eagerly():
    return _EnteredAgain(self)
  return _enter_graph(self)


_func_graph.as_default = _as_default


def without_temporary_variables() -> None:
  """Turns off the rewrite of sums into temporary variables, for graphs that this thread runs.

  Where TensorFlow (2.15) expects a graph to need more memory than its device reports, it turns sums
  of three or more tensors into additions to a temporary variable. In the gradient of a loop that
  variable is not deleted: the next call of the graph ends with AlreadyExistsError (tensorflow issue
  23780). Call this after devices and threads are configured; configuring them resets it.
  """
  options = call_options()  # tf.config has all rewrites but this one.
  config = tf.compat.v1.ConfigProto.FromString(options.config_proto_serialized)
  rewrites = config.graph_options.rewrite_options
  rewrites.memory_optimization = rewrites.NO_MEM_OPT
  options.config_proto_serialized = config
