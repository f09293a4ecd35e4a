# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which additions of an accuracy cache are joined to one file, so that few files remain.

Additions of one kind at the end of the log (models without samples after them, or samples without
models after them) are joined in levels: as soon as 16 of fewer than 16^(l + 1) rows or columns are
last, they become one. An answer is rewritten about once a level, so n additions cost O(n log n)
and leave at most 16 files a level. Additions of both kinds in alternation form no such row; as soon
as there are `MOST`, the whole cache is written again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any

FANOUT = 16
MOST = 512
# Joined files stay below this, so that no addition waits long for the disk.
LARGEST_BYTES = 1 << 28


def rows_a_file(num_samples: int) -> int:
  """Number of models whose answers to all samples go to one file of a cache that is rewritten."""
  return max(1, LARGEST_BYTES // (2 * (num_samples + 7) // 8))


def is_scattered(num_lines: int, num_models: int, num_samples: int) -> bool:
  """Whether there are so many additions that the whole cache is written again."""
  files = 1 + math.ceil(num_models / rows_a_file(num_samples))
  return num_lines > MOST and 2 * files <= num_lines


def kind(line: Mapping[str, Any]) -> str:
  """What a line of the log adds: "models" or "samples"."""
  return "samples" if line.get("samples") else "models"


def size(line: Mapping[str, Any]) -> int:
  """Number of models or samples that a line adds."""
  return line.get("samples") or len(line["models"])


def tail(lines: Sequence[Mapping[str, Any]]) -> int:
  """Number of lines at the end of the log that become one; 0: none."""
  level = 0
  while True:
    limit, num, num_bytes = FANOUT**(level + 1), 0, 0
    for line in reversed(lines):
      if kind(line) != kind(lines[-1]) or size(line) >= limit:
        break
      num_bytes += line["bytes"]
      if num_bytes > LARGEST_BYTES:
        break
      num += 1
    if num >= FANOUT:
      return num
    if num == len(lines) or num_bytes > LARGEST_BYTES or kind(lines[-num - 1]) != kind(lines[-1]):
      return 0
    level += 1


def joined(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """What a line that replaces several of one kind says, but for its files.

  `parts` keep the number and the state of each, so that counts made in between stay known.
  """
  parts = [part for line in lines for part in line.get("parts", [[size(line), line["state"]]])]
  made = {"after": lines[0]["after"], "state": lines[-1]["state"], "parts": parts}
  if kind(lines[0]) == "samples":
    return {"samples": sum(map(size, lines)), **made}
  return {"models": [name for line in lines for name in line["models"]], **made}
