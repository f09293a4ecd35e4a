# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parses run files with gin, and says in plain words what gin did not like.

Gin stays on the roof: the library takes arguments, a run file names and fills them.

**Types.** A bound value whose type is not that of its parameter is refused before anything is
computed, where that is certain: literals for parameters that are annotated as numbers, texts or
booleans. A whole number stands for a float. A float without a fraction (3.0, 1e3) is converted
where the annotation wants a whole number, alone or in a list, and stays where there is no
annotation; a run may be resumed with either. A text for a parameter that takes one of several
values is annotated as their `Literal`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
import types
import typing
from typing import Any

import gin

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import gin_names
from suite.configs import run_settings

_PLAIN = (int, float, str, bool, type(None))
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "True or False",
          type(None): "None"}


def parse(paths: Sequence[pathlib.Path], bindings: Sequence[str] = (), *,
          names: Sequence[str] = (), protocol: str = "") -> gin_files.Scan:
  """Clears gin, then sets it from files and bindings and locks it; imports what the files name.

  Args:
    paths: gin files. bindings: `X=Y`.
    names: what they may name, see `gin_names`; (): everything.
    protocol: whose values methods have, if the files name none.
  """
  found = gin_files.scan(paths, bindings, protocol=protocol)
  gin_names.check(found, names)
  clear()
  for file, text in found.texts:
    with _explained(found):
      gin.parse_config(_NamedText(file, text))
  for binding in bindings:
    with _explained(found, f"--gin_param {binding!r}"):
      gin.parse_config([*found.header(binding), binding])
  with _explained(found):
    gin.finalize()
  gin_files.check_readers(found)
  _convert(found, check_types(found))
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


def bound(fn: Callable, argument: str, default: Any) -> Any:
  """The value that is bound to an argument, with its references; the default if none is."""
  return gin.get_bindings(fn).get(argument, default)


def group(kind: Callable) -> Any:
  """An object of a class with its gin bindings; with defaults alone if no file names the class."""
  try:
    kind = gin.get_configurable(kind)
  except ValueError:
    pass
  return kind()


def built(paths: Sequence[pathlib.Path], bindings: Sequence[str], objects: Mapping[str, Any],
          fn: Callable, argument: str, protocol: str) -> Any:
  """An argument of `fn` as files and bindings make it, with objects in the place of macros.

  The configuration stays until the next one is parsed: what is made later is made by it.

  Args:
    paths, bindings, protocol: see `parse`.
    objects: of Python, by macro or parameter.
  """
  parse(paths, bindings, protocol=protocol)
  with gin.unlock_config():
    for name, value in objects.items():
      gin.bind_parameter(f"{name}/gin.macro.value" if name.isupper() else name, _Object(value))
  return bound(fn, argument, None)


class _Object:
  """An object in a binding: gin copies what is bound, a model must be the user's own."""

  def __init__(self, value: Any) -> None:
    self._value = value

  def __deepcopy__(self, memo: dict[int, Any]) -> Any:
    return self._value


def clear() -> None:
  """Forgets what an earlier run of this process has bound and used."""
  global _num_parsed
  _num_parsed += 1
  gin.clear_config()


_num_parsed = 0


def num_parsed() -> int:
  """The number of the configuration that is set: what was made by another one reads this one."""
  return _num_parsed


def config_text() -> str:
  """Everything that is bound, as a gin file."""
  return gin.config_str(max_line_length=100)


def operative_text(before: str = "") -> str:
  """What the run really used, defaults included, as a gin file; complete once the run is over.

  Args:
    before: the text of an earlier process of the same run. What this process did not use, since it
      had been finished, is taken from there.
  """
  paragraphs: dict[str, dict[str, str]] = {}  # Statements by what they set, by title.
  for text in (before, gin.operative_config_str(max_line_length=100)):
    for paragraph in filter(None, (part.strip("\n") for part in text.split("\n\n"))):
      title = paragraph.split("\n")[0] if paragraph.startswith("#") else "imports"
      # A statement continues in the indented lines that follow it.
      for statement in re.split(r"\n(?=\S)", paragraph):
        paragraphs.setdefault(title, {})[statement.split(" = ")[0]] = statement
  return "\n\n".join("\n".join(p.values()) for p in paragraphs.values()) + "\n" * bool(paragraphs)


def unused_bindings(found: gin_files.Scan, operative: str, only: Sequence[str] = ()) -> list[str]:
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


def are_same(before: str, text: str) -> bool:
  """Whether two configurations set the same: 3.0 is 3, and a macro is its value."""
  return before == text or _settings(before) == _settings(text)


def _settings(text: str) -> list[str]:
  """Returns the settings of a text, sorted."""
  lines = text.splitlines()
  try:
    history = gin_files.scan_text(text).history
  except gin_files.ConfigError:  # Of an object that has no form in gin.
    return lines
  others = [line for line in lines if line.startswith(("#", "import ", "from "))]
  # As text: True is not 1, and the order of a dictionary counts.
  return others + sorted(f"{key}: {gin_bindings.resolved(history, settings[-1].value)!r}"
                         for key, settings in history.items())


class _NamedText(io.StringIO):
  """The text of a file, which gin's messages name."""

  def __init__(self, name: str, text: str) -> None:
    super().__init__(text)
    self.name = name


@contextlib.contextmanager
def _explained(found: gin_files.Scan, where: str = "") -> Any:
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


def _explanation(error: Exception, found: gin_files.Scan) -> str | None:
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
    package = pathlib.Path(__file__).resolve().parents[1]
    homes = [".".join(("suite", *path.relative_to(package).parent.parts))
             for path in package.rglob(f"{match[1]}.py")]
    how = (f"Import it in a gin file, --gin_file of yours: from {homes[0]} import {match[1]}"
           if len(homes) == 1 else gin_files.nearest(match[1], known))
    return f"no import gives the name {match[1]!r}. {how}"
  match = re.match(r"Couldn't resolve selector (\S+); .* has no attribute (\w+)", message)
  if match:
    parent = match[1][: match[1].rindex("." + match[2])]
    known = [name for name in dir(_resolve(parent, found)) if not name.startswith("_")]
    return f"{parent} has no {match[2]!r}. {gin_files.nearest(match[2], known)}"
  match = re.match(r"No module named '(.+)'", message)
  if match:
    if not any(f"{s.module}.".startswith(f"{match[1]}.") for s in found.imports.values()):
      return None  # An imported module imports what is missing: no fault of the config.
    parent, _, name = match[1].rpartition(".")
    try:
      spec = importlib.util.find_spec(parent) if parent else None
    except ImportError:
      spec = None
    places = (spec.submodule_search_locations if spec else None) or ()
    beside = {m.name for m in pkgutil.iter_modules(places)}
    return f"there is no module {match[1]!r}. {gin_files.nearest(name, beside) if places else ''}"
  trace = error.__traceback__
  while trace is not None and trace.tb_next is not None:
    trace = trace.tb_next
  is_gins = trace is not None and "gin" in pathlib.Path(trace.tb_frame.f_code.co_filename).parts
  return gin_files.first_line(error) if is_gins else None


def _in_group(fn: Callable, name: str) -> str:
  """What to bind for a parameter that is a field of one of the function's; "" if none has it."""
  try:
    hints = typing.get_type_hints(fn)
  except (NameError, TypeError):  # Types that are imported for checkers only.
    return ""
  for parameter, hint in hints.items():
    for kind in (hint, *typing.get_args(hint)):
      if name not in getattr(kind, "__dataclass_fields__", getattr(kind, "_fields", ())):
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


def check_types(found: gin_files.Scan) -> dict[gin_bindings.Key, Any]:
  """Raises a ConfigError for the first value of a wrong type that is read, or that the user set.

  Returns:
    Values of parameters that are to be whole numbers and were written as floats, converted.
  """
  read = gin_bindings.reached(found.history)
  converted: dict[gin_bindings.Key, Any] = {}
  for (scope, name, argument), settings in found.history.items():
    setting, via = settings[-1], ""
    is_read = read is None or setting.is_users or (scope, name, argument) in read
    if name == gin_bindings.MACRO or not is_read:
      continue
    value, where = setting.value, setting.where
    _, macros = gin_bindings.followed(found.history, value)
    if macros:
      via = f" through {value}"
      key: gin_bindings.Key = (macros[-1], gin_bindings.MACRO, "value")
      if key not in found.history:
        continue
      value, where = found.history[key][-1].value, found.history[key][-1].where
    kinds = _kinds(name, argument)
    # A reference stands for what another function returns, which may be of any type.
    if (isinstance(value, gin_bindings.GinReference) or value is gin_files.REQUIRED
        or any(gin_bindings.references(value))):
      continue
    whole = _whole(value, kinds)
    if repr(whole) != repr(value):
      converted[scope, name, argument] = value = whole
    label = f"{f'{scope}/' if scope else ''}{'.'.join([*name.split('.')[-2:], argument])}"
    if kinds and all(kind in _PLAIN or _choices(kind) for kind in kinds) and not any(
        value in _choices(kind) if _choices(kind) else  # Other types accept instances alone.
        isinstance(value, {bool: (bool, int), float: (int, float)}.get(kind, kind))
        for kind in kinds):
      names = " or ".join(f"one of {', '.join(map(repr, _choices(kind)))}" if _choices(kind)
                          else _NAMES[kind] for kind in kinds)
      texts = [one for kind in kinds for one in _choices(kind) if isinstance(one, str)]
      raise gin_files.ConfigError(f"{label} is {value!r}{via} ({where}); it takes {names}."
                                  f"{gin_files.close(str(value), texts)}")
    members = [typing.get_args(kind) for kind in kinds if kind not in _PLAIN]
    is_list_of_int = bool(members) and all(int in one and set(one) <= {int, ...} for one in members)
    if (is_list_of_int and isinstance(value, (list, tuple))
        and any(isinstance(part, float) for part in value)):
      raise gin_files.ConfigError(
          f"{label} is {value!r}{via} ({where}); it takes whole numbers in a list.")
  return converted


def _whole(value: Any, kinds: Sequence[Any]) -> Any:
  """A value with its whole floats converted to int, where one of the types asks for that."""
  if isinstance(value, float):
    asks = int in kinds and not {float, complex, object, Any} & set(kinds)
    return int(value) if asks and value.is_integer() else value
  for kind in kinds:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if not inspect.isclass(origin) or not parts:
      continue
    if isinstance(value, dict) and issubclass(dict, origin) and len(parts) == 2:
      return {key: _whole(part, _members(parts[1])) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and issubclass(origin, (list, tuple)) or isinstance(
        value, (list, tuple)) and issubclass(list, origin):
      each = parts if len(parts) == len(value) and ... not in parts else parts[:1] * len(value)
      return type(value)(_whole(part, _members(hint)) for part, hint in zip(value, each))
  return value


def _members(hint: Any) -> tuple[Any, ...]:
  """The types of a union; one type for others."""
  return typing.get_args(hint) if typing.get_origin(hint) in _UNIONS else (hint,)


def _convert(found: gin_files.Scan, converted: Mapping[gin_bindings.Key, Any]) -> None:
  """Sets converted values, in gin and in `found`.

  A macro is converted itself if all that read it want a whole number; else its parameters are, and
  the others keep its value.
  """
  read = gin_bindings.reached(found.history)
  readers: dict[gin_bindings.Key, list[gin_bindings.Key]] = {}
  for key, settings in found.history.items():
    for reference in gin_bindings.references(settings[-1].value):
      is_read = read is None or key in read or settings[-1].is_users
      if reference.name == gin_bindings.MACRO and is_read:
        readers.setdefault((reference.scope, gin_bindings.MACRO, "value"), []).append(key)
  changes: dict[gin_bindings.Key, Any] = {}
  for key, value in converted.items():
    macro: gin_bindings.Key = key
    setting = found.history[key][-1].value
    if isinstance(setting, gin_bindings.GinReference):
      macro = (setting.scope, setting.name, "value")
    changes[macro if set(readers.get(macro, ())) <= set(converted) else key] = value
  with gin.unlock_config():
    for (scope, name, argument), value in changes.items():
      gin.bind_parameter(f"{f'{scope}/' if scope else ''}{name}.{argument}", value)
      settings = found.history[scope, name, argument]
      settings[-1] = dataclasses.replace(settings[-1], value=value)


def _choices(kind: Any) -> tuple[Any, ...]:
  """The values of a `Literal`; () of other types."""
  return typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()


@functools.lru_cache(maxsize=1024)  # Each of its arguments asks.
def _signature(target: Any) -> tuple[dict[str, Any], Mapping[str, inspect.Parameter]]:
  """The types and the parameters of a function or class."""
  is_record = inspect.isclass(target) and issubclass(target, tuple)  # A NamedTuple.
  function = target.__init__ if inspect.isclass(target) and not is_record else target
  return typing.get_type_hints(function), inspect.signature(target).parameters


def _kinds(name: str, argument: str) -> tuple[Any, ...]:
  """The types of a parameter; () if they are not known."""
  try:
    # Modules as far as there are, then attributes.
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
      try:
        target: Any = importlib.import_module(".".join(parts[:length]))
        break
      except ImportError:
        continue
    else:
      return ()
    hints, parameters = _signature(functools.reduce(getattr, parts[length:], target))
    hint, default = hints.get(argument), parameters[argument].default
  except Exception:  # Annotations may name what only a type checker, or a newer Python, knows.
    return ()
  kinds = () if hint is None else _members(hint)
  return (*kinds, *((type(None),) if default is None and kinds and type(None) not in kinds else ()))
