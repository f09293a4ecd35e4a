# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the first lines of a run file say of it, for people and for `suite list`.

    # CLEAR on three buckets of scikit-learn's digits.
    # Cost: 25 s on 2 CPU cores | Hardware: cpu | Data: digits | Gave: in-domain 0.94

A line that is too long continues in the comment lines after it. "Cost" is what somebody has
measured, and where; "not run" if nobody has. "Hardware" is what it is meant for, "Data" what must
be there before, "Gave" a score or the page that has it.
"""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import re

from suite.configs import gin_files
from suite.contracts import deliveries
from suite.contracts import descriptions

BENCHMARKS = (*(name for name, one in descriptions.SHIPPED.items()
                if one.delivery != deliveries.PORTIONS), "leaderboard")
HARDWARE = ("cpu", "gpu")
OTHERS = "others"
_START = "# Cost:"
_PROTOCOL = re.compile(r"^experiment\.run\.protocol\s*=\s*@(\w+)\.run\b", re.MULTILINE)
_FIELDS = ("cost", "hardware", "data", "gave")


@dataclasses.dataclass(frozen=True)
class Header:
  """The facts of a run file; "" where it does not say.

  Attributes:
    name: short name. what: the description. benchmark: one of `BENCHMARKS`, or `OTHERS`.
    cost, hardware, data, gave: see the module.
  """

  name: str
  what: str
  benchmark: str
  cost: str = ""
  hardware: str = ""
  data: str = ""
  gave: str = ""


def read(name: str, path: pathlib.Path) -> Header:
  """The header of a run file.

  Raises:
    ConfigError: its line "# Cost:" has other fields.
  """
  lines = itertools.takewhile(lambda line: line.startswith("#"), itertools.dropwhile(
      lambda line: not line.startswith(_START), path.read_text(encoding="utf-8").splitlines()))
  line = " ".join(line.lstrip("# ") for line in lines)
  what = gin_files.description(path)
  # The benchmark is the folder's; the digits' runs say it by name, and a run without a folder by
  # its protocol.
  folder, _, stem = name.rpartition("/")
  first = stem.split("_")[0] if folder == "digits" else folder
  if not folder:
    found = _PROTOCOL.search(path.read_text(encoding="utf-8"))
    first = found[1] if found else ""
  benchmark = first if first in BENCHMARKS else OTHERS
  if not line:
    return Header(name, what, benchmark)
  parts = [part.partition(":") for part in line.split(" | ")]
  if tuple(key.strip().lower() for key, _, _ in parts) != _FIELDS:
    raise gin_files.ConfigError(
        f"{path}: {line!r} is not '# Cost: TEXT | Hardware: cpu or gpu | Data: NAMES | Gave: "
        "TEXT'. Write it so, or leave it out.")
  return Header(name, what, benchmark, *(value.strip() for _, _, value in parts))


def shipped() -> list[Header]:
  """The headers of all shipped run files, by benchmark."""
  found = [read(name, path) for name, path in gin_files.run_files().items()]
  order = (*BENCHMARKS, OTHERS)
  return sorted(found, key=lambda header: order.index(header.benchmark))
