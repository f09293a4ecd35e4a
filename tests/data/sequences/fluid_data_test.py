# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID sequences of a small data set that pretends to be prepared."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import rehearsal
from suite.data.images import feature_set
from suite.data.sequences import fluid_data
from suite.data.sequences import fluid_sequences

# 6 classes of 12 images, whose gray tells the class and the number; 2 + 2 of them in a sequence.
SPEC = fluid_sequences.Spec(2, 2, num_pretrain=3, numerator=10, offset=1, base_cap=4,
                            num_validation=1, num_test=2, segment_length=6)


@pytest.fixture(name="data", autouse=True)
def _data(monkeypatch):
  labels = np.repeat(np.arange(6), 12)
  grays = [20 * label + i % 12 for i, label in enumerate(labels)]
  encoded = [tf.io.encode_png(np.full([4, 4, 3], g, np.uint8)).numpy() for g in grays]
  made = fluid_data.Encoded(encoded, labels, [f"train/{i:02d}" for i in range(72)])
  monkeypatch.setattr(fluid_data, "_encoded", lambda *_: made)
  monkeypatch.setitem(fluid_sequences.SPECS, "small", SPEC)
  fluid_data.plan.cache_clear()
  yield made
  fluid_data.plan.cache_clear()


def gray_of(image):
  assert len(np.unique(image)) == 1
  return int(image.flat[0])


def test_images_and_labels_of_a_sequence_belong_together():
  made = fluid_data.sequence("x", spec="small", side=2)
  plan = fluid_data.plan("x", "small")
  drawn = plan.test[0]
  assert len(made) == len(drawn) and made.num_base_classes == 2 and made.num_classes == 4
  images = made.images(0, len(made))
  assert images.shape[1:] == (2, 2, 3)
  made.deliver(len(made) - 1)
  for t in range(len(made)):
    assert gray_of(images[t]) // 20 == drawn.classes[made.reveal(t)]
  assert made.ids.tolist() == drawn.ids.tolist()


def test_base_classes_have_the_labels_of_the_sequence_and_no_image_of_it():
  sequence = fluid_data.sequence("x", spec="small", part="test_1")
  base = fluid_data.base("x", spec="small", part="test_1", side=4)
  drawn = fluid_data.plan("x", "small").test[1]
  assert base.num_classes == 4 and sorted(set(base.labels)) == [0, 1]
  assert len(base.labels) == 2 * (12 - 4)
  assert not set(base.ids) & set(sequence.ids)
  grays = [20 * drawn.classes[label] for label in base.labels]
  numbers = [int(one.split("/")[1]) for one in base.ids]
  assert [n // 12 * 20 for n in numbers] == grays


def test_features_are_found_by_id(data, tmp_path):
  order = np.random.default_rng(0).permutation(72)  # A feature is the number of its image.
  shard = feature_set.shard_folder(tmp_path, "train", 0)
  shard.mkdir(parents=True)
  feature_set.write_shard(shard, order[:, None].astype(np.float32), [f"{i:02d}" for i in order])
  (tmp_path / feature_set.MANIFEST).write_text(json.dumps({
      "data_set": "x", "feature_size": 1, "shard_size": 99,
      "splits": {"train": {"num_examples": 72}}}))
  settings = dict(spec="small", features=str(tmp_path))
  made, base = fluid_data.sequence("x", **settings), fluid_data.base("x", **settings)
  for features, ids in ((made.images(0, len(made)), made.ids), (base.features, base.ids)):
    assert [f"train/{int(one):02d}" for one in features[:, 0]] == list(ids)
  images = fluid_data.sequence("x", spec="small"), fluid_data.base("x", spec="small")
  assert made.ids.tolist() == images[0].ids.tolist()
  np.testing.assert_array_equal(base.labels, images[1].labels)


def test_a_backbone_is_pretrained_on_all_base_classes():
  images = fluid_data.pretraining("x", spec="small", side=4)
  assert images.num_classes == 3 and np.bincount(images.labels).tolist() == [8, 8, 8]


def test_sequences_in_turn_tell_their_segments():
  with pytest.raises(ValueError, match="are in more than one segment. Merge sequences of a spec"):
    fluid_data.sequence("x", spec="small", part=fluid_data.ALTERNATING)


def test_wrong_names_are_told():
  with pytest.raises(ValueError, match="spec 'big' of FLUID sequences; allowed are paper, tiny"):
    fluid_data.sequence("x", spec="big")
  with pytest.raises(ValueError, match="'test_7' of x as 'small'; allowed are validation_0"):
    fluid_data.sequence("x", spec="small", part="test_7")


def test_a_plan_decodes_no_stand_ins(data, monkeypatch):
  stand_ins = data._replace(ids=[f"train/stand-in/{i}" for i in range(len(data.ids))])
  monkeypatch.setattr(fluid_data, "_encoded", lambda *_: stand_ins)
  monkeypatch.setattr(fluid_data.decoding, "decode_all", lambda *_, **__: pytest.fail("decoded"))
  with rehearsal.begun(measures=False):
    assert fluid_data.sequence("x", spec="small", side=2).images(0, 3).shape == (3, 2, 2, 3)
    assert fluid_data.base("x", spec="small", side=2).pixels().shape[1:] == (2, 2, 3)
