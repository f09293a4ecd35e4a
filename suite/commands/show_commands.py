# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite list` and `suite show`: the shipped runs and the methods, and what one of them is.

`suite show` has a run's parameters, methods, data and cost on a screen, or a method's settings.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
import dataclasses
import itertools
import json
import os
import textwrap
from typing import Any

from suite.commands import parsing
from suite.configs import chosen_settings
from suite.configs import gin_files
from suite.configs import method_values
from suite.configs import methods
from suite.configs import run_facts
from suite.configs import run_files
from suite.configs import run_settings
from suite.system import processes

_MOST_VALUE, _MOST_MEANING = 32, 56


def add_list(listing: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite list`."""
  run_settings.add_flags(listing, "debug")
  listing.add_argument("words", nargs="*", metavar="WORD",
                       help="show runs whose name or description has every word")
  listing.add_argument("--benchmark", choices=run_facts.BENCHMARKS, metavar="NAME",
                       help=f"of one benchmark: {', '.join(run_facts.BENCHMARKS)}")
  listing.add_argument("--hardware", choices=run_facts.HARDWARE,
                       help="what a run is meant for")
  parsing.by(listing.add_argument(
      "--data", metavar="NAME", help="runs that read this data: digits, cifar10, tiny_imagenet, "
      "omniglot, clear10, slimagenet64, nevis, ..."), data_of_runs)
  listing.add_argument("--methods", nargs="?", const="", metavar="PROTOCOL",
                       help="the methods instead: papers, protocols and settings; of one protocol: "
                       f" {', '.join(methods.NAMED)}")
  listing.add_argument("--long", action="store_true",
                       help="also what a run gave; of methods a line for each setting")
  listing.add_argument("--names", action="store_true", help="names alone, for a shell")
  listing.set_defaults(do=_list)


def data_of_runs(**asked: Any) -> list[str]:
  """The data that headers of run files name."""
  del asked
  return sorted({name.strip() for header in run_facts.shipped()
                 for name in header.data.split(",") if " " not in name.strip()})


def _list(args: argparse.Namespace) -> int:
  if args.methods is not None:
    return _list_methods(args)
  chosen = [
      header for header in run_facts.shipped()
      if all(word.lower() in f"{header.name} {header.benchmark} {header.what}".lower()
             for word in args.words)
      and args.benchmark in (None, header.benchmark) and args.hardware in (None, header.hardware)
      and (args.data is None or args.data in header.data.replace(",", " ").split())]
  if not chosen:
    known = data_of_runs()
    near = ("words, --benchmark, --hardware and --data must all fit. Leave one out."
            if args.data in (None, *known) else
            f"no run reads {args.data!r}. {gin_files.nearest(args.data, known)}")
    raise gin_files.ConfigError(f"No shipped run is like that: {near} suite list without arguments "
                                "shows all of them.")
  if args.names:
    print("\n".join(header.name for header in chosen))
    return 0
  columns = ["run", "hardware", "data", "cost", *(["gave"] if args.long else []), "what"]
  for benchmark, group in itertools.groupby(chosen, key=lambda header: header.benchmark):
    print(f"# {benchmark}")
    print(parsing.table_text(columns, [
        [header.name, header.hardware, header.data, header.cost,
         *([header.gave] if args.long else []), header.what] for header in group]))
    print()
  print("Before a run: suite run RUN --dry_run says what it will cost here.")
  return 0


def _list_methods(args: argparse.Namespace) -> int:
  # `suite list --methods er`, `suite list clear --methods`: each word says what it is.
  words = [*args.words, *filter(None, [args.methods])]
  protocol = next((word for word in words if word in methods.NAMED), "")
  words = [word for word in words if word != protocol]
  column = methods.column(protocol)
  named = [one for one in map(methods.find, words) if one is not None]
  chosen = [one for one in methods.load() if (not protocol or column in one.protocols) and (
      one in named if named else all(
          word.lower() in f"{one.name} {one.title} {one.paper} {' '.join(one.aliases)}".lower()
          for word in words))]
  if not chosen:
    known = [one.name for one in methods.load()]
    near = gin_files.nearest(words[-1], [*known, *methods.NAMED])
    raise gin_files.ConfigError(f"No method{f' of {protocol}' if protocol else ''} has "
                                f"{' and '.join(map(repr, words))}. {near}")
  if args.names:
    print("\n".join(one.name for one in chosen))
    return 0
  is_long = args.long or len(chosen) == 1
  rows = []
  for one in chosen:
    settings = list(methods.settings_of(one, protocol).values())
    units = ["" if setting.value is None or setting.unit in setting.name or "epochs" in setting.name
             else f" {setting.unit}" for setting in settings]  # Unless the name says it.
    rows.append([one.name, f"{one.title} ({one.paper})" if one.paper else one.title,
                 " ".join(one.protocols), ", ".join(
                     f"{setting.name}={setting.value}{unit}"
                     for setting, unit in zip(settings, units))])
    if is_long:
      show_method(one, protocol)
      print()
  if not is_long:
    print(parsing.table_text(["method", "what", "protocols", "settings"], rows))
    print()
  print("What a setting is: suite show NAME. To run: suite run RUN --methods NAME,NAME\n"
        "--set SETTING=VALUE, or in Python suite.learner(model, NAME, SETTING=VALUE).")
  return 0


def add_show(show: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite show`."""
  run_settings.add_flags(show, "debug")
  parsing.by(show.add_argument(
      "name", metavar="RUN|METHOD", help="a name from `suite list` or `suite list --methods`, or a "
      "gin file"), parsing.runs)
  parsing.by(show.add_argument(
      "--methods", type=parsing.listed, default=[], metavar="NAME,NAME",
      help="with these methods in place of the run's learners"), parsing.methods)
  show.add_argument("--settings", default="", dest="method_settings", metavar="NAME",
                    help="as of `suite run`")
  show.add_argument("--gin_file", action="append", default=[], metavar="FILE",
                    help="as of `suite run`")
  show.add_argument("--set", "--gin_param", action="append", default=[], dest="gin_param",
                    metavar="NAME=VALUE", help="as of `suite run`")
  show.add_argument("--all", action="store_true",
                    help="also the parameters that only included files set")
  show.add_argument("--json", action="store_true", help="print JSON")
  show.set_defaults(do=_show)


def _show(args: argparse.Namespace) -> int:
  method = None if args.name in run_files.shipped() else methods.find(args.name)
  if method is not None:
    if not chosen_settings.is_file(args.method_settings):
      gin_files.check_settings(args.method_settings)
    if args.methods or args.method_settings or args.gin_file or args.gin_param:
      raise gin_files.ConfigError(
          f"{args.name} is a method, and --methods, --settings, --gin_file and --set are of runs: "
          f"suite show RUN --methods {method.name}. What named settings change stands at the end "
          f"of: suite show {method.name}")
    show_method(method, "", as_json=args.json)
    return 0
  if not os.path.exists(args.name) and args.name.removesuffix(".gin") not in {
      *run_files.shipped(), *run_files.old_runs()}:
    known = [*run_files.shipped(), *(one.name for one in methods.load())]
    raise gin_files.ConfigError(
        f"Unknown run {args.name!r}: no file has this path, no shipped run file and no method has "
        f"this name. {methods.owners(args.name) or gin_files.nearest(args.name, known)} See them "
        "all with: suite list, suite list --methods")
  file = run_settings.find(args.name, extra_files=args.gin_file, params=args.gin_param,
                           methods=args.methods, method_settings=args.method_settings)
  facts = run_facts.read(file, every=args.all)
  header = facts.header
  if args.json:
    print(json.dumps({**header.__dict__, "is_table": facts.is_table,
                      "methods": dict(facts.learners),
                      "parameters": [one._asdict() for one in facts.parameters]}, indent=1))
    return 0
  lines = [(header.name, header.what), *(
      (title, getattr(header, title)) for title in ("cost", "hardware", "data", "gave")),
           ("rows" if facts.is_table else "methods", ", ".join(facts.learners) or "none named")]
  for title, text in lines:
    if text:
      print(textwrap.fill(f"{title}: {text}", processes.terminal_width(), subsequent_indent="  ",
                          break_on_hyphens=False))
  print()
  # What makes a learner, and lists of them, are no settings: the line above has their names.
  shown = [one for one in facts.parameters if args.all or one.kind or one.meaning]
  print(parsing.table_text(["parameter", "value", "type", "unit", "meaning", "set in"], [
      list(one if args.all else one._replace(
          value=_short(one.value, _MOST_VALUE), meaning=_short(one.meaning, _MOST_MEANING),
          where=one.where.partition(" (")[0].rpartition("/")[2])) for one in shown]))
  print(f"\nTo change one: suite run {header.name} --set NAME=VALUE. In full: --all, --json.")
  return 0


def _short(text: str, most: int) -> str:
  """The first clause of a text, or as much of it as fits."""
  text = text.partition("; ")[0].partition(". ")[0]
  return text if len(text) <= most else f"{text[:most - 3].rstrip()}..."


def show_method(method: methods.Method, protocol: str, *, as_json: bool = False) -> None:
  """Prints a method's facts and its settings: values, sources, and what protocols change."""
  settings = methods.settings_of(method, protocol)
  others: dict[str, Mapping[str, methods.Setting]] = {} if protocol else {
      f"under {place}": {name: one for name, one in methods.settings_of(method, place).items()
                         if name not in settings or one.value != settings[name].value}
      for place in methods.NAMED if methods.column(place) in method.protocols}
  for name in method_values.names():
    others[f"--settings {name}"] = methods.named_settings(method, name, protocol)
  if as_json:
    print(json.dumps({
        "name": method.name, "title": method.title, "paper": method.paper,
        "protocols": method.protocols, "settings": [
            {**dataclasses.asdict(one)} for one in settings.values()],
        "changes": {where: {name: {"value": one.value, "source": one.source}
                            for name, one in found.items()} for where, found in others.items()
                    if found}}, indent=1))
    return
  paper = f" ({method.paper})" if method.paper else ""
  print(f"{method.name}: {method.title}{paper}; {' '.join(method.protocols)}\n")
  print(parsing.table_text(["setting", "value", "type", "unit", "meaning", "source"], [
      [one.name, str(one.value), one.kind, one.unit, one.meaning, one.source]
      for one in settings.values()]))
  changed = [[where, name, str(one.value), one.source] for where, found in others.items()
             for name, one in found.items()]
  if changed:
    print(f"\n{parsing.table_text(['changed', 'setting', 'value', 'source'], changed)}")
