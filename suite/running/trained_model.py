# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a run has trained, as a model for use elsewhere: `result.model`, `suite export`.

A finished run is opened as it would be resumed: its protocol begins the learner with the run's
tasks, restores its last state, finds no event left, and returns. What is then taken out:

  classifier   nevis, clear, fluid: raw images [N, H, W, C] to scores [N, K] of classes
  few-shot     cfsl: the meta-trained initial net with its adaptation; support sets and raw images
               to scores of the classes of the support sets
  encoder      pretrain: raw images to features [N, D]

Scores are logits. `TrainedModel.save` writes a SavedModel, which holds the preparation of images
and needs TensorFlow alone, or, of nets of Keras layers, a .keras file, which takes prepared images.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import functools
import os
import pathlib
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import ledger
from suite.compute import private_tensorflow
from suite.configs import gin_files
from suite.contracts import deliveries
from suite.contracts import learner as learner_lib
from suite.metrics import schema
from suite.models import conv4
from suite.models.own import own_model
from suite.protocols import cfsl
from suite.protocols import run_state
from suite.reporting import run_dir
from suite.reporting import run_writer
from suite.running import launch
from suite.state import predictions
from suite.state import run_identity
from suite.state import snapshots
from suite.state import weight_store
from suite.system import folders
from suite.system import sealed_json
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.gradient import class_heads

ABOUT = "model.json"
_CLASSIFIER, _FEW_SHOT, _ENCODER = "classifier", "few-shot classifier", "encoder"
_PYTHON = ("PyFunc", "PyFuncStateless", "EagerPyFunc")

# Calls `experiment.run` with its argument `instead`: protocol, learners, seed and distribution.
Open = Callable[[Callable[..., str]], Any]

_OTHER_FILES = (".h5", ".hdf5", ".pb", ".tflite", ".onnx", ".pt", ".pth", ".npz", ".zip")


class ExportError(ValueError):
  """Says in one line why there is no model to take out."""


class _Traced(NamedTuple):
  """A compiled function, and its arguments and graph for each kind of examples."""

  function: Any
  graphs: list[tuple[list[tf.TensorSpec], Any]]


class TrainedModel:
  """A learner's answers after a run; a call with raw images, uint8 [N, H, W, C], gives scores.

  Images of any height and width are prepared as those of the run. A few-shot classifier is called
  with support images [S, N, H, W, C], support labels int64 [S, N] and images [T, H, W, C].

  Attributes:
    about: kind, task, class names, shape of prepared images, the run's command; plain values.
    reason: why there is no .keras file; "" if there can be one.
  """

  def __init__(self, answer: _Traced, about: Mapping[str, Any], net: tf.keras.Model | None,
               reason: str, held: Any):
    self._answer, self._graphs = answer
    self.about, self.reason, self._net, self._held = dict(about), reason, net, held

  def __call__(self, *arguments: Any) -> tf.Tensor:
    return self._answer(*map(tf.convert_to_tensor, arguments))

  @property
  def class_names(self) -> list[str]:
    """Names of the classes, in the order of the scores; their numbers, if they have no names."""
    return list(self.about.get("class_names", []))

  @property
  def keras(self) -> tf.keras.Model:
    """Prepared images [N, S, S, C], pixels 0..255, to scores or features, of Keras layers alone."""
    if self._net is None:
      raise ExportError(f"{self.about['learner']} has no .keras file: {self.reason} Give a folder: "
                        "a SavedModel has any learner's answers.")
    return self._net

  def save(self, place: str | os.PathLike) -> str:
    """Writes a .keras file, or a SavedModel in a new or empty folder; returns what was written."""
    path = pathlib.Path(place)
    if path.suffix == ".keras":
      folders.make(path.resolve().parent, "--out")
      self.keras.save(path)
      return (f"{path}: prepared images {self.about['prepared']}, pixels 0..255, to "
              f"{self.about['gives']}. In Python: "
              f"model = tf.keras.models.load_model({str(path)!r})")
    if path.suffix.lower() in _OTHER_FILES:
      raise ExportError(f"{path}: a model is written as {path.with_suffix('.keras')}, or as a "
                        f"SavedModel in the folder {path.with_suffix('')}. Give one of them.")
    folders.make(path, "--out")
    if any(path.iterdir()):
      raise ExportError(f"{path} is not empty. Give another folder.")
    module = tf.Module()
    module.__call__ = self._answer
    module.read = list({id(v): v for _, graph in self._graphs for v in graph.graph.variables
                        }.values())  # A SavedModel holds what is reached from the module.
    names = tf.constant(self.class_names, tf.string) if self.class_names else None
    if names is not None:
      module.class_names = tf.function(lambda: names, input_signature=[])
    arguments = self._graphs[0][0]

    def serve(**given: tf.Tensor) -> dict[str, tf.Tensor]:
      scores = self._answer(*(given[spec.name] for spec in arguments))
      if self.about["kind"] == _ENCODER:
        return {"features": scores}
      found = {"scores": scores, "class": tf.argmax(scores, axis=-1)}
      return found if names is None else {**found, "name": tf.gather(names, found["class"])}

    served = tf.function(serve, autograph=False).get_concrete_function(
        **{spec.name: spec for spec in arguments})
    try:
      tf.saved_model.save(module, str(path), signatures=served)
    except (AssertionError, ValueError) as error:
      raise ExportError(f"{self.about['learner']} cannot be exported: "
                        f"{gin_files.first_line(error)}") from error
    snapshots.save_text(path / ABOUT, sealed_json.text(self.about))
    return (f"{path}: {self.about['takes']} to {self.about['gives']}. In Python: "
            f"model = tf.saved_model.load({str(path)!r})")


def of_workdir(place: str | os.PathLike, name: str | None = None, *, task: str = "",
               open_objects: Callable[[pathlib.Path], Open | None] = lambda folder: None
               ) -> TrainedModel:
  """The model of a learner of a finished run.

  Args:
    place: a work directory, of a run or of a table.
    name: of the learner, "er", or the end of its folder, "cell/er"; None: the only one.
    task: of separate tasks, the key of the one to answer; "": the last one.
    open_objects: what opens a run of Python objects, by its work directory; None if that is not
      known, as in another process.
  """
  folder = _folder_of(pathlib.Path(place), name)
  workdir, learner_name = run_identity.home(folder), run_identity.label(folder)
  if not (folder / run_dir.SUMMARY).exists():
    raise ExportError(f"{folder} has not finished. Run the same command again to finish it: "
                      f"{run_dir.read_json(workdir / run_dir.ENVIRONMENT).get('command', '')}")
  opens = open_objects(folder.parent)
  if opens is None:
    config = workdir / run_dir.CONFIG
    if config.read_text(encoding="utf-8").startswith("# Python objects"):
      raise ExportError(
          f"{folder} is a run of Python objects, which only the program has that made them. Call "
          "suite.run there with the same arguments, which computes nothing again, and "
          f"result.model({learner_name!r}).save(DIR).")
    opens = functools.partial(launch.open_stored, workdir)
  made: list[TrainedModel] = []

  def take(protocol: Callable[..., Any], learners: Mapping[str, Callable[[], Any]], seed: int,
           distribution: distribution_lib.Distribution, budget: ledger.Budget | None = None) -> str:
    state = run_state.RunState(folder, run_writer.Follower(folder), name=learner_name, seed=seed,
                               distribution=distribution, follows=True, budget=budget)
    learner = learners[learner_name]()
    protocol(learner, state=state)
    made.append(of_learner(learner, state, task, workdir))
    return ""

  opens(take)
  return made[0]


def _folder_of(place: pathlib.Path, name: str | None) -> pathlib.Path:
  """The folder of one learner's run in a directory."""
  if not place.is_dir():
    raise FileNotFoundError(f"No such directory: {place}. Give the workdir of a run (./runs/RUN "
                            "when none was given).")
  found = run_dir.find(place)
  labels = dict(zip(run_dir.labels(found), found))
  fitting = [one for one in found if name is None or one.as_posix().endswith(f"/{name}")]
  if len(fitting) == 1:
    return fitting[0]
  known = ", ".join(labels)
  if not fitting:
    raise ExportError(f"{place} has no learner {name!r}; it has {known}. "
                      f"{gin_files.nearest(str(name), labels)}")
  raise ExportError(f"{place} has {len(fitting)} runs{f' of {name!r}' if name else ''}; name one "
                    f"with --learner, in Python result.model(NAME): {known}.")


def of_learner(learner: Any, state: run_state.RunState, task: str, workdir: pathlib.Path
               ) -> TrainedModel:
  """The model of a learner that has been restored from the state of a finished run.

  Raises:
    ExportError: its answers cannot be computed in one graph, or it has no such task.
  """
  environment = run_dir.read_json(workdir / run_dir.ENVIRONMENT)
  about: dict[str, Any] = {
      "learner": state.name, "class": type(learner).__name__, "run": str(workdir),
      "command": environment.get("command", ""), "suite": environment.get("suite", ""),
      "prepared": list(learner.transform.shape)}
  try:
    if state.delivery == deliveries.EPISODES:
      return _few_shot(learner_lib.adapted(learner, learner_lib.EpisodicLearner), state, about)
    if state.delivery == deliveries.PORTIONS:
      return _encoder(learner_lib.adapted(learner, learner_lib.PretrainingLearner), state, about)
    contract = (learner_lib.SequenceLearner if state.delivery == deliveries.SEQUENCE
                else learner_lib.Learner)
    return _classifier(learner_lib.adapted(learner, contract), state, about, task)
  except ExportError:
    raise
  except (NotImplementedError, TypeError, ValueError, RuntimeError, tf.errors.OpError) as error:
    raise ExportError(f"{state.name} ({about['class']}) cannot be exported: "
                      f"{gin_files.first_line(error)}") from error


def _classifier(learner: Any, state: run_state.RunState, about: dict[str, Any], key: str
                ) -> TrainedModel:
  """The answers to one task."""
  known = {task.key: task for task in state.begun}
  if key and key not in known:
    raise ExportError(f"The run has no task {key!r}; it has {', '.join(known)}. "
                      f"{gin_files.nearest(key, known)}")
  task = known[key] if key else state.begun[-1]
  learner.begin(task, state.context())
  # The names in the last predictions of the task, or of the summary; else numbers.
  saved = (predictions.load(state.folder / record[schema.PREDICTIONS]).class_names
           for record in reversed(state.records)
           if record.get(schema.TASK_KEY) == task.key and record.get(schema.PREDICTIONS))
  summary = run_dir.read_json(state.folder / run_dir.SUMMARY)
  names = list(next(filter(None, saved), None) or summary.get("class_names")
               or map(str, range(task.num_classes)))
  about.update(kind=_CLASSIFIER, task=task.key, task_kind=task.kind, class_names=names,
               takes=_takes(learner), gives=f"scores of {task.num_classes} classes")
  if len(known) > 1:
    about["tasks"] = list(known)
  is_known = state.known_classes

  def answer(images: tf.Tensor) -> tf.Tensor:
    prepared = learner.transform.evaluate(images)
    if state.delivery == deliveries.SEQUENCE:
      scores = learner.answer(learner.encode(prepared))
    else:
      scores = learner.predict(prepared)
    scores = tf.cast(scores, tf.float32)
    # A class whose label never came takes no part, as in the run.
    return scores if is_known is None or all(is_known) else tf.where(is_known, scores, -np.inf)

  net, reason = learner.keras_model(), ""
  if net is None:
    reason = f"its answers are not those of one net of Keras layers ({about['class']})."
  return TrainedModel(_traced(answer, _images(learner), state.name), about, *_plain(net, reason),
                      held=(learner, state))


def _few_shot(learner: Any, state: run_state.RunState, about: dict[str, Any]) -> TrainedModel:
  """The net as an episode begins, which adapts to support sets before it answers."""
  last, num_classes = state.records[-1], state.begun[-1].num_classes
  sets, rows = last[schema.NUM_SUPPORT_SETS], last[schema.WAY] * last[schema.SHOT]
  graphs, context = episode_graphs.Graphs(learner, num_classes), state.context()
  models = [context.store.load(weight_store.Entry(event, cfsl.MODEL))
            for event in last.get(schema.MODELS) or ()]

  def encode(images: tf.Tensor) -> tf.Tensor:
    return learner.encode(learner.transform.evaluate(images))

  def answer(support_images: tf.Tensor, support_labels: tf.Tensor, images: tf.Tensor) -> tf.Tensor:
    flat = tf.reshape(support_images, tf.concat([[-1], tf.shape(support_images)[2:]], 0))
    codes = encode(tf.ensure_shape(flat, [sets * rows, None, None, support_images.shape[-1]]))
    codes = tf.reshape(codes, [sets, rows, *codes.shape[1:]])
    adapted = inner_loop.over_sets(
        lambda s, before: learner.adapt(before, codes[s], support_labels[s]),
        learner.initial_state(num_classes), sets, unrolled=sets == 1)

    def logits(images: tf.Tensor) -> tf.Tensor:
      return tf.cast(learner.logits(adapted, encode(images)), tf.float32)

    if not one_by_one:
      return logits(images)
    return tf.map_fn(lambda image: logits(image[None])[0], images, fn_output_signature=tf.float32)

  def specs(num_targets: int | None) -> list[list[tf.TensorSpec]]:
    return [[tf.TensorSpec([sets, rows, None, None, channels], tf.uint8, "support_images"),
             tf.TensorSpec([sets, rows], tf.int64, "support_labels"),
             tf.TensorSpec([num_targets, None, None, channels], tf.uint8, "image")]
            for channels in (3, 1)]

  # Nets that count their images while they are traced answer them singly, or, if answers depend on
  # each other, as many at a time as an episode of the run had.
  one_by_one, num_targets = False, None
  try:
    tf.function(answer, autograph=False).get_concrete_function(*specs(None)[0])
  except (ValueError, TypeError):
    one_by_one = not learner.transductive
    num_targets = last[schema.SEEN] // last[schema.NUM_TASKS] if learner.transductive else None
  fn: Callable[..., tf.Tensor] = answer
  arguments = specs(num_targets)
  if models:
    graphs.load(models[0])
  if len(models) > 1:  # Their logits are averaged: each is a graph with its weights as constants.
    members: dict[int, list[Any]] = {3: [], 1: []}
    for weights in models:
      graphs.load(weights)
      for spec in arguments:
        graph = tf.function(answer, autograph=False).get_concrete_function(*spec)
        members[spec[-1].shape[-1]].append(
            private_tensorflow.with_constants(graph))

    def mean(*given: tf.Tensor) -> tf.Tensor:
      every = [member(*given)[0] for member in members[given[-1].shape[-1]]]
      return tf.reduce_mean(tf.stack(every), axis=0)

    fn = mean

  images = "raw images" if num_targets is None else f"{num_targets} raw images"
  about.update(
      kind=_FEW_SHOT, support_sets=sets, images_of_a_support_set=rows, models=len(models) or 1,
      takes=f"{sets} support sets of {rows} raw images with labels, and {images}",
      gives=f"scores of the {num_classes} classes of the support sets: the meta-trained initial "
      "net adapts to them, then answers")
  return TrainedModel(_traced(fn, arguments, state.name), about, None,
                      "its net adapts to support sets before it answers.", held=(learner, state))


def _encoder(learner: Any, state: run_state.RunState, about: dict[str, Any]) -> TrainedModel:
  """The pretrained encoder."""
  encoder = learner.encoder
  about.update(kind=_ENCODER, task=state.begun[-1].key if state.begun else "", class_names=[],
               takes=_takes(learner), gives=f"{encoder.output_shape[-1]} features")
  size = encoder.input_shape[1]

  def answer(images: tf.Tensor) -> tf.Tensor:
    prepared = tf.cast(learner.transform.evaluate(images), tf.float32)
    return tf.cast(encoder(tf.ensure_shape(prepared, [None, size, size, None]), training=False),
                   tf.float32)

  return TrainedModel(_traced(answer, _images(learner), state.name), about, *_plain(encoder, ""),
                      held=(learner, state))


def _takes(learner: Any) -> str:
  shape = tuple(learner.transform.shape)
  if len(shape) == 1:
    return f"features float32 [N, {shape[0]}]"
  return "raw images uint8 [N, H, W, 3] or [N, H, W, 1] of any size"


def _images(learner: Any) -> list[list[tf.TensorSpec]]:
  """The kinds of examples that a learner's transform takes: color and gray, or features."""
  shape = tuple(learner.transform.shape)
  if len(shape) == 1:
    return [[tf.TensorSpec([None, *shape], tf.float32, "features")]]
  return [[tf.TensorSpec([None, None, None, channels], tf.uint8, "image")] for channels in (3, 1)]


def _traced(answer: Callable[..., tf.Tensor], specs: Sequence[Sequence[tf.TensorSpec]], name: str
            ) -> _Traced:
  """The function, compiled for each list of arguments that it takes."""
  compiled, errors = tf.function(answer, autograph=False), []
  graphs = []
  for spec in specs:
    try:
      graphs.append((list(spec), compiled.get_concrete_function(*spec)))
    except (ValueError, TypeError, tf.errors.OpError) as error:  # Of gray images, say.
      errors.append(error)
  if not graphs:
    raise errors[0]
  for _, graph in graphs:
    definition = graph.graph.as_graph_def()
    ops = {node.op for nodes in (definition.node, *(
        function.node_def for function in definition.library.function)) for node in nodes}
    if ops & set(_PYTHON):
      raise ExportError(f"{name} cannot be exported: its answers call Python functions, which no "
                        "file of a model holds.")
  return _Traced(compiled, graphs)


def _plain(net: tf.keras.Model | None, reason: str) -> tuple[tf.keras.Model | None, str]:
  """The net of Keras's own layers alone, which load without the suite; or why there is none."""
  if net is None:
    return None, reason
  every = [layer for layer in net.submodules if isinstance(layer, tf.keras.Model)]
  subclassed = [type(layer).__name__ for layer in every if not (
      own_model.is_functional(layer) or isinstance(layer, tf.keras.Sequential))]
  if subclassed:
    return None, (f"its net has a subclass of tf.keras.Model, {subclassed[0]}, which Keras cannot "
                  "load alone.")
  plain = tf.keras.models.clone_model(net, clone_function=_plain_layer)
  own_model.take_trainable(plain, net)
  plain.set_weights(net.get_weights())
  if own_model.has_layers_of_users(net):
    try:
      own_model.check_alike(plain, net, net.input_shape[1:], "its net")
    except ValueError as error:
      return None, str(error)
  ours = sorted({type(layer).__name__ for layer in plain.submodules
                 if isinstance(layer, tf.keras.layers.Lambda)
                 or type(layer).__module__.startswith("suite.")})
  if ours:
    return None, f"its net has layers that Keras cannot load alone: {', '.join(ours)}."
  return plain, ""


def _plain_layer(layer: tf.keras.layers.Layer) -> tf.keras.layers.Layer:
  """A copy of a layer; of the suite's own those that equal Keras's become these."""
  if isinstance(layer, tf.keras.Model):  # Nested: Keras would copy it whole.
    return tf.keras.models.clone_model(layer, clone_function=_plain_layer)
  if isinstance(layer, conv4.ReluMaxPool):
    return tf.keras.Sequential([tf.keras.layers.ReLU(), tf.keras.layers.MaxPooling2D(2)],
                               name=layer.name)
  if isinstance(layer, class_heads.WideDense):
    return tf.keras.layers.Dense.from_config(layer.get_config())
  return own_model.copied_layer(layer)
