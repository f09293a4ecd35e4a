# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs a compiled function over an image set: every example once, the cost charged.

The last batch has fewer examples than the others. It is padded, so that one shape is compiled; rows
of padding are not charged: N examples in batches of B cost floor(N / B) batches of B and one of
N mod B. Empty batches that pad the replicas of a strategy are not charged either.

`ReadyBatches` are prepared batches of a set on which many models are run, and `ReadySet` a set with
them: decoded and transformed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
import itertools
import math
import time
from typing import Any, NamedTuple
import weakref

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.compute import user_code
from suite.contracts import examples
from suite.contracts import rehearsal
from suite.data.images import feature_set
from suite.data.images import image_set as image_set_lib
from suite.data.images import image_store
from suite.state import context as context_lib
from suite.system import host_memory
from suite.training.scoring import frozen_codes

_MAX_SETS = 2  # Sets whose pipelines are kept: the validation and test images of a task, say.
_UNREAD = 8  # Batches that a GPU works on while the next are prepared: reading one waits for it.
_DESCRIBE = ("mask", "label", "id")
# Set -> the transform of its latest pass, and the digests of its prepared images.
_digests: weakref.WeakKeyDictionary[Any, tuple[Any, list[bytes]]] = weakref.WeakKeyDictionary()
# Prepared images are kept in a quarter of the memory that is available, and in no more than this:
# 350,000 images of 64 x 64 pixels.
MAX_BYTES = 4 * 2**30
MEMORY_SHARE = 0.25


class Outputs(NamedTuple):
  """The outputs of a function for each example of a set, in the set's order.

  Attributes:
    ids: str [N].
    labels: [N], or multi-hot [N, C].
    values: [N, ...], the outputs.
  """

  ids: np.ndarray
  labels: np.ndarray
  values: np.ndarray


class Forward:
  """A function of images, compiled for one batch shape and run on every local replica.

  On one device a frozen net that the function begins with encodes by itself, see `frozen_codes`.

  Args:
    fn: a function of images [B, H, W, 3], or features [B, D], to a tensor [B, ...].
    distribution: its replicas work on different batches in parallel.
    pads: False: the last batch is passed on with N mod B rows, compiled for that size. Needed if
      the outputs of a row depend on the other rows of its batch.
  """

  def __init__(
      self, fn: Callable[[tf.Tensor], tf.Tensor], distribution: distribution_lib.Distribution, *,
      pads: bool = True):
    self._distribution, self._pads = distribution, pads
    self._call = lambda images: distribution.run(fn, args=(images,))
    self._division: frozen_codes.Division | None = None
    # Shape and type of an image -> its function, and how that is divided.
    self._functions: dict[Any, tuple[Any, frozen_codes.Division | None]] = {}
    self._spec: tf.TensorSpec | None = None
    self._batch_size = 0
    self._row: Any = None  # The spec of outputs.
    self._latest: tuple[Any, ...] = ()
    # (transform, batch size, the spec of what it makes), where nothing is read.
    self._unread: tuple[Any, int, tf.TensorSpec | None] = (None, 0, None)

  def _prepare(self, spec: tf.TensorSpec) -> None:
    if spec == self._spec:
      return
    self._spec = spec
    image = tf.TensorSpec(spec.shape[1:], spec.dtype)
    key = tuple(image.shape), image.dtype
    if key not in self._functions:
      self._functions[key] = self._compiled(spec)
    self._fn, self._division = self._functions[key]
    division = self._division
    encoder = None if division is None else division.encoder

    def count(rows: int) -> flops.Cost:
      if division is None or encoder is None:
        graph = self._fn.get_concrete_function(self._values(
            [tf.zeros([rows, *image.shape], image.dtype)]))
      else:
        code = encoder.code_spec(image)
        with division.tracing():
          graph = self._fn.get_concrete_function(tf.TensorSpec([rows, *code.shape], code.dtype))
      self._row = self._distribution.strategy.experimental_local_results(
          graph.structured_outputs)[0]
      # The graph holds a copy for each local replica.
      total, here = flops.count(graph), self._distribution.num_local_replicas
      cost = flops.Cost(
          None if total.flops is None else total.flops // here,
          None if total.macs is None else total.macs // here, total.uncounted)
      return cost if encoder is None else cost + encoder.cost(image, rows)

    self._batch_size = int(spec.shape[0])
    self.cost = count(self._batch_size)  # Of a full batch.
    self._rests = flops.RowCosts(
        lambda rows: self.cost if rows == self._batch_size else count(rows),
        max(self._batch_size, 2))

  def _compiled(self, spec: tf.TensorSpec) -> tuple[Any, frozen_codes.Division | None]:
    """The function of batches of a spec; if it is divided, that of codes, and how."""
    call = self._call

    def of_images(images: Any) -> Any:
      frozen_codes.begin(images)
      return call(images)

    def of_codes(codes: tf.Tensor) -> Any:
      images = tf.zeros([codes.shape[0], *spec.shape[1:]], spec.dtype)  # Read by the net alone.
      frozen_codes.begin(images, codes)
      return call(images)

    converts = user_code.is_reached(call)
    whole = tf.function(of_images, autograph=converts)
    if not (self._distribution.is_single and self._pads):
      return whole, None
    division = frozen_codes.Division()
    with division.tracing():
      whole.get_concrete_function(tf.TensorSpec(spec.shape, spec.dtype))
    if division.encoder is None:
      return whole, None
    above = tf.function(of_codes, autograph=converts)
    code = division.encoder.code_spec(tf.TensorSpec(spec.shape[1:], spec.dtype))
    with division.tracing():
      above.get_concrete_function(tf.TensorSpec([spec.shape[0], *code.shape], code.dtype))
    return (above, division) if division.divides else (
        tf.function(of_images, autograph=converts), None)

  def _batches(self, image_set: Any, transform: examples.Transform, batch_size: int
               ) -> tf.data.Dataset:
    """Returns the set's batches; kept for later passes, since making them takes longer than one."""
    asked = (image_set, transform, batch_size)
    for *before, batches in self._latest:
      if before[0] is image_set and tuple(before[1:]) == asked[1:]:
        return batches
    batches = image_set.eval_batches(batch_size, transform=transform)
    self._latest = ((*asked, batches), *self._latest[:_MAX_SETS - 1])
    return batches

  def _values(self, batches: list[tf.Tensor]) -> Any:
    if self._distribution.is_single:
      return batches[0]
    return self._distribution.strategy.experimental_distribute_values_from_function(
        lambda context: batches[context.replica_id_in_sync_group % len(batches)])

  def run(self, image_set: Any, *, transform: examples.Transform, batch_size: int,
          ledger: ledger_lib.Ledger, phase: str,
          batches: ReadyBatches | None = None) -> Outputs:
    """Runs the function over the whole set and charges the cost to `phase`.

    Args:
      image_set: an `ImageSet` or another set of N examples with `eval_batches`.
      transform: prepares the examples.
      batch_size: B.
      ledger: charged.
      phase: of the ledger.
      batches: those of the set, if another function has passed over them, or if no later pass is to
        have them.
    """
    start = time.monotonic()
    # A pipeline that decodes takes long to make. In a rehearsal one stands for those of all sets if
    # the transform alone says the shape of batches: of encoded images, and of features.
    is_of_one_shape = isinstance(image_set, feature_set.FeatureSet) or (
        isinstance(image_set, image_set_lib.ImageSet)
        and isinstance(image_set.store, image_store.EncodedStore))
    unread = rehearsal.counts_only() and batches is None and is_of_one_shape
    if unread and self._unread[:2] == (transform, batch_size):
      found, spec = None, self._unread[2]
    else:
      found = self._batches(image_set, transform, batch_size) if batches is None else batches
      spec = found.element_spec["image"]
    if unread:
      self._unread = transform, batch_size, spec
    self._prepare(spec)
    result = self._outputs(image_set, found, transform)
    cost = self._cost_of(image_set.size)
    ledger.charge(phase, flops=cost.flops, macs=cost.macs, examples=image_set.size,
                  seconds=time.monotonic() - start, peak_bytes=self._distribution.peak_bytes())
    return result

  def _cost_of(self, num: int) -> flops.Cost:
    whole, rest = divmod(num, self._batch_size)
    cost = self.cost * whole  # Without padding.
    return cost + self._rests(rest) if rest else cost

  def _outputs(self, image_set: Any, batches: Any, transform: examples.Transform) -> Outputs:
    """The outputs for each example of a set in batches; in a rehearsal those of one, repeated."""
    num = -(-image_set.size // self._batch_size)
    has_labels = isinstance(image_set, (image_set_lib.ImageSet, feature_set.FeatureSet))
    if rehearsal.counts_only() and has_labels:
      given = rehearsal.given(image_set.ids, image_set.labels, int(self._row.shape[-1]))
      return Outputs(image_set.ids, image_set.labels, np.zeros(
          [image_set.size, *self._row.shape[1:]], self._row.dtype.as_numpy_dtype)
                     if given is None else given)
    if rehearsal.current() is not None and num >= 3 and has_labels:
      def first(number: int) -> np.ndarray:
        return np.concatenate([output.numpy() for _, output in self._computed(
            itertools.islice(batches, number))])

      found = rehearsal.few(self, self._spec, num, first)
      return Outputs(image_set.ids, image_set.labels,
                     np.resize(found, [image_set.size, *found.shape[1:]]))
    seen: list[Any] = []
    values: list[np.ndarray] = []
    unread: list[tf.Tensor] = []
    for described, output in (self._recalled(image_set, batches, transform)
                              if self._division is not None and isinstance(
                                  image_set, image_set_lib.ImageSet) else self._computed(batches)):
      seen.append(described)
      unread.append(output)
      while len(unread) > _UNREAD:
        values.append(unread.pop(0).numpy())
    values += [output.numpy() for output in unread]
    masks = np.concatenate([batch["mask"].numpy() for batch in seen])
    if np.count_nonzero(masks) != image_set.size:
      raise AssertionError(f"{image_set.name}: scored {np.count_nonzero(masks)} of "
                           f"{image_set.size} examples.")
    if isinstance(image_set, image_set_lib.ImageSet):
      ids, labels = image_set.ids, image_set.labels
    else:  # A streamed set would have to be read again.
      ids, labels = (np.concatenate([batch[key].numpy() for batch in seen])[masks]
                     for key in ("id", "label"))
      ids = np.array([i.decode() for i in ids])
    return Outputs(ids, labels, np.concatenate(values)[masks])

  def _computed(self, batches: Any) -> Iterator[tuple[dict[str, tf.Tensor], tf.Tensor]]:
    """Yields (all but the images, outputs) of each batch, in order."""
    local = self._distribution.strategy.experimental_local_results
    if self._division is not None:
      yield from self._computed_from_codes(batches)
      return
    passed = batches if self._pads else map(_without_padding, batches)
    for group in _groups(passed, self._distribution.num_local_replicas):
      images = [b["image"] for b in group]
      images += images[-1:] * (self._distribution.num_local_replicas - len(images))
      for batch, output in zip(group, local(self._fn(self._values(images)))):
        yield {key: batch[key] for key in _DESCRIBE}, output

  def _recalled(self, image_set: image_set_lib.ImageSet, batches: Any,
                transform: examples.Transform) -> Iterator[tuple[dict[str, tf.Tensor], tf.Tensor]]:
    """As `_computed`; images whose codes are kept are not read again."""
    assert self._division is not None and self._division.encoder is not None
    spec, digests = batches.element_spec["image"], list[bytes]()
    known, codes = _digests.get(image_set), None
    if known is not None and known[0] == transform:
      codes = self._division.encoder.recall(
          tf.TensorSpec(spec.shape[1:], spec.dtype), known[1])
    if codes is None:
      yield from self._computed_from_codes(batches, digests)
      if digests:
        _digests[image_set] = transform, digests
      return
    for first in range(0, len(codes), self._batch_size):
      mask = np.arange(first, first + self._batch_size) < len(codes)
      yield {"mask": tf.constant(mask)}, self._above(codes[first:first + self._batch_size])

  def _above(self, codes: np.ndarray) -> tf.Tensor:
    """The outputs of a batch, of which codes [n, D] are known; the others are padding."""
    rows = np.zeros([self._batch_size, *codes.shape[1:]], codes.dtype)
    rows[:len(codes)] = codes
    return self._distribution.strategy.experimental_local_results(
        self._fn(tf.constant(rows)))[0]

  def _computed_from_codes(self, batches: Any, digests: list[bytes] | None = None
                           ) -> Iterator[tuple[dict[str, tf.Tensor], tf.Tensor]]:
    assert self._division is not None and self._division.encoder is not None
    described: list[dict[str, tf.Tensor]] = []

    def images() -> Iterator[np.ndarray]:
      for batch in batches:
        described.append({key: batch[key] for key in _DESCRIBE})
        yield batch["image"].numpy()[batch["mask"].numpy()]

    codes, first = self._division.encoder.encode(images(), digests), 0
    for one in described:
      num = np.count_nonzero(one["mask"])
      yield one, self._above(codes[first:first + num])
      first += num


def extract(
    fn: Callable[[tf.Tensor], tf.Tensor],
    image_set: Any,
    *,
    transform: examples.Transform,
    batch_size: int,
    context: context_lib.Context,
    forward: Forward | None = None,
) -> Outputs:
  """Runs `fn` over a set once, for instance to extract features; charged to the context's phase.

  `forward` is `fn` compiled before, which does not keep the set.
  """
  return (forward or Forward(fn, context.distribution)).run(
      image_set, transform=transform, batch_size=batch_size, ledger=context.ledger,
      phase=context.phase, batches=image_set.eval_batches(batch_size, transform=transform))


def extract_all(fn: Callable[[tf.Tensor], tf.Tensor], parts: Sequence[Any], *,
                transform: examples.Transform, batch_size: int, context: context_lib.Context,
                forward: Forward | None = None) -> tuple[np.ndarray, np.ndarray]:
  """Outputs [N, ...] and labels of the examples of several sets; see `extract`."""
  forward = forward or Forward(fn, context.distribution)
  found = [extract(fn, part, transform=transform, batch_size=batch_size, context=context,
                   forward=forward) for part in parts]
  if len(found) == 1:
    return found[0].values, found[0].labels
  return (np.concatenate([one.values for one in found]),
          np.concatenate([one.labels for one in found]))


def _without_padding(batch: Any) -> dict[str, tf.Tensor]:
  """Returns the rows of a batch that are examples; padding comes last."""
  num = int(np.count_nonzero(batch["mask"]))
  return {key: value[:num] for key, value in batch.items()}


def _groups(batches: Iterable[Any], size: int) -> Iterator[list[Any]]:
  """Yields up to `size` batches of one shape at a time, in order."""
  group: list[Any] = []
  for batch in batches:
    if group and batch["image"].shape != group[0]["image"].shape:
      yield group
      group = []
    group.append(batch)
    if len(group) == size:
      yield group
      group = []
  if group:
    yield group


class ReadyBatches:
  """The batches of a data set, kept in memory from the end of the first whole pass on.

  Args:
    batches: a data set of batches with "image"; every pass over it gives the same ones.
    size: N, the examples of all batches.
    max_bytes: a set whose prepared images take more is prepared in each pass; None: a quarter of
      the memory that is available now, at most `MAX_BYTES`.
  """

  def __init__(self, batches: tf.data.Dataset, size: int, max_bytes: int | None = None):
    if max_bytes is None:
      max_bytes = host_memory.share(MEMORY_SHARE, MAX_BYTES)
    self.element_spec: Any = batches.element_spec
    image = self.element_spec["image"]
    self._batches, self._kept = batches, list[Any]()
    self._is_whole = False
    self._fits = size * math.prod(image.shape[1:]) * image.dtype.size <= max_bytes

  def __iter__(self) -> Iterator[Any]:
    if self._is_whole:
      yield from self._kept
      return
    self._kept = []  # Of a pass that stopped.
    for batch in self._batches:
      if self._fits:
        self._kept.append(batch)
      yield batch
    self._is_whole = self._fits


class ReadySet:
  """A set that many models are run on, whose batches are prepared once.

  Args:
    images: the set.
    transform: prepares its examples.
    batch_size: B.
  """

  def __init__(self, images: examples.ExampleSet, *, transform: examples.Transform,
               batch_size: int):
    self.images, self._transform, self._batch_size = images, transform, batch_size
    self._batches = ReadyBatches(
        images.eval_batches(batch_size, transform=transform), images.size)

  def run(self, forward: Forward, *, ledger: ledger_lib.Ledger, phase: str) -> Outputs:
    """See `Forward.run`."""
    return forward.run(self.images, transform=self._transform, batch_size=self._batch_size,
                       ledger=ledger, phase=phase, batches=self._batches)
