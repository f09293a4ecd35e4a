# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Deterministic tiny images and archives for the writers of fixtures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
import gzip
import io
import os
import pathlib
import tarfile
import zipfile

import numpy as np

_TAR_MODES = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz", ".tar.xz": "w:xz",
              ".tar.bz2": "w:bz2"}


def pixels(shape: Sequence[int], seed: int) -> np.ndarray:
  """Returns uint8 noise of this shape."""
  return np.random.Generator(np.random.PCG64(seed)).integers(0, 256, shape, dtype=np.uint8)


@functools.lru_cache(maxsize=4096)  # Most archives number their images from 0.
def jpeg(shape: tuple[int, ...], seed: int) -> bytes:
  """Returns a JPEG of noise; shape: [H, W, 1 or 3]."""
  import tensorflow as tf  # pylint: disable=g-import-not-at-top
  return tf.io.encode_jpeg(pixels(shape, seed), quality=90).numpy()


def pgm(shape: Sequence[int], seed: int) -> bytes:
  """Returns a binary PGM of noise; shape: [H, W]."""
  return b"P5\n%d %d\n255\n" % (shape[1], shape[0]) + pixels(shape, seed).tobytes()


def write_archive(path: os.PathLike, members: Mapping[str, bytes]) -> None:
  """Writes a zip or tar, depending on the name, with its members in the given order."""
  path = pathlib.Path(path)
  if path.suffix in (".zip", ".rar"):  # Readers detect formats from the first bytes.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
      for name, data in members.items():
        archive.writestr(name, data)
    return
  ending = next((e for e in sorted(_TAR_MODES, key=len, reverse=True) if path.name.endswith(e)), "")
  if not ending:
    raise ValueError(f"Cannot tell the format of {path.name!r}: zip or {sorted(_TAR_MODES)}.")
  with tarfile.open(path, _TAR_MODES[ending]) as archive:  # type: ignore[call-overload]
    _add(archive, members)


def tar_bytes(members: Mapping[str, bytes]) -> bytes:
  """Returns an uncompressed tar with its members in the given order."""
  stream = io.BytesIO()
  with tarfile.open(fileobj=stream, mode="w") as archive:
    _add(archive, members)
  return stream.getvalue()


def _add(archive: tarfile.TarFile, members: Mapping[str, bytes]) -> None:
  for name, data in members.items():
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def write_gzip(path: os.PathLike, data: bytes) -> None:
  pathlib.Path(path).write_bytes(gzip.compress(data, mtime=0))
