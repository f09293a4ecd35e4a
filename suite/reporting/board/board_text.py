# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Texts for TensorBoard, in its Markdown: the configuration and the environment of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def code(text: str) -> str:
  """The text as a code block."""
  return "\n".join(f"    {line}" for line in text.splitlines())


def environment(values: Mapping[str, Any]) -> str:
  """A table of environment.json: command, seed, device, arithmetic, versions."""
  rows: list[tuple[str, Any]] = []
  for name, value in values.items():
    if isinstance(value, Mapping):
      rows += [(f"{name}: {key}", entry) for key, entry in value.items()]
    else:
      rows.append((name, ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value))
  return table(("", "value"), ((name.replace("_", " "), f"`{value}`") for name, value in rows))


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
  """A Markdown table; a bar within a cell would begin another one and is escaped."""
  lines = [header, ["---"] * len(header), *rows]
  return "\n".join(f"| {' | '.join(str(c).replace('|', chr(92) + '|') for c in line)} |"
                   for line in lines)
