# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reads DIR/CLASS/**/IMAGE, and names what is nearly such a folder.

What systems leave in folders (`__MACOSX`, `._x.png`, `.DS_Store`, `Thumbs.db`,
`.ipynb_checkpoints`, ...) is left out. Refused, with what to do: splits (`train`, `val`) in place
of classes, images without class folders, names that are not UTF-8. Reported, a line
each: what is left out; files that are not read, by ending; copies of a file; classes whose names
differ only in case; a single class.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Sequence
import hashlib
import os
import pathlib
from typing import Any, NamedTuple
import unicodedata

from absl import logging

from suite.data.images import class_lists
from suite.data.images import own_images

_SPLITS = frozenset((
    "train", "training", "trn", "val", "valid", "validation", "dev", "test", "testing", "tst",
    "eval", "evaluation", "holdout", "held_out"))
_DEBRIS = frozenset((
    "__macosx", "__pycache__", "@eadir", "#recycle", "$recycle.bin", "system volume information",
    "lost+found", "thumbs.db", "ehthumbs.db", "desktop.ini", "picasa.ini", "icon\r"))
_SHOWN = 5
_COPIES = 0.01  # A share of identical files above which they are reported.


class ImageFile(NamedTuple):
  """An image file: its path below DIR, as text, and the number of its class."""

  path: pathlib.Path
  id: str
  label: int


class Folder(NamedTuple):
  """What a folder holds.

  Attributes:
    class_names: in the order of the labels.
    files: class by class, sorted by path.
    unread: {ending: ids} of files that are not read.
    debris: what systems left, and links to folders, which are not followed.
  """

  class_names: list[str]
  files: list[ImageFile]
  unread: dict[str, list[str]]
  debris: list[str]


def read(root: pathlib.Path, classes: Sequence[str] | None = None,
         endings: Sequence[str] = own_images.ENDINGS) -> Folder:
  """Lists the images of each class, after the checks above.

  Args:
    root: DIR.
    classes: names of the class folders in the order of their labels; None: all, sorted.
    endings: of image files, in lower case.
  """
  if not root.is_dir():
    what = f"{str(root)!r} is a file" if root.is_file() else f"There is no folder {str(root)!r}"
    raise FileNotFoundError(f"{what}; give a folder that holds a folder of images for each class, "
                            "unpacked.")
  unread: dict[str, list[str]] = collections.defaultdict(list)
  debris: list[str] = []
  loose: list[str] = []
  found: list[str] = []
  for entry in sorted(os.scandir(root), key=lambda one: one.name):
    if is_debris(entry.name):
      debris.append(entry.name)
    elif entry.is_dir():
      found.append(entry.name)
    elif entry.name.lower().endswith(tuple(endings)):
      loose.append(entry.name)
    else:
      unread[_ending(entry.name)].append(entry.name)
  # macOS writes "é" as two characters and other systems as one: a class has one name on all.
  folders = {unicodedata.normalize("NFC", one): one for one in found}
  found = list(folders)
  chosen = found if classes is None else [unicodedata.normalize("NFC", one) for one in classes]
  of_class = {one: list(_walk(root, folders[one], debris)) for one in chosen if one in found}
  if not any(name.lower().endswith(tuple(endings)) for ids in of_class.values() for name in ids):
    _refuse_no_images(root, found, chosen, loose, unread, of_class, endings)
  missing = sorted(set(chosen) - set(found))
  if missing:
    raise ValueError(f"{str(root)!r} has the class folders {found}, but not {missing}. It must hold"
                     " a folder of images for each class.")
  files: list[ImageFile] = []
  for label, one in enumerate(chosen):
    for name in of_class[one]:
      if name.lower().endswith(tuple(endings)):
        files.append(ImageFile(root / name, name.replace(os.sep, "/"), label))
      else:
        unread[_ending(name)].append(name)
  _refuse_text(root, [*chosen, *(file.id for file in files)])
  if classes is None:
    _refuse_splits(root, chosen, files)
  empty = sorted(set(chosen) - {chosen[file.label] for file in files})
  if empty:
    raise ValueError(f"{str(root)!r}: the class folders {empty} hold no image "
                     f"({', '.join(endings)}){_but(unread)}. Remove them, or name the others in "
                     "classes.")
  inner = sorted({file.id.split("/")[1] for file in files if file.id.count("/") > 1})
  if classes is None and len(chosen) == 1 and len(inner) > 1:
    raise ValueError(
        f"{str(root)!r} has one class folder, {chosen[0]!r}, which holds "
        f"{class_lists.shown(inner)}. If these are the classes, read "
        f"{str(root / chosen[0])!r}; if one class is meant, say classes=[{chosen[0]!r}].")
  folder = Folder(chosen, files, dict(unread), debris)
  _warn(root, folder, loose)
  return folder


def every_image(root: pathlib.Path, endings: Sequence[str] = own_images.ENDINGS) -> list[str]:
  """Paths below root of all image files but debris, sorted by folder, whatever the folders are."""
  return [os.path.normpath(name) for name in _walk(root, ".", [])
          if name.lower().endswith(tuple(endings))]


def is_debris(name: str) -> bool:
  """Whether a file or folder of this name was left by a system, or is hidden."""
  return name.startswith(".") or name.lower() in _DEBRIS


def _walk(root: pathlib.Path, folder: str, debris: list[str]) -> Iterator[str]:
  """Paths below root of the files of a folder, sorted; debris is noted and left out."""
  for place, folders, names in os.walk(root / folder):
    inside = os.path.relpath(place, root)
    for name in list(folders):
      if is_debris(name) or os.path.islink(os.path.join(place, name)):
        debris.append(os.path.join(inside, name))
        folders.remove(name)
    folders.sort()
    for name in sorted(names):
      if is_debris(name):
        debris.append(os.path.join(inside, name))
      else:
        yield os.path.join(inside, name)


def _ending(name: str) -> str:
  return pathlib.PurePath(name).suffix.lower() or "without an ending"


def counts(unread: dict[str, list[str]]) -> str:
  """ "3 x .heic, 1 x .txt"."""
  ordered = sorted(unread.items(), key=lambda item: (-len(item[1]), item[0]))
  return ", ".join(f"{len(ids)} x {one}" for one, ids in ordered)


def _but(unread: dict[str, list[str]]) -> str:
  return f", but {counts(unread)}" if unread else ""


def _refuse_no_images(
    root: pathlib.Path, found: Sequence[str], chosen: Sequence[str], loose: Sequence[str],
    unread: dict[str, list[str]], of_class: dict[str, list[str]], endings: Sequence[str]) -> None:
  if loose:
    raise ValueError(
        f"{str(root)!r} has {len(loose)} images, such as {safe(loose[0])!r}, and no class folder "
        "with images. Move the images of each class into a folder of its name, or give their labels"
        " in a table: suite.images.from_csv.")
  for names in of_class.values():
    for name in names:
      unread[_ending(name)].append(name)
  if ".tar" in unread:
    raise ValueError(
        f"{str(root)!r} holds .tar files, such as {safe(unread['.tar'][0])!r}, which are not "
        "read. If they are shards of a WebDataset, see docs/own/data.md; else unpack them.")
  missing = sorted(set(chosen) - set(found))
  what = (f"but not {missing}" if missing else
          f"none of images ({', '.join(endings)}){_but(unread)}")
  raise ValueError(f"{str(root)!r} has the class folders {[safe(one) for one in found]}, {what}. "
                   "It must hold a folder of images for each class.")


def safe(text: str) -> str:
  """Text that can be printed; bytes that are no UTF-8 as \\xe9."""
  return os.fsencode(text).decode("utf-8", "backslashreplace")


def _refuse_text(root: pathlib.Path, names: Sequence[str]) -> None:
  """Refuses names that are no UTF-8: ids are text."""
  bad = []
  for name in names:
    try:
      name.encode("utf-8")
    except UnicodeEncodeError:
      bad.append(name)
  if bad:
    more = f", ... ({len(bad)} in all)" if len(bad) > _SHOWN else ""
    shown = ", ".join(f"'{safe(name)}'" for name in bad[:_SHOWN])
    raise ValueError(f"{safe(str(root))!r} has names that are not UTF-8: {shown}{more}. Rename "
                     "them, for example by: convmv -f latin1 -t utf8 -r --notest DIR")


def _refuse_splits(root: pathlib.Path, chosen: Sequence[str], files: Sequence[ImageFile]) -> None:
  """Refuses folders of splits, each with class folders, in place of class folders."""
  splits = [one for one in chosen if one.lower() in _SPLITS]
  inside = {one: {file.id.split("/")[1] for file in files
                  if chosen[file.label] == one and file.id.count("/") > 1} for one in splits}
  classes = sorted(set().union(*inside.values()))
  # "train" beside "bus" is a class, but not if it has a folder "bus" itself.
  if not splits or not (
      len(splits) == len(chosen) or set(classes) & set(chosen)
      or len(splits) > 1 and all(inside.values())):
    return
  calls = ", ".join(f"from_directory({str(root / one)!r})" for one in splits)
  has = f"class folders such as {classes[0]!r} are in them" if classes else (
      "there are no class folders in them")
  raise ValueError(
      f"{str(root)!r} holds {', '.join(splits)}, which are splits and not classes ({has}). Read "
      f"each as a set: {calls}. If they are classes, say classes={list(chosen)}.")


def _warn(root: pathlib.Path, folder: Folder, loose: Sequence[str]) -> None:
  """Reports what is not read and what looks wrong, a line each."""
  title, names = safe(str(root)), folder.class_names
  if folder.unread:
    some = [safe(ids[0]) for ids in folder.unread.values()]
    logging.warning("%s: %d files are not read: %s; such as %s.", title, sum(
        map(len, folder.unread.values())), counts(folder.unread), ", ".join(some[:_SHOWN]))
  if len(names) == 1:
    logging.warning("%s: there is one class folder, %r, so there is nothing to tell apart. Give "
                    "the folder that holds a folder for each class, unless this set is joined with "
                    "others.", title, safe(names[0]))
  if loose:
    logging.warning("%s: %d images beside the class folders are not read, such as %s.", title,
                    len(loose), safe(loose[0]))
  if folder.debris:
    logging.warning("%s: left out what systems leave in folders, %d in all: %s%s", title,
                    len(folder.debris), ", ".join(map(safe, folder.debris[:_SHOWN])),
                    ", ..." if len(folder.debris) > _SHOWN else "")
  alike: dict[str, list[str]] = collections.defaultdict(list)
  for one in names:
    alike[one.strip().casefold()].append(one)
  twins = [group for group in alike.values() if len(group) > 1]
  if twins:
    logging.warning("%s: the classes %s differ only in case or blanks. Are they one class?", title,
                    "; ".join(class_lists.shown(group) for group in twins))
  inner = [{file.id.split("/")[1] for file in folder.files
            if file.label == label and file.id.count("/") > 1} for label in range(len(names))]
  shared = sorted(set.intersection(*inner)) if inner else []
  if len(shared) > 1:
    logging.warning(
        "%s: the classes %s hold the same folders, %s. If those are the classes, read each of the "
        "others as a set, for example as a bucket.", title, class_lists.shown(names),
        class_lists.shown(shared))


def warn_of_copies(title: str, ids: Sequence[str], labels: Sequence[Any], sizes: Sequence[int],
                   content: Callable[[int], bytes]) -> None:
  """Reports files that are byte for byte the same: any in two classes, else more than 1 of 100.

  Args:
    title: begins the message.
    ids, labels, sizes: of each file; only files of one size are compared.
    content: (number of a file) -> its bytes.
  """
  by_size: dict[int, list[int]] = collections.defaultdict(list)
  for place, size in enumerate(sizes):
    by_size[size].append(place)
  groups: dict[bytes, list[int]] = collections.defaultdict(list)
  for places in by_size.values():
    for place in places if len(places) > 1 else ():
      groups[hashlib.blake2b(content(place), digest_size=16).digest()].append(place)
  same = [places for places in groups.values() if len(places) > 1]
  across = [places for places in same if len({labels[place] for place in places}) > 1]
  num = sum(len(places) - 1 for places in same)
  if across or num > _COPIES * len(ids):
    first = (across or same)[0]
    pair = next(([first[0], other] for other in first if labels[other] != labels[first[0]]),
                first[:2])
    logging.warning(
        "%s: %d of %d image files are copies of others%s, such as %s and %s. Copies in training and"
        " test images make a score too high.", title, num, len(ids),
        f", {len(across)} of them of an image of another class" if across else "",
        ids[pair[0]], ids[pair[1]])
