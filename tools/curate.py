# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Curates a data set in the layout of CLEAR, step by step; docs/curation.md has a worked example.

    python tools/curate.py encode  WORK --table T.csv --application ResNet50 --weights W_notop.h5
    python tools/curate.py buckets WORK --table T.csv --features F.npy
    python tools/curate.py queries WORK --queries Q.csv --query-features Q.npy
    python tools/curate.py sheets  WORK
    python tools/curate.py votes   WORK VOTES...
    python tools/curate.py export  WORK
    python tools/curate.py status  WORK

Each step writes a folder below WORK with a manifest.json. A step that is done is not done twice;
one that was done with other inputs is refused, unless --again is said.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any, List, Optional, Sequence

# Runs from a checkout too, installed or not.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from absl import logging

from suite.curation import collection
from suite.curation import encoders
from suite.curation import errors
from suite.curation import exporting
from suite.curation import manifest
from suite.curation import reviewing
from suite.curation import selecting
from suite.curation import selection
from suite.curation import time_buckets
from suite.curation import votes as votes_lib

Path = pathlib.Path


def encode(args: argparse.Namespace) -> manifest.Manifest:
  """Image files -> features, by a Keras model."""
  size: Optional[int] = args.size or (224 if args.application else None)

  def make() -> Any:
    if args.application:
      return encoders.application(args.application, args.weights, size or 224, args.batch_size)
    return encoders.saved(args.weights, scale=args.scale, size=size, batch_size=args.batch_size)

  return selecting.encode(
      args.work, args.table, make, weights=[args.weights], images=args.images, again=args.again,
      parameters={"application": args.application, "scale": args.scale, "size": size})


def buckets(args: argparse.Namespace) -> manifest.Manifest:
  """Images and times -> buckets of equal size."""
  return selecting.buckets(args.work, args.table, args.features, num=args.num, again=args.again)


def queries(args: argparse.Namespace) -> manifest.Manifest:
  """Queries -> candidates of each class and bucket."""
  rule = selection.Rule(args.share, args.keep, args.background, args.first)
  return selecting.queries(args.work, args.queries, args.query_features, rule=rule,
                           again=args.again)


def sheets(args: argparse.Namespace) -> manifest.Manifest:
  """Candidates -> review sheets, pages to open in a browser."""
  return reviewing.sheets(args.work, images=args.images, pixels=args.pixels, links=args.links,
                          again=args.again)


def votes(args: argparse.Namespace) -> manifest.Manifest:
  """Reviewers' votes -> accepted, rejected, and for another look."""
  files: List[Path] = []
  for path in args.votes:
    files += sorted(path.rglob("*.csv")) if path.is_dir() else [path]
  return reviewing.votes(args.work, files, decisions=args.decisions, minimum=args.minimum,
                         again=args.again)


def export(args: argparse.Namespace) -> manifest.Manifest:
  """Accepted images -> archives in CLEAR's layout."""
  return exporting.export(args.work, name=args.name, suffix=f".{args.format}",
                          test_per_class=args.test_per_class, bucket_0=args.bucket_0,
                          again=args.again)


def status(args: argparse.Namespace) -> None:
  """Says which steps are done, and which must be done again."""
  for step in collection.STEPS:
    if not (args.work / step / manifest.NAME).exists():
      print(f"{step:8} not done" + (", or not needed" if step == collection.ENCODE else ""))
      continue
    try:
      manifest.verified(args.work, step)
      print(f"{step:8} done")
    except errors.CurationError as error:
      print(f"{step:8} to be done again: {error}")


def _parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  steps = parser.add_subparsers(dest="step", required=True)

  def step(run: Any) -> argparse.ArgumentParser:
    found = steps.add_parser(run.__name__, help=run.__doc__, description=run.__doc__)
    found.set_defaults(run=run)
    found.add_argument("work", type=Path, help="the folder of the curation")
    if run is not status:
      found.add_argument("--again", action="store_true", help="replace what was done otherwise")
    return found

  def images(found: argparse.ArgumentParser) -> None:
    found.add_argument("--images", type=Path, help="the folder that paths in the table start from "
                                                   "(the table's own)")

  def table(found: argparse.ArgumentParser) -> None:
    found.add_argument("--table", type=Path, required=True,
                       help=".csv or .parquet with id, timestamp, path, ...")

  _encode_arguments(step(encode), table, images)
  found = step(buckets)
  table(found)
  found.add_argument("--features", type=Path, nargs="+", metavar="NPY",
                     help="floats [N, D]; several files are one after another (those of `encode`)")
  found.add_argument("--num", type=int, default=time_buckets.NUM, help="of buckets (%(default)s)")
  _queries_arguments(step(queries))
  found = step(sheets)
  images(found)
  found.add_argument("--pixels", type=int, default=192, help="of thumbnails (%(default)s)")
  found.add_argument("--links", action="store_true", help="link to the image files instead")
  found = step(votes)
  found.add_argument("votes", type=Path, nargs="+", help="CSV files, or folders of them")
  found.add_argument("--decisions", type=Path, help="CSV: bucket, class, id, decision, on flagged")
  found.add_argument("--minimum", type=int, default=votes_lib.MIN_REVIEWERS,
                     help="reviewers of every image (%(default)s)")
  _export_arguments(step(export))
  step(status)
  return parser


def _encode_arguments(found: argparse.ArgumentParser, table: Any, images: Any) -> None:
  table(found)
  images(found)
  found.add_argument("--application", help="a network of keras.applications; else a .keras file")
  found.add_argument("--weights", type=Path, required=True, help="of it, or the .keras file")
  found.add_argument("--scale", choices=encoders.SCALES, default="none",
                     help="of the pixels that a .keras file takes (%(default)s: 0 to 255)")
  found.add_argument("--size", type=int, help="of the images (224, or what the .keras file takes)")
  found.add_argument("--batch-size", type=int, default=64)


def _queries_arguments(found: argparse.ArgumentParser) -> None:
  rule = selection.Rule()
  found.add_argument("--queries", type=Path, required=True, help="CSV: class, prompt or class, id")
  found.add_argument("--query-features", type=Path, metavar="NPY", help="[Q, D], of the prompts")
  found.add_argument("--share", type=float, default=rule.share,
                     help="of a bucket, the top of each query (%(default)s)")
  found.add_argument("--keep", type=int, help="at most so many a class and bucket (all)")
  found.add_argument("--background", type=int, metavar="N",
                     help="from the low end of each query (a tenth of a class's; 0: none)")
  found.add_argument("--first", type=int, default=rule.first,
                     help="the first bucket that is searched (%(default)s)")


def _export_arguments(found: argparse.ArgumentParser) -> None:
  found.add_argument("--name", default="clear10", help="of the data set (%(default)s)")
  found.add_argument("--format", choices=("zip", "tar"), default="zip")
  found.add_argument("--test-per-class", type=int, default=0, metavar="N",
                     help="so many images of each class and bucket go to a test archive")
  found.add_argument("--bucket-0", action="store_true", help="also pack bucket 0, without labels")


def main(arguments: Optional[Sequence[str]] = None) -> int:
  args = _parser().parse_args(arguments)
  logging.set_verbosity(logging.INFO)
  try:
    done = args.run(args)
  except errors.CurationError as error:
    print(f"curate.py {args.step}: {error}", file=sys.stderr)
    return 1
  if done is not None:
    counts = {k: v for k, v in done.counts.items() if not isinstance(v, (dict, list))}
    print(f"{done.folder}: {json.dumps(counts)}")
  return 0


if __name__ == "__main__":
  sys.exit(main())
