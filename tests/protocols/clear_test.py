# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import record_keys
import stopped_runs
import tensorflow as tf

from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.learners import statistics_learner
from suite.protocols import clear
from suite.state import predictions
from suite.training.scoring import evaluation
from suite.training.statistics import class_means
from suite.training.statistics import ridge_sums

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 2)


class LastTwo(tf.Module):
  """Right on the bucket it was trained on last and on the one before; elsewhere it says class 0."""

  transform = image_ops.Plain(2)

  def __init__(self):
    super().__init__()
    self.delivered = []
    self.last = tf.Variable(-1)

  def begin(self, task, context):
    assert task == TASK

  def learn(self, experience, context):
    self.delivered.append(experience)
    batch = next(iter(experience.train.eval_batches(1, transform=self.transform)))
    self.last.assign(int(batch["image"][0, 0, 0, 1]))
    return {"note": "learned"}

  def predict(self, images):
    label, bucket = tf.cast(images[:, 0, 0, 0], tf.int32), tf.cast(images[:, 0, 0, 1], tf.int32)
    is_right = (bucket == self.last) | (bucket == self.last - 1)
    return tf.one_hot(tf.where(is_right, label, 0), 2)


def _image_set(bucket, labels, first_id):
  """Images whose red channel is their label, whose green channel is their bucket."""
  images = np.zeros([len(labels), 2, 2, 3], np.uint8)
  images[..., 0], images[..., 1] = np.asarray(labels)[:, None, None], bucket
  ids = [f"{bucket}/{first_id + i}" for i in range(len(labels))]
  return image_set.ImageSet.from_arrays(
      f"bucket {bucket}", images, labels, kind=TASK.kind, num_classes=2, ids=ids)


def _buckets(num):
  return buckets_lib.Buckets(TASK, tuple(
      buckets_lib.Bucket(
          f"bucket_{i}", train=_image_set(i, [0, 1] * 5, 0), test=_image_set(i, [0, 1, 1, 0], 10))
      for i in range(num)))


def _run(folder, learner, stop_before=None, **arguments):
  with stopped_runs.state(folder, stop_before=stop_before) as state:
    return clear.run(learner, state=state, **arguments)


def test_each_bucket_is_learned_once_and_then_all_or_the_later_ones_are_tested():
  assert clear.plan(2, "iid") == [(0, None), (0, 0), (0, 1), (1, None), (1, 0), (1, 1)]
  assert clear.plan(2, "challenge") == clear.plan(2, "iid")
  # Nothing is left to test after the last bucket: it is not trained on.
  assert clear.plan(3, "streaming") == [(0, None), (0, 1), (0, 2), (1, None), (1, 2)]
  with pytest.raises(ValueError, match="'offline'; allowed are iid, streaming, challenge"):
    clear.plan(3, "offline")


def test_iid_matrix_and_scores_worked_by_hand(tmp_path):
  summary = _run(tmp_path, LastTwo(), buckets=_buckets(3))
  matrix = [[1.0, 0.5, 0.5], [1.0, 1.0, 0.5], [0.5, 1.0, 1.0]]
  assert summary["matrix"] == matrix
  expected = {"in_domain": 1.0, "next_domain": 0.5, "accuracy": 5.5 / 6,
              "backward_transfer": 2.5 / 3, "forward_transfer": 0.5}
  assert {k: summary[k] for k in expected} == pytest.approx(expected)
  assert summary["num_events"] == 12 and summary["examples_predict"] == 9 * 4
  done = stopped_runs.records(tmp_path)
  assert [r["row"] for r in done if r.get("bucket") == 2 and r["kind"] == "predict"] == matrix
  about = ("kind", "trained_bucket", "bucket", "bucket_name", "accuracy", "row", "correct", "seen")
  assert [done[5][name] for name in about] == [
      "predict", 1, 0, "bucket_0", 1.0, [1.0, None, None], 4, 4]
  assert (done[4]["train_size"], done[4]["validation_size"], done[4]["note"]) == (9, 1, "learned")


def test_streaming_leaves_out_what_was_trained_on(tmp_path):
  learner = LastTwo()
  summary = _run(tmp_path, learner, buckets=_buckets(3), mode="streaming")
  assert len(learner.delivered) == 2 and summary["num_events"] == 5
  assert summary["matrix"] == [[None, 0.5, 0.5], [None, None, 0.5], [None, None, None]]
  assert (summary["next_domain"], summary["forward_transfer"]) == (0.5, 0.5)
  assert summary["in_domain"] is None and summary["accuracy"] is None
  assert [r["row"] for r in stopped_runs.records(tmp_path) if r["kind"] == "predict"][:2] == [
      [None, 0.5, None], [None, 0.5, 0.5]]


def test_predictions_of_every_predict_event_are_saved(tmp_path):
  _run(tmp_path, LastTwo(), buckets=_buckets(2))
  found = stopped_runs.records(tmp_path)
  saved = predictions.load(tmp_path / found[2]["predictions"])  # Bucket 1 after 0.
  assert saved.id.tolist() == ["1/10", "1/11", "1/12", "1/13"]
  assert saved.label.tolist() == [0, 1, 1, 0] and saved.top1.tolist() == [0, 0, 0, 0]
  assert sorted(p.name for p in (tmp_path / "predictions").iterdir()) == [
      "0001.parquet", "0002.parquet", "0004.parquet", "0005.parquet"]


def test_a_learner_is_given_its_bucket_and_nothing_else(tmp_path):
  learner = LastTwo()
  _run(tmp_path, learner, buckets=_buckets(3), validation_share=0.3)
  for i, delivered in enumerate(learner.delivered):
    ids = sorted([*delivered.train.ids, *delivered.dev.ids])
    assert ids == sorted(f"{i}/{n}" for n in range(10)) and delivered.dev.size == 3
    assert len(delivered.history) == 0
    with pytest.raises(AttributeError, match="test splits and their labels stay with"):
      delivered.test  # noqa: B018


def _files(folder):
  return {path.name: path.read_bytes() for path in (folder / "predictions").iterdir()}


def test_one_graph_serves_a_row_and_the_records_are_those_of_a_graph_a_cell(tmp_path, monkeypatch):
  asked = []
  evaluate = evaluation.evaluate
  monkeypatch.setattr(evaluation, "evaluate", lambda *args, forward, **kwargs: (
      asked.append(forward), evaluate(*args, **kwargs, forward=forward))[1])
  summary = _run(tmp_path / "row", LastTwo(), buckets=_buckets(3))
  rows = [len({id(forward) for forward in asked[i:i + 3]}) for i in (0, 3, 6)]
  assert rows == [1, 1, 1] and len({id(forward) for forward in asked}) == 3
  monkeypatch.setattr(evaluation, "evaluate",
                      lambda *args, forward, **kwargs: evaluate(*args, **kwargs))
  assert _run(tmp_path / "cell", LastTwo(), buckets=_buckets(3)) == summary
  assert stopped_runs.records(tmp_path / "cell") == stopped_runs.records(tmp_path / "row")
  assert _files(tmp_path / "cell") == _files(tmp_path / "row")


class Shapes(LastTwo):
  """Notes how many examples it is asked about at once; it answers class 0."""

  transform = feature_set.Features(1)

  def __init__(self):
    super().__init__()
    self.rows = []

  def learn(self, experience, context):
    return {}

  def predict(self, images):
    self.rows.append(images.shape[0])
    return tf.concat([images * 0.0 + 1.0, images * 0.0], 1)


def test_a_test_set_of_features_is_predicted_at_once(tmp_path):
  def features(bucket, num):
    return feature_set.FeatureSet.from_arrays(
        f"b{bucket}", np.zeros([num, 1], np.float32), np.arange(num) % 2, kind=TASK.kind,
        num_classes=2)

  buckets = buckets_lib.Buckets(TASK, tuple(
      buckets_lib.Bucket(f"b{i}", features(i, 10), features(i, num))
      for i, num in enumerate((300, 299))))
  learner = Shapes()
  summary = _run(tmp_path / "whole", learner, buckets=buckets)
  # The largest of them, so that one graph serves all; 1 where the width of logits is checked.
  assert set(learner.rows) == {1, 300}
  assert summary["matrix"][0] == [0.5, 150 / 299]
  learner = Shapes()
  assert _run(tmp_path / "parts", learner, buckets=buckets, eval_batch_size=128)[
      "matrix"] == summary["matrix"]
  assert set(learner.rows) == {1, 128}


def _ridge(**settings):
  return statistics_learner.StatisticsLearner(
      ridge_sums.RidgeSums(**settings), transform=image_ops.Plain(4))


def test_all_rows_are_learned_whether_some_are_held_out_or_not(tmp_path):
  matrices = []
  for share, held_out in ((0.0, 0), (0.5, 5)):
    folder = tmp_path / str(share)
    matrices.append(_run(folder, _ridge(), buckets=_buckets(2), validation_share=share)["matrix"])
    sizes = [(r["train_size"], r["validation_size"]) for r in stopped_runs.records(folder)
             if r["kind"] == "train"]
    assert sizes == [(10 - held_out, held_out)] * 2
  assert matrices[0] == matrices[1]


def test_a_learner_that_chooses_needs_a_validation_split(tmp_path):
  with pytest.raises(refusals.RefusedError, match="clear.run.validation_share is 0. Give a share"):
    _run(tmp_path, _ridge(strengths=(0.1, 1.0)), buckets=_buckets(2), validation_share=0.0)


@pytest.mark.parametrize("share", [0.01, 1.0])
def test_both_parts_of_a_bucket_need_an_image(tmp_path, share):
  with pytest.raises(ValueError, match=f"A share of {share} of the 10 images of 'bucket 0'"):
    _run(tmp_path, LastTwo(), buckets=_buckets(2), validation_share=share)


def test_a_bucket_too_small_to_divide_is_named_before_the_first_event(tmp_path):
  many, few = _image_set(0, [0, 1] * 5, 0), _image_set(1, [0, 1, 0], 0)
  buckets = buckets_lib.Buckets(TASK, tuple(
      buckets_lib.Bucket(name, train, many) for name, train in (
          ("May", _image_set(2, [0, 1] * 5, 0)), ("June", few), ("July", few))))
  with pytest.raises(ValueError, match="bucket June is too small; so is July. Join it with"):
    _run(tmp_path, LastTwo(), buckets=buckets)
  assert not (tmp_path / "records.jsonl").read_text()
  with pytest.raises(ValueError, match="bucket June is too small. Join it with"):
    _run(tmp_path / "s", LastTwo(), buckets=buckets, mode="streaming")
  # The last bucket is not trained on.
  assert _run(tmp_path / "s", LastTwo(), buckets=buckets_lib.Buckets(
      TASK, (buckets[0], buckets[2])), mode="streaming")["mode"] == "streaming"


def test_a_series_too_short_for_its_mode_is_refused(tmp_path):
  with pytest.raises(ValueError, match="The series of 't' has 0 buckets; give at least 1 in mode"):
    _run(tmp_path, LastTwo(), buckets=buckets_lib.Buckets(TASK, ()))
  with pytest.raises(ValueError, match="has 1 buckets; give at least 2 in mode 'streaming'"):
    _run(tmp_path, LastTwo(), buckets=_buckets(1), mode="streaming")


@pytest.mark.parametrize("mode", ["iid", "challenge"])
def test_what_was_trained_on_is_not_tested(tmp_path, mode):
  whole = _image_set(0, [0, 1] * 5, 0)
  buckets = buckets_lib.Buckets(TASK, (buckets_lib.Bucket("bucket_0", whole, whole),))
  with pytest.raises(ValueError, match=f"bucket_0 of 't' has one set .* protocol='{mode}'"):
    _run(tmp_path, LastTwo(), buckets=buckets, mode=mode)


def test_a_run_stopped_amid_rows_and_before_training_goes_on_the_same(tmp_path):
  def run(folder, **arguments):
    learner = statistics_learner.StatisticsLearner(
        class_means.ClassMeans(), transform=image_ops.Plain(8))
    return _run(folder, learner, buckets=digits.buckets(2), **arguments)

  summary = run(tmp_path / "whole")
  assert 0.5 < summary["in_domain"] < 1.0
  whole = stopped_runs.records(tmp_path / "whole")
  assert len(whole) == 6 and record_keys.unknown(whole) == {"classes_with_a_mean"}
  for stop in (1, 3, 5):  # Each time a new process.
    with pytest.raises(stopped_runs.Stop):
      run(tmp_path / "stopped", stop_before=stop)
    assert len(stopped_runs.records(tmp_path / "stopped")) == stop
  assert run(tmp_path / "stopped") == summary
  assert stopped_runs.records(tmp_path / "stopped") == whole
  assert run(tmp_path / "whole") == summary  # Nothing left to do.


def test_a_learner_of_ones_own_may_have_nothing_held_out(tmp_path):
  summary = _run(tmp_path, LastTwo(), buckets=_buckets(2), validation_share=0.0)
  assert summary["num_events"] == 6
