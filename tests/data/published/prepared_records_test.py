# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import types

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import tfds_source
from suite.data.published import published_plans
from suite.data.published import published_sequences
from tests.shared import published_fluid


def _example(**values):
  def feature(value):
    if isinstance(value, bytes):
      return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
  return tf.train.Example(features=tf.train.Features(
      feature={key: feature(value) for key, value in values.items()})).SerializeToString()


@pytest.fixture(name="prepared")
def _prepared(tmp_path, monkeypatch):
  """A sequence of 24 samples in two files, in another order, and the plan of its own files."""
  monkeypatch.setattr(published_plans, "NUM_CLASSES", 8)
  for cached in ("_plan", "_found", "_prepared"):
    getattr(published_sequences, cached).cache_clear()
  names, labels = published_fluid.write(tmp_path)
  plan = published_plans.read(3, tmp_path)
  order = np.random.default_rng(0).permutation(24)
  files = []
  for part in (order[:10], order[10:]):
    path = str(tmp_path / f"records{len(files)}")
    with tf.io.TFRecordWriter(path) as writer:
      for i in part.tolist():
        label = int(plan.planned.labels[i])
        writer.write(_example(
            image=published_fluid.picture(int(labels[i]), i, (40, 48)), label=int(labels[i]),
            position=i, novel=int(label >= plan.planned.num_base), wnid=names[i][:9].encode(),
            id=f"{i:06d}/{names[i][:-5]}".encode()))
    files.append((path, 0, len(part)))
  monkeypatch.setattr(tfds_source, "open_split",
                      lambda *args, **named: types.SimpleNamespace(files=files))
  monkeypatch.setattr(tfds_source, "why_missing", lambda *args, **named: ("", ""))
  return plan, labels, files


def test_prepared_records_are_delivered_in_the_order_of_their_positions(prepared):
  plan, labels, _ = prepared
  found, places = published_sequences.read_records(3)
  assert found.planned.digest() == plan.planned.digest()
  np.testing.assert_array_equal(found.slots, plan.slots)
  sequence = published_sequences.sequence(3, folder=None, num_samples=20)
  samples = published_sequences.samples(3, folder=None, num_samples=20)
  assert sequence.ids.tolist() == plan.planned.ids[:20].tolist()
  for i, data in enumerate(samples.reader.read(np.arange(20))):
    assert data == places.read(i) == published_fluid.picture(int(labels[i]), i, (40, 48))


def test_data_that_is_not_prepared_is_named_with_its_command(tmp_path):
  with pytest.raises(FileNotFoundError, match="is not prepared: (.|\n)*suite data build fl"):
    published_sequences.read_records(4, str(tmp_path))


def test_records_that_are_missing_or_cut_are_errors(prepared):
  files = prepared[2]
  files.append(files.pop()[:1] + (0, 13))
  with pytest.raises(ValueError, match="has 23 records with positions up to"):
    published_sequences.read_records(3)
  with open(files[0][0], "r+b") as stream:
    stream.truncate(700)
  with pytest.raises(ValueError, match="ends within a record"):
    published_sequences.read_records(3)
