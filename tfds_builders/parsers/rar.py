# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""RAR archives, read by a program of this machine: bsdtar, unrar or 7z.

There is no free library for the format. The program writes to a pipe: names are checked like those
of other archives, and nothing is unpacked to disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import os
import pathlib
import shutil
import subprocess

from tfds_builders import errors

# Program -> (arguments that list names, arguments that print one member).
_PROGRAMS = {
    "bsdtar": (["-tf", "{path}"], ["-xOf", "{path}", "{member}"]),
    "unrar": (["lb", "-p-", "{path}"], ["p", "-inul", "-p-", "{path}", "{member}"]),
    "7z": (["l", "-ba", "-slt", "-p", "{path}"], ["e", "-so", "-p", "{path}", "{member}"]),
}


def members(path: os.PathLike, wanted: Callable[[str], bool] = lambda name: True,
            max_bytes: int = 256 << 20) -> Iterator[tuple[str, bytes]]:
  """Yields (name, content) of the wanted files, in stored order.

  Raises:
    errors.DataError: no program, a damaged archive, an unsafe name, or a member over `max_bytes`.
  """
  program = _program(path)
  for name in _names(program, path):
    if not wanted(name):
      continue
    data = _run(program, 1, path, name, max_bytes)
    if len(data) > max_bytes:
      raise errors.DataError(f"{path}, member {name!r} has more than {max_bytes} bytes.")
    yield name, data


def _program(path: os.PathLike) -> str:
  found = next((name for name in _PROGRAMS if shutil.which(name)), None)
  if found is None:
    raise errors.DataError(
        f"{path} is a RAR archive, and none of {', '.join(_PROGRAMS)} is on this machine. Install "
        "one of them (Debian: apt install libarchive-tools), or unpack the archive elsewhere and "
        "pack it again as a zip or tar of the name that the row knows.")
  return found


def _names(program: str, path: os.PathLike) -> list[str]:
  text = _run(program, 0, path, "", 64 << 20).decode("utf-8", "replace")
  lines = text.splitlines()
  if program == "7z":
    lines = [line[len("Path = "):] for line in lines if line.startswith("Path = ")]
  names = []
  for line in lines:
    parts = line.replace("\\", "/").split("/")
    if not line or line.endswith("/"):
      continue
    # The program would read a name that begins with "-" or "@" as an option or a list.
    if parts[0] == "" or ".." in parts or line[0] in "-@" or any(c in line for c in "*?\x00"):
      raise errors.DataError(f"{path}, member {line!r} has an unsafe name; such an archive is not "
                             "read at all. Get it from its publisher, or pack it again.")
    names.append(line.replace("\\", "/"))
  return names


def _run(program: str, which: int, path: os.PathLike, member: str, max_bytes: int) -> bytes:
  full = str(pathlib.Path(path).resolve())
  command = [program, *(part.format(path=full, member=member)
                        for part in _PROGRAMS[program][which])]
  with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE) as process:
    data = process.stdout.read(max_bytes + 1)  # type: ignore[union-attr]
    if len(data) > max_bytes:
      process.kill()
      return data
    said = process.stderr.read(2000).decode("utf-8", "replace")  # type: ignore[union-attr]
  if process.returncode:
    what = f"{path}, member {member!r}" if member else f"{path}"
    raise errors.DataError(f"{what} cannot be read by {program}: {said.strip()[:300]}. The file is "
                           "truncated or damaged: get it again.")
  return data
