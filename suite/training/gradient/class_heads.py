# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Heads of gradient learners: Keras models of features [B, D] to logits [B, C] of all classes.

  Linear     one linear layer
  Given      the columns of some classes begin as those of a classifier in a file
  Split      the columns of base classes stay as the first phase left them
  CwrStar    weights are consolidated class by class (see `Consolidation`)
  PerTask    a linear layer for each task, on shared layers
  MultiHead  one linear layer, of which each task trains its own classes alone
  OwnHead    the last layer of a user's model
  NearestExemplars  linear in training; answers by the means of exemplars (iCaRL)
  ProjectedExemplars  the same, with a projection to train features by (SCR)
  Aligned    rows of new classes are scaled to the norms of old ones (WA)
  BiasCorrected  logits of new classes are made affine ones on held-out rows (BiC)

A mask of known classes says which ones take part in a loss, so that no head grows.

CWR*: the last layer's weights, consolidated class by class (Maltoni & Lomonaco, 2019).

  before a bucket   w[c] = cw[c] for its classes c, 0 for all others
  after it          m = mean of all w of its classes;  p = sqrt(past[c] / now[c])
                    cw[c] = (cw[c] * p + w[c] - m) / (p + 1);  past[c] += now[c];  w = cw

`now` counts the bucket's examples by class, `past` those of earlier buckets. The bias is trained
like any other. Everything below the last layer is frozen after the first bucket.

A linear classifier on wide features with a fast kernel gradient.

TensorFlow computes the gradient of a kernel [D, C] as x^T d, which transposes the wide x [B, D]; on
a CPU, with D = 2048 and C = 11, this takes two thirds of a training step. (d^T x)^T is equal, and
the transposed matrix is small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import pathlib
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import mac_views
from suite.compute import own_gradients
from suite.contracts import rehearsal
from suite.models import heads
from suite.models.own import own_model
from suite.state import encoder_file
from suite.training.gradient import trainable_parts
from suite.training.objectives import objective
from suite.training.objectives import scr
from suite.training.statistics import class_means

RANDOM = heads.INITIALIZERS
STARTS = (*RANDOM, "zeros", "prototypes")
_NEWTON_STEPS = 20


class Linear(tf.Module):
  """A linear head: logits = f W + b.

  Args:
    start: how the weights of a class begin: at random, by a rule of `heads`: "glorot" or "pytorch";
      "zeros", so that a class that was never trained has a logit of 0; or "prototypes" (ProtoMAML,
      Triantafillou et al., 2020): w = 2 c, b = -|c|^2 from the mean feature c of its first samples,
      so that logits are |f|^2 - |f - c|^2, and a class without samples has a logit of -inf.
  """

  is_per_task = reads_exemplars = False
  held_out_share = 0.0  # Of the exemplars of a class that are not trained on, for `correct`.
  heads: Any = None  # A variable, or None; see `objective.Batch`.

  def __init__(self, start: str = "glorot"):
    super().__init__()
    if start not in STARTS:
      raise ValueError(f"{type(self).__name__}.start is {start!r}; allowed are "
                       f"{', '.join(STARTS)}.")
    self.start = start

  def make(self, num_features: int, num_classes: int, *, is_input: bool) -> tf.keras.Model:
    """A new model of features to logits; is_input: whether the features are the model's input."""
    init = self.start if self.start in RANDOM else RANDOM[0]  # Overwritten by `set_start`.
    return (linear if is_input else heads.linear)(num_classes, num_features, init=init)

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    """Attaches to the variables of a model that `make` made."""
    self._layer = model.layers[-1]
    if self.start == "prototypes":
      self.trained = tf.Variable(
          tf.zeros([num_classes], tf.bool), trainable=False, name="trained_classes")

  @property
  def kernel(self) -> tf.Variable:
    """The weights of the attached model."""
    return self._layer.kernel

  @property
  def bias(self) -> tf.Variable:
    """The offsets of the attached model."""
    return self._layer.bias

  def set_start(self) -> None:
    """Sets the weights that do not begin at random."""
    if self.start not in RANDOM:
      for variable in self._layer.trainable_variables:
        variable.assign(tf.zeros_like(variable))
    if self.start == "prototypes":
      self.trained.assign(tf.zeros_like(self.trained))

  def new_rows(self, labels: tf.Tensor) -> tf.Tensor | None:
    """The rows of labels int64 [N] whose features `start_classes` wants; None: it wants none."""
    if self.start != "prototypes":
      return None
    return tf.where(~tf.gather(self.trained, labels))[:, 0]

  def start_classes(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Starts the weights of the classes of labels int64 [N] from features [N, D]."""
    classes, places = tf.unique(labels)
    kernel, bias = prototypes(features, places, int(tf.size(classes)))
    layer = self._layer
    layer.kernel.assign(tf.transpose(tf.tensor_scatter_nd_update(
        tf.transpose(layer.kernel), classes[:, None], tf.transpose(kernel))))
    layer.bias.assign(tf.tensor_scatter_nd_update(layer.bias, classes[:, None], bias))
    # Of booleans, GPUs have this kernel for int32 places only.
    self.trained.scatter_update(
        tf.IndexedSlices(tf.ones_like(labels, tf.bool), tf.cast(labels, tf.int32)))

  def note_classes(self, now: tf.Tensor) -> None:
    """Receives the classes of the new rows, bool [C], before each phase."""
    del now

  def before_phase(self, counts: np.ndarray, variables: Sequence[tf.Variable]
                   ) -> list[tf.Variable]:
    """Returns the variables that the phase trains; counts [C]: its examples by class."""
    del counts
    return list(variables)

  def after_phase(self, counts: np.ndarray) -> None:
    """Concludes a phase; counts [C]: its examples by class."""

  def after_base(self, known: tf.Tensor) -> None:
    """Concludes the learning of the first classes, bool [C]."""

  def answers(self, logits: tf.Tensor) -> tf.Tensor:
    """Returns the answers: logits [B, C], -inf for classes that cannot be answered."""
    if self.start != "prototypes":
      return logits
    return tf.where(self.trained, logits, -float("inf"))

  def set_exemplars(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Is shown, after a phase, all exemplars: features [N, D], labels int64 [N]."""
    del features, labels

  def correct(self, logits: tf.Tensor, labels: tf.Tensor) -> int:
    """Is shown, after training, logits [N, C] of rows that were held out; returns FLOPs."""
    del logits, labels
    return 0

  def answers_to(self, features: tf.Tensor) -> tf.Tensor:
    """Answers [B, C] to features [B, D], of a head that reads exemplars."""
    raise NotImplementedError(f"{type(self).__name__} answers from logits.")

  def layers(self) -> list[mac_views.Layer]:
    """Returns the layers, for `mac_views.views`."""
    return [mac_views.Layer("head", self._layer.kernel.shape.num_elements())]


class Given(Linear):
  """A linear head, some of whose columns begin as a classifier's: the others begin at zero.

  Args:
    classifier: the directory of an encoder with a classifier, or its file; see `encoder_file`.
      None: all columns begin at zero, as for an encoder without one (MoCo's).
    columns: int [C], which of its outputs each class begins with; -1: none.
  """

  def __init__(self, classifier: str | None, columns: Sequence[int]):
    super().__init__("zeros")
    self._columns = np.asarray(columns, np.int64)
    self._given = None
    if classifier is not None and (
        rehearsal.current() is None or pathlib.Path(classifier).exists()):
      self._given = encoder_file.classifier(classifier)
    if self._given is None:
      return
    num = len(self._given[1])
    if len(self._columns) and not -1 <= self._columns.min() <= self._columns.max() < num:
      raise ValueError(
          f"Given.columns has {self._columns.min()} to {self._columns.max()}; {classifier} has "
          f"outputs 0 to {num - 1}, and -1 is for none. Give the classifier of ImageNet-1K.")

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    width = int(self.kernel.shape[0])
    given = width if self._given is None else len(self._given[0])
    if len(self._columns) != num_classes or given != width:
      raise ValueError(
          f"Given has columns for {len(self._columns)} classes and a classifier of {given} "
          f"features; the head has {num_classes} classes and {width} features. Give the columns of "
          "this sequence, and the classifier of this backbone.")

  def set_start(self) -> None:
    super().set_start()
    if self._given is None:
      return
    kernel, bias = self._given
    is_given = self._columns >= 0
    places = np.maximum(self._columns, 0)
    self.kernel.assign(np.where(is_given, kernel[:, places], 0.0))
    self.bias.assign(np.where(is_given, bias[places], 0.0))


class PerTask(Linear):
  """A linear layer for each task; a task that comes again resumes its own."""

  is_per_task = True


class MultiHead(Linear):
  """A head for each task, in one linear layer: a loss is over the classes that came together.

  In the scenario "task" of incremental learning, where the task of a test image is known, too, this
  is the multi-headed net of van de Ven & Tolias (2019). A class that comes again stays where it is.
  """

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    # By the number of the phase in which a class came, 0: not yet.
    self.heads = tf.Variable(
        tf.zeros([num_classes], tf.int64), trainable=False, name="head_of_class")
    self.begun = tf.Variable(0, dtype=tf.int64, trainable=False, name="heads_begun")

  def note_classes(self, now: tf.Tensor) -> None:
    self.begun.assign_add(1)
    self.heads.assign(tf.where(now & (self.heads == 0), self.begun, self.heads))


class OwnHead(Linear):
  """The last layer of a user's model, of any type, which has an output for each class.

  Args:
    backbone: the model, made with head="own"; the net must be `AllLayers` of the same object.
    per_task: whether each task gets a head; the model is then a function of num_classes.
  """

  def __init__(self, backbone: own_model.Backbone, per_task: bool = False):
    super().__init__()
    self._backbone, self.is_per_task = (lambda: backbone), per_task

  def make(self, num_features: int, num_classes: int, *, is_input: bool) -> tf.keras.Model:
    del is_input
    model = self._backbone().own_head(num_classes)
    if model.input_shape[-1] != num_features:
      raise ValueError(f"The own head takes {model.input_shape[-1]} features, but the network "
                       f"makes {num_features}. Give OwnHead and AllLayers the same Backbone.")
    return model

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    self._layers = lambda: mac_views.model_layers(model)

  def layers(self) -> list[mac_views.Layer]:
    return self._layers()


def default(net: trainable_parts.TrainablePart) -> Linear:
  """The head of a net whose backbone keeps its own, or a linear one."""
  return Linear() if net.backbone_with_head is None else OwnHead(net.backbone_with_head)


class Split(Linear):
  """Two heads in one: the columns of base classes stay as they were learned, others are trained.

  The code of FLUID's authors has it, the paper has not. The gradient is computed for all columns
  and masked, and it is charged as that.
  """

  def __init__(self):
    super().__init__("zeros")

  def make(self, num_features: int, num_classes: int, *, is_input: bool) -> tf.keras.Model:
    del is_input
    return as_model(SplitDense(num_classes, name="logits"), num_features)

  def after_base(self, known: tf.Tensor) -> None:
    self._layer.freeze(known)


class CwrStar(Linear):
  """The head of CWR*; see `Consolidation`.

  Args:
    counts_first: see `class_heads.Consolidation`.
    start: a rule of `heads`.
  """

  def __init__(self, counts_first: bool = True, start: str = "glorot"):
    super().__init__(start)
    if start not in RANDOM:
      raise ValueError(f"CwrStar.start is {start!r}; allowed are {', '.join(RANDOM)}.")
    self._consolidation = Consolidation(counts_first)

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    self._consolidation.build(self._layer)

  def before_phase(self, counts: np.ndarray, variables: Sequence[tf.Variable]
                   ) -> list[tf.Variable]:
    self._consolidation.before_bucket(counts)
    return self._consolidation.trainable(variables)

  def after_phase(self, counts: np.ndarray) -> None:
    self._consolidation.after_bucket(counts)


class NearestExemplars(Linear):
  """Trained as a linear layer; answers by the nearest mean of exemplars (iCaRL, algorithm 1).

  The class of an example is that whose mean is nearest to the direction of its feature. A mean is
  that of the directions of its exemplars' features, made a direction itself, so that the nearest
  has the largest cosine. They are of the net as each phase leaves it. The base classes of a
  sequence have the means of their own examples until the memory holds some.
  """

  reads_exemplars = True
  _means = class_means.ClassMeans("cosine", normalize=True, last_set_only=True)

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    zero = self._means.zero(num_classes, model.input_shape[-1])
    self.sums, self.counts = (tf.Variable(value, trainable=False, name=f"exemplar_{name}")
                              for name, value in zip(zero._fields, zero))

  def set_exemplars(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    state = class_means.Sums(self.sums.read_value(), self.counts.read_value())
    for variable, value in zip((self.sums, self.counts), self._means.add(state, features, labels)):
      variable.assign(value)

  def answers_to(self, features: tf.Tensor) -> tf.Tensor:
    state = class_means.Sums(self.sums.read_value(), self.counts.read_value())
    return self._means.answers(state, tf.cast(features, tf.float32))


class ProjectedExemplars(NearestExemplars):
  """Answers by the nearest mean of exemplars; trains features by a projection (SCR).

  The projection is a hidden layer as wide as the features and a linear one. No loss that is to be
  given this head reads its logits, which are not trained.

  Args:
    width: outputs of the projection; the authors' code has 128.
  """

  def __init__(self, width: int = 128):
    super().__init__()
    self._width = width

  def make(self, num_features: int, num_classes: int, *, is_input: bool) -> tf.keras.Model:
    del is_input
    inputs = tf.keras.Input([num_features], dtype=tf.float32, name="features")
    x = tf.keras.layers.Dense(num_features, "relu", name="hidden", dtype="float32")(inputs)
    x = tf.keras.layers.Dense(self._width, name=scr.PROJECTION, dtype="float32")(x)
    logits = tf.keras.layers.Dense(num_classes, name="logits", dtype="float32", trainable=False)
    return tf.keras.Model(inputs, logits(x), name="head")

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    self._layers = lambda: mac_views.model_layers(model)

  def layers(self) -> list[mac_views.Layer]:
    return self._layers()


class Aligned(Linear):
  """A linear head whose weights are aligned after a phase (WA: Zhao et al., 2020).

    w_c = w_c * mean over old classes of |w| / mean over new classes of |w|         c new

  New classes are those of the rows that came for the phase, old ones are all others that were
  taught. Offsets stay; there is no clipping of weights, which the paper has besides.
  """

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    self.classes = objective.OldClasses(num_classes)

  def note_classes(self, now: tf.Tensor) -> None:
    self.classes.begin(now)

  def after_phase(self, counts: np.ndarray) -> None:
    old, new = self.classes.old, self.classes.now.read_value()
    if bool(tf.reduce_any(old)):
      norms = tf.norm(self.kernel, axis=0)
      of_old, of_new = (tf.reduce_mean(tf.boolean_mask(norms, mask)) for mask in (old, new))
      factor = tf.math.divide_no_nan(of_old, of_new)
      self.kernel.assign(tf.where(new, factor * self.kernel, self.kernel))
    self.classes.end()

  def after_base(self, known: tf.Tensor) -> None:
    self.classes.end(known)


class BiasCorrected(Linear):
  """A linear head that learns to favor no new classes (BiC: Wu et al., 2019, section 3.3).

  After a phase, on rows that it did not train on, as many of each class,

    q_c = alpha o_c + beta for new classes c, o_c for old ones        minimize cross-entropy of q

  by the two numbers alone. They change the layer itself: alpha (w f + b) + beta is a linear layer.
  The problem is convex; it is solved by Newton's method, where the authors take many steps of SGD.
  So that few rows, which may be told apart without an error, have a minimum, `prior` / 2 times the
  square of (alpha - 1, beta) is added.

  Args:
    held_out_share: of the exemplars of each old class; the paper's 0.1. At least one is held out,
      and as many of each new class.
    prior: see above.
  """

  def __init__(self, held_out_share: float = 0.1, prior: float = 0.01):
    super().__init__()
    for name, value in (("held_out_share", held_out_share), ("prior", prior)):
      if not 0 < value < 1:
        raise ValueError(f"BiasCorrected.{name} is {value}; it must be above 0 and below 1.")
    self.held_out_share, self._prior = held_out_share, prior

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    self.classes = objective.OldClasses(num_classes)

  def note_classes(self, now: tf.Tensor) -> None:
    self.classes.begin(now)

  def correct(self, logits: tf.Tensor, labels: tf.Tensor) -> int:
    new = self.classes.now.numpy()
    present = new | self.classes.taught.numpy()
    (alpha, beta), num_flops = bias_of(
        np.asarray(logits)[:, present], new[present],
        (np.cumsum(present) - 1)[np.asarray(labels)], self._prior)
    self.kernel.assign(tf.where(new, alpha * self.kernel, self.kernel))
    self.bias.assign(tf.where(new, alpha * self.bias + beta, self.bias))
    return num_flops

  def after_phase(self, counts: np.ndarray) -> None:
    self.classes.end()


class SplitDense(tf.keras.layers.Layer):
  """A linear layer, some of whose columns are fixed; [B, D] to [B, C]."""

  def __init__(self, num_classes: int, **settings: Any):
    super().__init__(**{"dtype": "float32", **settings})
    self._num_classes = num_classes

  def build(self, input_shape: Any) -> None:
    shape = [input_shape[-1], self._num_classes]
    self.kernel = self.add_weight("kernel", shape, initializer="zeros")
    self.bias = self.add_weight("bias", shape[1:], initializer="zeros")
    self.base_kernel = self.add_weight("base_kernel", shape, initializer="zeros", trainable=False)
    self.base_bias = self.add_weight("base_bias", shape[1:], initializer="zeros", trainable=False)
    self.is_base = self.add_weight(
        "is_base", shape[1:], dtype=tf.bool, initializer=all_false, trainable=False)
    super().build(input_shape)

  def call(self, inputs: tf.Tensor) -> tf.Tensor:
    kernel = tf.where(self.is_base, self.base_kernel, self.kernel)
    bias = tf.where(self.is_base, self.base_bias, self.bias)
    return product(inputs, kernel) + bias

  def freeze(self, columns: tf.Tensor) -> None:
    """Fixes these columns, bool [C]; the others begin at zero."""
    self.base_kernel.assign(self.kernel)
    self.base_bias.assign(self.bias)
    self.is_base.assign(columns)
    for variable in (self.kernel, self.bias):
      variable.assign(tf.zeros_like(variable))

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), "num_classes": self._num_classes}


def bias_of(logits: np.ndarray, is_new: np.ndarray, labels: np.ndarray, prior: float
            ) -> tuple[np.ndarray, int]:
  """BiC's (alpha, beta), and the FLOPs that they took, about 14 for a logit in each step.

  Args:
    logits: [N, C]. is_new: bool [C], the classes whose logits are changed. labels: int64 [N].
    prior: see `BiasCorrected`.
  """
  logits = logits.astype(np.float64)
  slopes = np.stack([logits * is_new, np.ones_like(logits) * is_new], -1)  # [N, C, 2]
  start, rows = np.array([1.0, 0.0]), np.arange(len(labels))

  def shares_and_loss(numbers: np.ndarray) -> tuple[np.ndarray, float]:
    changed = np.where(is_new, numbers[0] * logits + numbers[1], logits)
    changed -= changed.max(axis=1, keepdims=True)
    shares = np.exp(changed)
    sums = shares.sum(axis=1, keepdims=True)
    loss = float(np.mean(np.log(sums[:, 0]) - changed[rows, labels]))
    return shares / sums, loss + prior / 2 * float(np.sum((numbers - start) ** 2))

  numbers, (shares, loss) = start, shares_and_loss(start)
  for _ in range(_NEWTON_STEPS):
    means = np.einsum("nc,nci->ni", shares, slopes)
    gradient = np.mean(means - slopes[rows, labels], axis=0) + prior * (numbers - start)
    curvature = (np.einsum("nc,nci,ncj->ij", shares, slopes, slopes) - means.T @ means
                 ) / len(labels) + prior * np.eye(2)
    step = np.linalg.solve(curvature, gradient)
    for _ in range(_NEWTON_STEPS):  # Shorter until it is no step up.
      found = shares_and_loss(numbers - step)
      if found[1] <= loss:
        numbers, (shares, loss) = numbers - step, found
        break
      step = step / 2
  return numbers, 14 * _NEWTON_STEPS * logits.size


def prototypes(features: tf.Tensor, labels: tf.Tensor, num_classes: int
               ) -> tuple[tf.Tensor, tf.Tensor]:
  """A linear layer, kernel [D, W] and bias [W], from features [N, D] and labels [N] below W."""
  is_class = tf.one_hot(labels, num_classes)
  means = tf.math.divide_no_nan(tf.matmul(is_class, features, transpose_a=True),
                                tf.reduce_sum(is_class, axis=0)[:, None])
  return 2.0 * tf.transpose(means), -tf.reduce_sum(tf.square(means), axis=1)


def as_model(layer: tf.keras.layers.Layer, num_features: int) -> tf.keras.Model:
  """A head of one layer."""
  inputs = tf.keras.Input([num_features], dtype=tf.float32, name="features")
  return tf.keras.Model(inputs, layer(inputs), name="head")


def all_false(shape: Any, dtype: Any = None) -> tf.Tensor:
  del dtype
  return tf.zeros(shape, tf.bool)


class Consolidation(tf.Module):
  """The consolidated weights of one dense layer.

  Args:
    counts_first: whether `past` counts the bucket in which a class first came. The library behind
      CLEAR's table left it out (False), so that a class's second bucket replaces its first.
  """

  def __init__(self, counts_first: bool = True):
    super().__init__()
    self.counts_first = counts_first

  def build(self, layer: tf.keras.layers.Layer) -> None:
    """Makes the variables for a dense layer: kernel [D, C], and a bias or none."""
    self._layer = layer
    self.kernel = tf.Variable(
        tf.zeros_like(layer.kernel), trainable=False, name="consolidated_kernel")
    zeros = tf.zeros(layer.kernel.shape[1:], tf.float32)
    self.past = tf.Variable(zeros, trainable=False, name="past_counts")
    self.known = tf.Variable(tf.cast(zeros, tf.bool), trainable=False, name="known_classes")
    self.buckets = tf.Variable(0, trainable=False, name="consolidated_buckets")

  def trainable(self, variables: Sequence[tf.Variable]) -> list[tf.Variable]:
    """The trainable variables that this bucket trains: all in the first, then the head's.

    Batch norms below must run as in evaluation from then on, too.
    """
    if not self.is_frozen:
      return list(variables)
    own = {v.ref() for v in self._layer.trainable_variables}
    return [v for v in variables if v.ref() in own]

  @property
  def is_frozen(self) -> bool:
    """Whether what lies below the layer is frozen: from the second bucket on."""
    return int(self.buckets) > 0

  def before_bucket(self, counts: np.ndarray) -> None:
    """Sets the weights for a bucket; counts [C]: its examples of each class."""
    here = self._checked(counts) > 0
    self._layer.kernel.assign(tf.where(here, self.kernel, 0.0))

  def after_bucket(self, counts: np.ndarray) -> None:
    """Consolidates the weights; counts [C]: as before the bucket."""
    now = self._checked(counts)
    here = now > 0
    weights = tf.convert_to_tensor(self._layer.kernel)
    mean = tf.reduce_mean(tf.boolean_mask(weights, here, axis=1))
    share = tf.sqrt(tf.math.divide_no_nan(self.past, now))
    mixed = (self.kernel * share + weights - mean) / (share + 1.0)
    self.kernel.assign(tf.where(here, mixed, self.kernel))
    counted = here if self.counts_first else here & self.known
    self.past.assign_add(tf.where(counted, now, 0.0))
    self.known.assign(self.known | here)
    self._layer.kernel.assign(self.kernel)
    self.buckets.assign_add(1)

  def _checked(self, counts: np.ndarray) -> tf.Tensor:
    counts = np.asarray(counts)
    if counts.shape != self.past.shape or not counts.sum() > 0:
      raise ValueError(f"The counts of a bucket's classes are {counts.tolist()}; give "
                       f"{self.past.shape[0]} of them, one for each class, not all of them 0.")
    return tf.constant(counts, tf.float32)


@own_gradients.custom_gradient
def product(x: tf.Tensor, kernel: tf.Tensor) -> tuple[tf.Tensor, Callable[..., Any]]:
  """Matrix product [B, D] x [D, C] -> [B, C] and its gradient function."""
  def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return (tf.matmul(upstream, kernel, transpose_b=True),
            tf.transpose(tf.matmul(upstream, x, transpose_a=True)))

  return tf.matmul(x, kernel), gradient


class WideDense(tf.keras.layers.Dense):
  """`tf.keras.layers.Dense` with a bias and no activation, for inputs [B, D]."""

  def call(self, inputs: tf.Tensor) -> tf.Tensor:
    return tf.nn.bias_add(product(inputs, tf.convert_to_tensor(self.kernel)), self.bias)


def linear(num_classes: int, feature_size: int, *, init: str = "glorot", name: str = "head"
           ) -> tf.keras.Model:
  """Builds a classifier as `heads.linear`: [B, feature_size] -> float32 [B, num_classes]."""
  inputs = tf.keras.Input(shape=(feature_size,), dtype=tf.float32, name="features")
  logits = WideDense(num_classes, dtype=tf.float32, name="logits",
                     **heads.initializers(init, feature_size))(inputs)
  return tf.keras.Model(inputs, logits, name=name)
