# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite compare`: a run file of a user's data, methods and net, which `suite run` runs.

All that is compared stands in that file: `suite run FILE --seeds 0,1,2` gives the same numbers. A
net that methods train is trained by Adam, as by `suite.learner`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import inspect
import pathlib
import re
import tempfile
from typing import Any

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import methods
from suite.contracts import descriptions
from suite.data.own import named_data
from suite.data.sequences import sequences
from suite.data.streams import buckets
from suite.data.streams import timeline_buckets
from suite.models.own import own_model
from suite.running import nets
from suite.running import own_files

_SIDE = 32  # Of the images of nets with random weights.
PROTOCOLS = (descriptions.INCREMENTAL, descriptions.CLEAR, descriptions.FLUID)
_TASKS = 5
_SHELVES = tuple(f"gin/learners/{name}.gin" for name in ("encoder", "gradient", "statistics"))
# What a comparison has where nobody says otherwise, if a method reads it.
_DEFAULTS = {"AUGMENTED": "%TRANSFORM", "EPOCHS": "5", "MEMORY": "200", "CHANNELS": "3"}
_UPDATES, _RECORDS = "gin/data/fluid_update.gin", 10  # Of a sequence: as many updates and records.


# Module that a run file names -> where it is.
_HOMES = {
    "experiment": "suite", "image_ops": "suite.data.images", "named_data": "suite.data.own",
    "sequences": "suite.data.sequences", "buckets": "suite.data.streams",
    "timeline_buckets": "suite.data.streams", "gradient": "suite.learners",
    "statistics_learner": "suite.learners", "conv4": "suite.models", "resnet": "suite.models",
    "vgg": "suite.models", **dict.fromkeys(PROTOCOLS, "suite.protocols"),
    "nets": "suite.running", "own_files": "suite.running",
    "optimizers": "suite.training.gradient"}


@dataclasses.dataclass(frozen=True)
class Net:
  """What a net binds in a run file, and the size of its images."""

  bindings: Mapping[str, str]
  image_size: int = _SIDE


@dataclasses.dataclass(frozen=True)
class Comparison:
  """What a user asks to compare.

  Attributes:
    data: a folder, a table or the name of a prepared data set, see `named_data`.
    methods: names of `suite list --methods`, and "my.py:Mine".
    protocol: one of `PROTOCOLS`.
    net: one of `nets.NETS`, "my_net.py:make" or "model.keras"; `head`: "new" or "replace".
    tasks, epochs, image_size: None: by the data, the protocol and the net.
    settings: bindings by name, of methods too: {"memory_size": "500"}.
  """

  data: str
  methods: Sequence[str]
  protocol: str = PROTOCOLS[0]
  net: str = "conv4"
  head: str = "new"
  tasks: int | None = None
  epochs: int | None = None
  image_size: int | None = None
  settings: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Prepared:
  """A checked comparison: the run file's text, the labels of its methods, a line about it."""

  text: str
  labels: Sequence[str]
  about: str


def prepare(asked: Comparison, command: str) -> Prepared:
  """Reads the data, makes the net and looks at the methods; then writes the run file's text.

  Args:
    asked: what to compare.
    command: how the user asked for it.

  Raises:
    ValueError: it cannot be run; one line.
  """
  own = [own_files.find(name) for name in asked.methods if own_files.is_file(name)]
  named = methods.named([name for name in asked.methods if not own_files.is_file(name)],
                        asked.protocol)
  learners, of_learners = _learners(asked.protocol, named, own)
  data, of_data = _data(asked)
  net, of_net = _net(asked)
  asked_for = {**({"EPOCHS": f"{asked.epochs}"} if asked.epochs else {}), **_settings(asked, named)}
  bindings = {
      "experiment.run.protocol": f"@{asked.protocol}.run",
      "experiment.run.learners": "{" + ", ".join(
          f"{label!r}: {made}" for label, made in learners.items()) + "}",
      **of_data, **_DEFAULTS, **net.bindings, "IMAGE_SIZE": f"{net.image_size}", **of_learners,
      **asked_for}
  lines = [f"{name} = {value}" for name, value in bindings.items()]
  used = {name for line in lines for name in re.findall(r"(?:^|[@/])(\w+)\.[a-zA-Z]", line)}
  imports = [f"from {home} import {name}" for name, home in _HOMES.items() if name in used]
  shelves = dict.fromkeys([methods.DEFAULTS, *_SHELVES, *methods.shelves(named, asked.protocol),
                           *[_UPDATES] * (asked.protocol == descriptions.FLUID)])
  imports += ["import tensorflow as tf"] if "tf" in used else []
  about = f"{data}; {of_net}"
  text = "\n".join([
      f"# {about}.", f"# {command}", "from __gin__ import dynamic_registration", *sorted(imports),
      *(f"include '{shelf}'" for shelf in shelves), "", *lines, ""])
  text = _without_unread(text, set(_DEFAULTS) - set(asked_for))
  return Prepared(text, list(learners), about)


def _without_unread(text: str, names: Collection[str]) -> str:
  """The run file without the macros of these names that no learner reads, which gin refuses."""
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "made.gin")
    path.write_text(text, encoding="utf-8")
    read = gin_bindings.reached(gin_files.scan([path], checks=False).history) or set()
  unread = {name for name in names if (name, gin_bindings.MACRO, "value") not in read}
  return "".join(line for line in text.splitlines(keepends=True)
                 if line.partition(" = ")[0] not in unread)


def _learners(protocol: str, named: Sequence[methods.Method], own: Sequence[own_files.Found]
              ) -> tuple[dict[str, str], dict[str, str]]:
  """The learners by their labels, and their bindings; those of a user come last."""
  learners = {one.name: f"%{one.macro}" for one in named}
  bindings: dict[str, str] = {}
  for place, found in enumerate(own):
    is_taken = found.name.casefold() in map(str.casefold, learners)
    label = f"{found.path.stem}_{found.name}" if is_taken else found.name
    if found in own[:place] or label in learners:
      raise gin_files.ConfigError(f"{found.text} is given twice, or another method has its name. "
                                  "Give each once, with a name that no other has.")
    learners[label], further = _own(label, found, descriptions.SHIPPED[protocol].delivery)
    bindings.update(further)
  scopes = [name.rpartition("/")[0] for name in bindings if name.endswith("Learner.objective")]
  for build in (methods.build_of(one, protocol) for one in named):
    scopes += [build.scope] if build.is_gradient and not build.has_optimizer else []
  for scope in scopes:
    bindings[f"{scope}/gradient.GradientLearner.optimizer"] = "@optimizers.Keras()"
    bindings[f"{scope}/gradient.GradientLearner.learning_rate"] = "None"
    bindings["optimizers.Keras.make"] = "@tf.keras.optimizers.Adam"
  return learners, bindings


def _data(asked: Comparison) -> tuple[str, dict[str, str]]:
  """What the data is, in words, and the bindings that read it; refuses what the protocol refuses.
  """
  place = pathlib.Path(asked.data).expanduser()
  path = str(place.resolve()) if place.exists() else asked.data
  title = place.name or asked.data
  if asked.tasks is not None and asked.protocol != descriptions.INCREMENTAL:
    raise gin_files.ConfigError("--tasks divides classes for --protocol incremental; under "
                                f"{asked.protocol} the data says what comes when. Leave it out.")
  if asked.protocol == descriptions.INCREMENTAL:
    pair = named_data.pair(path)
    num = asked.tasks or max(2, min(_TASKS, pair[0].num_classes // 2))
    made = buckets.of_classes(pair, num_tasks=num, seed=None)
    sets = [(one.train, one.test) for one in made]
    return (f"{title}: {made.task.num_classes} classes in {num} tasks, {_counts(sets)}", {
        "incremental.run.buckets": "@buckets.of_classes()",
        "buckets.of_classes.data": "@named_data.pair()", "named_data.pair.path": repr(path),
        "buckets.of_classes.num_tasks": f"{num}", "buckets.of_classes.seed": "None"})
  if asked.protocol == descriptions.CLEAR:
    if place.exists():
      made = buckets.of(named_data.periods(path))
      found = {"clear.run.buckets": "@buckets.of()", "buckets.of.parts": "@named_data.periods()",
               "named_data.periods.path": repr(path)}
    else:
      made = timeline_buckets.load(path)
      found = {"clear.run.buckets": "@timeline_buckets.load()",
               "timeline_buckets.load.name": repr(path)}
    sets = [(one.train, one.test) for one in made]
    words = f"{title}: {made.task.num_classes} classes in {len(sets)} buckets, {_counts(sets)}"
    return words, found
  base, images = named_data.base(path), named_data.sequence_images(path)
  sequence = sequences.of(images, base=base, size=2)
  num = max(1, len(sequence) // _RECORDS)
  return (f"{title}: {len(sequence)} samples of {sequence.num_classes} classes, "
          f"{base.num_classes} of them known from {base.size} images before", {
              "fluid.run.sequence": "@sequences.of()", "fluid.run.base": "@named_data.base()",
              "sequences.of.images": "@named_data.sequence_images()",
              "sequences.of.base": "@named_data.base()", "sequences.of.size": "%IMAGE_SIZE",
              "COUNT": f"{num}", "fluid.Blocks.record_every": f"{num}",
              "named_data.base.path": repr(path), "named_data.sequence_images.path": repr(path)})


def _counts(sets: Sequence[tuple[Any, Any]]) -> str:
  trained, tested = (sum(one[i].size for one in sets) for i in (0, 1))
  return f"{trained} training and {tested} test images"


def _net(asked: Comparison) -> tuple[Net, str]:
  """The net, and its description; refuses one that makes no features."""
  if not own_files.is_file(asked.net):
    if asked.net not in nets.NETS:
      raise gin_files.ConfigError(f"There is no net {asked.net!r}: --net takes "
                                  f"{', '.join(nets.NETS)}, NET.py:FUNCTION and MODEL.keras.")
    if asked.head != "new":
      raise gin_files.ConfigError(f"--head is for nets of yours, and {asked.net} makes features. "
                                  "Leave it out.")
    known = nets.NETS[asked.net]
    if known.package:
      try:
        nets.weights_file(asked.net)
      except nets.MissingWeightsError as error:
        raise gin_files.ConfigError(str(error)) from error
    size = asked.image_size or (known.image_size if known.package else _SIDE)
    home = asked.net if asked.net in _HOMES else "resnet"
    bindings = {"BACKBONE": f"@{home}.{asked.net}"}
    if known.package:
      bindings = {"BACKBONE": "@nets.maker()", "nets.maker.name": repr(asked.net)}
    elif home == "resnet":
      bindings[f"resnet.{asked.net}.stem"] = repr(nets.stem(size))
    weights = "pretrained" if known.package else "random weights"
    return Net(bindings, size), f"{asked.net} ({weights}) at {size} x {size} pixels"
  place = own_files.absolute(asked.net)
  made = own_files.backbone(place, asked.head)
  default = asked.image_size or Net({}).image_size
  height, width, channels = shape = made.image_shape or (default, default, 3)
  if height != width:
    raise gin_files.ConfigError(f"{asked.net} takes images {list(shape)}; the suite makes square "
                                "ones. Give a net of square images.")
  if asked.image_size not in (None, height):
    raise gin_files.ConfigError(f"{asked.net} takes images of {height} x {width} pixels. Leave "
                                "--image_size out.")
  try:
    num = own_files.check_net(made, shape, asked.net)
  except ValueError as error:
    advice = "Give --head replace, which leaves its last layer out."
    raise gin_files.ConfigError(str(error).replace(own_model.ADVICE_ON_HEADS, advice)) from error
  bindings = {"BACKBONE": "@own_files.backbone()", "own_files.backbone.file": repr(place),
              "own_files.backbone.head": repr(asked.head), "CHANNELS": f"{channels}",
              "image_ops.Plain.channels": f"{channels}"}
  return (Net(bindings, height),
          f"{asked.net} at {height} x {width} pixels, {num} features")


def _own(label: str, found: own_files.Found, delivery: str) -> tuple[str, dict[str, str]]:
  """The value of a learner in a run file, and its bindings."""
  kind, text = own_files.kind_of(found), repr(own_files.absolute(found.text))
  part = {f"{label}/own_files.made.file": text}
  if kind in (own_files.OBJECTIVE, own_files.REPLAY):
    scope = f"replay/{label}" if kind == own_files.REPLAY else label
    return f"@{scope}/gradient.GradientLearner", {
        f"{scope}/gradient.GradientLearner.objective": f"@{label}/own_files.made()", **part}
  if kind == own_files.STATISTIC:
    return f"@{label}/statistics_learner.StatisticsLearner", {
        f"{label}/statistics_learner.StatisticsLearner.statistic": f"@{label}/own_files.made()",
        **part}
  asks = inspect.signature(found.value).parameters
  wants = {"transform": "%TRANSFORM", "net": "%BACKBONE", "features": "%FEATURES"}
  given = {name: value for name, value in wants.items()
           if name == "transform" or name in asks or name == "net" and "backbone" in asks}
  return f"@{label}/own_files.learner", {
      f"{label}/own_files.learner.{name}": value
      for name, value in {"file": text, "delivery": repr(delivery), **given}.items()}


def _settings(asked: Comparison, named: Sequence[methods.Method]) -> dict[str, str]:
  """The bindings of --set: macros and parameters as they are, settings of methods by theirs."""
  found: dict[str, str] = {}
  for name, value in asked.settings.items():
    if "." in name or name.isupper():
      found[name] = value
      continue
    key = methods.setting_name(name)
    binds = {methods.build_of(one, asked.protocol).settings[key].binds for one in named
             if key in methods.build_of(one, asked.protocol).settings}
    if not binds:
      raise gin_files.ConfigError(f"No method of --methods has a setting {name!r}. "
                                  f"{methods.owners(name) or 'suite show METHOD lists them.'}")
    found.update(dict.fromkeys(sorted(binds), value))
  return found
