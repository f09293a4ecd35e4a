# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import errno
import os
import shutil
import zipfile

import numpy as np
import pytest

from suite.state import weight_store
from suite.system import atomic_files
from suite.system import io_errors

Entry = weight_store.Entry


def test_an_event_sees_what_earlier_events_wrote(tmp_path):
  first = weight_store.WeightStore(tmp_path, 2)
  entry = first.save("mnist@2", [np.arange(3.0), np.zeros((2, 2))])
  assert entry == Entry(2, "mnist@2") and first.entries() == []
  later = weight_store.WeightStore(tmp_path, 3)
  assert later.entries() == [entry]
  loaded = later.load(entry)
  np.testing.assert_array_equal(loaded[0], np.arange(3.0))
  assert loaded[1].shape == (2, 2)


def test_more_than_ten_arrays_keep_their_order(tmp_path):
  store = weight_store.WeightStore(tmp_path, 0)
  entry = store.save("x", [np.array(i) for i in range(12)])
  assert [int(a) for a in store.load(entry)] == list(range(12))


def test_one_array_is_read_without_the_others(tmp_path):
  store = weight_store.WeightStore(tmp_path, 0)
  entry = store.save("a", [np.arange(3), np.arange(5)])
  assert store.load_one(entry, 1).tolist() == [0, 1, 2, 3, 4]


def test_entries_come_in_the_order_of_events_not_of_text(tmp_path):
  for event in (10, 9, 100):
    weight_store.WeightStore(tmp_path, event).save("t", [np.zeros(1)])
  assert [e.event for e in weight_store.WeightStore(tmp_path, 1000).entries()] == [9, 10, 100]


def test_scratch_goes_and_earlier_events_stay(tmp_path):
  store = weight_store.WeightStore(tmp_path, 1)
  entry = store.save("trial0+a", [np.ones(2)])
  store.copy(entry, store.own("a"))
  store.remove([entry])
  assert weight_store.WeightStore(tmp_path, 2).entries() == [Entry(1, "a")]
  with pytest.raises(ValueError, match="earlier event"):
    weight_store.WeightStore(tmp_path, 2).remove([Entry(1, "a")])


def test_only_what_earlier_events_wrote_under_a_name_is_dropped(tmp_path):
  for event in range(4):
    for name in ("model", "mo@del"):
      weight_store.WeightStore(tmp_path, event).save(name, [np.full(2, event)])
  store = weight_store.WeightStore(tmp_path, 3)
  for _ in range(2):  # Again, as after an interruption.
    store.keep_only("model", [1, 7])
    assert [e.event for e in store.entries() if e.name == "model"] == [1]
    assert [e.event for e in store.entries() if e.name == "mo@del"] == [0, 1, 2]
  np.testing.assert_array_equal(store.load(Entry(3, "model"))[0], [3.0, 3.0])  # Its own stays.


@pytest.mark.parametrize("run, event, name, what", [
    ("b", 2, "mnist", "run"), ("a", 1, "mnist", "event"), ("a", 2, "usps", "task")])
def test_weights_of_another_run_event_or_task_are_refused(tmp_path, run, event, name, what):
  theirs = weight_store.WeightStore(tmp_path / "theirs", event, run)
  theirs.save(name, [np.ones(2)])
  ours = weight_store.WeightStore(tmp_path / "ours", 3, "a")
  entry = weight_store.WeightStore(ours.folder, 2, "a").save("mnist", [np.ones(2)])
  assert len(ours.load(entry)) == 1
  shutil.copy(next(theirs.folder.iterdir()), ours.folder / "000002.mnist.npz")
  with pytest.raises(ValueError, match=f"holds weights of another {what}"):
    ours.load(entry)


def test_a_copy_under_another_name_says_so(tmp_path):
  store = weight_store.WeightStore(tmp_path, 1, "a")
  store.copy(store.save("trial0", [np.arange(3)]), store.own("x"))
  assert store.load(store.own("x"))[0].tolist() == [0, 1, 2]
  weight_store.write_arrays(tmp_path / "000001.old.npz", {"0000": np.zeros(1)})
  assert len(store.load(store.own("old"))) == 1  # Of an earlier version: it does not say.


def test_an_entry_that_is_not_there_lists_those_that_are(tmp_path):
  store = weight_store.WeightStore(tmp_path, 1)
  store.save("a", [np.ones(2)])
  with pytest.raises(FileNotFoundError, match=r"it has \[\(1, 'a'\)\]"):
    store.load(Entry(0, "b"))


def test_a_damaged_file_is_named(tmp_path):
  store = weight_store.WeightStore(tmp_path, 1)
  store.save("a", [np.ones(2)])
  path = next(tmp_path.iterdir())
  path.write_bytes(path.read_bytes()[:20])
  with pytest.raises(ValueError, match="000001.a.npz"):
    store.load(Entry(1, "a"))


def test_names_are_made_safe(tmp_path):
  assert weight_store.WeightStore(tmp_path, 0).own("../a b").name == ".._a_b"


def test_a_restarted_run_forgets_what_came_later(tmp_path):
  for event in range(3):
    weight_store.WeightStore(tmp_path, event).save("t", [np.zeros(1)])
  weight_store.WeightStore(tmp_path, 0).forget_from(1)
  assert weight_store.WeightStore(tmp_path, 9).entries() == [Entry(0, "t")]


def test_names_are_kept_apart_and_inside_the_folder():
  assert weight_store.safe_name("nevis/mnist, 2") == "nevis_mnist__2"
  assert [weight_store.safe_name(name) for name in ("..", ".", "", "a..")] == [
      "__", "_", "_", "a.."]
  long = [weight_store.safe_name("x" * 300 + end) for end in "ab"]
  assert len(set(long)) == 2 and {len(name) for name in long} == {120}
  weight_store.check_names(["a", "b", "a"])
  for other in ("a_b", "A B"):
    with pytest.raises(ValueError, match="would both be kept as"):
      weight_store.check_names(["a b", other])


def test_what_is_removed_is_flushed_as_later_events_list_the_folder(tmp_path, monkeypatch):
  """After a power cut a trial's weights came back and were a candidate of the next event."""
  flushed = []
  store = weight_store.WeightStore(tmp_path, 0)
  entry = store.save("trial0", [np.zeros(2)])
  monkeypatch.setattr(atomic_files, "sync_folder",
                      lambda folder: flushed.append(sorted(p.name for p in folder.iterdir())))
  store.remove([entry])
  assert flushed == [[]]
  store.remove([entry])  # Nothing is there.
  assert flushed == [[]]


def test_a_device_that_cannot_be_read_is_no_damage(tmp_path, monkeypatch):
  """zipfile says of such a file that it is none of its kind."""
  store = weight_store.WeightStore(tmp_path, 0)
  entry = store.save("w", [np.ones(2)])

  def fail(file):
    raise OSError(errno.EIO, os.strerror(errno.EIO))

  with monkeypatch.context() as patch:
    patch.setattr(zipfile, "_EndRecData", fail)
    with pytest.raises(zipfile.BadZipFile) as caught:
      store.load(entry)
  assert io_errors.of(caught.value).errno == errno.EIO
  assert str(tmp_path) in io_errors.message(io_errors.of(caught.value))
  next(tmp_path.glob("*.npz")).write_bytes(b"PK")
  with pytest.raises(ValueError, match="is damaged"):
    store.load(entry)
