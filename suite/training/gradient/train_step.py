# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One step of a model: the net that a method's `step` is given, to be traced into a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from suite.compute import user_code
from suite.contracts import tasks
from suite.models import keras3
from suite.models import layer_losses
from suite.training.memories import step_rows
from suite.training.objectives import loss_scale
from suite.training.objectives import losses
from suite.training.objectives import objective as objective_lib

# What becomes of the calls of a step: they are computed; they are traced to be counted, on one
# device, with all rows of a memory in one batch; or blank results of the right shapes stand for
# theirs, so that only the numbers of rows are found out.
RUNS, COUNTS, BLANK = "runs", "counts", "blank"


class Optimizer(Protocol):
  """Changes variables along gradients. It is a `tf.Module`, or holds its variables otherwise."""

  def apply(self, gradients: Sequence[tf.Tensor | None], variables: Sequence[tf.Variable],
            rate: tf.Tensor | None) -> None:
    """Takes one step at the rate, []; None: at that of its schedule."""

  def reset(self) -> None:
    """Forgets velocities and moments."""


class Passes(NamedTuple):
  """The rows of a step that go forward and backward, and those that go forward only."""

  trained: int
  forward: int


class TrainStep:
  """The step of a model under an objective.

  Args:
    model: examples [B, ...] to logits [B, C].
    objective: built by the caller.
    optimizer: for all of the model's trainable variables.
    kind: of the task.
    variables: those that the optimizer is for; None: all trainable ones of the model.
    parts: the model in two, examples to features (None: examples are features) and features to
      logits; None: features are not known.
    heads: see `objective.Batch`.

  Attributes:
    variables: those that are changed.
    training: whether batch norms use the statistics of the batch.
    scaling: of the loss, as the precision needs it.
  """

  def __init__(self, model: tf.keras.Model, *, objective: objective_lib.Objective,
               optimizer: Optimizer, kind: str = tasks.SINGLE_LABEL,
               variables: Sequence[tf.Variable] | None = None,
               parts: tuple[tf.keras.Model | None, tf.keras.Model] | None = None,
               heads: tf.Variable | None = None):
    self.parts, self.heads = parts, heads
    self.model, self.objective, self.optimizer, self.kind = model, objective, optimizer, kind
    self.variables = list(model.trainable_variables if variables is None else variables)
    self._num_variables = len(self.variables)
    self.training, self.scaling = True, loss_scale.of_precision()

  def train_only(self, variables: Sequence[tf.Variable]) -> bool:
    """Trains only these from now on; if they are not all, batch norms run as in evaluation.

    Returns:
      Whether this is a change: graphs that were made before do not have it.
    """
    if len(variables) == len(self.variables):
      return False
    self.variables = list(variables)
    self.training = len(variables) == self._num_variables
    return True

  def reaches_user_code(self) -> bool:
    """Whether code of users runs in the step's graph, see `user_code`."""
    return user_code.is_reached(
        self.objective, self.optimizer, self.model, getattr(self.optimizer, "optimizer", None))

  def losses_at_rest(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                     ) -> tf.Tensor:
    """The cross-entropy of each example [B] among known classes, the model as in evaluation."""
    return objective_lib.row_losses(self.answers_at_rest(images, labels), known)

  def answers_at_rest(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                      ) -> objective_lib.Batch:
    """Examples [B, ...] with their logits among known classes, the model running as in evaluation.
    """
    classes = None if known is None else objective_lib.Classes(known, known, known)
    return objective_lib.Batch(images, self.model(images, training=False), labels, classes,
                               self.kind, heads=self.heads)

  def take(self, rows: step_rows.Rows, memory: step_rows.StepMemory | None = None, *,
           mode: str = RUNS, **settings: Any) -> StepNet:
    """Takes one step; the net then has the loss before it, and the numbers of passes.

    Args:
      rows: incoming ones.
      memory: None: there is none.
      mode: see the module.
      **settings: see `StepNet`.
    """
    net, name = StepNet(self, mode, **settings), type(self.objective).__name__
    memory = memory or step_rows.StepMemory(rows)
    memory.drawn.clear()  # Where devices may share rows, or not, both steps are traced.
    try:
      with net:
        found = self.objective.step(rows, net, memory)
    except (AttributeError, NotImplementedError) as error:
      if "numpy" not in str(error):
        raise
      raise ValueError(f"The step of {name} turns a tensor into a NumPy array, which has no values "
                       "while a step is compiled. Use functions of TensorFlow, or wrap NumPy's in "
                       "tf.numpy_function.") from error
    if found is not None:
      net.loss = found
    if not net.num_updates:
      raise ValueError(f"The step of {name} changed no weights: call net.update(loss), or "
                       "net.follow(gradients), in each step.")
    return net

  def reset_optimizer(self) -> None:
    """Forgets velocities and moments, and the scale of the loss."""
    self.optimizer.reset()
    self.scaling.reset()


class StepNet:
  """The net of one step.

  Args:
    step: whose net it is. mode: see the module.
    rate: [], or None: the optimizer's schedule.
    classes: see `objective.Data`. auxiliary: further rows, for objectives that take them.
    mask: bool [B], False for padding; None: no padding. divisor: what the sum of the rows' losses
      is divided by; None: their number.
    devices: they share the rows of each pass, if each can have as many; (): one has all of them.

  Attributes:
    classes, auxiliary: as given. rate: the learning rate [], or None.
    variables: the weights that the step changes.
    mode: see the module.
    loss: the loss [] whose gradient was taken last, with what layers added to it. num_updates:
      calls of `follow`.
    passes: rows so far, where all numbers are known.
  """

  loss: tf.Tensor

  def __init__(self, step: TrainStep, mode: str = RUNS, *,
               rate: tf.Tensor | None = None, classes: objective_lib.Classes | None = None,
               auxiliary: Any = None, mask: tf.Tensor | None = None, divisor: Any = None,
               devices: Sequence[str] = ()):
    self._step, self.mode = step, mode
    self.rate, self.classes, self.auxiliary = rate, classes, auxiliary
    self._mask, self._divisor = mask, divisor
    self._devices = tuple(devices) if len(devices) > 1 else ()
    self.variables, self.num_updates, self.passes = step.variables, 0, Passes(0, 0)
    self._shares: list[tuple[str, tf.GradientTape, list[tf.Tensor]]] = []
    self._tape: tf.GradientTape | None = None
    self._added: list[tf.Tensor] = []  # By layers, in passes since the last gradients.

  def __enter__(self) -> StepNet:
    if self._tape is None and self.mode != BLANK:
      self._tape = tf.GradientTape()
      self._tape.__enter__()
    return self

  def __exit__(self, *error: Any) -> None:
    if self._tape is not None:
      self._tape.__exit__(*error)
      self._tape = None

  @property
  def is_counted(self) -> bool:
    """Whether the step is traced to be counted, so that nothing may depend on data."""
    return self.mode == COUNTS

  @property
  def known(self) -> tf.Tensor | None:
    """The classes that a label was revealed of, bool [C]; None: all."""
    return None if self.classes is None else self.classes.known

  def logits(self, *sets: step_rows.Rows) -> Any:
    """The logits [B, C] of rows in training; of several sets, which go together: for each set."""
    every = step_rows.joined(*sets)
    logits = self.answers(every)[1]
    if len(sets) == 1:
      return logits
    parts = iter(every.parts(logits))
    return [logits[:0] if rows.sizes == (0,) else next(parts) for rows in sets]

  def answers(self, rows: step_rows.Rows) -> tuple[tf.Tensor, tf.Tensor]:
    """The features [B, D] of rows in training, and their logits [B, C]."""
    self._note(rows.num, 0)
    step = self._step
    if self.mode == BLANK:
      width = step.model.output_shape[-1]
      depth = width if step.parts is None else step.parts[1].input_shape[-1]
      return tf.zeros([rows.num, depth]), tf.zeros([rows.num, width])
    self.__enter__()  # Again, after an update.
    if self._shares_rows(rows):
      return self._on_devices(rows)
    outputs = self._forward(rows.images)
    self._added += layer_losses.of_pass(step.model)
    return outputs

  def _forward(self, images: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    step = self._step
    if step.parts is None:
      logits = step.model(images, training=step.training)
      return tf.identity(logits), logits
    lower, top = step.parts
    features = images if lower is None else lower(images, training=step.training)
    return features, top(features, training=step.training)

  def _shares_rows(self, rows: step_rows.Rows) -> bool:
    """Whether each device can have as many rows of each set as the others."""
    return bool(self._devices) and all(
        size is None or size % len(self._devices) == 0 for size in rows.sizes)

  def _on_devices(self, rows: step_rows.Rows) -> tuple[tf.Tensor, tf.Tensor]:
    """As `answers`, with an equal share of each set of the rows on each device.

    The variables stay where they are: each device reads them. A batch norm takes the statistics of
    its device's share; its running ones become the mean of those after each share, and so do the
    losses that layers add.
    """
    assert self._tape is not None
    moving, after, shares = self._moving(), [], []
    before = [v.read_value() for v in moving]
    for device, images in self._share(rows):
      for variable, value in zip(moving, before):
        variable.assign(value)
      with tf.device(device), self._tape.stop_recording(), tf.GradientTape() as tape:
        outputs = list(self._forward(images))
        added = layer_losses.of_pass(self._step.model)
        outputs += [tf.add_n(added)] if added else []
      self._shares.append((device, tape, outputs))
      self._tape.watch(outputs)
      shares.append(outputs)
      after.append([v.read_value() for v in moving])
    for variable, *values in zip(moving, *after):
      variable.assign(tf.add_n(values) / len(values))
    features, logits, *sums = zip(*shares)
    self._added += [tf.add_n(of_shares) / len(of_shares) for of_shares in sums]
    return self._gathered(rows, features), self._gathered(rows, logits)

  def _share(self, rows: step_rows.Rows) -> Iterator[tuple[str, tf.Tensor]]:
    """Yields the devices and their images."""
    count, parts = len(self._devices), rows.parts(rows.images)
    for index, device in enumerate(self._devices):
      sizes = [step_rows.length(part) // count for part in parts]
      yield device, tf.concat([part[index * size:(index + 1) * size]
                               for part, size in zip(parts, sizes)], 0)

  def _gathered(self, rows: step_rows.Rows, shares: Sequence[tf.Tensor]) -> tf.Tensor:
    """Outputs [B, ...] of rows, from those of the devices' shares."""
    sizes = tuple(None if size is None else size // len(self._devices) for size in rows.sizes)
    parts = [rows._replace(sizes=sizes).parts(share) for share in shares]
    return tf.concat([part for of_set in zip(*parts) for part in of_set], 0)

  def _moving(self) -> list[tf.Variable]:
    """The running statistics that a pass in training changes."""
    step = self._step
    if not step.training:
      return []
    found = [getattr(layer, name) for layer in step.model.submodules
             for name in ("moving_mean", "moving_variance") if hasattr(layer, name)]
    return found + [v for held in keras3.held_in(step.model) for v in held.non_trainable_weights
                    if v.dtype.is_floating]

  def at_rest(self, model: tf.keras.Model, rows: step_rows.Rows) -> tf.Tensor:
    """Outputs of another model at rest, such as the net as it was; no gradient goes there."""
    self._note(0, rows.num)
    if self.mode == BLANK:
      return tf.zeros([rows.num, *model.output_shape[1:]])
    if not self._shares_rows(rows):
      return tf.stop_gradient(model(rows.images, training=False))
    shares = []
    for device, images in self._share(rows):
      with tf.device(device):
        shares.append(model(images, training=False))
    return tf.stop_gradient(self._gathered(rows, shares))

  def losses_at_rest(self, rows: step_rows.Rows) -> tf.Tensor:
    """The cross-entropy of each row [B] among known classes, the net running as in evaluation."""
    self._note(0, rows.num)
    if self.mode == BLANK:
      return tf.zeros([rows.num])
    return self._step.losses_at_rest(rows.images, rows.labels, self.known)

  def row_losses(self, logits: tf.Tensor, labels: tf.Tensor, among: tf.Tensor | None = None
                 ) -> tf.Tensor:
    """The cross-entropy of each row [B], from logits [B, C] and labels.

    Args:
      among: the classes that take part, bool [C] or [B, C]; None: the known ones.
    """
    return objective_lib.row_losses(
        self.batch(logits, labels), self.known if among is None else among)

  def cross_entropy(self, logits: tf.Tensor, labels: tf.Tensor,
                    smoothing: losses.Smoothing | None = None) -> tf.Tensor:
    """The mean cross-entropy [] of rows among the known classes."""
    return objective_lib.cross_entropy(self.batch(logits, labels), smoothing)

  def mean(self, each: tf.Tensor) -> tf.Tensor:
    """The mean [] of the losses of rows [B], without padding."""
    return objective_lib.mean_of(self.batch(each, each), each)

  @property
  def heads(self) -> tf.Variable | None:
    """The head of each class, int64 [C]; None: all are of one."""
    return self._step.heads

  @property
  def kind(self) -> str:
    """Of the task."""
    return self._step.kind

  def batch(self, logits: tf.Tensor, labels: tf.Tensor) -> objective_lib.Batch:
    """Rows with logits [B, C] and labels as a batch, for functions of it."""
    return objective_lib.Batch(logits, logits, labels, self.classes, self._step.kind, self._mask,
                               self._divisor, self._step.heads)

  def gradients(self, loss: tf.Tensor) -> list[tf.Tensor | None]:
    """Gradients of a loss [] of rows that went through the net since the last ones.

    What layers of the net add to a loss is a part of it: regularizers of their weights, and what
    they added in these passes by `add_loss`.

    One for each variable; None where it has no part in the loss.
    """
    self.loss = loss = self._with_layers(loss)
    if self.mode == BLANK:
      return [tf.zeros_like(v) for v in self.variables]
    tape, scaling, found = self._tape, self._step.scaling, list[Any]()
    self.__exit__(None, None, None)
    if tape is not None:
      found = self._of_shares(tape, loss) if self._shares else tape.gradient(
          loss, self.variables, output_gradients=scaling.factor)
    if all(g is None for g in found):
      raise ValueError(
          f"A loss of {type(self._step.objective).__name__} depends on no weight that is trained. "
          "Compute it from net.logits(rows), and after an update once more.")
    return scaling.unscaled(found)

  def _with_layers(self, loss: tf.Tensor) -> tf.Tensor:
    """A loss [] and what layers add to it; replicas of a strategy have equal shares of this."""
    if self.mode == BLANK:
      return loss
    added, self._added = [*self._added, *layer_losses.of_weights(self._step.model)], []
    if not added:
      return loss
    num = tf.distribute.get_strategy().num_replicas_in_sync
    added = [tf.cast(one, loss.dtype) for one in added]
    return tf.add_n([loss, *(added if num == 1 else [one / num for one in added])])

  def _of_shares(self, tape: tf.GradientTape, loss: tf.Tensor) -> list[tf.Tensor | None]:
    """Gradients of a loss whose passes are shared by devices, each of which goes back its own."""
    outputs = [output for _, _, share in self._shares for output in share]
    direct, *along = tape.gradient(loss, [self.variables, *outputs],
                                   output_gradients=self._step.scaling.factor)
    parts, of_share = [direct], iter(along)
    for device, own, share in self._shares:
      given = [(output, found) for output, found in zip(share, of_share) if found is not None]
      if given:
        ends, gradients = map(list, zip(*given))
        with tf.device(device):
          parts.append(own.gradient(ends, self.variables, output_gradients=gradients))
    self._shares, sums = [], []
    for of_variable in zip(*parts):
      present = [tf.convert_to_tensor(g) for g in of_variable if g is not None]
      sums.append(tf.add_n(present) if present else None)
    return sums

  def update(self, loss: tf.Tensor, then: Callable[..., None] | None = None) -> None:
    """Takes a step of the optimizer along the gradients of a loss []; see `follow`."""
    self.follow(self.gradients(loss), then)

  def follow(self, gradients: Sequence[tf.Tensor | None],
             then: Callable[..., None] | None = None) -> None:
    """Takes a step of the optimizer along gradients.

    Args:
      gradients: one for each variable.
      then: is called with the variables' values before the step, if it is taken: where the loss is
        scaled, a step whose gradients are not finite is left out.
    """
    self.num_updates += 1
    if self.mode == BLANK:
      return

    def update() -> None:
      before = [v.read_value() for v in self.variables] if then is not None else []
      self._step.optimizer.apply(gradients, self.variables, self.rate)
      if then is not None:
        then(before)

    self._step.scaling.apply(list(gradients), update)

  def update_each(self, rows: step_rows.Rows, order: tf.Tensor) -> tf.Tensor:
    """An update on each single row, in this order, int32 [n]; the sum of their losses."""
    num = step_rows.length(order)
    self._note(num, 0)
    self.num_updates += 1
    if self.mode == BLANK:
      return tf.zeros([])
    self.__exit__(None, None, None)

    def one(i: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      at = order[i]
      row = step_rows.Rows(rows.images[at][None], rows.labels[at][None], sizes=(1,))
      with StepNet(self._step, self.mode, rate=self.rate, classes=self.classes) as net:
        loss = net.cross_entropy(net.logits(row), row.labels)
        net.update(loss)
      return i + 1, total + loss

    return tf.while_loop(lambda i, _: i < num, one, [tf.constant(0), tf.constant(0.0)],
                         parallel_iterations=1)[1]

  def mean_gradient(self, memory: step_rows.StepMemory, places: tf.Tensor, chunk: int
                    ) -> list[tf.Tensor]:
    """The gradient of the mean cross-entropy of rows of a memory, `chunk` of them at once.

    Args:
      memory: not empty.
      places: int64 [n], n > 0, of its rows.
    """
    assert memory.rows_at is not None
    rows_at, num = memory.rows_at, step_rows.length(places)
    self._note(num, 0)
    if self.mode == BLANK:
      return [tf.zeros_like(v) for v in self.variables]

    def add(first: tf.Tensor, totals: list[tf.Tensor]) -> tuple[tf.Tensor, list[tf.Tensor]]:
      rows = rows_at(places[first:first + chunk])
      with tf.GradientTape() as tape:
        logits = self._forward(rows.images)[1]
        loss = tf.reduce_sum(self.row_losses(logits, rows.labels))
      parts = tape.gradient(loss, self.variables,
                            unconnected_gradients=tf.UnconnectedGradients.ZERO)
      return first + chunk, [t + p for t, p in zip(totals, parts)]

    zeros = [tf.zeros_like(v) for v in self.variables]
    if self.mode == COUNTS:  # The loop depends on data.
      chunk = num
      totals = add(tf.constant(0), zeros)[1]
    else:
      totals = tf.while_loop(lambda first, _: first < num, add, [tf.constant(0), zeros],
                             parallel_iterations=1)[1]
    return [t / tf.cast(num, t.dtype) for t in totals]

  def _note(self, trained: Any, forward: Any) -> None:
    """Counts rows, where their numbers are known."""
    if self.mode == BLANK:
      self.passes = Passes(self.passes.trained + trained, self.passes.forward + forward)
