# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""In what the configurations of work directories differ."""

from __future__ import annotations

import re

from suite.reporting import panel as panel_lib
from suite.reporting import run_streams
from suite.reporting import runs as runs_lib

FILES = ("operative_config.gin", "config.gin")
_BINDING = re.compile(r"^([\w./@]+)\s*=\s*(.*)$")


def bindings(text: str) -> dict[str, str]:
  """The bindings of a configuration as gin writes it, a value in one line each."""
  found: dict[str, str] = {}
  name = ""
  for line in text.splitlines():
    match = _BINDING.match(line)
    if match:
      name, found[match[1]] = match[1], match[2].rstrip("\\").strip()
    elif name and line.startswith(" "):
      found[name] = f"{found[name]} {line.strip().rstrip(chr(92)).strip()}".strip()
    elif line.strip():
      name = ""
  return found


def build(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel: a row for each binding of which two work directories have other values.

  Returns [] if all configurations are the same or there are none.
  """
  folders = list(dict.fromkeys(run.folder.parent for run in stream.runs))
  file = next((name for name in FILES if all((f / name).is_file() for f in folders)), None)
  if file is None or len(folders) < 2:
    return []
  configs = [bindings((folder / file).read_text(encoding="utf-8")) for folder in folders]
  names = sorted({name for config in configs for name in config})
  rows = [[name, *(config.get(name, "not set") for config in configs)] for name in names
          if len({config.get(name) for config in configs}) > 1]
  if not rows:
    return []
  return [panel_lib.Panel(
      "configuration", f"{stream.title}: differences between configurations",
      [panel_lib.Column("binding"),
       *(panel_lib.Column(label) for label in runs_lib.labels(folders))],
      rows, [f"Read from {file} of each work directory; bindings with one value are left out."])]
