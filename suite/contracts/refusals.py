# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Refuses what a protocol cannot run, before anything is trained.

A protocol checks everything before `state.resume`, which begins the first task: its arguments and
data, the learner by `check_learner`, tasks by `check_task`. A learner refuses in `begin` what
depends on its arguments. After the first `begin` the protocol calls `check_predict`.

So a protocol that is `checkable` can be called up to `state.resume` alone: `before_first_event`
does so with each learner of a run before the first one trains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import functools
import inspect
import pathlib
import tempfile
from typing import Any, TypeVar, cast

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import ledger
from suite.compute import seeds
from suite.compute import user_code
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.metrics import own_metrics
from suite.state import context
from suite.state import journal
from suite.state import learner_state
from suite.state import weight_store

_Function = TypeVar("_Function", bound=Callable[..., Any])
USAGE = 2  # Exit code of the command; see `suite.cli`.
_WHOLE = ("transform", "begin", "learn", "predict")
META = ("meta_loss", "zero_statistics", "update_statistics")


class RefusedError(ValueError):
  """A learner, a method or data that the protocol cannot run."""

  exit_code = USAGE


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
  """Marks the errors of values that are raised meanwhile as errors of usage: nothing has run."""
  try:
    yield
  except ValueError as error:
    error.exit_code = USAGE  # type: ignore[attr-defined]
    raise


def make_each(learners: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
  """Makes all learners, by name, which finds the settings that a constructor refuses."""
  made: dict[str, Any] = {}
  for name, make in learners.items():
    with _of_learner(name, learners):
      made[name] = make()
  return made


def before_first_event(
    protocol: Callable[..., Any], learners: Mapping[str, Callable[[], Any]], *, seed: int,
    distribution: distribution_lib.Distribution, metrics: own_metrics.OwnMetrics,
    budget: ledger.Budget | None = None, configuration: Callable[[], int] = lambda: 0
) -> tuple[Callable[..., Any], dict[str, Callable[[], Any]]]:
  """Makes all learners and lets the protocol check each of them; nothing is trained or written.

  Args:
    protocol: its arguments may be bound. One that is not `checkable` checks as it runs.
    learners: makers by name, of those that have not finished.
    seed, distribution, metrics, budget: of the run.
    configuration: the number of the configuration that is set. A maker may set one, as the maker
      of `suite.learner` does, which its learner reads later, too.

  Returns:
    The protocol with its arguments, which are evaluated once for all learners; and makers, each of
    which returns the learner that was checked, unless another configuration was set since, then new
    ones.
  """
  made: dict[str, Any] = {}
  needs: dict[str, int | None] = {}  # The configuration that the maker has set.

  def current(name: str) -> Any:
    if name not in made or needs[name] not in (None, configuration()):
      before = configuration()
      learner_lib.check_maker(learners[name])
      made[name] = learners[name]()
      needs[name] = None if configuration() == before else configuration()
    return made[name]

  make_each({name: functools.partial(current, name) for name in learners})
  function = protocol
  while isinstance(function, functools.partial):
    function = function.func
  if made and getattr(function, "is_checkable", False):
    with usage_errors():
      protocol(None, state=(given := _Arguments()))
    protocol = given.protocol
    for name in learners:
      state = CheckState(name, seed=seed, distribution=distribution, metrics=metrics,
                         budget=budget, begins=len(made) > 1)
      with _of_learner(name, learners), contextlib.suppress(_Accepted):
        protocol(current(name), state=state)

  def maker(name: str) -> Any:
    found = current(name)
    del made[name]
    return found

  return protocol, {name: functools.partial(maker, name) for name in learners}


@contextlib.contextmanager
def _of_learner(name: str, learners: Mapping[str, Any]) -> Iterator[None]:
  """Names the learner that is refused, if there are several."""
  try:
    with usage_errors():
      yield
  except ValueError:
    if len(learners) > 1:
      logging.error("Learner %r of %s is refused; nothing was trained.", name, ", ".join(learners))
    raise


def checkable(protocol: _Function) -> _Function:
  """Decorates a protocol that checks all before `state.resume`, and computes nothing long there."""

  @functools.wraps(protocol)
  def run(learner: Any, *, state: Any, **arguments: Any) -> Any:
    if isinstance(state, _Arguments):
      state.protocol = functools.partial(protocol, **arguments)
      return {}
    return protocol(learner, state=state, **arguments)

  # Gin reads parameters and defaults of the function that it calls, not of what that one wraps.
  run.__signature__ = inspect.signature(protocol)  # type: ignore[attr-defined]
  run.is_checkable = True  # type: ignore[attr-defined]
  return run  # type: ignore[return-value]


def with_arguments(protocol: Callable[..., Any],
                   change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Callable[..., Any]:
  """The protocol with other arguments in place of some of its own, which are evaluated here.

  Args:
    protocol: a `checkable` one, whose arguments may be bound.
    change: all its arguments by name -> those that are to be replaced.
  """
  with usage_errors():
    protocol(None, state=(given := _Arguments()))
    own = cast(functools.partial, given.protocol)
    return checkable(functools.partial(own, **change(own.keywords)))


def preceded(protocol: Callable[..., Any], before: Callable[[Any], None]) -> Callable[..., Any]:
  """The protocol; before(state) is called before it begins, or goes on, with the state of a run."""

  @functools.wraps(protocol)
  def run(learner: Any, *, state: Any, **arguments: Any) -> Any:
    if not isinstance(state, _Arguments):
      before(state)
    found = protocol(learner, state=state, **arguments)
    if isinstance(state, _Arguments):
      state.protocol = preceded(state.protocol, before)
    return found

  return run


class _Arguments:
  """Stands for the state of a run while the arguments of a protocol are evaluated."""

  protocol: Callable[..., Any]


class _Accepted(Exception):
  """A protocol has accepted a learner."""


class CheckState:
  """Stands for the state of a run that has no events yet, up to `resume`.

  Args:
    name: of the learner.
    seed, distribution, metrics, budget: of the run.
    begins: whether a copy of the learner begins its first task.

  Attributes: as of `run_state.RunState`.
  """

  def __init__(self, name: str, *, seed: int, distribution: distribution_lib.Distribution,
               metrics: own_metrics.OwnMetrics, budget: ledger.Budget | None, begins: bool):
    self.name, self.distribution, self.metrics = name, distribution, metrics
    self.seeds, self.ledger = seeds.Seeds(seed), ledger.Ledger(budget)
    self.done, self._begins = 0, begins
    self.records: list[dict[str, Any]] = []

  def resume(self, learner: Any, begin: Sequence[tasks.Task] = (), *, delivery: str = "") -> None:
    """Ends the check, after a copy of the learner has begun the first task."""
    if self.ledger.budget is not None:
      check_keeps_budget(learner)
    if self._begins and begin:
      try:
        learner = learner_state.blank_copy(learner)
      except Exception as error:  # Of whatever it holds: its own run will begin it.
        logging.info("%s is not begun before its run (%s).", self.name, error)
        raise _Accepted from error
      with tempfile.TemporaryDirectory() as folder, rehearsal.blank_variables():
        learner.begin(begin[0], context.Context(
            event=0, ledger=self.ledger, seeds=self.seeds.child("event", 0),
            distribution=self.distribution, delivery=delivery,
            store=weight_store.WeightStore(pathlib.Path(folder), 0),
            journal=journal.Journal(0, self.ledger)))
    raise _Accepted

  def __getattr__(self, name: str) -> Any:
    """Only a run has the rest: there a check ends, too."""
    if name.startswith("__"):
      raise AttributeError(name)
    raise _Accepted


@dataclasses.dataclass(frozen=True)
class Requirement:
  """The methods and attributes that a delivery needs.

  Attributes:
    contract: the class that has them.
    shown: what is delivered, for messages.
    names: of the methods and attributes.
    example: a learner that has them.
  """

  contract: type[learner_lib.BaseLearner]
  shown: str
  names: tuple[str, ...]
  example: str


REQUIREMENTS = {
    deliveries.TASKS: Requirement(
        learner_lib.Learner, "separate tasks", _WHOLE, "StatisticsLearner"),
    deliveries.BUCKETS: Requirement(
        learner_lib.Learner, "the buckets of one task", _WHOLE, "StatisticsLearner"),
    deliveries.SEQUENCE: Requirement(
        learner_lib.SequenceLearner, "single samples",
        ("transform", "begin", "encode", "answer"), "StatisticsLearner"),
    deliveries.EPISODES: Requirement(
        learner_lib.EpisodicLearner, "few-shot episodes",
        ("transform", "begin", "initial_state", "adapt", "logits", "transductive"), "ProtoNet"),
    deliveries.PORTIONS: Requirement(
        learner_lib.PretrainingLearner, "portions of a pretraining",
        ("begin", "learn", "encoder", "name_of_pretext"), "Pretrainer"),
}


def check_learner(learner: Any, delivery: str, *, also: Sequence[str] = (), remedy: str = ""
                  ) -> Any:
  """Refuses a learner without the methods that a delivery needs, or that does not accept it.

  Args:
    learner: any object.
    delivery: one of `deliveries.DELIVERIES`.
    also: names that are optional in general, but needed by this run.
    remedy: what to do where the learner has all but these.

  Returns:
    The learner to run: the `form` of the learner for the delivery, of the delivery's contract. An
    object of another class is adapted to it.
  """
  need = REQUIREMENTS[delivery]
  learner = learner_lib.adapted(
      learner_lib.adapted(learner, need.contract).form(delivery), need.contract)
  name, shown = type(learner).__name__, f"{need.shown} ({descriptions.delivering(delivery)})"
  missing = [one for one in (*need.names, *also) if not learner_lib.gives(learner, one)]
  if remedy and missing and not set(missing) & set(need.names):
    raise RefusedError(f"{name} can be given {shown}, but not by this run: it has no "
                       f"{', '.join(missing)}. {remedy}")
  if missing:
    others = [descriptions.delivering(one) for one, other in REQUIREMENTS.items()
              if one in learner.deliveries
              and all(learner_lib.gives(learner, name) for name in other.names)]
    instead = f"{name} runs under {' and '.join(others)}. " if others else ""
    raise RefusedError(
        f"{name} cannot be given {shown}: it has no {', '.join(missing)}. "
        f"Needed are {', '.join((*need.names, *also))}. {instead}Take a learner that has them, for "
        f"example {need.example}, or write in its class: "
        f"{', '.join(_to_write(need.contract, one) for one in missing)} (what they do: "
        f"{need.contract.__name__} in suite/contracts/learner.py).")
  if delivery not in learner.deliveries:
    allowed = [f"{REQUIREMENTS[one].shown} ({descriptions.delivering(one)})"
               for one in learner.deliveries]
    raise RefusedError(
        f"{name} cannot be given {shown}; it accepts "
        f"{' and '.join(allowed)}. Run it there, or take another learner, for example "
        f"{need.example}.")
  for one in (*need.names, *also):
    _check_arguments(learner, need.contract, one)
  return learner


def _to_write(contract: type[learner_lib.BaseLearner], name: str) -> str:
  """The first line of what gives a class a name of its contract."""
  wanted = getattr(contract, name, None)
  if inspect.isfunction(wanted):
    return f"def {name}({', '.join(inspect.signature(wanted).parameters)})"
  return f"{name} = image_ops.Plain(size=32) of suite.data.images" if name == "transform" else name


def _check_arguments(learner: Any, contract: type[learner_lib.BaseLearner], name: str) -> None:
  """Refuses a method that cannot be called with the arguments that its contract has."""
  wanted = getattr(contract, name, None)
  method = getattr(learner, name) if inspect.isfunction(wanted) else None
  if wanted is None or not inspect.ismethod(method):  # Properties, and functions that stand in.
    return
  required = [one.name for one in inspect.signature(wanted).parameters.values()
              if one.default is one.empty][1:]
  try:
    inspect.signature(method).bind(*required)
  except TypeError as error:
    raise RefusedError(
        f"{type(learner).__name__}.{name} cannot be called with ({', '.join(required)}): {error}. "
        f"Write def {name}({', '.join(['self', *required])}); further arguments need defaults "
        f"(see {contract.__name__} in suite/contracts/learner.py).") from error


def check_keeps_budget(learner: learner_lib.BaseLearner) -> None:
  """Refuses a learner of a run with a budget that does not say before what learning costs."""
  if not learner_lib.adapted(learner, learner_lib.BaseLearner).keeps_budget:
    raise RefusedError(
        f"{type(learner).__name__} does not say what its learning costs before it learns, so it "
        "cannot keep a budget. Leave --budget out; or let it ask context.ledger.grant, and set its "
        "attribute keeps_budget to True (docs/costs.md).")


def check_no_budget(budget: Any, protocol: str) -> None:
  """Refuses a budget for a protocol that trains nothing."""
  if budget is not None:
    raise RefusedError(
        f"The protocol {protocol} trains no network, so there is nothing that a budget of FLOPs or "
        f"bytes could end. Leave --budget out; lifelong.run.budget limits the answers that it "
        "asks for.")


def check_one_device(distribution: distribution_lib.Distribution, protocol: str, reason: str
                     ) -> None:
  """Refuses several devices for a protocol that cannot use them."""
  if not distribution.is_single:
    raise RefusedError(
        f"{protocol} runs on one device, since {reason}; it was started on {distribution.name!r} "
        f"with {distribution.num_replicas} replicas. Start it with --strategy one_device.")


def check_one_process(distribution: distribution_lib.Distribution, protocol: str, reason: str
                      ) -> None:
  """Refuses strategies of several processes for a protocol that runs in one."""
  if distribution.name not in ("one_device", "mirrored"):
    raise RefusedError(
        f"{protocol} runs in one process, since {reason}; it was started on "
        f"{distribution.name!r}. Start it with --strategy one_device, or mirrored to train on "
        "several devices of this machine.")


def check_method(method: object, names: Sequence[str], example: str) -> None:
  """Refuses an object without the methods that a protocol calls."""
  missing = [one for one in names if not learner_lib.gives(method, one)]
  if missing:
    raise RefusedError(
        f"{type(method).__name__} cannot be run here: it has no {', '.join(missing)}. Needed are "
        f"{', '.join(names)}. Take a method that has them, for example {example}.")


def check_kinds(learner: learner_lib.BaseLearner, kinds: Iterable[str]) -> None:
  """Refuses a learner that cannot learn all the kinds of tasks that will be delivered."""
  other = sorted(set(kinds) - set(learner.kinds))
  if other:
    raise RefusedError(
        f"{type(learner).__name__} learns {' and '.join(learner.kinds)} tasks; the run has "
        f"{' and '.join(other)} tasks, too. Leave those out, or take another learner, for example "
        "a StatisticsLearner with ClassMeans.")


def limits_kinds(learner: learner_lib.BaseLearner) -> bool:
  """Whether there are kinds of tasks that the learner says it cannot learn."""
  return set(learner.kinds) < set(tasks.KINDS)


def check_held(see: Callable[[tf.Tensor], tf.Tensor] | None, part: examples.ExampleSet) -> None:
  """Refuses examples to a learner that sees images on disk, see `SequenceLearner`, by `see`."""
  if see is not None:
    raise RefusedError(f"A net on images that stay on disk cannot learn {part.name!r}. Leave base "
                       "out of fluid.run, and set base_is_known.")


def check_task(task: tasks.Task) -> None:
  """Refuses a task of one class, which every answer gets right."""
  if task.kind == tasks.SINGLE_LABEL and task.num_classes < 2:
    raise RefusedError(
        f"Task {task.key!r} has {task.num_classes} class; a {task.kind} task needs at least 2. "
        "Declare all classes of the data set, or leave it out. (Images without labels are for "
        "pretraining: pretrain.run.)")


def check_labels(task: tasks.Task, parts: Iterable[examples.ExampleSet]) -> None:
  """Refuses training data that all has the same label."""
  if task.kind != tasks.SINGLE_LABEL:
    return
  found: set[int] = set()
  for part in parts:
    found.update(np.unique(part.labels).tolist())
    if len(found) > 1:
      return
  raise RefusedError(
      f"All training examples of {task.key!r} are of class {found.pop()}; there is nothing to tell "
      "apart. Give data of at least 2 classes.")


def check_predict(learner: learner_lib.Learner, task: tasks.Task, part: examples.ExampleSet
                  ) -> bool:
  """Refuses a learner whose `predict` does not return logits [B, C] for a task that has begun.

  Args:
    learner: it has begun the task.
    task: of C classes.
    part: examples of the task.

  Returns:
    False if the learner cannot predict before `learn`: then check again after it.
  """
  if len(learner.transform.shape) == 1:
    spec = tf.TensorSpec([1, *learner.transform.shape], tf.float32)
  else:
    spec = part.eval_batches(1, transform=learner.transform).element_spec["image"]
  try:
    check_width(learner, task, learner.predict, spec)
  except RuntimeError:
    return False
  return True


def check_width(learner: object, task: tasks.Task, predict: Callable[[tf.Tensor], tf.Tensor],
                images: tf.TensorSpec) -> None:
  """Refuses outputs other than [B, C], read from a graph of `predict` that is never run.

  Args:
    learner: it has begun the task.
    task: of C classes.
    predict: its method that returns logits.
    images: one example as its transform prepares it, [1, ...].
  """
  inner = getattr(learner, "learner", learner)
  name = f"{type(inner).__name__}.{getattr(predict, '__name__', 'predict')}"
  try:
    outputs = user_code.compiled(predict).get_concrete_function(images).structured_outputs
  except (AttributeError, NotImplementedError, TypeError) as error:
    if "numpy" not in str(error).lower():
      raise
    raise RefusedError(
        f"{name} is traced into a graph, where tensors have no NumPy arrays "
        f"({str(error).strip().splitlines()[-1].strip()}). Compute by TensorFlow, or give a method "
        "in NumPy, PyTorch or JAX by suite.external (docs/own/external.md).") from error
  got = outputs.shape
  if got.rank is None or got.is_compatible_with([1, task.num_classes]):
    return
  raise RefusedError(
      f"{name} returns logits {list(got)} for one image; expected [1, {task.num_classes}], one for "
      f"each class of {task.key!r}. Make its last layer task.num_classes wide, in begin. Where "
      "classes come task by task, that number grows; if incremental is given outputs='all', it is "
      "that of all classes from the first task on.")
