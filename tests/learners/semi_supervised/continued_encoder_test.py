# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import dataclasses
import functools
import shutil
import types

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf
import unconverted

from suite.compute import ledger
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import pretrainer
from suite.learners.semi_supervised import continued_encoder
from suite.models import conv4
from suite.protocols import clear
from suite.state import encoder_file
from suite.state import journal
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.pretraining import pretexts

BUCKETS = digits.buckets(2, labelled_share=0.1)


@unconverted.unconverted
@dataclasses.dataclass(frozen=True)
class Mirrored(image_ops.Plain):
  """Views of which every other one is mirrored, whose graph is small."""

  number: int = 0

  def view(self, number):
    return dataclasses.replace(self, number=number)

  def train(self, images, seeds):
    mirrored = tf.cast(seeds, tf.int64) % 2 == self.number
    images = super().train(images, seeds)
    return tf.where(mirrored[:, None, None, None], images[:, :, ::-1], images)


def _learner(updates=4, **arguments):
  values = dict(
      pretrainer=pretrainer.Pretrainer(
          pretext=functools.partial(pretexts.Moco, queue_size=16, dim=6, norm_groups=1),
          backbone=functools.partial(conv4.conv4, filters=4, blocks=1, norm="none"),
          transform=Mirrored(8), batch_size=8, learning_rate=0.1),
      transform=image_ops.Plain(8), updates=updates, num_buckets=2, save_every=3, epochs=2,
      batch_size=32, learning_rate=0.5, memory=memory.Memory(40, reservoir.Reservoir()))
  return continued_encoder.ContinuedEncoder(**{**values, **arguments})


def _run(folder, learner, buckets=BUCKETS, **stops):
  with stopped_runs.state(folder, **stops) as state:
    return clear.run(learner, state=state, buckets=buckets)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
  """(summary, records, learner, folder of the encoder it ended with).

  Beside the folder is "killed": the second bucket's updates as they are saved, after 3 of 4.
  """
  folder = tmp_path_factory.mktemp("runs") / "whole"
  learner, save = _learner(), journal.Journal.save_partial

  def copying(one, *arguments):
    save(one, *arguments)
    if one._event == 3 and not (folder.parent / "killed").exists():
      shutil.copytree(folder, folder.parent / "killed")

  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(journal.Journal, "save_partial", copying)
    summary = _run(folder, learner)
  encoder_file.save(folder, learner.pretrainer.encoder, {"cost": {"flops": 7, "macs": 3}})
  return summary, stopped_runs.records(folder), learner, folder


def test_updates_are_charged_to_pretrain_and_the_rate_falls_over_all_buckets(whole):
  summary, records, _, _ = whole
  first, second = (r for r in records if r["kind"] == "train")
  assert summary["steps_pretrain"] == 8 and summary["examples_pretrain"] == 8 * 8
  assert (first["encoder_updates"], second["encoder_updates"]) == (4, 8)
  # A cosine over 8 updates, at the last of each bucket.
  assert [first["encoder_rate"], second["encoder_rate"]] == pytest.approx(
      [0.05 * (1 + np.cos(np.pi * n / 8)) for n in (3, 7)], rel=1e-5)
  sizes = [bucket.train.size for bucket in BUCKETS]
  # The head learns the bucket's images, and those that the memory holds of the bucket before.
  assert (first["trained_on"], second["trained_on"]) == (sizes[0], sizes[1] + 40)
  assert summary["flops_pretrain"] > summary["flops_train"] > 0


def test_features_of_the_memory_are_those_of_the_encoder_as_it_is(whole):
  *_, learner, _ = whole
  images = learner.memory.held().codes
  np.testing.assert_allclose(
      learner.head.encode(images), learner.pretrainer.encoder(images, training=False), atol=1e-6)


def test_stopped_within_updates_and_resumed_gives_the_same_records(whole):
  killed = whole[3].parent / "killed"
  assert len(stopped_runs.records(killed)) == 3
  _run(killed, _learner())
  assert stopped_runs.records(killed) == whole[1]


def test_without_updates_the_encoder_stays_as_it_starts(whole, tmp_path):
  learner = _learner(updates=0, weights=str(whole[3]), memory=None)
  # No unlabelled images are needed, and the cost of the start is charged once.
  summary = _run(tmp_path, learner, buckets=digits.buckets(2))
  before = encoder_file.load(whole[3]).weights
  for a, b in zip(learner.pretrainer.encoder.get_weights(), before):
    np.testing.assert_array_equal(a, b)
  assert (summary["flops_pretrain"], summary["macs_pretrain"]) == (7, 3)
  # Queries and keys start from the same weights.
  key = pretexts.backbone_of(learner.pretrainer.pretext.key_model)
  np.testing.assert_array_equal(key.get_weights()[0], before[0])


def test_what_cannot_be_run_is_refused(whole, tmp_path):
  with pytest.raises(ValueError, match="updates=-1, num_buckets=2 and save_every=3"):
    _learner(updates=-1)
  with pytest.raises(ValueError, match="bucket_01 train' comes without.* or set updates to 0"):
    _run(tmp_path / "1", _learner(), buckets=digits.buckets(2))
  with pytest.raises(ValueError, match=r"makes examples \(9, 9, 3\), and its encoder takes images"):
    _run(tmp_path / "2", _learner(transform=image_ops.Plain(9)))
  third = types.SimpleNamespace(unlabelled=BUCKETS[0].unlabelled)
  with pytest.raises(ValueError, match="num_buckets is 2, but there are more buckets"):
    whole[2]._pretrain(third, types.SimpleNamespace(ledger=ledger.Ledger()))
