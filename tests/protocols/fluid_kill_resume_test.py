# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`kill -9` in the middle of a sequence, then the same command: the same records, byte for byte.

Two learners of the digits, one whose centroids move with every label and one that trains a whole
net on what is stored; offline phases come by new classes, records have 20 steps.
"""

from __future__ import annotations

from suite.reporting import records

RUN_FILE = """
from __gin__ import dynamic_registration
from suite import experiment
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import exemplar_tuning
from suite.learners import gradient
from suite.models import conv4
from suite.protocols import fluid
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import trainable_parts
from suite.training.sequence import update_strategies

experiment.run.protocol = @fluid.run
experiment.run.learners = {
    'et': @exemplar_tuning.ExemplarTuning, 'standard': @gradient.GradientLearner}
fluid.run.sequence = @digits.sequence()
fluid.run.base = @digits.sequence_base()
fluid.run.update = @update_strategies.OnNewClasses()
fluid.run.blocks = @fluid.Blocks()
fluid.Blocks.record_every = 20
update_strategies.OnNewClasses.count = 2
digits.sequence.num_samples = 120
exemplar_tuning.ExemplarTuning.transform = %TRANSFORM
exemplar_tuning.ExemplarTuning.features = @frozen_backbone.pixels
exemplar_tuning.ExemplarTuning.learning_rate = 0.01
gradient.GradientLearner.transform = %TRANSFORM
gradient.GradientLearner.net = @trainable_parts.AllLayers()
gradient.GradientLearner.train_on = 'all'
gradient.GradientLearner.base = @composition.Base()
gradient.GradientLearner.batch_size = 32
gradient.GradientLearner.epochs = 4
gradient.GradientLearner.learning_rate = 0.1
trainable_parts.AllLayers.backbone = @conv4.conv4
conv4.conv4.filters = 4
conv4.conv4.blocks = 1
image_ops.Plain.size = 8
TRANSFORM = @image_ops.Plain()
"""


def test_killed_between_samples_and_in_phases_and_resumed_gives_the_same_records(
    processes, tmp_path):
  (tmp_path / "digits.gin").write_text(RUN_FILE)
  whole, killed = tmp_path / "whole", tmp_path / "killed"

  def start(workdir, fresh=False):
    return processes.start(tmp_path / "digits.gin", workdir, fresh=fresh)

  processes.finish(start(whole, fresh=True))
  kinds = ["phase" if "phase" in r else "steps" if "first_step" in r else "base"
           for r in records.read(whole / "standard" / "records.jsonl")]
  assert kinds[0] == "base" and kinds.count("phase") == 3
  # After the base classes; when an offline phase begins; in the steps that follow one.
  places = [("et", 1), ("standard", kinds.index("phase")),
            ("standard", len(kinds) - kinds[::-1].index("phase"))]
  for name, num_records in places:
    # As soon as there are so many records: in the event after them, or in the commit.
    processes.kill_when(
        start(killed),
        lambda name=name, n=num_records: processes.num_records(killed / name) >= n)
    assert num_records <= processes.num_records(killed / name) < len(kinds)
    assert not (killed / name / "summary.json").exists()
  processes.finish(start(killed))
  processes.assert_same(whole, killed, ["et", "standard"])
  for name in ("et", "standard"):
    assert len(list((whole / name / "predictions").iterdir())) == kinds.count("steps")
