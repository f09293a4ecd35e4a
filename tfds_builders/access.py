# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Access to the files of a row: source, credentials, and instructions for manual downloads."""

from __future__ import annotations

import importlib

from tfds_builders.rows import row as row_lib

# Part of a URL -> kind of source; the first match counts.
_KINDS = (("kaggle:", "Kaggle"), ("drive.google.com", "Google Drive"),
          ("sharepoint.com", "SharePoint"), ("web.archive.org", "Internet Archive"))
_ACCOUNTS = {"Kaggle": "Kaggle account"}
_BY_HAND = ("Google Drive", "SharePoint")


def url_kind(url: str) -> str:
  """Returns "web", "Kaggle", "Google Drive", "SharePoint" or "Internet Archive"."""
  return next((kind for part, kind in _KINDS if part in url), "web")


def file_kind(file: row_lib.File) -> str:
  """Returns the kind of the file's URL; "manual" if it has none."""
  return "manual" if file.url is None else url_kind(file.url)


def kind(row: row_lib.Row) -> str:
  """Returns the source of the first layout; "TFDS" for data sets that TFDS builds itself."""
  if row.union:
    return "union"
  if row.tfds is not None and not row.layouts:
    return "manual, then TFDS" if row.tfds.manual else "TFDS"
  layout = row.layouts[0]
  kinds: list[str] = list(dict.fromkeys(
      map(url_kind, layout.links) if layout.links else map(file_kind, layout.files)))
  rar = ", RAR" if any(file.name.endswith(".rar") for file in row.layouts[0].files) else ""
  return " and ".join(kinds) + rar


def credentials(row: row_lib.Row) -> str:
  """Returns the accounts that a user needs; "" if none."""
  if row.tfds is not None and row.tfds.manual:
    return "account of the publisher"
  if row.public_layout or (row.tfds is not None):
    return ""
  found = {_ACCOUNTS.get(file_kind(file), "") for one in row.layouts[:1] for file in one.files}
  return ", ".join(sorted(found - {""}))


def how_to_get(file: row_lib.File) -> str:
  """Returns one line: the command or the page that puts the file into a mirror folder DIR."""
  source = file_kind(file)
  if source == "Kaggle":
    name = str(file.url)[len("kaggle:"):]
    return (f"kaggle datasets download -d {name} -p DIR (Kaggle's command and an account; then "
            f"rename the zip to {file.name})")
  if source in _BY_HAND:
    return f"open {file.url} in a browser and save it as DIR/{file.name}"
  if source == "manual":
    return f"no direct link is known: put {file.name} into DIR"
  return f"curl -L -o DIR/{file.name} '{file.url}'"


def instructions(row: row_lib.Row, layout: row_lib.Layout, name: str | None = None) -> str:
  """Returns the manual steps for one layout, a line per file, what is in it and where to read more.
  """
  if layout.steps:
    lines = [f"  {step}" for step in layout.steps]
    lines += [f"  {how_to_get(file)}" for file in layout.files if file.url]
  elif layout.links:
    lines = [f"  open {url} in a browser and save it in DIR under the name that it has there"
             for url in layout.links]
  else:
    lines = [f"  {how_to_get(file)}" for file in layout.files[:8]]
    if len(layout.files) > 8:
      lines.append(f"  ... and {len(layout.files) - 8} more files like these")
  if row.homepage:
    lines.append(f"  home page: {row.homepage}")
  lines.append(f"  inside: {_inside(layout)}")
  if layout.notes:
    lines.append(f"  note: {layout.notes}")
  return "\n".join([*lines, f"  then: suite data build {name or 'NAME'} --mirror DIR"])


def _inside(layout: row_lib.Layout) -> str:
  """The pattern of the members' names, or what the parser says of its archives."""
  if "template" in layout.args:
    return str(layout.args["template"])
  parser = layout.parser
  if isinstance(layout.args.get("parser"), str):  # Reads what another parser finds.
    parser = importlib.import_module(f"tfds_builders.parsers.{layout.args['parser']}")
  return (parser.__doc__ or "").splitlines()[0]
