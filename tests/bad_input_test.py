# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a user may get wrong, through the real command: exit code, message, what is left behind.

Tested where they live: archives (tests/tfds_builders), gin files (tests/gin_files_test.py), work
directories (tests/experiment_test.py).
"""

from __future__ import annotations

import errno
import functools
import json
import os
import pathlib
import re
import shlex
import signal
import sys

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

import suite
from suite import cli
from suite.commands import show_commands
from suite.compute import distribution
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import run_files
from suite.data.digits import digits
from suite.reporting import records
from suite.running import this_process
import tfds_builders  # noqa: F401  # Registers the data sets.

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
import pathlib
import numpy as np
import tensorflow as tf
from suite.data.digits import digits
from suite.data.images import image_set
from suite.data.streams import streams


def stream(num=2):
  return streams.Stream("small", digits.nevis_stream(max_train_images=32).entries[1:1 + num])


def broken_stream():
  # Two sizes of images, so that they are decoded as they are used; image 7 of the split that the
  # file names is cut off.
  def load(name):
    encoded = [tf.io.encode_png(np.full([9 + i % 2, 9, 3], i, np.uint8)).numpy() for i in range(40)]
    if name == pathlib.Path("broken.txt").read_text():
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
  # Commands do not collect garbage before they run: a process of tests has much to look at.
  monkeypatch.setattr(this_process, "settle", lambda debug: None)
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
  assert not pathlib.Path("w").exists()


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
  assert _run("streams.nevis.stop_year=2030", run="nevis/real_mini") == 2
  error = capsys.readouterr().err
  assert "stop_year=2030, but the stream's tasks are of 1998 to 2019; it keeps" in error
  assert "Allowed are 1999 to 2019, or None for all tasks." in error
  assert "Traceback" not in error and not pathlib.Path("w").exists()


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
    ("trainer.Trainer.batch_size=2000000000", "2,000,000,000; a batch has at most 65,536 images"),
    ("search.Search.num_trials=0", "num_trials is 0; a search needs at least one trial"),
    ("LEARNING_RATE=(0.1, 0.01)",
     "Search space of learning_rate is (0.1, 0.01); give one number, or"),
])
def test_a_setting_that_makes_no_sense_is_said_plainly(capsys, binding, message):
  assert _run(binding) == 2
  error = capsys.readouterr().err
  assert message in error and "Traceback" not in error
  assert not pathlib.Path("w").exists()


@pytest.mark.parametrize("binding, message", [
    ("experiment.run.seed=1.5", "experiment.run.seed is 1.5 (the command line); it takes a whole"),
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
  monkeypatch.setattr(show_commands, "_list",
                      lambda args: os.kill(os.getpid(), signal.SIGTERM))
  assert cli.main(["list"]) == 130
  error = capsys.readouterr().err
  assert error == ("suite: ended by SIGTERM; run the same command again to resume from the last "
                   "saved state\n")
  assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_corrupt_image_names_its_data_set_and_itself(capsys):
  for part in ("train", "test"):  # The second run goes on with the task of the damaged image.
    pathlib.Path("broken.txt").write_text(part)
    assert _run("nevis.run.stream=@small.broken_stream()") == 1
    error = capsys.readouterr().err
    assert (f"suite: 1 of the 40 image files of 'pets {part}' are damaged: '{part}_7.png': it is "
            "cut off in chunk IDAT. Build the data set again from a good copy of its source.\n"
            ) in error
    assert "Traceback" not in error
    assert len(_records()) == 2  # What was done before stands.


def test_all_trials_with_a_loss_that_is_not_finite_is_an_error(capsys):
  assert _run("LEARNING_RATE=(1e29, 1e30)", "search.Search.num_trials=2") == 1
  error = capsys.readouterr().err
  assert "All 2 trials ended with a loss that is not finite (learning rates [" in error
  assert "Lower the learning rate" in error and "Traceback" not in error
  assert not _records()


def test_a_full_disk_stops_the_run_and_the_same_command_goes_on(monkeypatch, capsys):
  """At several of the places that save: the disk is full at the n-th file that is flushed."""
  one_task = ["run", "small.gin", "--gin_param", "small.stream.num=1"]
  assert cli.main([*one_task, "--workdir", "whole"]) == 0
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
      code = cli.main([*one_task, "--workdir", "w"])
    error = capsys.readouterr().err
    if not code:
      break
    stopped += 1
    if limit == 1:  # The names of new folders are flushed first.
      assert code == 2 and error == ("suite: w cannot be made: No space left on device. Free some "
                                     "space, or give --workdir a folder on another disk.\n")
      continue
    assert code == 1 and "Traceback" not in error
    assert "suite: Could not save " in error and "run the same command again to resume" in error
    assert "No space left on device. The last good state is intact" in error
  assert stopped >= 3 and cli.main([*one_task, "--workdir", "w"]) == 0
  assert json.dumps(_records()) == json.dumps(_records("whole"))


# In new user and mount namespaces, where the process may mount a file system.
SMALL_DISK = """
import ctypes, os, sys
user, group, libc = os.getuid(), os.getgid(), ctypes.CDLL(None)
new_user, new_mounts = 0x10000000, 0x00020000
if libc.unshare(new_user | new_mounts):
  sys.exit(77)
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
  with open(f"/proc/self/{name}", "w") as file:
    file.write(text)
os.mkdir("disk")
if libc.mount(b"none", b"disk", b"tmpfs", 0, b"size=96k"):
  sys.exit(77)
from suite import cli
sys.exit(cli.main(["run", "small.gin", "--workdir", "disk/w"]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a disk of its own as Linux does")
def test_a_disk_that_is_really_full_stops_the_run(folder, python):
  """On a file system of 96 kB."""
  path = os.pathsep.join([str(ROOT), str(folder)])
  done = python.run(["-c", SMALL_DISK], cwd=folder, env={
      **os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""})
  if done.returncode == 77:
    pytest.skip("this machine lets nobody mount")
  log = done.stdout + done.stderr
  assert done.returncode == 1, log
  assert "suite: Could not save " in log and "No space left on device" in log, log
  assert "The last good state is intact" in log.splitlines()[-1] and "unexpected" not in log


# A command line, its exit code, and the parts of its one line: got, allowed, what to do next. `dir`
# is a folder, `my.py` a file of Python, bad.gin and three.gin gin files that nobody can read.
COMMANDS = [
    ("run quickstar", 2, "Unknown run 'quickstar'", "Nearest: quickstart.", "suite list"),
    ("run nothing_like_it", 2, "Known: cfsl/", " more. See them all with: suite list"),
    ("run dir", 2, "dir is a folder; suite run takes a name from suite list, or a gin file"),
    ("run my.py", 2, "my.py is Python; suite run takes", "Run it with: python my.py"),
    ("run bad.gin", 2, "bad.gin, line 2: 'STEPS = two words'", "STEPS = 'two words'"),
    ("run quickstart --gin_file bad.gin", 2, "line 2: 'STEPS = two words'. If the value is text"),
    ("run quickstart --gin_file three.gin", 2, "line 1: 'STEPS'. A line of a gin file is NAME = V"),
    ("run quickstart --gin_file mine.gin", 2, "there is no file 'mine.gin'", "Nearest: gin/"),
    ("run quickstart --work-dir w", 2, "suite run has no flag '--work-dir'. Nearest: --workdir."),
    ("run quickstart --gin-param STEPS=3", 2, "no flag '--gin-param'. Nearest: --gin_param"),
    ("run quickstart --seed 1,2", 2, "got '1,2', allowed is a whole number", "--seeds 0,1,2"),
    ("run quickstart --seeds 0,0", 2, "--seeds has 0, 0; give each seed once"),
    ("run quickstart --seed 1 --seeds 2,3", 2, "leave one of them out"),
    ("run quickstart --seeds 3", 2, "got '3': the seed 3 is --seed 3; 3 seeds are --seeds 0,1,2"),
    ("run quickstart --gpu 1", 2, "no flag '--gpu'. Choose GPUs before the command, "
     "CUDA_VISIBLE_DEVICES=1 suite run ..., and their number by --devices."),
    ("list --method", 2, "suite list has no flag '--method'. Nearest: --methods"),
    ("report dir --out x.pdf", 2, "'.pdf' is none of .txt, .html, .md, .csv, .tex. Rename it"),
    ("report dir --format csv --out x.html", 2, "x.html is html by its ending, and --format csv"),
    ("atlas dir --out x.pdf", 2, "'.pdf' is none of .txt"),
    ("submit dir --out mine.tar", 2, "what is written is a .zip: name it mine.zip"),
    ("run quickstart --op_threads 2", 2, "--set experiment.run.op_threads=2"),
    ("run quickstart --epochs 3", 2, "no flag '--epochs'", "is set by gin: --set", "suite show"),
    ("run quickstart --set STEPS=3 VALIDATE_EVERY=1", 2, "each binding: --set VALIDATE_EVERY=1"),
    ("run quickstart --methods ewcc", 2, "no method 'ewcc'. Nearest: ewc", "suite list --methods"),
    ("run quickstart --methods er", 2, "'er' does not run under nevis", "of nevis: suite list"),
    ("run digits/clear --methods er --set memroy_size=3", 2, "'memroy_size'", "Nearest: mem"),
    ("run digits/cfsl_table --methods ncm", 2, "is a table, whose rows name their methods"),
    ("show quikstart", 2, "Unknown run 'quikstart'", "Nearest: quickstart"),
    ("show lr", 2, "no method has this name. It is a setting of finetune", "suite list --methods"),
    ("show ewc --settings gpu", 2, "no settings 'gpu'; allowed are cpu"),
    ("show ewc --settings cpu", 2, "ewc is a method, and ", "suite show RUN --methods ewc"),
    ("list --methods claer", 2, "No method has 'claer'. Nearest: clear"),
    ("run quickstart twice", 2, "suite run takes no further 'twice'. See: suite run --help"),
    ("run quickstart --precision fp16", 2, "invalid choice: 'fp16' (choose from 'float32'"),
    ("run quickstart --devices 0", 2, "got '0', allowed is a whole number from 1"),
    ("run digits/cfsl_table --jobs 0", 2, "got '0', allowed is a whole number from 1"),
    ("run digits/fluid --jobs 4", 2, "--jobs and --only are flags of tables", "Leave them out"),
    ("run quickstart --rate 3", 2, "--rate is a flag of --dry_run: add that, or leave it out"),
    ("run quickstart --dry_run --rate fast", 2, "got 'fast', allowed is a number above 0"),
    ("run quickstart --dry_run --rate nan", 2, "got 'nan', allowed is a number above 0"),
    ("run digits/cfsl_table --dry_run --rate 1 --jobs 90000", 2, "--jobs 90000 plans 90000 cells",
     "are free: give at most"),
    ("run digits/cfsl_table --only prtonet/B/0", 2, "fits no cell. It takes ROW", "rows: protonet"),
    ("run quickstart --mirror /nope", 2, "'/nope' is no folder", "leave --mirror out to download"),
    ("list --benchmark claer", 2, "invalid choice: 'claer' (choose from 'nevis', 'clear'"),
    ("list --hardware tpu", 2, "invalid choice: 'tpu' (choose from 'cpu', 'gpu')"),
    ("list --data cifra10", 2, "no run reads 'cifra10'. Nearest: cifar10", "suite list without"),
    ("list nothing like this", 2, "must all fit. Leave one out."),
    ("report nowhere", 2, "No such directory: nowhere. Give the --workdir of a run"),
    ("report dir --format pdf", 2, "invalid choice: 'pdf' (choose from 'text', 'html'"),
    ("report dir --format html", 2, "add --out FILE.html"),
    ("report dir --outt x", 2, "suite report has no flag '--outt'. Nearest: --out."),
    ("verify nowhere", 2, "No such directory: nowhere. Give the --workdir of a run or table"),
    ("data build nevis/minst", 2, "'nevis/minst'. Nearest: nevis/umist, nevis/mnist", "--all"),
    ("data build nevis/semeion --mirror /nope --data_dir d", 2, "The mirror '/nope' is no folder"),
    ("data build nevis/mnist --data-dir d", 2, "no flag '--data-dir'. Nearest: --data_dir."),
    ("data doctor nevis-smal", 2, "Unknown data set 'nevis-smal'. Nearest: nevis-small"),
    ("data timeline t.txt --name x --by year", 2, "There is no file t.txt; give a .csv or"),
    ("data timeline t.csv --name x", 2, "Say how to divide the images: --by year, month"),
    ("rum quickstart", 2, "invalid choice: 'rum' (choose from 'run', 'search', 'list', 'show'"),
]

# A binding of the quickstart (`--gin_param`), and parts of the line that it is refused with.
BINDINGS = [
    ("STEPS", "Cannot read --gin_param 'STEPS': It takes X=Y."),
    ("STEPS=", "It takes X=Y."), ("STEPS==3", "It takes X=Y."), ("STEPS: 3", "It takes X=Y."),
    ("STEPS=5,VALIDATE_EVERY=2", "looks like several bindings. Give the flag once for each: "
     "--set STEPS=5 --set VALIDATE_EVERY=2."),
    ("STEPS=5 VALIDATE_EVERY=2", "--set STEPS=5 --set VALIDATE_EVERY=2."),
    ("STEPS=5;VALIDATE_EVERY=2", "--set STEPS=5 --set VALIDATE_EVERY=2."),
    ("STEPS=5\nVALIDATE_EVERY=2", "takes one binding X=Y", "Give the flag once for each binding."),
    ("STEPS=two", "If the value is text, quote it: --gin_param \"STEPS='two'\"."),
    ("STEPS=a/b", "--gin_param \"STEPS='a/b'\"."), ("STEPS=1.5.2", "quote it: "),
    ("STEPS=1, 2", "put them in brackets: --gin_param \"STEPS=(1, 2)\"."),
    ("STEPS=true", "Capitals count: --gin_param \"STEPS=True\"."),
    ("STEPS=null", "Capitals count: --gin_param \"STEPS=None\"."),
    ("STEPS=[1, 2", "A bracket or a text is not closed."),
    ("STEPS=os.getcwd()", "A value is a number, a text in quotes, True, False, None, a list"),
    ("STEP=5", "sets the macro 'STEP', which no file of this run declares. Nearest: STEPS.",
     "All of them: suite show RUN."),
    ("BATCH_SIZE=8", "no file of this run declares", "--gin_param trainer.Trainer.batch_size=8"),
    ("SEED=8", "There are parameters of that name: --gin_param experiment.run.seed=8."),
    ("experiment.run.only=['indpe']", "has 'indpe'; the learners of this run are indep, ft_prev"),
]
# The same, found once gin has imported what the run names.
BOUND = [
    ("STEPS='many'", "Trainer.steps is 'many' through %STEPS (the command line); it takes a "),
    ("STEPS=2.5", "trainer.Trainer.steps is 2.5 through %STEPS (the command line); it takes a "),
    ("trainer.Trainer.batch_size='big'", "batch_size is 'big' (the command line); it takes a who"),
    ("digits.nevis_stream.num_task=3", "it has max_train_images, num_tasks. Nearest: num_tasks."),
    ("digit.nevis_stream.num_tasks=3", "no import gives the name 'digit'. Nearest: digits."),
    ("trainer.Triner.steps=3", "has no 'Triner'. Nearest: Trainer"),
    ("experiment.run.learners={'x': @protonet.ProtoNet}", "no import gives the name 'protonet'. "
     "Import it in a gin file, --gin_file of yours: from suite.learners import protonet"),
    ("experiment.run.seed='abc'", "experiment.run.seed is 'abc' (the command line); it takes a "),
]


def _one_line(text, parts):
  """The message is the last line, without a traceback, and has all the parts."""
  lines = text.strip().splitlines()
  assert "Traceback" not in text and re.match(r"suite[\w ]*: ", lines[-1]), text
  for part in parts:
    assert part in lines[-1], f"{part!r} is not in {lines[-1]!r}"
  assert len(lines[-1]) < 700


@pytest.mark.parametrize("line, code, parts", [
    (line, code, parts) for line, code, *parts in COMMANDS], ids=[line for line, *_ in COMMANDS])
def test_a_wrong_command_gets_one_line(folder, capsys, line, code, parts):
  (folder / "dir").mkdir()
  (folder / "my.py").write_text("print(3)\n")
  (folder / "bad.gin").write_text("# A run.\nSTEPS = two words\n")
  (folder / "three.gin").write_text("STEPS\n")
  (folder / "t.csv").write_text("path,time\na.png,2012\n")
  assert cli.main(shlex.split(line)) == code
  _one_line(capsys.readouterr().err, parts)
  assert not pathlib.Path("runs").exists()


@pytest.mark.parametrize("binding, parts", [(binding, parts) for binding, *parts in BINDINGS],
                         ids=[binding for binding, *_ in BINDINGS])
def test_a_wrong_binding_gets_one_line(binding, parts):
  name, path = run_files.find("quickstart")
  with pytest.raises(gin_files.ConfigError) as refused:
    gin_files.scan([path], [binding])
  _one_line(f"suite: {refused.value}", parts)


@pytest.mark.parametrize("binding, parts", [(binding, parts) for binding, *parts in BOUND],
                         ids=[binding for binding, *_ in BOUND])
def test_a_wrong_value_gets_one_line(binding, parts):
  with pytest.raises(gin_files.ConfigError) as refused:
    gin_parse.parse([run_files.find("quickstart")[1]], [binding])
  _one_line(f"suite: {refused.value}", parts)


@functools.cache
def _buckets():
  return digits.buckets(2)


def _model():
  return tf.keras.Sequential([tf.keras.layers.Input([8, 8, 3]), tf.keras.layers.Flatten()])


def _clear(**changes):
  return suite.run(**{"protocol": "clear", "buckets": _buckets(), "learners": {"a": _model()},
                      "workdir": "w", **changes})


IMAGES = np.full([20, 8, 8, 1], 9, np.uint8)
TENS = np.arange(20) % 10
PNG = tf.io.encode_png(IMAGES[0]).numpy()
PARTS = {
    "clear": _clear, "model": _model, "suite": suite, "tf": tf, "tfds": tfds, "digits": digits,
    "images": suite.images, "arrays": suite.images.from_arrays, "build": distribution.build,
    "IMAGES": IMAGES, "TENS": TENS}
# A call from Python, of these parts, and parts of its message.
CALLS = [
    ("clear(learners='er')", "Learner 'mine' is 'er'. Give a Keras model, suite.learner(model), an "
     "object of suite/learners", "by its name is suite.learner(model, 'er')"),
    ("clear(learners=['er'])", "Learner 'mine' is ['er']. Give a Keras model"),
    ("clear(learners=None)", "needs learners: {'name': learner}"),
    ("suite.learner(model(), 'err')", "has no method 'err'; allowed are finetune, protonet, maml, "
     "pretrain_tune, and those of suite list --methods. Nearest: er"),
    ("suite.learner(model(), 'er', memory=3)", "has no setting 'memory'", "Nearest: memory_size"),
    ("suite.learner('er')", "the model is 'er'; give a tf.keras.Model"),
    ("suite.learner(model(), epoch=3)", "has no setting 'epoch'; it has "),
    ("clear(seeds=2)", "seeds is 2; give a list of whole numbers, [0, 1, 2]. One seed is seed=0"),
    ("suite.run('quickstart', seeds=[0, 0])", "give each seed once"),
    ("clear(seed=[0, 1])", "experiment.run.seed is [0, 1]; it must be a whole number"),
    ("clear(seed=1.5)", "experiment.run.seed is 1.5; it must be a whole number"),
    ("suite.run('quickstart', work_dir='w')", "has no setting 'work_dir'", "Nearest: workdir"),
    ("clear(bucket=3)", "has no argument 'bucket'", "Nearest: buckets. suite.run itself takes"),
    ("clear(buckets=[1, 2])", "buckets is list of 2; give buckets=suite.buckets.of([...]) of a "
     "list with (training set, test set)"),
    ("clear(buckets=tf.data.Dataset.range(3))", "give buckets=suite.buckets.of([...])"),
    ("suite.run('quickstar')", "Unknown run 'quickstar'", "Nearest: quickstart."),
    ("clear(protocol='claer')", "Unknown protocol 'claer'. Nearest: clear."),
    ("suite.run()", "the name of a run file or a protocol, one of the two: suite.run("),
    ("suite.run('quickstart', learners={'a': 1})", "may be replaced by methods of suite list"),
    ("suite.run('quickstart', params='STEPS=3')", "params is 'STEPS=3'; give a mapping such as"),
    ("suite.run('quickstart', params=3)", "params is 3; give a mapping such as {'STEPS': 20}"),
    ("arrays(IMAGES, TENS - 1)", "2 of 20 labels are -1, which stands for no label. Leave"),
    ("arrays(IMAGES, TENS + 0.5)", "has labels of type float64; give class numbers from 0"),
    ("arrays(IMAGES, TENS[:9])", "has 20 images and 9 labels; give as many of each"),
    ("arrays(IMAGES - 10.0, TENS)", "has pixels from -1 to -1; give them as 0..255"),
    ("arrays(IMAGES / 255, TENS)", "has float pixels of at most 0.0352941"),
    ("arrays(IMAGES[:, None, :, :, 0].repeat(4, 1), TENS)", "Channels come last: [N, H, W, C]"),
    ("images.from_directory('flat')", "'flat' has 2 images, such as '0.png', and no class folder",
     "Move the images of each class into a folder of its name", "suite.images.from_csv"),
    ("images.from_directory('split')", "holds train, val, which are splits and not classes",
     "Read each as a set: from_directory('split/train')"),
    ("images.from_directory('no')", "There is no folder 'no'; give a folder that holds"),
    ("images.from_csv('no.csv')", "There is no file 'no.csv'; give a .csv or .parquet with"),
    ("images.from_huggingface([1, 2])", "has rows of type int; expected dictionaries with"),
    ("images.from_tfds('nevis/minst')", "is no data set 'nevis/minst'", "Did you mean nevis/u"),
    ("suite.buckets.of({'train': arrays(IMAGES, TENS)})", "was given the splits train", "give a "),
    ("suite.buckets.of([IMAGES])", "Bucket 'bucket_01' holds ndarray; give image sets, made by"),
    ("suite.buckets.of(arrays(IMAGES, TENS))", "was given one image set", "give a list with"),
    ("suite.buckets.of([])", "was given no bucket; give a list of (training set, test set)"),
    ("tfds.load('nevis/minst')", "'nevis/minst'; the nearest: nevis/umist, nevis/mnist"),
    ("tfds.load('slimagenet64', data_dir='d')", "needs SlimageNet64.tar", "Not found in: no mirror",
     "suite data build slimagenet64/images --mirror DIR", "tfds_builders.mirror.use(DIR)"),
    ("digits.nevis_stream(num_tasks=100)", "num_tasks=100; the digits make 1 to 8 tasks, None is"),
    ("digits.buckets(11)", "num_buckets=11; the 1,797 digits make 1 to 10 buckets"),
    ("build('one_device', 2)", "2 devices were asked for with strategy 'one_device'; only "
     "'mirrored' takes a number of them: add --strategy mirrored, or leave --devices out"),
    ("build('mirored')", "Unknown strategy 'mirored'; allowed are one_device, mirrored"),
    ("build('multi_worker')", "TF_CONFIG, which is not set. Set it in every process"),
]


@pytest.mark.parametrize("call, parts", [(call, parts) for call, *parts in CALLS],
                         ids=[call for call, *_ in CALLS])
def test_a_wrong_call_is_explained(monkeypatch, call, parts):
  for place in ("flat/0.png", "flat/1.png", "split/train/cat/0.png", "split/val/cat/0.png"):
    pathlib.Path(place).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(place).write_bytes(PNG)
  for name in ("TF_CONFIG", "LIFELONG_MIRROR"):
    monkeypatch.delenv(name, raising=False)
  with pytest.raises(Exception) as refused:
    eval(call, dict(PARTS))  # noqa: S307  # One of CALLS.
  assert isinstance(refused.value, ValueError) or this_process.is_our_message(refused.value)
  for part in parts:
    assert part in str(refused.value), f"{part!r} is not in {refused.value}"
  assert not pathlib.Path("w").exists() and not pathlib.Path("runs").exists()


@pytest.mark.parametrize("images, labels, warning", [
    (20 * IMAGES, TENS + 1, "labels from 1 to 10 and no image of class 0, which counts as a class"),
    (IMAGES.astype(np.int64), TENS, "no pixel above 9 of 255: nearly black images"),
])
def test_what_is_likely_wrong_gets_a_warning(caplog, images, labels, warning):
  suite.images.from_arrays(images, labels)
  assert warning in caplog.text


def test_two_devices_without_a_gpu_are_said(monkeypatch, caplog):
  monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind] * (kind == "CPU"))
  monkeypatch.setattr(tf.config, "list_logical_devices", lambda kind: [kind] * 2)
  monkeypatch.setattr(tf.distribute, "MirroredStrategy", lambda devices: devices)
  monkeypatch.setattr(distribution, "logical_cpus", lambda count: None)
  with caplog.at_level("INFO", logger="absl"):
    distribution.build("mirrored", 2)
  assert "no GPU: strategy 'mirrored' runs on 2 logical devices of the CPU" in caplog.text
