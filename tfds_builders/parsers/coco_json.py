# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tables in the format of COCO: images, categories, and annotations that connect them.

The largest has 470 MB of text, and ten times that as Python objects, so its entries are read one by
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
import json
import json.decoder
import pathlib
from typing import Any

from tfds_builders import errors
from tfds_builders.parsers import archives

MAX_BYTES = 1 << 30


def tables(paths: Mapping[str, pathlib.Path], endings: Iterable[str], take: Callable[..., Any]
           ) -> dict[str, Any]:
  """Applies `take` to the tables whose names have these endings.

  Args:
    paths: file name -> path; every archive is searched.
    endings: of the names of tables.
    take: called with the location of a table and an iterator over its (part, entry), such as
      ("annotations", {"image_id": 3, ...}); it may raise KeyError, TypeError or ValueError for
      an incomplete entry, which becomes a DataError.
  """
  endings = list(endings)
  found: dict[str, Any] = {}
  for path in paths.values():
    for name, data in archives.members(
        path, lambda name: any(name.endswith(ending) for ending in endings), MAX_BYTES):
      where = f"{path}, member {name!r}"
      ending = next(one for one in endings if name.endswith(one))
      try:
        found[ending] = take(where, entries(data.decode("utf-8")))
      except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
        raise errors.DataError(f"{where} is not a table in COCO's format: {type(error).__name__}: "
                               f"{error}. Get the archive again.") from error
  lacking = sorted(set(endings) - set(found))
  if lacking:
    raise errors.DataError(f"{' and '.join(map(str, paths.values()))} are missing the tables "
                           f"{lacking}: incomplete, or another edition. Get them again.")
  return found


def entries(text: str) -> Iterator[tuple[str, Any]]:
  """Yields (key, element) of every list in a JSON object, in the text's order; skips the rest."""
  decoder = json.JSONDecoder()
  skip = json.decoder.WHITESPACE.match  # type: ignore[attr-defined]

  def after(place: int, wanted: str) -> int:
    """Returns the position of the next token after one of these characters."""
    place = skip(text, place).end()
    if text[place] not in wanted:
      raise ValueError(f"{text[place]!r} at {place}, where one of {wanted!r} was expected")
    return skip(text, place + 1).end()

  place = after(0, "{")
  while text[place] != "}":
    key, place = decoder.raw_decode(text, place)
    place = after(place, ":")
    if text[place] == "[":
      place = after(place, "[")
      while text[place] != "]":
        element, place = decoder.raw_decode(text, place)
        yield key, element
        place = skip(text, place).end()
        if text[place] != "]":
          place = after(place, ",")
      place += 1
    else:
      _, place = decoder.raw_decode(text, place)
    place = skip(text, place).end()
    if text[place] != "}":
      place = after(place, ",")
