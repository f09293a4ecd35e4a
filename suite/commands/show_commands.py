# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite show`: a run's parameters, methods, data and cost on a screen, or a method's settings."""

from __future__ import annotations

import argparse
import json
import textwrap

from suite.commands import parsing
from suite.configs import gin_files
from suite.configs import method_settings
from suite.configs import methods
from suite.configs import run_parameters
from suite.configs import run_settings
from suite.system import processes

_MOST_VALUE, _MOST_MEANING = 32, 56


def add(show: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite show`."""
  run_settings.add_flags(show, "debug")
  parsing.by(show.add_argument(
      "name", metavar="RUN|METHOD", help="a name from `suite list` or `suite list --methods`, or a "
      "gin file"), parsing.runs)
  parsing.by(show.add_argument(
      "--methods", type=parsing.listed, default=[], metavar="NAME,NAME",
      help="with these methods in place of the run's learners"), parsing.methods)
  show.add_argument("--gin_file", action="append", default=[], metavar="FILE",
                    help="as of `suite run`")
  show.add_argument("--set", "--gin_param", action="append", default=[], dest="gin_param",
                    metavar="NAME=VALUE", help="as of `suite run`")
  show.add_argument("--all", action="store_true",
                    help="also the parameters that only included files set")
  show.add_argument("--json", action="store_true", help="print JSON")
  show.set_defaults(do=_show)


def _show(args: argparse.Namespace) -> int:
  method = next((one for one in methods.load() if one.name == args.name), None)
  if method is not None and args.name not in gin_files.run_files():
    show_method(method, "", as_json=args.json)
    return 0
  file = run_settings.find(args.name, extra_files=args.gin_file, params=args.gin_param,
                           methods=args.methods)
  facts = run_parameters.read(file, every=args.all)
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
      list(one if args.all else one._replace(value=_short(one.value, _MOST_VALUE), meaning=_short(
          one.meaning, _MOST_MEANING), where=one.where.rpartition("/")[2])) for one in shown]))
  print(f"\nTo change one: suite run {header.name} --set NAME=VALUE. In full: --all, --json.")
  return 0


def _short(text: str, most: int) -> str:
  """The first clause of a text, or as much of it as fits."""
  text = text.partition("; ")[0].partition(". ")[0]
  return text if len(text) <= most else f"{text[:most - 3].rstrip()}..."


def show_method(method: methods.Method, protocol: str, *, as_json: bool = False) -> None:
  """Prints a method's facts and its settings."""
  settings = method_settings.of(method, protocol).values()
  if as_json:
    print(json.dumps({
        "name": method.name, "title": method.title, "paper": method.paper,
        "protocols": method.protocols, "settings": [
            {"name": one.name, "value": one.value, "kind": one.kind, "unit": one.unit,
             "meaning": one.meaning, "parameter": one.parameter} for one in settings]}, indent=1))
    return
  paper = f" ({method.paper})" if method.paper else ""
  print(f"{method.name}: {method.title}{paper}; {' '.join(method.protocols)}\n")
  print(parsing.table_text(["setting", "default", "type", "unit", "meaning"], [
      [one.name, str(one.value), one.kind, one.unit, one.meaning] for one in settings]))
