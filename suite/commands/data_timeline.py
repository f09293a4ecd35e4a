# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data timeline`: makes a data set of a user's own dated images."""

from __future__ import annotations

import argparse
import pathlib
from typing import Any, Callable

import numpy as np

from suite.configs import gin_files
from suite.curation.timelines import periods
from suite.data.own import timeline_store
from suite.running import launch
from suite.system import folders

_ARCHIVES = (".zip", ".tar")


def add(actions: Any, parents: list[argparse.ArgumentParser], positive: Callable[[str], int],
        do: Callable[[argparse.Namespace], int]) -> None:
  """Adds the action to the parser of `suite data`."""
  action = actions.add_parser(
      "timeline", parents=parents, help="make a data set of your own dated images, by time bucket")
  action.set_defaults(do=do)
  action.add_argument("table", type=pathlib.Path, metavar="TABLE",
                      help=".csv or .parquet with path, time and label; or an archive in CLEAR's "
                      "layout (suite curate export)")
  action.add_argument("--name", required=True, metavar="NAME",
                      help="of the data set, which is then timeline/NAME")
  action.add_argument("--by", choices=periods.BY,
                      help="a bucket for each year or month, buckets of equal size, or those of the"
                      " column bucket")
  action.add_argument("--num", type=positive, metavar="N",
                      help="number of buckets; by year and month, neighbors are joined")
  action.add_argument("--images", type=pathlib.Path, metavar="DIR",
                      help="folder that the paths are below (the table's)")
  action.add_argument("--test", type=pathlib.Path, metavar="TABLE",
                      help="table, or archive, of images for testing only")
  action.add_argument("--test_share", type=float, default=0.3, metavar="X",
                      help="share of each bucket that the iid protocol tests on (0.3)")
  action.add_argument("--skip_undated", action="store_true", help="leave out images without a time")
  action.add_argument("--again", action="store_true",
                      help="replace a timeline of this name that was made in another way")


def make(args: argparse.Namespace) -> tuple[list[tuple[str, ...]], list[str]]:
  """Builds the data set; returns a table of its buckets, the header first, and further lines."""
  from suite.curation.timelines import dated_table
  from suite.curation.timelines import timeline_plan
  launch.set_data_dirs(args.data_dir, args.mirror)
  if args.data_dir:
    folders.make(args.data_dir, "--data_dir (or $LIFELONG_DATA_DIR)")
  timeline_store.check_name(args.name)
  for path in filter(None, (args.table, args.test)):
    if not path.is_file():
      raise gin_files.ConfigError(f"There is no file {path}; give a .csv or .parquet table of "
                                  "images, or an archive in CLEAR's layout.")
  if args.table.suffix in _ARCHIVES:
    return _of_archives(args)
  if not args.by:
    raise gin_files.ConfigError(f"Say how to divide the images: --by {', '.join(periods.BY)}.")
  table, test = (path and dated_table.read(path, args.images, skip_undated=args.skip_undated,
                                           with_buckets=args.by == periods.GIVEN)
                 for path in (args.table, args.test))
  plan = timeline_plan.make(table, by=args.by, num=args.num, test=test, test_share=args.test_share)
  timeline_store.of_files(
      args.name, plan.images, class_names=plan.class_names, files=plan.files, facts=plan.facts,
      data_dir=args.data_dir, again=args.again)
  return _rows(plan), [*_warnings(plan), *_next_steps(args.name)]


def _next_steps(name: str) -> list[str]:
  return ["", f"Read it: tfds.load(\"timeline/{name}\", split=\"bucket_01\")",
          "Run CLEAR's table on it: suite run clear/table "
          f"--gin_param \"DATA='timeline/{name}'\""]


def _of_archives(args: argparse.Namespace) -> tuple[list[tuple[str, ...]], list[str]]:
  given = [flag for flag in ("by", "num", "images", "skip_undated") if getattr(args, flag)]
  if given:
    raise gin_files.ConfigError(f"--{given[0]} is of tables; the archive {args.table} has its "
                                "buckets already. Leave it out.")
  builder = timeline_store.of_archives(
      args.name, args.table, args.test, data_dir=args.data_dir, again=args.again)
  return [("split", "images"), *((split, f"{info.num_examples:,}")
                                 for split, info in sorted(builder.info.splits.items()))
          ], _next_steps(args.name)


def _rows(plan: Any) -> list[tuple[str, ...]]:
  rows: list[tuple[str, ...]] = [
      ("bucket", "time", "images", "classes", "new classes", "test images", "without label")]
  seen: set[str] = set()
  for one in plan.facts["buckets"]:
    new = set(one["classes"]) - seen
    seen |= new
    rows.append((f"{one['bucket']:02d}", one["name"], f"{one['images']:,}",
                 str(len(one["classes"])), str(len(new)), f"{one['test_images']:,}",
                 f"{one['unlabelled']:,}"))
  return rows


def _warnings(plan: Any) -> list[str]:
  """Warnings about classes and buckets with few images, one line each."""
  known = plan.facts["buckets"]
  counts = np.array([[name in one["classes"] for one in known] for name in plan.class_names])
  single = [name for name, row in zip(plan.class_names, counts) if row.sum() == 1]
  found = []
  if single and len(known) > 1:
    found.append(f"{len(single)} of {len(plan.class_names)} classes are in one bucket only: "
                 f"{', '.join(single[:5])}{', ...' if len(single) > 5 else ''}. If that is not "
                 "meant, give their images the label of another class, or leave them out.")
  small = [f"{one['bucket']:02d}" for one in known if one["images"] < 2]
  if small:
    found.append(f"Buckets {', '.join(small)} have fewer than 2 labeled images, so they have none "
                 "for testing in the iid protocol.")
  untested = [f"{one['bucket']:02d}" for one in known if not one["test_images"]]
  if len(plan.files) > 1 and untested:
    found.append(f"Buckets {', '.join(untested)} have no images of the test table.")
  return found
