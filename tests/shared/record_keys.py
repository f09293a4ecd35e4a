# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Keys of records that the schema does not have.

`import record_keys`: setup.cfg has this folder on the tests' path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from suite.compute import ledger
from suite.metrics import schema

_OF_PHASES = {f"{name}_{phase}" for name in ("flops", "macs", "examples", "steps", "seconds")
              for phase in ledger.PHASES}


def unknown(records: Iterable[Mapping[str, Any]]) -> set[str]:
  """The keys that no kind of event has: of each record, those beyond the kind that fits best.

  Costs of phases, and MACs in another view (docs/flops.md), are no keys of a kind.
  """
  kinds = [_OF_PHASES.union(kind.__annotations__) for kind in schema.KINDS]
  return set().union(*(
      min(({key for key in set(record) - kind if not key.startswith("macs_")} for kind in kinds),
          key=len) for record in records))
