# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""VisTex: a tar.gz of tar.Z archives, where class folders hold symbolic links to the images.

Links are followed by name inside the archives and never created on disk. A .Z file (LZW) is
decompressed by the command `gzip`, because no Python library reads the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import contextlib
import io
import pathlib
import posixpath
import re
import shutil
import subprocess
import tarfile
import tempfile

import numpy as np

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import nested
from tfds_builders.parsers import tar_headers

_REFERENCE = re.compile(r"(?:^|/)Images/Reference/(?P<label>[^/]+)/(?P<item>[^/]+)\.ppm$")
_MAX_BYTES = 2 << 30  # Of all inner archives; the published ones have about 600 MB.
_BLOCK = 1 << 20


def parse(paths: Mapping[str, pathlib.Path]) -> Iterator[example.Example]:
  """Yields the images of Images/Reference/<class> in the order of the archives, as one pool."""
  path, = paths.values()
  with tempfile.TemporaryDirectory() as folder:
    tars = _decompressed(path, pathlib.Path(folder))
    wanted = _targets(path, tars)  # Image -> its names under Reference.
    num = sum(map(len, wanted.values()))
    for tar in tars:
      for name, data in _files(path, tar, wanted):
        for reference in wanted.pop(name):
          match = _REFERENCE.search(reference)
          assert match is not None
          where = f"{path}, member {reference!r}"
          yield example.Example(splits.POOL, f"{match['label']}/{match['item']}", match["label"],
                                images.encoded(data, where), where)
    lacking = sorted(one for names in wanted.values() for one in names)
    if lacking or not num:
      raise errors.DataError(f"{path}: {len(lacking)} of {num} links have no target, such as "
                             f"{lacking[:2]}. It is incomplete: get it again.")


def _opened(tar: pathlib.Path) -> tarfile.TarFile:
  return tarfile.open(tar, "r:", tarinfo=tar_headers.Info)


def _files(path: pathlib.Path, tar: pathlib.Path, wanted: Mapping[str, list[str]]
           ) -> Iterator[archives.Member]:
  """Yields the wanted files of one inner archive."""
  with archives.named_errors(path, tar.name), _opened(tar) as archive:
    for info in archive:
      name = _plain(info.name)
      if not info.isfile() or name not in wanted:
        continue
      if info.size > archives.MAX_MEMBER_BYTES:
        raise errors.DataError(f"{path}, member {name!r} has {info.size} bytes; at most "
                               f"{archives.MAX_MEMBER_BYTES} are allowed in one member.")
      stream = archive.extractfile(info)
      assert stream is not None
      yield name, stream.read()


def _decompressed(path: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
  """Writes the inner archives as tar files into `folder`."""
  made: list[pathlib.Path] = []
  left = _MAX_BYTES
  for name, data in archives.members(path, lambda name: name.endswith((".tar.Z", ".tar")),
                                     nested.MAX_INNER_BYTES):
    target = folder / f"{len(made):04d}-{posixpath.basename(name)}"
    target.write_bytes(data)
    made.append(_unpacked(target, f"{path}, member {name!r}", left) if name.endswith(".Z")
                else target)
    left -= made[-1].stat().st_size
  if not made:
    raise errors.DataError(f"{path} holds no .tar.Z archives. Get the file of this name again.")
  return made


def _unpacked(source: pathlib.Path, where: str, max_bytes: int) -> pathlib.Path:
  """Writes the content of a .Z file beside it; DataError if it is damaged or too large."""
  program = shutil.which("gzip")
  if program is None:
    raise errors.DataError(f"{where} is compressed as .Z, which the command gzip decompresses: "
                           "install gzip.")
  target = source.with_suffix("")
  with contextlib.ExitStack() as stack:
    out = stack.enter_context(open(target, "wb"))
    process = stack.enter_context(subprocess.Popen(
        [program, "-dc", str(source)], stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    assert process.stdout is not None and process.stderr is not None
    num = 0
    for block in iter(lambda: process.stdout.read(_BLOCK), b""):  # type: ignore[union-attr]
      num += len(block)
      if num > max_bytes:
        process.kill()
        raise errors.DataError(f"{where}: the archives unpack to more than {_MAX_BYTES} bytes.")
      out.write(block)
    said = process.stderr.read().decode("utf-8", "replace").strip()
  if process.returncode:
    raise errors.DataError(f"{where} cannot be decompressed: {said}. It is damaged: get the "
                           "archive again.")
  return target


def _targets(path: pathlib.Path, tars: Sequence[pathlib.Path]) -> dict[str, list[str]]:
  """Returns file -> the names under Reference that link to it."""
  links: dict[str, str] = {}
  references: list[str] = []
  for tar in tars:
    with archives.named_errors(path, tar.name), _opened(tar) as archive:
      for info in archive:
        name = _plain(info.name)
        if info.issym() or info.islnk():
          start = posixpath.dirname(name) if info.issym() else ""
          links[name] = _plain(posixpath.join(start, info.linkname))
        if _REFERENCE.search(name) and not info.isdir():
          references.append(name)
  wanted: dict[str, list[str]] = {}
  for reference in references:
    target, steps = reference, 0
    while target in links and steps < 10:  # Circular links have no target.
      target, steps = links[target], steps + 1
    wanted.setdefault(target, []).append(reference)
  return wanted


def _plain(name: str) -> str:
  """Returns the name without "." and ".."; names outside the archive become one never in it."""
  plain = posixpath.normpath(name)
  return "/outside" if plain.startswith(("/", "../")) or plain == ".." else plain


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split."""
  root = "VisionTexture/VisTex/Images"
  files: dict[str, bytes] = {}
  links: dict[str, str] = {}
  for label in class_names:
    for item in range(per_class):
      seed = len(files)
      files[f"{root}/Resolution/512x512/{label}.{item:04d}.ppm"] = (
          b"P6\n4 3\n255\n" + fixtures.pixels((3, 4, 3), seed).tobytes())
      links[f"{root}/Reference/{label}/{label}.{item:04d}.ppm"] = (
          f"../../Resolution/512x512/{label}.{item:04d}.ppm")
  with tempfile.TemporaryDirectory() as folder:
    parts = {}
    for name, content in (("Reference", links), ("512x512", files)):
      path = pathlib.Path(folder, f"{name}.tar")
      with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for member, value in content.items():
          _add(archive, member, value)
      parts[f"VisionTexture/{name}.tar.Z"] = compressed(path.read_bytes())
  parts["VisionTexture/README"] = b"no archive"
  fixtures.write_archive(directory / file_names[0], parts)
  return {splits.POOL: len(files)}


def _add(archive: tarfile.TarFile, name: str, value) -> None:
  info = tarfile.TarInfo(name)
  if isinstance(value, str):
    info.type, info.linkname = tarfile.SYMTYPE, value
    archive.addfile(info)
  else:
    info.size = len(value)
    archive.addfile(info, io.BytesIO(value))


def compressed(data: bytes) -> bytes:
  """Returns a .Z file without compression: 9-bit literals, the table cleared before it grows."""
  codes: list[int] = []
  for first in range(0, len(data), 247):  # 247 literals and a clear: 31 groups of 8 codes.
    codes += [*data[first:first + 247], 256]
  bits = (np.array(codes, np.uint16)[:, None] >> np.arange(9)) & 1
  return b"\x1f\x9d\x90" + np.packbits(bits.astype(np.uint8).ravel(), bitorder="little").tobytes()
