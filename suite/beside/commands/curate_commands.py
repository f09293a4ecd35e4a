# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite curate ...`: curates a data set in the layout of CLEAR, step by step.

    suite curate encode  WORK --table T.csv --application ResNet50 --weights W_notop.h5
    suite curate encode  WORK --table T.csv --clip DIR             for text queries
    suite curate encode  WORK --table T.csv --encoder RUN          of the suite's pretraining
    suite curate buckets WORK --table T.csv --features F.npy
    suite curate queries WORK --queries Q.csv --query-features Q.npy
    suite curate queries WORK --clip DIR --text bus --text "laptop=laptop, computer"
    suite curate sheets  WORK --gold G.csv
    suite curate label-studio WORK                                 instead of the page
    suite curate votes   WORK VOTES...
    suite curate export  WORK
    suite curate status  WORK

Each step writes a folder below WORK with a manifest.json. A step that is done is not done twice;
one that was done with other inputs is refused unless --again is given. Each step prints the command
of the next one, and so does `status`. docs/curation.md has a worked example.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import pathlib
from typing import Any

from suite.beside.curation import errors
from suite.beside.curation import manifest
from suite.commands import parsing
from suite.configs import entry_points
from suite.configs import run_settings
from suite.data.own import dates

SCALES = ("none", "tf", "torch", "caffe")  # encoders.SCALES
# time_buckets.NUM, votes.MIN_REVIEWERS, and `share` and `first` of selection.SelectionRule.
_NUM, _REVIEWERS, _SHARE, _FIRST = 11, 3, 0.001, 1

Path = pathlib.Path
Step = Callable[[argparse.Namespace], manifest.Manifest]


def _add(curate: argparse.ArgumentParser) -> None:
  """Adds the steps of `suite curate`."""
  steps = parsing.group(curate, "steps", "STEP")

  encode = _making(steps, _encode, "encode", "image files -> features, by a Keras model")
  _add_table(encode)
  _add_images(encode)
  encode.add_argument("--application", help="name of a network of keras.applications")
  given = encode.add_mutually_exclusive_group(required=True)
  given.add_argument("--weights", type=Path, help="weights of the application, or a .keras file")
  given.add_argument("--encoder", type=Path, metavar="RUN",
                     help="folder with encoder.json, of a run of the suite's pretraining")
  _add_clip(given, encode)
  encode.add_argument("--scale", choices=SCALES, default="none",
                      help="scaling of the pixels for a .keras file (%(default)s: 0 to 255)")
  encode.add_argument("--size", type=int, help="image size (224, or that of the .keras file)")
  encode.add_argument("--batch-size", type=int, default=64)
  buckets = _making(steps, _buckets, "buckets", "images and times -> buckets of equal size")
  _add_table(buckets)
  buckets.add_argument("--features", type=Path, nargs="+", metavar="NPY",
                       help="floats [N, D] in one or several consecutive files (those of `encode`)")
  buckets.add_argument("--num", type=int, default=_NUM,
                       help="number of buckets (%(default)s)")
  buckets.add_argument("--before-1990", action="store_true",
                       help="all images may be from before 1990 (else that is an error)")
  _add_queries(_making(
      steps, _queries, "queries", "queries -> candidates of each class and bucket"))
  sheets = _making(steps, _sheets, "sheets", "candidates -> review sheets, one page for a browser")
  _add_images(sheets)
  _add_pixels(sheets)
  sheets.add_argument("--links", action="store_true", help="link to the image files instead")
  sheets.add_argument("--gold", type=Path, metavar="CSV",
                      help="gold questions: class, id, vote (accept or reject)")
  label_studio = _making(
      steps, _label_studio, "label-studio", "review sheets -> tasks of Label Studio")
  _add_pixels(label_studio)
  label_studio.add_argument("--url", metavar="PREFIX",
                            help="address that the paths of the table are appended to, such as "
                            "'/data/local-files/?d=' (thumbnails in the tasks)")
  votes = _making(
      steps, _votes, "votes", "reviewers' votes -> accepted, rejected, to be decided")
  votes.add_argument("votes", type=Path, nargs="+", metavar="VOTES",
                     help="CSV files of the page, JSON exports of Label Studio, or folders of them")
  votes.add_argument("--decisions", type=Path,
                     help="CSV of decisions on flagged images: bucket, class, id, decision")
  votes.add_argument("--minimum", type=int, default=_REVIEWERS,
                     help="least number of reviewers of every image (%(default)s)")
  votes.add_argument("--min-gold", type=float, default=0.0, metavar="SHARE",
                     help="leave out reviewers with a lower share of right answers to the gold "
                     "questions (%(default)s)")
  export = _making(steps, _export, "export", "accepted images -> archives in CLEAR's layout")
  export.add_argument("--name", default="clear10", help="name of the data set (%(default)s)")
  export.add_argument("--format", choices=("zip", "tar"), default="zip")
  export.add_argument("--test-per-class", type=int, default=0, metavar="N",
                      help="number of images of each class and bucket for a test archive")
  export.add_argument("--bucket-0", action="store_true", help="also pack bucket 0, without labels")
  _step(steps, _status, "status",
        "list the steps, what they have found, and the command of the next one")


def _step(steps: Any, do: Callable[[argparse.Namespace], int], name: str, text: str
          ) -> argparse.ArgumentParser:
  found = steps.add_parser(name, help=text, description=text)
  run_settings.add_flags(found, "debug")
  found.set_defaults(do=do)
  found.add_argument("work", type=Path, metavar="WORK", help="the folder of the curation")
  return found


def _making(steps: Any, run: Step, name: str, text: str) -> argparse.ArgumentParser:
  """Adds a step that writes a folder, and prints its counts and the next command."""
  def do(args: argparse.Namespace) -> int:
    from suite.beside.curation.steps import guide
    done = run(args)
    print(f"{done.folder}: {guide.summary(done)}")
    print(f"next: {guide.next_command(args.work)}")
    return 0

  found = _step(steps, do, name, text)
  found.add_argument("--again", action="store_true",
                     help="replace a step that was done with other inputs")
  return found


def _add_queries(found: argparse.ArgumentParser) -> None:
  given = found.add_mutually_exclusive_group(required=True)
  given.add_argument("--queries", type=Path, help="CSV: class, prompt or class, id")
  given.add_argument("--text", action="append", metavar="[CLASS=]PROMPT",
                     help="a text query, by --clip; may be repeated")
  _add_clip(found, found)
  found.add_argument("--template", action="append", metavar="TEXT",
                     help="text with {} around each prompt of --clip; the mean of several (none)")
  found.add_argument("--query-features", type=Path, metavar="NPY",
                     help="features of the prompts, [Q, D]")
  found.add_argument("--share", type=float, default=_SHARE,
                     help="share of a bucket that is the top of each query (%(default)s)")
  found.add_argument("--keep", type=int, metavar="N",
                     help="at most N candidates of each class and bucket (all)")
  found.add_argument("--background", type=int, metavar="N",
                     help="images from the low end of each query (a tenth of a class; 0: none)")
  found.add_argument("--first", type=int, default=_FIRST,
                     help="first bucket to search (%(default)s)")
  found.add_argument("--search", choices=("auto", "numpy", "faiss"), default="auto",
                     help="library of the search, with equal results (%(default)s: faiss from a "
                     "million images on, if it is installed)")


def _add_pixels(found: argparse.ArgumentParser) -> None:
  found.add_argument("--pixels", type=int, default=256, help="size of thumbnails (%(default)s)")


def _add_table(found: argparse.ArgumentParser) -> None:
  found.add_argument("--table", type=Path, required=True,
                     help=".csv or .parquet with id, timestamp, path, ...")
  found.add_argument("--time-unit", choices=tuple(dates.UNITS),
                     help="all numbers among the timestamps count these units from 1970 (where "
                     "plausible, seconds or milliseconds; or a year, or a date)")


def _add_clip(place: Any, found: argparse.ArgumentParser) -> None:
  place.add_argument("--clip", type=Path, metavar="DIR",
                     help="folder of a CLIP: model.safetensors, vocabulary, perhaps config.json")
  found.add_argument("--clip-model", metavar="NAME",
                     help="architecture that the weights must have, such as ViT-B/32 or RN50")


def _add_images(found: argparse.ArgumentParser) -> None:
  found.add_argument("--images", type=Path, metavar="DIR",
                     help="root folder of the paths in the table (the table's folder)")


def _encode(args: argparse.Namespace) -> manifest.Manifest:
  from suite.beside.curation import encoders
  from suite.beside.curation.steps import selecting
  size, weights, parameters = args.size or (224 if args.application else None), [args.weights], {}
  if not (args.clip or args.encoder):
    parameters = {"application": args.application, "scale": args.scale, "size": size}
  elif args.application or args.size or args.scale != "none":
    raise errors.CurationError("--clip and --encoder say how images are read; leave out "
                               "--application, --size and --scale.")
  elif args.encoder:
    weights = encoders.files(args.encoder)
  else:
    weights, parameters = encoders.clip_files(args.clip), {"clip_model": args.clip_model}

  def make() -> Any:
    if args.encoder:
      return encoders.load(args.encoder, args.batch_size)
    if args.clip:
      return encoders.load_clip(args.clip, args.clip_model, batch_size=args.batch_size)
    if args.application:
      return encoders.application(args.application, args.weights, size or 224, args.batch_size)
    return encoders.saved(args.weights, scale=args.scale, size=size, batch_size=args.batch_size)

  return selecting.encode(args.work, args.table, make, weights=weights, images=args.images,
                          unit=args.time_unit, again=args.again, parameters=parameters)


def _buckets(args: argparse.Namespace) -> manifest.Manifest:
  from suite.beside.curation.steps import selecting
  return selecting.buckets(args.work, args.table, args.features, num=args.num, unit=args.time_unit,
                           old=args.before_1990, again=args.again)


def _queries(args: argparse.Namespace) -> manifest.Manifest:
  from suite.beside.curation import encoders
  from suite.beside.curation import selection
  from suite.beside.curation.steps import selecting
  rule = selection.SelectionRule(args.share, args.keep, args.background, args.first)
  by_text = None
  if args.clip:
    templates = args.template or [encoders.TEMPLATE]
    encoders.check_templates(templates)
    files = encoders.clip_files(args.clip)
    prompts: dict[str, str] = {}
    for text in args.text or ():  # A prompt alone is its own class, with _ for blanks.
      name, equals, prompt = text.partition("=")
      if not equals:
        name, prompt = "_".join(text.split()), text
      if name in prompts:
        raise errors.CurationError(f"Class {name!r} has several --text. Join its texts with commas "
                                   "in one prompt, as CLEAR does.")
      prompts[name] = prompt
    by_text = selecting.TextQueries(
        lambda: encoders.load_clip(args.clip, args.clip_model, templates), files,
        {"clip_model": args.clip_model, "templates": templates}, prompts)
  elif args.text or args.template or args.clip_model:
    raise errors.CurationError("--text, --template and --clip-model need --clip DIR, the CLIP that "
                               "encoded the images.")
  if by_text and args.query_features:
    raise errors.CurationError("--query-features and --clip both give the queries' features; leave "
                               "out one.")
  return selecting.queries(args.work, args.queries, args.query_features, rule=rule,
                           by_text=by_text, again=args.again,
                           by_faiss={"numpy": False, "faiss": True}.get(args.search))


def _sheets(args: argparse.Namespace) -> manifest.Manifest:
  from suite.beside.curation.steps import reviewing
  return reviewing.sheets(args.work, images=args.images, pixels=args.pixels, links=args.links,
                          gold=args.gold, again=args.again)


def _label_studio(args: argparse.Namespace) -> manifest.Manifest:
  from suite.beside.curation.steps import reviewing
  return reviewing.label_studio(args.work, url=args.url, pixels=args.pixels, again=args.again)


def _votes(args: argparse.Namespace) -> manifest.Manifest:
  from suite.beside.curation.steps import voting
  files: list[Path] = []
  for path in args.votes:
    files += sorted(one for ending in ("csv", "json") for one in path.rglob(f"*.{ending}")
                    ) if path.is_dir() else [path]
  return voting.votes(args.work, files, decisions=args.decisions, minimum=args.minimum,
                      min_gold=args.min_gold, again=args.again)


def _export(args: argparse.Namespace) -> manifest.Manifest:
  from suite.beside.curation.steps import exporting
  return exporting.export(args.work, name=args.name, suffix=f".{args.format}",
                          test_per_class=args.test_per_class, bucket_0=args.bucket_0,
                          again=args.again)


def _status(args: argparse.Namespace) -> int:
  from suite.beside.curation.steps import guide
  for state in guide.states(args.work):
    print(state)
  print(f"next: {guide.next_command(args.work)}")
  return 0


COMMAND = entry_points.Command("curate a data set in the layout of CLEAR", _add)
