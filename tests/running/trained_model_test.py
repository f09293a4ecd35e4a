# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a run has trained, taken home: the same answers as the run's, without the suite."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf
import without_suite

import suite
from suite import cli
from suite.contracts import deliveries
from suite.data.digits import digits
from suite.data.own import image_sources
from suite.protocols import cfsl
from suite.running import trained_model
from suite.state import predictions
from suite.training.sequence import update_strategies

layers = tf.keras.layers
SHAPE = (6, 4, 1)  # Not square: it is prepared to 4 x 4 pixels.
NAMES = ["dark", "gray", "light"]


def net():
  """A model: AutoGraph would convert what holds a function of users, which takes seconds."""
  return tf.keras.Sequential([layers.Rescaling(1 / 255, input_shape=(4, 4, 3)),
                              layers.Conv2D(4, 3, activation="relu"), layers.Flatten()])


def pixels(num, seed):
  """Images [N, 6, 4, 1] of three classes by brightness, and their labels."""
  rng, labels = np.random.default_rng(seed), np.arange(num) % 3
  found = rng.integers(0, 120, [num, *SHAPE]) + 60 * labels[:, None, None, None]
  return found.astype(np.uint8), labels


def image_set(num=36, seed=0):
  return image_sources.from_arrays(*pixels(num, seed), name="brightness", class_names=NAMES)


def stored(run):
  """The predictions of the last Predict event."""
  path = [r["predictions"] for r in run.records if "predictions" in r][-1]
  return predictions.load(run.folder / path)


# Only TensorFlow and files are left there.
ALONE = """
import numpy as np, tensorflow as tf
images = np.load("images.npy")
found = {}
for name in ("er", "ncm"):
  model = tf.saved_model.load(name)
  scores = model(images)
  served = model.signatures["serving_default"](image=tf.repeat(images, 3, axis=-1))
  np.testing.assert_allclose(served["scores"], scores, rtol=1e-4, atol=1e-4)
  assert [n.decode() for n in served["name"].numpy()] == [
      model.class_names().numpy()[i].decode() for i in np.argmax(scores, 1)]
  found[name] = scores.numpy()
resized = np.load("prepared.npy")
found["keras"] = tf.keras.models.load_model("er.keras").predict(resized, verbose=0)
np.savez("found.npz", **found)
"""


def test_answers_without_the_suite_are_those_of_the_run(tmp_path, monkeypatch, python):
  monkeypatch.chdir(tmp_path)
  buckets = suite.buckets.of([(image_set(seed=i), image_set(12, seed=9 + i)) for i in range(2)])
  result = suite.run(
      protocol="clear", buckets=buckets, workdir="w", validation_share=0.2, learners={
          "er": suite.learner(net(), "er", epochs=2, memory_size=9),
          "ncm": suite.learner(net(), "ncm")})
  er, ncm = result.model("er"), result.model("ncm")
  raw, _ = pixels(12, 10)
  prepared = suite.learner(net()).transform.evaluate(tf.constant(raw)).numpy()
  np.save("images.npy", raw)
  np.save("prepared.npy", prepared)
  er.save("er"), ncm.save("ncm"), er.save("er.keras")
  without_suite.run(python, ALONE, cwd=tmp_path)
  with np.load("found.npz") as found:
    for run in result.runs:
      scores = found[run.folder.name]
      expected = stored(run)
      np.testing.assert_array_equal(np.argmax(scores, 1), expected.top1)
      with np.errstate(over="ignore"):
        probability = tf.nn.softmax(scores).numpy()[np.arange(12), expected.label]
      np.testing.assert_allclose(probability, expected.true_class_probability, rtol=1e-4)
    np.testing.assert_allclose(found["keras"], found["er"], rtol=1e-4, atol=1e-4)
  assert er.class_names == NAMES and json.loads((tmp_path / "er" / "model.json").read_text())[
      "class_names"] == NAMES
  with pytest.raises(trained_model.ExportError, match="ncm has no .keras file: its answers are not "
                     "those of one net of Keras layers"):
    ncm.save("ncm.keras")
  with pytest.raises(trained_model.ExportError, match="written as er.keras, or as a SavedM"):
    er.save("er.h5")
  with pytest.raises(trained_model.ExportError, match="er is not empty. Give another folder"):
    er.save("er")
  with pytest.raises(trained_model.ExportError, match="w has no learner 'mer'; it has er, ncm"):
    result.model("mer")
  with pytest.raises(trained_model.ExportError, match="only the program has that made them"):
    suite.report("w").model("er")
  # And back in: the last layer is left out, the others begin as they ended.
  learner = suite.learner(tf.keras.models.load_model("er.keras"), "ncm", head="replace").make(
      deliveries.BUCKETS)
  body = tf.keras.Model(er.keras.inputs, er.keras.layers[-1].input)
  np.testing.assert_allclose(
      learner.encode(tf.constant(prepared)), body(prepared), rtol=1e-5, atol=1e-5)


def test_one_head_a_task(tmp_path):
  tf.keras.utils.set_random_seed(0)  # Task b moves answers about a, which may lie near a tie.
  trains = {"a": pixels(36, 3), "b": (pixels(36, 4)[0], np.arange(36) % 2)}
  tests = {"a": pixels(12, 1), "b": (pixels(12, 2)[0][:8], np.arange(8) % 3 % 2)}
  result = suite.run(
      protocol="nevis", workdir=str(tmp_path / "w"), stream=suite.streams.of({
          key: {"train": image_sources.from_arrays(*trains[key]),
                "test": image_sources.from_arrays(*tests[key])} for key in ("a", "b")}),
      learners={"mine": suite.learner(net(), epochs=2)})
  run, = result.runs
  for key, (raw, _) in tests.items():
    record, = [r for r in run.records if r.get("predictions") and r["task_key"] == key]
    scores = result.model(task=key)(raw)
    np.testing.assert_array_equal(
        np.argmax(scores, 1), predictions.load(run.folder / record["predictions"]).top1)
  with pytest.raises(trained_model.ExportError, match="has no task 'c'; it has a, b"):
    result.model(task="c")


def test_a_few_shot_model_adapts_before_it_answers(tmp_path):
  series = [suite.episodes.of(
      image_set(60, seed=seed).with_class_names([f"{split} {one}" for one in NAMES]), way=2,
      shot=2, targets=3, num_support_sets=2, class_change_interval=2, split=split)
            for seed, split in ((0, "train"), (1, "test"), (2, "validation"))]
  result = suite.run(
      protocol="cfsl", episodes_train=series[0], episodes_test=series[1], updates=2,
      updates_per_event=1, tasks_per_update=1, test_episodes=3,
      validation=cfsl.Validation(series[2], num_episodes=2, ensemble=2),
      workdir=str(tmp_path / "w"), learners={"protonet": suite.learner(net(), "protonet")})
  model = result.model()
  model.save(tmp_path / "out")
  loaded = tf.saved_model.load(str(tmp_path / "out"))
  asked = next(iter(series[1].batches(3, first_index=0)))
  top1 = [np.argmax(loaded(*(part[i] for part in asked[:3])), 1) for i in range(3)]
  np.testing.assert_array_equal(np.concatenate(top1), stored(result.runs[0]).top1)
  assert model.about["models"] == 2 and "adapts to them" in model.about["gives"]


@pytest.mark.parametrize("name, seen", [("er", 40), ("ncm", 39)])
def test_a_sequence_model_answers_as_it_stands_after_the_last_sample(tmp_path, name, seen):
  own = net()

  def run(num):
    return suite.run(
        protocol="fluid", workdir=str(tmp_path / str(num)), update=update_strategies.Every(30),
        sequence=suite.sequences.of(image_set(num), shuffle=False),
        learners={name: suite.learner(own, name)})

  # ER trains after 30 samples only; class means take in each sample once it is answered.
  whole = run(40)
  model = whole.model() if seen == 40 else run(seen).model()
  model.save(tmp_path / "out")
  files = [r["predictions"] for r in whole.runs[0].records if r.get("predictions")]
  found = [predictions.load(whole.runs[0].folder / file) for file in files]
  top1, label, probability = (np.concatenate([getattr(one, part) for one in found]) for part in (
      "top1", "label", "true_class_probability"))
  first = 30 if seen == 40 else seen
  scores = tf.saved_model.load(str(tmp_path / "out"))(pixels(40, 0)[0][first:])
  np.testing.assert_array_equal(np.argmax(scores, 1), top1[first:])
  np.testing.assert_allclose(
      tf.nn.softmax(scores).numpy()[np.arange(40 - first), label[first:]], probability[first:],
      rtol=1e-4)


def test_the_command_exports_a_run_of_gin_files(tmp_path, monkeypatch, capsys):
  monkeypatch.chdir(tmp_path)
  suite.run("digits/clear", learners=["ncm"], workdir="runs/mine",
            params={"digits.buckets.num_buckets": 1})
  assert cli.main(["export", "mine", "--out", "out"]) == 0
  assert "scores of 10 classes" in capsys.readouterr().out
  images, labels = digits.load()
  scores = tf.saved_model.load("out")(images[:200])
  assert np.mean(np.argmax(scores, 1) == labels[:200]) > 0.6
  assert cli.main(["export", "none", "--out", "out"]) == 2
  assert "There is no directory 'none', and no runs/none" in capsys.readouterr().err


class Scaled(tf.keras.layers.Layer):
  """A layer of layers, and a setting that its config does not have."""

  scale = 1.0

  def __init__(self, **settings):
    super().__init__(**settings)
    self.first, self.second = layers.Dense(3), layers.Dense(3)

  def call(self, x):
    return self.second(self.first(x)) * self.scale


def test_a_net_for_a_keras_file_answers_as_the_run_or_there_is_none():
  inner = Scaled(name="mine")
  net = tf.keras.Sequential([tf.keras.Input([3]), inner])
  inner.first.trainable = False
  plain, reason = trained_model._plain(net, "")
  x = tf.constant([[1.0, 2, 3]])
  np.testing.assert_array_equal(plain(x), net(x))
  assert not reason
  inner.scale = 3.0
  plain, reason = trained_model._plain(net, "")
  assert plain is None and "mine.scale of the copy differs" in reason
