# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Steps: done once, refused where inputs differ, whole or not there, in a chain."""

import fcntl
import json

import pytest

from suite.beside.curation import errors
from suite.beside.curation import manifest
from suite.system import sealed_json


def _step(work, name, source, parameter=1, again=False, fail=False):
  """A step that copies its input and counts its calls."""
  calls = []

  def write(folder):
    calls.append(folder)
    (folder / "out.txt").write_text(source.read_text() + str(parameter))
    if fail:
      raise OSError("disk full")
    return {"letters": len(source.read_text())}

  inputs = {"source": [source]}
  if name == "second":
    inputs["first"] = [manifest.verified(work, "first").path]
  return manifest.run(work, name, parameters={"parameter": parameter}, inputs=inputs, write=write,
                      again=again), len(calls)


@pytest.fixture(name="source")
def _source(tmp_path):
  path = tmp_path / "source.txt"
  path.write_text("abc")
  return path


def test_a_manifest_says_what_was_made_from_what(tmp_path, source):
  found, calls = _step(tmp_path / "w", "first", source)
  content = json.loads(found.path.read_text())
  assert calls == 1 and content["step"] == "first" and content["parameters"] == {"parameter": 1}
  assert content["inputs"]["source"][0]["path"] == "../source.txt"
  assert content["inputs"]["source"][0]["bytes"] == 3
  assert content["inputs"]["source"][0]["blake2b"].startswith("bddd813c634239723171ef3f")
  assert sorted(content["outputs"]) == ["out.txt"] and content["counts"] == {"letters": 3}
  assert sorted(content["versions"]) == ["jinja2", "lifelong-suite", "numpy", "pillow", "pyarrow",
                                         "python"]


def test_a_step_that_is_done_is_not_done_twice_wherever_its_input_lies(tmp_path, source):
  before = _step(tmp_path / "w", "first", source)[0].path.read_bytes()
  moved = source.rename(tmp_path / "moved.txt")
  found, calls = _step(tmp_path / "w", "first", moved)
  assert calls == 0 and found.path.read_bytes() == before


def test_the_same_step_elsewhere_is_the_same_bytes(tmp_path, source):
  first, second = (_step(tmp_path / name, "first", source)[0] for name in ("u", "v"))
  assert first.path.read_bytes() == second.path.read_bytes()


def test_other_inputs_or_parameters_are_refused_unless_again(tmp_path, source):
  _step(tmp_path, "first", source)
  with pytest.raises(errors.CurationError, match=r"made with other parameter=1 \(now 2\). Use an"):
    _step(tmp_path, "first", source, parameter=2)
  source.write_text("other")
  with pytest.raises(errors.CurationError, match=r"other source \(its files have changed\)"):
    _step(tmp_path, "first", source)
  assert _step(tmp_path, "first", source, again=True)[1] == 1
  assert (tmp_path / "first" / "out.txt").read_text() == "other1"
  assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "first", "source.txt"]


def test_a_step_that_fails_leaves_what_was_there(tmp_path, source):
  _step(tmp_path, "first", source)
  with pytest.raises(OSError, match="disk full"):
    _step(tmp_path, "first", source, parameter=2, again=True, fail=True)
  assert (tmp_path / "first" / "out.txt").read_text() == "abc1"
  with pytest.raises(OSError, match="disk full"):
    _step(tmp_path, "third", source, fail=True)
  assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "first", "source.txt"]


def test_what_a_killed_step_left_does_no_harm(tmp_path, source):
  (tmp_path / ".first.new").mkdir()
  (tmp_path / ".first.new" / "half.txt").write_text("x")
  found, _ = _step(tmp_path, "first", source)
  assert list(found.outputs) == ["out.txt"]


def test_a_chain_notices_changes_at_any_link(tmp_path, source):
  first, _ = _step(tmp_path, "first", source)
  _step(tmp_path, "second", source)
  manifest.verified(tmp_path, "second")
  (first.folder / "out.txt").write_text("edited by hand")
  with pytest.raises(errors.CurationError, match="first/out.txt was changed since it was made"):
    manifest.verified(tmp_path, "second")
  _step(tmp_path, "first", source, parameter=2, again=True)
  with pytest.raises(errors.CurationError, match="Step 'first' was done again since 'second' was"):
    manifest.verified(tmp_path, "second")


def test_sources_must_be_as_they_were(tmp_path, source):
  found, _ = _step(tmp_path, "first", source)
  assert found.sources("source") == [source]
  source.write_text("changed")
  with pytest.raises(errors.CurationError, match="source.txt is not what step 'first' was made"):
    found.sources("source")
  source.unlink()
  with pytest.raises(errors.CurationError, match="source.txt cannot be read"):
    found.sources("source")


def test_missing_and_damaged_steps_say_what_to_do(tmp_path, source):
  with pytest.raises(errors.CurationError, match="'first' is not done.*suite curate first"):
    manifest.verified(tmp_path, "first")
  found, _ = _step(tmp_path, "first", source)
  sealed = sealed_json.read(found.path)
  for text in ("{", "[]", "{}", '{"format": 1, "step": "first"}'):
    found.path.write_text(text)
    with pytest.raises(errors.CurationError, match="is damaged"):
      manifest.verified(tmp_path, "first")
  found.path.write_text(sealed_json.text({**sealed, "format": 9}))
  with pytest.raises(errors.CurationError, match="another format"):
    manifest.verified(tmp_path, "first")


def test_two_processes_do_not_work_in_one_folder(tmp_path, source):
  with open(tmp_path / ".lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(errors.CurationError, match="Another process works in"):
      _step(tmp_path, "first", source)
