# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Features of small pictures: whole shards only, resumed, read back as buckets."""

from __future__ import annotations

import json
import pathlib
import shutil

import numpy as np
import pytest
import tensorflow as tf

from suite import cli
from suite.commands import data_features
from suite.contracts import tasks
from suite.data.images import clear_transform
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.data.images import own_images
from suite.data.images import prepared_features
from suite.data.images import prepared_sets
from suite.data.own import image_sources
from suite.data.streams import buckets
from suite.data.streams import class_groups
from suite.data.streams import drifting_buckets
from suite.data.streams import feature_buckets
from suite.data.streams import feature_sources
from suite.models import conv4
from suite.models import pretrained
from suite.models.clip import weight_files
from suite.state import encoder_file

NAME, SIZE, SHARD = "suite_test_pictures/same_shape", 8, 10
SERIES = drifting_buckets.Series(data=NAME, splits=("train", "test"), num_buckets=2, bucket_size=8,
                                 pretrain_size=15)


@pytest.fixture(name="run_dir", scope="module")
def _run_dir(tmp_path_factory):
  folder = tmp_path_factory.mktemp("run") / "moco"
  encoder_file.save(folder, conv4.conv4((SIZE, SIZE, 3), filters=4, blocks=2), {"updates": 1})
  return folder


def _write(run_dir, pictures_dir, out, name=NAME, **arguments):
  return data_features.write(
      feature_sources.find(name, data_dir=pictures_dir), data_features.encoder(str(run_dir)), out,
      shard_size=SHARD, batch_size=4, **arguments)


@pytest.fixture(name="written", scope="module")
def _written(run_dir, pictures_dir, tmp_path_factory):
  """(Folder of the features of both splits, rows of facts); a test that changes it has a copy."""
  folder = tmp_path_factory.mktemp("written") / "out"
  return folder, _write(run_dir, pictures_dir, folder)


def test_every_image_once_in_shards_with_a_manifest(run_dir, pictures_dir, written):
  folder, rows = written
  assert [(r["split"], r["num_examples"], r["written"]) for r in rows] == [
      ("test", 23, 23), ("train", 23, 23)]
  names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
  assert names == sorted(["features.json", *(
      f"{split}/{number:05d}/{file}" for split in ("test", "train") for number in range(3)
      for file in ("features.npy", "ids.json"))])
  manifest = json.loads((folder / "features.json").read_text())
  found = encoder_file.load(run_dir)
  assert manifest["encoder"]["digest"] == found.about["weights_digest"]
  assert (manifest["version"], manifest["image_size"], manifest["feature_size"]) == ("1.0.0", 8, 16)
  split = feature_set.read_split(folder, "train")
  images = prepared_sets.read(NAME, "train", data_dir=pictures_dir)
  assert split.ids == images.ids.tolist() and split.features.dtype == np.float32
  batch = next(iter(images.eval_batches(23, transform=clear_transform.Clear(SIZE))))
  np.testing.assert_allclose(split.features, found.model()(batch["image"]), rtol=1e-4, atol=1e-4)


def test_killed_within_a_shard_and_run_again(
    run_dir, pictures_dir, written, tmp_path, monkeypatch):
  (whole, _), killed = written, tmp_path / "killed"
  write_shard, calls = feature_set.write_shard, []

  def stopping(folder, features, ids, digests):
    calls.append(folder)
    if len(calls) == 2:
      np.save(folder / "features.npy", features[:1])
      raise KeyboardInterrupt
    write_shard(folder, features, ids, digests)
  monkeypatch.setattr(feature_set, "write_shard", stopping)
  with pytest.raises(KeyboardInterrupt):
    _write(run_dir, pictures_dir, killed, splits=["train"])
  monkeypatch.undo()
  assert [p.name for p in sorted((killed / "train").iterdir())] == ["00000"]
  with pytest.raises(ValueError, match="are not finished: shard 00001 is missing. Run the same"):
    feature_set.read_split(killed, "train")
  (killed / "train" / "tmp-99-00001").mkdir()  # As SIGKILL leaves it.
  first = (killed / "train" / "00000" / "features.npy").stat().st_mtime_ns
  rows = _write(run_dir, pictures_dir, killed, splits=["train"])
  assert [r["written"] for r in rows] == [13]
  assert (killed / "train" / "00000" / "features.npy").stat().st_mtime_ns == first
  assert [p.name for p in sorted((killed / "train").iterdir())] == ["00000", "00001", "00002"]
  assert [r["written"] for r in _write(run_dir, pictures_dir, killed, splits=["train"])] == [0]
  assert [r["written"] for r in _write(run_dir, pictures_dir, killed)] == [23, 0]  # One more split.
  for path in sorted(whole.rglob("*.*")):
    one, other = path.read_bytes(), (killed / path.relative_to(whole)).read_bytes()
    if path.name == "features.json":  # Its splits are in the order of the commands.
      one, other = map(feature_set.read_manifest, (whole, killed))
    assert one == other, path


def test_another_encoder_or_a_strange_folder_is_refused(run_dir, pictures_dir, written, tmp_path):
  other = tmp_path / "other"
  encoder_file.save(other, conv4.conv4((SIZE, SIZE, 3), filters=4, blocks=2), {"updates": 1})
  with pytest.raises(ValueError, match="holds features of another encoder: .* Give another --out"):
    _write(other, pictures_dir, written[0])
  with pytest.raises(ValueError, match="is not empty and holds no features; give another --out"):
    _write(run_dir, pictures_dir, other)
  with pytest.raises(ValueError, match="has no split dev; it has test, train"):
    _write(run_dir, pictures_dir, tmp_path / "new", splits=["dev"])


def test_an_encoder_that_makes_nan_stops(pictures_dir, tmp_path):
  model = tf.keras.Sequential([
      tf.keras.layers.Input([SIZE, SIZE, 3]), tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)])
  model.set_weights([np.full_like(w, np.nan) for w in model.get_weights()])
  encoder_file.save(tmp_path / "run", model, {})
  with pytest.raises(ValueError, match="NaN or infinite features of 10 of 10 images of .*'picture"):
    _write(tmp_path / "run", pictures_dir, tmp_path / "out")
  assert not list((tmp_path / "out").glob("*/0*"))


def test_buckets_of_features_are_those_of_the_images(run_dir, pictures_dir, tmp_path, monkeypatch):
  monkeypatch.setitem(drifting_buckets.SERIES, "drifting/test", SERIES)
  rows = _write(run_dir, pictures_dir, tmp_path, "drifting/test")
  assert [(r["split"], r["num_examples"]) for r in rows] == [
      ("bucket_00", 15), ("bucket_01", 8), ("bucket_02", 8)]
  images = drifting_buckets.load("drifting/test", data_dir=pictures_dir)
  got = feature_buckets.load(images, str(tmp_path))
  assert got.task == images.task and [b.name for b in got] == [b.name for b in images]
  model = encoder_file.load(run_dir).model()
  for a, b in zip(got, images):
    for features, shown in ((a.train, b.train), (a.test, b.test)):
      np.testing.assert_array_equal(features.labels, shown.labels)
      np.testing.assert_array_equal(features.ids, shown.ids)
      batch = next(iter(shown.eval_batches(shown.size, transform=clear_transform.Clear(SIZE))))
      np.testing.assert_allclose(features.features, model(batch["image"]), rtol=1e-4, atol=1e-4)
  streaming = feature_buckets.load(
      drifting_buckets.load("drifting/test", protocol="streaming", data_dir=pictures_dir),
      str(tmp_path))
  assert all(b.train is b.test for b in streaming)
  with pytest.raises(ValueError, match="has features of width 16, but 2048 was expected"):
    next(iter(got[0].train.eval_batches(4, transform=feature_set.Features())))


def test_features_of_a_test_archive_and_of_other_images(pictures_dir, written, tmp_path):
  shutil.copytree(written[0], tmp_path, dirs_exist_ok=True)
  sets = [prepared_sets.read(NAME, s, data_dir=pictures_dir) for s in ("train", "test")]
  task = tasks.Task(NAME, tasks.SINGLE_LABEL, 4)
  got = feature_buckets.load(
      buckets.Buckets(task, (buckets.Bucket("train", *sets),)), str(tmp_path))
  assert got[0].test.size == 23
  strange = image_set.ImageSet.from_arrays(
      "strange", np.zeros([2, 8, 8, 3], np.uint8), [0, 1], kind=task.kind, num_classes=4)
  with pytest.raises(ValueError, match="2 of the 2 images of 'strange' have no features in .*'0'"):
    feature_buckets.load(
        buckets.Buckets(task, (buckets.Bucket("train", strange, strange),)), str(tmp_path))
  with pytest.raises(ValueError, match="has no features of split 'bucket_01'; it has test, train"):
    feature_buckets.load(
        buckets.Buckets(task, (buckets.Bucket("bucket_01", strange, strange),)),
        str(tmp_path))
  with pytest.raises(FileNotFoundError, match="has no features.json. Write features there with"):
    feature_set.read_manifest(tmp_path / "nowhere")
  np.save(tmp_path / "train" / "00000" / "features.npy", np.zeros([10, 5], np.float32))
  with pytest.raises(ValueError, match=r"has features \(10, 5\) and 10 ids; \(10, 16\) features"):
    feature_set.read_split(tmp_path, "train")


def test_a_sample_of_each_split_and_nothing_is_left_out_unasked(run_dir, pictures_dir, tmp_path):
  rows = _write(run_dir, pictures_dir, tmp_path, sample=12, splits=["train"])
  rows += _write(run_dir, pictures_dir, tmp_path, splits=["test"])
  assert [(r["split"], r["num_examples"]) for r in rows] == [("train", 12), ("test", 23)]
  manifest = feature_set.read_manifest(tmp_path)
  assert manifest["splits"] == {"train": {"num_examples": 12, "of": 23},
                                "test": {"num_examples": 23}}
  with pytest.raises(ValueError, match="holds features of 12 images of split 'train', not of 9"):
    _write(run_dir, pictures_dir, tmp_path, sample=9, splits=["train"])
  images = prepared_sets.read(NAME, "train", data_dir=pictures_dir)
  drawn = feature_set.read_split(tmp_path, "train")
  places = [images.ids.tolist().index(one) for one in drawn.ids]
  assert places == sorted(set(places)) and places != list(range(12))
  folder = prepared_features.Folder(str(tmp_path))
  with pytest.raises(ValueError, match="an id does not say which image is meant"):
    prepared_features.of(images, folder)
  with pytest.raises(ValueError, match="11 of the 23 images .* by --sample. .* subset = True"):
    prepared_features.of(images, folder, "train")
  found = prepared_features.of(images, folder._replace(subset=True), "train")
  assert found.name.endswith("train, 12 of 23 images")
  np.testing.assert_array_equal(found.features, drawn.features)
  np.testing.assert_array_equal(found.labels, images.labels[places])
  # As tasks of classes, with the labels of the data set alone, in memory.
  tasks_of_classes = buckets.of_classes(prepared_features.train_and_test(
      NAME, str(tmp_path), subset=True, data_dir=pictures_dir), num_tasks=2, seed=0)
  assert sum(one.train.size for one in tasks_of_classes) == 12
  assert isinstance(tasks_of_classes[0].train, feature_set.FeatureSet)
  entry, = class_groups.DatedGroups(
      NAME, 1, 4, split="test", features=str(tmp_path)).entries(pictures_dir)
  task = entry.load()
  assert task.train.features.shape[1] == 16 and len(set(task.train.labels)) > 1


def _photos(folder, num=6, changed=""):
  for i in range(num):
    path = folder / ("cat", "dog")[i % 2] / f"{i}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(own_images.png(np.full([9, 9, 3], 20 * i + (path.name == changed), np.uint8)))
  return folder


def test_features_of_own_folders_and_tables_belong_to_the_images(run_dir, tmp_path, capsys):
  photos, out = _photos(tmp_path / "photos"), str(tmp_path / "out")
  _photos(tmp_path / "split" / "train")
  _photos(tmp_path / "split" / "val", num=4)
  table = tmp_path / "photos.csv"
  table.write_text("path,label\n" + "".join(
      f"photos/{one.parent.name}/{one.name},{one.parent.name}\n" for one in photos.glob("*/*")))
  command = ["data", "features", "--encoder", str(run_dir), "--out"]
  for name, splits in ((photos, ["all 6"]), (table, ["all 6"]),
                       (tmp_path / "split", ["train 6", "validation 4"])):
    assert cli.main([*command, str(tmp_path / f"of {name.name}"), str(name)]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [" ".join(line.split()[:2]) for line in lines] == splits
  assert cli.main([*command, out, str(photos)]) == 0
  images = image_sources.from_directory(photos)
  found = image_sources.with_features(images, out)
  assert found.ids.tolist() == images.ids.tolist() and found.class_names == ("cat", "dog")
  model = encoder_file.load(run_dir).model()
  np.testing.assert_allclose(
      found.features, model(images.pixels(SIZE).astype(np.float32)), rtol=1e-4, atol=1e-4)
  _photos(photos, changed="3.png")
  with pytest.raises(ValueError, match="1 of the 6 images of 'photos' have changed since .*"
                     "the first is 'dog/3.png'. Write the features of the images as they are"):
    image_sources.with_features(image_sources.from_directory(photos), out)
  capsys.readouterr()
  assert cli.main([*command, out, str(photos)]) == 1
  assert "images have been changed, added or removed since. Give another --out" in (
      capsys.readouterr().err)
  assert cli.main([*command, out, str(tmp_path / "photoz")]) == 1
  said = capsys.readouterr().err
  assert "There is no data set" in said and len(said.splitlines()) == 1


def test_the_command(run_dir, pictures_dir, tmp_path, capsys):
  command = ["data", "features", NAME, "--data_dir", pictures_dir, "--out", str(tmp_path / "out")]
  # The work directory stands for its one encoder.
  assert cli.main([*command, "--encoder", str(run_dir.parent), "--split", "train"]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert lines[1].split()[:4] == ["train", "23", "23", "16"]
  assert cli.main([*command, "--encoder", "ResNet50"]) == 1
  assert "'ResNet50' was given no weights. Nothing is downloaded" in capsys.readouterr().err
  assert cli.main([*command, "--encoder", "nowhere"]) == 1
  said = capsys.readouterr().err
  assert "neither a net with weights (efficientnet_lite0, efficientnet_lite1, " in said
  assert "nor the directory of a pretraining run or of a CLIP, nor a Keras" in said
  assert cli.main([*command, "--encoder", str(run_dir), "--weights", "x.h5"]) == 1
  assert "which has its own (encoder.npz). Leave it out" in capsys.readouterr().err


def test_the_image_tower_of_a_clip():
  folder = pathlib.Path(__file__).parents[1] / "models" / "clip" / "small_clip"
  encoder, towers = data_features.encoder(str(folder)), weight_files.load(folder)
  assert encoder.about["name"] == "clip_image" and len(encoder.about["digest"]) == 64
  side, width = encoder.image_size, encoder.feature_size
  assert (side, width) == (towers.clip.image.image_size, towers.clip.embedding)
  pixels = np.random.default_rng(0).uniform(0, 255, [2, side, side, 3]).astype(np.float32)
  np.testing.assert_allclose(encoder.model(pixels), towers.image(pixels), rtol=1e-5)


def _tiny(weights, include_top, input_shape, pooling=None):
  """Stands in for an application whose net with the classifier is large."""
  assert weights is None and (include_top or pooling == "avg")
  return tf.keras.Sequential([
      tf.keras.layers.Input(input_shape or [8, 8, 3]), tf.keras.layers.Conv2D(4, 3, name="conv"),
      tf.keras.layers.GlobalAveragePooling2D(),
      *([tf.keras.layers.Dense(5, name="classes")] if include_top else [])])


def test_a_keras_application_with_local_weights(tmp_path, monkeypatch):
  net = tf.keras.applications.VGG16(
      weights=None, include_top=False, pooling="avg", input_shape=(32, 32, 3))
  path = str(tmp_path / "vgg16.h5")
  net.save_weights(path)
  encoder = data_features.encoder("VGG16", path, image_size=32)
  assert (encoder.image_size, encoder.feature_size) == (32, 512)
  pixels = np.random.default_rng(0).uniform(0, 255, [2, 32, 32, 3]).astype(np.float32)
  means = np.array([103.939, 116.779, 123.68], np.float32)  # As Caffe's nets: blue comes first.
  prepared = pixels[..., ::-1] - means
  np.testing.assert_allclose(encoder.model(pixels), net(prepared), rtol=1e-4, atol=1e-5)
  with pytest.raises(FileNotFoundError, match="There is no file of weights 'nowhere.h5'"):
    pretrained.application("VGG16", "nowhere.h5")
  monkeypatch.setattr(_tiny, "__module__", tf.keras.applications.VGG19.__module__)
  monkeypatch.setattr(tf.keras.applications, "VGG19", _tiny)
  with pytest.raises(ValueError, match="are not those of Keras application 'VGG19'"):
    pretrained.application("VGG19", path, image_size=32)
  whole = _tiny(None, True, None)
  whole.save_weights(tmp_path / "whole.h5")
  features = pretrained.application("VGG19", str(tmp_path / "whole.h5"), image_size=32)(pixels)
  expected = tf.reduce_mean(whole.get_layer("conv")(prepared), axis=[1, 2])
  np.testing.assert_allclose(features, expected, rtol=1e-4, atol=1e-4)
  # Another family scales pixels to -1 ... 1.
  monkeypatch.setattr(_tiny, "__module__", tf.keras.applications.MobileNet.__module__)
  monkeypatch.setattr(tf.keras.applications, "MobileNet", _tiny)
  features = pretrained.application("MobileNet", str(tmp_path / "whole.h5"), image_size=32)(pixels)
  expected = tf.reduce_mean(whole.get_layer("conv")(pixels / 127.5 - 1), axis=[1, 2])
  np.testing.assert_allclose(features, expected, rtol=1e-4, atol=1e-4)
