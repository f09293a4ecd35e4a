# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data timeline`: makes a data set of dated images, by time bucket."""

from __future__ import annotations

import argparse
import collections
import pathlib
from typing import Any

from suite.commands import parsing
from suite.configs import entry_points
from suite.configs import gin_files
from suite.configs import run_settings
from suite.data.own import dates
from suite.system import folders

_ARCHIVES = (".zip", ".tar")
_BY = ("year", "month", "equal", "bucket")  # timeline_plan.BY


def _add(action: argparse.ArgumentParser) -> None:
  action.set_defaults(do=_timeline)
  run_settings.add_flags(action, "debug", *run_settings.DATA_FLAGS)
  action.add_argument("table", type=pathlib.Path, metavar="TABLE",
                      help=".csv or .parquet with path, time and label; or an archive in CLEAR's "
                      "layout (suite curate export)")
  action.add_argument("--name", required=True, metavar="NAME",
                      help="of the data set, which is then timeline/NAME")
  action.add_argument("--by", choices=_BY,
                      help="a bucket for each year or month, buckets of equal size, or those of the"
                      " column bucket")
  action.add_argument("--num", type=run_settings.positive, metavar="N",
                      help="number of buckets; by year and month, neighbors are joined")
  action.add_argument("--images", type=pathlib.Path, metavar="DIR",
                      help="folder that the paths are below (the table's)")
  action.add_argument("--test", type=pathlib.Path, metavar="TABLE",
                      help="table, or archive, of images for testing only")
  action.add_argument("--test_share", type=float, default=0.3, metavar="X",
                      help="share of each bucket that the iid protocol tests on (0.3)")
  action.add_argument("--skip_undated", action="store_true", help="leave out images without a time")
  action.add_argument("--before_1990", action="store_true",
                      help="all images may be from before 1990 (else that is an error: most often a"
                      " unit is wrong)")
  action.add_argument("--time_unit", choices=tuple(dates.UNITS),
                      help="all numbers among the times count these units from 1970 (a number is a "
                      "year, a date, or seconds or milliseconds from 1970, where it is plausible)")
  action.add_argument("--label", default="", metavar="COLUMN",
                      help="column of the labels; none: all images are without (label, or class)")
  action.add_argument("--again", action="store_true",
                      help="replace a timeline of this name that was made in another way")


def _timeline(args: argparse.Namespace) -> int:
  from suite.beside.curation.timelines import dated_table
  from suite.beside.curation.timelines import timeline_plan
  from suite.data.own import timeline_store
  run_settings.from_flags(args).set_data_dirs()
  if args.data_dir:
    folders.make(args.data_dir, "--data_dir (or $LIFELONG_DATA_DIR)")
  timeline_store.check_name(args.name)
  for path in filter(None, (args.table, args.test)):
    if not path.is_file():
      raise gin_files.ConfigError(f"There is no file {path}; give a .csv or .parquet table of "
                                  "images, or an archive in CLEAR's layout.")
  if args.table.suffix in _ARCHIVES:
    given = [flag for flag in ("by", "num", "images", "skip_undated", "before_1990", "time_unit",
                               "label") if getattr(args, flag)]
    if given:
      raise gin_files.ConfigError(f"--{given[0]} is of tables; the archive {args.table} has its "
                                  "buckets already. Leave it out.")
    builder = timeline_store.of_archives(
        args.name, args.table, args.test, data_dir=args.data_dir, again=args.again)
    print(parsing.table_text(("split", "images"), [
        (split, f"{info.num_examples:,}") for split, info in sorted(builder.info.splits.items())]))
  else:
    if not args.by:
      raise gin_files.ConfigError(f"Say how to divide the images: --by {', '.join(_BY)}.")
    table, test = (path and dated_table.read(
        path, args.images, skip_undated=args.skip_undated, label=args.label, unit=args.time_unit,
        with_buckets=args.by == timeline_plan.GIVEN, old=args.before_1990)
                   for path in (args.table, args.test))
    plan = timeline_plan.make(
        table, by=args.by, num=args.num, test=test, test_share=args.test_share)
    timeline_store.of_files(
        args.name, plan.images, class_names=plan.class_names, files=plan.files, facts=plan.facts,
        data_dir=args.data_dir, again=args.again)
    _print_buckets(plan)
  print("", f"Read it: tfds.load(\"timeline/{args.name}\", split=\"bucket_01\")",
        "Run CLEAR's table on it: suite run clear/table "
        f"--gin_param \"DATA='timeline/{args.name}'\"", sep="\n")
  return 0


def _print_buckets(plan: Any) -> None:
  """Prints a line for each bucket of a timeline, then warnings about few images."""
  import numpy as np
  known = plan.facts["buckets"]
  rows: list[tuple[str, ...]] = []
  seen: set[str] = set()
  for one in known:
    new = set(one["classes"]) - seen
    seen |= new
    rows.append((f"{one['bucket']:02d}", one["name"], f"{one['images']:,}",
                 str(len(one["classes"])), str(len(new)), f"{one['test_images']:,}",
                 f"{one['unlabelled']:,}"))
  print(parsing.table_text(("bucket", "time", "images", "classes", "new classes", "test images",
               "without label"), rows))
  names = plan.class_names
  if all(name.isdecimal() for name in names) and names != [str(i) for i in range(len(names))]:
    print(f"The labels are the numbers {names[0]} to {names[-1]}. They are taken as names: class 0 "
          f"is {names[0]!r}, class {len(names) - 1} is {names[-1]!r}.")
  alike = collections.defaultdict(list)
  for name in names:
    alike[" ".join(name.lower().replace("_", " ").replace("-", " ").split())].append(name)
  for same in alike.values():
    if len(same) > 1:
      print(f"{len(same)} classes are called {', '.join(map(repr, same))}. If they are one, give "
            "their images one label.")
  counts = np.array([[name in one["classes"] for one in known] for name in plan.class_names])
  single = [name for name, row in zip(plan.class_names, counts) if row.sum() == 1]
  if single and len(known) > 1:
    print(f"{len(single)} of {len(plan.class_names)} classes are in one bucket only: "
          f"{', '.join(single[:5])}{', ...' if len(single) > 5 else ''}. If that is not meant, "
          "give their images the label of another class, or leave them out.")
  small = [f"{one['bucket']:02d}" for one in known if one["images"] < 2]
  if small:
    print(f"Buckets {', '.join(small)} have fewer than 2 labeled images, so they have none for "
          "testing in the iid protocol.")
  untested = [f"{one['bucket']:02d}" for one in known if not one["test_images"]]
  if len(plan.files) > 1 and untested:
    print(f"Buckets {', '.join(untested)} have no images of the test table.")


COMMAND = entry_points.Command("make a data set of your own dated images, by time bucket", _add)
