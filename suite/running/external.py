# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite.external`: a method in PyTorch, JAX or NumPy, as four functions of arrays.

    state = learn(state, images, labels, about)      state is None at first
    scores = predict(state, images, about)           [B, C]
    saved = save(state)                              bytes
    state = load(saved)

What a method knows is its state, any Python object. After each training it goes through `save` and
`load`: the bytes are in the snapshots of the run, and what `save` leaves out is lost in a run that
was never stopped as in one that was, so that both give the same numbers. Arrays are copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import functools
import time
import types
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.state import context as context_lib

_LEARN, _PREDICT = "learn", "predict"
# (FLOPs, MACs) of an image; or a function of the number of images to those of all.
Cost = tuple[int, int] | Callable[[int], tuple[int, int]]


class About(NamedTuple):
  """What the functions are told of an event.

  Attributes:
    task: its key, such as "mnist@2". kind: "single_label" or "multi_label".
    num_classes: C; where classes come task by task, those so far.
    new_classes: the labels that a training is about; None: all.
    seed: of the event's random draws, 0 <= seed < 2^31.
  """

  task: str
  kind: str
  num_classes: int
  new_classes: Sequence[int] | None
  seed: int


class External(learner.SequenceLearner):
  """A learner of four functions; arguments as of `external`."""

  deliveries = (deliveries_lib.TASKS, deliveries_lib.BUCKETS, deliveries_lib.SEQUENCE)
  predict_stays = True  # Its graph calls Python, which looks at the present state.
  _saved: Any = None  # A variable, from `begin` on.

  def __init__(self, functions: Mapping[str, Callable[..., Any]], transform: examples.Transform,
               cost: Mapping[str, Cost]):
    super().__init__()
    for name, function in functions.items():
      if not callable(function):
        raise ValueError(f"suite.external's {name} is {function!r}; give a function.")
    unknown = sorted(set(cost) - {_LEARN, _PREDICT})
    if unknown:
      raise ValueError(f"suite.external's cost has {unknown[0]!r}; it may have learn and predict.")
    # Checkpoints look at dictionaries, but not into functions.
    self._call = lambda name, *arguments: functions[name](*arguments)
    self._declared = cost.get
    self.transform = transform
    self._held: Any = types.SimpleNamespace(state=None, about=None)

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    refusals.check_one_device(
        context.distribution, "suite.external", "its functions are not TensorFlow's")
    if self._saved is None:
      self._saved = tf.Variable(np.zeros([0], np.uint8), shape=[None], trainable=False)
    self._held.about = About(task.key, task.kind, task.num_classes, None,
                             context.seeds.integer("external"))

  @override
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    batches = [(batch, batch["mask"].numpy()) for part in experience.fitted for batch in
               part.eval_batches(min(256, part.size), transform=self.transform)]
    images, labels = (np.concatenate([batch[name].numpy()[mask] for batch, mask in batches])
                      for name in ("image", "label"))
    new = experience.new_classes
    self._held.about = self._held.about._replace(new_classes=None if new is None else [*new])
    return self._learn(images, labels, context)

  @override
  def learn_stored(self, stored: deliveries_lib.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    """As `learn`, on all samples whose labels have come."""
    return {**self._learn(np.array(stored.codes), np.array(stored.labels), context),
            "passes": None}  # Only the function knows.

  def _learn(self, images: np.ndarray, labels: np.ndarray, context: context_lib.Context
             ) -> dict[str, Any]:
    began, num, cost = time.monotonic(), len(labels), self._cost(_LEARN, len(labels))
    if rehearsal.current() is None:  # A plan has the declared costs, and calls no function.
      self._train(images, labels)
    context.charge(cost, examples=num, steps=None, began=began)
    return {}

  def _train(self, images: np.ndarray, labels: np.ndarray) -> None:
    few, held = images[:2].copy(), self._held
    state = self._call(_LEARN, self._state(), images, labels, held.about)
    if state is None:
      raise ValueError("suite.external's learn returned None; it must return the state.")
    saved = self._call("save", state)
    if not isinstance(saved, bytes) or not saved:
      raise ValueError(f"suite.external's save returned {saved!r:.60}; it must return bytes, such "
                       "as torch.save or numpy.save write to an io.BytesIO().")
    self._saved.assign(np.frombuffer(saved, np.uint8))
    held.state = None
    self._scores(few)  # Errors within a graph have many lines.

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    return tf.identity(images)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    return self.predict(codes)

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    scores = tf.numpy_function(self._scores, [images], tf.float32)
    scores.set_shape([images.shape[0], self._held.about.num_classes])
    if self._declared(_PREDICT) is not None and not tf.executing_eagerly():
      flops.declare(scores, functools.partial(self._cost, _PREDICT))
    return scores

  def _scores(self, images: np.ndarray) -> np.ndarray:
    """Scores float32 [B, C] of images; 0 before the first training."""
    about, state = self._held.about, self._state()
    wanted = (len(images), about.num_classes)
    if state is None:
      return np.zeros(wanted, np.float32)
    found = np.asarray(self._call(_PREDICT, state, np.array(images), about))
    if found.shape != wanted or found.dtype.kind not in "fiu":
      hint = " These look like labels." if found.shape == wanted[:1] else ""
      raise ValueError(f"suite.external's predict returned {found.dtype} {list(found.shape)} for "
                       f"{wanted[0]} images; expected numbers {list(wanted)}, a score for each of "
                       f"the about.num_classes classes of {about.task!r}.{hint}")
    if np.isnan(found).any():
      raise ValueError(f"suite.external's predict returned NaN for images of {about.task!r}. Train "
                       "at a lower rate, or look for a division by 0.")
    return np.array(found, np.float32)

  def _state(self) -> Any:
    """The state, read by `load` after each training and each restart; None: nothing is learned."""
    held = self._held
    if held.state is None and self._saved is not None and (saved := self._saved.numpy()).size:
      held.state = self._call("load", saved.tobytes())
      if held.state is None:
        raise ValueError("suite.external's load returned None; it must return the state.")
    return held.state

  def _cost(self, name: str, num: int) -> flops.Cost:
    """The declared cost of a call on `num` images; unknown if there is none."""
    given: Any = self._declared(name)
    if given is None:
      return flops.Cost(None, None, (f"suite.external's {name}",))
    of_flops, of_macs = given(num) if callable(given) else [num * one for one in given]
    return flops.Cost(int(of_flops), int(of_macs))


def external(*, learn: Callable[..., Any], predict: Callable[..., Any],
             save: Callable[[Any], bytes], load: Callable[[bytes], Any], image_size: int = 32,
             transform: examples.Transform | None = None, cost: Mapping[str, Cost] | None = None
             ) -> Callable[[], External]:
  """A method in another framework, for `suite.run(protocol=..., learners={"mine": ...})`.

  Args:
    learn: learn(state, images, labels, about) -> state, which is None at first. Images are uint8
      [N, S, S, 3], or features float32 [N, D]; labels int64 [N], or uint8 [N, C] of several labels
      an image; see `About`.
    predict: predict(state, images, about) -> scores [B, C].
    save: save(state) -> bytes. load: load(bytes) -> state.
    image_size: S. transform: image preparation, in place of one by S.
    cost: {"learn": ..., "predict": ...}, each (FLOPs, MACs) of one image, or a function of the
      number of images that returns those of all. What is left out is not counted: null in records.
  """
  make = functools.partial(
      External, {_LEARN: learn, _PREDICT: predict, "save": save, "load": load},
      transform or image_ops.Plain(size=image_size), dict(cost or {}))
  make()  # Refuses arguments at once.
  return make
