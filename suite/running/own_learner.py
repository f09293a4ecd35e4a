# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite.learner`: a learner around a user's Keras model, made for the protocol that runs it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
import dataclasses
import inspect
import reprlib
from typing import Any

import tensorflow as tf

from suite import experiment
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import methods
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import examples
from suite.data.images import image_ops
from suite.learners import gradient
from suite.learners import maml
from suite.learners import pretrain_tune
from suite.learners import protonet
from suite.models.episodic import embedding
from suite.models.episodic import functional_model
from suite.models.own import own_model
from suite.models.own import seeded_layers
from suite.running import nets
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.objectives import objective

FINETUNE, PROTONET, MAML, PRETRAIN_TUNE = "finetune", "protonet", "maml", "pretrain_tune"
METHODS = (FINETUNE, PROTONET, MAML, PRETRAIN_TUNE)
_SIZE, _EPOCHS, _BATCH_SIZE = 32, 10, 32
_OPTIMIZER, _OF_STEPS = "optimizer", (optimizers.Keras, optimizers.Momentum)
_EPISODES, _TASKS = (descriptions.delivering(one) for one in (
    deliveries.EPISODES, deliveries.TASKS))


@dataclasses.dataclass(frozen=True, eq=False)
class OwnLearner:
  """What `learner` was given; `make` makes a new learner of it."""

  backbone: own_model.Backbone
  method: str | None
  transform: examples.Transform
  loss: Any
  inner: inner_loop.InnerLoop | None
  training: meta_schedules.MetaTraining | None
  options: dict[str, Any]

  def __repr__(self) -> str:
    return f"OwnLearner({self.method or 'fine-tuning'}, {reprlib.repr(self.options)})"

  def make(self, delivery: str) -> tf.Module:
    """A learner for data that is delivered in this way, one of `deliveries.DELIVERIES`."""
    if self.method is not None and self.method not in METHODS:
      return self._by_name(self.method, descriptions.delivering(delivery))
    is_episodes = delivery == deliveries.EPISODES
    method = self.method or (PROTONET if is_episodes else FINETUNE)
    if is_episodes != (method != FINETUNE):
      fitting = METHODS[1:] if is_episodes else METHODS[:1]
      raise ValueError(f"suite.learner(method={method!r}) does not fit this protocol; allowed are "
                       f"{', '.join(fitting)}, or no method for the first of them.")
    _check_options([method], self.options)
    options = dict(self.options)
    optimizer = options.pop(_OPTIMIZER, None)
    if method == FINETUNE:
      per_task = delivery == deliveries.TASKS
      head: class_heads.Linear
      if self.backbone.keeps_head:
        head = class_heads.OwnHead(self.backbone, per_task)
      elif per_task:
        head = class_heads.PerTask()
      else:
        head = class_heads.Linear("zeros" if delivery == deliveries.SEQUENCE else "glorot")
      given = dict(
          train_on=methods.settings_of(
              methods.named([FINETUNE])[0], descriptions.delivering(delivery)
          )["train_on"].value,  # As the method of that name.
          transform=self.transform, net=trainable_parts.AllLayers(self.backbone), head=head,
          objective=None if self.loss is None else objective.OwnLoss(self.loss),
          optimizer=_of_step(optimizer), epochs=_EPOCHS, batch_size=_BATCH_SIZE)
      return gradient.GradientLearner(**{**given, **options})
    if self.loss is not None:
      raise ValueError(f"suite.learner was given a loss and the method {method!r}, which minimizes "
                       "cross-entropy within and over episodes. Leave the loss out.")
    net = functional_model.FunctionalModel(self.backbone)
    training = self.training or meta_schedules.MetaTraining(own_optimizer=optimizer)
    shared: dict[str, Any] = dict(transform=self.transform, channels=self.transform.shape[-1],
                                  training=training, **options)
    if method == PROTONET:
      return protonet.ProtoNet(embedding.Embedding(net), **shared)
    if method == MAML:
      return maml.Maml(net, inner=self.inner or inner_loop.InnerLoop(extend_rows=True), **shared)
    if "num_classes" not in options:
      raise ValueError("suite.learner(method='pretrain_tune') needs num_classes, the classes of "
                       "the training episodes' data (made with with_classes=True).")
    inner = self.inner or inner_loop.InnerLoop(learn_rates=False, extend_rows=True)
    return pretrain_tune.PretrainTune(net, inner=inner, **shared)

  def _by_name(self, name: str, protocol: str) -> tf.Module:
    """A learner of a method of methods.csv, as its gin files make it, around the model."""
    method, = methods.named([name], protocol)
    build = methods.build_of(method, protocol)
    what = f"suite.learner(method={name!r}) under {protocol}"
    options = dict(self.options)
    optimizer = options.pop(_OPTIMIZER, None)
    params = methods.bindings(build.settings, options, what)
    *_, channels = shape = self.transform.shape
    plain = (self.transform.base if isinstance(self.transform, image_ops.Augmented)
             else self.transform)
    objects: dict[str, Any] = {
        "BACKBONE": self.backbone, "AUGMENTED": self.transform, "TRANSFORM": plain}
    if len(shape) == 1:  # Features of images, which no network reads.
      objects["FEATURES"] = None
    else:
      objects.update(IMAGE_SIZE=shape[0], CHANNELS=channels)
    # One optimizer for all methods that train a network, unless the method is about it.
    if optimizer is not None and not build.is_gradient:
      methods.bindings(build.settings, {_OPTIMIZER: optimizer}, what)  # Refuses it, or is bound.
      objects[build.settings[_OPTIMIZER].binds] = optimizer
    elif build.is_gradient and (optimizer is not None or not (
        build.has_optimizer or protocol == _EPISODES)):
      objects["gradient.GradientLearner.optimizer"] = _of_step(optimizer)
      if "learning_rate" not in options:
        params.append(f"{build.scope}/gradient.GradientLearner.learning_rate=None")
    if self.backbone.keeps_head:
      objects["HEAD"] = class_heads.OwnHead(self.backbone, protocol == _TASKS)
    paths = [gin_files.find_file(file, "suite.learner")
             for file in methods.own_shelves(method, protocol)]
    made = gin_parse.built(paths, [methods.learners([method]), *params], objects,
                           experiment.run, "learners", protocol)
    return made[method.name]()


def _of_step(optimizer: Any) -> Any:
  """The optimizer of a gradient learner: Adam if none is given."""
  return optimizer if isinstance(optimizer, _OF_STEPS) else optimizers.Keras(
      optimizer or tf.keras.optimizers.Adam)


def learner(
    model: own_model.Given | str,
    method: str | None = None,
    *,
    head: str = "new",
    image_size: int | None = None,
    transform: examples.Transform | None = None,
    loss: Callable[..., Any] | None = None,
    augment: Any = (),
    inner: inner_loop.InnerLoop | None = None,
    training: meta_schedules.MetaTraining | None = None,
    **options: Any,
) -> OwnLearner:
  """A learner around a Keras model, for `suite.run(protocol=..., learners={"mine": ...})`.

  Args:
    model: a tf.keras.Model of images (pixels 0..255), or a function that makes one of the image
      shape. An instance is copied, with its weights and what of it is frozen, for each run. Or the
      name of a net, "efficientnet_lite0" (`nets.NETS`), whose images have its own side.
    method: "finetune" (nevis, clear, fluid); "protonet", "maml" or "pretrain_tune" (cfsl); or any
      method of `suite list --methods`: "er", "DER++", "slda". None: the first that fits the
      protocol.
    head: "new": the model makes features [B, D], and gets a linear head. "replace": its last layer
      is left out before. "own": its last layer is the head, and has one output for each class.
    image_size: height and width of images; if not given, the model's, else 32.
    transform: image preparation, in place of one by `image_size`.
    loss: loss(labels, logits) -> [B] or []; cross-entropy if not given.
    augment: Keras or keras-cv layers, or functions of images, that change training images.
    inner: inner loop of "maml" and "pretrain_tune".
    training: meta-training of the methods for cfsl, in place of one by the optimizer.
    **options: settings of the method, as `suite show METHOD` has them: epochs, batch_size,
      learning_rate (or lr), memory_size, alpha, ... "finetune" takes all arguments of
      `GradientLearner` (epochs 10, batch_size 32 if not given), "protonet", "maml" and
      "pretrain_tune" (which needs num_classes, of the training data) those of their classes. Where
      a network is trained, optimizer is a Keras optimizer, or a function that makes one; Adam at
      0.001 if not given.
  """
  options = {methods.setting_name(name): value for name, value in options.items()}
  settings: Collection[str] = ()
  if method is None or method in METHODS:
    _check_options(METHODS[:2] if method is None else [method], options)
  else:
    settings = _check_named(method, options, {"loss": loss, "inner": inner, "training": training})
  if isinstance(model, str):
    if model not in nets.NETS:
      raise ValueError(f"the model is {model!r}; give a tf.keras.Model, a function that makes one, "
                       f"or the name of a net: {', '.join(nets.NETS)}. "
                       f"{gin_files.nearest(model, nets.NETS)}")
    image_size = image_size or nets.NETS[model].image_size
    model = nets.maker(model)
  backbone = model if isinstance(model, own_model.Backbone) else own_model.Backbone(model, head)
  chosen = transform
  if chosen is None:
    shape: Sequence[int] = backbone.image_shape or (image_size or _SIZE, image_size or _SIZE, 3)
    height, width, channels = shape
    if height != width:
      raise ValueError(f"The model takes images {list(shape)}; the suite makes square ones. Give a "
                       "transform, or a model of square images.")
    if image_size is not None and image_size != height:
      raise ValueError(f"image_size is {image_size}, but the model takes images {list(shape)}. "
                       "Leave image_size out.")
    chosen = image_ops.Plain(size=height, channels=channels)
  layers = [augment] if callable(augment) else list(augment)
  if layers:
    chosen = image_ops.Augmented(chosen, (seeded_layers.LayerOp(*layers),))
  optimizer = options.get(_OPTIMIZER)
  is_named = isinstance(optimizer, str) and _OPTIMIZER in settings  # As of NEVIS'22's learners.
  if optimizer is not None and not is_named and not isinstance(optimizer, _OF_STEPS):
    optimizers.own(optimizer, "suite.learner's optimizer")  # Refuses anything else at once.
  return OwnLearner(backbone, method, chosen, loss, inner, training, options)


def check_model(label: str, model: Any) -> None:
  """Refuses a model that is a learner, too: the suite would train its net, and not by its methods.
  """
  methods = [name for name in ("begin", "learn") if hasattr(model, name)]
  if methods:
    raise ValueError(
        f"Learner {label!r} is a Keras model that has {' and '.join(methods)}, which nothing would "
        "call: a model is trained by the suite's methods. Give a class that holds the model, "
        "self.net, and has begin, learn and predict (docs/own/method.md).")


def made(label: str, make: Callable[[], Any], delivery: str) -> Any:
  """Calls what makes a learner, and makes one of a Keras model or of what `learner` returned."""
  one = make()
  if isinstance(one, OwnLearner):
    return one.make(delivery)
  if own_model.is_model(one):
    check_model(label, one)
    return learner(make).make(delivery)
  if one is None:
    raise ValueError(f"Learner {label!r} is a function that returns None; it must return a "
                     "learner.")
  return one


def _check_named(name: str, options: Mapping[str, Any], others: Mapping[str, Any]
                 ) -> Collection[str]:
  """Returns the settings of a method under any protocol; refuses others, and what it does not take.
  """
  method = methods.find(str(name))
  if method is None:
    allowed = sorted({*METHODS, *(one.name for one in methods.load())})
    raise ValueError(f"suite.learner has no method {name!r}; allowed are {', '.join(METHODS)}, and "
                     f"those of suite list --methods. {gin_files.nearest(str(name), allowed)}")
  builds = [methods.build_of(method, protocol) for protocol in method.protocols]
  if not any(build.takes_model for build in builds):
    raise ValueError(f"The method {name!r} makes a network of its own and takes no model. Run it "
                     f"by name: suite.run(RUN, learners=[{name!r}]), RUN of suite list.")
  every = {key: one for build in builds for key, one in build.settings.items()}
  _check_size(every, options)
  if _OPTIMIZER in options and any(build.is_gradient for build in builds):
    options = {key: value for key, value in options.items() if key != _OPTIMIZER}
  methods.bindings(every, options, f"suite.learner(method={name!r})")
  given = [key for key, value in others.items() if value is not None]
  if given:
    raise ValueError(f"suite.learner(method={name!r}) takes no {given[0]}, which is for "
                     f"{', '.join(METHODS)}. Leave it out.")
  return every


def _check_options(allowed: Sequence[str], options: Mapping[str, Any]) -> None:
  """Refuses a setting that none of the methods has."""
  classes: dict[str, Any] = {
      FINETUNE: gradient.GradientLearner, PROTONET: protonet.ProtoNet, MAML: maml.Maml,
      PRETRAIN_TUNE: pretrain_tune.PretrainTune}
  known = {name for method in allowed
           for name in list(inspect.signature(classes[method].__init__).parameters)[1:]}
  known.add(_OPTIMIZER)
  _check_size(known, options)
  unknown = [name for name in options if name not in known]
  if unknown:
    raise ValueError(f"suite.learner(method={' or '.join(map(repr, allowed))}) has no setting "
                     f"{unknown[0]!r}; it has {', '.join(sorted(known))}. "
                     f"{gin_files.nearest(unknown[0], known)}")


def _check_size(known: Collection[str], options: Mapping[str, Any]) -> None:
  """Refuses the size of images under the name of a setting that the method does not have."""
  if "size" in options and "size" not in known:
    raise ValueError("suite.learner takes the height and width of images as image_size= "
                     f"({options['size']!r} was given as size=, and this method has no setting "
                     "size).")
