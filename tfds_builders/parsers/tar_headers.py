# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Headers of tar archives within limits of size and time.

tarfile reads a header of any declared size at once and searches it by expressions whose time grows
with its square, and copies global headers for every member.
"""

from __future__ import annotations

import tarfile
import time

from tfds_builders import errors

MAX_BYTES = 8 << 10  # Long names need some hundred.
MAX_SECONDS = 20.0  # For all extended headers of an archive.


class HeaderError(errors.DataError):
  """A header beyond the limits; the message is completed by the name of the archive."""


class Info(tarfile.TarInfo):
  """A member; `tarfile.open(..., tarinfo=Info)`."""

  def _proc_pax(self, tarfile):
    return self._within_limits(super()._proc_pax, tarfile)  # type: ignore[misc]

  def _proc_gnulong(self, tarfile):
    return self._within_limits(super()._proc_gnulong, tarfile)  # type: ignore[misc]

  def _proc_sparse(self, tarfile):
    raise HeaderError(f"It has the sparse file {self.name!r}; plain files are read. Pack it "
                           "again.")

  def _within_limits(self, read, archive):
    if self.size > MAX_BYTES:
      raise HeaderError(f"It has an extended header of {self.size} bytes; at most {MAX_BYTES} "
                             "are read. It is damaged: get it again.")
    begun, spent = time.monotonic(), getattr(archive, "seconds_in_headers", 0.0)
    found = read(archive)
    spent += time.monotonic() - begun
    if spent > MAX_SECONDS:
      raise HeaderError(f"Its extended headers took {spent:.0f} seconds; at most "
                             f"{MAX_SECONDS:.0f} are allowed. It is damaged: get it again.")
    archive.seconds_in_headers = spent
    if any(name.startswith("GNU.sparse") for name in found.pax_headers):
      raise HeaderError(f"It has the sparse file {found.name!r}; plain files are read. Pack "
                             "it again.")
    return found
