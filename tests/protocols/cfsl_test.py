# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import dataclasses
import shutil
import types

import numpy as np
import pytest
import record_keys
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.episodes import task_types
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.data.own import image_sources
from suite.learners import gradient
from suite.learners import protonet
from suite.learners import statistics_learner
from suite.models.episodic import embedding
from suite.protocols import cfsl
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer
from suite.state import predictions
from suite.state import weight_store
from suite.training.episodic import episode_graphs
from suite.training.episodic import episode_questions
from suite.training.episodic import meta_schedules
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.statistics import class_means

SETTING = dict(updates=4, updates_per_event=2, tasks_per_update=3, test_episodes=4)


class Constant(tf.Module):
  """Knows nothing, answers class 0, cannot be meta-trained."""

  transform = image_ops.Plain(2)
  transductive = False

  def begin(self, task, context):
    pass

  def initial_state(self, num_classes):
    return tf.zeros([num_classes])

  def adapt(self, state, images, labels):
    return state

  def logits(self, state, images):
    return tf.one_hot(tf.zeros(images.shape[0], tf.int32), state.shape[0])


def _dense(image_shape):
  return tf.keras.Sequential([
      tf.keras.Input(image_shape), tf.keras.layers.Flatten(), tf.keras.layers.Rescaling(1 / 255),
      tf.keras.layers.Dense(4)])


def _protonet(**settings):
  training = meta_schedules.MetaTraining(**settings)
  return protonet.ProtoNet(
      embedding.KerasEmbedding(_dense), transform=image_ops.Plain(2), training=training)


def _episodes(seed=0, way=2, num_support_sets=2):
  """4 classes that differ in one value of 12, the rest is noise; 2 support sets of 2, 8 targets."""
  rng = np.random.default_rng(0)
  labels = np.repeat(np.arange(4), 20)
  images = rng.integers(0, 256, [80, 2, 2, 3])
  images[:, 0, 0, 0] = 80 * labels
  setting = task_types.Setting(way, shot=1, targets=2, num_support_sets=num_support_sets)
  return episodes.Episodes(images.astype(np.uint8), labels, setting, seed=seed)


def _state(folder, seed=0, stop_after=None):
  folder.mkdir(exist_ok=True)
  state = run_state.RunState(
      folder, run_writer.RunWriter(folder, None, progress.Progress("x")), name="x", seed=seed,
      distribution=distribution.build())
  commit = state.commit

  def commit_then_stop(*args):
    commit(*args)
    if state.done == stop_after:
      raise KeyboardInterrupt

  state.commit = commit_then_stop
  return state


def _run(folder, learner=None, seed=0, stop_after=None, **settings):
  return cfsl.run(learner or _protonet(), state=_state(folder, seed, stop_after), **{
      "episodes_train": _episodes(0), "episodes_test": _episodes(1), **SETTING, **settings})


def _without_seconds(values):
  return {k: v for k, v in values.items() if not k.startswith("seconds")}


def _records(folder):
  return records.strip_times(records.read(folder / "records.jsonl"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
  folder = tmp_path_factory.mktemp("whole")
  return folder, _run(folder)


@pytest.mark.parametrize("make", [_protonet, Constant])  # Encoded images, and plain ones.
def test_an_unrolled_graph_answers_as_a_loop(make, tmp_path, monkeypatch):
  asked, few, one = [], [], episode_graphs.Graphs._answer_one
  monkeypatch.setattr(episode_graphs.Graphs, "_answer_one", lambda self, episode, unrolled: (
      asked.append(unrolled) or one(self, episode, unrolled)))
  for limit in (3000, 8):  # 4 episodes of 2 sets are 8.
    monkeypatch.setattr(episode_questions, "_SETS_TO_UNROLL", limit)
    _run(tmp_path / str(limit), make(), updates=0)
    few.append(_records(tmp_path / str(limit)))
  assert set(asked) == {False, True}
  for a, b in zip(*few):
    assert a.keys() == b.keys()
    for name in a:
      assert a[name] == (pytest.approx(b[name]) if isinstance(a[name], float) else b[name]), name


def _head(transform):
  return gradient.GradientLearner(
      transform=transform, net=trainable_parts.HeadOnly(), epochs=2, batch_size=8,
      head=class_heads.Linear(start="zeros"),
      learning_rate=0.1, optimizer=optimizers.Momentum(0.0))


def _means(transform):
  return statistics_learner.StatisticsLearner(class_means.ClassMeans(), transform=transform)


@pytest.mark.parametrize("make", [_head, _means])
def test_features_answer_as_the_images_whose_features_they_are(make, tmp_path):
  images = _episodes(1)
  features = episodes.Episodes(
      tf.reshape(tf.cast(images.images, tf.float32), [80, 12]) / 255.0, np.repeat(np.arange(4), 20),
      images.setting, seed=1)
  found = []
  for source, transform in ((images, image_ops.Plain(2)), (features, feature_set.Features(12))):
    folder = tmp_path / str(len(found))
    _run(folder, make(transform), episodes_train=source, episodes_test=source, updates=0)
    found.append(predictions.load(folder / "predictions/0000.parquet"))
  for name in ("label", "top1"):
    np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))
  with pytest.raises(ValueError, match=r"features of width 12, but .* examples \(7,\)"):
    _run(tmp_path / "other", make(feature_set.Features(7)), episodes_train=features,
         episodes_test=features, updates=0)


def test_records_add_up(whole):
  folder, summary = whole
  *train, test = _records(folder)
  assert not record_keys.unknown([*train, test])
  assert [r["kind"] for r in train] == ["train", "train"] and test["kind"] == "predict"
  assert [r["updates"] for r in train] == [2, 4] == [r["steps_meta_train"] for r in train]
  # 2 updates of 3 episodes of 4 + 8 images.
  assert [r["examples_meta_train"] for r in train] == [72, 144]
  assert train[0]["flops"] * 2 == train[1]["flops"] > 0
  # Dense 12 -> 4, once for each image that occurs; in each of 4 episodes 4 x 2 x 4 products for
  # the sums of each of 2 sets, 8 x 4 x 4 for the distances.
  used = len(np.unique(_episodes(1).indices(0, 4)))
  assert test["macs_predict"] == used * 12 * 4 + 4 * (2 * (4 * 2 * 4) + 8 * 4 * 4)
  assert test["examples_predict"] == 4 * 12 and not test["transductive"]
  assert test["seen"] == 4 * 8 and test["num_tasks"] == 4
  assert test["accuracy"] == pytest.approx(test["correct"] / 32) == pytest.approx(1 - test["error"])
  assert summary["accuracy"] == test["accuracy"] and summary["flops"] == test["flops"]
  assert summary["meta_loss"] == train[1]["loss"]


def test_predictions_are_saved_once_for_each_target(whole):
  saved = predictions.load(whole[0] / "predictions" / "0002.parquet")
  assert len(saved) == 32 and saved.id[8] == "episode 1, target 0"
  source = _episodes(1)
  np.testing.assert_array_equal(
      saved.label, np.concatenate([source.episode(i).target_labels for i in range(4)]))


def test_the_seed_of_the_run_chooses_weights_and_episodes(tmp_path, whole):
  with pytest.raises(KeyboardInterrupt):
    _run(tmp_path, seed=1, stop_after=1)
  assert _records(tmp_path)[0]["loss"] != _records(whole[0])[0]["loss"]


def test_always_one_class_is_right_once_in_four_in_every_task(tmp_path):
  summary = _run(tmp_path, Constant(), updates=0)
  assert summary["accuracy"] == 0.25 and summary["accuracy_interval_95"] == 0.0
  assert summary["meta_loss"] is None and summary["macs"] == 0


def _begun(folder):
  learner = _protonet()
  _state(folder).resume(learner, begin=[tasks.Task("episode", tasks.SINGLE_LABEL, 4)])
  return learner


def _encoded(learner, batch):
  def encode(images):
    codes = learner.encode(tf.reshape(images, [-1, *images.shape[-3:]]))
    return tf.reshape(codes, [*images.shape[:-3], -1])

  return batch._replace(support_images=encode(batch.support_images),
                        target_images=encode(batch.target_images))


def test_many_episodes_in_one_graph_answer_as_one_by_one(tmp_path):
  learner = _begun(tmp_path)
  batch = _encoded(learner, next(iter(_episodes().batches(2))))
  together = episode_graphs.Graphs(learner, 4).answer(batch[:3])
  for i in range(2):
    state = learner.initial_state(4)
    for s in range(2):
      state = learner.adapt(state, batch.support_images[i, s], batch.support_labels[i, s])
    alone = learner.logits(state, batch.target_images[i])
    np.testing.assert_allclose(together[i], alone, rtol=1e-4, atol=1e-5)


def test_every_support_set_moves_the_answers(tmp_path):
  learner = _begun(tmp_path)
  images, labels, targets, _ = _encoded(learner, next(iter(_episodes().batches(1))))
  answer = episode_graphs.Graphs(learner, 4).answer
  whole = answer((images, labels, targets)).numpy()[0]  # [T, W]
  for s, classes in ((0, [0, 1]), (1, [2, 3])):
    other = images.numpy()
    other[:, s] += 1.0
    moved = np.abs(answer((other, labels, targets)).numpy()[0] - whole).max(axis=0) > 1e-3
    assert np.flatnonzero(moved).tolist() == classes


@pytest.mark.parametrize("settings, message", [
    (dict(updates=5), "updates=5 is not a multiple of updates_per_event=2"),
    (dict(episodes_train=_episodes(num_support_sets=1)), r"have \[2, 4\] classes"),
    (dict(test_episodes=-1), "test_episodes=-1; choose a number of episodes, or 0"),
])
def test_what_does_not_fit_is_refused(tmp_path, settings, message):
  with pytest.raises(ValueError, match=message):
    _run(tmp_path, **settings)


def test_own_episodes_that_train_on_classes_of_the_test_are_refused(tmp_path, caplog):
  def own(names, classes):
    images = own_sets.setdefault(names, image_sources.from_arrays(
        np.zeros([16, 2, 2, 3], np.uint8), np.arange(16) % 4, class_names=names and list(names)))
    return episodes.of(images, classes=classes, way=2, targets=1)

  own_sets = {}
  for names, other_names, classes, message in (
      ("abcd", "cdef", ["c", "d"], "both draw the classes 'c', 'd'"),
      (None, None, [1, 2], "both draw the classes '1'")):
    with pytest.raises(ValueError, match=f"{message}.* Give different ones: episodes.of"):
      _run(tmp_path, episodes_train=own(names, None if names else [0, 1]),
           episodes_test=own(other_names, classes))
  with pytest.raises(ValueError, match="Validation episodes of .* both draw the classes 'd'"):
    _run(tmp_path, episodes_train=own("abcd", ["a", "b"]), episodes_test=own("cdef", ["d", "e"]),
         validation=cfsl.Validation(own("abcd", ["c", "d"])))
  episodes.check_classes(own("abcd", None), own("cdef", ["e", "f"]))  # The advice.
  episodes.check_classes(own(None, [0, 1]), own(None, [2, 3]))
  assert not caplog.text
  episodes.check_classes(own("abcd", None), own(None, None))
  assert "are not compared, since not all have names" in caplog.text


def test_a_run_goes_on_with_the_graphs_it_began_with(tmp_path):
  _run(tmp_path, Constant(), updates=0, compute=cfsl.Compute(compiled=True))
  record, = _records(tmp_path)
  assert record["compiled"] and "task_batching" not in record
  with pytest.raises(ValueError, match="began with cfsl.Compute.compiled = True, .* is False"):
    _run(tmp_path, Constant(), updates=0)
  grouped = cfsl.Compute(task_batching="grouped")
  grouped.check([grouped.describe()])
  with pytest.raises(ValueError, match="began with .*task_batching = 'loop', .* is 'grouped'"):
    grouped.check([{}])


def test_episodes_are_grouped_on_a_gpu_alone_and_as_the_run_began():
  gpu, cpu, compute = "/device:GPU:0", "/device:CPU:0", cfsl.Compute()

  def chosen(can_group, device, records=(), compute=compute):
    return compute.chosen(
        types.SimpleNamespace(can_group=can_group), device, records).task_batching

  assert [chosen(can, device) for can, device in ((True, gpu), (True, cpu), (False, gpu))] == [
      "grouped", "loop", "loop"]
  assert chosen(True, gpu, [{}]) == "loop"
  assert chosen(True, cpu, [{"task_batching": "grouped"}]) == "grouped"
  assert chosen(True, gpu, compute=cfsl.Compute(task_batching="loop")) == "loop"


def test_what_xla_cannot_repeat_is_refused_before_it_compiles(tmp_path):
  tf.config.experimental.enable_op_determinism()
  with pytest.raises(ValueError, match="XLA has no deterministic .* Give --no-deterministic"):
    _run(tmp_path, compute=cfsl.Compute(compiled=True))


def test_a_diverged_meta_training_stops(tmp_path):
  with pytest.raises(FloatingPointError, match="at update .*lower learning rate"):
    _run(tmp_path, _protonet(learning_rate=1e38))


@pytest.fixture(name="validated", scope="module")
def _validated_run(tmp_path_factory):
  """A folder with the folder "whole" of a run, its summary and its settings.

  Beside "whole" are its states after each event, by their number.
  """
  folder, commit = tmp_path_factory.mktemp("validated"), run_state.RunState.commit
  settings = dict(updates=3, updates_per_event=1,
                  validation=cfsl.Validation(_episodes(2), 3, ensemble=2))

  def copying(state, *arguments):
    commit(state, *arguments)
    shutil.copytree(state.folder, folder / str(state.done))

  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(run_state.RunState, "commit", copying)
    summary = _run(folder / "whole", **settings)
  return folder, summary, settings


def test_the_best_models_on_validation_answer_together(validated):
  folder, summary, _ = validated
  *train, test = _records(folder / "whole")
  accuracies = [record["validation_accuracy"] for record in train]
  best = sorted(range(3), key=lambda event: (-accuracies[event], event))[:2]
  assert test["models"] == best == cfsl.best_models(train, 2)
  assert summary["best_validation_accuracy"] == max(accuracies)
  # 3 validation episodes of 12 images, 3 times; 4 test episodes by 2 models.
  assert test["examples_validate"] == 3 * 3 * 12 and test["examples_predict"] == 2 * 4 * 12


class _Fixed(Constant):
  """Answers every episode with the logits [T, W] that were loaded last."""

  def __init__(self, num_targets):
    super().__init__()
    self.table = tf.Variable(tf.zeros([num_targets, 4]))

  def logits(self, state, images):
    return tf.convert_to_tensor(self.table)


def test_an_ensemble_is_the_mean_of_logits_by_hand(tmp_path):
  state, learner = _state(tmp_path), _Fixed(8)
  # On the first target the first model is surer, on the second the second.
  models = [np.zeros([8, 4], np.float32) for _ in range(2)]
  models[0][0, 1], models[0][1, 0] = 2.0, 1.0
  models[1][0, 0], models[1][1, 1] = 1.0, 5.0
  for event, table in enumerate(models):
    weight_store.WeightStore(tmp_path / "weights", event).save("meta-model", [table])
  context = dataclasses.replace(
      state.context(), store=weight_store.WeightStore(tmp_path / "weights", 2))
  graphs = episode_graphs.Graphs(learner, 4)
  questions = episode_questions.EpisodeQuestions(graphs, _episodes(1), 1)
  found = [cfsl.test(graphs, questions, context, chosen).predictions["top1"][:2]
           for chosen in ([0], [1], [0, 1])]
  assert [list(top) for top in found] == [[1, 0], [0, 1], [1, 1]]


def _saved_models(folder):
  return sorted(int(path.name[:6]) for path in (folder / "weights").glob("*.meta-model.npz"))


def test_a_validated_run_stopped_after_an_event_goes_on_the_same(validated):
  folder, _, settings = validated
  before = []
  for stop in range(1, 5):
    # Stopped between a commit and the removal: one more model than the ensemble's may be there.
    best = cfsl.best_models(_records(folder / str(stop)), 2)
    assert set(best) <= set(_saved_models(folder / str(stop))) <= {*best, *before}
    before = best
  # After two models of three: the third is validated, one is removed, and two are tested.
  _run(folder / "2", **settings)
  assert _records(folder / "2") == _records(folder / "whole")
  assert _saved_models(folder / "2") == _saved_models(folder / "whole") == sorted(best)


@pytest.mark.parametrize("ensemble", [1, 2, 5])
def test_a_model_that_is_dropped_is_never_wanted_again(ensemble):
  rng = np.random.default_rng(ensemble)
  for _ in range(50):
    records, kept = [], set()
    for event in range(12):
      kept &= set(cfsl.best_models(records, ensemble))  # As an event begins.
      records.append({"event": event} if rng.random() < 0.2 else  # Not validated.
                     {"event": event, "validation_accuracy": rng.integers(0, 4) / 4})
      if event in cfsl.best_models(records, ensemble):
        kept.add(event)
      assert len(kept) <= ensemble + 1
      assert set(cfsl.best_models(records, ensemble)) <= kept


def test_costs_of_a_task(whole):
  folder, summary = whole
  test = _records(folder)[-1]
  # Sums [4, 4] and counts [4], float32, for 4 support images of 12 values.
  assert test["atm"] == (16 + 4) * 4 / (4 * 12 * 4)
  # Dense 12 -> 4 on 4 + 8 images, the sums of 2 sets, the distances.
  assert test["macs_per_task"] == 12 * 12 * 4 + 2 * (4 * 2 * 4) + 8 * 4 * 4
  assert summary["atm"] == test["atm"]


def test_costs_are_counted_without_testing_an_episode(tmp_path, whole):
  summary = _run(tmp_path, updates=0, test_episodes=0)
  record, = _records(tmp_path)
  tested = _records(whole[0])[-1]
  for cost in ("macs_per_task", "atm"):
    assert record[cost] == tested[cost]
  assert record["macs"] == record["examples"] == record["num_tasks"] == 0
  assert summary["accuracy"] is None and "predictions" not in record


def test_conventions_are_not_mixed(tmp_path):
  other = _episodes(1)
  other.convention = "paper_feb"
  with pytest.raises(ValueError, match="follow the conventions"):
    _run(tmp_path, episodes_test=other)


def test_encoding_images_once_answers_as_encoding_them_in_every_episode(tmp_path):
  class OneByOne(Constant):
    """The same learner without `encode`: its codes are the images."""

    def __init__(self, learner):
      super().__init__()
      self._learner = learner

    def begin(self, task, context):
      self._learner.begin(task, context)

    def initial_state(self, num_classes):
      return self._learner.initial_state(num_classes)

    def adapt(self, state, images, labels):
      return self._learner.adapt(state, self._learner.encode(images), labels)

    def logits(self, state, images):
      return self._learner.logits(state, self._learner.encode(images))

  summaries = [_run(tmp_path / name, learner, updates=0, test_episodes=12)
               for name, learner in (("once", _protonet()), ("each", OneByOne(_protonet())))]
  once, each = (predictions.load(tmp_path / name / "predictions" / "0000.parquet")
                for name in ("once", "each"))
  np.testing.assert_array_equal(once.top1, each.top1)
  np.testing.assert_allclose(once.true_class_probability, each.true_class_probability, rtol=1e-4)
  # Of a task alone the cost is the same; in all, far less was computed.
  assert summaries[0]["macs_per_task"] == summaries[1]["macs_per_task"]
  assert summaries[0]["macs_predict"] < summaries[1]["macs_predict"]
