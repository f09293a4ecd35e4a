# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files of an accuracy cache, never changed after they are written, and their digests.

A file of answers holds pieces: planes uint8 [models, ceil(samples / 8)] of correct answers, each
followed by one of evaluated answers where some are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import dataclasses
import hashlib
import pathlib
from typing import Any

import numpy as np

from suite.lifelong.cache import bit_rows
from suite.system import atomic_files

# A mapped file keeps a descriptor; smaller ones are read.
MAPPED_BYTES = 1 << 20
# Of a large file, `spot` reads this many blocks.
_SPOTS, _SPOT_BYTES = 16, 4096


@dataclasses.dataclass(frozen=True)
class Piece:
  """Answers of one model batch on one sample batch; `seen` is None where all were evaluated."""

  correct: np.ndarray
  seen: np.ndarray | None

  def row(self, index: int) -> Piece:
    """The piece of one of its models."""
    here = slice(index, index + 1)
    return Piece(self.correct[here], None if self.seen is None else self.seen[here])


def write(path: pathlib.Path, pieces: Iterable[Piece]) -> dict[str, Any]:
  """Writes the planes of each piece; returns what `read` and `damage` need to know of the file."""
  offsets: list[tuple[int, int | None]] = []
  position, digest = 0, hashlib.sha256()
  with atomic_files.opening(path) as file:

    def put(plane: np.ndarray) -> int:
      nonlocal position
      data, start = np.ascontiguousarray(plane).data, position
      file.write(data)
      digest.update(data)
      position += data.nbytes
      return start

    for piece in pieces:
      start = put(piece.correct)
      offsets.append((start, None if piece.seen is None else put(piece.seen)))
  return {"bits": path.name, "bytes": position, "offsets": offsets, "sha256": digest.hexdigest(),
          "spot": spot(path)}


def read(path: pathlib.Path, line: dict[str, Any], shapes: Sequence[tuple[int, int]]
         ) -> list[Piece]:
  """Returns the pieces of a file; `shapes` are (models, samples) of each."""
  if not line["bytes"] or line["bytes"] < MAPPED_BYTES:
    bits = np.frombuffer(path.read_bytes(), np.uint8)
  else:
    bits = np.memmap(path, np.uint8, "r")

  def plane(start: int, models: int, samples: int) -> np.ndarray:
    width = (samples + 7) // 8
    return bits[start:start + models * width].reshape(models, width)

  return [Piece(plane(start, *shape), None if seen is None else plane(seen, *shape))
          for shape, (start, seen) in zip(shapes, line["offsets"])]


def damage(path: pathlib.Path, num_bytes: int, digest: str | None, *, whole: bool) -> str:
  """Says how a file differs from what was written; "" if it does not.

  Args:
    num_bytes: its size.
    digest: `sha256` if `whole`, else `spot`; None: not known, as of files of format 1.
    whole: read all of the file.
  """
  if not path.exists() or path.stat().st_size != num_bytes:
    return f"{path} is truncated or missing"
  if digest is not None and digest != (atomic_files.sha256(path) if whole else spot(path)):
    return f"{path} is damaged: its content is not what was written"
  return ""


def spot(path: pathlib.Path, start: int = 0) -> str:
  """Digest of a small file from byte `start` on; of a large one, of blocks, both ends included."""
  size, digest = path.stat().st_size - start, hashlib.sha256()
  with open(path, "rb") as file:
    file.seek(start)
    if size <= _SPOTS * _SPOT_BYTES:
      digest.update(file.read())
    else:
      for index in range(_SPOTS):
        file.seek(start + (size - _SPOT_BYTES) * index // (_SPOTS - 1))
        digest.update(file.read(_SPOT_BYTES))
  return digest.hexdigest()[:16]


def below(pieces: Sequence[Piece], size: int) -> Piece:
  """Joins batches of models on the same `size` samples."""
  seen = None
  if any(piece.seen is not None for piece in pieces):
    seen = np.concatenate([_seen(piece, size) for piece in pieces])
  return Piece(np.concatenate([piece.correct for piece in pieces]), seen)


def beside(pieces: Sequence[Piece], sizes: Sequence[int]) -> Piece:
  """Joins batches of `sizes` samples of the same models; one row at a time is unpacked."""
  def join(planes: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack([
        bit_rows.pack(np.concatenate([bit_rows.unpack(plane[row], size)
                                      for plane, size in zip(planes, sizes)]))
        for row in range(len(planes[0]))])

  correct, seen = join([piece.correct for piece in pieces]), None
  if any(piece.seen is not None for piece in pieces):
    seen = join([_seen(piece, size) for piece, size in zip(pieces, sizes)])
  return Piece(correct, seen)


def _seen(piece: Piece, size: int) -> np.ndarray:
  if piece.seen is not None:
    return piece.seen
  return np.broadcast_to(bit_rows.pack(np.ones(size, bool)), piece.correct.shape)
