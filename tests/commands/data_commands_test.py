# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data ...` on a stand-in for `tfds_builders`."""

import json
import sys
import types

import pytest

from suite import cli
from suite.commands import data_commands
from tfds_builders import links
from tfds_builders import status


@pytest.fixture
def data_sets(monkeypatch, tmp_path):
  """A fake `tfds_builders` with three data sets: one prepared, one broken, one to be built."""
  fake = types.ModuleType("tfds_builders")
  monkeypatch.chdir(tmp_path)  # A build makes its folder.
  fake.built = []
  fake.names = lambda variants=False: ["nevis/a", "nevis/b", "nevis/c"] + (
      ["nevis/c_paper"] if variants else [])

  def inspect_one(name, data_dir, check_links=False, deep=False):
    if name == "nevis/b":
      raise RuntimeError("broken row")
    state = "prepared" if name == "nevis/a" else "downloadable"
    return status.Status(name, state, 1500, f"in {data_dir}",
                         "" if name == "nevis/a" else f"suite data build {name}",
                         None if name == "nevis/a" else 3000, 12288, tuple(
                             links.Link(f"http://x/y/{part}", links.GOOD, "2026-11-22", "HTTP 206",
                                        "2026-11-22") if check_links else
                             links.Link(f"http://x/y/{part}", links.DEAD, "2024-01-02", "x#1")
                             for part in "pq"), name == "nevis/c", 7_200_000,
                         "CC0" if name == "nevis/a" else "")

  def build(name, data_dir, *, beam_options, without):
    if name == "nevis/b":
      raise ValueError("dead link")
    fake.built.append((name, data_dir, *filter(None, [beam_options, without])))

  fake.status, fake.build = types.SimpleNamespace(
      inspect=inspect_one,
      facts=lambda name: status.Facts(f"Set {name[-1]}", 1623, None, "web")), build
  monkeypatch.setitem(sys.modules, "tfds_builders", fake)
  return fake


def test_data_list_prints_every_name(data_sets, capsys):
  assert cli.main(["data", "list"]) == 0
  assert capsys.readouterr().out.splitlines() == [
      "data set  classes  examples  source  title",
      *(f"nevis/{one}   1,623    ?         web     Set {one}" for one in "abc")]
  assert cli.main(["data", "list", "--all"]) == 0
  assert "nevis/c_paper" in capsys.readouterr().out


def test_doctor_goes_on_past_a_failure_and_says_so(data_sets, capsys):
  assert cli.main(["data", "doctor", "--data_dir", "D"]) == 1
  assert capsys.readouterr().out.splitlines()[:12] == [
      "data set  state         size     disk     memory   license  next step",
      "nevis/a   prepared      1.5 kB   unknown  12.3 kB  CC0",
      "nevis/b   failed        unknown  unknown  unknown  unknown",
      "nevis/c   downloadable  ~1.5 kB  ~3 kB    12.3 kB  unknown  suite data build nevis/c",
      "",
      "nevis/a: in D",
      "nevis/b: RuntimeError: broken row",
      "nevis/c: in D",
      "",
      "In all, of 2 data sets that are not prepared:",
      "  download: 1.5 kB, and 1 whose size is unknown",
      "  disk: 3 kB, and 1 whose size is unknown"]
  assert cli.main(["data", "doctor", "nevis/a"]) == 0


def test_doctor_adds_up_what_is_to_be_built(data_sets, capsys):
  assert cli.main(["data", "doctor"]) == 1
  out = capsys.readouterr().out
  assert "  of unknown size: b" in out
  assert ("  build: about 2.0 core-hours for 7,200,000 images at 1,000 a second, and 1 sets whose "
          "number of images is unknown; downloads are not in it") in out


def test_doctor_speaks_json(data_sets, capsys):
  assert cli.main(["data", "doctor", "nevis", "--json"]) == 1
  found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
  assert [one["state"] for one in found] == ["prepared", "failed", "downloadable"]
  assert found[2]["disk_bytes"] == 3000 and found[2]["memory_bytes"] == 12288


def test_doctor_shows_links_and_can_ask_the_servers(data_sets, capsys):
  assert cli.main(["data", "doctor", "nevis/c"]) == 0
  assert "x#1" not in capsys.readouterr().out
  assert cli.main(["data", "doctor", "nevis/c", "--links"]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert lines[-6:-3] == [
      "data set  link  date        last good  says  url",
      "nevis/c   dead  2024-01-02             x#1   http://x/y/... (2 files)", ""]
  assert lines[-3] == "2 dead"
  assert cli.main(["data", "doctor", "nevis/c", "--check_links"]) == 0
  assert "nevis/c   good  2026-11-22  2026-11-22  HTTP 206  http" in capsys.readouterr().out
  assert cli.main(["data", "doctor", "nevis/c", "--json"]) == 0
  found = json.loads(capsys.readouterr().out)
  assert [link["state"] for link in found["links"]] == ["dead", "dead"]


def test_a_family_stands_for_its_data_sets(data_sets, capsys):
  assert cli.main(["data", "build", "nevis"]) == 1
  assert [name for name, _ in data_sets.built] == ["nevis/a", "nevis/c"]
  assert cli.main(["data", "build", "nevis/c_paper"]) == 0


def test_doctor_takes_a_stream(data_sets, capsys, monkeypatch):
  entries = [types.SimpleNamespace(dataset=name) for name in ("x", "w", "x")]
  fake = types.ModuleType("suite.data.streams.streams")
  fake.nevis = lambda variant, splits: {"short": types.SimpleNamespace(entries=entries)}[variant]
  monkeypatch.setitem(sys.modules, "suite.data.streams.streams", fake)
  monkeypatch.setattr("suite.data.streams.streams", fake, raising=False)
  assert cli.main(["data", "doctor", "nevis-short"]) == 0
  rows = capsys.readouterr().out.splitlines()[1:3]
  assert [row.split()[0] for row in rows] == ["w", "x"]


def test_the_streams_have_data_sets(data_sets):
  for name in data_commands.NEVIS_STREAMS:
    found = data_commands.data_set_names([name], [], [])
    assert found and found == data_commands.data_set_names([name.replace("-", "/")], [], [])


def test_build_goes_on_past_a_failure_and_exits_with_1(data_sets, capsys):
  assert cli.main(["data", "build", "nevis/b", "nevis/c", "--data_dir", "D",
                   "--beam_pipeline_options", "runner=X,y=2"]) == 1
  assert data_sets.built == [("nevis/c", "D", "runner=X,y=2")]
  error = capsys.readouterr().err
  assert "dead link" in error and "suite data doctor nevis/b" in error


def test_an_unknown_data_set_names_the_nearest(data_sets, capsys):
  assert cli.main(["data", "build", "nevs/c"]) == 2
  assert "Unknown data set 'nevs/c'. Nearest: nevis/c" in capsys.readouterr().err
  assert cli.main(["data", "doctor", "nevis-shrt"]) == 2
  assert "nevis-short" in capsys.readouterr().err


@pytest.mark.parametrize("num_bytes, text", [
    (None, "unknown"), (0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2.46e9, "2.46 GB"),
    (3e12, "3 TB")])
def test_sizes_are_read_by_people(num_bytes, text):
  assert data_commands.size(num_bytes) == text
