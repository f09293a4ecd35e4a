# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Votes composed: majorities, flags, what is refused, and how far reviewers agree."""

import pytest

from suite.beside.curation import errors
from suite.beside.curation import votes as votes_lib
from suite.beside.curation.steps import voting

_SHEETS = {(1, "bus"): "k1", (2, "bus"): "k2"}
_A, _B, _C = (votes_lib.Item(1, "bus", name) for name in "abc")
_OTHER = votes_lib.Item(2, "bus", "a")
_ITEMS = [_A, _B, _C, _OTHER]
_HEAD = "sheet,reviewer,bucket,class,id,vote\n"


def _read(tmp_path, *texts):
  paths = []
  for number, text in enumerate(texts):
    paths.append(tmp_path / f"{number}.csv")
    paths[-1].write_text(_HEAD + text)
  return votes_lib.read(paths, _SHEETS, _ITEMS)


def test_files_of_reviewers_are_put_together(tmp_path):
  found = _read(tmp_path, "k1,ann,1,bus,a,accept\nk2,ann,2,bus,a,flag\n", "k1,bob,1,bus,a,reject\n")
  assert found == {_A: {"ann": "accept", "bob": "reject"}, _B: {}, _C: {}, _OTHER: {"ann": "flag"}}


def _cast(*votes):
  return dict(zip(("ann", "bob", "cid", "dan"), votes))


def test_majorities_accept_ties_reject_and_flags_wait_for_a_decision():
  ballots = {_A: _cast("accept", "accept", "reject"), _B: _cast("accept", "flag", "accept"),
             _C: _cast("accept", "accept", "reject", "reject"),
             _OTHER: _cast("flag", "flag", "flag")}
  assert votes_lib.compose(ballots, {}) == ([_A], [_C], [_B, _OTHER])
  decided = {_B: "accept", _OTHER: "reject"}
  assert votes_lib.compose(ballots, decided) == ([_A, _B], [_C, _OTHER], [])


def test_disputes_and_ties():
  ballots = {_A: _cast("accept", "reject"), _B: _cast("accept", "accept", "reject"),
             _C: _cast("flag", "flag"), _OTHER: {}}
  assert votes_lib.disputed(ballots) == [_A, _B]
  assert [votes_lib.is_tie(votes) for votes in ballots.values()] == [True, False, False, False]
  assert votes_lib.without(ballots, ["ann"])[_A] == {"bob": "reject"}


@pytest.mark.parametrize("text, message", [
    ("k1,ann,1,bus,zz,accept\n", "record 2 votes on 'zz', which is not on the sheet of 'bus' in b"),
    ("k1,ann,3,bus,a,accept\n", "no sheet of class 'bus' in bucket 3"),
    ("k1,ann,x,bus,a,accept\n", "bucket 'x', which is no number"),
    ("k9,ann,1,bus,a,accept\n", "sheet 'k9' .* present one is 'k1': the candidates have changed"),
    ("k1,ann,1,bus,a,yes\n", "reviewer 'ann' and the vote 'yes'"),
    ("k1, ,1,bus,a,flag\n", "reviewer '' and the vote 'flag'"),
    ("k1,ann,1,bus,a,flag\nk1,ann,1,bus,a,flag\n", r"record 3: 'ann' votes on a \(bus, bucket 1\)"),
    ("k1,ann,1,bus\n", "record 2 does not have 6 cells")])
def test_votes_that_are_refused(tmp_path, text, message):
  with pytest.raises(errors.CurationError, match=message):
    _read(tmp_path, text)


def test_a_second_vote_in_another_file_names_the_first(tmp_path):
  with pytest.raises(errors.CurationError, match=r"1.csv, record 2.* the first is in .*0.csv"):
    _read(tmp_path, "k1,ann,1,bus,a,accept\n", "k1,ann,1,bus,a,reject\n")


def test_missing_reviewers_are_named():
  ballots = {_A: _cast("accept", "accept", "reject"), _B: _cast("accept", "accept")}
  with pytest.raises(errors.CurationError, match=r"1 of 2 images have fewer than 3 .*'b \(bus, buc"
                                                 r".*far: ann, bob, cid; of these cid did not"):
    votes_lib.check_reviewers(ballots)
  votes_lib.check_reviewers(ballots, 2)
  with pytest.raises(errors.CurationError, match="so far: ann, bob. Have .* set --minimum lower"):
    votes_lib.check_reviewers({_B: ballots[_B]})


def test_decisions_are_on_flagged_images_only(tmp_path):
  ballots = {_A: _cast("flag", "accept", "accept"), _B: _cast("accept", "accept", "accept")}
  path = tmp_path / "d.csv"
  path.write_text("bucket,class,id,decision\n1,bus,a,accept\n")
  assert votes_lib.read_decisions(path, ballots) == {_A: "accept"}
  for line, message in (("1,bus,b,accept", "'b' .* which nobody flagged"),
                        ("1,bus,a,flag", "decides 'flag'"),
                        ("1,bus,a,accept\n1,bus,a,reject", "record 3 decides 'reject' .* once")):
    path.write_text(f"bucket,class,id,decision\n{line}\n")
    with pytest.raises(errors.CurationError, match=message):
      votes_lib.read_decisions(path, ballots)


def test_agreement_by_hand():
  ballots = {_A: _cast("accept", "accept", "accept"), _B: _cast("accept", "accept", "reject"),
             _C: _cast("accept", "reject", "flag"), _OTHER: {"ann": "flag"}}
  found = voting.statistics(ballots)
  # Pairs that agree: 3 of 3, 1 of 3, 0 of 3; the image with one vote has no pair.
  assert found["pairwise"] == round(4 / 9, 6) and found["unanimous"] == 2
  # Of 9 votes 6 accept, 2 reject, 1 flag: by chance (36 + 4 + 1) / 81 agree.
  assert found["kappa"] == round((4 / 9 - 41 / 81) / (1 - 41 / 81), 6)
  assert found["votes"] == {"accept": 6, "flag": 1, "reject": 2}
  assert found["by_reviewer"]["ann"] == {"accept": 3, "reject": 0, "flag": 1, "agrees": 0.5}
  assert found["by_reviewer"]["cid"] == {"accept": 1, "reject": 1, "flag": 1,
                                         "agrees": round(2 / 6, 6)}


def test_agreement_where_nothing_can_be_said():
  same = {_A: _cast("accept", "accept", "accept")}
  assert voting.statistics(same)["pairwise"] == 1
  assert voting.statistics(same)["kappa"] is None
  assert voting.statistics({_A: {"ann": "flag"}})["pairwise"] is None
