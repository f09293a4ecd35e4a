# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite compare`: methods on a user's data in one command, with a page that fills as they run.

It writes a run file (`running/compare.py`) and runs it as `suite run FILE --seeds 0,1,2` does. The
page is a file, made again from the records while processes write them; it reloads itself, so it
needs no server and no port.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import contextlib
import os
import pathlib
import re
import sys
import threading
import time
from typing import Any
import webbrowser

from absl import logging

from suite.commands import parsing
from suite.configs import gin_files
from suite.configs import run_settings
from suite.contracts import descriptions
from suite.running import this_process
from suite.system import atomic_files
from suite.system import folders

# compare.PROTOCOLS
_PROTOCOLS = (descriptions.INCREMENTAL, descriptions.CLEAR, descriptions.FLUID)
_SECONDS = 10.0  # Between two pages, at least.
_SHARE = 0.1  # Of the time, at most, in which pages are made.
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
_ENDINGS = (".html", ".htm", ".gin", ".md", ".csv", ".tex", ".txt")  # Of files, not of a folder.
_IN_LATEX = ("headline", "significance")


def add(compare: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite compare`."""
  run_settings.add_flags(compare, "debug", *run_settings.DATA_FLAGS)
  compare.add_argument("data", metavar="DATA", help="a folder with a folder of images for each "
                       "class, a table (.csv, .parquet), or the name of a prepared data set")
  parsing.by(compare.add_argument(
      "--methods", type=parsing.listed, required=True, metavar="NAME,FILE.py:CLASS",
      help="names of suite list --methods, and classes of yours"), parsing.methods)
  compare.add_argument("--seeds", type=_seeds, default=[0, 1, 2], metavar="N",
                       help="number of seeds, from 0 on; or the seeds: 5,6,7 (3)")
  compare.add_argument("--protocol", choices=_PROTOCOLS, default=_PROTOCOLS[0],
                       help="incremental: classes come task by task; clear: buckets in the order "
                       "of time; fluid: one sample at a time (%(default)s)")
  compare.add_argument("--tasks", type=run_settings.positive, metavar="N",
                       help="incremental: number of tasks (5, fewer with fewer than 10 classes)")
  compare.add_argument("--net", default="conv4", metavar="NAME|FILE.py:FUNCTION|FILE.keras",
                       help="conv4, resnet18, efficientnet_lite0 (pretrained), ..., a function "
                       "that makes a Keras model, or a model (%(default)s)")
  compare.add_argument("--head", choices=("new", "replace"), default="new",
                       help="of a net of yours: replace leaves its last layer out (%(default)s)")
  compare.add_argument("--epochs", type=run_settings.positive, metavar="N",
                       help="passes over the images of a task (5; fluid: as published)")
  compare.add_argument("--image_size", type=run_settings.positive, metavar="PIXELS",
                       help="to which images are resized (the net's, else 32)")
  compare.add_argument("--set", action="append", default=[], dest="bindings", metavar="NAME=VALUE",
                       help="a setting of the methods or a binding: --set memory_size=500; may be "
                       "repeated")
  compare.add_argument("--jobs", type=run_settings.positive, default=1, metavar="N",
                       help="number of seeds that run at the same time (%(default)s)")
  compare.add_argument("--out", default="", metavar="DIR",
                       help="run file, page and results (runs/compare/DATA-PROTOCOL)")
  compare.add_argument("--open", action="store_true", help="open the page in a browser")
  compare.set_defaults(do=_compare)


def _seeds(text: str) -> list[int]:
  parts = text.split(",")
  if not all(part.strip().isdigit() for part in parts) or len(parts) == 1 and int(text) < 1:
    raise argparse.ArgumentTypeError(f"got {text!r}, allowed is their number, 3, or a list, 5,6,7")
  return [int(part) for part in parts] if len(parts) > 1 else list(range(int(text)))


def _title(data: str) -> str:
  """The name of a folder, a table or a data set, as files are named after it."""
  place = pathlib.Path(data).expanduser()
  name = place.stem if place.is_file() else place.resolve().name if place.is_dir() else place.name
  return re.sub(r"[^\w.+-]+", "_", name) or "data"


def _compare(args: argparse.Namespace) -> int:
  settings = run_settings.from_flags(args)
  bindings = dict(one.split("=", 1) for one in args.bindings if "=" in one)
  if len(bindings) < len(args.bindings):
    raise gin_files.ConfigError(f"--set takes NAME=VALUE, each name once; got "
                                f"{', '.join(args.bindings)}.")
  title = _title(args.data)
  out = pathlib.Path(args.out or os.path.join("runs", "compare", f"{title}-{args.protocol}"))
  if out.suffix.lower() in _ENDINGS:
    raise gin_files.ConfigError(f"--out {out} is the folder of the run file, the page and the "
                                f"results; leave {out.suffix!r} out.")
  folders.check(str(out), "--out")
  settings.set_data_dirs()
  this_process.import_tensorflow()
  from suite.running import compare
  from suite.running import launch
  try:
    prepared = compare.prepare(compare.Comparison(
        args.data, args.methods, args.protocol, args.net, args.head, args.tasks, args.epochs,
        args.image_size, bindings), args.command)
  except (ValueError, OSError) as error:
    if not this_process.is_our_message(error):
      raise
    raise gin_files.ConfigError(str(error)) from error
  folders.make(out, "--out")
  file = out / f"{title}.gin"
  atomic_files.write(file, prepared.text.encode("utf-8"))
  settings = settings.replaced(workdir=str(out / "runs"), command=args.command)
  page = _Page(out / "index.html", pathlib.Path(settings.workdir), prepared.labels, args.seeds,
               [("Run file", prepared.text), ("Python", _python(file, settings, args))],
               prepared.about)
  print(f"{prepared.about}.\nPage: {page.path.resolve()}\nThe same from Python:\n\n"
        f"{page.texts[1][1]}", flush=True)
  with page.written():
    if args.open:
      _open(page.path)
    result = launch.table_run(run_settings.find(str(file)), settings, seeds=args.seeds,
                              jobs=args.jobs)()
    page.failed = result.failed
  print(result.report)
  for line in result.failed:
    print(f"suite: failed: {line}", file=sys.stderr)
  for line in result.elsewhere:
    print(f"suite: runs elsewhere: {line}; give the same command when it has ended",
          file=sys.stderr)
  return 1 if result.failed or result.elsewhere else 0


def _python(file: pathlib.Path, settings: run_settings.RunSettings, args: argparse.Namespace
            ) -> str:
  """The program that runs or reads the same."""
  given = {"seeds": args.seeds, "workdir": settings.workdir, "jobs": args.jobs,
           "data_dir": settings.data_dir, "mirror": settings.mirror}
  words = ", ".join(f"{name}={value!r}" for name, value in given.items()
                    if value is not None and (name, value) != ("jobs", 1))
  return f"import suite\n\nresult = suite.run({str(file)!r}, {words})\nprint(result)\n"


def _open(path: pathlib.Path) -> None:
  """Opens the page; without a browser one line says so."""
  has_display = sys.platform != "linux" or any(map(os.environ.get, _DISPLAYS))
  try:  # A text browser would take the terminal.
    opened = has_display and webbrowser.open(path.resolve().as_uri())
  except webbrowser.Error:
    opened = False
  if not opened:
    logging.warning("--open: there is no browser here. Open the page elsewhere: %s", path.resolve())


class _Page:
  """The page of runs that go on.

  Args:
    path: its file.
    folder: work directory of the table.
    labels, seeds: of the methods and their runs.
    texts: further texts on the page, by their titles.
    about: a line about what is compared.
  """

  def __init__(self, path: pathlib.Path, folder: pathlib.Path, labels: Sequence[str],
               seeds: Sequence[int], texts: Sequence[tuple[str, str]], about: str):
    self.path, self.texts = path, list(texts)
    self._folder, self._labels, self._seeds, self._about = folder, labels, seeds, about
    self._seen: Any = None
    self.failed: Sequence[str] = ()  # A line for each run that failed.
    self._ended = threading.Event()

  @contextlib.contextmanager
  def written(self) -> Iterator[None]:
    """Writes the page now, meanwhile whenever there are new records, and at the end."""
    self._write(is_last=False)
    thread = threading.Thread(target=self._follow, name="page", daemon=True)
    thread.start()
    try:
      yield
    finally:
      self._ended.set()
      thread.join()
      self._try_to_write(is_last=True)

  def _follow(self) -> None:
    wait = _SECONDS
    while not self._ended.wait(wait):
      began = time.monotonic()
      self._try_to_write(is_last=False)
      wait = max(_SECONDS, (time.monotonic() - began) / _SHARE)

  def _try_to_write(self, *, is_last: bool) -> None:
    try:
      self._write(is_last=is_last)
    except (ValueError, OSError) as error:  # Of files that are being written: the next page has it.
      logging.info("The page is not renewed now: %s", gin_files.first_line(error))

  def _write(self, *, is_last: bool) -> None:
    from suite.reporting import run_dir
    from suite.reporting import table_dir
    from suite.reporting.formats import renderers
    from suite.reporting.run_panels import report_sections
    files = sorted(one for name in (run_dir.RECORDS, run_dir.SUMMARY) for one in
                   self._folder.rglob(name) if one.stat().st_size)
    seen = is_last, [(one, one.stat().st_mtime_ns) for one in files]
    if seen == self._seen:
      return
    # The runs, without the table that they make, which says the same again.
    cells = dict.fromkeys(one.parents[1] for one in files if one.name == run_dir.RECORDS)
    sections = report_sections.load(cells)
    texts = self.texts
    if chosen := report_sections.chosen(sections, _IN_LATEX):
      texts = [("LaTeX", renderers.latex(chosen)), *texts]
    progress = self._progress(table_dir.read(self._folder, check=False) if table_dir.is_table(
        self._folder) else None, is_last)
    text = renderers.html_page([progress, *sections], self.path, self._about, texts=texts,
                               refresh=0 if is_last else int(_SECONDS))
    atomic_files.write(self.path, text.encode("utf-8"))
    self._seen = seen

  def _progress(self, table: Any, is_last: bool) -> Any:
    """A section with a row for each method: how far its seeds are."""
    from suite.reporting import panels
    from suite.reporting import records
    from suite.reporting import run_dir
    from suite.state import run_identity
    rows = []
    for label in self._labels:
      states = []
      for seed in self._seeds:
        folder = None if table is None else run_identity.latest(
            table.cell(table.rows[0], table.columns[0], seed), label)
        if folder is not None and (folder / run_dir.SUMMARY).exists():
          states.append("finished")
        elif folder is not None and (folder / run_dir.RECORDS).exists():
          done = records.read(folder / run_dir.RECORDS, tolerate_torn_tail=True)
          states.append(f"{len(done)} events")
        else:
          states.append("waits")
      rows.append([label, *states])
    columns = [panels.Column("method"), *(panels.Column(f"seed {seed}") for seed in self._seeds)]
    notes = [f"Failed: {line}" for line in self.failed]
    if is_last and any(set(states) != {"finished"} for _, *states in rows):
      notes.append("The command has ended. The same command resumes it.")
    return panels.Section("Progress", [panels.Panel("progress", "Progress", columns, rows, notes)])
