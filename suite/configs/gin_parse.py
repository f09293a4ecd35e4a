# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parses run files with gin, and says in plain words what gin did not like.

Gin stays on the roof: the library takes arguments, a run file names and fills them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import inspect
import io
import pathlib
import pkgutil
import re
import typing
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import gin

from suite.configs import bound_types
from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import run_settings
from suite.configs import trust


def parse(paths: Sequence[pathlib.Path], bindings: Sequence[str] = (), *,
          trusted: Sequence[str] = ()) -> gin_files.Scan:
  """Clears gin, then sets it from files and bindings and locks it; imports what the files name.

  Args:
    paths: gin files. bindings: `X=Y`.
    trusted: the modules that files may import and name parts of (see `trust`); (): any.
  """
  found = gin_files.scan(paths, bindings)
  if trusted:
    trust.check_imports(found, list(trusted))
  gin.clear_config()
  for file, text in found.texts:
    with _explained(found):
      gin.parse_config(_NamedText(file, text))
  for binding in bindings:
    with _explained(found, f"--gin_param {binding!r}"):
      gin.parse_config([*found.header(binding), binding])
  with _explained(found):
    gin.finalize()
  if trusted:
    trust.check_functions(found, list(trusted))
  gin_files.check_readers(found)
  bound_types.check(found)
  return found


def configured(fn: Callable, given: Mapping[str, Any]) -> Callable[[], Any]:
  """`fn` with its gin bindings and the arguments `given`, which gin may not set as well."""
  name = f"{fn.__module__}.{fn.__name__}"
  try:
    bound = gin.get_bindings(fn, resolve_references=False)
    configurable = gin.get_configurable(fn)
  except ValueError as error:  # No file has named it.
    raise gin_files.ConfigError(
        f"The run file sets nothing of {name}; bind its parameters there, as the shipped run files "
        "do (suite list).") from error
  both = sorted(set(bound) & set(given))
  if both:
    # An argument would beat the binding without a word.
    raise gin_files.ConfigError(
        f"The config sets {', '.join(both)} of {name}; gin says what runs, the command line says "
        "where. Leave the binding out and use the flags of suite run.")
  parameters = inspect.signature(fn).parameters.values()
  unset = [p.name for p in parameters if p.default in (p.empty, gin.REQUIRED)
           and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in (*bound, *given)]
  if unset:
    raise gin_files.ConfigError(
        f"{name} needs {', '.join(unset)}, which the run file does not set; bind it there.")
  return functools.partial(configurable, **given)


def group(kind: Callable) -> Any:
  """An object of a class with its gin bindings; with defaults alone if no file names the class."""
  try:
    kind = gin.get_configurable(kind)
  except ValueError:
    pass
  return kind()


def clear() -> None:
  """Forgets what an earlier run of this process has bound and used."""
  gin.clear_config()


def config_text() -> str:
  """Everything that is bound, as a gin file."""
  return gin.config_str(max_line_length=100)


def operative_text(before: str = "") -> str:
  """What the run really used, defaults included, as a gin file; complete once the run is over.

  Args:
    before: the text of an earlier process of the same run. What this process did not use, since it
      had been finished, is taken from there.
  """
  paragraphs: Dict[str, Dict[str, str]] = {}  # Statements by what they set, by title.
  for text in (before, gin.operative_config_str(max_line_length=100)):
    for paragraph in filter(None, (part.strip("\n") for part in text.split("\n\n"))):
      title = paragraph.split("\n")[0] if paragraph.startswith("#") else "imports"
      # A statement goes on in the indented lines that follow it.
      for statement in re.split(r"\n(?=\S)", paragraph):
        paragraphs.setdefault(title, {})[statement.split(" = ")[0]] = statement
  return "\n\n".join("\n".join(p.values()) for p in paragraphs.values()) + "\n" * bool(paragraphs)


def unused_bindings(found: gin_files.Scan, operative: str, only: Sequence[str] = ()) -> List[str]:
  """The user's bindings that a run could have used and did not, one line each.

  An argument that the code passes by itself replaces a binding without a message of gin's.

  Args:
    found: what `parse` returned.
    operative: `operative_text` once the run is over.
    only: the learners that were chosen; (): all of them.
  """
  used = gin_files.scan_text(operative).history
  return [f"{setting.text}  (set by {setting.where})"
          for setting in gin_bindings.unread_at_the_end(found.history, used, only)]


class _NamedText(io.StringIO):
  """The text of a file, which gin's messages name."""

  def __init__(self, name: str, text: str):
    super().__init__(text)
    self.name = name


@contextlib.contextmanager
def _explained(found: gin_files.Scan, where: str = ""):
  """Turns gin's complaints into ours; an error of an imported module passes as it is."""
  try:
    yield
  except (ValueError, NameError, AttributeError, ImportError, SyntaxError) as error:
    text = _explanation(error, found)
    if text is None:
      raise
    place = re.search(r'In file "(.+)", line (\d+)', str(error))
    where = where or (f"{place[1]}, line {place[2]}" if place else "the config")
    raise gin_files.ConfigError(f"In {where}: {text}") from error


def _explanation(error: Exception, found: gin_files.Scan) -> Optional[str]:
  message = str(error)
  match = re.match(r"Configurable '(.+)' doesn't have a parameter named '(.+)'\.", message)
  if match:
    fn = _resolve(match[1], found)
    in_group = _in_group(fn, match[2])
    if in_group:
      return in_group
    allowed = inspect.signature(fn).parameters
    return (f"{match[1]} has no parameter {match[2]!r}; it has {', '.join(sorted(allowed))}. "
            f"{gin_files.nearest(match[2], allowed)}")
  match = re.match(r"'(.+)' was not provided by an import statement", message)
  if match and match[1] in found.imports:
    return (f"this file does not import {match[1]!r}, and the imports of other files do not reach "
            f"it; add: {found.imports[match[1]].format()}")
  if match:
    known = [name for name in found.imports if name != "dynamic_registration"]
    return f"no import gives the name {match[1]!r}. {gin_files.nearest(match[1], known)}"
  match = re.match(r"Couldn't resolve selector (\S+); .* has no attribute (\w+)", message)
  if match:
    parent = match[1][: match[1].rindex("." + match[2])]
    known = [name for name in dir(_resolve(parent, found)) if not name.startswith("_")]
    return f"{parent} has no {match[2]!r}. {gin_files.nearest(match[2], known)}"
  match = re.match(r"No module named '(.+)'", message)
  if match:
    named = any(f"{s.module}.".startswith(f"{match[1]}.") for s in found.imports.values())
    # Otherwise something that an imported module imports is missing: no fault of the config.
    return f"there is no module {match[1]!r}. {_modules_beside(match[1])}" if named else None
  return gin_files.first_line(error) if _raised_by_gin(error) else None


def _in_group(fn: Callable, name: str) -> str:
  """What to write for a parameter that is a field of one of the function's; "" if none has it."""
  try:
    hints = typing.get_type_hints(fn)
  except (NameError, TypeError):  # Types that are imported for checkers only.
    return ""
  for parameter, hint in hints.items():
    for kind in (hint, *typing.get_args(hint)):
      if not dataclasses.is_dataclass(kind) or name not in (
          field.name for field in dataclasses.fields(kind)):
        continue
      if kind is run_settings.RunSettings:
        return (f"The config sets {name} of {fn.__module__}.{fn.__name__}; gin says what runs, the "
                "command line says where. Leave the binding out and use the flags of suite run.")
      module = kind.__module__.rpartition(".")[2]
      return (f"{fn.__name__} takes {name!r} as a part of {parameter!r}: bind "
              f"{module}.{kind.__name__}.{name} instead.")
  return ""


def _resolve(selector: str, found: gin_files.Scan) -> Any:
  """The object that a selector such as `nevis.run` names."""
  first, *rest = selector.split(".")
  statement = found.imports[first]
  whole = statement.is_from or statement.alias
  target = importlib.import_module(statement.module if whole else first)
  return functools.reduce(getattr, rest, target)


def _modules_beside(module: str) -> str:
  parent, _, name = module.rpartition(".")
  try:
    spec = importlib.util.find_spec(parent) if parent else None
  except ImportError:
    spec = None
  places = (spec.submodule_search_locations if spec else None) or ()
  return gin_files.nearest(name, {m.name for m in pkgutil.iter_modules(places)}) if places else ""


def _raised_by_gin(error: BaseException) -> bool:
  trace = error.__traceback__
  while trace is not None and trace.tb_next is not None:
    trace = trace.tb_next
  return trace is not None and "gin" in pathlib.Path(trace.tb_frame.f_code.co_filename).parts
