# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The sheets of a review: candidates and gold questions of each class and bucket."""

from __future__ import annotations

from collections.abc import Sequence
import pathlib
from typing import NamedTuple

from suite.curation import collection
from suite.curation import gold_questions
from suite.curation import manifest
from suite.curation import queries
from suite.curation import votes as votes_lib
from suite.curation.sheets import sheet_page

_EXAMPLES = 8


class ReviewPlan(NamedTuple):
  """A review.

  Attributes:
    sheets: the sheets by bucket and class.
    candidates: the images that the votes decide on.
    gold: known answers.
  """

  sheets: Sequence[sheet_page.Sheet]
  candidates: Sequence[votes_lib.Item]
  gold: gold_questions.Answers

  def items(self) -> list[votes_lib.Item]:
    """Lists all images that are asked about."""
    return [votes_lib.Item(sheet.bucket, sheet.label, name)
            for sheet in self.sheets for name in sheet.ids]

  def keys(self) -> dict[tuple[int, str], str]:
    """Maps (bucket, class) to the key of the sheet."""
    return {(sheet.bucket, sheet.label): sheet.key for sheet in self.sheets}


def finished(work: pathlib.Path) -> ReviewPlan:
  """Returns the review whose sheets are made."""
  gold = manifest.verified(work, collection.SHEETS).sources("gold")
  return plan(work, gold[0] if gold else None)


def plan(work: pathlib.Path, gold: pathlib.Path | None) -> ReviewPlan:
  """Plans a review of the candidates, with a file of gold questions."""
  counts = manifest.verified(work, collection.QUERIES).counts
  candidates = collection.candidates(work)
  groups: dict[tuple[int, str], list[str]] = {}
  for one in candidates:
    groups.setdefault((one.bucket, one.label), []).append(one.id)
  answers = {} if gold is None else gold_questions.read(gold, _buckets(work), list(groups))
  asked: dict[tuple[int, str], list[str]] = {}
  for item in answers:
    asked.setdefault((item.bucket, item.label), []).append(item.id)
  prompts, examples = counts["prompts"], counts.get("examples", {})
  others, spans = f"none of {', '.join(sorted(prompts))}", collection.spans(work)
  return ReviewPlan(
      [sheet_page.Sheet(bucket, label, prompts.get(label, others), spans[bucket],
                        gold_questions.mixed(ids, asked.get((bucket, label), ())),
                        examples.get(label, ())[:_EXAMPLES],
                        is_background=label == queries.BACKGROUND)
       for (bucket, label), ids in groups.items()],
      [votes_lib.Item(one.bucket, one.label, one.id) for one in candidates], answers)


def _buckets(work: pathlib.Path) -> dict[str, int]:
  """Maps ids to buckets."""
  return dict(zip(map(str, collection.table(work).ids), collection.buckets(work).tolist()))
