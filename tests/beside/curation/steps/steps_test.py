# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The order of the steps, gold questions, reviewers who disagree, and reviews in Label Studio."""

import csv
import json
import xml.etree.ElementTree

import numpy as np
from PIL import Image
import pytest

from suite import cli
from suite.beside.curation import errors
from suite.beside.curation import storage
from suite.beside.curation import votes
from suite.beside.curation.steps import guide
from suite.beside.curation.steps import reviewing
from suite.beside.curation.steps import selecting
from suite.beside.curation.steps import voting
from suite.models import conv4
from suite.state import encoder_file

NAMES = ["bus", "tram"]
HEAD = ["sheet", "reviewer", "bucket", "class", "id", "vote"]


def _write(path, rows):
  with open(path, "w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows(rows)


def _source(folder):
  """Sixteen images, eight in each of two buckets: even ids are buses."""
  rows = []
  for i in range(16):
    Image.new("RGB", (8, 8), ((i % 2) * 200, 5 * i, 90)).save(folder / f"{i:02d}.png")
    rows.append([f"{i:02d}", 1e9 + i, f"{i:02d}.png"])
  _write(folder / "images.csv", [["id", "timestamp", "path"], *rows])
  features = np.eye(2)[np.arange(16) % 2] + 0.01 * np.arange(16)[:, None]
  np.save(folder / "features.npy", features.astype(np.float32))
  _write(folder / "queries.csv", [["class", "id"], ["bus", "00"], ["bus", "02"], ["tram", "01"]])
  _write(folder / "gold.csv", [["class", "id", "vote"], ["bus", "09", "reject"],
                               ["tram", "01", "accept"]])


@pytest.fixture(name="folder")
def _folder(tmp_path, monkeypatch):
  """A collection with its candidates: three buses and three trams of each bucket, and gold."""
  monkeypatch.chdir(tmp_path)
  _source(tmp_path)
  work = tmp_path / "work"
  selecting.buckets(work, tmp_path / "images.csv", [tmp_path / "features.npy"], num=2)
  rule = selecting.selection.SelectionRule(share=3 / 8, background=0, first=0)
  selecting.queries(work, tmp_path / "queries.csv", rule=rule)
  reviewing.sheets(work, pixels=8, gold=tmp_path / "gold.csv")
  return tmp_path


def _right(item):
  return "accept" if NAMES[int(item.id) % 2] == item.label else "reject"


def _votes(work, reviewer, vote_of=_right):
  plan = reviewing.finished(work)
  return [[plan.keys()[item.bucket, item.label], reviewer, *item, vote_of(item)]
          for item in plan.items()]


def test_reviewers_who_disagree_and_gold_questions(folder):
  work = folder / "work"
  plan = reviewing.finished(work)
  sheet, = (one for one in plan.sheets if (one.bucket, one.label) == (1, "bus"))
  assert "09" in sheet.ids and len(sheet.ids) == 4  # The gold question, a tram.
  assert len(plan.items()) == 13 and len(plan.candidates) == 12
  assert sheet.examples == ["00", "02"]
  first = plan.candidates[0]
  _write(folder / "ann.csv", [HEAD, *_votes(work, "ann")])
  _write(folder / "bob.csv", [HEAD, *_votes(
      work, "bob", lambda item: "reject" if item == first else _right(item))])
  done = voting.votes(work, [folder / "ann.csv", folder / "bob.csv"], minimum=2)
  assert (done.counts["disputed"], done.counts["ties"]) == (1, 1)
  line, = storage.read_csv(work / "votes" / "disputed.csv", ["id"])
  assert (line["id"], line["votes"]) == (first.id, "ann:accept bob:reject")
  assert done.counts["accepted"] == 11 and done.counts["rejected"] == 1  # A tie rejects.
  assert json.loads((work / "votes" / "agreement.json").read_text())["gold"]["bob"]["asked"] == 2
  _write(folder / "cid.csv", [HEAD, *_votes(work, "cid", lambda item: "accept")])
  files = [folder / f"{name}.csv" for name in ("ann", "bob", "cid")]
  done = voting.votes(work, files, minimum=2, again=True)
  assert (done.counts["accepted"], done.counts["ties"], done.counts["left_out"]) == (12, 0, [])
  done = voting.votes(work, files, minimum=2, min_gold=0.9, again=True)
  assert done.counts["left_out"] == ["cid"] and done.counts["reviewers"] == ["ann", "bob"]
  assert (1, "bus", "09") not in voting.accepted(work)  # A question, no candidate.
  with pytest.raises(errors.CurationError, match="from 0 to 1, got 2"):
    voting.votes(work, files, minimum=2, min_gold=2, again=True)
  reviewing.sheets(work, pixels=8, again=True)
  with pytest.raises(errors.CurationError, match="was cast on sheet .* have changed. Vote on the"):
    voting.votes(work, files, minimum=2, again=True)
  with pytest.raises(errors.CurationError, match="--min-gold needs gold questions"):
    _write(folder / "ann.csv", [HEAD, *_votes(work, "ann")])
    voting.votes(work, [folder / "ann.csv"], minimum=1, min_gold=0.5, again=True)


@pytest.mark.parametrize("line, message", [
    (["bus", "99", "accept"], "record 2 asks about '99', which is not in the collection"),
    (["car", "03", "accept"], r"about 03 \(car, bucket 0\), but there is no such sheet"),
    (["bus", "03", "flag"], "has the vote 'flag' .* accept or reject is needed")])
def test_gold_questions_that_are_refused(folder, line, message):
  _write(folder / "wrong.csv", [["class", "id", "vote"], line])
  with pytest.raises(errors.CurationError, match=message):
    reviewing.plan_review(folder / "work", folder / "wrong.csv")


def _export(tasks, **reviewers):
  """What Label Studio exports as JSON; annotations by reviewer: vote_of."""
  return [{"id": 10 + number, **task, "annotations": [
      {"id": number, "completed_by": name, "was_cancelled": False, "result": [
          {"from_name": "vote", "to_name": "image", "type": "choices",
           "value": {"choices": [vote_of(task["data"])]}}]}
      for name, vote_of in reviewers.items()]} for number, task in enumerate(tasks)]


def test_label_studio_gives_the_votes_of_the_page(folder):
  work = folder / "work"
  reviewing.label_studio(work, pixels=8)
  tasks = json.loads((work / "label_studio" / "tasks.json").read_text())
  assert len(tasks) == 13 and tasks[0]["data"]["question"] == "Does the image show bus?"
  assert tasks[0]["data"]["image"].startswith("data:image/jpeg;base64,")
  config = xml.etree.ElementTree.parse(work / "label_studio" / "label_studio.xml").getroot()
  shown = {one.get("value") for one in config if one.get("value")}
  assert shown == {"$question", "$about", "$image"} and {one[1:] for one in shown} <= set(
      tasks[0]["data"])
  assert [one.get("value") for one in config.iter("Choice")] == ["accept", "reject", "flag"]
  assert config.find("Choices").get("name") == votes.CONTROL
  reviewing.label_studio(work, url="http://x/?d=", again=True)
  linked = json.loads((work / "label_studio" / "tasks.json").read_text())
  assert linked[0]["data"]["image"] == f"http://x/?d={linked[0]['data']['id']}.png"

  def vote_of(data):
    return "accept" if NAMES[int(data["id"]) % 2] == data["class"] else "reject"

  found = _export(tasks, a1=vote_of)
  found[0]["annotations"].append({"id": 99, "completed_by": "bob", "was_cancelled": True,
                                  "result": []})
  found[0]["annotations"][0]["completed_by"] = {"id": 7, "email": "a1"}
  (folder / "export.json").write_text(json.dumps(found))
  _write(folder / "page.csv", [HEAD, *_votes(work, "a1")])
  voting.votes(work, [folder / "page.csv"], minimum=1)
  wanted = (work / "votes" / "accepted.csv").read_bytes()
  voting.votes(work, [folder / "export.json"], minimum=1, again=True)
  assert (work / "votes" / "accepted.csv").read_bytes() == wanted


@pytest.mark.parametrize("change, message", [
    (lambda found: found[0]["data"].pop("sheet"), "task 10 has no sheet in its data"),
    (lambda found: found[0]["data"].update(sheet="other"), "task 10 was cast on sheet 'other'"),
    (lambda found: found[0]["annotations"][0].update(result=[]), r"has the votes \[\]; one is"),
    (lambda found: found[0].pop("annotations"), "as JSON .not JSON-MIN or CSV"),
    (lambda found: found[0]["annotations"][0].pop("completed_by"), "has the reviewer ''")])
def test_exports_that_are_refused(folder, change, message):
  reviewing.label_studio(folder / "work", pixels=8)
  tasks = json.loads((folder / "work" / "label_studio" / "tasks.json").read_text())
  found = _export(tasks, ann=lambda _: "accept")
  change(found)
  (folder / "export.json").write_text(json.dumps(found))
  with pytest.raises(errors.CurationError, match=message):
    voting.votes(folder / "work", [folder / "export.json"], minimum=1)


def test_every_step_says_the_next_one(tmp_path, monkeypatch, capsys):
  monkeypatch.chdir(tmp_path)
  _source(tmp_path)
  work = tmp_path / "work"

  def step(name, *words):
    capsys.readouterr()
    assert cli.main(["curate", name, "work", *map(str, words)]) == 0
    return capsys.readouterr().out.splitlines()[-1]

  assert step("status").startswith("next: suite curate encode work --table TABLE.csv --weights")
  conv4_dir = tmp_path / "moco"
  conv4_dir.mkdir()
  encoder_file.save(conv4_dir, conv4.conv4((8, 8, 3), filters=4, blocks=2), {})
  assert step("encode", "--table", "images.csv", "--encoder", "moco") == (
      "next: suite curate buckets work --table images.csv")
  features = np.load(work / "encode" / "features.npy")
  wanted = encoder_file.load(conv4_dir).model()(np.asarray(
      Image.open("03.png"), np.float32)[None])
  np.testing.assert_allclose(features[3], wanted[0], rtol=1e-4, atol=1e-5)
  assert step("buckets", "--table", "images.csv", "--features", "features.npy", "--num", 2) == (
      "next: suite curate queries work --queries QUERIES.csv")
  assert step("queries", "--queries", "queries.csv", "--share", 3 / 8, "--background", 0,
              "--first", 0) == "next: suite curate sheets work"
  assert step("sheets").startswith("next: suite curate votes work VOTES (the files that reviewers")
  flagged = reviewing.finished(work).items()[0]
  for reviewer in ("ann", "bob", "cid"):
    _write(tmp_path / f"{reviewer}.csv", [HEAD, *_votes(
        work, reviewer, lambda item: "flag" if item == flagged else _right(item))])
  files = [f"{name}.csv" for name in ("ann", "bob", "cid")]
  assert "--decisions DECISIONS.csv --again; or leave those" in step("votes", *files)
  assert step("export", "--name", "two", "--test-per-class", 1) == (
      "next: suite data timeline work/export/two-train-image-only.zip --test "
      "work/export/two-test.zip --name two")
  step("label-studio")
  assert step("sheets", "--pixels", 9, "--again").endswith(
      "votes work VOTES --again (the files that reviewers download from work/sheets/index.html)")
  state = {one.step: one.state for one in guide.states(work)}
  assert state["label_studio"] == state["votes"] == state["export"] == guide.STALE
