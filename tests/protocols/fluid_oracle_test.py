# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The protocol in blocks against a literal loop: one sample at a time, nothing compiled or tried.

A new learner of sequences joins `LEARNERS`; then it is held against the loop, too.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.contracts import deliveries
from suite.contracts import experience
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.sequences import sequences
from suite.learners import exemplar_tuning
from suite.learners import gradient
from suite.learners import meta_centroids
from suite.learners import minimum_distance
from suite.learners import nearest_mean
from suite.learners import protonet
from suite.learners import streaming_lda
from suite.learners import weight_imprinting
from suite.metrics import sequence_log
from suite.models import conv4
from suite.models.episodic import embedding
from suite.models.episodic import proto_conv4
from suite.protocols import fluid
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer
from suite.training.episodic import base_episodes
from suite.training.episodic import fomaml
from suite.training.episodic import tuned_embedding
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import sgd
from suite.training.gradient import trainable_parts
from suite.training.memories import group_balanced
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import agem
from suite.training.objectives import der
from suite.training.objectives import er_ace
from suite.training.objectives import ewc
from suite.training.objectives import lwf
from suite.training.objectives import mas
from suite.training.objectives import mir
from suite.training.objectives import si
from suite.training.sequence import update_combinations
from suite.training.sequence import update_strategies

CLASSES, BASE, SIZE = 8, 3, 4
TRANSFORM = image_ops.Plain(SIZE)


class LinearHead(tf.Module):
  """A softmax layer on pixels, trained in offline phases only: labels change it nowhere else."""

  transform = TRANSFORM

  def begin(self, task, context):
    if not hasattr(self, "kernel"):
      self.kernel = tf.Variable(tf.zeros([SIZE * SIZE * 3, task.num_classes]))

  def learn(self, experience, context):
    return {}

  def encode(self, images):
    return frozen_backbone.pixels(images)

  def answer(self, codes):
    return tf.matmul(codes, self.kernel)

  def predict(self, images):
    return self.answer(self.encode(images))

  def stored_macs(self, num_stored):
    return 2 * num_stored * int(tf.size(self.kernel))

  def learn_stored(self, stored, context):
    assert isinstance(stored, stored_samples.Stored) and stored.num_old < len(stored.labels)
    assert stored.known[stored.labels].all()
    order = context.seeds.generator("order").permutation(len(stored.labels))
    for start in range(0, len(order), 16):
      rows = order[start:start + 16]
      with tf.GradientTape() as tape:
        logits = tf.where(stored.known, self.answer(tf.constant(stored.codes[rows])), -1e9)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            stored.labels[rows], logits))
      self.kernel.assign_sub(0.3 * tape.gradient(loss, self.kernel))
    macs = self.stored_macs(len(order))
    context.ledger.charge(context.phase, flops=2 * macs, macs=macs, examples=len(order))
    return {"passes": len(order)}


class Drift(LinearHead):
  """The same, and each label moves the weights of its class: no algorithm for blocks."""

  def update(self, codes, labels):
    for i in tf.range(tf.size(labels)):
      column = self.kernel[:, labels[i]] * 0.9 + 0.1 * codes[i]
      self.kernel.assign(tf.transpose(tf.tensor_scatter_nd_update(
          tf.transpose(self.kernel), labels[i][None, None], column[None])))


def _centroids(**settings):
  return lambda: nearest_mean.NearestMean(transform=TRANSFORM, **settings)


def _small_net():
  return frozen_backbone.FrozenBackbone(
      lambda image_shape: conv4.conv4(image_shape, filters=4, blocks=2), SIZE, seed=1)


def _gradient(net, **settings):
  return gradient.GradientLearner(
      transform=TRANSFORM, net=net,
      **{**dict(train_on="all", epochs=2, base=composition.Base(2), batch_size=8,
                learning_rate=0.05, head=class_heads.Linear("zeros"),
                optimizer=sgd.Momentum(0.9, 1e-4, keep=True)), **settings})


def _frozen():
  return trainable_parts.HeadOnly(frozen_backbone.pixels)


def _imprinting():
  return weight_imprinting.WeightImprinting(
      transform=TRANSFORM, features=frozen_backbone.pixels, epochs=2, batch_size=8)


def _backbone(image_shape):
  return conv4.conv4(image_shape, filters=8, blocks=1)


def _layers(**settings):
  """Trains a small net."""
  return _gradient(trainable_parts.AllLayers(_backbone), **settings)


def _replay(objective=None, **settings):
  """The same with a memory, of which each step takes rows, too."""
  return _layers(objective=objective, memory=_reservoir(), replay_batch=4, **settings)


def _reservoir():
  return memory.Memory(20, reservoir.Reservoir())


EPISODES = base_episodes.BaseEpisodes(
    way=3, shot=2, targets=2, epochs=1, updates_per_epoch=2, every=1)


def _meta(make_net, embedded):
  net = make_net(embedded, transform=TRANSFORM, training=EPISODES)
  return meta_centroids.MetaCentroids(net, episodes=EPISODES, transform=TRANSFORM)


def _maml(head):
  base = composition.Base(0 if head == "prototypes" else 2)
  return _layers(meta=fomaml.FirstOrder(episodes=EPISODES, steps=2), base=base,
                 head=class_heads.Linear(head))


LEARNERS = {
    "ncm": _centroids(),
    "ncm_cosine": _centroids(similarity="cosine"),
    "ncm_dot": _centroids(similarity="dot", normalize=True),
    "exemplar_tuning": lambda: exemplar_tuning.ExemplarTuning(
        transform=TRANSFORM, features=frozen_backbone.pixels, epochs=2, batch_size=8),
    "linear_head": LinearHead,
    "drift": Drift,
    "finetune": lambda: _gradient(_frozen()),
    "finetune_new": lambda: _gradient(_frozen(), train_on="current"),
    "finetune_base_as_any": lambda: _gradient(_frozen(), base=None),
    "split_head": lambda: _gradient(_frozen(), head=class_heads.Split()),
    "cwr": lambda: _layers(head=class_heads.CwrStar()),
    "last_layers": lambda: _gradient(trainable_parts.LastLayers(_small_net, norms="trained")),
    "standard": lambda: _layers(epochs=1),
    "from_new_weights": lambda: _layers(reset=True),
    "imprinting": _imprinting,
    "slda": lambda: streaming_lda.StreamingLda(
        transform=TRANSFORM, features=frozen_backbone.pixels, shrinkage=0.01),
    "mdt_ncm": lambda: minimum_distance.MinimumDistance(_centroids()()),
    "mdt_finetune": lambda: minimum_distance.MinimumDistance(
        _gradient(_frozen()), minimum_distance.LeastShare(0.1)),
    "lwf": lambda: _layers(objective=lwf.Lwf(0.8, 2.0, teacher="first")),
    "lwf_last": lambda: _layers(objective=lwf.Lwf(0.8), train_on="current"),
    "ewc": lambda: _layers(objective=ewc.Ewc(0.05, anchor="first", share=0.9)),
    "ewc_each": lambda: _layers(objective=ewc.Ewc(0.05, anchor="each", fisher="example")),
    "online_ewc": lambda: _layers(objective=ewc.Ewc(0.05), train_on="current"),
    "mas": lambda: _layers(objective=mas.Mas(1e-3)),
    "si": lambda: _layers(objective=si.Si()),
    "agem": lambda: _layers(objective=agem.Agem(), memory=_reservoir(), train_on="current"),
    "er": lambda: _replay(train_on="current"),
    "er_ring": lambda: _layers(
        memory=memory.Memory(20, group_balanced.GroupBalanced("class", keep="newest")),
        replay_batch=4, train_on="current"),
    "er_base_as_any": lambda: _replay(base=None),
    "er_ace": lambda: _replay(er_ace.ErAce("novel")),
    "der": lambda: _replay(der.Der()),
    "der_base_as_any": lambda: _replay(der.Der(), base=None),
    "der_plus_plus": lambda: _gradient(_frozen(), objective=der.Der(beta=0.5),
                                       memory=_reservoir(), replay_batch=4),
    "mir": lambda: _replay(mir.Mir(7), train_on="current"),
    "gdumb": lambda: _layers(memory=memory.Memory(20, group_balanced.GroupBalanced("class")),
                             train_on="memory", reset=True),
    "maml": lambda: _maml("zeros"),
    "protomaml": lambda: _maml("prototypes"),
    "protonet": lambda: _meta(protonet.ProtoNet, embedding.Embedding(
        proto_conv4.ProtoConv4(filters=8, blocks=1))),
    "meta_baseline": lambda: _meta(
        functools.partial(protonet.ProtoNet, similarity="cosine"),
        tuned_embedding.TunedEmbedding(_backbone)),
}
STRATEGIES = {
    "never": update_strategies.Never,
    "every": lambda: update_strategies.Every(17),
    "geometric": lambda: update_strategies.Geometric(10, 1.7),
    "on_error": lambda: update_strategies.OnError(1.5, 0.01, 4),
    "on_new_classes": lambda: update_strategies.OnNewClasses(2),
    "budget": lambda: update_combinations.WithinBudget(
        update_strategies.Every(5), per_sample=20_000),
    "either": lambda: update_combinations.Either(
        [update_strategies.Every(31), update_strategies.OnError(1.5, 0.01, 4)]),
}


def images_of(rng, labels):
  centres = np.random.default_rng(9).integers(60, 196, [CLASSES, SIZE, SIZE, 3])
  noise = rng.integers(-60, 61, [len(labels), SIZE, SIZE, 3])
  return (centres[labels] + noise).astype(np.uint8)


def sequence_of(seed, num):
  rng = np.random.default_rng(seed)
  labels = rng.choice(CLASSES, num, p=np.arange(CLASSES, 0, -1) / 36)
  return sequences.Sequence(images_of(rng, labels), labels, [f"s{i}" for i in range(num)], BASE,
                            CLASSES)


def base_set():
  labels = np.arange(30) % BASE
  return image_set.ImageSet.from_arrays(
      "base", images_of(np.random.default_rng(7), labels), labels, kind=tasks.SINGLE_LABEL,
      num_classes=CLASSES)


def state_in(folder):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  return run_state.RunState(folder, writer, name="x", seed=5, distribution=distribution.build())


def costs_of(learner, sequence):
  """MACs of one answer, its features included, and of one update."""
  image = learner.transform.evaluate(sequence.images(0, 1))
  code = learner.encode(image)

  def macs(function, *arguments):
    return flops.count(tf.function(function).get_concrete_function(
        *(tf.TensorSpec(a.shape, a.dtype) for a in arguments))).macs

  label = tf.zeros([1], tf.int64)
  return (macs(learner.encode, image) + macs(learner.answer, code),
          macs(learner.update, code, label) if hasattr(learner, "update") else 0)


@dataclasses.dataclass
class Literal:
  """What the loop gives."""

  answers: list
  closed: list
  updates: list
  macs: int


def literal(learner, sequence, strategy, folder, delays, base=None, new_below=-np.inf):
  """The paper's algorithm 1, with label delays and strategies."""
  state, task = state_in(folder), tasks.Task("sequence", tasks.SINGLE_LABEL, CLASSES)
  state.delivery = deliveries.SEQUENCE
  known = np.zeros(CLASSES, bool)
  learner.begin(task, state.context())
  if base is not None:
    train, validation = base.split(0.1, seed=state.seeds.integer("validation"))
    learner.learn(experience.Experience(task, train, validation, experience.History()),
                  state.context(phase="pretrain"))
    known[:BASE] = True
  found, codes, labels, right, num_old, waiting = Literal([], [], [], 0), [], [], [], 0, []
  all_codes, spent = [], state.ledger.totals()["macs"]
  answer_cost, update_cost = costs_of(learner, sequence)
  for t in range(len(sequence)):
    code = learner.encode(learner.transform.evaluate(sequence.deliver(t)[None]))
    all_codes.append(code)
    logits = np.where(known, learner.answer(code)[0], -np.inf)
    spent += answer_cost
    best = np.max(logits)
    found.closed.append(int(np.argmax(logits)) if best > -np.inf else -1)
    found.answers.append(CLASSES if best == -np.inf or best < new_below else found.closed[-1])
    truth = int(sequence.truth(t, t + 1)[0])
    right.append(found.answers[-1] == (truth if known[truth] else CLASSES))
    waiting.append(t)
    wishes = []
    for j in sorted((j for j in waiting if j + delays[j] <= t), key=lambda j: (j + delays[j], j)):
      waiting.remove(j)
      label = sequence.reveal(j)
      is_new, known[label] = not known[label], True
      codes.append(all_codes[j])
      labels.append(label)
      if hasattr(learner, "update"):
        learner.update(all_codes[j], tf.constant([label], tf.int64))
        spent += update_cost
      if hasattr(learner, "learn_stored"):
        wishes.append(strategy.decide(update_strategies.Observed(
            len(labels), right[j], is_new, learner.stored_macs(len(labels)), spent)).update)
    if any(wishes):
      found.updates.append(t + 1)
      context = dataclasses.replace(
          state.context(), seeds=state.seeds.child("offline phase", len(found.updates)))
      before = state.ledger.totals()["macs"]
      learner.learn_stored(stored_samples.Stored(
          np.concatenate(codes), np.array(labels), known.copy(), num_old), context)
      spent += state.ledger.totals()["macs"] - before
      num_old = len(labels)
      strategy.updated(len(labels))
  found.macs = spent
  return found


def compare(name, strategy, folder, *, seed, num=90, delay=0, with_base=True, new_below=None,
            block_size=32, record_every=40):
  base, sequence = base_set() if with_base else None, sequence_of(seed, num)
  state = state_in(folder / "blocks")
  fluid.run(LEARNERS[name](), state=state, sequence=sequence, base=base,
            update=STRATEGIES[strategy](), label_delay=delay, block_size=block_size,
            record_every=record_every, encode_batch=13, new_below=new_below)
  log = sequence_log.from_records([r for r in state.records if "first_step" in r])
  delays = sequences.delays(num, delay, state.seeds.pair("label delay"))
  expected = literal(LEARNERS[name](), sequence_of(seed, num).delayed(delays),
                     STRATEGIES[strategy](), folder / "literal", delays, base,
                     -np.inf if new_below is None else new_below)
  assert log.closed_answers.tolist() == expected.closed
  assert log.answers.tolist() == expected.answers
  assert [r["step"] for r in state.records if "phase" in r] == expected.updates
  assert state.records[-1]["macs"] == expected.macs
  return expected


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_gives_the_answers_of_the_loop(name, tmp_path):
  found = compare(name, "every", tmp_path, seed=0, new_below=0.2)
  assert len(set(found.closed)) > 3


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", ["exemplar_tuning", "drift"])
def test_every_strategy_updates_when_the_loop_does_and_pays_the_same(name, strategy, tmp_path):
  found = compare(name, strategy, tmp_path, seed=1, num=60)
  # Errors that are as frequent as ever raise no alarm.
  assert bool(found.updates) == (strategy != "never") or strategy == "on_error"


@pytest.mark.parametrize("delay", [1, 7, (0, 9)])
@pytest.mark.parametrize("name, strategy", [
    ("ncm", "never"), ("exemplar_tuning", "on_error"), ("linear_head", "either"),
    ("drift", "on_new_classes")])
def test_late_labels_come_as_in_the_loop(name, strategy, delay, tmp_path):
  compare(name, strategy, tmp_path, seed=2, delay=delay, num=50)


@pytest.mark.parametrize("seed", range(6))
def test_random_streams_in_random_blocks(seed, tmp_path):
  rng = np.random.default_rng([seed, 8])
  names, strategies = list(LEARNERS), list(STRATEGIES)
  compare(names[rng.integers(len(names))], strategies[rng.integers(1, len(strategies))], tmp_path,
          seed=seed + 10, num=int(rng.integers(40, 120)), with_base=bool(rng.integers(2)),
          block_size=int(rng.integers(1, 60)), record_every=int(rng.integers(1, 100)))


def test_what_a_block_is_makes_no_difference(tmp_path):
  def run(folder, **settings):
    state = state_in(folder)
    summary = fluid.run(LEARNERS["exemplar_tuning"](), state=state, sequence=sequence_of(3, 100),
                        base=base_set(), update=STRATEGIES["either"](), **settings)
    summary.pop("num_events")
    return summary, records.strip_times(state.records)[-1]["macs_exact_cached"]

  whole = run(tmp_path / "a", block_size=100)
  for number, settings in enumerate([dict(block_size=1), dict(block_size=9, record_every=10)]):
    other = run(tmp_path / str(number), **settings)
    assert other[1] == whole[1]
    for key, value in whole[0].items():
      if isinstance(value, (int, float)):  # Thresholds are alike to the rounding of logits.
        assert other[0][key] == pytest.approx(value, rel=1e-4), key
