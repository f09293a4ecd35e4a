# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Labels as users have them, read as class numbers and names of classes.

  [0, 2, 1]                    class numbers
  ["cat", "dog", "cat"]        names; the classes are the sorted names, numbers by value
  [[0, 1], [1, 0]]             one-hot rows, as Keras's label_mode="categorical" makes them
  [[0.], [1.]]                 Keras's label_mode="binary"
  multi_label:
  [[0, 1, 1], [1, 0, 0]]       multi-hot rows
  [[1, 2], [0]]                lists of class numbers, such as Hugging Face's Sequence(ClassLabel)
  [["cat", "dog"], ["cat"]]    lists of names

What says that an image has no label (-1, None, NaN, an empty text) is refused.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
import re
from typing import Any, NamedTuple

from absl import logging
import numpy as np

from suite.contracts import tasks
from suite.data.images import class_lists

SEPARATORS = (";", "|", ",")  # Of several labels in one text.
_MANY = 10_000  # Classes that a head may have without a word, if most have no image.


class Labels(NamedTuple):
  """Labels of N images.

  Attributes:
    values: int64 [N], or for several labels an image uint8 [N, C] of 0 and 1.
    num_classes: C.
    class_names: C names; None: not known.
  """

  values: np.ndarray
  num_classes: int
  class_names: class_lists.ClassNames


def read(name: str, given: Any, kind: str, *, num_classes: int | None = None,
         class_names: class_lists.ClassNames = None) -> Labels:
  """Reads labels in one of the forms above.

  Args:
    name: of the set, for messages.
    given: the labels.
    kind: "single_label" or "multi_label".
    num_classes: C, if it is known.
    class_names: names in the order of the labels, if they are known.

  Raises:
    ValueError: what is in none of the forms, and what to write instead.
  """
  if given is None:
    raise ValueError(f"{name!r} has no labels; give a class number or a name for each image.")
  num_classes = num_classes or len(class_names or ()) or None
  if kind == tasks.MULTI_LABEL and _are_lists_of_names(given):
    found = in_order({str(one) for row in given for one in row})
    names = found if class_names is None else list(map(str, class_names))
    number = dict(zip(found, class_lists.places(name, found, names)))
    rows = [[number[str(one)] for one in row] for row in given]
    return Labels(multi_hot(rows, len(names)), len(names), names)
  if len({np.shape(row) for row in given}) > 1:
    if kind == tasks.SINGLE_LABEL:
      raise ValueError(f"{name!r} has labels that are lists of several lengths. If they are the "
                       "classes of an image say kind='multi_label'; else give one class an image.")
    given = multi_hot(given, num_classes)
  labels = _plain(name, np.asarray(given))
  if labels.dtype.kind == "U":
    if labels.ndim != 1 or kind != tasks.SINGLE_LABEL:
      raise ValueError(f"{name!r} has the label {labels[0].tolist()!r}; an image has one name, or "
                       "for kind='multi_label' a list of names: [['cat', 'dog'], ['cat']].")
    _refuse_unlabelled(name, np.char.str_len(np.char.strip(labels)) == 0, "empty", "labels != ''")
    found, places = np.unique(labels, return_inverse=True)
    names = in_order(found.tolist()) if class_names is None else list(map(str, class_names))
    return Labels(class_lists.places(name, found.tolist(), names)[places], len(names), names)
  if labels.ndim == 2 and labels.size and np.isin(labels, (0, 1)).all():
    width = labels.shape[1]
    if kind != tasks.SINGLE_LABEL:
      return Labels(labels.astype(np.uint8), num_classes or width, class_names)
    if width > 1 and (labels.sum(axis=1) == 1).all():
      return Labels(labels.argmax(axis=1), num_classes or width, class_names)
    if width == 1 and labels.dtype.kind == "f":  # label_mode="binary".
      return Labels(labels[:, 0].astype(np.int64), num_classes or 2, class_names)
  if labels.ndim == 2 and kind == tasks.SINGLE_LABEL:
    how = ("np.argmax(labels, axis=1), if each row has one class" if labels.shape[1] > 1
           else "labels[:, 0]")
    raise ValueError(f"{name!r} has labels of shape {list(labels.shape)}, not all of them one-hot; "
                     f"one class an image is a number: {how}. For several classes an image say "
                     "kind='multi_label'.")
  if labels.dtype.kind == "f":
    _refuse_unlabelled(name, np.isnan(labels), "NaN", "~np.isnan(labels)")
    raise ValueError(f"{name!r} has labels of type {labels.dtype}; give class numbers from 0, as "
                     "integers: labels.astype('int64') if they are whole numbers.")
  if kind == tasks.SINGLE_LABEL and labels.ndim == 1 and labels.size:
    _refuse_unlabelled(name, labels == -1, "-1", "labels >= 0")
    _check_numbers(name, labels, num_classes)
  if kind != tasks.SINGLE_LABEL and labels.ndim == 1 and labels.size:
    raise ValueError(f"{name!r} has labels of shape {list(labels.shape)}; kind={kind!r} takes rows "
                     "of 0 and 1, a place for each class, or lists of class numbers.")
  width = labels.shape[1] if labels.ndim == 2 else int(labels.max()) + 1 if labels.size else 0
  return Labels(labels, num_classes or width, class_names)


def _are_lists_of_names(given: Any) -> bool:
  return all(isinstance(row, (list, tuple, np.ndarray)) for row in given) and any(
      isinstance(one, str) for row in given for one in row)


def in_order(names: Iterable[str]) -> list[str]:
  """Names of classes, sorted; numbers by value, if all names are numbers."""
  found = sorted(names)
  if all(re.fullmatch("[0-9]+", one) for one in found):
    found.sort(key=int)
  return found


def _check_numbers(name: str, labels: np.ndarray, num_classes: int | None) -> None:
  """Refuses class numbers that are something else, and warns of some that may be."""
  lowest, highest, num = int(labels.min()), int(labels.max()), len(np.unique(labels))
  how = "np.unique(labels, return_inverse=True)[1]"
  if lowest < 0:
    raise ValueError(f"{name!r} has labels from {lowest} to {highest}; class numbers count from 0: "
                     f"{how}.")
  if num_classes is None and highest >= max(_MANY, 10 * num):
    raise ValueError(f"{name!r} has {num} different labels from {lowest} to {highest}: these are "
                     f"ids, not class numbers. Give {how}, or names of classes, such as the ids as "
                     "text.")
  if num_classes is None and lowest > 0:
    logging.warning("%s has labels from %d to %d and no image of class 0, which counts as a "
                    "class. If its labels count from %d, give labels - %d.", name, lowest, highest,
                    lowest, lowest)


def _plain(name: str, labels: np.ndarray) -> np.ndarray:
  """Labels as numbers or as text ("U"); objects that are neither are refused."""
  if labels.dtype.kind == "S":
    return np.char.decode(labels, "utf-8")
  if labels.dtype.kind == "b":
    return labels.astype(np.int64)
  if labels.dtype.kind != "O":
    return labels
  flat = [one.decode() if isinstance(one, bytes) else one for one in labels.reshape(-1).tolist()]
  empty = np.array([one is None or str(one) in ("nan", "<NA>", "NaT") for one in flat], bool)
  _refuse_unlabelled(name, empty, "empty (None or NaN)", "[label is not None for label in labels]")
  types = sorted({type(one).__name__ for one in flat})
  if types not in (["str"], ["int"], ["bool"], ["float"]):
    raise ValueError(f"{name!r} has labels of the types {', '.join(types)}; give a class number "
                     "for each image, or for each the name of its class. For several classes an "
                     "image say kind='multi_label'.")
  return np.array(flat).reshape(labels.shape)


def joined(labels: Iterable[str]) -> set[str]:
  """Those labels that look like several, such as "cat;dog".

  A comma is in names, too, such as "maillot, tank suit": all parts must be other labels, or parts
  of others.
  """
  different = set(labels)
  found = set()
  for mark in SEPARATORS:
    parts = {label: [one.strip() for one in label.split(mark)]
             for label in different if mark in label}
    counts = collections.Counter(
        part for label in different for part in {label, *parts.get(label, ())})
    found |= {label for label, own in parts.items()
              if mark != "," or all(counts[part] > 1 for part in own)}
  return found


def multi_hot(rows: Any, num_classes: int | None) -> np.ndarray:
  """Lists of class numbers -> uint8 [N, C]."""
  different = {int(one) for row in rows for one in row}
  width = num_classes or 1 + max(different, default=0)
  if different and (min(different) < 0 or max(different) >= width
                    or num_classes is None and width > max(_MANY, 10 * len(different))):
    raise ValueError(f"Lists of class numbers have {len(different)} from {min(different)} to "
                     f"{max(different)}; allowed are 0..{(num_classes or _MANY) - 1}. Give names "
                     "of classes, such as ids as text, or all class_names.")
  found = np.zeros([len(rows), width], np.uint8)
  for place, row in enumerate(rows):
    found[place, np.asarray(row, np.int64)] = 1
  return found


def _refuse_unlabelled(name: str, missing: np.ndarray, what: str, keep: str) -> None:
  num, part = int(missing.sum()), "" if missing.all() else " in part"
  if num:
    raise ValueError(
        f"{name!r} is unlabelled{part}: {num} of {missing.size} labels are {what}, which stands "
        f"for no label. Leave these images out (keep = {keep}), or take another split: those for a "
        "competition's test often have no labels.")
