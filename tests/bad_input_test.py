# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a user may get wrong, through the real command: exit code, message, what is left behind.

Tested where they live: archives (tests/tfds_builders), gin files (tests/gin_files_test.py), work
directories (tests/experiment_test.py).
"""

from __future__ import annotations

import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest
import tensorflow as tf

import suite
from suite import cli
from suite.commands import report_commands
from suite.reporting import records

ROOT = pathlib.Path(suite.__file__).parents[1]

# The quickstart on two or three tasks of its own.
RUN_FILE = """
from __gin__ import dynamic_registration
from suite import experiment
from suite.models import conv4
from suite.protocols import nevis
from suite.training.gradient import search
from suite.training.gradient import trainer
import small
include 'gin/runs/quickstart.gin'
experiment.run.learners = {'indep': %INDEP}
nevis.run.stream = @small.stream()
conv4.conv4.filters = 4
conv4.conv4.blocks = 1
trainer.Trainer.save_every = 2
STEPS = 4
VALIDATE_EVERY = 2
"""

MODULE = """
import numpy as np
import tensorflow as tf
from suite.data.digits import digits
from suite.data.images import image_set
from suite.data.streams import streams


def stream():
  return streams.Stream("small", digits.nevis_stream(max_train_images=32).entries[1:3])


def broken_stream(part):
  # Two sizes of images, so that they are decoded as they are used; image 7 of one split is cut off.
  def load(name):
    encoded = [tf.io.encode_png(np.full([9 + i % 2, 9, 3], i, np.uint8)).numpy() for i in range(40)]
    if name == part:
      encoded[7] = encoded[7][:-30]
    return image_set.ImageSet.from_encoded(
        f"pets {name}", encoded, np.arange(40) % 10, kind="single_label", num_classes=10,
        ids=[f"{name}_{i}.png" for i in range(40)])

  good, = digits.nevis_stream(max_train_images=32).entries[1:2]
  task = type(good.task)("pets", "single_label", 10)
  pets = streams.StreamEntry(task, 2030, "meta_test", lambda: streams.Splits(
      **{name: load(name) for name in streams.SPLITS}), "nevis/pets")
  return streams.Stream("pets", [good, pets])
"""


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path, monkeypatch):
  """The current folder, with the run file small.gin and the module it imports."""
  (tmp_path / "small.gin").write_text(RUN_FILE)
  (tmp_path / "small.py").write_text(MODULE)
  monkeypatch.chdir(tmp_path)
  monkeypatch.syspath_prepend(str(tmp_path))
  monkeypatch.delitem(sys.modules, "small", raising=False)
  # It would hold for all tests that follow in this process.
  monkeypatch.setattr(tf.config.experimental, "enable_op_determinism", lambda: None)
  return tmp_path


def _run(*arguments, run="small.gin"):
  return cli.main(["run", run, "--workdir", "w", *(
      part for a in arguments for part in (("--gin_param", a) if "=" in a else (a,)))])


def _records(workdir="w"):
  return records.strip_times(records.read(pathlib.Path(workdir, "indep", "records.jsonl")))


def test_missing_data_is_named_all_of_it_and_nothing_is_half_run(capsys):
  assert _run("--data_dir", "nowhere", run="nevis/real_mini") == 1
  error = capsys.readouterr().err
  for name in ("olivetti_face", "mnist", "cifar10", "semeion", "tiny_imagenet"):
    assert f"  nevis/{name}: " in error and f"Run: suite data build nevis/{name}" in error
  assert "5 data sets of stream 'nevis of 7 names' are not prepared" in error
  assert "on_missing='leave_out'" in error
  assert "Traceback" not in error and "Event" not in error
  assert not _records() and not pathlib.Path("w/indep/summary.json").exists()


def test_left_out_data_leaves_no_headline(capsys):
  assert _run("--data_dir",
              "nowhere",
              "streams.nevis.on_missing='leave_out'",
              run="nevis/real_mini") == 0
  summary = json.loads(pathlib.Path("w/indep/summary.json").read_text())
  assert summary["mean_error"] is None and len(summary["left_out"]) == 7
  assert summary["headline"].startswith(
      "no headline score, 7 tasks are missing: olivetti_face, mnist, ")
  assert "tiny_imagenet" in capsys.readouterr().out


def test_a_stop_year_outside_the_stream_is_refused(capsys):
  assert _run("streams.nevis.stop_year=2030", run="nevis/real_mini") == 1
  error = capsys.readouterr().err
  assert "stop_year=2030, but the stream's tasks are of 1998 to 2019; it keeps" in error
  assert "Allowed are 1999 to 2019, or None for all tasks." in error
  assert "Traceback" not in error and not _records()


def test_what_has_no_dry_run_says_so(capsys):
  assert _run("--dry_run", "lifelong.run.predictions='nowhere'", run="digits/lifelong") == 1
  error = capsys.readouterr().err
  assert "There is no estimate: " in error and "no saved predictions in nowhere" in error
  assert "Traceback" not in error and not pathlib.Path("w").exists()


def test_an_unknown_run_names_the_nearest(capsys):
  assert _run(run="nevis/real_mni") == 2
  assert "Unknown run 'nevis/real_mni'" in (error := capsys.readouterr().err)
  assert "Nearest: nevis/real_mini" in error and "suite list" in error
  assert not pathlib.Path("w").exists()


@pytest.mark.parametrize("binding, message", [
    ("STEPPS=3", "the macro 'STEPPS', which no file of this run declares. Nearest: STEPS."),
    ("trainer.Trainer.step=3", "trainer.Trainer has no parameter 'step'; it has batch_fraction, "),
    ("trainer.Triner.steps=3", "has no 'Triner'. Nearest: Trainer"),
    ("traner.Trainer.steps=3", "no import gives the name 'traner'. Nearest: trainer"),
    ("trainer.Trainer.steps=", "It takes X=Y."),
])
def test_a_misspelled_name_in_a_binding_is_refused_with_the_nearest(capsys, binding, message):
  assert _run(binding, run="quickstart") == 2
  error = capsys.readouterr().err
  assert message in error and "Traceback" not in error
  assert not pathlib.Path("w").exists()


def test_a_name_that_only_an_included_file_imports_is_explained(folder, capsys):
  text = RUN_FILE.replace("from suite.protocols import nevis\n", "")
  (folder / "small.gin").write_text(text)
  assert _run() == 2
  assert "this file does not import 'nevis'" in (error := capsys.readouterr().err)
  assert "add: from suite.protocols import nevis" in error


MINE = """
from suite.contracts import learner
from suite.data.images import image_ops


class Mine({base}):
  transform = image_ops.Plain(8)

  def begin(self, task, context):
    raise AssertionError("It has begun.")

  def learn(self, experience, context):
    return {{}}

  def predict(self, images):
    return images

  def shares_update(self):
    return True
"""


@pytest.mark.parametrize("base", ["learner.Learner", "tf.Module"])
def test_a_misspelt_method_of_a_learner_is_refused_before_anything_is_trained(base, folder, capsys):
  (folder / "small.py").write_text(MODULE + MINE.format(base=base))
  (folder / "small.gin").write_text(RUN_FILE.replace(
      "{'indep': %INDEP}", "{'indep': %INDEP, 'mine': @small.Mine}"))
  assert _run() in (1, 2)
  error = capsys.readouterr().err
  assert ("Mine has 'shares_update', which no protocol knows: a learner has 'shares_updates'. "
          "Rename it to 'shares_updates', or to a name that is less like it") in error
  assert "Traceback" not in error
  assert not pathlib.Path("w").exists()


def test_trials_cannot_be_shared_over_replicas(capsys):
  assert _run("--share", "--strategy", "mirrored") == 2
  assert "--share trains a trial on one device, and --strategy is mirrored" in (
      capsys.readouterr().err)
  assert _run("--share", run="nevis/table") == 2
  assert "--share is a flag of one run, and nevis/table is a table" in capsys.readouterr().err


@pytest.mark.parametrize("binding, message", [
    ("search.Search.space={'droput': 0.5}", "Unknown parameters in Search.space: 'droput'. This"),
    ("STEPS=0", "Trainer.steps is 0; it must be at least 1"),
    ("search.Search.num_trials=0", "num_trials is 0; a search needs at least one trial"),
    ("LEARNING_RATE=(0.1, 0.01)",
     "Search space of learning_rate is (0.1, 0.01); give one number, or"),
])
def test_a_setting_that_makes_no_sense_is_said_plainly(capsys, binding, message):
  assert _run(binding) == 1
  error = capsys.readouterr().err
  assert message in error and "Traceback" not in error
  assert not _records()


@pytest.mark.parametrize("binding, message", [
    ("STEPS='many'", "trainer.Trainer.steps is 'many' through %STEPS (the command line); it takes "
     "a whole number."),
    ("STEPS=[1, 2]", "Trainer.steps is [1, 2] through %STEPS (the command line); it takes a whole"),
    ("experiment.run.seed='abc'", "experiment.run.seed is 'abc' (the command line); it takes a "
     "whole number."),
    ("experiment.run.seed=1.5", "experiment.run.seed is 1.5 (the command line); it takes a whole"),
    ("experiment.run.op_threads='x'", "op_threads is 'x' (the command line); it takes a whole"),
    ("experiment.run.op_threads=-3", "op_threads is -3; it must be at least 1, or None for all"),
])
def test_a_setting_of_a_wrong_type_or_range_is_refused_before_any_work(capsys, binding, message):
  assert _run(binding) == 2
  error = capsys.readouterr().err
  assert message in error and "Traceback" not in error
  assert not pathlib.Path("w").exists()


@pytest.mark.parametrize("arguments, code, message", [
    (("run", "small.gin", "--workdir", "small.py"), 2, "small.py is a file. Give --workdir a fold"),
    (("run", "small.gin", "--workdir", "small.py/w"), 2, "lies under small.py, which is a file."),
    (("run", "small.gin", "--workdir", "/proc/no/w"), 2, "/proc/no/w cannot be made: No such file"),
    (("run", "small.gin", "--workdir", ""), 2, "--workdir: it is empty; give a folder, or"),
    (("run", "small.gin", "--data_dir", "small.py"), 2, "small.py is a file. Give --data_dir"),
    (("run", "digits/cfsl_table", "--workdir", "small.py"), 2, "small.py is a file. Give"),
    (("data", "build", "nevis/semeion", "--data_dir", "small.py/x"), 2, "lies under small.py, "),
    (("data", "build", "nevis/semeion", "--data_dir", "/proc/no"), 2, "/proc/no cannot be made: "),
    (("data", "doctor", "nevis/semeion", "--data_dir", "small.py"), 2, "small.py is a file."),
])
def test_a_folder_that_is_a_file_or_read_only_is_named(capsys, arguments, code, message):
  assert cli.main(list(arguments)) == code
  error = capsys.readouterr().err
  assert message in error and "Traceback" not in error


def test_a_run_that_is_ended_says_that_it_can_go_on(monkeypatch, capsys):
  monkeypatch.setattr(report_commands, "_list",
                      lambda args: os.kill(os.getpid(), signal.SIGTERM))
  assert cli.main(["list"]) == 130
  error = capsys.readouterr().err
  assert error == ("suite: ended by SIGTERM; run the same command again to resume from the last "
                   "saved state\n")
  assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize("part, done", [("train", 2), ("dev", 2), ("test", 3)])
def test_a_corrupt_image_names_its_data_set_and_itself(capsys, part, done):
  assert _run("nevis.run.stream=@small.broken_stream()", f"small.broken_stream.part='{part}'") == 1
  error = capsys.readouterr().err
  assert (f"suite: An image of data set pets {part} cannot be decoded; its id is '{part}_7.png'. "
          "Build the data set again from a good copy of its source.\n") in error
  assert "Traceback" not in error
  assert len(_records()) == done  # What was done before stands.


def test_all_trials_with_a_loss_that_is_not_finite_is_an_error(capsys):
  assert _run("LEARNING_RATE=(1e29, 1e30)", "search.Search.num_trials=2") == 1
  error = capsys.readouterr().err
  assert "All 2 trials ended with a loss that is not finite (learning rates [" in error
  assert "Lower the learning rate" in error and "Traceback" not in error
  assert not _records()


def test_a_full_disk_stops_the_run_and_the_same_command_goes_on(monkeypatch, capsys):
  """At several of the places that save: the disk is full at the n-th file that is flushed."""
  assert cli.main(["run", "small.gin", "--workdir", "whole"]) == 0
  fsync, stopped = os.fsync, 0

  def full_at(limit):
    flushed = []

    def flush(descriptor):
      flushed.append(descriptor)
      if len(flushed) == limit:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
      fsync(descriptor)

    return flush

  for limit in (1, 4, 9, 17, 30):
    capsys.readouterr()
    with monkeypatch.context() as patch:
      patch.setattr(os, "fsync", full_at(limit))
      code = _run()
    error = capsys.readouterr().err
    if not code:
      break
    stopped += 1
    assert code == 1 and "Traceback" not in error
    assert "suite: Could not save " in error and "run the same command again to resume" in error
    assert "No space left on device. The last good state is intact" in error
  assert stopped >= 3 and _run() == 0
  assert json.dumps(_records()) == json.dumps(_records("whole"))


@pytest.mark.skipif(not shutil.which("unshare"),
                    reason="needs unshare (util-linux) for a disk of its own")
def test_a_disk_that_is_really_full_stops_the_run_and_more_space_lets_it_go_on(folder):
  """On a file system of 96 kB, mounted in a name space of its own, then made larger."""
  run = f"{sys.executable} -m suite run small.gin --workdir disk/w"
  script = f"""
    mkdir -p disk && mount -t tmpfs -o size=96k none disk || exit 77
    {run} > first.log 2>&1; echo $? > code
    cp disk/w/indep/records.jsonl first.jsonl || true
    mount -o remount,size=64m disk && {run} && cp -r disk/w/. w
  """
  path = os.pathsep.join([str(ROOT), str(folder)])
  (folder / "w").mkdir()
  done = subprocess.run(["unshare", "--map-root-user", "--mount", "bash", "-c", script],
                        cwd=folder,
                        text=True,
                        capture_output=True,
                        timeout=300,
                        env={**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""})
  if done.returncode == 77 or "unshare" in done.stderr:
    pytest.skip(f"this machine lets nobody mount: {done.stderr.strip()[-200:]}")
  log = (folder / "first.log").read_text()
  assert (folder / "code").read_text() == "1\n", log
  assert "suite: Could not save " in log and "No space left on device" in log, log
  assert "The last good state is intact" in log.splitlines()[-1] and "unexpected" not in log
  assert done.returncode == 0, done.stderr[-3000:]
  assert len(_records()) == 4
