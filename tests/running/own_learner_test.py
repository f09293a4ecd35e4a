# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite.learner` in protocols: what is trained, what is counted, what a resumed run has."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

import suite
from suite.contracts import deliveries
from suite.data.own import image_sources
from suite.data.streams import buckets
from suite.data.streams import streams
from suite.learners import finetune
from suite.learners import gradient
from suite.learners import maml
from suite.learners import pretrain_tune
from suite.learners import protonet
from suite.protocols import clear
from suite.protocols import nevis
from suite.running import own_learner
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import search
from suite.training.gradient import trainer

layers = tf.keras.layers
SHAPE = (4, 4, 1)


def net(image_shape=SHAPE, num_classes=None):
  made = tf.keras.Sequential([layers.Rescaling(1 / 255, input_shape=image_shape), layers.Flatten(),
                              layers.Dense(6, "relu")])
  if num_classes:
    made.add(layers.Dense(num_classes))
  return made


def images(num=40, classes=3, seed=0):
  """Classes by brightness."""
  rng, labels = np.random.default_rng(seed), np.arange(num) % classes
  pixels = rng.integers(0, 40, [num, *SHAPE]) + 90 * labels[:, None, None, None]
  return image_sources.from_arrays(pixels.astype(np.uint8), labels, name=f"set{classes}")


def two_buckets():
  return buckets.of([(images(seed=i), images(12, seed=9 + i)) for i in range(2)])


def _run(folder, make, protocol=clear.run, **settings):
  stop = settings.pop("stop_before", None)
  with stopped_runs.state(folder, stop_before=stop) as state:
    return protocol(make(), state=state, **settings)


def test_optimizer_loss_and_augmentation_train_are_counted_and_resumed(tmp_path):
  schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.05, 4, 0.5)
  mine = own_learner.learner(
      net(), optimizer=tf.keras.optimizers.SGD(schedule, momentum=0.9), epochs=2, batch_size=16,
      loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
      augment=layers.RandomBrightness(0.05))
  kept = optimizers.Keras(tf.keras.optimizers.SGD(schedule, momentum=0.9), keep=True)
  mine.options["optimizer"] = kept
  make = functools.partial(mine.make, deliveries.BUCKETS)
  run = functools.partial(_run, make=make, buckets=two_buckets())
  run(tmp_path / "whole")
  with pytest.raises(stopped_runs.Stop):
    run(tmp_path / "stopped", stop_before=3)
  run(tmp_path / "stopped")  # The velocity and the schedule's step are as they were.
  records = stopped_runs.records(tmp_path / "whole")
  assert stopped_runs.records(tmp_path / "stopped") == records
  plain = own_learner.learner(
      net(), optimizer=tf.keras.optimizers.SGD(schedule, momentum=0.9), epochs=2, batch_size=16)
  with pytest.raises(stopped_runs.Stop):
    _run(tmp_path / "plain", functools.partial(plain.make, deliveries.BUCKETS),
         buckets=two_buckets(), stop_before=1)
  counted = [stopped_runs.records(tmp_path / name)[0]["flops_train"] for name in ("whole", "plain")]
  assert counted[0] > counted[1] > 0


def test_a_model_with_its_own_head_in_separate_tasks(tmp_path):
  stream = streams.of([images(), images(classes=2)])
  mine = own_learner.learner(net, image_size=4, transform=None, head="own", epochs=1,
                             optimizer=tf.keras.optimizers.SGD(0.1))
  learner = mine.make(deliveries.TASKS)
  assert isinstance(learner.head, class_heads.OwnHead) and learner.head.is_per_task
  summary = _run(tmp_path, lambda: learner, nevis.run, stream=stream)
  assert set(summary["errors"]) == {"set3", "set2"}


def test_fine_tuning_takes_a_model_an_optimizer_and_a_loss(tmp_path):
  def make():
    return finetune.Finetune(
        net(), search=search.Search(num_trials=1, learning_rate=0.01, label_smoothing=0.0),
        trainer=trainer.Trainer(
            steps=4, batch_size=8, validate_every=2, save_every=2,
            optimizer=tf.keras.optimizers.RMSprop(), loss=lambda labels, logits: (
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))),
        transform=own_learner.learner(net()).transform)

  _run(tmp_path, make, nevis.run, stream=streams.of([images()]))
  record = stopped_runs.records(tmp_path)[0]
  assert record["flops_train"] > 0 and record["trials"][0]["status"] == "done"
  with pytest.raises(ValueError, match="which only cross-entropy reads. Set it to 0.0"):
    finetune.Finetune(net(), trainer=trainer.Trainer(loss=lambda labels, logits: logits))
  schedule = tf.keras.optimizers.schedules.CosineDecay(0.1, 10)
  with pytest.raises(ValueError, match="there is no rate to search. Set Search.learning_rate"):
    finetune.Finetune(net(), trainer=trainer.Trainer(optimizer=tf.keras.optimizers.SGD(schedule)))


@pytest.mark.parametrize("method, delivery, wanted", [
    (None, deliveries.BUCKETS, gradient.GradientLearner),
    (None, deliveries.EPISODES, protonet.ProtoNet), ("maml", deliveries.EPISODES, maml.Maml),
    ("pretrain_tune", deliveries.EPISODES, pretrain_tune.PretrainTune)])
def test_methods(method, delivery, wanted):
  options = {"num_classes": 3} if method == "pretrain_tune" else {}
  assert isinstance(own_learner.learner(net(), method, **options).make(delivery), wanted)


def test_fine_tuning_trains_on_the_rows_of_the_method_of_that_name():
  for name, delivery, rows in ((None, deliveries.SEQUENCE, "all"), (
      "finetune", deliveries.SEQUENCE, "all"), ("finetune", deliveries.BUCKETS, "current")):
    assert own_learner.learner(net(), name).make(delivery)._recipe.train_on == rows
  assert own_learner.learner(net(), "finetune", train_on="current").make(
      deliveries.SEQUENCE)._recipe.train_on == "current"


@pytest.mark.parametrize("make, message", [
    (lambda: own_learner.learner(net(), "protonett"), r"no method 'protonett'; allowed are "
     r"finetune, protonet, .* Nearest: protonet"),
    (lambda: own_learner.learner(net(), replay_bach=3), r"method='finetune' or 'protonet'\) has no "
     r"setting 'replay_bach'; it has .*Nearest: replay_batch"),
    (lambda: own_learner.learner(net(), size=8), "images as image_size= .8 was given as size="),
    (lambda: own_learner.learner(net(), "protonet", epochs=3), "'protonet'.* no setting 'epochs'"),
    (lambda: own_learner.learner(net(), epochs=3).make(deliveries.EPISODES), "no setting 'epochs'"),
    (lambda: own_learner.learner(net(), "maml", memory=3), "'maml'.* has no setting 'memory'; it"),
    (lambda: own_learner.learner(net(), "maml").make(deliveries.BUCKETS), "does not fit this prot"),
    (lambda: own_learner.learner(net(), "finetune").make(deliveries.EPISODES), "does not fit"),
    (lambda: own_learner.learner(net(), "pretrain_tune").make(deliveries.EPISODES), "num_classes"),
    (lambda: own_learner.learner(net(), "maml", loss=len).make(deliveries.EPISODES), "Leave the"),
    (lambda: own_learner.learner(net(), optimizer="adam"), "optimizer made str"),
    (lambda: own_learner.learner(net(), image_size=8), "image_size is 8, but the model takes"),
    (lambda: own_learner.learner(net((4, 6, 1))), "the suite makes square ones"),
    (lambda: own_learner.learner(net(), optimizer=tf.keras.optimizers.SGD(
        tf.keras.optimizers.schedules.CosineDecay(0.1, 9)), learning_rate=0.1).make(
            deliveries.BUCKETS), "was given a learning rate schedule"),
])
def test_mistakes_are_said(make, message):
  with pytest.raises(ValueError, match=message):
    make()


class Subclassed(tf.keras.Model):
  """A net without a config, with a frozen layer and losses of layers."""

  def __init__(self):
    super().__init__()
    self.conv = layers.Conv2D(3, 2, kernel_regularizer="l2")
    self.norm, self.pool = layers.BatchNormalization(), layers.GlobalAveragePooling2D()
    self.top = layers.Dense(4, activity_regularizer="l1")

  def call(self, x, training=None):
    return self.top(self.pool(self.norm(self.conv(x / 255.0), training=training)))


@pytest.mark.parametrize("method", ["finetune", "lwf"])
def test_a_subclassed_net_trains_resumes_and_is_taken_home(tmp_path, method):
  tf.keras.utils.set_random_seed(3)
  made = Subclassed()
  made(np.zeros([1, *SHAPE], np.float32))
  made.conv.trainable = False
  kernels = [layer.kernel.numpy() for layer in (made.conv, made.top)]
  settings = {"protocol": "clear", "buckets": two_buckets(), "workdir": str(tmp_path / "w"),
              "learners": {"mine": own_learner.learner(made, method, epochs=2)}}
  result = suite.run(**settings)
  make = functools.partial(settings["learners"]["mine"].make, deliveries.BUCKETS)
  with pytest.raises(stopped_runs.Stop):
    _run(tmp_path / "stopped", make, buckets=two_buckets(), stop_before=2)
  _run(tmp_path / "stopped", make, buckets=two_buckets())
  _run(tmp_path / "whole", make, buckets=two_buckets())
  assert stopped_runs.records(tmp_path / "stopped") == stopped_runs.records(tmp_path / "whole")
  model = result.model("mine")
  model.save(tmp_path / "saved")
  pixels = tf.constant(np.random.default_rng(5).integers(0, 256, [6, *SHAPE]).astype(np.uint8))
  saved = tf.saved_model.load(str(tmp_path / "saved"))
  np.testing.assert_allclose(saved(pixels), model(pixels), rtol=1e-5)
  with pytest.raises(ValueError, match="no .keras file: its net has a subclass of tf.keras.Model, "
                     "Subclassed, which Keras cannot load alone. Give a folder"):
    model.save(tmp_path / "mine.keras")
  found = {v.shape.as_list()[0]: v.numpy() for v in saved.read if v.shape in (
      kernels[0].shape, kernels[1].shape)}
  np.testing.assert_array_equal(found[2], kernels[0])
  assert np.abs(found[3] - kernels[1]).max() > 1e-3
