# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/records.md from suite/metrics/schema.py: the keys of each kind of event.

    python tools/make_records_page.py             writes the page
    python tools/make_records_page.py --check     fails if it is out of date
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
import pathlib
import sys
from typing import Any

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import made_page

from suite.metrics import schema

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "records.md"
_HEAD = """# Records

Made by `tools/make_records_page.py` from `suite/metrics/schema.py`; do not edit.

`WORKDIR/LEARNER/records.jsonl` has one line, a JSON object, for each event of a run. The keys of
all events come first, then the keys of each kind of event. A key is left out where it does not
apply. A record also has the costs of each phase so far, such as `flops_train` or `seconds_predict`
([flops.md](flops.md)), values that the learner returns after its training, such as
`condition_number`, and the metrics of the user ([your metric](own/protocol.md#a-metric)).
"""


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--check", action="store_true", help="only compare")
  args = parser.parse_args(arguments)
  return made_page.finish(PAGE, page(), args.check,
                          "stale. Run: python tools/make_records_page.py")


def page() -> str:
  """Renders the page."""
  kinds = [(kind, list(kind.__annotations__)) for kind in schema.KINDS]
  common = [key for key in kinds[0][1] if all(key in keys for _, keys in kinds)]
  parts = [_HEAD, "\n## All events\n\n", *_table(common)]
  for kind, keys in kinds:
    parts += [f"\n## {kind.__name__}\n\n{kind.__doc__}\n\n",
              *_table(key for key in keys if key not in common)]
  return "".join(parts)


def _table(keys: Iterable[str]) -> list[str]:
  rows = [(f"`{name}`", _text(schema.KEYS[name].type), *schema.KEYS[name][1:]) for name in keys]
  return [f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in (
      ("key", "type", "unit", "meaning"), ("---",) * 4, *rows)]


def _text(type_: Any) -> str:
  return getattr(type_, "__name__", "any").replace("Any", "any")


if __name__ == "__main__":
  sys.exit(main())
