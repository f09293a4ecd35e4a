# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Every protocol with every learner: it runs, or is refused before anything is trained."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import contrastive_views
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.sequences import sequences
from suite.data.streams import buckets
from suite.data.streams import streams
from suite.learners import embedded_maml
from suite.learners import finetune
from suite.learners import gradient
from suite.learners import maml
from suite.learners import meta_statistics
from suite.learners import minimum_distance
from suite.learners import pretrain_tune
from suite.learners import pretrainer
from suite.learners import protonet
from suite.learners import statistics_learner
from suite.learners.estimators import paper_estimators
from suite.metrics import own_metrics
from suite.models import conv4
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.models.episodic import proto_conv4
from suite.protocols import cfsl
from suite.protocols import clear
from suite.protocols import fluid
from suite.protocols import lifelong
from suite.protocols import nevis
from suite.protocols import pretrain
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.episodic import base_episodes
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.episodic import tuned_embedding
from suite.training.gradient import class_heads
from suite.training.gradient import trainable_parts
from suite.training.pretraining import pretexts
from suite.training.statistics import class_means
from suite.training.statistics import shared_covariance

PLAIN = image_ops.Plain(8)
BASE = base_episodes.BaseEpisodes(way=4, shot=1, targets=1, epochs=1, updates_per_epoch=1, every=1)
TRAINING = meta_schedules.MetaTraining(weight_decay=1e-4)


def small(image_shape):
  return conv4.conv4(image_shape, filters=4, blocks=2)


def net():
  return embedding.Embedding(proto_conv4.ProtoConv4(filters=4, blocks=2))


def inner(**settings):
  return inner_loop.InnerLoop(steps=1, num_support_sets=1, **settings)


LEARNERS = {
    "nearest_mean": lambda: statistics_learner.StatisticsLearner(
        class_means.ClassMeans(), transform=PLAIN),
    "gradient": lambda: gradient.GradientLearner(
        transform=PLAIN, net=trainable_parts.HeadOnly(), epochs=1),
    "gradient_per_task": lambda: gradient.GradientLearner(
        transform=PLAIN, net=trainable_parts.HeadOnly(), head=class_heads.PerTask(), epochs=1),
    "streaming_lda": lambda: statistics_learner.StatisticsLearner(
        shared_covariance.SharedCovariance(), transform=PLAIN),
    "meta_centroids": lambda: meta_statistics.MetaCentroids(
        protonet.ProtoNet(net(), transform=PLAIN, training=BASE), episodes=BASE, transform=PLAIN),
    "minimum_distance": lambda: minimum_distance.MinimumDistance(
        statistics_learner.StatisticsLearner(class_means.ClassMeans(), transform=PLAIN)),
    "meta_baseline": lambda: protonet.ProtoNet(
        tuned_embedding.TunedEmbedding(small), transform=PLAIN, training=BASE,
        similarity="cosine"),
    "protonet": lambda: protonet.ProtoNet(net(), transform=PLAIN),
    "maml": lambda: maml.Maml(
        functional_conv4.Conv4(filters=2, blocks=2), inner=inner(), transform=PLAIN,
        training=TRAINING),
    "embedded_maml": lambda: embedded_maml.EmbeddedMaml(
        embedding.Embedding(dense_attention.DenseAttention(filters=2, stages=1, blocks=1, size=2)),
        dense_attention.AttentionHead(filters=2), inner=inner(), transform=PLAIN,
        training=TRAINING),
    "pretrain_tune": lambda: pretrain_tune.PretrainTune(
        functional_conv4.Conv4(filters=2, blocks=2), inner=inner(learn_rates=False),
        transform=PLAIN, training=TRAINING, num_classes=10),
    "pretrainer": lambda: pretrainer.Pretrainer(
        pretext=pretexts.Supervised, backbone=small, transform=PLAIN, batch_size=8),
    "order_search": paper_estimators.OrderSearch,
}


def single_label_stream():
  """Two tasks of different classes."""
  entries = digits.nevis_stream(max_train_images=80).entries
  return streams.Stream("two tasks", [entries[0], entries[2]])


def few_buckets():
  made = digits.buckets(2)
  return buckets.Buckets(made.task, tuple(
      buckets.Bucket(b.name, b.train.take(150, seed=0), b.test.take(30, seed=0)) for b in made))


def classes_and_images():
  """Episodes that tell the classes of their images."""
  images, labels = digits.load()
  made = digits.episodes(way=2, targets=1)
  return type(made)(np.repeat(images, 3, axis=-1), labels, made.setting, with_classes=True)


PROTOCOLS = {
    "nevis": lambda learner, state: nevis.run(learner, state=state, stream=single_label_stream()),
    "clear": lambda learner, state: clear.run(learner, state=state, buckets=few_buckets()),
    "fluid": lambda learner, state: fluid.run(
        learner, state=state, sequence=digits.sequence(20),
        base=digits.sequence_base().take(60, seed=0)),
    "cfsl": lambda learner, state: cfsl.run(
        learner, state=state, episodes_train=classes_and_images(),
        episodes_test=digits.episodes("test", way=2, targets=1), updates=1, updates_per_event=1,
        tasks_per_update=1, test_episodes=2),
    "pretrain": lambda learner, state: pretrain.run(
        learner, state=state, images=digits.sequence_base(), updates=1, updates_per_event=1,
        labelled=True),
    "lifelong": lambda learner, state: lifelong.run(learner, state=state),
}
RUNS = {
    "nevis": ("nearest_mean", "gradient_per_task", "streaming_lda", "meta_centroids"),
    "clear": ("nearest_mean", "gradient", "streaming_lda", "meta_centroids"),
    "fluid": ("nearest_mean", "gradient", "streaming_lda", "meta_centroids", "minimum_distance"),
    "cfsl": ("meta_centroids", "meta_baseline", "protonet", "maml", "embedded_maml",
             "pretrain_tune"),
    "pretrain": ("pretrainer",),
    "lifelong": ("order_search",),
}
WHOLE, NO_EPISODES = "has no learn, predict", "has no initial_state, adapt, logits, transductive"
ESTIMATE = "cannot be run here: it has no estimate. .* for example OrderSearch"
REFUSED = {
    "nevis": {
        "gradient": "one head, Linear, for tasks that have separate classes; .* PerTask",
        "minimum_distance": r"given separate tasks \(nevis\); it accepts single samples \(fluid\)",
        "meta_baseline": WHOLE,
        "protonet": f"given separate tasks .*{WHOLE}.* ProtoNet runs under cfsl",
        "maml": f"{WHOLE}.* Maml runs under cfsl",
        "embedded_maml": f"{WHOLE}.* EmbeddedMaml runs under cfsl",
        "pretrain_tune": f"{WHOLE}.* PretrainTune runs under cfsl",
        "pretrainer": "accepts portions of a pretraining .* for example StatisticsLearner",
        "order_search": "has no transform, begin, learn, predict",
    },
    "clear": {
        "gradient_per_task": "the head PerTask, but was given the buckets of one task; .* Linear",
        "minimum_distance": r"given the buckets of one task \(clear\); it accepts single samples",
        "meta_baseline": WHOLE,
        "protonet": f"given the buckets .*{WHOLE}.* ProtoNet runs under cfsl",
        "maml": f"{WHOLE}.* Maml runs under cfsl",
        "embedded_maml": f"{WHOLE}.* EmbeddedMaml runs under cfsl",
        "pretrain_tune": f"{WHOLE}.* PretrainTune runs under cfsl",
        "pretrainer": "accepts portions of a pretraining",
        "order_search": "has no transform, begin, learn, predict",
    },
    "fluid": {
        "gradient_per_task": "the head PerTask, but was given a sequence",
        "meta_baseline": "given single samples .*it has no answer",
        "protonet": "given single samples .*it has no answer.* ProtoNet runs under cfsl",
        "maml": "it has no encode, answer.* Maml runs under cfsl",
        "embedded_maml": "it has no answer",
        "pretrain_tune": "it has no encode, answer",
        "pretrainer": "it has no encode, answer.* Pretrainer runs under pretrain",
        "order_search": "it has no transform, begin, encode, answer",
    },
    "cfsl": {
        **dict.fromkeys(("nearest_mean", "streaming_lda"), "it has no meta_loss"),  # Updates are 1.
        "gradient": "the head Linear, 'glorot', and cannot be given few-shot episodes",
        "gradient_per_task": "the head PerTask, 'glorot', and cannot be given few-shot",
        "minimum_distance": NO_EPISODES,
        "pretrainer": NO_EPISODES,
        "order_search": "has no transform, begin, initial_state",
    },
    "pretrain": {
        **dict.fromkeys(
            ("nearest_mean", "gradient", "gradient_per_task", "streaming_lda", "meta_centroids",
             "minimum_distance"),
            "it has no encoder, name_of_pretext"),
        **dict.fromkeys(("meta_baseline", "protonet", "maml", "embedded_maml", "pretrain_tune"),
                        "it has no learn, encoder"),
        "order_search": "it has no begin, learn, encoder",
    },
    "lifelong": {name: ESTIMATE for name in LEARNERS if name != "order_search"},
}


def state_in(folder, devices=()):
  return run_state.RunState(
      folder, run_writer.RunWriter(folder, None, progress.Progress("x")), name="x", seed=1,
      distribution=distribution.build(*devices))


def test_every_pair_is_in_one_of_the_tables():
  for protocol in PROTOCOLS:
    assert sorted([*RUNS[protocol], *REFUSED[protocol]]) == sorted(LEARNERS)


def test_a_learner_of_sequences_runs_on_episodes(tmp_path):
  """The other RUNS: tests/contracts/method_matrix_test.py and tests/configs/debug_runs_test.py."""
  state = state_in(tmp_path)
  assert PROTOCOLS["cfsl"](LEARNERS["meta_centroids"](), state)["protocol"] == "cfsl"
  assert state.done


@pytest.mark.parametrize("protocol, name", [
    (protocol, name) for protocol, names in REFUSED.items() for name in names])
def test_it_is_refused_before_anything_is_trained(protocol, name, tmp_path):
  state, learner = state_in(tmp_path), LEARNERS[name]()
  if hasattr(learner, "begin") and not name.startswith("gradient"):  # It refuses in `begin`.
    learner.begin = functools.partial(pytest.fail, "It has begun.")
  with pytest.raises(refusals.RefusedError, match=REFUSED[protocol][name]):
    PROTOCOLS[protocol](learner, state)
  assert not state.done and not any(state.ledger.totals()[cost] for cost in ("flops", "macs"))


def test_a_stream_with_tasks_of_other_kinds_is_refused_at_its_beginning(tmp_path):
  state = state_in(tmp_path)
  message = ("StatisticsLearner learns single_label tasks; the run has multi_label tasks, too.*"
             "ClassMeans")
  with pytest.raises(refusals.RefusedError, match=message):
    nevis.run(LEARNERS["streaming_lda"](), state=state, stream=digits.nevis_stream(20))
  assert not state.done


def test_contexts_say_how_data_is_delivered(tmp_path):
  class Heard(Exception):
    pass

  class Listening(statistics_learner.StatisticsLearner):

    def __init__(self):
      super().__init__(class_means.ClassMeans(), transform=PLAIN)
      self.heard = []

    def begin(self, task, context):
      self.heard.append(context.delivery)
      super().begin(task, context)

    def learn(self, experience, context):
      self.heard.append(context.delivery)
      raise Heard

  for protocol, delivery in (("nevis", deliveries.TASKS), ("clear", deliveries.BUCKETS),
                             ("fluid", deliveries.SEQUENCE)):
    learner = Listening()
    with pytest.raises(Heard):
      PROTOCOLS[protocol](learner, state_in(tmp_path / protocol))
    assert len(learner.heard) > 1 and set(learner.heard) == {delivery}
  assert set(refusals.REQUIREMENTS) == set(deliveries.DELIVERIES)


class Wide(statistics_learner.StatisticsLearner):
  """One logit too many."""

  def predict(self, images):
    return tf.concat([super().answer(self.encode(images))] * 2, axis=1)[:, :-1]

  def answer(self, codes):
    return tf.pad(super().answer(codes), [[0, 0], [0, 1]])


@pytest.mark.parametrize("protocol, message", [
    ("nevis", r"Wide.predict returns logits \[1, 9\] for one image; expected \[1, 5\].*digits_0_4"),
    ("clear", r"Wide.predict returns logits \[1, 19\] for one image; expected \[1, 10\]"),
    ("fluid", r"Wide.answer returns logits \[1, 11\] for one image; expected \[1, 10\]"),
])
def test_logits_of_the_wrong_width_are_refused_before_training(protocol, message, tmp_path):
  class Wider(Wide):
    learn = functools.partial(pytest.fail, "It was trained.")

  Wider.__name__ = "Wide"
  state = state_in(tmp_path)
  with pytest.raises(refusals.RefusedError, match=message):
    PROTOCOLS[protocol](Wider(class_means.ClassMeans(), transform=PLAIN), state)
  assert not state.done


@pytest.mark.parametrize("name, method, message", [
    ("predict", lambda self, images, labels: None,
     r"Own.predict cannot be called with \(images\): missing a required argument: 'labels'. Write "
     r"def predict\(self, images\); further"),
    ("learn", lambda self, images: None,
     r"Own.learn cannot be called with \(experience, context\): too many"),
])
def test_methods_with_other_arguments_are_refused_at_once(name, method, message):
  kind = type("Own", (statistics_learner.StatisticsLearner,), {name: method})
  with pytest.raises(refusals.RefusedError, match=message):
    refusals.check_learner(kind(class_means.ClassMeans(), transform=PLAIN), deliveries.BUCKETS)


def test_episodic_logits_of_the_wrong_width_are_refused_before_training(tmp_path):
  class Narrow(protonet.ProtoNet):
    meta_loss = functools.partial(pytest.fail, "It was trained.")

    def logits(self, state, codes):
      return super().logits(state, codes)[:, 1:]

  with pytest.raises(refusals.RefusedError, match=r"Narrow.logits .*\[1, 1\].*expected \[1, 2\]"):
    PROTOCOLS["cfsl"](Narrow(net(), transform=PLAIN), state_in(tmp_path))


def test_meta_training_needs_its_methods_and_an_optimizer(tmp_path):
  class Untrained:
    transform, transductive = PLAIN, False
    begin = initial_state = adapt = logits = None

  refusals.check_learner(Untrained(), deliveries.EPISODES)
  with pytest.raises(refusals.RefusedError, match="Untrained .* it has no meta_loss\\. It"):
    PROTOCOLS["cfsl"](Untrained(), state_in(tmp_path))
  alone = maml.Maml(functional_conv4.Conv4(filters=2, blocks=2), inner=inner(), transform=PLAIN)
  with pytest.raises(refusals.RefusedError, match="Maml was made without meta-training.*updates=1"):
    PROTOCOLS["cfsl"](alone, state_in(tmp_path))


def images_of(labels, num_classes, name="one class"):
  return image_set.ImageSet.from_arrays(
      name, np.zeros([len(labels), 8, 8, 3], np.uint8), labels, kind=tasks.SINGLE_LABEL,
      num_classes=num_classes)


def test_a_data_set_without_labels_is_refused():
  with pytest.raises(ValueError, match="'a' has no labels. Give 3 labels .*pretrain.run"):
    image_set.ImageSet.from_arrays("a", np.zeros([3, 8, 8, 3], np.uint8), None,
                                   kind=tasks.SINGLE_LABEL, num_classes=2)


def test_a_task_of_one_class_is_refused(tmp_path):
  task, images = tasks.Task("one", tasks.SINGLE_LABEL, 1), images_of([0] * 20, 1)
  message = "'.*' has 1 class; a single_label task needs at least 2"
  learner = LEARNERS["nearest_mean"]
  series = buckets.Buckets(task, (buckets.Bucket("bucket_01", images, images),))
  with pytest.raises(refusals.RefusedError, match=message):
    clear.run(learner(), state=state_in(tmp_path / "clear"), buckets=series)
  stream = streams.Stream("x", [streams.StreamEntry(
      task, 2000, streams.META_TRAIN, lambda: streams.Splits(*[images] * 4), "one")])
  with pytest.raises(refusals.RefusedError, match=message):
    nevis.run(learner(), state=state_in(tmp_path / "nevis"), stream=stream)
  sequence = sequences.Sequence(np.zeros([3, 8, 8, 3], np.uint8), [0, 0, 0], list("abc"), 0)
  with pytest.raises(refusals.RefusedError, match=message):
    fluid.run(learner(), state=state_in(tmp_path / "fluid"), sequence=sequence)
  with pytest.raises(refusals.RefusedError, match=message):
    pretrain.run(LEARNERS["pretrainer"](), state=state_in(tmp_path / "pretrain"), images=images,
                 labelled=True)


def test_buckets_of_which_all_images_have_one_label_are_refused(tmp_path):
  train, test = images_of([1] * 20, 2), images_of([1] * 20, 2)
  series = buckets.Buckets(tasks.Task("two", tasks.SINGLE_LABEL, 2),
                               (buckets.Bucket("bucket_01", train, test),))
  with pytest.raises(refusals.RefusedError, match="All training examples of 'two' are of class 1"):
    clear.run(LEARNERS["nearest_mean"](), state=state_in(tmp_path), buckets=series)


def test_a_learner_around_another_refuses_one_that_does_not_fit():
  with pytest.raises(refusals.RefusedError, match="Maml cannot be run here: it has no encode.*Pro"):
    meta_statistics.MetaCentroids(LEARNERS["maml"](), episodes=BASE, transform=PLAIN)
  with pytest.raises(refusals.RefusedError, match="ProtoNet cannot be given single samples"):
    minimum_distance.MinimumDistance(LEARNERS["protonet"]())


def test_a_pretext_of_two_views_needs_a_transform_that_has_them(tmp_path):
  learner = pretrainer.Pretrainer(
      pretext=pretexts.SimClr, backbone=small, transform=PLAIN, batch_size=8)
  message = r"SimClr compares 2 views .*Plain has no view\(n\).*AugPlus"
  with pytest.raises(ValueError, match=message):
    PROTOCOLS["pretrain"](learner, state_in(tmp_path))
  assert contrastive_views.AugPlus(8).view(1).shape == (8, 8, 3)


def test_what_runs_on_one_device_refuses_several(tmp_path):
  message = "lifelong runs on one device, since .* started on 'mirrored' with 1 replicas.*one_devi"
  with pytest.raises(refusals.RefusedError, match=message):
    PROTOCOLS["lifelong"](LEARNERS["order_search"](), state_in(tmp_path, ("mirrored", 1)))


def test_what_runs_in_one_process_refuses_several(tmp_path):
  state = state_in(tmp_path)
  state.distribution.name = "multi_worker"
  message = "fluid runs in one process, since .* started on 'multi_worker'.*one_device, or mirrored"
  with pytest.raises(refusals.RefusedError, match=message):
    PROTOCOLS["fluid"](LEARNERS["nearest_mean"](), state)


@pytest.mark.parametrize("learner, told", [("nearest_mean", True), ("finetune", False),
                                           ("protonet", False)])
def test_a_learner_that_does_not_use_several_devices_says_so(learner, told, tmp_path, caplog):
  made = (LEARNERS[learner]() if learner != "finetune" else finetune.Finetune(conv4.conv4))
  state_in(tmp_path, ("mirrored", 1)).resume(made)
  assert told == ("StatisticsLearner learns on one device: the 1 replicas of" in caplog.text)


class Refusing(statistics_learner.StatisticsLearner):
  """Refuses every task."""

  def begin(self, task, context):
    raise ValueError(f"{task.num_classes} classes under {context.delivery}")


def checked(protocol, learners, **settings):
  return refusals.before_first_event(
      protocol, learners, seed=0, distribution=distribution.build(),
      metrics=own_metrics.OwnMetrics(None), **settings)


def nearest_mean(kind=statistics_learner.StatisticsLearner):
  return kind(class_means.ClassMeans(), transform=PLAIN)


@pytest.mark.parametrize("last, message", [
    (LEARNERS["protonet"], "ProtoNet cannot be given the buckets of one task"),  # By its contract.
    (LEARNERS["gradient_per_task"], "the head PerTask, but was given the buckets"),  # In `begin`.
    (lambda: nearest_mean(Refusing), "10 classes under buckets")])
def test_each_learner_is_checked_before_the_first_one_trains(last, message, caplog):
  made = few_buckets()
  with pytest.raises(ValueError, match=message) as refused:
    checked(functools.partial(clear.run, buckets=made), {"first": nearest_mean, "last": last})
  assert refused.value.exit_code == 2
  assert "Learner 'last' of first, last is refused; nothing was trained." in caplog.text


def test_a_wrong_argument_of_the_protocol_is_refused_in_the_check():
  protocol = functools.partial(clear.run, buckets=few_buckets(), mode="idd")
  with pytest.raises(ValueError, match="Unknown mode 'idd'") as refused:
    checked(protocol, {"only": nearest_mean})
  assert refused.value.exit_code == 2


def test_data_is_made_once_and_each_learner_is_the_one_that_was_checked(tmp_path):
  calls = []

  def evaluating(learner, *, state):  # As gin evaluates `@digits.buckets()`.
    calls.append("data")
    return clear.run(learner, state=state, buckets=few_buckets())

  evaluating.is_checkable = True
  makers = {name: lambda: calls.append("learner") or nearest_mean() for name in "ab"}
  protocol, found = checked(evaluating, makers)
  first = found["a"]()
  assert calls == ["learner", "learner", "data"] and found["a"]() is not first
  assert len(calls) == 4  # A second one is made.
  summary = protocol(first, state=state_in(tmp_path))
  assert summary["protocol"] == "clear" and calls.count("data") == 1


def test_a_learner_is_made_again_if_another_maker_has_set_a_configuration():
  number, calls = [0], []

  def maker(name, sets):
    def make():
      number[0] += sets
      calls.append(name)
      return nearest_mean()
    return make

  makers = {"a": maker("a", True), "b": maker("b", True), "plain": maker("plain", False)}
  _, found = checked(functools.partial(clear.run, buckets=few_buckets()), makers,
                     configuration=lambda: number[0])
  assert calls == ["a", "b", "plain", "a", "b"]  # Each is checked with its own.
  for name in makers:
    found[name]()
  assert calls[5:] == ["a", "b"]  # And runs with it.


def test_a_protocol_of_a_user_is_not_called_before_its_run():
  def run(learner, *, state):
    raise AssertionError((learner, state))

  protocol, makers = checked(run, {"a": nearest_mean})
  assert protocol is run and isinstance(makers["a"](), statistics_learner.StatisticsLearner)
  with pytest.raises(ValueError, match="no maker"):  # It is made all the same.
    checked(run, {"a": nearest_mean, "b": lambda: (_ for _ in ()).throw(ValueError("no maker"))})


@pytest.mark.parametrize("protocol", ["nevis", "clear", "fluid", "cfsl", "pretrain"])
def test_every_protocol_checks_before_it_begins(protocol):
  assert {"nevis": nevis, "clear": clear, "fluid": fluid, "cfsl": cfsl,
          "pretrain": pretrain}[protocol].run.is_checkable
  name = RUNS[protocol][0]

  def run(learner, *, state):  # No argument of it is bound.
    if learner is None:
      state.protocol = lambda learner, state: PROTOCOLS[protocol](learner, state)
      return {}
    raise AssertionError

  run.is_checkable = True
  checked(run, {"one": LEARNERS[name], "two": LEARNERS[name]})


def test_a_budget_is_refused_in_the_check():
  class Own(statistics_learner.StatisticsLearner):
    keeps_budget = False

  with pytest.raises(refusals.RefusedError, match="Own does not say what its learning costs"):
    checked(functools.partial(clear.run, buckets=few_buckets()),
            {"own": lambda: nearest_mean(Own)}, budget=ledger.Budget(flops=10**9))
