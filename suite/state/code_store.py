# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Codes of images on disk, for all learners, tasks, seeds and processes that use the same net.

  FOLDER/3f2a91c0.../9c1be7....npy     n rows: the digest of an image, and its code

A folder belongs to a net and the arithmetic it is computed with; its name is their digest. A file
is written once, aside, and renamed: processes need no lock, and the worst that two of them do is
to write the same codes twice. The name of a file is the digest of its content, so a file that is
cut or changed is known, and left out.

Codes can always be computed again: nothing that happens here ends a run.
"""

from __future__ import annotations

from collections.abc import Sequence
import hashlib
import io
import os
import pathlib
import threading

from absl import logging
import numpy as np

from suite.system import atomic_files
from suite.system import io_errors

DIGEST_BYTES = 16
_SUFFIX = ".npy"


def digest(*parts: bytes) -> bytes:
  """The digest of an image, or of what a net is made of."""
  found = hashlib.blake2b(digest_size=DIGEST_BYTES)
  for part in parts:
    found.update(part)
  return found.digest()


class CodeStore:
  """A folder of codes.

  Args:
    folder: made by the first write.
    limit_bytes: size of all files of the folder beyond which no more are written.
  """

  def __init__(self, folder: str | os.PathLike, limit_bytes: int):
    self.folder, self._limit = pathlib.Path(folder), limit_bytes
    self._nets: dict[bytes, NetCodes] = {}
    self._is_open = True  # For writing.
    self._lock = threading.Lock()

  def of_net(self, key: bytes) -> NetCodes:
    """The codes of a net.

    Args:
      key: its digest, and that of the arithmetic.
    """
    with self._lock:
      return self._nets.setdefault(key, NetCodes(self, self.folder / key.hex()))

  def write(self, folder: pathlib.Path, rows: np.ndarray) -> str:
    """Writes a file; returns its name, "" where there is no room."""
    content = io.BytesIO()
    np.lib.format.write_array(content, rows, allow_pickle=False)
    data = content.getvalue()
    name = digest(data).hex() + _SUFFIX
    with self._lock:
      if not self._is_open:
        return ""
      try:
        used = sum(path.stat().st_size for path in self.folder.rglob(f"*{_SUFFIX}"))
        if used + len(data) > self._limit:
          self._close(f"holds {used / 1e9:.2f} GB, and --codes_gb allows "
                      f"{self._limit / 1e9:.2f}. Raise it, or remove the folder after the run")
          return ""
        atomic_files.make_folder(folder)
        with atomic_files.opening(folder / name, sync=False) as file:
          file.write(data)
      except OSError as error:
        self._close(f"cannot be written ({error.strerror or error}). {io_errors.remedy(error)}, or "
                    "name another folder with --codes")
        return ""
    return name

  def _close(self, why: str) -> None:
    self._is_open = False
    logging.warning("Codes of further images are not kept, and computed each time they are needed: "
                    "%s %s.", self.folder, why)


class NetCodes:
  """The codes of one net in a store."""

  def __init__(self, store: CodeStore, folder: pathlib.Path):
    self._store, self._folder = store, folder
    self._files: dict[str, np.ndarray | None] = {}  # None: damaged.
    self._places: dict[bytes, tuple[str, int]] = {}  # Digest of an image -> file and row.
    self._lock = threading.Lock()

  def find(self, images: Sequence[bytes]) -> list[np.ndarray | None]:
    """The code [D] of each image, by the digests of the images; None where it is not kept."""
    with self._lock:
      if any(image not in self._places for image in images):
        self._read()  # Another process may have written some.
      found: list[np.ndarray | None] = []
      for image in images:
        file, row = self._places.get(image, ("", 0))
        rows = self._files.get(file)
        found.append(None if rows is None else rows["code"][row])
      return found

  def add(self, images: Sequence[bytes], codes: np.ndarray) -> None:
    """Keeps the codes [n, D] of images, by the digests of the images."""
    rows = np.empty([len(images)], [("image", f"V{DIGEST_BYTES}"), ("code", codes.dtype,
                                                                    codes.shape[1:])])
    rows["image"] = np.frombuffer(b"".join(images), rows.dtype["image"])
    rows["code"] = codes
    name = self._store.write(self._folder, rows)
    if name:
      with self._lock:
        self._take(name)

  def _read(self) -> None:
    """Reads the files that were written since."""
    if not self._folder.is_dir():
      return
    for path in sorted(self._folder.iterdir()):
      if path.suffix != _SUFFIX or path.name.startswith(atomic_files.TEMPORARY) or (
          path.name in self._files):
        continue
      try:
        if digest(path.read_bytes()).hex() != path.stem:
          raise ValueError("its content is not what was written")
        self._take(path.name)
      except (OSError, ValueError, IndexError) as error:  # IndexError: of another form.
        logging.warning("The codes in %s cannot be read (%s): its images are encoded again. The "
                        "file can be removed.", path, error)
        self._files[path.name] = None

  def _take(self, name: str) -> None:
    """Maps a whole file: the system reads its codes as they are used."""
    self._files[name] = rows = np.lib.format.open_memmap(self._folder / name, mode="r")
    for row, image in enumerate(rows["image"]):
      self._places.setdefault(image.tobytes(), (name, row))
