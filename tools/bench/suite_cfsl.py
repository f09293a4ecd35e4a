# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The suite's side of `tools/bench cfsl`: training and evaluation by the components of a run.

Training reads its episodes from `Episodes.batches`; an evaluation includes all that the protocol
does for validation: episodes, encoding, answers, costs, accuracy.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Any

# As the command line does (suite/cli.py); TensorFlow reads both when it is imported.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import cfsl_cases
import numpy as np
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger as ledger_lib
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.episodes import episodes as episodes_lib
from suite.data.episodes import task_types
from suite.data.images import image_ops
from suite.learners import embedded_maml
from suite.learners import maml as maml_lib
from suite.learners import protonet
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.models.episodic import proto_conv4
from suite.protocols import cfsl
from suite.state import context as context_lib
from suite.state import journal
from suite.state import snapshots
from suite.state import weight_store
from suite.training.episodic import episode_graphs
from suite.training.episodic import episode_questions
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.episodic import self_critique

PARTS = 2  # As the run files have it.
_UPDATES = 8  # Of one task and set, in a step of training.


def inner(case: cfsl_cases.Case) -> inner_loop.InnerLoop:
  """Inner loop as in CFSL's code: rates and norms by step, statistics of the batch."""
  return inner_loop.InnerLoop(
      steps=cfsl_cases.STEPS, num_support_sets=case.num_sets, transductive=True,
      unrolled=case.unrolled)


def maml(case: cfsl_cases.Case, dtype: str = "float32") -> Any:
  return maml_lib.Maml(
      functional_conv4.Conv4(filters=cfsl_cases.MAML_FILTERS, pixel_range=(0.0, 1.0),
                             dtype=dtype),
      inner=inner(case), transform=image_ops.AsStored(case.size), channels=case.channels,
      training=meta_schedules.MetaTraining(), parts=PARTS)


def proto(case: cfsl_cases.Case, dtype: str = "float32") -> Any:
  return protonet.ProtoNet(
      embedding.Embedding(proto_conv4.ProtoConv4(filters=cfsl_cases.PROTO_FILTERS,
                                                 pixel_range=(0.0, 1.0), dtype=dtype), parts=PARTS),
      transform=image_ops.AsStored(case.size), channels=case.channels,
      training=meta_schedules.MetaTraining())


def high(case: cfsl_cases.Case, dtype: str = "float32", critique: Any = None) -> Any:
  """MAML++ high-end as in CFSL's code: the images of a task are one batch in training."""
  return embedded_maml.EmbeddedMaml(
      embedding.Embedding(dense_attention.DenseAttention(pixel_range=(0.0, 1.0), dtype=dtype),
                          parts=PARTS),
      dense_attention.AttentionHead(dtype=dtype), inner=inner(case), joint_norms=True,
      critique=critique, transform=image_ops.AsStored(case.size), channels=case.channels,
      training=meta_schedules.MetaTraining())


def sca(case: cfsl_cases.Case, dtype: str = "float32") -> Any:
  return high(case, dtype, self_critique.SelfCritique())


LEARNERS = {"maml": maml, "high": high, "sca": sca, "proto": proto}


def context() -> context_lib.Context:
  ledger, folder = ledger_lib.Ledger(), pathlib.Path(tempfile.mkdtemp())
  return context_lib.Context(
      event=0, ledger=ledger, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder / "weights", 0),
      journal=journal.Journal(0, ledger, snapshots.Snapshots(folder / "progress")))


def begun(case: cfsl_cases.Case, here: context_lib.Context, dtype: str = "float32") -> Any:
  """Returns the case's learner with its variables created."""
  learner = LEARNERS[case.make.split("_")[0]](case, dtype)
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, case.num_labels), here)
  return learner


def source(case: cfsl_cases.Case) -> episodes_lib.Episodes:
  """Episodes over noise; image content does not affect the time."""
  shape = (case.classes * case.per_class, case.size, case.size, case.channels)
  images = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
  setting = task_types.Setting(way=cfsl_cases.WAY, shot=cfsl_cases.SHOT,
                               targets=cfsl_cases.TARGETS, num_support_sets=case.num_sets)
  return episodes_lib.Episodes(
      images, np.repeat(np.arange(case.classes), case.per_class), setting)


def episodes(case: cfsl_cases.Case) -> cfsl_cases.Step:
  batches = iter(source(case).batches(case.num_tasks))

  def step() -> int:
    return next(batches).target_labels.shape[0]

  return step


def train(case: cfsl_cases.Case) -> cfsl_cases.Step:
  graphs = episode_graphs.Graphs(begun(case, context()), case.num_labels)
  updates = episode_graphs.ManyUpdates(
      graphs.updates, iter(source(case).batches(case.num_tasks)))
  number = max(1, _UPDATES // (case.num_tasks * case.num_sets))

  def step() -> int:
    return len(updates.take(number)) * case.num_tasks

  return step


def evaluate(case: cfsl_cases.Case) -> cfsl_cases.Step:
  """Evaluates the case's tasks by a model whose weights may have changed."""
  here, data = context(), source(case)
  learner = begun(case, here)
  graphs = episode_graphs.Graphs(learner, case.num_labels)
  questions = episode_questions.EpisodeQuestions(graphs, data, case.num_tasks)

  def step() -> int:
    cfsl.validate(questions, here)
    return case.num_tasks

  return step


MAKERS = {"episodes": episodes, **{f"{name}_train": train for name in LEARNERS},
          **{f"{name}_test": evaluate for name in LEARNERS}}


def configure(args: Any) -> str:
  """Sets N threads between operations and one within each by default."""
  within, between = args.intra or 1, args.inter or args.threads or os.cpu_count()
  tf.config.threading.set_intra_op_parallelism_threads(within)
  tf.config.threading.set_inter_op_parallelism_threads(between)
  return (f"TensorFlow {tf.__version__}, {within} thread(s) within an operation, {between} between "
          f"them, oneDNN {os.environ['TF_ENABLE_ONEDNN_OPTS']}")


if __name__ == "__main__":
  cfsl_cases.serve(MAKERS, configure)
