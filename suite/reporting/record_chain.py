# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The chain of digests of a record file: a changed, added or removed line is found.

The last value of a line is "digest", the SHA-256 of the digest of the line before it (nothing, for
the first) and of the line without its own digest:

  {"event": 0, "error": 0.25, "digest": "9f0c..."}
  {"event": 1, "error": 0.125, "digest": "51aa..."}    of 9f0c... and {"event": 1, "error": 0.125}

It finds damage and slips of an editor; whoever wants to can compute all digests again. Files of
suite 0.1 have no digests; lines that are added to them do, and cover the lines before, too.
"""

from __future__ import annotations

import hashlib
import re

KEY = "digest"
_END = re.compile(rb'(?:, )?"digest": "([0-9a-f]{64})"\}$')


class Chain:
  """The digests of the lines so far.

  Attributes:
    head: digest of the last line, "" before the first.
    has_digests: whether a line had one.
  """

  def __init__(self):
    self.head, self.has_digests = "", False

  def add(self, line: bytes) -> bytes:
    """Returns a line (a JSON object, without a newline) with its digest."""
    self.head, self.has_digests = self._next(line), True
    comma = b", " if line != b"{}" else b""
    return line[:-1] + comma + f'"{KEY}": "{self.head}"}}'.encode()

  def check(self, line: bytes) -> str:
    """Says what is wrong with the next line of a file, "" if nothing is."""
    end = _END.search(line)
    if end is None:
      if self.has_digests:
        return "has no digest, as the lines before it have: something else added it"
      self.head = self._next(line)
      return ""
    own, self.has_digests = end[1].decode(), True
    expected = self._next(line[:end.start()] + b"}")
    self.head = own
    return "" if own == expected else (
        "is not what was written, or the line before it is not: its digest differs")

  def _next(self, line: bytes) -> str:
    return hashlib.sha256(self.head.encode() + line).hexdigest()
