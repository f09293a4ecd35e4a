# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A small run is handed in, changed and verified; tools/tampering.py does it at length."""

import dataclasses
import functools
import importlib.util
import json
import pathlib
import re
import shutil
import sys

import numpy as np
import pytest

from suite import cli
from suite.beside.submissions import board
from suite.beside.submissions import bundle
from suite.beside.submissions import replaying
from suite.beside.submissions import site
from suite.beside.submissions import verification
from suite.compute import ledger
from suite.compute import private_tensorflow
from suite.configs import gin_files
from suite.reporting import run_dir
from suite.running import python_run
from suite.state import snapshots
from suite.state import state_log
from suite.system import sealed_json

ROOT = pathlib.Path(__file__).resolve().parents[3]
ABOUT = bundle.About("CC0-1.0", "me@example.org", "a test")


@pytest.fixture(scope="module")
def tampering():
  spec = importlib.util.spec_from_file_location("tampering", ROOT / "tools" / "tampering.py")
  module = importlib.util.module_from_spec(spec)
  sys.modules[spec.name] = module  # Dataclasses look up their module.
  spec.loader.exec_module(module)
  return module


@pytest.fixture(scope="module")
def made(tmp_path_factory):
  """Work directory and bundle of a run of six events: two buckets, each trained on, then tested."""
  folder = tmp_path_factory.mktemp("made")
  python_run.run("digits/clear", learners=["ncm"], workdir=folder / "w", keep="states=2",
                 params={"digits.buckets.num_buckets": 2})
  bundle.pack(folder / "w", folder / "b.zip", ABOUT)
  return folder / "w", folder / "b.zip"


def _failed(report):
  return {check.kind for check in report.failed}


def test_an_honest_bundle_is_recomputed_and_replayed(made, tmp_path):
  workdir, path = made
  bundle.pack(workdir, tmp_path / "again.zip", ABOUT)
  assert (tmp_path / "again.zip").read_bytes() == path.read_bytes()
  report = verification.verify(path, replay=6, states=workdir, draw=5, seeds=(0,))
  assert not report.failed and not report.waits, verification.text(report)
  assert report.badge == ("recomputed, replayed 6 of 6 events (2 of 2 trainings, 4 of 4 answers; "
                          "same bytes)")
  texts = {(check.kind, check.text) for check in report.checks}
  assert ("costs", "6 events") in texts
  assert ("scores", "summary, and 4 events on the data here") in texts
  assert all(text.startswith(f"event {number}: the same bytes") for number, text in enumerate(
      sorted(text for kind, text in texts if kind == "replay")))
  waiting = verification.verify(path, replay=6, draw=1, recompute=False)
  assert waiting.waits and "event 5: ncm/state/kept/00000004\n" in verification.text(waiting)
  assert "replayed 2 of 6 events (1 of 2 trainings, 1 of 4 answers" in waiting.badge
  two = [[one.event for one in verification.verify(
      path, replay=2, draw=draw, recompute=False).drawn] for draw in (1, 1, 2)]
  assert two[0] == two[1] != two[2] and len(two[0]) == 2


def test_class_incremental_runs_are_recomputed_and_replayed(tmp_path):
  python_run.run("digits/incremental", learners=["ncm"], workdir=tmp_path / "w", keep="states=3",
                 params={"NUM_TASKS": 2})
  bundle.pack(tmp_path / "w", tmp_path / "b.zip", ABOUT)
  report = verification.verify(tmp_path / "b.zip", replay=5, states=tmp_path / "w", draw=1)
  assert report.badge == ("recomputed, replayed 5 of 5 events (2 of 2 trainings, 3 of 3 answers; "
                          "same bytes)"), verification.text(report)


def test_a_replay_in_another_environment_has_tolerances(made, tampering, tmp_path, monkeypatch):
  workdir, path = made
  # Another fingerprint, as of other kernels.
  monkeypatch.setattr(private_tensorflow, "uses_onednn", lambda: False)
  report = verification.verify(path, replay=6, states=workdir, draw=5, recompute=False)
  assert report.badge.endswith("4 of 4 answers; same bytes)"), verification.text(report)
  # Answers whose probabilities have other bytes.
  monkeypatch.setattr(replaying, "_other_answers", lambda said, made, bound: (
      [] if bound else ["another byte"], 0.001))
  report = verification.verify(path, replay=6, states=workdir, draw=5, recompute=False)
  assert report.badge.endswith("4 of 4 answers; within 0.001)"), verification.text(report)
  texts = [check.text for check in report.checks if "within 0.001 (0.2 of" in check.text]
  assert len(texts) == 5 and all("this machine differs (arithmetic: " in text
                                 and "'onednn': False" in text for text in texts)
  monkeypatch.undo()
  monkeypatch.setattr(private_tensorflow, "uses_onednn", lambda: False)
  # More answers of event 4 are altered than tolerances allow.
  for number in range(40):
    copy = tampering.Copy(tmp_path / str(number), {}, {})
    copy.root.mkdir()
    copy.about = bundle.unpack(path, copy.root)
    said = tampering.KINDS["answer"][0](copy, np.random.default_rng(number)).split()
    if said[-1] == "4" and int(said[0]) > 6:
      break
  copy.write(tmp_path / "b.zip")
  report = verification.verify(tmp_path / "b.zip", replay=6, states=workdir, recompute=False)
  assert _failed(report) == {"replay"}


def _changed(path, tampering, folder, change, **values):
  """A bundle that a change of tools/tampering.py makes of another one."""
  copy = tampering.Copy(folder / "copy", {}, {}, **values)
  copy.root.mkdir(parents=True)
  copy.about = bundle.unpack(path, copy.root)
  change(copy, np.random.default_rng(1))
  copy.write(folder / "b" / "changed.zip")
  return copy, folder / "b" / "changed.zip"


def test_a_bundle_does_not_say_which_measure_leads_or_what_is_better(made, tampering, tmp_path):
  (tmp_path / "b").mkdir()
  path = _changed(made[1], tampering, tmp_path, tampering.change_words)[1]
  report = verification.verify(path, recompute=False)
  assert [check.text for check in report.failed] == [
      "protocol.json says another measures of protocol 'clear' than this suite"]
  shutil.copyfile(made[1], tmp_path / "b" / "honest.zip")
  lines = site.build(tmp_path / "b", tmp_path / "site", "Digits", figures=False, copies=False)
  assert lines[0].startswith("left out, changed.zip: protocol.json says another measures")
  assert "higher is better" in (tmp_path / "site" / "index.html").read_text()


def test_whoever_hands_in_does_not_choose_what_is_drawn(made, tampering, tmp_path):
  workdir, path = made
  (tmp_path / "b").mkdir()
  copy, path = _changed(path, tampering, tmp_path, tampering.change_interval)
  copy.write_states(workdir, tmp_path / "states")
  report = verification.verify(path, replay=3, states=tmp_path / "states", recompute=False)
  assert report.num_events == {"trainings": 2, "answers": 4}
  # Of three events one answers at least, and all answers are forged: those that follow the first
  # training are executed, and the state before the others is not the one that was kept.
  assert _failed(report) == {"replay"}
  assert any(text in check.text for check in report.failed
             for text in ("answers differ", "its state, ncm/state/kept/00000003, is not in"))


def test_states_of_another_training_are_refused_whatever_the_machine(made, tampering, tmp_path):
  workdir, path = made
  (tmp_path / "b").mkdir()
  shutil.copytree(workdir, tmp_path / "longer")
  for kept in state_log.kept_states(tmp_path / "longer" / "ncm").values():
    saved = snapshots.Snapshots(kept).read()
    shutil.rmtree(kept)
    snapshots.Snapshots(kept).write(saved.values, {
        name: array * np.array(1.5, array.dtype) if array.dtype.kind == "f" else array
        for name, array in saved.arrays.items()})
  states = tmp_path / "states"
  path = _changed(path, tampering, tmp_path, lambda copy, rng: tampering.change_machine(
      dataclasses.replace(copy, sources={0: workdir}), rng),
                  longer=tmp_path / "longer", states=states)[1]
  report = verification.verify(path, replay=6, states=states, recompute=False)
  assert _failed(report) == {"replay"}
  assert any("the state before event 2 differs: variable/" in check.text
             for check in report.failed), verification.text(report)
  waiting = verification.verify(path, replay=6, recompute=False)  # Also for what follows event 0.
  assert waiting.waits and "event 1: ncm/state/kept/00000002\n" in verification.text(waiting)


def test_the_distance_of_states_is_a_share_of_what_was_learned():
  before = {"w": np.ones(4, np.float32), "n": np.array([1, 2])}
  here = {"w": np.full(4, 2, np.float32), "n": np.array([1, 3]), "new": np.full(4, 2.0)}
  assert replaying.distance(before, here, here) == (0.0, "")
  for name, value, far in (
      ("w", np.full(4, 2.1, np.float32), 0.1), ("w", np.full(4, 2.5, np.float32), 0.5),
      ("w", before["w"], 1.0), ("n", np.array([1, 4]), 0.5), ("new", np.full(4, 2.2), 0.1),
      ("w", np.full(4, np.nan, np.float32), np.inf), ("w", np.ones(3, np.float32), np.inf),
      ("w", here["w"].astype(np.float64), np.inf), ("more", np.ones(1), np.inf)):
    found = replaying.distance(before, {**here, name: value}, here)
    assert found == (pytest.approx(far, rel=1e-4), name)
  same = {**here, "w": before["w"]}  # Nothing was learned, and something is claimed to be.
  assert replaying.distance(before, here, same) == (np.inf, "w")


def test_tolerances_are_two_percent_and_costs_are_equal():
  said = {"error": 0.10, "flops_train": 100, "seen": 200, "correct": 180, "loss": 3.0, "row": [1]}
  differences = functools.partial(replaying._differences, said, is_exact=False)
  near = {**said, "error": 0.12, "correct": 176, "loss": 3.05, "row": [0.9]}
  assert differences(near) == []
  for name, value in (("error", 0.121), ("correct", 175), ("loss", 3.07), ("flops_train", 101),
                      ("seen", 199)):
    assert len(differences({**near, name: value})) == 1, name
  assert len(differences({name: near[name] for name in near if name != "loss"})) == 1


@pytest.mark.parametrize("kind, found", [
    ("score", {"answers"}), ("FLOPs", {"costs"}), ("data", {"data"}), ("answer", set())])
def test_what_is_changed_and_made_consistent_is_found(kind, found, made, tampering, tmp_path):
  workdir, path = made
  copy = tampering.Copy(tmp_path / "copy", {}, {})
  copy.root.mkdir()
  copy.about = bundle.unpack(path, copy.root)
  said = tampering.KINDS[kind][0](copy, np.random.default_rng(1))
  copy.write(tmp_path / "b.zip")
  report = verification.verify(tmp_path / "b.zip")
  assert found <= _failed(report), said
  if kind == "answer":  # Found only where its event is executed again.
    assert not report.failed
    report = verification.verify(tmp_path / "b.zip", replay=6, states=workdir, recompute=False)
    event = int(said.rpartition(" ")[2])
    assert _failed(report) == {"replay"}
    assert any(f"event {event}: " in check.text for check in report.failed)


def test_digests_of_what_is_learned_are_compared_where_they_are(made, tampering, tmp_path):
  copy = tampering.Copy(tmp_path / "copy", {}, {})
  copy.root.mkdir()
  copy.about = bundle.unpack(made[1], copy.root)
  path = copy.folder() / "data_digests.json"
  digests, found = state_log.read_data(path.parent), []
  learned = [name for name in digests if state_log.is_trained(name)]
  assert learned == ["bucket_01 (learned)", "bucket_02 (learned)"]
  without = {name: one for name, one in digests.items() if name not in learned}
  for changed in ({**digests, learned[1]: digests[learned[0]]}, without):  # Of an earlier version.
    path.write_text(sealed_json.text({"data": changed}))
    copy.write(tmp_path / "b.zip")
    found.append([check.text for check in verification.verify(tmp_path / "b.zip").failed])
  assert found == [["the images of 'bucket_02 (learned)', or their labels, are not those of the "
                    "data here"], []]


@pytest.mark.parametrize("text, problem", [
    ("# Python objects, by suite.run; seed 0\nlearner = 'suite.running.external.External'\n",
     "ncm is a Python object. Registered methods are those of suite list --methods"),
    ("from __gin__ import dynamic_registration\nimport mine\nfrom suite import experiment\n"
     "experiment.run.learners = {'ncm': @mine.Mine()}\n",
     "ncm is not registered: .* imports 'mine'")])
def test_a_method_in_a_users_file_is_refused_by_name_and_not_run(
    text, problem, made, tampering, tmp_path, monkeypatch):
  (tmp_path / "mine.py").write_text(
      f"import pathlib\npathlib.Path({str(tmp_path)!r}, 'ran').touch()\nMine = object\n")
  monkeypatch.syspath_prepend(tmp_path)
  copy = tampering.Copy(tmp_path / "copy", {}, {})
  copy.root.mkdir()
  copy.about = bundle.unpack(made[1], copy.root)
  config, = copy.root.glob("runs/*/config.gin")
  config.write_text(text)
  copy.write(tmp_path / "b.zip")
  assert cli.main(["verify", str(tmp_path / "b.zip"), "--replay", "1", "--states",
                   str(made[0])]) == 1
  report = verification.verify(tmp_path / "b.zip", replay=1, states=made[0])
  failed, = report.failed
  assert failed.kind == "whole" and re.search(problem, failed.text)
  assert not report.drawn and not (tmp_path / "ran").exists() and "mine" not in sys.modules


def test_a_changed_state_and_seeds_that_are_not_prescribed_are_refused(made, tmp_path):
  workdir, path = made
  shutil.copytree(workdir / "ncm" / "state" / "kept", tmp_path / "ncm" / "state" / "kept")
  changed = tmp_path / "ncm" / "state" / "kept" / "00000004"
  shutil.rmtree(changed)
  shutil.copytree(workdir / "ncm" / "state" / "kept" / "00000002", changed)
  report = verification.verify(path, replay=6, states=tmp_path, seeds=(0, 1), recompute=False)
  assert [(check.kind, check.text) for check in report.failed] == [
      ("seeds", "ncm (clear) has no run of seed 1"), *(
          ("replay", f"event {event}: 1 states are called ncm/state/kept/00000004, and none has "
           "the digest that was handed in") for event in (4, 5))]


def test_the_commands_and_the_site(made, tmp_path, capsys):
  workdir, path = made
  assert cli.main(["submit", str(workdir), "--out", str(tmp_path / "b" / "mine.zip")]) == 2
  assert "needs a license" in capsys.readouterr().err
  assert cli.main(["submit", str(workdir), "--out", str(tmp_path / "b" / "mine.zip"), "--license",
                   "CC0-1.0", "--contact", "me@example.org", "--title", "a test"]) == 0
  assert (tmp_path / "b" / "mine.zip").read_bytes() == path.read_bytes()
  capsys.readouterr()
  assert cli.main(["verify", str(tmp_path / "b" / "mine.zip"), "--quick", "--seeds", "0",
                   "--json"]) == 0
  found = capsys.readouterr().out
  assert json.loads(found)["badge"] == "answers agree"
  (tmp_path / "b" / "mine.json").write_text(found)
  shutil.copyfile(path, tmp_path / "b" / "other.zip")
  (tmp_path / "b" / "damaged.zip").write_bytes(b"no")
  lines = site.build(tmp_path / "b", tmp_path / "site", "Digits")
  assert lines[0].startswith("left out, damaged.zip") and "1 bundles, 1 methods" in lines[-1]
  assert lines[1] == "left out, other.zip: it is the bundle mine.zip again"
  page = (tmp_path / "site" / "index.html").read_text()
  assert 'href="methods/ncm.html"' in page and 'href="bundles/mine.zip"' in page
  assert "answers agree" in page and str(tmp_path) not in page
  page = (tmp_path / "site" / "methods" / "ncm.html").read_text()
  assert "me@example.org" in page and 'href="../bundles/mine.zip"' in page
  assert str(tmp_path) not in page
  (tmp_path / "b" / "mine.json").write_text(found.replace("agree", "agreed"))
  (tmp_path / "b" / "other.zip").unlink()
  lines = site.build(tmp_path / "b", tmp_path / "site", "Digits")
  assert "mine.json is damaged, or no output of suite verify --json" in lines[1]


def test_budgets_are_tables_and_what_does_not_fit_is_handed_in(made, tmp_path):
  _, path = made
  with pytest.raises(ledger.BudgetError, match="holds"):  # SLDA has a covariance matrix.
    python_run.run("digits/clear", learners=["ncm", "slda"], workdir=tmp_path / "w",
                   keep="states=2", params={"digits.buckets.num_buckets": 2},
                   budget="10 MFLOP, 10 kB")
  content = bundle.pack(tmp_path / "w", tmp_path / "b" / "small.zip", ABOUT)
  assert [run["method"] for run in content["runs"]] == ["ncm"]
  refused, = content["refused"]
  assert refused["method"] == "slda" and refused["budget"] == "10 MFLOP, 10 kB"
  assert refused["reason"].startswith("The budget of this run is 10,000 bytes")
  report = verification.verify(tmp_path / "b" / "small.zip", seeds=(0,))
  assert report.badge == "recomputed" and report.about["refused"] == [refused]
  assert not verification.verify(tmp_path / "b" / "small.zip", recompute=False).failed
  (tmp_path / "b" / "small.json").write_text(json.dumps(report.values()))
  shutil.copyfile(path, tmp_path / "b" / "any.zip")
  site.build(tmp_path / "b", tmp_path / "site", "Digits", figures=False, copies=False)
  page = (tmp_path / "site" / "index.html").read_text()
  for text in (", by budget</h2>", "within 10 MFLOP, 10 kB</h2>", ", without a budget</h2>",
               ">does not fit</td>", "Does not fit this budget, as the submission says: slda",
               ">recomputed</td>", ">not verified</td>"):
    assert text in page, text
  assert not (tmp_path / "site" / "bundles").exists() and "bundles/" not in page
  # The table of the small budget has the columns of what is held, and no column of the budget.
  table = page[page.index("within 10 MFLOP, 10 kB</h2>"):]
  heads = [part.partition("</button>")[0] for part in table.partition("</thead>")[0].split(
      '<button type="button">')[1:]]
  assert "left of it" in heads and "state" in heads and "budget" not in heads


def test_a_site_names_changed_values_beside_a_method(made, tmp_path, monkeypatch):
  (tmp_path / "b").mkdir()
  shutil.copyfile(made[1], tmp_path / "b" / "any.zip")
  monkeypatch.setattr(run_dir.Run, "changes", "shrinkage=1")
  site.build(tmp_path / "b", tmp_path / "site", "Digits", figures=False, copies=False)
  page = (tmp_path / "site" / "index.html").read_text()
  assert ">ncm (shrinkage=1)</a>" in page


def _board(workdir, folder, **values):
  path = folder / "board.json"
  path.write_text(json.dumps({
      "format": 1, "run": "digits/clear", "params": ["digits.buckets.num_buckets=2"], "seeds": [0],
      "budget": "", "interval": 2, "settings": [], "environments": [],
      "data": json.loads((workdir / "ncm" / "data_digests.json").read_text())["data"], **values}))
  return path


def test_a_board_says_what_is_prescribed(made, tmp_path, capsys):
  workdir, path = made
  plain = board.read(_board(workdir, tmp_path))
  report = verification.verify(path, recompute=False, board=plain)
  assert not report.failed, verification.text(report)
  assert {"seeds", "board"} <= {check.kind for check in report.checks if check.state == "ok"}
  name = sorted(plain.data)[0]
  python = run_dir.read_json(workdir / "environment.json")["python"]
  found = []
  for values in (
      {"params": ["digits.buckets.num_buckets=3"]}, {"seeds": [1]}, {"budget": "1 TFLOP"},
      {"interval": 1}, {"data": {name: {"examples": "0" * 64, "content": "0" * 64}}},
      {"environments": [{"python": "2.7"}]}, {"environments": [{"python": python}]},
      {"params": ["digits.buckets.num_buckets=3"], "settings": ["num_buckets"]}):
    report = verification.verify(path, recompute=False,
                                 board=board.read(_board(workdir, tmp_path, **values)))
    found.append([check.text for check in report.failed if check.kind == "board"])
  digests = [f"the digests of the images of {one!r} are not those of the board"
             for one in sorted(plain.data)]
  assert found == [
      ["data.digits.digits.buckets.num_buckets is 2, and 3 by the board"],
      ["its seed is 0, and the board's are 1"], ["its budget is none, and the board's 1 TFLOP"],
      ["it kept every 2th state, and the board asks for every 1th"], ["; ".join(digests)],
      ["its environment is none of those that count as equal here: python"], [], []]
  shutil.copytree(workdir, tmp_path / "w")
  (tmp_path / "w" / "ncm" / "state_digests.jsonl").unlink()
  assert plain.problems(*run_dir.load([tmp_path / "w"]), "ncm") == ["it has no state_digests.jsonl"]
  other = str(_board(workdir, tmp_path, interval=1))
  assert cli.main(["verify", str(path), "--board", other, "--seeds", "0"]) == 2
  assert cli.main(["submit", str(workdir), "--board", other, "--license", "x", "--contact", "y",
                   "--out", str(tmp_path / "c.zip")]) == 2
  assert "the board asks for every 1th" in capsys.readouterr().err
  (tmp_path / "b").mkdir()
  shutil.copyfile(path, tmp_path / "b" / "mine.zip")
  assert cli.main(["leaderboard", "build", str(tmp_path / "b"), "--board", other, "--out",
                   str(tmp_path / "site")]) == 0
  assert "left out, mine.zip: it kept every 2th state" in capsys.readouterr().out


@pytest.mark.parametrize("seeds", ["-1", "1" + 400 * "0", "0,x"])
def test_seeds_that_no_run_has_are_bad_usage(seeds, made, capsys):
  assert cli.main(["verify", str(made[1]), f"--seeds={seeds}"]) == 2
  error = capsys.readouterr().err.splitlines()[-1]
  assert "allowed are whole numbers from 0, as 0,1,2" in error and len(error) < 200


@pytest.mark.parametrize("values, text", [
    ({"run": "digits/claer"}, "There is no run 'digits/claer'. Nearest: digits/c"),
    ({"seeds": [-1]}, "seeds are different whole numbers from 0"), ({"seeds": []}, "seeds are"),
    ({"seeds": [10**400]}, "seeds are different whole numbers"), ({"seeds": [0, 0]}, "seeds are"),
    ({"interval": 0}, "interval is 0; it is a whole number from 1 on"), ({"interval": 1.5}, "1.5"),
    ({"data": {"a": {"examples": "x", "content": "y"}}}, "data has no digests of 'a'"),
    ({"budget": "ten"}, "ten"), ({"format": 2}, "reads format 1"), ({"more": 1}, "its fields are"),
    ({"params": ["digits.buckets"]}, "digits.buckets"), ({"environments": [1]}, "env")])
def test_a_bad_board_is_an_error_of_one_line(values, text, made, tmp_path):
  with pytest.raises(gin_files.ConfigError, match="is no board: ") as caught:
    board.read(_board(made[0], tmp_path, **values))
  assert text in str(caught.value) and "\n" not in str(caught.value)


def test_a_board_that_is_not_there_is_said_to_be_missing(tmp_path):
  with pytest.raises(gin_files.ConfigError, match="none.json is no board: .*no such file"):
    board.read(tmp_path / "none.json")


def test_a_bundle_of_a_gpu_is_compared_within_bounds_and_refused_by_a_board(
    made, tampering, tmp_path):
  def on_a_gpu(copy, rng):
    del rng
    path = copy.folder().parent / run_dir.ENVIRONMENT
    path.write_text(run_dir.sealed({
        **run_dir.read_json(path), "device": "mirrored: 1 x GPU (NVIDIA H200)"}))
    run_dir.save_sums(path.parent)

  path = _changed(made[1], tampering, tmp_path, on_a_gpu)[1]
  report = verification.verify(path, replay=6, states=made[0], recompute=False)
  assert not report.failed, verification.text(report)
  ours = {"device": run_dir.read_json(made[0] / run_dir.ENVIRONMENT)["device"]}
  report = verification.verify(path, recompute=False, board=board.read(
      _board(made[0], tmp_path, environments=[ours])))
  assert [check.text for check in report.failed] == [
      "its environment is none of those that count as equal here: device"]


def test_a_method_is_called_by_what_it_makes(tmp_path):
  config = tmp_path / "config.gin"
  text = ("from suite import experiment\nfrom suite.learners import gradient\n"
          "from suite.protocols import clear\nfrom suite.training.memories import gss\n"
          "from suite.training.memories import memory\n"
          "from suite.training.memories import reservoir\n"
          "FINETUNE = %ER\nER = @replay/er/gradient.GradientLearner\n"
          "replay/gradient.GradientLearner.memory = @memory.Memory()\n"
          "replay/er/memory.Memory.rule = @reservoir.Reservoir()\n"
          "experiment.run.learners = {'finetune': %FINETUNE}\n"
          "experiment.run.protocol = @clear.run\n")
  for old, new, name in (
      ("", "", "er"), ("@reservoir.Reservoir()", "@gss.Gss()", "er+Gss~Reservoir"),
      ("%ER\nER = @replay/er/", "@finetune/", "finetune")):
    config.write_text(text.replace(old, new))
    assert bundle.of_method(config, "finetune") == name
  config.write_text(text.replace("%ER\nER = @replay/er/", "@other/"))
  with pytest.raises(bundle.SubmitError, match="FINETUNE stands for @other/suite.learners"):
    bundle.of_method(config, "finetune")


def test_macros_that_name_each_other_have_no_value(tmp_path):
  config = tmp_path / "config.gin"
  config.write_text("from suite import experiment\nA = %B\nB = %A\nC = 3\n"
                    "experiment.run.seed = %A\nexperiment.run.budget = %C\n")
  assert bundle.bound_value(config, "seed") is None
  assert bundle.bound_value(config, "budget") == 3


def test_what_cannot_be_handed_in_is_named(made, tmp_path):
  workdir, _ = made
  copy = tmp_path / "w"
  shutil.copytree(workdir, copy)
  (copy / "ncm" / "summary.json").rename(tmp_path / "summary.json")
  with pytest.raises(bundle.SubmitError, match="have not finished.*\n  .*w/ncm"):
    bundle.pack(copy, tmp_path / "b.zip", ABOUT)
  (tmp_path / "summary.json").rename(copy / "ncm" / "summary.json")
  (copy / "ncm" / "predictions" / "0001.parquet").unlink()
  with pytest.raises(bundle.SubmitError, match=r"predictions/0001.parquet: There are no predict"):
    bundle.pack(copy, tmp_path / "b.zip", ABOUT)
  shutil.rmtree(copy)
  shutil.copytree(workdir, copy)
  (copy / "ncm" / "state_digests.jsonl").unlink()
  with pytest.raises(bundle.SubmitError, match="Run it again with --keep states=N"):
    bundle.pack(copy, tmp_path / "b.zip", ABOUT)
