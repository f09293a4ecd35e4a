# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Frozen nets, which encode each image once: for all learners, tasks, seeds and processes.

`FrozenEncoder` is the only place where a frozen net computes codes of whole sets. It computes
`ROWS` images at once, whatever the batches of the learner, and keeps the codes in the store of the
process (`keep_in`), by the bytes of the prepared image.

Why a run is the same with and without kept codes: both run the same graph, of `ROWS` rows. The only
difference is which images stand beside each other, and in which places. A graph without state,
whose shapes are fixed, does the same arithmetic at a place whatever the images; what may differ
between places is the order of sums, and so the last bits. A net that looks at other rows, such as
one that normalizes by its batch, differs by more. Both are found by a trial on drawn images: all
but one go on by one place, so that each place is compared with the next, and one becomes blank. If
their codes have the same bits, a code is kept for each image. If not, codes are kept for `ROWS`
images in their order, which is the order without kept codes, too. Of a graph that has a state
(random numbers, Python functions), or reads what has no digest, nothing is kept.

The key of a net is a digest of its traced graph, constants and weights, of TensorFlow's version,
the arithmetic (precision, threads, oneDNN, XLA) and the device. The code of a user's layers is in
the graph, so a changed layer is another net.

Each learner is charged as if it had encoded: `FrozenEncoder.cost` is that of the graph.

A function of images that begins with a frozen net, such as `predict` of a statistical learner, is
divided while it is traced (`Division`): the net finds that its input is the function's own, and a
second input, the code, takes its place. So no learner says how it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
import contextlib
import itertools
import threading
from typing import Any

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import arithmetic
from suite.compute import flops
from suite.compute import graph_frame
from suite.compute import private_tensorflow
from suite.compute import user_code
from suite.contracts import rehearsal
from suite.models import precision
from suite.state import code_store

ROWS = 32  # EfficientNet-Lite0 encodes 98 images a second on two cores, 89 with 64, 43 with 256.
_WRITTEN_AT_ONCE = 1024  # Codes of a file; those of a process that is killed are lost.
_SEED = 0  # Of the images of a trial.
# Ops that TensorFlow calls stateful, and that change nothing. Functions are looked into.
_HARMLESS = frozenset(["ReadVariableOp", "Placeholder", "StatefulPartitionedCall", "If", "While",
                       "Case", "Assert"])
_store: code_store.CodeStore | None = None
_depends: dict[bytes, bool] = {}  # Net -> whether its codes depend on the images beside.
_here = threading.local()


@contextlib.contextmanager
def keep_in(store: code_store.CodeStore | None) -> Iterator[None]:
  """Keeps codes in a store meanwhile; None: they are computed each time."""
  global _store
  before, _store = _store, store
  try:
    yield
  finally:
    _store = before


class FrozenEncoder:
  """A frozen net, compiled for `ROWS` images.

  Args:
    function: images [B, ...] to codes [B, D]; its variables never change.
  """

  def __init__(self, function: Callable[[tf.Tensor], tf.Tensor]):
    self._compiled = user_code.compiled(function)
    self._graphs: dict[tuple[Any, ...], Any] = {}
    self._costs: dict[tuple[Any, ...], flops.RowCosts] = {}
    self._keys: dict[tuple[Any, ...], bytes] = {}  # b"": nothing is kept.

  def cost(self, spec: tf.TensorSpec, rows: int) -> flops.Cost:
    """The cost of encoding `rows` images of a spec [...]."""
    costs = self._costs.setdefault(_plain(spec), flops.RowCosts(
        lambda rows: flops.count(self._graph(spec, rows)), ROWS))
    return costs(rows)

  def code_spec(self, spec: tf.TensorSpec) -> tf.TensorSpec:
    """The spec [D] of a code of an image of a spec [...]."""
    found = self._graph(spec, ROWS).structured_outputs
    return tf.TensorSpec(found.shape[1:], found.dtype)

  def recall(self, spec: tf.TensorSpec, digests: Sequence[bytes]) -> np.ndarray | None:
    """The codes [N, D] of images by their digests; None if not all are kept."""
    key = self._key(spec) if _store is not None and rehearsal.current() is None else b""
    if _store is None or not key or _depends.get(key, True):
      return None
    found = [code for code in _store.of_net(key).find(digests) if code is not None]
    return np.stack(found) if len(found) == len(digests) else None

  def encode(self, batches: Iterable[np.ndarray], digests: list[bytes] | None = None
             ) -> np.ndarray:
    """The codes [N, D] of the images of batches [n, ...]; there is at least one image.

    Args:
      batches: see above.
      digests: takes those of the images, for `recall`, if codes are kept for each image.
    """
    images = (image for batch in batches for image in batch)
    first = next(images)
    spec = tf.TensorSpec(first.shape, first.dtype)
    chunks = _chunks(itertools.chain([first], images))
    store = _store if rehearsal.current() is None else None
    key = self._key(spec) if store is not None else b""
    if store is None or not key:
      return np.concatenate([self._compute(spec, chunk) for chunk in chunks])
    kept = store.of_net(key)
    if key not in _depends:
      _depends[key] = self._depends_on_others(spec)
    if _depends[key]:
      return np.concatenate([self._kept_together(spec, kept, chunk) for chunk in chunks])
    return self._kept_singly(spec, kept, chunks, [] if digests is None else digests)

  def _kept_singly(self, spec: tf.TensorSpec, kept: code_store.NetCodes,
                   chunks: Iterable[list[np.ndarray]], order: list[bytes]) -> np.ndarray:
    known: dict[bytes, np.ndarray] = {}
    queue: dict[bytes, np.ndarray] = {}  # Images that are to be computed.
    new: list[bytes] = []

    def keep() -> None:
      if new:
        kept.add(new, np.stack([known[name] for name in new]))
        new.clear()

    def compute(num: int) -> None:
      some = {name: queue.pop(name) for name in list(queue)[:num]}
      if some:
        known.update(zip(some, self._compute(spec, list(some.values()))))
        new.extend(some)

    for chunk in chunks:
      names = [code_store.digest(image.tobytes()) for image in chunk]
      order += names
      for name, image, code in zip(names, chunk, kept.find(names)):
        if code is not None:
          known[name] = code
        elif name not in known:
          queue[name] = image
      if len(queue) >= ROWS:
        compute(ROWS)
      if len(new) >= _WRITTEN_AT_ONCE:
        keep()
    compute(ROWS)
    keep()
    return np.stack([known[name] for name in order])

  def _kept_together(self, spec: tf.TensorSpec, kept: code_store.NetCodes,
                     chunk: list[np.ndarray]) -> np.ndarray:
    whole = code_store.digest(*(image.tobytes() for image in chunk))
    names = [code_store.digest(whole, bytes([row])) for row in range(len(chunk))]
    found = kept.find(names)
    codes = [code for code in found if code is not None]
    if len(codes) == len(chunk):
      return np.stack(codes)
    made = self._compute(spec, chunk)
    kept.add(names, made)
    return made

  def _compute(self, spec: tf.TensorSpec, images: Sequence[np.ndarray] | np.ndarray
               ) -> np.ndarray:
    """The codes of at most `ROWS` images."""
    rows = np.zeros([ROWS, *spec.shape], spec.dtype.as_numpy_dtype)
    rows[:len(images)] = images
    return self._graph(spec, ROWS)(tf.constant(rows)).numpy()[:len(images)]

  def _graph(self, spec: tf.TensorSpec, rows: int) -> Any:
    key = (*_plain(spec), rows)
    if key not in self._graphs:
      with tf.init_scope():  # Asked for while another function is traced, too.
        self._graphs[key] = self._compiled.get_concrete_function(
            tf.TensorSpec([rows, *spec.shape], spec.dtype))
    return self._graphs[key]

  def _depends_on_others(self, spec: tf.TensorSpec) -> bool:
    """Whether the code of an image depends on its place, or on others beside it; see the module."""
    drawn = np.random.default_rng(_SEED).integers(0, 256, [ROWS, *spec.shape]).astype(
        spec.dtype.as_numpy_dtype)
    moved = np.roll(drawn, 1, axis=0)  # Each image is one place on, but for one that is blank.
    moved[0] = 0
    depends = not np.array_equal(self._compute(spec, moved)[1:], self._compute(spec, drawn)[:-1])
    if depends:
      logging.info("Codes of this net depend on the images of a batch: they are kept for %d images "
                   "in their order.", ROWS)
    return depends

  def _key(self, spec: tf.TensorSpec) -> bytes:
    """The key of the net in a store; b"" if it has none."""
    plain = _plain(spec)
    if plain not in self._keys:
      try:
        own = arithmetic.of_this_process(
            precision=precision.name(), xla=bool(tf.config.optimizer.get_jit()),
            deterministic=private_tensorflow.is_deterministic())
        devices = [tf.config.experimental.get_device_details(one).get("device_name", one.name)
                   for one in tf.config.list_physical_devices("GPU")]
        about = (tf.__version__, ROWS, own, arithmetic.instruction_set(), devices)
        self._keys[plain] = code_store.digest(repr(about).encode(), *_described(
            self._graph(spec, ROWS)))
      except _NoDigestError as error:
        logging.info("Codes of this net are not kept, as it has a state: %s.", error)
        self._keys[plain] = b""
    return self._keys[plain]


def _chunks(images: Iterator[np.ndarray]) -> Iterator[list[np.ndarray]]:
  while chunk := list(itertools.islice(images, ROWS)):
    yield chunk


def _plain(spec: tf.TensorSpec) -> tuple[Any, ...]:
  return tuple(spec.shape), spec.dtype.name


class _NoDigestError(Exception):
  """A graph has a part that no digest tells."""


def _described(function: Any) -> Iterator[bytes]:
  """Yields what tells a concrete function and its weights from all others, but no names."""
  yield from _described_graph(function.graph)
  variables = {id(one.handle): one for one in function.graph.variables}
  for outside, _ in function.graph.captures:
    value: Any = variables.get(id(outside)) if outside.dtype == tf.resource else outside
    if not hasattr(value, "numpy"):
      raise _NoDigestError(f"it reads {outside.name}")
    array = np.ascontiguousarray(value.numpy())
    yield f"{array.dtype.str}{array.shape}".encode()
    yield array.tobytes()


def _described_graph(graph: tf.Graph) -> Iterator[bytes]:
  operations = graph.get_operations()
  numbers = {op.name: number for number, op in enumerate(operations)}
  for op in operations:
    callees = graph_frame.callee_names(op)
    if op.op_def.is_stateful and op.type not in _HARMLESS and not callees:
      raise _NoDigestError(op.type)
    inputs = [(numbers[one.op.name], one.value_index) for one in op.inputs]
    yield f"{op.type}{inputs}{sorted(numbers[one.name] for one in op.control_inputs)}".encode()
    for name, value in sorted(op.node_def.attr.items()):
      has_function = value.HasField("func") or bool(value.list.func)
      if has_function and not callees:
        raise _NoDigestError(op.type)
      if not (name.startswith("_") or has_function):
        yield name.encode() + value.SerializeToString(deterministic=True)
    for callee in callees:
      body = graph_frame.function_graph(op, callee)
      if body is None:
        raise _NoDigestError(callee)
      yield from _described_graph(body)
  outputs = [(numbers[one.op.name], one.value_index) for one in getattr(graph, "outputs", ())]
  yield repr(outputs).encode()


class Division:
  """A function of images, divided after the frozen net that it begins with.

  While it is traced (`tracing`), a net that is given the function's own images returns a code that
  comes from outside.

  Attributes:
    encoder: of the net; None: no net was met.
    divides: whether the function reads its images through one net alone.
  """

  def __init__(self) -> None:
    self.encoder: FrozenEncoder | None = None
    self.divides = True
    self._images: Any = None  # A tensor of the function's graph.
    self._codes: tf.Tensor | None = None

  @contextlib.contextmanager
  def tracing(self) -> Iterator[None]:
    """Divides the function that is traced meanwhile, which calls `begin`."""
    before = getattr(_here, "division", None)
    _here.division = self
    try:
      yield
      self.divides &= self.encoder is not None and not (
          self._images is not None and self._images.consumers())
    finally:
      _here.division, self._images, self._codes = before, None, None

  def begin(self, images: tf.Tensor, codes: tf.Tensor | None) -> None:
    """Says which images are the function's own, and their codes; None if there are none yet."""
    self._images, self._codes = images, codes

  def take(self, encoder: FrozenEncoder, images: Any) -> tf.Tensor | None:
    """The codes of images; None if they are not the function's own."""
    if images is not self._images:
      return None
    self.divides &= self.encoder in (None, encoder)
    self.encoder = encoder
    if self._codes is not None:
      return self._codes
    spec = encoder.code_spec(tf.TensorSpec(images.shape[1:], images.dtype))
    return tf.zeros([images.shape[0], *spec.shape], spec.dtype)


def begin(images: tf.Tensor, codes: tf.Tensor | None = None) -> None:
  """`Division.begin` of the division that goes on in this thread, if there is one."""
  division = getattr(_here, "division", None)
  if division is not None:
    division.begin(images, codes)


def in_place_of(encoder: FrozenEncoder, images: tf.Tensor) -> tf.Tensor | None:
  """Codes that take the place of what a net would compute; None: it computes."""
  division = getattr(_here, "division", None)
  return None if division is None else division.take(encoder, images)
