# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Where and how a run computes: the flags of `suite run`, and the settings of `suite.run`.

What runs is said by gin; a run file never sets what stands here, but `seed`, `op_threads` and
`budget`, which `experiment.run` takes from either. Each default stands here and nowhere else. The
command line's flags are made from the fields, and so are the flags of the runs that a table starts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
import dataclasses
import os
import pathlib
import re
import types
from typing import Any, NamedTuple

from suite.compute import ledger
from suite.configs import chosen_settings
from suite.configs import gin_files
from suite.configs import gin_names
from suite.configs import methods
from suite.configs import run_files
from suite.system import folders

# compute.distribution.NAMES
STRATEGIES = ("one_device", "mirrored", "multi_worker", "slurm", "tpu")
PRECISIONS = ("float32", "bfloat16", "mixed_bfloat16", "mixed_float16", "tf32")  # precision.NAMES
CODES, NO_CODES = "codes", "none"  # The folder of codes in a work directory; no folder.
DATA_FLAGS = ("data_dir", "mirror")
# Former settings, and why each was taken out.
MOVED = {"trusted_modules": "it let a gin file run any code that these modules reach. Now "
         "gin_names, --gin_names shipped, lists the functions and classes that gin files may name; "
         "add your own by their full names: shipped,my_nets.small"}


_LONGEST = 120  # Letters of a work directory's name.


def positive(text: str) -> int:
  """The value of a flag, a whole number from 1."""
  if not text.isdigit() or int(text) < 1:
    raise argparse.ArgumentTypeError(f"got {text!r}, allowed is a whole number from 1")
  return int(text)


def _size_gb(text: str) -> float:
  try:
    value = float(text)
  except ValueError:
    value = -1.0
  if not 0 <= value < float("inf"):
    raise argparse.ArgumentTypeError(f"got {text!r}, allowed is a number of GB, such as 2.5")
  return value


def _kept(text: str) -> str:
  if not re.fullmatch(r"states=[1-9][0-9]*", text):
    raise argparse.ArgumentTypeError(f"got {text!r}, allowed is states=N, such as states=5: the "
                                     "state before every N-th event is kept")
  return text


def _folder(text: str) -> str:
  if not text:  # A shell variable that is not set.
    raise argparse.ArgumentTypeError("it is empty; give a folder, or leave it out")
  return text


def _names(text: str) -> tuple[str, ...]:
  try:
    return gin_names.parsed(text)
  except ValueError as error:
    raise argparse.ArgumentTypeError(str(error)) from error


def _flag(default: Any, text: str, **parsed: Any) -> Any:
  """A field that is a flag: its default, its help, and further arguments of `add_argument`."""
  return dataclasses.field(default=default, metadata={"help": text, **parsed})


def _data_flag(variable: str, text: str) -> Any:
  """A folder of data, whose default is an environment variable."""
  return dataclasses.field(default_factory=lambda: os.environ.get(variable),
                           metadata={"help": text, "metavar": "DIR"})


@dataclasses.dataclass(frozen=True)
class RunSettings:
  """The settings of a run, or of every run of a table; see the flags' help.

  Attributes:
    progress: whether a bar, or lines, show how far a run is.
    seed: all randomness derives from it.
    op_threads: CPU threads of one op, and of a matrix product of NumPy; None: all cores. 1 is
      faster where many small graphs run side by side, as episodes do. $TF_NUM_INTRAOP_THREADS
      takes precedence.
    budget: of each learner, such as "1 TFLOP, 20 MB", see `ledger.Budget`; "": none.
    command: how the user started the run, for the record.
  """

  workdir: str = _flag("", "results and state (./runs/RUN)", type=_folder, metavar="DIR")
  strategy: str = _flag(
      STRATEGIES[0], "tf.distribute strategy (%(default)s)", choices=STRATEGIES)
  data_dir: str | None = _data_flag(
      "LIFELONG_DATA_DIR", "prepared data sets ($LIFELONG_DATA_DIR, else TFDS's default)")
  mirror: str | None = _data_flag(
      "LIFELONG_MIRROR", "folder of archives, searched before any download ($LIFELONG_MIRROR)")
  devices: int | None = _flag(
      None, "number of GPUs, or of logical CPU devices without a GPU (all)", type=positive,
      metavar="N")
  gin_names: Sequence[str] = _flag(
      (), "for gin files of somebody else: refuse them if they name other functions and classes "
      "than these. shipped: those of the suite's list, which suffices for shipped runs; further "
      "ones by full name (everything)", type=_names, metavar="shipped,A.B")
  deterministic: bool | None = _flag(
      None, "refuse ops without a deterministic kernel (on a CPU yes, on a GPU no)",
      action=argparse.BooleanOptionalAction)
  precision: str = _flag(
      PRECISIONS[0], "of nets; variables, norms and losses stay float32 (%(default)s)",
      choices=PRECISIONS)
  xla: bool = _flag(False, "let XLA compile clusters of ops", action="store_true")
  profile: bool = _flag(
      False, "write a profiler trace of each learner's first event for TensorBoard",
      action="store_true")
  share: bool = _flag(
      False, "given to several processes with one --workdir: they share the trials of the run's "
      "searches", action="store_true")
  tracker: str = _flag(
      "", "send records and summaries there, too, such as to wandb; the package must be installed "
      "(docs/reports.md)", metavar="NAME")
  keep: str = _flag(
      "", "states=N: keep the state before every N-th event, and write a digest of the state "
      "before each, for suite submit (docs/submissions.md)", type=_kept, metavar="states=N")
  codes: str = _flag(
      "", "folder for the codes that frozen nets make of images, each once for all learners, tasks "
      "and seeds that share the folder; none: nothing is kept (WORKDIR/codes)",
      type=_folder, metavar="DIR")
  codes_gb: float = _flag(
      10.0, "size of that folder; further images are encoded each time (10)",
      type=_size_gb, metavar="GB")
  debug: bool = _flag(False, "show the traceback of every error", action="store_true")
  progress: bool = True
  seed: int = 0
  op_threads: int | None = None
  budget: str = ""
  command: str = ""

  def __post_init__(self) -> None:
    if not isinstance(self.seed, int):
      raise gin_files.ConfigError(
          f"experiment.run.seed is {self.seed!r}; it must be a whole number.")
    threads = self.op_threads
    if threads is not None and (not isinstance(threads, int) or threads < 1):
      raise gin_files.ConfigError(f"experiment.run.op_threads is {threads!r}; it must be at least "
                                  "1, or None for all cores.")
    try:
      _kept(self.keep or "states=1")
    except argparse.ArgumentTypeError as error:
      raise gin_files.ConfigError(f"keep: {error}") from error
    try:
      self.limits()
    except ledger.BudgetError as error:
      raise gin_files.ConfigError(f"experiment.run.budget: {error}") from error

  def keep_every(self) -> int | None:
    """N of keep="states=N"; None: no state is kept."""
    return int(self.keep.partition("=")[2]) if self.keep else None

  def limits(self) -> ledger.Budget | None:
    """The budget; None: there is none."""
    return ledger.Budget.parse(self.budget) if self.budget else None

  def codes_folder(self) -> pathlib.Path | None:
    """The folder of codes; None: they are not kept."""
    if self.codes == NO_CODES:
      return None
    return pathlib.Path(self.codes or os.path.join(self.workdir, CODES))

  def of_part(self, workdir: str) -> RunSettings:
    """The settings of a run that is a part of this one: it has a folder, and shares the codes."""
    folder = self.codes_folder()
    return self.replaced(workdir=workdir, codes=NO_CODES if folder is None else str(folder))

  def replaced(self, **changes: Any) -> RunSettings:
    """These settings with changes."""
    return dataclasses.replace(self, **changes)

  def for_run(self, name: str) -> RunSettings:
    """These settings with the work directory of a run of this name, if none was given."""
    return self if self.workdir else self.replaced(workdir=os.path.join("runs", name))

  def flags(self, *names: str) -> list[str]:
    """The flags that make these settings in a child process; `names`: only these fields."""
    found: list[str] = []
    for field in dataclasses.fields(self):
      value, action = getattr(self, field.name), field.metadata.get("action")
      default = None if field.default is dataclasses.MISSING else field.default
      if not field.metadata or value in (default, None, "") or (names and field.name not in names):
        continue
      if action is not None:
        found.append(f"--{field.name}" if value else f"--no-{field.name}")
      else:
        found += [f"--{field.name}", str(value) if isinstance(value, (str, int, float)) else
                  ",".join(value)]
    return found

  def set_data_dirs(self) -> None:
    """Sets environment variables: TFDS reads them when imported, child processes inherit them."""
    if self.mirror:
      if not all(os.path.isdir(folder) for folder in self.mirror.split(os.pathsep)):
        raise gin_files.ConfigError(
            f"The mirror {self.mirror!r} is no folder. Give the folder that holds the archives, or "
            "leave --mirror out to download them.")
      os.environ["LIFELONG_MIRROR"] = self.mirror
    if self.data_dir:
      folders.check(self.data_dir, "--data_dir (or $LIFELONG_DATA_DIR)")
      os.environ["LIFELONG_DATA_DIR"] = os.environ["TFDS_DATA_DIR"] = self.data_dir


@dataclasses.dataclass(frozen=True)
class RunFile:
  """A run file and what is changed in it.

  Attributes:
    name: short name.
    path: the file.
    extra_files: gin files that are read after it.
    params: bindings X=Y, read last.
    methods: names of methods that take the place of its learners; (): its own learners.
    shelves: the gin files that hold these methods.
    method_settings: the named settings of methods that `params` ask for, or the name of the file
      that has them; "": published values.
  """

  name: str
  path: pathlib.Path
  extra_files: Sequence[str] = ()
  params: Sequence[str] = ()
  methods: Sequence[str] = ()
  shelves: Sequence[str] = ()
  method_settings: str = ""

  @property
  def folder(self) -> str:
    """The name of its work directory under runs/, another one for other methods or settings."""
    return "-".join(filter(None, [self.name, *self.methods, self.method_settings]))[:_LONGEST]

  def paths(self) -> list[pathlib.Path]:
    """All files, in the order in which they are read."""
    return [*(gin_files.find_file(shelf, "--methods") for shelf in self.shelves), self.path,
            *(gin_files.find_file(extra, "--gin_file") for extra in self.extra_files)]

  def bindings(self) -> list[str]:
    """All bindings: what makes the methods its learners, then `params`."""
    return [*self.learners(), *self.params]

  def learners(self) -> list[str]:
    """The binding that makes the methods its learners, if there are some."""
    chosen = methods.named(self.methods)
    return [methods.learners(chosen)] if chosen else []

  def changes(self, found: gin_files.Scan) -> dict[str, str]:
    """What reports say beside a learner's label, see `methods.changes`."""
    shipped = dataclasses.replace(self, extra_files=(), params=())
    own = [param for param in self.params if param.startswith(gin_files.SETTINGS)]
    before = gin_files.scan(shipped.paths(), [*self.learners(), *own], checks=False,
                            protocol=gin_files.protocol_in(found.history))
    return methods.changes(found, before, gin_files.value_in(found.history, gin_files.SETTINGS))

  def with_methods(self, names: Sequence[str]) -> RunFile:
    """This run with methods by their names; `params` may set their settings: "memory_size=200"."""
    further = self.paths()[1:]
    methods.check_run(self.name, self.path)
    protocol = methods.protocol_of(self.path, further, self.params)
    chosen = methods.named(names, protocol)
    made = dataclasses.replace(
        self, methods=tuple(one.name for one in chosen),
        shelves=tuple(methods.shelves(chosen, protocol)))
    found = gin_files.scan(made.paths(), checks=False)
    return dataclasses.replace(made, params=tuple(
        methods.resolved(found, chosen, self.params)))


class RunIdentity(NamedTuple):
  """The identity of a learner's run: what its results depend on and its user can change.

  Attributes:
    texts: by name, see `running/run_parts.py`.
    models: instances whose weights are no part of it, since chance gave them, by name.
    after: () -> the texts of code and learners once more, some of which the run may have changed.
  """

  texts: Mapping[str, str] = types.MappingProxyType({})
  models: Mapping[str, Any] = types.MappingProxyType({})
  after: Callable[[], Mapping[str, str]] = dict


@dataclasses.dataclass(frozen=True)
class RunOrigin:
  """The origin of a run's configuration, for the record.

  Attributes:
    identity: name of a learner -> the identity of its run, but for the run's settings; None: it is
      the configuration's text.
    config_text: the configuration, stored beside the results as config.gin; the part that was used,
      defaults included, is stored as operative_config.gin.
    find_unused: (operative config, names of the learners that were chosen) -> bindings that the
      finished run did not use.
    changes: what reports say beside the labels of learners, see `methods.changes`.
  """

  config_text: str = ""
  identity: Callable[[str], RunIdentity] | None = None
  find_unused: Callable[[str, Sequence[str]], list[str]] | None = None
  changes: Mapping[str, str] = dataclasses.field(default_factory=dict)


def add_flags(parser: argparse._ActionsContainer, *names: str) -> None:
  """Adds the flags of these fields to a parser."""
  fields = {field.name: field for field in dataclasses.fields(RunSettings)}
  for name in names:
    default, factory = fields[name].default, fields[name].default_factory
    if factory is not dataclasses.MISSING:
      default = factory()
    elif "type" in fields[name].metadata:
      default = None  # argparse would convert it; `from_flags` leaves it to the dataclass.
    parser.add_argument(f"--{name}", default=default, **fields[name].metadata)


def from_flags(args: argparse.Namespace) -> RunSettings:
  """The settings that a command line says."""
  given = {name: getattr(args, name) for name in names() if hasattr(args, name)}
  return RunSettings(**{name: value for name, value in given.items() if value is not None})


def names() -> list[str]:
  """The names of all settings."""
  return [field.name for field in dataclasses.fields(RunSettings)]


def from_python(given: Mapping[str, Any]) -> RunSettings:
  """The settings that a call of `suite.run` says."""
  unknown = sorted(set(given) - set(names()))
  for name in unknown:
    if name in MOVED:
      raise gin_files.ConfigError(f"suite.run has no setting {name!r}: {MOVED[name]}.")
  if unknown:
    raise gin_files.ConfigError(
        f"suite.run has no setting {unknown[0]!r}; it has {', '.join(names())}. "
        f"{gin_files.nearest(unknown[0], names())}")
  return RunSettings(**given)


def find(run: str, *, methods: Sequence[str] = (), method_settings: str = "",
         params: Sequence[str] = (), **changes: Any) -> RunFile:
  """The run file of a shipped name or path, with further attributes of `RunFile`."""
  name, path = run_files.find(run)
  if chosen_settings.is_file(method_settings):
    chosen = chosen_settings.read(method_settings)
    params, method_settings = chosen.params(params, methods), chosen.path.stem
  elif method_settings:
    gin_files.check_settings(method_settings)
    params = [f"{gin_files.SETTINGS}={method_settings!r}", *params]
  file = RunFile(name, path, params=params, method_settings=method_settings, **changes)
  return file.with_methods(methods) if methods else file
