# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What an accuracy cache has beside its planes of answers: a small SQLite data base, cache.db.

Planes (`piece_files`) are written and synced before the transaction whose rows name them; files
that no row names are ignored. A transaction is on the disk when it has ended (synchronous=EXTRA:
the folder is synced after the journal has gone). Writers hold `lock` from the first plane to the
last row; readers share the lock of SQLite only while they read rows.

SQLite has no sums of its pages, so `seals` has a digest of the rows of each table, which is
compared when they are read: a flipped bit is no other name, place or answer. Hence the ids and
hashes of documents, of which there may be millions, are planes.

format.json says the version, so that earlier versions of the suite refuse the folder, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import hashlib
import os
import pathlib
import sqlite3
from typing import Any, TypeVar

from suite.lifelong.cache import piece_files
from suite.system import atomic_files
from suite.system import file_lock
from suite.system import io_errors
from suite.system import sealed_json

FILE, MARK, LOCK = "cache.db", "format.json", "lock"
VERSION = 5  # Up to 4 a log of commits named files of bits; see `earlier_cache`.
CacheError = piece_files.CacheError
Tables = dict[str, list[Any]]
TABLES = {
    "settings": "name TEXT PRIMARY KEY, value",
    "models": "name TEXT PRIMARY KEY, family TEXT",
    "tasks": "name TEXT PRIMARY KEY, metric TEXT, filter TEXT, source TEXT",
    "groups": "name TEXT, by_size INTEGER, task TEXT",
    "retired": "id TEXT PRIMARY KEY",
    "files": "name TEXT PRIMARY KEY, size INTEGER, start INTEGER, width INTEGER, sha256 TEXT, "
             "crc32 BLOB",
    "planes": "model INTEGER, models INTEGER, sample INTEGER, samples INTEGER, row INTEGER, "
              "right TEXT, seen TEXT, value TEXT, number TEXT",
    "ids": "samples INTEGER, first INTEGER, file TEXT, text_bytes INTEGER",
    "columns": "name TEXT PRIMARY KEY, file TEXT, samples INTEGER",
    "clusters": "name TEXT PRIMARY KEY",
    "commits": "models INTEGER, samples INTEGER, state TEXT",
    "questions": "seed INTEGER, first INTEGER, last INTEGER, sum TEXT, samples BLOB, ranks BLOB",
}
_APPLICATION = 0x4C534331
_WAIT = 60.0  # Seconds for the rows of another process.
_Result = TypeVar("_Result")


def version(folder: pathlib.Path) -> int:
  """The version of a cache; a CacheError if the folder is none, or is damaged."""
  path = folder / MARK
  found = sealed_json.load(path, "mark of a cache", "Put it back.", ["version"], CacheError,
                           or_none=True)
  if not found:
    raise CacheError(f"{folder} is no accuracy cache (it has no {MARK}). Make one with: suite "
                     f"lifelong add-models --cache {folder} ...")
  if not isinstance(number := found["version"], int) or number < 1:
    raise CacheError(f"{path} is damaged: put it back.")
  return number


def check_version(folder: pathlib.Path) -> None:
  """Raises a CacheError unless the folder is a cache of this version."""
  found = version(folder)
  if found > VERSION:
    raise CacheError(f"{folder} was written by a newer version (format {found}; this one reads "
                     f"{VERSION}). Update lifelong-suite.")
  if found < VERSION:
    raise CacheError(f"{folder} was written by an earlier version (format {found}; this one reads "
                     f"{VERSION}). Copy it to a new one: suite lifelong convert --cache {folder} "
                     "--out NEW")


def read(folder: pathlib.Path, names: Sequence[str] = tuple(TABLES)) -> Tables:
  """Rows of tables, as they were committed last; empty ones where there is no cache.

  Raises:
    CacheError: the data base is damaged, or of another program.
  """
  path = folder / FILE
  found: Tables = {name: [] for name in names}

  def take(db: sqlite3.Connection) -> dict[str, str]:
    db.execute("BEGIN")
    if not _has_tables(db):
      return {}
    for name in names:
      found[name] = db.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall()
    return dict(db.execute("SELECT name, digest FROM seals"))

  seals = _done(folder, take, is_written=False) if os.path.lexists(path) else {}
  if not seals:  # A crash may have left an empty file, before any plane was written.
    if piece_files.every_file(folder):
      raise CacheError(f"{path} is missing or empty although there are files of answers. Put it "
                       "back from a copy.")
    return found
  for name, rows in found.items():
    if seals.get(name) != _digest(rows):
      raise CacheError(f"{path} is damaged in its table {name}: its content is not what was "
                       "written. Put it back from a copy.")
  return found


@contextlib.contextmanager
def changing(folder: pathlib.Path, names: Sequence[str] = tuple(TABLES)) -> Iterator[Tables]:
  """Holds the lock of the only writer; rows that are changed within are committed at the end.

  Of a new cache, all is removed again if the block fails.
  """
  new = [one for one in (folder, *folder.parents) if not one.exists()]
  with file_lock.held(folder / LOCK):
    is_new = not os.path.lexists(folder / MARK)
    try:
      if is_new:
        atomic_files.write(folder / MARK, sealed_json.text({"version": VERSION}).encode())
        atomic_files.sync_folder(folder.parent)
      check_version(folder)
      before = read(folder, names)
      _create(folder)  # Before any plane, so that planes are never alone.
      after = {name: list(rows) for name, rows in before.items()}
      yield after
      _commit(folder, before, after)
      if "files" in names:  # What a joined file has replaced, or a crash has left.
        kept = {row[0] for row in after["files"]}
        for path in piece_files.every_file(folder):
          if path.name not in kept:
            path.unlink(missing_ok=True)
    except Exception:
      if is_new or not read(folder, ["commits"])["commits"]:  # While the lock is held.
        for path in (*piece_files.every_file(folder), *(
            folder / name for name in (FILE, MARK, LOCK))):
          path.unlink(missing_ok=True)
        for one in new:
          with contextlib.suppress(OSError):  # Something else is in it.
            one.rmdir()
      raise


def problem(folder: pathlib.Path) -> str:
  """What is damaged in the structure of the data base; "" if nothing is."""
  try:
    said, = _done(folder, lambda db: db.execute("PRAGMA integrity_check(1)").fetchone(),
                  is_written=False)
  except CacheError as error:
    return str(error)
  return "" if said == "ok" else f"{folder / FILE} is damaged ({said}). Put it back from a copy."


def _create(folder: pathlib.Path) -> None:
  def create(db: sqlite3.Connection) -> None:
    if _has_tables(db):
      return
    db.execute("BEGIN IMMEDIATE")
    for name, columns in TABLES.items():
      db.execute(f"CREATE TABLE {name} ({columns})")
    db.execute("CREATE TABLE seals (name TEXT PRIMARY KEY, digest TEXT)")
    db.executemany("INSERT INTO seals VALUES (?, ?)", [(name, _digest([])) for name in TABLES])
    db.execute(f"PRAGMA application_id={_APPLICATION}")
    db.execute("COMMIT")

  _done(folder, create, is_written=True)


def _commit(folder: pathlib.Path, before: Tables, after: Tables) -> None:
  changed = [name for name, rows in after.items() if rows != before[name]]
  old, new = ({name: _digest(rows[name]) for name in changed} for rows in (before, after))

  def commit(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    seals = dict(db.execute("SELECT name, digest FROM seals"))
    found = {name: seals.get(name) for name in changed}
    if found == new:
      return  # It was committed, and an error came afterwards.
    if found != old:
      raise CacheError(f"{folder / FILE} was changed by another program meanwhile. Repeat the "
                       "command.")
    for name in changed:
      rows, kept = after[name], len(before[name])
      if rows[:kept] != before[name]:
        db.execute(f"DELETE FROM {name}")
        kept = 0
      if rows[kept:]:
        marks = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO {name} VALUES ({marks})", rows[kept:])
      db.execute("UPDATE seals SET digest = ? WHERE name = ?", (new[name], name))
    db.execute("COMMIT")

  if changed:
    _done(folder, commit, is_written=True)


def _done(folder: pathlib.Path, work: Callable[[sqlite3.Connection], _Result], *, is_written: bool
          ) -> _Result:
  """What `work` returns of the data base, in which it does one transaction.

  SQLite does not say which error of the system it has met, so the disk is tried after one. If that
  works, as after a single failing call, the work is done again.
  """
  path = folder / FILE
  mode = "mode=rwc" if is_written else "mode=rw"  # A reader ends what a killed writer has begun.
  if os.statvfs(folder).f_flag & os.ST_RDONLY:
    if os.path.lexists(f"{path}-journal"):
      raise CacheError(f"{path} was being written when its disk became read-only. Open it once "
                       "where it can be written, or copy the folder to such a disk.")
    mode = "mode=ro&immutable=1"
  uri = f"{path.absolute().as_uri()}?{mode}"
  for is_last in (False, True):
    try:
      with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=_WAIT,
                                              isolation_level=None)) as db:
        db.execute("PRAGMA synchronous=EXTRA")
        mine, = db.execute("PRAGMA application_id").fetchone()
        if mine != _APPLICATION and _has_tables(db):
          raise CacheError(f"{path} is no accuracy cache: it is damaged, or a data base of another "
                           "program. Put it back from a copy.")
        return work(db)
    except sqlite3.Error as error:
      if "locked" in str(error):
        raise CacheError(
            f"Another process has held {path} for {_WAIT:.0f} seconds, or the file system has no "
            "locks. Wait until it has ended, or choose a local disk.") from error
      _try_disk(path)
      if is_last:
        raise CacheError(f"{path} is damaged, or a data base of another program ({error}). Put it "
                         "back from a copy.") from error
  raise AssertionError


def _try_disk(path: pathlib.Path) -> None:
  """Raises the error of the disk that a data base is on, if it has one."""
  try:
    path.read_bytes()
  except OSError as error:
    if io_errors.of(error):
      raise
    raise CacheError(f"{path} cannot be read ({error.strerror}). Put it back from a copy."
                     ) from error
  if os.access(path.parent, os.W_OK):  # A reader writes, too, where a killed writer has begun.
    other = path.with_name(f"{atomic_files.TEMPORARY}try")
    atomic_files.write(other, bytes(1 << 16))
    other.unlink()


def _has_tables(db: sqlite3.Connection) -> bool:
  return db.execute("SELECT 1 FROM sqlite_master").fetchone() is not None


def _digest(rows: Sequence[Any]) -> str:
  return hashlib.sha256(repr([tuple(row) for row in rows]).encode()).hexdigest()
