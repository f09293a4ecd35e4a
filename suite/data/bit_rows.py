# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rows of bits: one bit an answer, eight to a byte, the first in the highest bit.

  answers  1 0 1 1 0 0 0 1 | 1            row  0b10110001 0b10000000

Counting down the columns of M rows adds 64 columns at a time: the rows are summed in binary with
logical operations, plane by plane (plane p holds bit p of all counts), three words into two as a
hardware adder does, and only the log2(M) planes are ever unpacked.
"""

from __future__ import annotations

from typing import List, Sequence

import numpy as np

# Columns counted at a time: few enough that the planes stay in the processor's cache.
BLOCK = 1 << 18


def pack(answers: np.ndarray) -> np.ndarray:
  """0/1 [..., N] -> uint8 [..., ceil(N / 8)]."""
  return np.packbits(np.asarray(answers, bool), axis=-1)


def unpack(rows: np.ndarray, num: int) -> np.ndarray:
  """uint8 [..., ceil(N / 8)] -> 0/1 uint8 [..., N]."""
  return np.unpackbits(rows, axis=-1, count=num)


def at(row: np.ndarray, positions: np.ndarray) -> np.ndarray:
  """The answers of one row at int [n] positions: uint8 [n]; costs n lookups, however long it is."""
  positions = np.asarray(positions)
  return (row[positions >> 3] >> (7 - (positions & 7)).astype(np.uint8)) & np.uint8(1)


def num_ones(row: np.ndarray) -> int:
  """How many bits of a row (or of several) are 1; those behind its end are 0."""
  return int(_ONES[np.ascontiguousarray(row)].sum(dtype=np.int64))


def column_counts(rows: Sequence[np.ndarray], num: int, *, first: int = 0) -> np.ndarray:
  """How many of M rows have a 1 in each of the columns first ... first + num - 1.

  Args:
    rows: M rows of bytes; memory-mapped ones are read once.
    num: N columns.
    first: a multiple of 64.

  Returns:
    uint8 [N], or uint16 where M > 255.
  """
  if first % 64:
    raise ValueError(f"Columns are counted from a multiple of 64; got {first}.")
  counts = np.empty(num, np.uint8 if len(rows) < 256 else np.uint16)
  for start in range(0, num, BLOCK):
    size = min(BLOCK, num - start)
    words = slice((first + start) // 8, (first + start + size + 7) // 8)
    planes = _add([_words(row[words]) for row in rows])
    counts[start:start + size] = _read(planes, size, counts.dtype)
  return counts


def _words(piece: np.ndarray) -> np.ndarray:
  """Bytes [B] -> uint64 [ceil(B / 8)], with zeros behind the end."""
  rest = -len(piece) % 8
  piece = np.ascontiguousarray(piece)
  return (np.concatenate([piece, np.zeros(rest, np.uint8)]) if rest else piece).view(np.uint64)


def _add(rows: List[np.ndarray]) -> List[np.ndarray]:
  """Adds M rows of one-bit numbers, 64 to a word: bit p of each sum is a bit of planes[p]."""
  planes: List[np.ndarray] = []
  while rows:
    carried: List[np.ndarray] = []
    while len(rows) > 1:
      one, two = rows.pop(), rows.pop()
      half = one ^ two
      carry = one & two
      if rows:  # A full adder takes a third word in.
        three = rows.pop()
        carry |= half & three
        half ^= three
      rows.append(half)
      carried.append(carry)
    planes.append(rows[0])
    rows = carried
  return planes


def _read(planes: Sequence[np.ndarray], num: int, dtype: np.dtype) -> np.ndarray:
  """The sums as numbers [N]."""
  counts = np.zeros(num, dtype)
  for power, plane in enumerate(planes):
    bits = np.unpackbits(plane.view(np.uint8), count=num)
    counts += bits.astype(dtype, copy=False) << dtype.type(power)
  return counts


_ONES = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
