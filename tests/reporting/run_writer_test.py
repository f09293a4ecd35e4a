# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Records are written whatever becomes of TensorBoard's files."""

from __future__ import annotations

import tensorflow as tf

from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer


class _FullDisk:
  log_dir = "tensorboard/x"

  def write(self, record):
    raise tf.errors.OutOfRangeError(None, None, f"{record}: no space")

  close = rebuild = write


def test_a_view_that_cannot_be_written_is_given_up_and_the_run_is_not(tmp_path, caplog):
  writer = run_writer.RunWriter(tmp_path, _FullDisk(), progress.Progress("x"))
  for event in range(2):
    writer.write({"event": event})
  writer.close()
  assert [r["event"] for r in records.read(tmp_path / "records.jsonl")] == [0, 1]
  assert caplog.text.count("tensorboard/x cannot be written") == 1
