# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Events, delivery, and what happens when data is missing."""

from __future__ import annotations

import numpy as np
import pytest

from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import image_set
from suite.data.streams import class_groups
from suite.data.streams import streams
import tfds_builders
from tfds_builders import catalog
from tfds_builders import paper_draws
from tfds_builders import testing
from tfds_builders.rows import row as row_lib


def _entry(name="a", year=2000, role="meta_train", *, num_classes=2, occurrence=1, load=None,
           missing=None):
  def splits():
    return streams.Splits(*(image_set.ImageSet.from_arrays(
        f"{name} {split}", np.zeros([3, 2, 2, 1], np.uint8), [0, 1, 0], kind="single_label",
        num_classes=2) for split in streams.SPLITS))
  task = tasks.Task(name, "single_label", num_classes, occurrence)
  return streams.StreamEntry(task, year, role, load or splits, f"data/{name}",
                       missing=missing or (lambda: None))


def test_each_entry_is_a_train_and_a_predict_event():
  stream = streams.Stream("s", [_entry("a"), _entry("b", 2001), _entry("a", 2001, occurrence=2)])
  events = stream.events()
  assert [(e.index, e.kind, e.entry_index, e.task_key) for e in events] == [
      (0, "train", 0, "a"), (1, "predict", 0, "a"), (2, "train", 1, "b"), (3, "predict", 1, "b"),
      (4, "train", 2, "a@2"), (5, "predict", 2, "a@2")]


def test_an_entry_knows_the_version_of_its_data():
  asked = []
  def version():
    asked.append(1)
    return "1.0.0"
  task = tasks.Task("a", "single_label", 2)
  entry = streams.StreamEntry(task, 2000, "meta_train", lambda: None, "data/a", version=version)
  assert [entry.version(), entry.version()] == ["1.0.0", "1.0.0"] and len(asked) == 1
  assert _entry().version() is None


def test_an_experience_holds_its_task_and_the_past_only():
  stream = streams.Stream("s", [_entry("a"), _entry("b"), _entry("c")])
  made = stream.deliver(stream.events()[2])
  assert (made.task.key, made.train.name, made.dev.name) == ("b", "b train", "b dev")
  assert made.history.keys == ["a"] and made.history["a"].train.name == "a train"
  with pytest.raises(deliveries.NotDeliveredError, match="Delivered so far: a"):
    _ = made.history["c"]
  for split in ("validation", "test"):
    assert stream.held_out(stream.events()[3], split).name == f"b {split}"
  with pytest.raises(ValueError, match="only 'train' events deliver data"):
    stream.deliver(stream.events()[3])


def test_any_event_can_be_delivered_first():
  stream = streams.Stream("s", [_entry("a"), _entry("b"), _entry("c")])
  assert stream.deliver(stream.events()[4]).history.keys == ["a", "b"]


def test_development_sees_the_meta_train_tasks_only():
  gone = lambda: streams.Missing("data/b", "not there", "")
  stream = streams.Stream("s", [_entry("a"), _entry("b", role="meta_test", missing=gone),
                                _entry("c")], expected={"meta_train": 2, "meta_test": 1})
  part = stream.meta_train()
  assert [event.task_key for event in part.events()] == ["a", "a", "c", "c"]
  assert part.deliver(part.events()[2]).history.keys == ["a"]  # Not "b", which stands before it.
  with pytest.raises(ValueError, match="'s' has no meta_train task, and development looks at no"):
    streams.Stream("s", [_entry(role="meta_test")]).meta_train()


def test_data_is_loaded_late_and_only_a_little_is_kept():
  loads = []
  def entry(name):
    inner = _entry(name)
    def load():
      loads.append(name)
      return inner.load()
    return _entry(name, load=load)
  stream = streams.Stream("s", [entry(n) for n in "abc"])
  events = stream.events()
  assert not loads
  for event in events:
    stream.deliver(event) if event.kind == "train" else stream.held_out(event, "test")
  assert loads == ["a", "b", "c"]
  _ = stream.deliver(events[4]).history["a"]
  assert loads == ["a", "b", "c", "a"]


def test_a_function_gives_the_task_when_it_is_asked_for():
  task = lambda: tasks.Task("a", "single_label", 3)
  entry = streams.StreamEntry(task, 2000, "meta_test", None, "a", key="a")
  assert entry.key == "a" and entry.task.num_classes == 3 and entry.task is entry.task


@pytest.mark.parametrize("entries, message", [
    ([_entry("a", 2001), _entry("b", 2000)],
     r"not chronological: 'a' \(2001\) stands before 'b' \(2000\)"),
    ([_entry("a"), _entry("a")], "has a more than once; a repeated data set needs its occurrence"),
])
def test_wrong_orders_are_refused(entries, message):
  with pytest.raises(ValueError, match=message):
    streams.Stream("s", entries)


def test_meta_train_tasks_can_be_left_out():
  stream = streams.Stream("s", [_entry("a"), _entry("b"), _entry("b", occurrence=2),
                                _entry("c", role="meta_test")], {"meta_train": 3, "meta_test": 1})
  part = streams.without(stream, ["b", "b@2"])
  assert [entry.key for entry in part.entries] == ["a", "c"]
  assert (part.name, part.expected) == ("s, without b, b@2", {"meta_train": 1, "meta_test": 1})
  for keys, message in ((["c"], "not all, of its meta-train tasks a, b, b@2"), ("b@2", "a list"),
                        (["a", "b", "b@2"], "not all"), (["b"], "'b@2' of stream 's' repeats")):
    with pytest.raises(ValueError, match=message):
      streams.without(stream, keys)


def test_the_order_is_a_property_of_the_stream():
  late_first = [_entry("a", 2001), _entry("b", 2000)]
  stream = streams.Stream("s", late_first, order="over_years")
  assert [e.task_key for e in stream.meta_train().events()] == ["a", "a", "b", "b"]
  with pytest.raises(ValueError, match="not chronological"):
    streams.Stream("s", late_first, order="within_years")
  with pytest.raises(ValueError, match="order 'random'; allowed are chronological, within"):
    streams.Stream("s", late_first, order="random")


def test_roles_and_numbers_are_checked():
  with pytest.raises(ValueError, match="role 'test'; allowed are meta_train, meta_test"):
    _entry(role="test")
  with pytest.raises(ValueError, match=r"has 1 tasks \(left out ones included\), expected 2"):
    streams.Stream("s", [_entry()], expected={"meta_train": 2})
  known = streams.Stream("s", [_entry()], expected={"meta_train": 2}, left_out=["b"])
  assert known.left_out == ("b",)


def test_images_must_fit_the_task():
  stream = streams.Stream("s", [_entry("a", num_classes=5)])
  with pytest.raises(ValueError, match="'a' is single_label with 5 classes, but its images "
                                       "'a train' are single_label with 2"):
    stream.deliver(stream.events()[0])


def test_missing_data_stops_a_stream_before_its_first_event():
  gone = lambda: streams.Missing("data/b", "not there", "suite data build data/b")
  stream = streams.Stream("s", [_entry("a"), _entry("b", missing=gone),
                                _entry("b", occurrence=2, missing=gone)])
  assert stream.missing() == [gone()]
  with pytest.raises(streams.MissingDataError,
                     match=r"(?s)1 data sets of stream 's' .*data/b: not there Run: suite data"):
    stream.events()


def test_nevis_names_what_is_not_prepared(tmp_path):
  stream = streams.nevis("small", data_dir=str(tmp_path))
  assert [m.dataset for m in stream.missing()] == [
      "nevis/olivetti_face", "nevis/mnist", "nevis/cifar10", "nevis/semeion", "nevis/tiny_imagenet"]
  assert stream.expected == {"meta_train": 5, "meta_test": 1}
  with pytest.raises(streams.MissingDataError, match="suite data build nevis/semeion"):
    stream.events()


def test_nevis_says_what_is_left_out(tmp_path):
  stream = streams.nevis(["semeion", "fashion_mnist"], data_dir=str(tmp_path),
                         on_missing="leave_out")
  assert stream.left_out == ("semeion", "fashion_mnist") and not stream.events()
  with pytest.raises(ValueError, match="on_missing='skip'; allowed are 'stop' and 'leave_out'"):
    streams.nevis("small", on_missing="skip")


def test_nevis_can_have_the_splits_of_the_reference(tmp_path, caplog):
  names = ["olivetti_face", "mnist", "mnist@2", "cifar10", "semeion", "tiny_imagenet"]
  stream = streams.nevis(names, splits="paper", data_dir=str(tmp_path))
  assert [entry.dataset for entry in stream.entries] == [
      "nevis/olivetti_face", "nevis/mnist", "nevis/mnist", "nevis/cifar10", "nevis/semeion_paper",
      "nevis/tiny_imagenet_paper"]
  assert [entry.key for entry in stream.entries][4:] == ["semeion", "tiny_imagenet"]
  assert ("cannot be reproduced for 3 of 5 data sets, which have ours: cifar10, mnist, "
          "olivetti_face") in caplog.text
  assert stream.missing()[-1].command.startswith("suite data build nevis/tiny_imagenet_paper")
  assert stream.entries[4].task.num_classes == 10
  with pytest.raises(ValueError, match="splits='theirs'; allowed are 'ours' and 'paper'"):
    streams.nevis("tiny", splits="theirs")


def test_one_word_changes_the_splits_that_a_task_is_delivered_with(tmp_path):
  row = catalog.find("nevis/semeion")[1]
  for one in row_lib.variants(row):
    small, _ = testing.write(one, one.layouts[0], tmp_path / "mirror" / one.name, 300)
    with testing.installed(small, tmp_path / "mirror" / one.name):
      tfds_builders.build(f"nevis/{one.name}", tmp_path / "data")
  paths = {name.name: name for name in (tmp_path / "mirror" / "semeion").iterdir()}
  layout = row.layouts[0]
  keys = [one.key for one in layout.parser.parse(paths, **layout.args)]
  drawn = paper_draws.POOLED.assign(len(keys))
  found = {}
  for word in ("ours", "paper"):
    stream = streams.nevis(["semeion"], splits=word, data_dir=str(tmp_path / "data"))
    train, predict = stream.events()
    made = stream.deliver(train)
    found[word] = {"train": made.train, "dev": made.dev, **{
        name: stream.held_out(predict, name) for name in ("validation", "test")}}
  for part, split in paper_draws.SPLITS.items():
    ids = {key for key, name in zip(keys, drawn) if name == part}
    assert set(found["paper"][split].ids) == ids != set(found["ours"][split].ids)
  for sets in found.values():
    assert sum(part.size for part in sets.values()) == len(keys)


def test_nevis_tasks_know_their_classes_without_data(tmp_path):
  stream = streams.nevis("small", data_dir=str(tmp_path))
  assert [(e.task.key, e.task.num_classes) for e in stream.entries] == [
      ("olivetti_face", 40), ("mnist", 10), ("mnist@2", 10), ("cifar10", 10), ("semeion", 10),
      ("tiny_imagenet", 200)]


def test_the_full_stream_is_made_without_its_data():
  stream = streams.nevis("full")
  assert len(stream.entries) == 106 and stream.expected == {"meta_train": 79, "meta_test": 27}
  assert stream.entries[46].key == "mnist@2" and stream.entries[46].dataset == "nevis/mnist"


def test_nevis_in_another_order_or_in_part_says_so(tmp_path):
  options = dict(data_dir=str(tmp_path), seed=2)
  stream = streams.nevis("small", order="over_years", **options)
  assert stream.name == "nevis/small, seed 2, shuffled over years"
  assert [entry.year for entry in stream.entries] != sorted(e.year for e in stream.entries)
  assert {entry.key: entry.role for entry in stream.entries}["tiny_imagenet"] == "meta_test"
  part = streams.nevis("small", order="over_years", on_missing="leave_out", **options)
  assert sorted(part.left_out) == sorted(entry.key for entry in stream.entries)
  stopped = streams.nevis("full", stop_year=2020, data_dir=str(tmp_path))
  assert stopped.name == "nevis/full, before 2020" and len(stopped.entries) == 92
  assert len(stopped.cut_off) == 14 and stopped.cut_off[0] == "shanghai_tech"
  assert streams.nevis("random_40", **options).name == "nevis/random_40, seed 2"
  assert not streams.nevis("full", stop_year=None).cut_off
  with pytest.raises(ValueError, match="order='backwards'; allowed are 'chronological', 'w"):
    streams.nevis("small", order="backwards")


def test_sizes_of_tasks_are_counted_or_estimated(tmp_path):
  sizes = _entry().sizes()
  assert (sizes.train, sizes.of("test"), sizes.measured) == (3, 3, True)
  mnist = streams.nevis(["mnist"], data_dir=str(tmp_path)).entries[0].sizes()
  assert (mnist.train, mnist.dev, mnist.measured) == (42000, 9000, False)  # Of 60,000: .70 and .15.


def _classes(num=6, each=20):
  labels = np.tile(np.arange(num), each)
  pixels = np.repeat(labels[:, None, None, None], 3, axis=-1).astype(np.uint8)
  return image_set.ImageSet.from_arrays("six", pixels, labels, kind="single_label", num_classes=num)


def test_groups_of_classes_are_disjoint_tasks():
  stream = streams.of_classes(_classes(), num_tasks=3, num_meta_train=1)
  assert [(e.key, e.year, e.role, e.task.num_classes) for e in stream.entries] == [
      ("six_000", 1, "meta_train", 2), ("six_001", 2, "meta_test", 2),
      ("six_002", 3, "meta_test", 2)]
  ids, colors = [], []
  for entry in stream.entries:
    splits = entry.load()
    for part in streams.SPLITS:
      images = getattr(splits, part)
      ids.extend(images.ids)
      of_label = {(int(y), int(x)) for y, x in zip(images.labels, images.pixels()[:, 0, 0, 0])}
      assert sorted(y for y, _ in of_label) == [0, 1]  # A label is one class.
    colors.append({x for _, x in of_label})
  assert len(ids) == len(set(ids)) == 120 and set.union(*colors) == set(range(6))
  assert sum(map(len, colors)) == 6
  plain = streams.of_classes(_classes(), num_tasks=3, seed=None).entries[1].load()
  assert set(plain.train.pixels().ravel()) == {2, 3}


@pytest.mark.parametrize("options, message", [
    ({"num_tasks": 4}, "The 6 classes of 'six' do not make 4 groups .* allowed are 1, 2, 3"),
    ({"num_tasks": 6}, "of 2 classes or more; allowed are 1, 2, 3"),
    ({"num_tasks": 3, "num_meta_train": 3}, "num_meta_train=3 of 3 tasks; .* allowed are 0 to 2"),
])
def test_wrong_groups_are_refused(options, message):
  with pytest.raises(ValueError, match=message):
    streams.of_classes(_classes(), **options)


def test_groups_of_a_named_data_set_know_what_is_missing(tmp_path):
  stream = streams.of_classes("nevis/tiny_imagenet", num_tasks=20, data_dir=str(tmp_path))
  assert len(stream.entries) == 20 and stream.entries[0].task.num_classes == 10
  assert [m.dataset for m in stream.missing()] == ["nevis/tiny_imagenet"]
  with pytest.raises(ValueError, match="'nevis/voc2007' is multi_label; its images would belong"):
    streams.of_classes("nevis/voc2007", data_dir=str(tmp_path))


def test_groups_of_several_data_sets_are_sorted_by_year_and_the_last_are_scored(monkeypatch):
  names = ["A/1", "A/2", "alone/1", "B/1", "B/2", "B/3"]
  monkeypatch.setattr(class_groups.tfds_source, "label_names", lambda *_, **__: names)
  monkeypatch.setattr(class_groups.tfds_source, "label_facts", lambda *_, **__: (
      class_groups.tfds_source.LabelFacts("label", "single_label", 6)))
  held = _classes()
  without = held.subset(np.flatnonzero(held.labels != 5))  # The class B/3 has no image.
  monkeypatch.setattr(class_groups.prepared_sets, "read", lambda *_, **__: without)
  groups = [class_groups.DatedGroups("six/drawn", 2, first_year=1990, every=5, split="train"),
            class_groups.DatedGroups("nevis/six", 3, num_classes=2, first_year=1988, every=4)]
  stream = streams.of_groups(groups, num_meta_test=2, name="mine")
  assert [(e.year, e.key, e.role) for e in stream.entries] == [
      (1988, "six_000", "meta_train"), (1990, "six_A", "meta_train"),
      (1992, "six_001", "meta_train"), (1995, "six_B", "meta_test"),
      (1996, "six_002", "meta_test")]
  alphabet = stream.entries[3]
  assert alphabet.task.num_classes == 2 and set(alphabet.load().train.labels) == {0, 1}
  assert set(alphabet.load().train.pixels().ravel()) == {3, 4}
  with pytest.raises(ValueError, match="num_tasks=4 .* has 3 such groups .* allowed are 1 to 3"):
    streams.of_groups([class_groups.DatedGroups("six", 4, num_classes=2)], num_meta_test=1)
  with pytest.raises(ValueError, match="num_meta_test=0 of 5 tasks; .* allowed are 1 to 5"):
    streams.of_groups(groups, num_meta_test=0)


def test_groups_by_name_need_the_data(tmp_path):
  groups = [class_groups.DatedGroups("cfsl_omniglot/images", 2, split="train")]
  with pytest.raises(FileNotFoundError, match="suite data build cfsl_omniglot/images"):
    streams.of_groups(groups, num_meta_test=1, data_dir=str(tmp_path))
