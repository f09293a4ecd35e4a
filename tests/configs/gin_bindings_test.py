# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A binding of the user's that nothing reads is an error; one of an included file is not."""

from __future__ import annotations

import pytest

from suite.configs import gin_bindings
from suite.configs import gin_files

HEADER = """from __gin__ import dynamic_registration
from suite import experiment
from not_there import toy
import not_there.deep
"""
RUN = HEADER + """experiment.run.learners = {'a': @a/toy.Learner, 'b': %B}
B = @b/toy.Learner
toy.Learner.rate = %RATE
a/toy.Learner.memory = @toy.Memory()
RATE = 1
"""


@pytest.fixture(name="write")
def _write(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)

  def write(text, name="run.gin"):
    (tmp_path / name).write_text(text)
    return tmp_path / name

  return write


def _scan(*args):
  """As `gin_parse.parse` does, without gin."""
  found = gin_files.scan(*args)
  gin_files.check_readers(found)
  return found


@pytest.mark.parametrize("binding", [
    "RATE=2", "toy.Memory.size=3", "a/toy.Memory.size=3", "toy.Learner.memory=None",
    "b/toy.Learner.memory=@not_there.deep.Memory()", "experiment.run.seed=1",
    "a/toy.Learner.rate=3", "B=@toy.Learner"])
def test_what_a_reference_reaches_is_read(write, binding):
  _scan([write(RUN)], [binding])


@pytest.mark.parametrize("binding, reason", [
    ("toy.batch_size.smallest=8", "No binding that the run reaches refers to not_there.toy."),
    ("not_there.deep.Memory.size=8", "refers to not_there.deep.Memory; only what is called"),
    ("b/toy.Memory.size=8", "No call of not_there.toy.Memory opens the scope 'b'."),
    ("c/toy.Learner.rate=8", "What is read instead: toy.Learner.rate."),
    ("UNREAD=8", "This run reads B, RATE."),
])
def test_what_no_reference_reaches_is_refused_with_the_reason(write, binding, reason):
  write(HEADER + "UNREAD = 1\nunread/toy.Learner.rate = 1\n", "library.gin")
  run = write(RUN + "include 'library.gin'\n")
  _scan([run])
  with pytest.raises(gin_files.ConfigError) as error:
    _scan([run], [binding])
  assert f"Nothing in this run reads\n  {binding.split('=')[0]}  (set by the" in str(error.value)
  assert reason in str(error.value)


def test_the_run_file_and_files_of_the_command_line_are_the_users_their_includes_are_not(write):
  library = write("UNREAD = 1\n", "library.gin")
  _scan([write(RUN + "include 'library.gin'\n")])
  with pytest.raises(gin_files.ConfigError, match=r"UNREAD  \(set by .*library\.gin, line 1\)"):
    _scan([write(RUN), library])
  with pytest.raises(gin_files.ConfigError, match=r"UNREAD  \(set by .*run\.gin, line 10\)"):
    _scan([write(RUN + "UNREAD = 2\n")])


def test_a_macro_that_only_unread_bindings_mention_is_unread(write):
  with pytest.raises(gin_files.ConfigError, match=r"(?s)\n  N  \(set by.*toy\.Other\.n "):
    _scan([write(RUN + "N = 1\ntoy.Other.n = %N\n")])


def test_a_value_that_is_replaced_still_reads_except_on_the_command_line(write):
  run = write(RUN + "toy.Memory.size = 3\n")
  other = "a/toy.Learner.memory=@toy.Other()"
  _scan([run], [other])  # The run file's toy.Memory.size is not the user's mistake.
  with pytest.raises(gin_files.ConfigError, match=r"toy\.Memory\.size  \(set by the command line"):
    _scan([run], [other, "toy.Memory.size=4"])


def test_what_a_library_replaces_may_still_be_set(write):
  write(HEADER + "toy.Learner.rate = 0.1\n", "library.gin")
  debug = write("include 'library.gin'\n", "debug.gin")
  _scan([write(RUN), debug], ["RATE=4"])


def test_a_binding_that_each_scope_replaces_is_unread(write):
  run = write(RUN.replace("toy.Learner.rate = %RATE", "a/toy.Learner.rate = %RATE")
              + "b/toy.Learner.rate = 2\n")
  with pytest.raises(gin_files.ConfigError, match="instead: a/toy.Learner.rate, b/toy.Learner.r"):
    _scan([run], ["toy.Learner.rate=2"])
  _scan([run], ["toy.Learner.rate=2", "B=@toy.Learner"])


def test_what_is_called_later_may_be_called_in_any_scope(write):
  run = write(RUN + "toy.Learner.backbone = @toy.net\n")
  for binding in ("toy.net.size=1", "a/toy.net.size=1", "c/toy.net.size=1"):
    _scan([run], [binding])


def test_without_a_root_nothing_is_refused(write):
  _scan([write(HEADER + "toy.run.n = 1\nN = 2\n")])


def _used(*keys):
  return [(scope, f"not_there.toy.{name}", argument) for scope, name, argument in keys]


def test_at_the_end_what_was_not_passed_is_reported(write):
  history = _scan([write(RUN)], ["toy.Memory.size=3"]).history
  root = [("", "suite.experiment.run", "learners")]
  used = [*root, *((m, gin_bindings.MACRO, "value") for m in ("RATE", "B")),
          *_used(("a", "Learner", "rate"), ("a", "Learner", "memory"))]
  left = gin_bindings.unread_at_the_end(history, used)
  assert [(s.text, s.where) for s in left] == [("toy.Memory.size", "the command line")]
  assert not gin_bindings.unread_at_the_end(history, [*used, *_used(("a", "Memory", "size"))])


@pytest.mark.parametrize("in_file", [True, False])
def test_at_the_end_the_run_file_may_bind_what_learners_read_that_were_not_chosen(write, in_file):
  line = "b/toy.Learner.rate = 3"
  history = (_scan([write(RUN + line + "\n")]) if in_file
             else _scan([write(RUN)], [line])).history
  used = [("", "suite.experiment.run", "learners"), ("RATE", gin_bindings.MACRO, "value"),
          *_used(("a", "Learner", "rate"), ("a", "Learner", "memory"))]
  left = {s.text for s in gin_bindings.unread_at_the_end(history, used, ["a"])}
  assert left == (set() if in_file else {"b/toy.Learner.rate"})
  of_all = {s.text for s in gin_bindings.unread_at_the_end(history, used)}
  assert of_all == {"B", "b/toy.Learner.rate"}


def test_settings_of_a_learner_are_all_that_it_reaches_with_the_values_of_macros(write):
  one = gin_bindings.settings_of(_scan([write(RUN)]).history, "a")
  values = {key[2]: value for key, value in one.items() if key[1]}
  assert values == {"rate": 1, "memory": "@toy.Memory()"}
  assert gin_bindings.settings_of(_scan([write(RUN)]).history, "c") is None

  def differs(name, *bindings):
    found = gin_bindings.settings_of(_scan([write(RUN)], bindings).history, name)
    return found != gin_bindings.settings_of(_scan([write(RUN)]).history, name)

  assert differs("a", "RATE=2") and differs("a", "toy.Memory.size=3")
  assert differs("b", "RATE=2") and not differs("b", "toy.Memory.size=3")  # What b never reaches.
  assert not differs("a", "experiment.run.seed=1") and not differs("a", "B=@b/toy.Memory")
