# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Compositions on a stream whose second bucket contradicts the first.

All methods, by their gin files: tests/contracts/method_matrix_test.py.
"""

import functools

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf
import unconverted

from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import clear_transform
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.learners import gradient
from suite.models import conv4
from suite.models import mlp
from suite.protocols import clear
from suite.state import weight_store
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import der
from suite.training.objectives import ewc
from suite.training.objectives import gem
from suite.training.objectives import si
from suite.training.scoring import scoring

WIDTH, NUM = 6, 80
TASK = tasks.Task("t", tasks.SINGLE_LABEL, 2)


def held(rule, capacity=72):
  return memory.Memory(capacity, rule)


COMPOSITIONS = {
    "finetune": dict,
    "er_ewc": lambda: {**COMPOSITIONS["er"](), "objective": ewc.Ewc(strength=0.4)},
    "er": lambda: {"memory": held(reservoir.GroupBalanced("bucket")), "replay_batch": 16},
    "agem_sample": lambda: {"memory": held(reservoir.Reservoir()),
                            "objective": gem.Agem(chunk=30, sample_size=20)},
}


def features(name, bucket, num=NUM, width=WIDTH, num_classes=2):
  """The label is the sign of feature `bucket`; against it, and half as strong, that of the last."""
  rng = np.random.default_rng(bucket)
  labels = np.arange(num) % 2
  sign = 2.0 * labels - 1.0
  values = rng.normal(0.0, 0.05, [num, width])
  values[:, bucket] += sign
  if bucket:
    values[:, bucket - 1] -= 0.5 * sign
  return feature_set.FeatureSet.from_arrays(
      name, values, labels, kind=tasks.SINGLE_LABEL, num_classes=num_classes,
      ids=[f"{name}/{i}" for i in range(num)])


def stream(num_buckets=2, task=TASK, **arguments):
  return buckets_lib.Buckets(task, tuple(
      buckets_lib.Bucket(f"b{i}", features(f"train{i}", i, **arguments),
                         features(f"test{i}", i, **arguments)) for i in range(num_buckets)))


def make(**arguments):
  defaults = {"transform": feature_set.Features(WIDTH), "net": trainable_parts.HeadOnly(),
              "epochs": 40, "batch_size": 16, "learning_rate": 0.3,
              "schedule": schedules.EpochSteps(30)}
  return gradient.GradientLearner(**{**defaults, **arguments})


def run(folder, learner, buckets=None, stop_before=None, **arguments):
  with stopped_runs.state(folder, stop_before=stop_before) as state:
    return clear.run(learner, state=state, buckets=buckets or stream(), **arguments)


def test_one_graph_predicts_for_the_whole_run(tmp_path, monkeypatch):
  made, forward = [], scoring.Forward
  monkeypatch.setattr(scoring, "Forward",
                      lambda *args: (made.append(args), forward(*args))[1])
  run(tmp_path / "stays", make(head=class_heads.CwrStar(), epochs=2))
  assert len(made) == 1
  learner = make(head=class_heads.CwrStar(), epochs=2)
  learner.predict_stays = False
  run(tmp_path / "new", learner)
  assert len(made) == 1 + 2
  assert stopped_runs.records(tmp_path / "new") == stopped_runs.records(tmp_path / "stays")


def test_fine_tuning_forgets_what_replay_keeps(tmp_path):
  forgot = {}
  for name in ("finetune", "er"):
    matrix = np.array(run(tmp_path / name, make(**COMPOSITIONS[name]()))["matrix"])
    assert matrix[1, 1] > 0.95
    forgot[name] = matrix[0, 0] - matrix[1, 0]
  assert forgot["finetune"] > 0.3 + forgot["er"]


def test_rate_schedule_and_velocity_begin_anew_with_each_bucket(tmp_path):
  learner = make(epochs=1, learning_rate=0.1)
  rates = []
  run(tmp_path / "once", learner)
  train = learner._loop.train

  def spy(data, part, chunk, *intake):
    rates.append(chunk)
    assert all(not np.any(v) for v in learner._loop.step.optimizer.velocities)
    return train(data, part, chunk, *intake)

  learner._loop.train = spy
  run(tmp_path / "again", learner)
  assert len(rates) == 2
  np.testing.assert_array_equal(*rates)


def test_the_validation_split_is_trained_on_and_the_memory_described(tmp_path):
  run(tmp_path, make(epochs=1, **COMPOSITIONS["er"]()))
  first, second = (r for r in stopped_runs.records(tmp_path) if r["kind"] == "train")
  assert first["train_size"] == 72 and first["trained_on"] == 80
  assert (first["steps_event"], second["steps_event"]) == (5, 5)
  assert (first["memory_capacity"], first["memory_held"]) == (72, 72)
  # ER's first bucket has nothing to replay; then each step takes as many rows again.
  assert (first["examples_train"], second["examples_train"]) == (80, 80 + 160)


def test_given_weights_are_where_training_starts(tmp_path):
  backbone = functools.partial(mlp.mlp, hidden=(8,))

  store = weight_store.WeightStore(tmp_path / "w", 0)
  given = [np.full(w.shape, 0.5, np.float32) for w in backbone(WIDTH).get_weights()]
  store.save("start", given)
  path = str(next((tmp_path / "w").iterdir()))
  learner = make(epochs=0.1, learning_rate=1e-9, net=trainable_parts.AllLayers(backbone, path))
  run(tmp_path / "run", learner)
  np.testing.assert_allclose(learner.composed.upper.get_weights()[0], given[0], atol=1e-6)
  store.save("start", [g.T for g in given])
  with pytest.raises(ValueError, match="Give weights of this very backbone"):
    run(tmp_path / "other", make(net=trainable_parts.AllLayers(backbone, path)))


def test_a_missing_class_is_said_and_no_error(tmp_path):
  run(tmp_path, make(epochs=1), stream(task=tasks.Task("t", tasks.SINGLE_LABEL, 3), num_classes=3))
  assert stopped_runs.records(tmp_path)[0]["classes_missing"] == [2]


def test_a_memory_larger_than_the_first_bucket_is_allowed_and_said(tmp_path, caplog):
  composition = {"memory": held(reservoir.Reservoir(), 100), "train_on": "memory"}
  with caplog.at_level("WARNING"):
    run(tmp_path, make(epochs=1, **composition))
  assert "The memory has 100 slots, the first bucket 80 examples" in caplog.text
  trained = [r for r in stopped_runs.records(tmp_path) if r["kind"] == "train"]
  assert [r["memory_held"] for r in trained] == [80, 100]


def test_a_training_that_diverges_is_said(tmp_path, caplog):
  with caplog.at_level("WARNING"):
    run(
      tmp_path,
      make(epochs=200, learning_rate=1e30, optimizer=optimizers.Momentum(weight_decay=1.0)),
    )
  assert "diverged; lower the learning rate" in caplog.text
  assert stopped_runs.records(tmp_path)[0]["train_loss"] is None


@pytest.mark.parametrize("arguments, message", [
    ({"train_on": "past"}, "train_on is 'past'; allowed are current, memory, both, all"),
    ({"train_on": "memory"}, "train_on='memory' and replay_batch=0, but there is no memory"),
    ({"replay_batch": 8}, "replay_batch=8, but there is no memory"),
    ({"memory": held(reservoir.Reservoir())}, "a memory that nothing reads"),
    ({"memory": held(reservoir.Reservoir()), "train_on": "memory", "replay_batch": 8},
     "trains on its memory and replays it"),
    ({"objective": gem.Agem()}, "Agem works with a memory, but there is none"),
    ({"objective": der.Der(), "memory": held(reservoir.Reservoir())}, "but replay_batch is 0"),
    ({"objective": si.Si(), "head": class_heads.CwrStar()}, "the objective Si and the head CwrSt"),
    ({"optimizer": "sgd"}, "optimizer is 'sgd'; give optimizers.Momentum"),
    ({"epochs": 0}, "epochs is 0; it must be above 0"),
    ({"learning_rate": float("nan")}, "learning_rate is nan"),
])
def test_impossible_compositions_are_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    make(**arguments)


def small_conv(image_shape):
  return conv4.conv4(image_shape, blocks=2)


@pytest.mark.parametrize("arguments, message", [
    ({"transform": feature_set.Features(WIDTH + 1)}, "has features of width 6, but 7 was expected"),
    ({"transform": image_ops.Plain(8), "net": trainable_parts.AllLayers(small_conv)},
     "has features of width 6, but an image was expected"),
    ({"transform": image_ops.Plain(8)}, "has features of width 6, but an image was expected"),
    ({"net": trainable_parts.HeadOnly(lambda images: images)}, "the examples are features"),
    ({"net": trainable_parts.AllLayers(small_conv)}, "cannot be called with feature_size=6"),
    ({"net": trainable_parts.AllLayers(lambda feature_size: "net")}, "must make a Keras model"),
    ({"head": class_heads.PerTask()}, "the head PerTask, but was given the buckets of one task"),
])
def test_data_that_does_not_fit_is_refused(arguments, message, tmp_path):
  with pytest.raises(ValueError, match=message):
    run(tmp_path, make(**arguments))


@pytest.mark.parametrize("optimizer, message", [
    (optimizers.Keras(lambda: "adam"), "made str .'adam'.; it must make a tf.keras.optimizers"),
    (optimizers.Keras(lambda: tf.keras.optimizers.Adam(
        tf.keras.optimizers.schedules.CosineDecay(0.1, 10))), "was given a learning rate schedule"),
])
def test_an_optimizer_that_keras_does_not_know_is_refused(optimizer, message, tmp_path):
  with pytest.raises(ValueError, match=message):
    run(tmp_path, make(optimizer=optimizer))


def test_a_keras_optimizer_gets_the_rate_of_each_step(tmp_path):
  learner = make(optimizer=optimizers.Keras(tf.keras.optimizers.Adam), learning_rate=0.05)
  assert run(tmp_path, learner)["matrix"][0][0] > 0.95
  assert learner._loop.step.optimizer.optimizer.learning_rate.numpy() == pytest.approx(0.005)


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_bucket_of_another_width_is_refused_before_anything_is_learned(part, tmp_path):
  parts = {"train": features("train9", 1), "test": features("test9", 1)}
  parts[part] = features(f"{part}9", 1, width=WIDTH + 2)
  odd = buckets_lib.Buckets(TASK, (*stream(), buckets_lib.Bucket("b9", **parts)))
  with pytest.raises(ValueError, match=f"'{part}9' has features of width 8, but 6 was expected"):
    run(tmp_path, make(), odd)
  assert stopped_runs.records(tmp_path) == []


def test_buckets_of_other_classes_are_refused():
  with pytest.raises(ValueError, match="is single_label with 3 classes, but task 't'"):
    stream(num_classes=3)


def uneven(num=12, size=8):
  """Buckets of images as high as the net's, twice as wide; red is the column, from 1."""
  columns = np.zeros([num, size, 2 * size, 3], np.uint8)
  columns[..., 0] = 1 + np.arange(2 * size)
  return buckets_lib.Buckets(TASK, tuple(buckets_lib.Bucket(f"b{i}", *(
      image_set.ImageSet.from_arrays(f"{part}{i}", columns, np.arange(num) % 2, kind=TASK.kind,
                                     num_classes=2, ids=[f"{part}{i}/{n}" for n in range(num)])
      for part in ("train", "test"))) for i in range(2)))


@unconverted.unconverted
class Edges(tf.Module):
  """A net that notes where the squares that it is given begin, and whether it trains.

  A graph is made on zeros, which are no square.
  """

  seen: set = set()

  def __call__(self, image_shape):
    inputs = tf.keras.Input(image_shape)
    return tf.keras.Model(inputs, EdgeLayer()(inputs))


@unconverted.unconverted
class EdgeLayer(tf.keras.layers.Layer):

  def call(self, images, training=None):
    tf.numpy_function(lambda ends: Edges.seen.update(
        (bool(training), int(end)) for end in ends.min(1) if end), [images[:, 0, :, 0]], [])
    return tf.reshape(images, [-1, int(np.prod(images.shape[1:]))])


@pytest.mark.parametrize("name", ["er_ewc", "agem_sample"])
def test_each_step_cuts_another_square_and_evaluation_the_central_one(name, tmp_path):
  Edges.seen = set()
  learner = make(transform=clear_transform.Clear(8), net=trainable_parts.AllLayers(Edges()),
                 epochs=20, learning_rate=1e-6, **COMPOSITIONS[name]())
  run(tmp_path, learner, uneven(), validation_share=0.25)
  assert {edge for training, edge in Edges.seen if training} == set(range(1, 10))
  assert {edge for training, edge in Edges.seen if not training} == {5}


@unconverted.unconverted
def two_units(image_shape):
  return tf.keras.Sequential([
      tf.keras.layers.Rescaling(1 / 255, input_shape=image_shape), tf.keras.layers.Flatten(),
      tf.keras.layers.Dense(2)])


def few_digits():
  made = digits.buckets(2)
  return buckets_lib.Buckets(made.task, tuple(
      buckets_lib.Bucket(b.name, b.train.take(60, seed=0), b.test.take(20, seed=0)) for b in made))


def test_squares_give_the_same_records_in_either_storage(tmp_path):
  summaries = []
  for longest in (1, 2):
    # Rows are trained on, observed, held and replayed.
    arguments = {"objective": ewc.Ewc(), "memory": held(reservoir.Reservoir(), 20),
                 "replay_batch": 4}
    learner = make(transform=clear_transform.Clear(8, longest=longest), epochs=1,
                   net=trainable_parts.AllLayers(two_units), learning_rate=0.01, **arguments)
    folder = tmp_path / str(longest)
    summaries.append(run(folder, learner, few_digits()))
  assert summaries[0] == summaries[1]
  assert stopped_runs.records(tmp_path / "1") == stopped_runs.records(tmp_path / "2")
