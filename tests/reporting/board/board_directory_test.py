# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TensorBoard's directory of a work directory, read by TensorBoard's own code."""

from __future__ import annotations

import shutil

import nevis_runs
import numpy as np
import pytest
from tensorboard import context
from tensorboard.backend.event_processing import data_provider
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.backend.event_processing import plugin_event_multiplexer
from tensorboard.plugins import base_plugin
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams import backend_context
from tensorboard.plugins.hparams import list_session_groups
from tensorboard.plugins.hparams import plugin_data_pb2
import tensorflow as tf

from suite.reporting import records
from suite.reporting.board import event_file
from suite.reporting.board import tensorboard
from suite.state import predictions
from suite.state import sample_images

ENVIRONMENT = {"command": "suite run x", "seed": 3, "packages": {"tensorflow": "2|15"}}


@pytest.fixture(name="workdir", scope="module")
def _workdir(tmp_path_factory):
  """A work directory of two finished learners and one that is not, and its event files."""
  workdir = tmp_path_factory.mktemp("runs") / "two"
  nevis_runs.write(workdir / "ft", [0.5, 0.25, 0.125, 0.375])
  tensorboard.BoardDirectory(workdir).complete()  # Independent is not there yet.
  nevis_runs.write(workdir / "indep", [0.5, 0.5, 0.5, 0.25])
  nevis_runs.write(workdir / "going", [0.5, 0.25], is_finished=False)
  board = tensorboard.BoardDirectory(workdir, "A = 1", ENVIRONMENT)
  view = board.view("going")
  view.rebuild(records.read(workdir / "going" / "records.jsonl"))
  view.close()
  shutil.rmtree(workdir / "tensorboard" / "ft")  # Deleted, so made again.
  board.complete()
  return workdir


def _tab(log_dir):
  """The HParams tab as TensorBoard's server sends it: columns, (values, scores) of each row."""
  multiplexer = plugin_event_multiplexer.EventMultiplexer(
      size_guidance={event_accumulator.TENSORS: 0}, tensor_size_guidance={"scalars": 0})
  multiplexer.AddRunsFromDirectory(str(log_dir))
  multiplexer.Reload()
  provider = data_provider.MultiplexerDataProvider(multiplexer, str(log_dir))
  hparams = backend_context.Context(base_plugin.TBContext(data_provider=provider))
  request = api_pb2.ListSessionGroupsRequest(
      allowed_statuses=list(api_pb2.Status.values()), slice_size=100)
  request.start_index = 0
  experiment = hparams.experiment_from_metadata(
      context.RequestContext(), "", True, hparams.hparams_metadata(context.RequestContext(), ""),
      hparams.hparams_from_data_provider(context.RequestContext(), "", 100))
  for info in experiment.hparam_infos:
    request.col_params.add(hparam=info.name)
  for info in experiment.metric_infos:
    request.col_params.add(metric=info.name)
  groups = list_session_groups.Handler(context.RequestContext(), hparams, "", request).run()
  assert all(len(group.sessions) == 1 for group in groups.session_groups)
  columns = ([info.name for info in experiment.hparam_infos],
             [info.name.tag for info in experiment.metric_infos])
  return columns, [
      ({name: getattr(value, value.WhichOneof("kind")) for name, value in g.hparams.items()},
       {m.name.tag: m.value for m in g.metric_values}) for g in groups.session_groups]


def test_learners_are_rows_of_the_hparams_tab_with_their_own_headline(workdir):
  (names, metrics), rows = _tab(workdir / "tensorboard")
  assert names[0] == "learner" and metrics[0] == "headline/mean_error"
  learners = {values["learner"]: (values, scores) for values, scores in rows}
  assert set(learners) == {"ft", "indep"}  # What is going has no result yet.
  values, scores = learners["ft"]
  assert values == {"learner": "ft", "run": workdir.as_posix(), "seed": 3.0,
                    "protocol": "nevis", "stream": "toy"}
  assert scores == pytest.approx({"headline/mean_error": 0.25, "headline/regret": -0.5,
                                  "headline/cumulative_flops": 100})
  assert learners["indep"][1] == pytest.approx({
      "headline/mean_error": 0.375, "headline/cumulative_flops": 100})


def test_trials_are_rows_that_name_their_search(workdir):
  (names, metrics), rows = _tab(workdir / "tensorboard_trials")
  rows = [values for values, _ in rows]
  assert names == ["learner", "search", "task"]  # What differs, by name.
  assert metrics[:2] == ["validation_error", "error"]
  assert sorted((values["learner"], values["search"]) for values in rows) == sorted(
      [(name, search) for name in ("ft", "indep")
       for search in ("0000_a", "0002_b", "0004_a@2", "0006_c")]
      + [("going", "0000_a"), ("going", "0002_b")])


def test_the_first_columns_are_the_rate_and_what_differs():
  rows = [{"augment": i, "batch": 32, "crop": i, "dropout": i, "eps": i, "flip": i % 2 == 0,
           "learning_rate": 0.1} for i in range(3)]
  made = event_file.experiment(rows, ["validation_error"], ["learning_rate"])
  content = plugin_data_pb2.HParamsPluginData.FromString(made.metadata.plugin_data.content)
  infos = {info.name: info for info in content.experiment.hparam_infos}
  assert [name for name, info in infos.items() if info.differs] == [
      "learning_rate", "augment", "crop", "dropout", "eps"]  # TensorBoard shows five.
  assert infos["crop"].domain_interval.max_value == 2
  assert list(infos)[5:] == ["flip"]  # "batch" is one for all.


def test_a_learner_has_a_layout_with_the_headline_first(workdir):
  found = _read(workdir / "tensorboard" / "ft").Tensors("custom_scalars__config__")[0]
  layout = layout_pb2.Layout.FromString(tf.make_ndarray(found.tensor_proto).item())
  assert [category.title for category in layout.category] == ["Headline", "Costs"]
  assert layout.category[0].chart[0].title == "mean error (share)"
  assert list(layout.category[0].chart[0].multiline.tag) == ["headline/mean_error$"]


def test_test_images_are_shown_with_their_answers(tmp_path):
  run = nevis_runs.write(tmp_path / "ft", [0.5, 0.25, 0.125, 0.375])
  for event in (1, 3):  # Of tasks "a" and "b"; the images of "a" alone are there.
    predictions.save(run / f"predictions/{event:04d}.parquet", ids=["x", "y", "z"],
                     labels=np.array([1, 0, 1]), top1=np.array([1, 1, 0]),
                     true_class_probability=np.array([0.75, 0.5, 0.25]),
                     correct=np.array([True, False, False]), class_names=["cat", "dog"])
  pixels = [np.full([4, 4, 1], 7, np.uint8), np.full([200, 100, 3], 9, np.uint8)]
  sample_images.save(sample_images.path(run, "a"), ["y", "x"], pixels)
  record = {"event": 1, "kind": "predict", "protocol": "nevis", "task_key": "a",
            "predictions": "predictions/0001.parquet"}
  shown = sample_images.answered(run, record)
  assert [(one.label, one.answer, one.probability, one.is_correct) for one in shown] == [
      ("cat", "dog", 0.5, False), ("dog", "dog", 0.75, True)]
  assert [one.image.getpixel((32, 32)) for one in shown] == [(7, 7, 7), (9, 9, 9)]
  assert not sample_images.answered(run, {**record, "task_key": "b"})
  view = tensorboard.BoardDirectory(tmp_path).view("ft")
  view.rebuild([record, {**record, "event": 2}])
  view.finish({"protocol": "nevis", "mean_error": 0.5})
  view.close()
  assert [e.step for e in _read(tmp_path / "tensorboard" / "ft").Tensors("samples/a")] == [1, 2]


def test_images_with_several_labels_and_those_of_episodes_are_shown(tmp_path):
  pixels = [np.full([4, 4, 1], 7, np.uint8)] * 3
  common = {"top1": np.array([1, 0, 1]), "correct": np.array([True, False, True])}
  scores = np.array([[0.75, 0.875, 0.5], [0.75, 0.5, 0.25], [0.25, 0.875, 0.5]])
  predictions.save(tmp_path / "tasks.parquet", ids=["x", "y", "z"],
                   labels=np.array([[1, 1, 0], [0, 0, 0], [0, 1, 0]]), scores=scores,
                   true_class_probability=[[0.75, 0.875], [], [0.875]],
                   class_names=["a", "b", "c"], **common)
  sample_images.save(sample_images.path(tmp_path, "many"), ["x", "y", "z"], pixels)
  shown = sample_images.answered(tmp_path, {"task_key": "many", "predictions": "tasks.parquet"})
  assert [(one.words, one.probability, one.is_correct) for one in shown] == [
      ("a + b", 0.8125, True), ("a, not none", None, False), ("b", 0.875, True)]
  names = [f"episode 0, target {i}" for i in range(3)]
  predictions.save(tmp_path / "episodes.parquet", ids=names, labels=np.array([1, 1, 0]),
                   true_class_probability=np.array([0.5, 0.5, 0.5]), **common)
  sample_images.save(sample_images.path(tmp_path, sample_images.EPISODE),
                     ["episode 0, support 2", *names[1:]], pixels, {"episode 0, support 2": 1})
  shown = sample_images.answered(
      tmp_path, {"num_support_sets": 2, "predictions": "episodes.parquet"})
  assert [(one.words, one.is_given) for one in shown] == [
      ("given: 1", True), ("0, not 1", False), ("0", False)]
  assert sample_images.sheet(shown).size == (304, 92)


def _read(folder):
  return event_accumulator.EventAccumulator(
      str(folder), size_guidance={event_accumulator.TENSORS: 0}).Reload()


def _points(folder, tag):
  return [(e.step, float(tf.make_ndarray(e.tensor_proto))) for e in _read(folder).Tensors(tag)]


def test_curves_of_the_headline(workdir):
  ft = workdir / "tensorboard" / "ft"
  assert _points(ft, "headline/mean_error") == [(5, 0.125), (7, 0.25)]
  assert _points(ft, "headline/regret") == [(1, 0.0), (3, -0.25), (5, -0.625), (7, -0.5)]
  assert _points(ft / "final", "headline/mean_error") == [(7, 0.25)]


def test_config_and_environment_are_text(workdir):
  found = _read(workdir / "tensorboard" / "ft")
  texts = {name: tf.make_ndarray(found.Tensors(name)[0].tensor_proto).item().decode()
           for name in ("config", "environment")}
  assert texts["config"] == "    A = 1"
  assert texts["environment"].splitlines()[2:] == [
      "| command | `suite run x` |", "| seed | `3` |", r"| packages: tensorflow | `2\|15` |"]


def test_the_front_is_an_image_and_is_drawn_once(workdir):
  found = _read(workdir / "tensorboard")
  assert found.SummaryMetadata("pareto").plugin_data.plugin_name == "images"
  width, height, image = tf.make_ndarray(found.Tensors("pareto")[0].tensor_proto)
  assert tf.io.decode_png(image).shape == [int(height), int(width), 3]
  before = {path: path.stat().st_mtime_ns for path in workdir.rglob("events*")}
  tensorboard.BoardDirectory(workdir).complete()
  assert {path: path.stat().st_mtime_ns for path in workdir.rglob("events*")} == before


def test_a_regret_is_added_to_what_finished_before_independent(tmp_path):
  nevis_runs.write(tmp_path / "ft", [0.5, 0.25, 0.125, 0.375])
  tensorboard.BoardDirectory(tmp_path).complete()
  ft = tmp_path / "tensorboard" / "ft"
  assert "headline/regret" not in _read(ft).Tags()["tensors"]
  board = tensorboard.BoardDirectory(tmp_path)  # Of the process that runs Independent.
  nevis_runs.write(tmp_path / "indep", [0.5, 0.5, 0.5, 0.25])
  board.complete()
  assert [value for _, value in _points(ft, "headline/regret")] == [0, -0.25, -0.625, -0.5]
  assert len(list(ft.glob("events*"))) == 1
