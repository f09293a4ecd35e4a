# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reads the files of a run and checks them before anything heavy is imported.

Gin itself finds an unset macro only after it has imported TensorFlow, and never finds a misspelled
one (`EPOCHSS=3` binds a macro that nothing reads). So `scan` reads the files first, without
importing what they name, and refuses what cannot work; `gin_parse.parse` lets gin do the rest.

Precedence decides which of several settings counts, not the order in which files are read:

1. the bindings of the command line (--gin_param), the last one of a name;
2. the files of --gin_file, the last one first;
3. the run file;
4. shelves, the files in gin/learners and gin/data, whoever includes them;
5. the values of methods (`method_values`), those of the run's protocol and named settings;
6. gin/defaults, what methods that are chosen by name need of a run.

A file overrides its includes, and a later include overrides an earlier one; a file outside of the
shelves has the rank of the file that includes it. `%gin.REQUIRED` in an included file says that a
value is needed: it replaces no value of its rank, and of a shelf none of a lower one. A name of a
shelf that stands for another name (HEAD_RATE = %RATE) gives way to a value of methods. A file is
read once, whatever includes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import difflib
import functools
import io
import os
import pathlib
import re
import shlex
import tokenize
from typing import Any

from gin import config_parser

from suite.configs import gin_bindings
from suite.configs import method_values
from suite.configs import signatures
from suite.contracts import descriptions

REQUIRED = object()
_SHELVES, _DEFAULTS = ("gin/learners", "gin/data"), ("gin/defaults",)
_LIBRARY = (*_SHELVES, *_DEFAULTS)  # Files that may set more than a run reads.
_DEFAULT, _VALUES, _SHELF, _RUN, _USER = range(5)  # Ranks of files.
PROTOCOL, SETTINGS = "experiment.run.protocol", "experiment.run.method_settings"
SELECTED = "experiment.run.selected"
_SHOWN = 12  # Names in a message.


class ConfigError(ValueError):
  """The run file or a binding cannot be used; the message says got, allowed and next step."""


@functools.cache  # A table asks for it once for every file of each cell.
def root() -> pathlib.Path:
  """The folder that holds `gin/`: this package in an installed wheel, else the checkout."""
  package = pathlib.Path(__file__).resolve().parents[1]
  return package if (package / "gin").is_dir() else package.parent


def close(name: str, known: Iterable[str]) -> str:
  """' Nearest: ...', as the end of a message; "" if no other name is near."""
  found = difflib.get_close_matches(name, sorted({*known} - {name}), n=4, cutoff=0.5)
  return f" Nearest: {', '.join(found)}." if found else ""


def nearest(name: str, known: Iterable[str]) -> str:
  """'Nearest: ...' or 'Known: ...', as part of a message; never the name itself."""
  known = sorted({*known} - {name})
  if near := close(name, known):
    return near.strip()
  more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
  return f"Known: {', '.join(known[:_SHOWN])}{more}." if known else "None is known."


class _Names(config_parser.ParserDelegate):
  """Reads values without resolving them; notes the macros they use."""

  def __init__(self) -> None:
    self.macros: list[str] = []
    self.functions: list[str] = []
    self.modules: dict[str, str] = {}  # What the names of the imports stand for.
    self.twice: list[tuple[int, str]] = []  # Lines, and keys that a dictionary there has twice.

  def configurable_reference(self, scoped_configurable_name: Any, evaluate: Any) -> Any:
    scope, _, selector = scoped_configurable_name.rpartition("/")
    self.functions.append(gin_bindings.function_of(selector, self.modules))
    return gin_bindings.GinReference.to_function(
        scope, self.functions[-1], evaluate,
        "@" + scoped_configurable_name + ("()" if evaluate else ""))

  def macro(self, macro_name: Any) -> Any:
    if macro_name == "gin.REQUIRED":
      return REQUIRED
    self.macros.append(macro_name)
    return gin_bindings.GinReference.to_macro(macro_name)


@dataclasses.dataclass(frozen=True)
class _Source:
  """A gin file, as it was read."""

  path: str
  text: str
  statements: Sequence[Any]
  names: _Names

  def includes(self) -> Iterator[tuple[str, int]]:
    """The included files, as they are named, with their lines."""
    for statement in self.statements:
      if isinstance(statement, config_parser.IncludeStatement):
        yield statement.filename, statement.location.line_num

  def imports_without(self, lines: set[int]) -> set[int]:
    """The lines of the imports that only the statements in these lines use."""
    bound = [s for s in self.statements if isinstance(s, config_parser.BindingStatement)]
    left_out = _aliases(s for s in bound if s.location.line_num in lines)
    kept = _aliases(s for s in bound if s.location.line_num not in lines)
    return {s.location.line_num for s in self.statements
            if isinstance(s, config_parser.ImportStatement)
            and s.bound_name() in left_out - kept}

  def without(self, lines: set[int]) -> str:
    """The text without the statements that begin in these lines; all others keep their lines."""
    text = self.text.splitlines()
    starts = [*(s.location.line_num for s in self.statements), len(text) + 1]
    for start, end in zip(starts, starts[1:]):
      if start in lines:
        text[start - 1:end - 1] = [""] * (end - start)
    return "\n".join(text) + "\n"


def _aliases(statements: Iterable[config_parser.BindingStatement]) -> set[str]:
  """The names of imports, as functions and constants begin with them, in these statements."""
  named = []
  for statement in statements:
    named += [statement.selector] if statement.arg_name else []
    named += [reference.lstrip("@%").rpartition("/")[2]
              for reference in gin_bindings.references(statement.value)]
  return {name.partition(".")[0] for name in named}


@dataclasses.dataclass
class Scan:
  """What a run's files say, before anything they name is imported."""

  files: list[str] = dataclasses.field(default_factory=list)  # In the order of reading.
  # The setting of each that counts, by its name as it is written.
  macros: dict[str, gin_bindings.Binding] = dataclasses.field(default_factory=dict)
  parameters: dict[str, gin_bindings.Binding] = dataclasses.field(default_factory=dict)
  history: gin_bindings.History = dataclasses.field(default_factory=dict)
  used: dict[str, str] = dataclasses.field(default_factory=dict)  # macro -> where it was first read
  imports: dict[str, config_parser.ImportStatement] = dataclasses.field(default_factory=dict)
  every_import: list[tuple[config_parser.ImportStatement, str]] = dataclasses.field(
      default_factory=list)  # With where it stands, those of all files.
  functions: dict[str, str] = dataclasses.field(default_factory=dict)  # Named ones -> where first.
  texts: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # (file, text) for gin.

  def read(self) -> dict[str, gin_bindings.Binding]:
    """The settings that the run reads, all of them if no root is bound, by name as written."""
    read = gin_bindings.reached(self.history)
    return {settings[-1].text: settings[-1] for key, settings in self.history.items()
            if read is None or key in read}

  def header(self, binding: str) -> list[str]:
    """The import lines under which a binding of the command line is parsed, those that it needs."""
    lines = [s.format() for name, s in self.imports.items() if s.module.startswith("__gin__")
             or re.search(rf"(?<![\w.]){re.escape(name)}\.", binding)]
    return sorted(lines, key=lambda line: "__gin__" not in line)


def scan(paths: Sequence[pathlib.Path], bindings: Sequence[str] = (), *, checks: bool = True,
         protocol: str = "") -> Scan:
  """Reads files (includes too) and bindings `X=Y` without importing what they name.

  Args:
    paths: the run file, then further files of the user; the shelves of methods chosen by name may
      go before. bindings: of the command line.
    checks: False: only reads, whatever is missing or read by nothing; nothing is made for gin.
    protocol: whose values methods have, if the files name none.
  """
  found, reading = Scan(), _Reading({os.path.realpath(path) for path in paths})
  rank = _RUN
  for path in paths:
    reading.read(pathlib.Path(path), rank, found)
    rank = rank if _is_in(os.path.realpath(path), _LIBRARY) else _USER
  reading.read_values(found, bindings, protocol)
  reading.note(found)
  for binding in bindings:
    _scan_binding(binding, found)
  if macros := gin_bindings.circle(found.history):  # Gin would follow them without end.
    settings = [found.history[macro, gin_bindings.MACRO, "value"][-1] for macro in macros]
    lines = "".join(f"\n  {macro} = {setting.value}  (set by {setting.where})"
                    for macro, setting in zip(macros, settings))
    raise ConfigError(f"These macros lead to one another and have no value:{lines}\n"
                      f"Set one of them to a value, such as {macros[0]}.")
  if not checks:
    return found
  read = gin_bindings.reached(found.history)
  _check_values(found, read)
  check_readers(found, gin_bindings.unread(
      found.history, read, texts=set(found.macros) - reading.mentioned()))
  reading.write(found, read)
  return found


class _Reading:
  """Reads files, each once, and puts them into the order of their precedence."""

  def __init__(self, given: set[str]) -> None:
    self._given = given  # The files that the user named.
    self._sources: dict[str, _Source] = {}
    self._ranks: dict[str, int] = {}  # In the order in which the files count, within a rank.
    self._valued: set[str] = set()  # The names that have a value of methods.
    self._gave_way: set[tuple[str, int]] = set()  # File and line of what such a value replaces.

  def read(self, path: pathlib.Path, rank: int, found: Scan,
           including: tuple[str, ...] = ()) -> None:
    """Reads a file and what it includes, unless it has been read with this rank or a higher one."""
    key = os.path.realpath(path)
    if _is_in(key, _SHELVES):
      rank = _SHELF
    elif _is_in(key, _DEFAULTS):
      rank = _DEFAULT
    if self._ranks.get(key, -1) >= rank:
      return
    if key not in self._sources:
      try:
        text = path.read_text(encoding="utf-8")
      except UnicodeDecodeError as error:
        raise ConfigError(f"Cannot read {path}: it is not text in UTF-8 ({error}). "
                          "Write it again as UTF-8.") from error
      self._sources[key] = _Source(str(path), text, *_statements(text, str(path), found))
      self._note_names(self._sources[key], found)
    source, chain = self._sources[key], (*including, key)
    for name, line in source.includes():
      where = f"{source.path}, line {line}"
      included = find_file(name, where, path.parent)
      if os.path.realpath(included) in chain:
        loop = chain[chain.index(os.path.realpath(included)):]
        raise ConfigError(f"{where} includes {name!r}, which includes itself, by way of "
                          f"{' -> '.join(self._sources[file].path for file in loop)}. Leave one of "
                          "these includes out.")
      self.read(included, rank, found, chain)
    self._ranks.pop(key, None)  # What counts more is read again with that rank.
    self._ranks[key] = rank

  def read_values(self, found: Scan, bindings: Sequence[str], protocol: str) -> None:
    """Reads the values of methods, if a shelf, which may name them, is among what was read."""
    if _SHELF not in self._ranks.values():
      return
    first = Scan(imports=found.imports)
    self.note(first, only=("", PROTOCOL.rpartition(".")[2], SETTINGS.rpartition(".")[2]))
    for binding in bindings:
      if binding.startswith((PROTOCOL, SETTINGS)):
        _scan_binding(binding, first)
    settings = value_in(first.history, SETTINGS) or ""
    check_settings(settings)
    key, text = str(method_values.PATH), method_values.gin_text(
        protocol_in(first.history) or protocol, settings)
    self._sources[key] = _Source(key, text, *_statements(text, key, found))
    self._ranks[key] = _VALUES
    self._valued = {statement.selector for statement in self._sources[key].statements}

  def note(self, found: Scan, only: Sequence[str] = ()) -> None:
    """Notes the settings of all files, what counts more after what counts less.

    Args:
      found: gets them.
      only: names of arguments, "" of macros; (): all.
    """
    bindings = []
    in_order = sorted(self._ranks, key=self._ranks.__getitem__)
    for key in in_order:
      source = self._sources[key]
      is_users = key in self._given and not _is_in(key, _LIBRARY)
      for statement in source.statements:
        if isinstance(statement, config_parser.BindingStatement) and (
            not only or (statement.arg_name or "") in only):
          is_value = statement.value is not REQUIRED or is_users
          rank = self._ranks[key]
          if not is_value and (rank == _SHELF or _DEFAULT in self._ranks.values()):
            rank = -1
          elif (rank == _SHELF and not statement.arg_name and statement.selector in self._valued
                and getattr(statement.value, "name", "") == gin_bindings.MACRO):
            rank = _DEFAULT
            self._gave_way.add((source.path, statement.location.line_num))
          bindings.append((rank, is_value, source, statement, is_users))
    for _, _, source, statement, is_users in sorted(bindings, key=lambda binding: binding[:2]):
      _note(statement, source.path, is_users, found, source.names)

  def write(self, found: Scan, read: set[gin_bindings.Key] | None) -> None:
    """Writes the texts for gin, without what a shelf has for other runs and their imports.

    Args:
      read: the keys that the run reads; None: all.
    """
    left_out = self._gave_way | {
        (setting.file, setting.line) for key, settings in found.history.items()
                for place, setting in enumerate(settings, 1)
                if setting.value is REQUIRED and place < len(settings)
                or read is not None and key not in read and not setting.is_users}
    for key in sorted(self._ranks, key=self._ranks.__getitem__):
      source = self._sources[key]
      lines = {line for file, line in left_out if file == source.path}
      lines |= {line for _, line in source.includes()} | source.imports_without(lines)
      found.texts.append((source.path, source.without(lines)))

  def mentioned(self) -> set[str]:
    """The macros that files other than shelves read, if only for a function that is misspelled."""
    return {macro for key, source in self._sources.items() if not _is_in(key, _LIBRARY)
            for macro in source.names.macros}

  @staticmethod
  def _note_names(source: _Source, found: Scan) -> None:
    found.files.append(source.path)
    for macro in source.names.macros:
      found.used.setdefault(macro, source.path)
    for function in source.names.functions:
      found.functions.setdefault(function, source.path)


def _is_in(path: str, folders: Sequence[str]) -> bool:
  """Whether a real path is in one of these folders."""
  return any(path.startswith(_real(root() / folder) + os.sep) for folder in folders)


@functools.cache
def _real(path: pathlib.Path) -> str:
  return os.path.realpath(path)


def value_in(history: gin_bindings.History, parameter: str) -> Any:
  """The value of "experiment.run.argument", behind macros; None if it is not set."""
  function, _, argument = parameter.rpartition(".")
  settings = history.get(("", f"suite.{function}", argument), [])
  return gin_bindings.followed(history, settings[-1].value if settings else None)[0]


def check_settings(name: Any) -> None:
  """Refuses named settings of methods that there are not."""
  if name and name not in method_values.names():
    raise ConfigError(f"Methods have no settings {name!r}; allowed are "
                      f"{', '.join(method_values.names())}, or none: the published values; or the "
                      "best.json of suite search.")


def protocol_in(history: gin_bindings.History) -> str:
  """The protocol that a run has; "" for one of a user."""
  name = getattr(value_in(history, PROTOCOL), "name", "").rpartition(".")[0]
  return next((key for key, one in descriptions.SHIPPED.items() if one.module == name), "")


def scan_text(text: str) -> Scan:
  """Reads the text of a whole config, such as gin's operative one; checks nothing."""
  found = Scan()
  statements, names = _statements(text, "the operative config", found)
  for statement in statements:
    if isinstance(statement, config_parser.BindingStatement):
      _note(statement, "", True, found, names)
  return found


def _statements(source: str, where: str, found: Scan, known: tuple[tuple[str, str], ...] = ()
                ) -> tuple[list[Any], _Names]:
  """All statements and the names in them; the imports among them are noted in `found`."""
  try:
    statements, names = _parsed(source, known)
  except (SyntaxError, tokenize.TokenError, ValueError, RecursionError) as error:
    number = getattr(error, "lineno", None) or (
        error.args[1][0] if isinstance(error, tokenize.TokenError) else 1)
    lines = source.splitlines() or [""]
    line = lines[min(number, len(lines)) - 1].strip()
    if where.startswith("--"):  # It holds the text.
      raise ConfigError(f"Cannot read {where}: {_advice(line, error, True)}") from error
    raise ConfigError(f"Cannot read {where}, line {number}: {line!r}. "
                      f"{_advice(line, error, False)}") from error
  for place, label in names.twice:
    raise ConfigError(f"{where if where.startswith('--') else f'{where}, line {place}'}: the label "
                      f"{label!r} is given twice; give each a label of its own.")
  for statement in statements:
    if isinstance(statement, config_parser.ImportStatement):
      # The run file's own imports win over those of its includes: the command line speaks its
      # language.
      found.imports.setdefault(statement.bound_name(), statement)
      found.every_import.append((statement, where))
  return statements, names


def _given_twice(lines: Sequence[str]) -> list[str]:
  """The keys that the dictionary with which a text begins has twice, of which gin keeps one."""
  seen: list[str] = []
  depth = 0
  tokens = list(tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline))
  for token, following in zip(tokens, tokens[1:]):
    if token.type == tokenize.OP:
      depth += (token.string in "([{") - (token.string in ")]}")
      if not depth and token.string == "}":
        break
    elif token.type == tokenize.STRING and depth == 1 and following.string == ":":
      seen.append(ast.literal_eval(token.string))
  return [key for key in dict.fromkeys(seen) if seen.count(key) > 1]


def _advice(line: str, error: Exception, is_flag: bool) -> str:
  """What to write instead of a line, or a binding of the command line, that gin does not read."""
  parts = re.split(r"\s*[,;\s]\s*(?=[A-Za-z_][\w./]*\s*=(?!=))", line.rstrip(",; "))
  name, equals, value = (part.strip() for part in line.partition("="))
  if isinstance(error, tokenize.TokenError):
    return "A bracket or a text is not closed."
  if len(parts) > 1 and all("=" in part for part in parts):
    return ("It looks like several bindings. " + (
        f"Give the flag once for each: {' '.join(f'--set {shlex.quote(p)}' for p in parts)}."
        if is_flag else f"Give each a line: {' | '.join(parts)}."))
  if not re.fullmatch(r"[A-Za-z_][\w./]*", name) or not equals or value.startswith("="):
    if line.startswith("include "):
      return f"The file is a text: include {line[8:].strip()!r}."
    return "It takes X=Y." if is_flag else (
        "A line of a gin file is NAME = VALUE, include 'FILE' or an import; FILE.py is run by "
        "Python, not by suite run.")
  if not value:
    return "It takes X=Y." if is_flag else f"Write the value: {name} = VALUE."
  word = {"true": "True", "false": "False", "null": "None", "none": "None"}.get(value.lower())
  if word:
    written, what = word, "Capitals count"
  elif re.fullmatch(r"[-+\w.]+(\s*,\s*[-+\w.]+)+", value):
    written, what = f"({value})", "If these are several values, put them in brackets"
  elif re.search(r"['\"\[({})\]@%]", value.strip("'\"")):
    return ("A value is a number, a text in quotes, True, False, None, a list, tuple or dictionary "
            "of these, @function, @function() or %MACRO.")
  else:
    written, what = "'" + value.strip("'\"") + "'", "If the value is text, quote it"
  return f"""{what}: {f'--gin_param "{name}={written}"' if is_flag else f'{name} = {written}'}."""


@functools.lru_cache(maxsize=1024)  # A table scans the same files for every cell.
def _parsed(source: str, known: tuple[tuple[str, str], ...]) -> tuple[list[Any], _Names]:
  """Parses a text; known: names that stand for modules besides those that it imports."""
  names, statements = _Names(), []
  names.modules.update(known)
  for statement in config_parser.ConfigParser(source, names):
    statements.append(statement)
    if isinstance(statement, config_parser.ImportStatement):
      names.modules[statement.bound_name()] = stands_for(statement)
    elif isinstance(getattr(statement, "value", None), dict):
      line = statement.location.line_num
      names.twice += [(line, label) for label in _given_twice(source.splitlines()[line - 1:])]
  return statements, names


def stands_for(statement: config_parser.ImportStatement) -> str:
  """The module that the name of an import stands for."""
  is_whole = statement.is_from or statement.alias
  return statement.module if is_whole else statement.bound_name()


def find_file(name: str, where: str, beside: pathlib.Path | None = None) -> pathlib.Path:
  """Finds a file from the current folder, then in the folder `beside`, then under `root()`.

  `where` asks for it; `beside` is the folder of the file that includes it.
  """
  for folder in (pathlib.Path(), *([] if beside is None else [beside]), root()):
    if (folder / name).is_file():
      return (folder / name).resolve()
  shipped = (p.relative_to(root()).as_posix() for p in (root() / "gin").rglob("*.gin"))
  raise ConfigError(
      f"{where}: there is no file {name!r}, neither from {os.getcwd()}"
      f"{f', nor from {beside.resolve()},' if beside else ''} nor from {root()}. "
      f"{nearest(name, shipped)}")


def _note(statement: config_parser.BindingStatement, file: str, is_users: bool, found: Scan,
          names: _Names) -> None:
  written = "/".join(filter(None, (statement.scope, statement.selector)))
  if statement.arg_name:
    key = (statement.scope or "", gin_bindings.function_of(statement.selector, names.modules),
           statement.arg_name)
    found.functions.setdefault(key[1], file or "the command line")
    written = f"{written}.{statement.arg_name}"
  else:
    key = (written, gin_bindings.MACRO, "value")
  setting = gin_bindings.Binding(statement.value, file, statement.location.line_num, written,
                                 is_users)
  (found.parameters if statement.arg_name else found.macros)[written] = setting
  found.history.setdefault(key, []).append(setting)


def _scan_binding(binding: str, found: Scan) -> None:
  known = tuple((name, stands_for(s)) for name, s in found.imports.items())
  statements, names = _statements(binding, f"--gin_param {binding!r}", found, known)
  if len(statements) != 1 or not isinstance(statements[0], config_parser.BindingStatement):
    raise ConfigError(f"--gin_param takes one binding X=Y, got {binding!r}. "
                      "Give the flag once for each binding.")
  macro = "/".join(filter(None, (statements[0].scope, statements[0].selector)))
  if not statements[0].arg_name and macro not in found.macros:
    value = binding.partition("=")[2].strip()
    # Parameters of that name, of the suite's functions that the files name; none is imported.
    wanted = macro.lower()
    readable = [name for name, setting in found.macros.items()
                if name in found.used or setting.file != str(method_values.PATH)]
    modules = [(name, stands_for(s)) for name, s in found.imports.items()]
    parameters = sorted({
        f"{alias}{function[len(module):]}.{wanted}" for function in found.functions
        if wanted in signatures.parameters(function)
        for alias, module in modules if function.startswith(f"{module}.")})
    raise ConfigError(
        f"--gin_param sets the macro {macro!r}, which no file of this run declares. " + (
            "There are parameters of that name: "
            f"{', '.join(f'--gin_param {name}={value}' for name in parameters[:4])}." if parameters
            else f"{nearest(macro, readable)} A parameter is set as "
            "module.function.parameter=value.") + " All of them: suite show RUN.")
  for used in names.macros:
    found.used.setdefault(used, f"--gin_param {binding!r}")
  for function in names.functions:
    found.functions.setdefault(function, f"--gin_param {binding!r}")
  _note(statements[0], "", True, found, names)


def _check_values(found: Scan, read: set[gin_bindings.Key] | None) -> None:
  """Refuses what is read and not set, and a chosen learner that the run file does not have."""
  # A name with a dot may be a constant that a module declares when gin imports it.
  unset = {m: w for m, w in found.used.items() if m not in found.macros and "." not in m}
  if unset:
    macro, where = next(iter(unset.items()))
    raise ConfigError(f"{where} reads %{macro}, which no file of this run sets. "
                      f"{nearest(macro, found.macros)}")
  required = {settings[-1].text: settings[-1] for key, settings in found.history.items()
              if settings[-1].value is REQUIRED and (read is None or key in read)}
  if required:
    lines = "".join(f"\n  {key}  (required by {s.where})" for key, s in required.items())
    raise ConfigError(f"Required and not set:{lines}\n"
                      f"Set it in the run file, or add: --gin_param {next(iter(required))}=VALUE")

  only, learners = (value_in(found.history, f"experiment.run.{argument}")
                    for argument in (gin_bindings.ONLY, gin_bindings.LEARNERS))
  if isinstance(learners, dict) and not isinstance(only, gin_bindings.GinReference):
    for name in [only] if isinstance(only, str) else only or ():
      if name not in learners:
        where = found.history["", gin_bindings.ROOTS[0], gin_bindings.ONLY][-1].where
        raise ConfigError(f"experiment.run.only ({where}) has {name!r}; the learners of this run "
                          f"are {', '.join(learners)}. {nearest(name, learners)}")


def check_readers(found: Scan, unread: Sequence[gin_bindings.Unread] | None = None) -> None:
  """Refuses what the user sets and nothing reads; files that others include may set more.

  `scan` does so for macros that no binding mentions. For all bindings it has to wait until gin has
  parsed them, which finds misspelled names and says so.
  """
  unread = gin_bindings.unread(found.history) if unread is None else unread
  if unread:
    raise ConfigError("Nothing in this run reads" + "".join(
        f"\n  {setting.text}  (set by {setting.where}). {reason}" for setting, reason in unread)
        + "\nLeave it out, or bind what the run uses; a file for several runs is included by their "
        "run files, what it sets may stay unread.")


def first_line(error: BaseException) -> str:
  """What an error says, in one line."""
  text = error.msg if isinstance(error, SyntaxError) else str(error)
  return (text or type(error).__name__).strip().splitlines()[0].rstrip(".")
