# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rows of bits: one bit for each answer, eight in a byte, the first in the highest bit.

  answers  1 0 1 1 0 0 0 1 | 1            row  0b10110001 0b10000000

Column counts of M rows are computed for 64 columns at a time: the rows are summed in binary with
logical operations, plane by plane (plane p holds bit p of all counts), three words into two like a
hardware adder, and only the log2(M) planes are unpacked. Threads bring little: the operations are
so short that they mostly wait for the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# Number of columns counted at a time: the planes must fit in the processor's cache, and Python's
# share of the time must be small.
BLOCK = 1 << 20
_ONES = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


def pack(answers: np.ndarray) -> np.ndarray:
  """Packs 0/1 [..., N] into uint8 [..., ceil(N / 8)]."""
  return np.packbits(np.asarray(answers, bool), axis=-1)


def unpack(rows: np.ndarray, num: int) -> np.ndarray:
  """Unpacks uint8 [..., ceil(N / 8)] to 0/1 uint8 [..., N]."""
  return np.unpackbits(rows, axis=-1, count=num)


def at(row: np.ndarray, positions: np.ndarray) -> np.ndarray:
  """Answers of one row at int [n] positions: uint8 [n]; costs n lookups for any row length."""
  positions = np.asarray(positions)
  return (row[positions >> 3] >> (7 - (positions & 7)).astype(np.uint8)) & np.uint8(1)


def at_all(bits: Any, rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
  """Answers of some rows of a plane or array of bits at int [n] positions: uint8 [rows, n]."""
  shift = (7 - (positions & 7)).astype(np.uint8)
  if 2 * len(rows) < len(bits):
    return np.stack([at(bits[row], positions) for row in rows])
  found = np.take(np.asarray(bits), positions >> 3, axis=1)
  found >>= shift
  found &= np.uint8(1)
  return found if np.array_equal(rows, np.arange(len(bits))) else found[rows]


def row_counts(rows: np.ndarray, num: int) -> np.ndarray:
  """Number of ones among the first `num` bits of each of M rows, whatever follows: int64 [M]."""
  whole, rest = divmod(num, 8)
  found = np.zeros(len(rows), np.int64)
  step = max(1, BLOCK // max(1, whole))
  for start in range(0, len(rows), step):
    some = rows[start:start + step]
    for first in range(0, whole, BLOCK):
      found[start:start + step] += _ONES[some[:, first:min(whole, first + BLOCK)]].sum(
          axis=1, dtype=np.int64)
  return found + _ONES[rows[:, whole] >> (8 - rest)] if rest else found


def column_counts(rows: Sequence[np.ndarray], num: int, *, first: int = 0) -> np.ndarray:
  """Number of ones among M rows in each of the columns first ... first + num - 1.

  Args:
    rows: M rows of bytes; memory-mapped rows are read once.
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
    planes = _add(row[words] for row in rows)
    sums: np.ndarray = np.zeros(size, counts.dtype)
    for plane in planes[::-1]:  # Horner's rule.
      sums += sums
      sums += np.unpackbits(plane.view(np.uint8), count=size)
    counts[start:start + size] = sums
  return counts


def _add(rows: Iterable[np.ndarray]) -> list[np.ndarray]:
  """Adds M rows of one-bit numbers, bytes [B]: bit p of each sum is a bit of planes[p].

  Planes are words of 64 bits: uint64 [ceil(B / 8)]; rows are padded with zeros.
  Three words of one weight are combined to one, plus one of the next weight, as soon as they are
  available, so at most two are stored for each weight.
  """
  waiting: list[list[np.ndarray]] = []

  def take(word: np.ndarray, power: int) -> None:
    if power == len(waiting):
      waiting.append([])
    waiting[power].append(word)
    if len(waiting[power]) == 3:
      one, two, three = waiting[power]
      half = one ^ two
      carry = one & two
      carry |= half & three
      half ^= three  # In place: `half` is not the caller's array.
      waiting[power] = [half]
      take(carry, power + 1)

  for row in rows:
    rest = -len(row) % 8
    row = np.ascontiguousarray(row)
    take((np.concatenate([row, np.zeros(rest, np.uint8)]) if rest else row).view(np.uint64), 0)
  planes: list[np.ndarray] = []
  while len(planes) < len(waiting):
    left = waiting[len(planes)]
    if len(left) == 2:
      take(left[0] & left[1], len(planes) + 1)
      planes.append(left[0] ^ left[1])
    else:  # One word: a weight that had three keeps one.
      planes.append(left[0])
  return planes
