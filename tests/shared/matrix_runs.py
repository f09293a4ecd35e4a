# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The smallest run of a method under a protocol: a run file on the embedded digits.

`import matrix_runs`: setup.cfg has this folder on the tests' path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import json
import pathlib
import shutil
from typing import Any
from unittest import mock

import numpy as np
import safetensors_writer
import stopped_runs
import tensorflow as tf

from suite import experiment
from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger
from suite.configs import gin_parse
from suite.configs import methods
from suite.contracts import deliveries
from suite.contracts import rehearsal
from suite.data.streams import buckets as buckets_lib
from suite.data.streams import stream_entry
from suite.data.streams import stream_events
from suite.models.clip import architecture
from suite.models.clip import weight_files
from suite.running import dry_run
from suite.state import learner_state

LEARNER, SEED = "under_test", 5
_IMPORTS = """from __gin__ import dynamic_registration
import matrix_runs
from suite import experiment
from suite.data.digits import digits
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.learners import maml
from suite.learners import statistics_learner
from suite.learners import subspace_ensemble
from suite.models import conv4
from suite.models import mlp
from suite.models import vit
from suite.protocols import cfsl
from suite.protocols import clear
from suite.protocols import fluid
from suite.protocols import incremental
from suite.protocols import nevis
from suite.training.episodic import base_episodes
from suite.models.episodic import dense_attention
from suite.models.episodic import constellation
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.gradient import frozen_backbone
from suite.training.gradient import trainable_parts
from suite.training.gradient import trainer
from suite.training.memories import gss
"""

# Images of 8 x 8 pixels and a net of one convolution.
_ALL = """
TRANSFORM = @image_ops.Plain()
AUGMENTED = @image_ops.Plain()
image_ops.Plain.size = 8
BACKBONE = @conv4.conv4
conv4.conv4.filters = 8
conv4.conv4.blocks = 1
frozen_backbone.FrozenBackbone.backbone = @conv4.conv4
frozen_backbone.FrozenBackbone.size = 8
FEATURES = None
BATCH_SIZE = 16
EPOCHS = 3
RATE = 0.03
BUDGET_STEPS = 100
MER_BATCHES = 1
MER_WITHIN = 0.1
MEMORY = 100
KNN_SIZE = 300
RANPAC_SIZE = 16
ACIL_SIZE = 16
LORANPAC_SIZE = 64
LORANPAC_RANK = 32
RANDUMB_SIZE = 64
NUM_SUPPORT_SETS = 2
WAY = 2
SHOT = 2
NUM_TRAIN_CLASSES = 6
CHANNELS = 3
UPDATES = 0
IMAGE_SIZE = 8
WEIGHTS = None
base_episodes.BaseEpisodes.way = 4
base_episodes.BaseEpisodes.shot = 2
base_episodes.BaseEpisodes.targets = 2
base_episodes.BaseEpisodes.epochs = 1
base_episodes.BaseEpisodes.updates_per_epoch = 3
first_order/base_episodes.BaseEpisodes.updates_per_epoch = 3
"""
_PROTOCOLS = {
    "nevis": """
nevis.run.stream = @matrix_runs.stream_of_whole_batches()
matrix_runs.stream_of_whole_batches.stream = @digits.nevis_stream()
digits.nevis_stream.num_tasks = 2
digits.nevis_stream.max_train_images = 200
""",
    "clear": """
clear.run.buckets = @matrix_runs.of_whole_batches()
clear.run.validation_share = 0.1111
subspace_ensemble.SubspaceEnsemble.batch_size = 64
statistics_learner.StatisticsLearner.batch_size = 64
matrix_runs.of_whole_batches.buckets = @digits.buckets()
digits.buckets.num_buckets = %NUM_BUCKETS
NUM_BUCKETS = 2
RATE_FALLS_EVERY = 20
""",
    "incremental": """
incremental.run.buckets = @digits.class_buckets()
digits.class_buckets.num_tasks = 2
""",
    "fluid": """
fluid.run.sequence = @digits.sequence()
fluid.run.base = @digits.sequence_base()
fluid.run.blocks = @fluid.Blocks()
fluid.Blocks.record_every = 60
fluid.Blocks.block_size = 32
digits.sequence.num_samples = 80
STRATEGY = 'every'
COUNT = 35
EPOCHS = 10
INCOMING_BATCH = 8
REPLAY_BATCH = 8
""",
    "cfsl": """
cfsl.run.episodes_train = @train/digits.episodes()
cfsl.run.episodes_test = @test/digits.episodes()
cfsl.run.updates = %UPDATES
cfsl.run.updates_per_event = 15
cfsl.run.tasks_per_update = 1
inner_loop.InnerLoop.steps = 1
inner_loop.InnerLoop.rate = 0.2
maml_plus_plus/inner_loop.InnerLoop.rate = 0.2
anil/maml.Maml.parts = 1
boil/maml.Maml.parts = 1
high/embedding.Embedding.parts = 1
meta_schedules.MetaTraining.learning_rate = 0.01
CNAPS_RATE = 0.01
EPOCHS = 5
BATCH_SIZE = 256
RATE = 0.05
MEMORY = 50
dense_attention.DenseAttention.filters = 16
dense_attention.DenseAttention.stages = 1
dense_attention.DenseAttention.blocks = 1
dense_attention.AttentionHead.filters = 16
embedding.Embedding.momentum = 0.5
maml_plus_plus/meta_schedules.MetaTraining.multi_step_epochs = 0
maml_plus_plus/meta_schedules.MetaTraining.first_order_epochs = 0
functional_conv4.Conv4.blocks = 1
cfsl.run.test_episodes = 40
digits.episodes.way = %WAY
digits.episodes.shot = %SHOT
digits.episodes.targets = 2
digits.episodes.num_support_sets = %NUM_SUPPORT_SETS
digits.episodes.class_change_interval = %NUM_SUPPORT_SETS
digits.episodes.classes = (0, 1, 2, 3, 4, 5)
test/digits.episodes.split = 'test'
test/digits.episodes.classes = (6, 7, 8, 9)
"""}
# The last of a protocol's files are those that its settings begin with.
_INCLUDES = {"nevis": ("learners/nevis",), "clear": ("learners/clear",), "incremental": (),
             "fluid": ("learners/fluid", "data/fluid_update"),
             "cfsl": ("learners/cfsl",)}
# In place of images: the pixels as features, and a net of one hidden layer.
_FEATURES = """
TRANSFORM = @feature_set.Features()
AUGMENTED = @feature_set.Features()
feature_set.Features.size = 64
digits.buckets.as_features = True
digits.class_buckets.as_features = True
BACKBONE = @mlp.mlp
mlp.mlp.hidden = (16,)
"""
# FLUID's samples are images: a linear model of their pixels, but for a few methods.
_PIXELS = """
NET = @trainable_parts.head_only()
"""
_NEVIS_BASELINES = """
image_ops.Nevis.size = 8
image_ops.Nevis.flip_probability = 0.0
image_ops.Nevis.area = (0.9, 1.0)
trainer.Trainer.batch_size = 32
trainer.Trainer.eval_batch_size = 128
STEPS = 30
VALIDATE_EVERY = 15
"""
# A transformer of one block and four patches, with random weights.
_TRANSFORMERS = """
BACKBONE = @vit.vit
vit.vit.width = 16
vit.vit.heads = 2
RATE = 0.1
LORA_RANK = 2
BOTTLENECK = 4
L2P_SIZE = 4
L2P_LENGTH = 2
L2P_CHOSEN = 4
DUAL_SIZE = 2
DUAL_GENERAL = 1
DUAL_GENERAL_BLOCKS = (0,)
DUAL_EXPERT = 2
DUAL_EXPERT_BLOCKS = (0,)
CODA_SIZE = 6
CODA_PHASES = 2
CODA_LENGTH = 1
CODA_BLOCKS = (0,)
EASE_SUBSPACES = 2
"""
# A CLIP of two towers of a block each, with random weights; its vocabulary is the 256 bytes.
_CLIP = """
CLIP_FOLDER = '{folder}'
CLASS_NAMES = ('zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine')
"""
_CLIP_BODY = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
_CLIP_CONFIG = {
    "projection_dim": 16, "vision_config": {**_CLIP_BODY, "image_size": 8, "patch_size": 4},
    "text_config": {**_CLIP_BODY, "max_position_embeddings": 24, "vocab_size": 514}}
_ON_IMAGES = ("last_layers", "protonet", "meta_baseline", "constellation", "simple_cnaps",
              "first_order_maml", "protomaml", "indep", "ft_prev", "ft_d", "ft_s")
_WHOLE_NETS = ("finetune", "last_layers", "ewc", "cwr_star", "der", "gdumb", "scr")


def write_clip(folder: pathlib.Path) -> None:
  """Writes the files of a small CLIP."""
  clip, rng = architecture.from_config(_CLIP_CONFIG), np.random.default_rng(0)
  safetensors_writer.write(folder / "model.safetensors", {
      one.huggingface: rng.normal(size=one.shape_in_file("huggingface"))
      for one in (*weight_files.image_weights(clip), *weight_files.text_weights(clip))})
  (folder / "config.json").write_text(json.dumps(_CLIP_CONFIG), encoding="utf-8")
  (folder / "merges.txt").write_text("# No merges.\n", encoding="utf-8")


def of_whole_batches(buckets: buckets_lib.Buckets) -> buckets_lib.Buckets:
  """The buckets: 512 examples to train on, 64 to validate on and 256 to test on in each.

  What is left over of batches is counted, and observed, by further graphs: under other protocols.
  """
  return dataclasses.replace(buckets, buckets=tuple(
      dataclasses.replace(one, train=one.train.subset(range(576)), test=one.test.subset(range(256)))
      for one in buckets.buckets))


def stream_of_whole_batches(stream: stream_events.Stream) -> stream_events.Stream:
  """The stream, each task with a batch to test on and, for trials, one to validate on."""
  def cut(entry: stream_entry.StreamEntry) -> stream_entry.StreamEntry:
    def load() -> stream_entry.Splits:
      found = entry.load()
      return dataclasses.replace(found, validation=found.validation.subset(range(128)),
                                 test=found.test.subset(range(256)))
    return stream_entry.StreamEntry(entry.task, entry.year, entry.role, load, entry.dataset)

  return stream_events.Stream(stream.name, [cut(entry) for entry in stream.entries])


def settings_of(method: methods.Method, protocol: str) -> tuple[Any, ...]:
  """Methods for which this is the same have the same run file under a protocol."""
  return (method.file, protocol in ("clear", "incremental") and method.name not in _ON_IMAGES,
          protocol == "fluid" and method.name not in _WHOLE_NETS)


def write(folder: pathlib.Path, method: methods.Method, protocol: str, extra: str = "",
          others: Sequence[methods.Method] = (), clip: pathlib.Path | None = None) -> pathlib.Path:
  """Writes the run file of a cell into a new folder; `extra` bindings win over all others.

  It has the learners of `others` by their names, too: methods of the same `settings_of`. `clip` is
  the folder of a CLIP; None: one is written.
  """
  folder.mkdir(parents=True)
  includes = ["debug/small_nets", *_INCLUDES[protocol]]
  settings = [_ALL, _PROTOCOLS[protocol]]
  if method.file == "nevis_baselines":
    includes.append("budgets/fixed")
    settings.append(_NEVIS_BASELINES)
  if method.file == "transformers":
    settings.append(_TRANSFORMERS)
  elif method.file == "clip":
    settings.append(_CLIP.format(folder=clip or folder))
    if clip is None:
      write_clip(folder)
  elif protocol in ("clear", "incremental") and method.name not in _ON_IMAGES:
    settings.append(_FEATURES)
  if protocol == "fluid" and method.name not in _WHOLE_NETS:
    settings.append(_PIXELS)
  # Settings are included: a file that is included may set more than a run reads.
  path = folder / "settings.gin"
  path.write_text("\n".join([_IMPORTS, *settings, extra]), encoding="utf-8")
  files = [f"gin/learners/{method.file}.gin", *(f"gin/{name}.gin" for name in includes), str(path)]
  run = folder / "run.gin"
  run.write_text("\n".join([
      "from __gin__ import dynamic_registration", "from suite import experiment",
      f"from suite.protocols import {protocol}", *(f"include '{name}'" for name in files),
      f"experiment.run.protocol = @{protocol}.run",
      f"experiment.run.learners = {{'{LEARNER}': %{method.macro}"
      + "".join(f", '{one.name}': %{one.macro}" for one in others) + "}", ""]), encoding="utf-8")
  return run


def learners(folder: pathlib.Path, chosen: Sequence[methods.Method], protocol: str, *,
             clip: pathlib.Path) -> dict[str, Any]:
  """New learners, by name, of methods that have the same `settings_of`; `clip`: see `write`."""
  gin_parse.parse([write(folder, chosen[0], protocol, others=chosen, clip=clip)])
  made = gin_parse.gin.get_bindings(experiment.run)["learners"]
  return {method.name: made[method.name]() for method in chosen}


def costs(totals: Mapping[str, Any]) -> dict[str, Any]:
  """What a plan and a run have in common of the totals of a ledger."""
  phases = ("", *(f"_{phase}" for phase in ledger.PHASES))
  names = [f"{cost}{phase}" for cost in ("flops", "macs", "steps", "examples") for phase in phases]
  return {name: totals[name] for name in names if name in totals}


class CellRun:
  """The runs of one cell.

  Args:
    folder: for its files. method, protocol: the cell. extra: see `write`.
    budget: of its runs, see `ledger.Budget.parse`; "": none.
  """

  def __init__(self, folder: pathlib.Path, method: methods.Method, protocol: str, extra: str = "",
               budget: str = ""):
    self._folder, self._budget = folder, budget
    gin_parse.parse([write(folder / "gin", method, protocol, extra)])
    bound = gin_parse.gin.get_bindings(experiment.run)
    self._protocol: Callable[..., dict[str, Any]] = bound["protocol"]
    self._make: Callable[[], Any] = bound["learners"][LEARNER]
    self._costs: dict[Any, flops.Cost] = {}  # Of the graphs that `whole` has counted.

  def on(self, devices: distribution.Distribution, name: str) -> list[dict[str, Any]]:
    """The records of a run on devices, kept under a name."""
    with stopped_runs.state(self._folder / name, on=devices) as state:
      self._run(state)
    return self.records(name)

  def whole(self, copy_after: int) -> dict[str, Any]:
    """The summary of a run to its end; the folder as of `copy_after` events is kept for `resumed`.
    """
    with self._state("whole") as state:
      commit = state.commit

      def copying(*arguments, **named):
        commit(*arguments, **named)
        if state.done == copy_after:
          shutil.copytree(state.folder, self._folder / "resumed")

      state.commit = copying
      with mock.patch.object(rehearsal, "counted", self._counted):
        return self._run(state)

  def _counted(self, key: Any, terms: tuple[int, ...], count: Callable[[], flops.Cost],
               sizes: Any = None) -> flops.Cost:
    """`rehearsal.counted` of `whole`: of equal graphs, as it calls them, no two differ in costs."""
    del sizes
    cost = count()
    assert self._costs.setdefault((key, terms), cost) == cost, (key, terms)
    return cost

  @contextlib.contextmanager
  def _costs_are_known(self) -> Iterator[None]:
    """Graphs that `whole` has counted are not traced once more only to be counted.

    All that a run does but that is done, and a graph that `whole` had not is counted.
    """
    with mock.patch.object(rehearsal, "counted", lambda key, terms, count, sizes=None: (
        self._costs.get((key, terms)) or count())):
      yield

  def again(self) -> dict[str, Any]:
    """The summary of `whole`, by a new learner that takes the state of its end and learns nothing.
    """
    with self._state("whole") as state, self._costs_are_known():
      return self._run(state)

  def planned(self, *, rate: float | None) -> tuple[int, dict[str, Any]]:
    """The events and the costs that a dry run names, see `dry_run.report`."""
    tf.keras.backend.reset_uids()
    with self._costs_are_known():
      found = json.loads(dry_run.report(
          self._protocol, {LEARNER: self._make}, SEED, distribution.build(), rate=rate,
          as_json=True))["learners"][LEARNER]
    return found["events"], found["totals"]

  def uncommitted(self, event: int) -> None:
    """Goes on with the copy of `whole`, up to an event that is worked through and not committed.

    `resumed` then continues from the state that is left.
    """
    with stopped_runs.state(self._folder / "resumed", stop_uncommitted=event) as state, (
        self._costs_are_known()):
      try:
        self._run(state)
      except stopped_runs.Stop:
        pass

  def resumed(self) -> dict[str, Any]:
    """The summary of a run that a new learner ends: that of `whole`, stopped in the middle."""
    with self._state("resumed") as state, self._costs_are_known():
      return self._run(state)

  def state(self) -> dict[str, np.ndarray]:
    """The arrays that a snapshot of the learner that ran last would hold."""
    return dict(learner_state.arrays(self._saved))

  def episodic_weights(self) -> list[np.ndarray]:
    """The variables of the learner that ran last, as episodes have it, and of its optimizer."""
    net = self._learner.form(deliveries.EPISODES)
    return [v.numpy() for v in (*net.variables, *net.optimizer.variables)]

  def records(self, name: str) -> list[dict[str, Any]]:
    """The records of "whole" or "resumed", without times; of no run: []."""
    path = self._folder / name
    return stopped_runs.records(path) if (path / "records.jsonl").exists() else []

  def _state(self, name: str):
    return stopped_runs.state(self._folder / name, budget=self._budget, seed=SEED)

  def _run(self, state) -> dict[str, Any]:
    # Layers have the same names again. `clear_session` and a seed would forget all kernels, too.
    tf.keras.backend.reset_uids()
    self._learner = self._make()
    summary = self._protocol(self._learner, state=state)
    self._saved = state._learner
    return summary
