# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data ...`: list, diagnose and build data sets, and write features of their images."""

from __future__ import annotations

import argparse
import collections
from collections.abc import Sequence
import dataclasses
import json
import pathlib
import sys
from typing import Any, Callable

from suite.commands import completion
from suite.commands import data_build
from suite.commands import data_fetch
from suite.commands import data_timeline
from suite.configs import gin_files
from suite.running import launch
from suite.system import folders

# Name -> arguments of `streams.nevis`.
NEVIS_STREAMS = {f"nevis-{variant}{end}": (variant, splits)
                 for variant in ("full", "short", "tiny", "small")
                 for end, splits in (("", "ours"), ("-paper", "paper"))}

# (error, label) -> its one line; says an error to the user as `suite` does.
Say = Callable[..., int]


def add(commands: Any, parents: list[argparse.ArgumentParser], positive: Callable[[str], int],
        fail: Say) -> None:
  """Adds the command and its actions to the parser of `suite`."""
  data = commands.add_parser("data", help="list, diagnose and build data sets")
  data.set_defaults(do=lambda args: _help(data))
  actions = data.add_subparsers(title="actions", metavar="ACTION")
  for name, do, nargs, text in (
      ("list", _list, None, "list every data set"),
      ("doctor", _doctor, "*", "show what is prepared, what is missing and what to do"),
      ("build", _build, "+", "prepare data sets")):
    action = actions.add_parser(name, parents=parents, help=text)
    action.set_defaults(do=do, fail=fail)
    if nargs:
      completion.by(action.add_argument(
          "names", nargs=nargs, metavar="NAME",
          help="data sets, families (clear10) or streams (nevis-short)"), _data_sets)
    if name == "list":
      action.add_argument("--all", action="store_true",
                          help="include variants that reproduce a reference's splits or defects")
    if name == "doctor":
      action.add_argument("--json", action="store_true", help="print JSON, one line per data set")
      action.add_argument("--links", action="store_true",
                          help="show when each link was last known to be good or dead")
      action.add_argument("--check_links", action="store_true",
                          help="ask the servers now (implies --links)")
      action.add_argument("--deep", action="store_true",
                          help="read every record of what is prepared, too")
    if name == "build":
      action.add_argument("--jobs", type=positive, default=1, metavar="N",
                          help="number of data sets to build at the same time (1)")
      action.add_argument("--beam_pipeline_options", default="", metavar="X=Y,...",
                          help="build on Apache Beam, for example runner=FlinkRunner,...")
  _add_features(actions, parents, positive, fail)
  data_timeline.add(actions, parents, positive, _timeline)
  data_fetch.add(actions, parents, positive, _fetch)


def _data_sets(**asked: Any) -> list[str]:
  """Names for a shell."""
  del asked
  import tfds_builders
  return tfds_builders.names()


def _add_features(actions: Any, parents: list[argparse.ArgumentParser],
                  positive: Callable[[str], int], fail: Say) -> None:
  action = actions.add_parser(
      "features", parents=parents, help="write (or resume) an encoder's features of every image")
  action.set_defaults(do=_features, fail=fail)
  completion.by(action.add_argument(
      "name", metavar="NAME", help="a prepared data set, or a drifting series"), _data_sets)
  action.add_argument("--encoder", required=True, metavar="X",
                      help="the directory of a pretraining run, or a Keras application (ResNet50)")
  action.add_argument("--weights", metavar="FILE", help=".h5 file of a Keras application")
  action.add_argument("--out", required=True, metavar="DIR", help="directory for the features")
  action.add_argument("--split", action="append", default=[], metavar="SPLIT",
                      help="split to encode; may be repeated (all)")
  action.add_argument("--batch_size", type=positive, default=256, metavar="N",
                      help="batch size (256)")
  action.add_argument("--image_size", type=positive, default=224, metavar="S",
                      help="image size of a Keras application (224)")


def _help(parser: argparse.ArgumentParser) -> int:
  parser.print_help(sys.stderr)
  return 2


def _list(args: argparse.Namespace) -> int:
  launch.set_data_dirs(args.data_dir, args.mirror)
  import tfds_builders
  rows = []
  for name in tfds_builders.names(variants=args.all):
    facts = tfds_builders.status.facts(name)
    rows.append((name, f"{facts.num_classes:,}", _count(facts.num_examples), facts.source,
                 facts.title))
  print_table(("data set", "classes", "examples", "source", "title"), rows)
  return 0


def _doctor(args: argparse.Namespace) -> int:
  launch.set_data_dirs(args.data_dir, args.mirror)
  import tfds_builders
  names = data_set_names(args.names, tfds_builders.names(variants=True), tfds_builders.names())
  found: list[dict[str, Any]] = []
  for name in names:
    try:
      found.append(dataclasses.asdict(tfds_builders.status.inspect(
          name, args.data_dir, check_links=args.check_links, deep=args.deep)))
    except Exception as error:  # A broken data set must not hide the others.
      found.append({"name": name, "state": "failed", "size_bytes": None, "command": "",
                    "reason": f"{type(error).__name__}: {gin_files.first_line(error)}"})
  if args.json:
    for one in found:
      print(json.dumps(one))
  else:
    _print_diagnosis(found)
    if args.links or args.check_links:
      _print_links(found)
  return 1 if any(one["state"] == "failed" for one in found) else 0


def damage(folder: pathlib.Path) -> str:
  """Reads every record of a prepared data set; says what is wrong, "" if nothing is."""
  import tfds_builders
  return tfds_builders.status.damage(folder)


def _print_diagnosis(found: Sequence[dict[str, Any]]) -> None:
  print_table(("data set", "state", "size", "disk", "memory", "next step"), [
      (one["name"], one["state"], *(size(one.get(key)) for key in (
          "size_bytes", "disk_bytes", "memory_bytes")), one["command"]) for one in found])
  reasons = [f"{one['name']}: {one['reason']}" for one in found
             if len(found) <= 10 or one["state"] == "failed"]
  if len(found) > 10:
    states = collections.Counter(one["state"] for one in found)
    reasons.insert(0, ", ".join(f"{count} {state}" for state, count in states.most_common()))
  print("", *reasons, sep="\n")
  print("\nsize: on disk if prepared or mirrored, else to download. disk: what building takes at "
        "most.\nmemory: of all images as 64 x 64 x 3 bytes, held for fast training. ?: not known.")


def _print_links(found: Sequence[dict[str, Any]]) -> None:
  """Prints a line for each link; files of one folder with the same record share a line."""
  rows: dict[tuple[str, ...], list[str]] = {}
  for one in found:
    for link in one.get("links", ()):
      folder = link["url"].rpartition("/")[0]
      record = (one["name"], link["state"], link["date"], link["last_good"], link["evidence"])
      rows.setdefault((*record, folder), []).append(link["url"])
  print()
  print_table(("data set", "link", "date", "last good", "says", "url"), [
      (*record, urls[0] if len(urls) == 1 else f"{folder}/... ({len(urls)} files)")
      for (*record, folder), urls in rows.items()])
  states = collections.Counter(link["state"] for one in found for link in one.get("links", ()))
  print("", ", ".join(f"{count} {state}" for state, count in states.most_common()), sep="\n")
  print("good: downloaded on that date. dead: reported dead. listed: another package lists it, "
        "nobody says\nthat it works. unknown: no record. Ask the servers: --check_links.")


def _build(args: argparse.Namespace) -> int:
  launch.set_data_dirs(args.data_dir, args.mirror)
  if args.data_dir:
    folders.make(args.data_dir, "--data_dir (or $LIFELONG_DATA_DIR)")
  import tfds_builders
  names = data_set_names(args.names, tfds_builders.names(variants=True), tfds_builders.names())
  if args.jobs > 1 and len(names) > 1:
    outcomes = data_build.in_processes(names, _flags_of_build(args), args.jobs)
  else:
    def say(name: str, error: Exception) -> str:
      args.fail(error, args, code=1, label=name)
      return gin_files.first_line(error)
    outcomes = data_build.one_by_one(
        names, lambda name: tfds_builders.build(
            name, args.data_dir, beam_options=args.beam_pipeline_options), say)
  if len(outcomes) > 1:
    print_table(("data set", "outcome", "seconds", "reason"), [
        (one.name, "failed" if one.problem else "prepared", f"{one.seconds:.0f}", one.problem)
        for one in outcomes])
  failed = [one.name for one in outcomes if one.problem]
  if failed:
    print(f"Not built; see: suite data doctor {' '.join(failed)}", file=sys.stderr)
  return 1 if failed else 0


def _features(args: argparse.Namespace) -> int:
  launch.set_data_dirs(args.data_dir, args.mirror)
  from suite.commands import data_features
  from suite.data.streams import feature_sources
  encoder = data_features.encoder(args.encoder, args.weights, args.image_size)
  source = feature_sources.find(args.name, data_dir=args.data_dir)
  rows = data_features.write(
      source, encoder, args.out, splits=args.split, batch_size=args.batch_size)
  print_table(("split", "images", "written", "width", "seconds"), [
      (row["split"], _count(row["num_examples"]), _count(row["written"]), str(row["feature_size"]),
       f"{row['seconds']:.1f}") for row in rows])
  return 0


def _timeline(args: argparse.Namespace) -> int:
  (header, *rows), lines = data_timeline.make(args)
  print_table(header, rows)
  print(*lines, sep="\n")
  return 0


def _fetch(args: argparse.Namespace) -> int:
  (header, *rows), lines = data_fetch.fetch(args)
  print_table(header, rows)
  print(*lines, sep="\n")
  return 0


def _flags_of_build(args: argparse.Namespace) -> list[str]:
  """Flags of a build in another process."""
  flags_given = []
  for flag in ("data_dir", "mirror", "beam_pipeline_options"):
    if getattr(args, flag):
      flags_given += [f"--{flag}", str(getattr(args, flag))]
  return flags_given


def data_set_names(asked: Sequence[str], known: Sequence[str], base: Sequence[str]) -> list[str]:
  """Expands names, families and streams to data sets; all without variants by default.

  Args:
    asked: names entered by the user.
    known: all names, variants included.
    base: all names without variants.
  """
  names: list[str] = []
  families = {name.split("/")[0] for name in base}
  for name in asked or base:
    stream = NEVIS_STREAMS.get(name.replace("/", "-"))
    if stream:
      from suite.data.streams import streams
      variant, splits = stream
      names += sorted({one.dataset for one in streams.nevis(variant, splits=splits).entries})
    elif name in known or name.startswith("timeline/"):
      names.append(name)
    elif name in families:
      names += [one for one in base if one.startswith(f"{name}/")]
    else:
      raise gin_files.ConfigError(
          f"Unknown data set {name!r}. "
          f"{gin_files.nearest(name, (*known, *sorted(families), *NEVIS_STREAMS))} "
          "See them all with: suite data list --all")
  return list(dict.fromkeys(names))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
  widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
  for row in (header, *rows):
    print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def _count(number: int | None) -> str:
  return "?" if number is None else f"{number:,}"


def size(num_bytes: float | None) -> str:
  """ "1.5 kB"; "?" for None."""
  if num_bytes is None:
    return "?"
  for unit in ("B", "kB", "MB", "GB"):
    if num_bytes < 1000:
      return f"{num_bytes:.3g} {unit}"
    num_bytes /= 1000
  return f"{num_bytes:.3g} TB"
