# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image sets that come together, as splits or periods of one source, such as a `DatasetDict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Dict

# The suite's names of splits, and what others call them.
_OTHERS = {"train": ("training", "train"), "dev": ("development", "dev"),
           "validation": ("valid", "val", "eval", "evaluation", "validation"),
           "test": ("testing", "test")}
_OURS = {other: ours for ours, others in _OTHERS.items() for other in others}


class SplitSets(Dict[str, Any]):
  """Image sets by the names of their splits ("train", "test") or periods ("2012", "2013").

  A value is an image set, or a `SplitSets` of a period.
  """

  def __init__(self, name: str, sets: Mapping[str, Any]):
    """`name`: of the source, for messages."""
    super().__init__(sets)
    self.name = name

  def __missing__(self, split: str) -> Any:
    raise KeyError(f"{self.name!r} has no set {split!r}; it has {', '.join(self)}.")

  def __getattr__(self, attribute: str) -> Any:
    if attribute.startswith("_"):  # copy and pickle look for these.
      raise AttributeError(attribute)
    raise AttributeError(
        f"{self.name!r} is not one image set but the sets {', '.join(self)}, and has no "
        f"{attribute!r}. Take one of them: sets[{next(iter(self), 'train')!r}].")


def our_names(name: str, splits: list[str]) -> dict[str, str]:
  """The suite's name of each split; names that it does not know stay.

  Raises:
    ValueError: two splits have one name.
  """
  found: dict[str, str] = {}
  for split in splits:
    ours = _OURS.get(split.strip().lower(), split)
    if ours in found.values():
      both = [one for one in found if found[one] == ours] + [split]
      raise ValueError(f"{name!r} has the splits {both[0]!r} and {both[1]!r}, which both mean "
                       f"{ours!r}. Rename one of them, or join them.")
    found[split] = ours
  return found


def is_known(split: str) -> bool:
  """Whether a text is the name of a split."""
  return split.strip().lower() in _OURS
