# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lists of URLs of images, as users and CLEAR's archives have them.

  .txt              a URL a line
  .csv, .parquet    the column `url`; all other columns are kept
  .json             {id: {"DOWNLOAD_URL": ..., "DATE_UPLOADED": ...}}, as CLEAR's
                    all_metadata/3.json, whose name is the bucket
"""

from __future__ import annotations

from collections.abc import Sequence
import json
import pathlib
from typing import NamedTuple
import urllib.parse

from suite.curation import errors
from suite.curation import image_table

URL = "url"
_CLEAR_URL, _CLEAR_TIME = "DOWNLOAD_URL", "DATE_UPLOADED"
_SHOWN = 5


class Listed(NamedTuple):
  """A URL, and what the list says of its image, such as {"time": ..., "label": ...}."""

  url: str
  facts: dict[str, str]


def read(paths: Sequence[pathlib.Path]) -> list[Listed]:
  """Returns the URLs of some lists, each once, in their order.

  Raises:
    errors.CurationError: a list that is none, or URLs that are not http or https; it names them.
  """
  found: dict[str, Listed] = {}
  for path in paths:
    listed = _READERS.get(path.suffix, _read_lines)(path)
    wrong = [f"{number}: {one.url!r}" for number, one in enumerate(listed, start=1)
             if not _is_web(one.url)]
    if wrong:
      more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
      raise errors.CurationError(
          f"{path}: {len(wrong)} entries are no http or https addresses: "
          f"{', '.join(wrong[:_SHOWN])}{more}. Correct them, or leave them out.")
    for one in listed:
      found.setdefault(one.url, one)
  if not found:
    raise errors.CurationError(f"There is no URL in {', '.join(map(str, paths))}.")
  return list(found.values())


def host(url: str) -> str:
  """Returns the host of a URL, with its port."""
  return urllib.parse.urlsplit(url).netloc.rpartition("@")[2].lower()


def _is_web(url: str) -> bool:
  try:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(
        c.isspace() or ord(c) < 32 for c in url)
  except ValueError:
    return False


def _read_lines(path: pathlib.Path) -> list[Listed]:
  try:
    lines = path.read_text(encoding="utf-8").splitlines()
  except (OSError, UnicodeDecodeError) as error:
    raise errors.CurationError(f"{path} cannot be read as a list of URLs: {error}.") from error
  return [Listed(line.strip(), {}) for line in lines
          if line.strip() and not line.lstrip().startswith("#")]


def _read_table(path: pathlib.Path) -> list[Listed]:
  columns = image_table.read_columns(path)
  if columns.column_names.count(URL) != 1:
    raise errors.CurationError(f"{path} has the columns {columns.column_names}; needed is 'url', "
                               "once.")
  rows = [{name: "" if value is None else str(value).strip() for name, value in row.items()}
          for row in columns.to_pylist()]
  return [Listed(row.pop(URL), row) for row in rows]


def _read_metadata(path: pathlib.Path) -> list[Listed]:
  try:
    metadata = json.loads(path.read_text(encoding="utf-8"))
    return [Listed(str(one[_CLEAR_URL]).strip(),
                   {"id": name, "time": str(one.get(_CLEAR_TIME, "")), "bucket": path.stem})
            for name, one in metadata.items()]
  except (OSError, ValueError, AttributeError, TypeError, KeyError) as error:
    raise errors.CurationError(
        f"{path} is not metadata of images in CLEAR's form, {{id: {{{_CLEAR_URL!r}: ...}}}} "
        f"({type(error).__name__}: {error}). Give all_metadata/3.json of a training archive, a "
        "table with the column 'url', or a .txt with a URL a line.") from error


_READERS = {".csv": _read_table, ".parquet": _read_table, ".json": _read_metadata}
