# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Templates of names, such as "{split}/{label}/{item}.jpg", as regular expressions.

A field in braces matches a part of a name; all other characters match themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import re
from typing import Any

from tfds_builders import errors
from tfds_builders.parsers import archives

PIECE = "[^/]+"  # A part of a name without a slash, as long as possible.

_FIELD = re.compile(r"\{(\w+)\}")


def fields(template: str) -> list[str]:
  """Returns the names of the fields, in the order of the template."""
  return _FIELD.findall(template)


def one_of(names: Iterable[str]) -> str:
  """Returns an expression that matches any of these names, the longest first."""
  return "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))


def expression(template: str, matches: Mapping[str, str] | None = None, *, other: str = PIECE,
               named: Collection[str] | None = None) -> str:
  """Returns the regular expression of a template, with a named group for each field.

  Args:
    template: with fields in braces.
    matches: field -> the expression of what it matches.
    other: the expression of fields that `matches` does not list.
    named: the fields that become groups; None: all of them.
  """
  out = ""
  for index, piece in enumerate(_FIELD.split(template)):
    if index % 2 == 0:
      out += re.escape(piece)
    else:
      found = (matches or {}).get(piece, other)
      out += f"(?P<{piece}>{found})" if named is None or piece in named else f"(?:{found})"
  return out


def ending(template: str, matches: Mapping[str, str] | None = None, *, other: str = PIECE,
           extensions: Sequence[str] = ()) -> re.Pattern[str]:
  """Returns the pattern of names that end like the template; any folders may come before it.

  Args:
    template, matches, other: as in `expression`.
    extensions: that follow the template ("jpg"), in small or capital letters. (): none, or the
      template has one.

  Returns:
    A pattern to search for. Its group "key" is the part of a name that the template matches.
  """
  end = f"\\.(?i:{one_of(extensions)})" if extensions else ""
  return re.compile(f"(?:^|/)(?P<key>{expression(template, matches, other=other)}){end}$")


def filled(template: str, values: Mapping[str, Any]) -> str:
  """Fills the template with values; fields without a value become "a"."""
  return template.format_map({**dict.fromkeys(fields(template), "a"), **values})


def matching(path: Any, pattern: re.Pattern[str], template: str, *, images: re.Pattern[str],
             ignore: re.Pattern[str], others: bool = False
             ) -> Iterator[tuple[re.Match[str], str, bytes]]:
  """Yields (match, where, content) of the images of an archive whose names match a pattern.

  Args:
    path: of the archive.
    pattern: made of the template.
    template: for messages.
    images: pattern to search for in the names of images; other members are not read.
    ignore: pattern to search for in the names of images that are not examples.
    others: whether images that do not match are allowed.

  Raises:
    errors.DataError: no image matches, or one does not and `others` is false.
  """
  num_matched = 0
  unmatched: list[str] = []
  others_seen: list[str] = []

  def is_image(name: str) -> bool:
    if images.search(name) is None:
      others_seen.append(name)
      return False
    return True

  for name, data in archives.members(path, is_image):
    if ignore.search(name):
      continue
    match = pattern.search(name)
    if match is None:
      unmatched.append(name)
      continue
    num_matched += 1
    yield match, f"{path}, member {name!r}", data
  if (unmatched and not others) or not num_matched:
    inside = "" if unmatched or num_matched else (
        f"; its {len(others_seen)} files are no images: {sorted(others_seen)[:3]}")
    raise errors.DataError(
        f"{path} has another layout than {template!r}: {num_matched} image files match, "
        f"{len(unmatched)} do not{f', such as {sorted(unmatched)[:3]}' if unmatched else inside}. "
        "It may be another edition of the data set, which needs its own layout in the row.")
