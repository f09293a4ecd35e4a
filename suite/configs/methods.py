# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Methods by their names: the table of them (methods.csv), their gin files, settings and refusals.

    suite run digits/clear_table --methods er,der_plus_plus --set memory_size=200
    suite.learner(model, "der_plus_plus", memory_size=200)

The table says which method runs under which protocol. Columns: `name`; `title`; `paper`, authors
and year; `file`, under gin/learners, and `macro`, the learner in it, which is the same under all
protocols; at the end `aliases`, further names with `;` between them, which may be left out; and one
column a delivery, named after the first protocol that delivers so (`incremental` has that of
`clear`), which holds

    nothing             the method runs there
    refused: MESSAGE    it is refused there, before anything is trained, with this in the message

`tests/contracts/method_matrix_test.py` runs each cell; `tools/make_methods_page.py` makes
docs/methods.md.

Case and punctuation of a name do not matter: `DER++` is `der_plus_plus`.

A row names a gin file and a macro. The settings of the method are the plain parameters of what that
macro reaches: of the learner, its memory, objective, optimizer and so on, by the constructors'
signatures and docstrings. There is no other table. A setting has the name of its parameter; where a
part has a parameter of a name that is taken, the name of the argument that holds the part goes
before: `base_epochs`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
import csv
import dataclasses
import functools
import pathlib
from typing import Any, NamedTuple

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import method_values
from suite.configs import signatures
from suite.contracts import deliveries
from suite.contracts import descriptions

# Pretraining has no rows: a method is what runs after it.
_WITH_METHODS = {name: one.delivery for name, one in descriptions.SHIPPED.items()
                 if one.delivery not in ("", deliveries.PORTIONS)}
PROTOCOLS = tuple(name for name, delivery in _WITH_METHODS.items()
                  if name == descriptions.delivering(delivery))
NAMED = tuple(_WITH_METHODS)  # All protocols that run methods, those without a column too.
_PATH = pathlib.Path(__file__).with_name("methods.csv")
_REFUSED = "refused: "
DEFAULTS = "gin/defaults/by_name.gin"
LEARNERS = "experiment.run.learners"
# What the data and the run's network are is no setting of a method.
_OF_RUNS = ("TRANSFORM", "AUGMENTED", "BACKBONE", "FEATURES", "WEIGHTS", "META_IMAGES",
            "BASE_IMAGES", "CHANNELS", "WAY", "SHOT", "NUM_SUPPORT_SETS")
_OWN_MODEL = ("BACKBONE", "FEATURES")
_GRADIENT = "suite.learners.gradient.GradientLearner"
_OPTIMIZER = "suite.training.gradient.optimizers.Momentum"
_SETTING_ALIASES = {"lr": "learning_rate"}
_OWNERS = 6  # Methods that a message names.
_MAKES = tuple(f"suite.{one}." for one in (
    "learners", "training.objectives", "training.memories", "training.statistics",
    "training.gradient.class_heads"))
_HEADS_OF_RUNS = tuple(f"suite.training.gradient.class_heads.{one}"
                       for one in ("Linear", "PerTask", "Given"))
_PARTS_OF_RUNS = ("transform", "features", "backbone", "channels", "dtype")


def column(protocol: str) -> str:
  """The column of the table that a protocol reads; the argument if it has none."""
  delivery = _WITH_METHODS.get(protocol)
  return protocol if delivery is None else descriptions.delivering(delivery)


@dataclasses.dataclass(frozen=True)
class Method:
  """A row of the table.

  Attributes:
    name, title, paper: as in the table.
    file: under gin/learners, without its ending. macro: the learner in it.
    aliases: further names.
    refusals: by protocol, a part of the message with which the method is refused; it runs under the
      other protocols.
  """

  name: str
  title: str
  paper: str
  file: str
  macro: str
  refusals: Mapping[str, str]
  aliases: tuple[str, ...] = ()

  @property
  def protocols(self) -> list[str]:
    """The protocols under which it runs."""
    return [name for name in PROTOCOLS if name not in self.refusals]


@functools.cache
def load() -> tuple[Method, ...]:
  """All methods, in the order of the table."""
  with open(_PATH, newline="", encoding="utf-8") as table:
    return tuple(
        Method(row["name"], row["title"], row["paper"], row["file"], row["macro"],
               {name: row[name][len(_REFUSED):] for name in PROTOCOLS if row[name]},
               tuple(filter(None, (row["aliases"] or "").split(";"))))
        for row in csv.DictReader(table))


def filled(methods: Sequence[Method], protocols: Sequence[str] = PROTOCOLS[:3]
           ) -> tuple[int, int]:
  """How many cells run, and how many there are, over the methods that run under one of them."""
  counted = [method for method in methods if set(method.protocols) & set(protocols)]
  running = sum(name in method.protocols for method in counted for name in protocols)
  return running, len(counted) * len(protocols)


@dataclasses.dataclass(frozen=True)
class Setting:
  """One setting of a method.

  Attributes:
    name: as users write it.
    value: the value that it has if nobody sets it.
    kind, unit, meaning: of the parameter; "" if unknown.
    parameter: "memory.Memory.memory_size".
    binds: what a binding of it names: a macro, or scope/function.parameter.
    source: where the value is from: a paper, or the authors' code; "none published" and our reason;
      the file that sets it; or the default of the constructor.
  """

  name: str
  value: Any
  kind: str
  unit: str
  meaning: str
  parameter: str
  binds: str
  source: str


def _plain(name: str) -> str:
  """A name without case and punctuation, "+" and "*" spelled out: "DER++" is "derplusplus"."""
  spelled = name.casefold().replace("+", "plus").replace("*", "star")
  return "".join(letter for letter in spelled if letter.isalnum())


@functools.cache
def _by_plain_name() -> Mapping[str, Method]:
  return {_plain(name): one for one in load() for name in (one.name, *one.aliases)}


def find(name: str) -> Method | None:
  """The method of a name or an alias, whatever their case and punctuation; None: there is none."""
  return _by_plain_name().get(_plain(name))


def named(names: Sequence[str], protocol: str = "") -> list[Method]:
  """The methods of these names, see `find`.

  Raises:
    ConfigError: a name is unknown or given twice, or the protocol refuses the method.
  """
  place, chosen = column(protocol), list[Method]()
  for name in names:
    method = find(str(name))
    if method is None:
      at_home = [one.name for one in load() if not protocol or place in one.protocols]
      near = gin_files.nearest(str(name), [one.name for one in load()])
      raise gin_files.ConfigError(
          f"There is no method {name!r}. {near} All of them: "
          f"suite list --methods{f' {protocol}' if protocol and at_home else ''}")
    if method in chosen:
      raise gin_files.ConfigError(f"The method {method.name!r} is given twice; give each once.")
    if place in method.refusals:
      raise gin_files.ConfigError(
          f"The method {method.name!r} does not run under {protocol}: {method.refusals[place]}. "
          f"It runs under {', '.join(method.protocols)}; those of {protocol}: "
          f"suite list --methods {protocol}")
    chosen.append(method)
  return chosen


def shelves(chosen: Sequence[Method], protocol: str = "") -> list[str]:
  """The gin files that hold methods, those of the lowest rank first."""
  # The shelf of buckets has the settings of CLEAR's table, which need that table's lengths.
  has_shelf = protocol in PROTOCOLS and protocol != descriptions.delivering(
      deliveries.BUCKETS)
  files = [f"gin/learners/{name}.gin" for name in (
      *[protocol] * has_shelf, *dict.fromkeys(one.file for one in chosen))]
  return [DEFAULTS, *files]


def protocol_of(path: pathlib.Path, further: Sequence[pathlib.Path] = (),
                params: Sequence[str] = ()) -> str:
  """The protocol that a run file runs; "" for one of a user."""
  own = [param for param in params if param.startswith(gin_files.PROTOCOL)]
  return gin_files.protocol_in(gin_files.scan([path, *further], own, checks=False).history)


def check_run(name: str, path: pathlib.Path) -> None:
  """Refuses a table, whose rows are other runs."""
  found = gin_files.scan([path], checks=False)
  if any(parameter.startswith(("table.run.", "table.Report.")) for parameter in found.parameters):
    raise gin_files.ConfigError(f"{name} is a table, whose rows name their methods; --methods is "
                                "for single runs. Take a part of the table by --only ROW.")


def learners(chosen: Sequence[Method]) -> str:
  """The binding that makes these methods the learners of a run."""
  of_each = ", ".join(f"{one.name!r}: %{one.macro}" for one in chosen)
  return f"{LEARNERS}={{{of_each}}}"


def settings_of(method: Method, protocol: str = "") -> Mapping[str, Setting]:
  """The settings of a method by name, in the order from the learner to its parts."""
  return settings_in(_scanned(tuple(shelves([method], protocol)), protocol), method)


@functools.lru_cache(maxsize=16)  # The methods of a file share it.
def _scanned(files: Sequence[str], protocol: str) -> gin_files.Scan:
  paths = [gin_files.find_file(name, "methods.csv") for name in files]
  return gin_files.scan(paths, checks=False, protocol=protocol)


def makes(history: gin_bindings.History, value: Any) -> tuple[str, frozenset[str]]:
  """What a learner is: the reference that makes it, and its learner, objective, memory rule and
  statistics, as names of classes. Heads count where they are no choice of a run.
  """
  final = {key: settings[-1:] for key, settings in history.items()}
  start, _ = gin_bindings.followed(final, value)
  _, names = gin_bindings.made_by(final, start)
  made = (f"@{start.scope}/{start.name}" if isinstance(start, gin_bindings.GinReference) else
          repr(start))
  return made, frozenset(
      name.rpartition(".")[2] for name in names
      if name.startswith(_MAKES) and name not in _HEADS_OF_RUNS)


@functools.cache
def makes_by_itself(name: str, protocol: str) -> tuple[str, frozenset[str]]:
  """What the method of a name is under a protocol, as the suite ships it; see `makes`."""
  method = next(one for one in load() if one.name == name)
  found = _scanned(tuple(shelves([method], protocol)), protocol)
  return makes(found.history, gin_bindings.GinReference.to_macro(method.macro))


def named_settings(method: Method, name: str, protocol: str = "") -> Mapping[str, Setting]:
  """The settings of a method that named settings change, as they make them."""
  plain = settings_of(method, protocol)
  rows = {row.macro: row for row in method_values.load()
          if row.settings == name and row.method in ("", method.name)}
  return {key: dataclasses.replace(one, value=rows[one.binds].value, source=rows[one.binds].origin)
          for key, one in plain.items() if one.binds in rows}


def settings_in(found: gin_files.Scan, method: Method) -> Mapping[str, Setting]:
  """The settings of a method in a configuration that holds it."""
  values: dict[str, Setting] = {}
  for part, scope, function, parameter in _reached(found, method.macro):
    key = _key(found.history, scope, function, parameter.name)
    value, macro, _ = _value(found.history, key)
    if value is None and key is None and parameter.default is not None:
      value = _literal(parameter.default)
    is_plain = parameter.is_plain or isinstance(value, (int, float, str))
    if not is_plain or isinstance(value, gin_bindings.GinReference) or macro in _OF_RUNS:
      continue
    name = parameter.name if parameter.name not in values else f"{part}_{parameter.name}"
    if not part and name in values or name in values:
      continue
    written = f"{'.'.join(function.split('.')[-2:])}.{parameter.name}"
    binds = macro or (f"{scope}/{written}" if key is None and scope else
                      f"{key[0]}/{written}" if key and key[0] else written)
    values[name] = Setting(name, value, parameter.kind_in_words, parameter.unit, parameter.meaning,
                           written, binds, _source(found.history, key))
  return values


class Build(NamedTuple):
  """What is needed to build a method around a model of the user.

  Attributes:
    settings: by name.
    scope: of the learner.
    is_gradient: whether it is a `GradientLearner`.
    has_optimizer: whether the method sets something of the optimizer, as MER does.
    takes_model: whether it trains or reads the backbone of a run; others make their networks.
  """

  settings: Mapping[str, Setting]
  scope: str
  is_gradient: bool
  has_optimizer: bool
  takes_model: bool


def build_of(method: Method, protocol: str) -> Build:
  """What is needed to build a method for a protocol; the files are those of `own_shelves`."""
  paths = [gin_files.find_file(name, "methods.csv") for name in own_shelves(method, protocol)]
  found = gin_files.scan(paths, [learners([method])], checks=False, protocol=protocol)
  start, *_ = _value(found.history, (method.macro, gin_bindings.MACRO, "value"))
  macros = {key[0] for key in gin_bindings.reached(found.history) or ()
            if key[1] == gin_bindings.MACRO}
  return Build(settings_in(found, method), start.scope, start.name == _GRADIENT,
               any(key[:2] == (start.scope, _OPTIMIZER) for key in found.history),
               bool(macros & set(_OWN_MODEL)))


def own_shelves(method: Method, protocol: str) -> list[str]:
  """The gin files that hold a method for a model of the user, as a frozen one too."""
  return [DEFAULTS, "gin/learners/encoder.gin", *shelves([method], protocol)[1:]]


def bindings(found: Mapping[str, Setting], given: Mapping[str, Any], what: str) -> list[str]:
  """Bindings X=Y of settings by name.

  Raises:
    ConfigError: a name is not among the settings `found`; `what` has them.
  """
  for name in given:
    if name not in found:
      raise gin_files.ConfigError(
          f"{what} has no setting {name!r}; it has {', '.join(sorted(found))}. "
          f"{owners(name) or gin_files.nearest(name, found)}")
  return [f"{found[name].binds}={value!r}" for name, value in given.items()]


def setting_name(name: str) -> str:
  """The name of a setting that users also write as `lr`."""
  return _SETTING_ALIASES.get(name, name)


def owners(name: str) -> str:
  """Which methods have a setting of this name, for a message; "" if none has."""
  name = setting_name(name)
  found = [method.name for method in load() if any(
      name in settings_of(method, protocol) for protocol in method.protocols)]
  more = f" and {len(found) - _OWNERS} more" if len(found) > _OWNERS else ""
  return f"It is a setting of {', '.join(found[:_OWNERS])}{more}." if found else ""


def changes(found: gin_files.Scan, before: gin_files.Scan, settings: str | None = None
            ) -> dict[str, str]:
  """The text beside the label of a learner in reports: its method, and values that differ from its.

  These are values that differ from those of the table of values, whether the run file or the user
  set them; and of settings that the table does not have for the method, what the user changed.

  Args:
    found: a run's files and bindings.
    before: of the same run what it sets by itself.
    settings: the named settings of methods.

  Returns:
    By label, {"mine": "er: memory_size=200"}; nothing of a method under its own name as it is.
  """
  known = {method.macro: method for method in load()}
  learners_of, protocol = gin_files.value_in(found.history, LEARNERS), gin_files.protocol_in(
      found.history)
  selected = gin_files.value_in(found.history, gin_files.SELECTED)
  said: dict[str, str] = {}
  for label, made in learners_of.items() if isinstance(learners_of, dict) else ():
    method = known.get(getattr(made, "scope", ""))
    if method is None or getattr(made, "name", "") != gin_bindings.MACRO:
      continue
    own = {name: one.value for name, one in settings_in(before, method).items()}
    own |= {name: row.value for name, row in method_values.of_method(
        method.name, protocol, settings or "").items() if name in own}
    parts = [f"settings={settings}"] if settings and named_settings(method, settings) else []
    parts += [f"selected on {selected['on']}"] if selected else []
    parts += [f"{name}={one.value}" for name, one in settings_in(found, method).items()
              if name in own and one.value != own[name]]
    name = "" if label == method.name else method.name
    if name or parts:
      said[str(label)] = ": ".join(filter(None, [name, ", ".join(parts)]))
  return said


def resolved(found: gin_files.Scan, chosen: Sequence[Method], params: Sequence[str]
             ) -> list[str]:
  """Bindings X=Y in which X may be a setting of the chosen methods.

  Args:
    found: a configuration that holds the methods.
    chosen: those whose settings count; a setting of several is set for each of them.
    params: as of --gin_param.
  """
  made: list[str] = []
  for param in params:
    name, equals, value = param.partition("=")
    name = name.strip()
    if not equals or not name.isidentifier() or name in found.macros:
      made.append(param)
      continue
    name = setting_name(name)
    of_each = [settings for settings in (settings_in(found, one) for one in chosen)
               if name in settings]
    if not of_each:
      every = {key for one in chosen for key in settings_in(found, one)}
      raise gin_files.ConfigError(
          f"No method of {', '.join(one.name for one in chosen)} has a setting {name!r}, and no "
          f"file of this run declares a macro of that name; settings: {', '.join(sorted(every))}. "
          f"{owners(name) or gin_files.nearest(name, [*every, *found.macros])}")
    made += dict.fromkeys(f"{settings[name].binds}={value}" for settings in of_each)
  return made


def _reached(found: gin_files.Scan, macro: str
             ) -> Iterator[tuple[str, str, str, signatures.Parameter]]:
  """Yields (argument that holds the part, scope, function, parameter), the learner's first."""
  start, *_ = _value(found.history, (macro, gin_bindings.MACRO, "value"))
  waiting, seen = [("", "", start)], set()
  while waiting:
    part, outer, reference = waiting.pop(0)
    scope = reference.scope or outer
    if not isinstance(reference, gin_bindings.GinReference) or (scope, reference.name) in seen:
      continue
    seen.add((scope, reference.name))
    for parameter in signatures.parameters(reference.name).values():
      if parameter.name in _PARTS_OF_RUNS:
        continue
      yield part, scope, reference.name, parameter
      value, through, last = _value(
          found.history, _key(found.history, scope, reference.name, parameter.name))
      if through not in _OF_RUNS:
        waiting += [(parameter.name, last or scope, one)  # Gin opens the scope of a macro.
                    for one in gin_bindings.references(value)]


def _key(history: gin_bindings.History, scope: str, function: str, argument: str
         ) -> gin_bindings.Key | None:
  """The key that gives an argument of a call in a scope; None if the default does."""
  return next((key for key in gin_bindings.inherited(scope, function, argument)
               if key in history and history[key][-1].value is not gin_files.REQUIRED), None)


def _source(history: gin_bindings.History, key: gin_bindings.Key | None) -> str:
  """Where the value of a setting is from."""
  if key is None:
    return "the default of its constructor"
  setting = history[key][-1]
  while isinstance(setting.value, gin_bindings.GinReference) and (
      setting.value.name == gin_bindings.MACRO):
    further = history.get((setting.value.scope, gin_bindings.MACRO, "value"))
    if further is None:
      break
    setting = further[-1]
  row = method_values.of_line(setting.file, setting.line)
  if row is not None:
    return row.origin
  shipped = pathlib.Path(setting.file)
  return (shipped.relative_to(gin_files.root()).as_posix()
          if shipped.is_relative_to(gin_files.root()) else setting.where)


def _value(history: gin_bindings.History, key: gin_bindings.Key | None) -> tuple[Any, str, str]:
  """(value, the first macro that it comes from, the last one), "" for none."""
  value, first, last = history[key][-1].value if key in history else None, "", ""
  while isinstance(value, gin_bindings.GinReference) and value.name == gin_bindings.MACRO:
    if value.scope in _OF_RUNS:
      return value, value.scope, value.scope
    first, last, key = first or value.scope, value.scope, (value.scope, gin_bindings.MACRO, "value")
    value = history[key][-1].value if key in history else None
  return (None if value is gin_files.REQUIRED else value), first, last


@functools.cache
def _literal(text: str) -> Any:
  try:
    return ast.literal_eval(text)
  except ValueError:
    return gin_bindings.GinReference(text)  # An object.
