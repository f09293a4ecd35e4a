# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import hashlib
import io
import json
import stat
import zipfile

import pyarrow as pa
from pyarrow import parquet
import pytest

from suite.beside.submissions import bundle

RUN = {"folder": "runs/000/er", "learner": "er", "method": "er", "protocol": "clear", "seed": 0}
ABOUT = {"format": 1, "title": "t", "license": "CC0-1.0", "contact": "me@example.org",
         "suite": "0.2.0", "runs": [RUN]}
RECORDS = "runs/000/er/records.jsonl"


def _zip(path, members, *, about=ABOUT, manifest=None, change=lambda info: None):
  """Writes a bundle whose manifest fits, unless another one is given."""
  members = {bundle.ABOUT: json.dumps(about).encode(), **members}
  sums = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
  text = "".join(f"{one}  {name}\n" for name, one in sums.items())
  members[bundle.MANIFEST] = (text if manifest is None else manifest).encode()
  with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, data in members.items():
      info = zipfile.ZipInfo(name)
      info.compress_type = zipfile.ZIP_DEFLATED
      change(info)
      archive.writestr(info, data)
  return path


def _problem(path, target):
  with pytest.raises(bundle.BundleError) as error:
    bundle.unpack(path, target)
  return str(error.value)


def test_a_bundle_is_unpacked_as_it_was_written(tmp_path):
  (tmp_path / "target").mkdir()
  about = bundle.unpack(_zip(tmp_path / "b.zip", {RECORDS: b"{}\n"}), tmp_path / "target")
  assert about == ABOUT and (tmp_path / "target" / RECORDS).read_bytes() == b"{}\n"


@pytest.mark.parametrize("name", [
    "../evil", "/etc/passwd", "runs/000/../../evil", "runs/000/er/state.pkl", "runs/0/config.gin",
    "runs/000/er/predictions/../../0000.parquet", "runs/000/.er/records.jsonl", "runs\\000\\er",
    "runs/000/er/predictions/0000.parquet\n"])
def test_a_member_of_another_name_is_refused(name, tmp_path):
  (tmp_path / "target").mkdir()
  path = _zip(tmp_path / "b.zip", {RECORDS: b"", name: b""})
  assert "none of a bundle is called so" in _problem(path, tmp_path / "target")
  assert [one.name for one in tmp_path.rglob("*") if one.is_file()] == ["b.zip"]


def test_what_is_too_large_twice_there_or_no_file_is_refused(tmp_path):
  target = tmp_path / "target"
  target.mkdir()
  path = _zip(tmp_path / "bomb.zip", {RECORDS: bytes(8 << 20)})
  assert "records.jsonl unpacks to 8,388,608 bytes of" in _problem(path, target)
  path = _zip(tmp_path / "link.zip", {RECORDS: b"/etc"}, change=lambda info: setattr(
      info, "external_attr", (stat.S_IFLNK | 0o777) << 16))
  assert "is no plain file" in _problem(path, target)
  path = _zip(tmp_path / "twice.zip", {RECORDS: b"", RECORDS.replace("er/", "ER/"): b""})
  assert "two members of one name" in _problem(path, target)
  (tmp_path / "none.zip").write_bytes(b"PK\x03\x04 is no zip")
  assert "none.zip is no bundle" in _problem(tmp_path / "none.zip", target)


def test_answers_that_are_small_on_the_disk_alone_are_refused(tmp_path):
  target, file = tmp_path / "target", io.BytesIO()
  target.mkdir()
  parquet.write_table(pa.table({"id": ["x" * 1_000] * 10_000}), file)  # As a dictionary.
  assert len(file.getvalue()) < 10_000
  path = _zip(tmp_path / "b.zip", {RECORDS: b"", RECORDS.replace(
      "records.jsonl", "predictions/0000.parquet"): file.getvalue()})
  assert "10,000 answers, encoded as PLAIN, RLE, RLE_DICTIONARY" in _problem(path, target)


def test_manifest_and_description_are_checked(tmp_path):
  def problem(**changes):
    number = len(list(tmp_path.iterdir()))
    target = tmp_path / f"{number}"
    target.mkdir()
    return _problem(_zip(tmp_path / f"{number}.zip", {RECORDS: b"{}"}, **changes), target)

  assert "MANIFEST.sha256 and the members differ: runs/000/er/records.jsonl" in problem(
      manifest=f"{hashlib.sha256(json.dumps(ABOUT).encode()).hexdigest()}  submission.json\n")
  sums = {bundle.ABOUT: json.dumps(ABOUT).encode(), RECORDS: b"other"}
  assert "records.jsonl is not what MANIFEST.sha256 says" in problem(manifest="".join(
      f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sums.items()))
  assert "is no list of digests" in problem(manifest="x")
  assert "has format 2" in problem(about={**ABOUT, "format": 2})
  assert "has format 0; this suite reads 1" in problem(about={**ABOUT, "format": 0})
  for seed in (-1, 10**400):
    found = problem(about={**ABOUT, "runs": [{**RUN, "seed": seed}]})
    assert "seeds are whole numbers from 0 to 2147483647" in found and len(found) < 250
  assert "has not the fields" in problem(about={**ABOUT, "more": 1})
  assert "needs a license" in problem(about={**ABOUT, "license": " "})
  assert "seed of run 0 of submission.json is True" in problem(
      about={**ABOUT, "runs": [{**RUN, "seed": True}]})
  assert "lies in 'runs/000/../er'" in problem(
      about={**ABOUT, "runs": [{**RUN, "folder": "runs/000/../er"}]})
  assert "has the method '../../index'" in problem(
      about={**ABOUT, "runs": [{**RUN, "method": "../../index"}]})
  assert "describes the runs runs/001/er" in problem(
      about={**ABOUT, "runs": [{**RUN, "folder": "runs/001/er"}]})


CONFIG = """from __gin__ import dynamic_registration
import suite.experiment
import suite.learners.gradient
import suite.training.memories.memory
import suite.training.memories.reservoir

suite.experiment.run.learners = {LEARNERS}
ER = @replay/er/suite.learners.gradient.GradientLearner
replay/suite.learners.gradient.GradientLearner.memory = @suite.training.memories.memory.Memory()
suite.training.memories.memory.Memory.rule = @suite.training.memories.reservoir.Reservoir()
MINE = @suite.learners.gradient.GradientLearner()
"""


@pytest.mark.parametrize("text, problem", [
    (CONFIG.replace("{LEARNERS}", "{'er': %ER}"), ""),
    (CONFIG.replace("{LEARNERS}", "{'er': %MINE}"), "er is no registered method"),
    (CONFIG.replace("{LEARNERS}", "{'er': @suite.learners.gradient.GradientLearner()}"),
     "er is no registered method"),
    (CONFIG.replace("{LEARNERS}", "{'er': %ER}") + "import os\nos.system.command = 'x'\n",
     "er is not registered: .*imports 'os'"),
    ("include '/etc/passwd'\n", "includes another file"),
    ("# Python objects, by suite.run; seed 0\n", "er is a Python object")])
def test_registered_is_a_method_of_the_list_in_a_configuration_of_the_suite(
    text, problem, tmp_path):
  path = tmp_path / "config.gin"
  path.write_text(text)
  if not problem:
    assert bundle.of_method(path, "er") == "er"
    return
  with pytest.raises(bundle.SubmitError, match=problem):
    bundle.of_method(path, "er")
