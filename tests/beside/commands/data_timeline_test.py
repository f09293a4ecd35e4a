# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data timeline`: from a table of images to a run, and all that may be wrong with it."""

import json
import os
import pathlib

import numpy as np
import pytest
import without_suite

from suite import cli
from suite.data.images import tfds_source
from suite.data.streams import timeline_buckets
from tests.shared import dated_images

PREPARED = os.environ.get("LIFELONG_DATA_DIR", "/none")  # Tests do not see it.
SIZES = {"bucket_01": 30, "bucket_02": 30, "bucket_03": 42}  # 6 x 5, 5 x 6, 6 x 7 images.


def _make(table, data, *flags, name="mine"):
  return cli.main(["data", "timeline", str(table), "--name", name, "--data_dir", str(data), *flags])


@pytest.fixture(scope="module")
def own(tmp_path_factory):
  """(table, its rows, folder of prepared data sets)."""
  folder = tmp_path_factory.mktemp("own")
  table, rows = dated_images.write(folder / "images")
  assert _make(table, folder / "data", "--by", "year") == 0
  return table, rows, folder / "data"


def _records(data, name="mine"):
  return {path.name: path.read_bytes()
          for path in sorted((data / "timeline" / name / "1.0.0").glob("*.tfrecord*"))}


def test_other_projects_read_it_without_this_package(own, python):
  program = (
      "import json, tensorflow_datasets as tfds\n"
      "data, info = tfds.load('timeline/mine', data_dir=sys.argv[1], with_info=True)\n"
      "third = tfds.load('timeline/mine', split='bucket_03', data_dir=sys.argv[1])\n"
      "one = next(iter(third.as_numpy_iterator()))\n"
      "print(json.dumps([{k: len(v) for k, v in data.items()}, info.features['label'].names,\n"
      "                  list(one['image'].shape), sorted(one)]))\n")
  said = without_suite.run(python, program, own[2], cwd=own[2])
  sizes, names, shape, features = json.loads(said.splitlines()[-1])
  assert sizes == SIZES and names == list(dated_images.CLASSES)
  assert shape == [dated_images.SIDE, dated_images.SIDE, 3]
  assert features == sorted(["id", "image", "label", "place", "time",
                             *(f"iid_test_{seed}" for seed in range(5))])


def test_names_of_classes_and_their_gaps_are_known_when_a_timeline_is_read(own, caplog):
  found = timeline_buckets.load("timeline/mine", data_dir=str(own[2]))
  names = tuple(dated_images.CLASSES)
  assert found.class_names == names
  assert {part.class_names for one in found for part in (one.train, one.test)} == {names}
  assert "timeline/mine: there is no image to train on of class 'f' in bucket_0" in caplog.text


def test_what_is_prepared_is_told_and_left_alone(own, capsys):
  table, rows, data = own
  before = _records(data)
  capsys.readouterr()
  assert _make(table, data, "--by", "year") == 0
  lines = capsys.readouterr().out.splitlines()
  assert lines[1].split() == ["01", "2010", "30", "6", "6", "0", "0"]
  assert lines[3].split() == ["03", "2012", "42", "6", "1", "0", "0"]
  assert lines[4] == ("2 of 7 classes are in one bucket only: f, g. If that is not meant, give "
                      "their images the label of another class, or leave them out.")
  assert lines[-1].endswith("suite run clear/table --gin_param \"DATA='timeline/mine'\"")
  assert _records(data) == before
  assert _make(table, data, "--by", "equal", "--num", "2") == 1
  assert "timeline/mine is prepared in" in (said := capsys.readouterr().err)
  assert "Give another --name, or --again to replace it" in said
  assert cli.main(["data", "doctor", "timeline/mine", "timeline/no", "--data_dir", str(data)]) == 0
  said = capsys.readouterr().out
  assert "timeline/mine: prepared in" in said
  assert "suite data timeline TABLE --by year --name no" in said


def test_a_timeline_is_not_built_by_its_name_alone(tmp_path, capsys):
  assert cli.main(["data", "build", "timeline/no", "--data_dir", str(tmp_path)]) == 1
  assert "It is made by: suite data timeline TABLE --by year --name no" in capsys.readouterr().err
  with pytest.raises(ValueError, match="timeline/no is not prepared in .*suite data timeline"):
    timeline_buckets.load("timeline/no", data_dir=str(tmp_path))


def test_a_drifting_series_is_another_name():
  reason, _ = tfds_source.why_missing("nevis/cifar10", data_dir=PREPARED)
  if reason:
    pytest.skip(f"$LIFELONG_DATA_DIR has no nevis/cifar10: {reason}")
  buckets = timeline_buckets.load("drifting/cifar10_small", data_dir=PREPARED)
  assert len(buckets) == timeline_buckets.num_buckets("drifting/cifar10_small")
  assert buckets[0].train.size == timeline_buckets.bucket_size("drifting/cifar10_small")


def test_a_rebuild_gives_the_same_records_whatever_the_order_of_the_lines(own, tmp_path):
  table, rows, data = own
  other = dated_images.write_table(tmp_path / "images.csv", rows[::-1])
  assert _make(other, tmp_path / "data", "--by", "equal", "--num", "5",
               "--images", str(table.parent)) == 0
  assert _make(other, tmp_path / "data", "--by", "year", "--images", str(table.parent),
               "--again") == 0
  assert _records(tmp_path / "data") == _records(data)
  assert not list((tmp_path / "data").glob(".new*"))


def test_months_join_to_buckets_and_a_test_table_gives_test_buckets(own, tmp_path):
  table, rows, _ = own
  tests = [row for row in rows if "_b" in row[0]]
  images = dated_images.write_table(tmp_path / "images.csv", [r for r in rows if r not in tests])
  test = dated_images.write_table(
      tmp_path / "test.csv", [[*row[:2], "a"] for row in tests if not row[1].startswith("2011")])
  assert _make(images, tmp_path, "--by", "month", "--num", "3", "--test", str(test),
               "--images", str(table.parent)) == 0
  with pytest.raises(ValueError, match="has nothing of test_bucket_02; .*Make it again with"):
    timeline_buckets.load("timeline/mine", protocol="challenge", data_dir=str(tmp_path))
  buckets = timeline_buckets.load("timeline/mine", protocol="streaming", data_dir=str(tmp_path))
  assert [bucket.train.size for bucket in buckets] == [25, 24, 35]


def test_a_bucket_of_one_image_has_none_for_testing(own, tmp_path, capsys):
  table, rows, _ = own
  few = [*rows[:30], next(row for row in rows if row[1].startswith("2011"))]
  images = dated_images.write_table(tmp_path / "images.csv", few)
  assert _make(images, tmp_path, "--by", "year", "--images", str(table.parent)) == 0
  assert "Buckets 02 have fewer than 2 labeled images" in capsys.readouterr().out
  with pytest.raises(ValueError, match="bucket_02 test' is empty.* larger buckets"):
    timeline_buckets.load("timeline/mine", data_dir=str(tmp_path))


def test_buckets_have_the_data_s_number_and_size(own):
  data = str(own[2])
  buckets = timeline_buckets.load("timeline/mine", protocol="iid", seed=1, data_dir=data)
  assert [(b.name, b.train.size, b.test.size) for b in buckets] == [
      ("bucket_01", 21, 9), ("bucket_02", 21, 9), ("bucket_03", 29, 13)]
  assert timeline_buckets.num_buckets("timeline/mine", data_dir=data) == 3
  assert timeline_buckets.bucket_size("timeline/mine", data_dir=data) == round(34 * 0.7)
  assert timeline_buckets.bucket_size("timeline/mine", protocol="streaming", data_dir=data) == 34
  assert (timeline_buckets.num_buckets("clear10/images"), timeline_buckets.bucket_size(
      "drifting/cifar10", protocol="iid"), timeline_buckets.bucket_size("x", size=7)) == (
          10, 2310, 7)
  other = timeline_buckets.load("timeline/mine", protocol="iid", seed=2, data_dir=data)
  assert set(buckets[0].test.ids) != set(other[0].test.ids)


@pytest.mark.parametrize("change, flags, message", [
    (lambda rows: rows, ["--by", "equal", "--num", "999"], "102 images cannot fill 999 buckets"),
    (lambda rows: rows, [], "Say how to divide the images: --by year, month, equal"),
    (lambda rows: [*rows, ["photos/no.png", "2012", "a"]], ["--by", "year"],
     "1 of 103 images are not there: line 104, the first"),
    (lambda rows: [*rows, ["images.csv", "2012", "a"]], ["--by", "year"],
     "'images.csv': it is not an image that can be read"),
    (lambda rows: rows, ["--by", "year", "--test", "no.csv"], "There is no file no.csv"),
])
def test_what_cannot_be_built_is_refused_and_leaves_nothing(change, flags, message, own, tmp_path,
                                                            capsys):
  table, rows, _ = own
  other = dated_images.write_table(table.parent / "changed.csv", change(rows))
  assert _make(other, tmp_path / "data", *flags) in (1, 2)
  assert message in capsys.readouterr().err
  assert not list((tmp_path / "data").rglob("*.tfrecord*"))


def test_a_name_that_cannot_be_is_refused(own, tmp_path, capsys):
  assert _make(own[0], tmp_path, "--by", "year", name="../mine") == 1
  assert "A timeline cannot be called '../mine'" in capsys.readouterr().err


def test_images_without_labels_can_be_read_and_not_run(own, tmp_path):
  table, rows, _ = own
  other = dated_images.write_table(tmp_path / "images.csv", [[*row[:2], ""] for row in rows])
  assert _make(other, tmp_path, "--by", "year", "--images", str(table.parent)) == 0
  with pytest.raises(ValueError, match="'timeline/mine' has no labeled buckets, but bucket_01"):
    timeline_buckets.load("timeline/mine", data_dir=str(tmp_path))


def test_a_run_has_the_scores_of_known_classes_beside_all(own, tmp_path):
  assert cli.main([
      "run", "clear/timeline", "--gin_file", "gin/debug/short.gin", "--data_dir", str(own[2]),
      "--gin_param", "DATA='timeline/mine'", "--gin_param", "experiment.run.only=('finetune',)",
      "--gin_param", "IMAGE_SIZE=8", "--gin_param", "conv4.conv4.blocks=1",
      "--workdir", str(tmp_path)]) == 0
  records = [json.loads(line) for line in
             pathlib.Path(tmp_path, "finetune", "records.jsonl").read_text().splitlines()]
  row = [r for r in records if r["kind"] == "predict" and r["trained_bucket"] == 0]
  assert [r["num_known_classes"] for r in row] == [6, 6, 6]
  assert [r["seen_unknown"] for r in row] == [0, 0, 2]  # Class g: 2 of 7 images are for testing.
  assert row[2]["accuracy_known"] == pytest.approx(row[2]["correct"] / 11)
  summary = json.loads((tmp_path / "finetune" / "summary.json").read_text())
  assert summary["next_domain_known"] >= summary["next_domain"] and len(summary["matrix"]) == 3
  assert summary["in_domain_known"] == pytest.approx(np.mean(
      [r["accuracy_known"] for r in records
       if r["kind"] == "predict" and r["trained_bucket"] == r["bucket"]]))
