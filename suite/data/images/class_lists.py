# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The names of the classes of image sets, and how sets are joined by them.

A label is a number, and its meaning is the place of a name in the set's list of classes. Folders
{cat, dog} and {dog, eel} both have a class 1, which is not the same. Sets that share one head
(buckets, the splits of a task, a sequence and its base classes) are therefore given one list
before they are joined:

  all sets have names   the list is the first set's, followed by the names that each later set adds,
                        in that set's order; labels are renumbered by name
  no set has names      labels are joined as the numbers that they are
  some sets have names  an error: nothing says which number is which name
"""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import re
from typing import Any

import numpy as np

from suite.contracts import tasks

ClassNames = Sequence[str] | None
_SHOWN = 8  # Names in a message.


def checked(name: str, class_names: ClassNames, num_classes: int) -> tuple[str, ...] | None:
  """The C names of the classes of set `name`, all different; None if there are none."""
  if class_names is None:
    return None
  if isinstance(class_names, str):
    raise ValueError(f"class_names of {name!r} is the text {class_names!r}; give a list of names, "
                     "one for each class.")
  names = tuple(map(str, class_names))
  if len(names) != num_classes:
    raise ValueError(f"{name!r} has {num_classes} classes and {len(names)} names of classes "
                     f"({shown(names)}); give one name for each.")
  twice = sorted({one for one in names if names.count(one) > 1}) if len(set(names)) < len(
      names) else []
  if twice:
    raise ValueError(f"{name!r} has the class names {shown(twice)} more than once; give each class "
                     "a name of its own.")
  return names


def known(class_names: ClassNames) -> tuple[str, ...] | None:
  """The names; None for those that only repeat the numbers, "0", "1", ..., as TFDS makes them."""
  if not class_names or all(one == str(i) for i, one in enumerate(class_names)):
    return None
  return tuple(class_names)


def replaced(name: str, own: ClassNames, class_names: ClassNames) -> ClassNames:
  """The new names of the classes of a set.

  Raises:
    ValueError: names that are numbers are taken away, and the labels are other numbers.
  """
  if class_names is None and known(own) is not None and _are_numbers(own or ()):
    raise ValueError(
        f"The classes of {name!r} are named {shown(own or ())}, and without names they would be "
        f"0..{len(own or ()) - 1}. Keep the names, or read the table with labels='numbers'.")
  return class_names


def _are_numbers(names: Sequence[str]) -> bool:
  return all(re.fullmatch("[0-9]+", one) for one in names)


def of(images: Any) -> tuple[str, ...] | None:
  """The names of the classes of a labeled set; None if it has none."""
  names = getattr(images, "class_names", None)  # A user's own kind of set may not have it.
  return tuple(names) if names else None


def shown(names: Sequence[str]) -> str:
  """Names for a message; the first ones if they are many."""
  end = f", ... ({len(names)} in all)" if len(names) > _SHOWN else ""
  return ", ".join(repr(str(one)) for one in names[:_SHOWN]) + end


def joined(sets: Sequence[Any], where: str) -> tuple[str, ...] | None:
  """The list of classes that sets share, as the module describes; None: by number.

  Args:
    sets: labeled sets.
    where: begins a message, such as "buckets.of".
  """
  named = [one for one in sets if of(one) is not None]
  if not named:
    return None
  bare = [one for one in sets if of(one) is None]
  if bare:
    raise ValueError(
        f"{where} is to join {named[0].name!r}, whose classes are {shown(of(named[0]) or ())}, "
        f"with {bare[0].name!r}, whose {bare[0].num_classes} classes have no names, so that nothing"
        " says which number is which class. Give the latter names: images.with_class_names([...])"
        + (", or read the table by class numbers: labels='numbers'."
           if _are_numbers(of(named[0]) or ()) else "."))
  return tuple(dict.fromkeys(name for one in named for name in of(one) or ()))


def check_covered(sets: Sequence[Any], where: str) -> None:
  """Refuses sets with names that are partly the same: a misspelled name would be one more class.

  One of the sets has all names, or any two have the same classes, some of the other's, or none of
  them, as class-incremental tasks have.

  Args:
    sets: labeled sets, with names or without.
    where: as of `joined`.
  """
  names = joined(sets, where)
  if names is None or any(len(of(one) or ()) == len(names) for one in sets):
    return
  lists = {of(one) or (): one for one in sets}
  for first, other in itertools.combinations(lists, 2):
    shared = {one.strip().casefold() for one in first} & {one.strip().casefold() for one in other}
    if shared and not (set(first) <= set(other) or set(other) <= set(first)):
      raise ValueError(
          f"{where}: the classes of {lists[first].name!r} are {shown(first)}, and those of "
          f"{lists[other].name!r} are {shown(other)}: each has some that the other has not. If that"
          " is meant, and is no misspelled name, give the list of all classes: class_names=[...].")


def aligned(sets: Sequence[Any], where: str) -> list[Any]:
  """The sets, in order, with one list of classes; see `joined`."""
  names = joined(sets, where)
  if names is None:
    return list(sets)
  return [one if of(one) == names else one.with_classes(names) for one in sets]


def places(name: str, own: ClassNames, wanted: Sequence[str]) -> np.ndarray:
  """int64 [C], the number that each class of a set has in the list `wanted`."""
  if own is None:
    raise ValueError(f"The classes of {name!r} have no names, so they cannot be found in "
                     f"{shown(wanted)}. Give names: images.with_class_names([...]).")
  number = {one: place for place, one in enumerate(wanted)}
  missing = [one for one in own if one not in number]
  if missing:
    raise ValueError(f"{name!r} has the classes {shown(own)}; {shown(missing)} are not among the "
                     f"classes wanted, {shown(wanted)}. Leave their images out, or add the names.")
  return np.array([number[one] for one in own], np.int64)


def renumbered(labels: np.ndarray, kind: str, new: np.ndarray, num_classes: int) -> np.ndarray:
  """Labels [N], or multi-hot [N, C], as numbers of a list of `num_classes`; see `places`."""
  if kind == tasks.SINGLE_LABEL:
    return new[labels]
  wide = np.zeros([len(labels), num_classes], labels.dtype)
  wide[:, new] = labels
  return wide
