# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes the example of a leaderboard in the documentation: small runs, bundles, verification, site.

    python tools/leaderboard_site.py docs/results/leaderboard_site

Runs are of `digits/clear` on three buckets, three seeds each: two methods with gradients, one of
them within a budget, too, and two without, one of them asked a part of the test images. What is
verified differs, so that every badge is there.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import sys
import tempfile
from typing import Any, NamedTuple

from suite.running import python_run
from suite.submissions import bundle
from suite.submissions import site
from suite.submissions import verification

RUN, SEEDS = "digits/clear", (0, 1, 2)
PARAMS, SHORT = ("digits.buckets.num_buckets=3",), ("EPOCHS=2",)
ABOUT = bundle.About(license="CC0-1.0", contact="nobody@example.org", title="an example")
_DRAW = 5


class _Entry(NamedTuple):
  """A bundle.

  Attributes:
    name: of its file.
    method: the only method of its runs.
    params: further settings.
    verified: arguments of `verification.verify`; None: nobody has verified it.
  """

  name: str
  method: str
  params: tuple[str, ...] = ()
  verified: dict[str, Any] | None = None


ENTRIES = (
    _Entry("er", "er", SHORT, {"replay": 3}),
    _Entry("er_400_mflop", "er", (*SHORT, "experiment.run.budget='400 MFLOP'"), {}),
    _Entry("finetune", "finetune", SHORT),
    _Entry("ncm", "ncm", verified={"recompute": False}),
    _Entry("slda_48_answers", "slda", ("clear.run.test_answers=48",), verified={"replay": 2}))


def make(folder: pathlib.Path) -> None:
  """Runs, packs and verifies; bundles and what was found lie in a folder."""
  for entry in ENTRIES:
    work = folder / "runs" / entry.name
    for seed in SEEDS:
      python_run.run(RUN, learners=[entry.method], workdir=work / str(seed), keep="states=2",
                     params=[*PARAMS, *entry.params, f"experiment.run.seed={seed}"])
    path = folder / "bundles" / f"{entry.name}.zip"
    path.parent.mkdir(exist_ok=True)
    bundle.pack(work, path, ABOUT)
    if entry.verified is not None:
      found = verification.verify(path, seeds=SEEDS, states=work, draw=_DRAW, **entry.verified)
      if found.failed:
        raise SystemExit(f"{entry.name}: {verification.text(found)}")
      path.with_suffix(".json").write_text(json.dumps(found.values()), encoding="utf-8")


def main() -> int:
  parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
  parser.add_argument("out", type=pathlib.Path)
  out = parser.parse_args().out
  with tempfile.TemporaryDirectory() as scratch:
    make(pathlib.Path(scratch))
    shutil.rmtree(out, ignore_errors=True)
    lines = site.build(pathlib.Path(scratch, "bundles"), out, "Digits, an example", figures=False)
  print("\n".join(lines))
  return 0


if __name__ == "__main__":
  sys.exit(main())
