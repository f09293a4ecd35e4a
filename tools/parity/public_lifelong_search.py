# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Orders, cuts and errors of the published Sort & Search script, for `tools/parity lifelong`.

The script's functions run unmodified. Its module `utils`, which seeds, was not published, and it is
not called here; pandas and tqdm, which only its main program uses, may be missing.

Settings: `what` (orders, cuts, search), `budgets`, `recursive_on_known`.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import public_code


def answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
           ) -> public_code.Arrays:
  """Returns the arrays of `settings["what"]`.

  orders: of `answers` int8 [M, N] and its `known` rows: "sum" and "recursive" int64 [N], the latter
    as published, with all rows, and "recursive_known", with the known rows alone.
  cuts: "index" of the threshold of each of the rows `answers` [S, n] in rank order.
  search: of `answers` [S, N] and an `order` [N], by budget: "positions_B", "errors_B" [S] and
    "accuracies_B" [S], in percent, of the sample-level prediction.
  """
  import numpy as np
  sys.path.insert(0, str(checkout / "src"))
  with public_code.stand_ins("utils", "tqdm", "pandas"):
    import sort_and_search as script
  rows, what = arrays["answers"].astype(np.int8), settings["what"]
  if what == "cuts":
    return {"index": script.dynamic_programming_threshold(rows)}
  if what == "orders":
    known = arrays["known"]
    return {"sum": script.sum_ranking(rows, known),
            "recursive": script.recursive_sum_ranking(rows, known),
            "recursive_known": script.recursive_sum_ranking(
                rows[known], np.arange(len(known)))}
  found = {}
  for budget in settings["budgets"]:
    _, _, errors, accuracies = script.do_search_subsampled(rows, arrays["order"], budget)
    found[f"errors_{budget}"], found[f"accuracies_{budget}"] = errors, accuracies
    found[f"positions_{budget}"] = script.uniform_sampling(rows.shape[1], budget)
  return found


if __name__ == "__main__":
  sys.exit(public_code.serve(answer, packages=("numpy",)))
