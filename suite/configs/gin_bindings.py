# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which bindings of a run something reads, found without importing what they name.

Gin passes a binding only to a function that it calls through a reference, beginning with the run's
root (`experiment.run` or `table.run`). A binding of a function that the code calls by itself, of a
scope that no reference opens, or of a macro that no binding mentions is ignored without a message.
`unread` follows the references from the root and returns such bindings.

A key is (scope, name, argument). `name` is the full name of a function or class; a macro NAME is
the argument `value` of `MACRO` in scope NAME, as gin itself stores it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
import dataclasses
import functools
from typing import Any, NamedTuple

ROOTS = ("suite.experiment.run", "suite.tables.table.run", "suite.tables.table.Report")
MACRO = "gin.macro"
ONLY, LEARNERS = "only", "learners"  # Arguments of the first: what is chosen, and of what.

Key = tuple[str, str, str]


class GinReference(str):
  """`@scope/name`, `@scope/name()` or `%NAME` in a value; equal to that text."""

  scope: str
  name: str
  is_called: bool  # With (): by gin, where the value is read; otherwise later, by whoever has it.

  @classmethod
  def to_function(cls, scope: str, name: str, is_called: bool, text: str) -> GinReference:
    made = cls(text)
    made.scope, made.name, made.is_called = scope, name, is_called
    return made

  @classmethod
  def to_macro(cls, macro: str) -> GinReference:
    return cls.to_function(macro, MACRO, True, f"%{macro}")


@dataclasses.dataclass(frozen=True)
class Binding:
  """One binding as it was given.

  Attributes:
    value: a literal with `GinReference`s in it; or `gin_files.REQUIRED`.
    file: "" for a binding of the command line. line: in the file.
    text: what is set, as it was written. is_users: given on the command line, in the run file or in
      a file of --gin_file; not in a file that one of these includes.
  """

  value: Any
  file: str
  line: int
  text: str = ""
  is_users: bool = True

  @property
  def where(self) -> str:
    return f"{self.file}, line {self.line}" if self.file else "the command line"


class Unread(NamedTuple):
  """A binding that nothing reads; `reason` says why."""

  setting: Binding
  reason: str


# All settings of each key, the one that counts last.
History = dict[Key, list[Binding]]


def unread(history: History, read: set[Key] | None = None,
           texts: Collection[str] | None = None) -> list[Unread]:
  """The user's bindings that nothing can read; none if no root is bound.

  Args:
    history: of the run.
    read: `reached(history)`; None: it is computed.
    texts: of the settings that are asked about; None: all.

  Bindings of files that only a replaced value uses are not reported as unused: after
  `--gin_param run.update=@OnError()`, the run file's settings of the replaced strategy are no
  mistake. For bindings of the command line it does not count: one that sets the replaced strategy
  is an error. A replacement in a library (debug.gin) leaves them valid.
  """
  if read is None:
    read = reached(history)
  last = {key: settings[-1] for key, settings in history.items()
          if settings[-1].is_users and (texts is None or settings[-1].text in texts)}
  if read is None or last.keys() <= read:  # More settings only make a walk reach more.
    return []
  walk = _Walk(history)
  by_command = _Walk({key: settings[-1:] if not settings[-1].file else settings
                      for key, settings in history.items()})
  found = []
  for key, setting in last.items():
    if key in (walk if setting.file else by_command).read:
      continue
    scope, name, argument = key
    if name == MACRO:
      readable = sorted(s for s, n, _ in walk.read if n == MACRO)
      reason = f"This run reads {', '.join(readable)}." if readable else "This run reads no macro."
    elif name not in walk.names:
      reason = (f"No binding that the run reaches refers to {name}; only what is called through "
                f"@ gets bindings.")
    else:
      others = sorted(history[k][-1].text for k in walk.read
                      if k[1:] == (name, argument) and k[0] != scope)
      reason = (f"What is read instead: {', '.join(others)}." if others
                else f"No call of {name} opens the scope {scope!r}.")
    found.append(Unread(setting, reason))
  return found


def reached(history: History) -> set[Key] | None:
  """The keys that the run reads, by the settings that count; None if no root is bound."""
  if not any(name in ROOTS for _, name, _ in history):
    return None
  return _Walk({key: settings[-1:] for key, settings in history.items()}).read


def resolved(history: History, value: Any) -> Any:
  """A value with macros as what they stand for, and 3.0 as 3."""
  if isinstance(value, GinReference):
    key: Key = (value.scope, MACRO, "value")
    is_macro = value.name == MACRO and key in history
    return resolved(history, history[key][-1].value) if is_macro else value
  if isinstance(value, dict):
    return {resolved(history, key): resolved(history, part) for key, part in value.items()}
  if isinstance(value, (list, tuple)):
    return type(value)(resolved(history, part) for part in value)
  return int(value) if isinstance(value, float) and value.is_integer() else value


def read_by(history: History, learners: Sequence[str]) -> tuple[set[Key], set[str]]:
  """The keys that a run of these learners reads, and the functions and classes that it reaches."""
  walk = _Walk({key: settings[-1:] for key, settings in history.items()}, learners)
  return walk.read, walk.names


def made_by(history: History, value: Any) -> tuple[set[Key], set[str]]:
  """The keys that a call of a value reads, and the functions and classes that it reaches."""
  walk = _Walk({key: settings[-1:] for key, settings in history.items()}, start=value)
  return walk.read, walk.names


def learner_value(history: History, learner: str) -> Any:
  """The value of one of a run's learners, a reference; None if there is none of this name."""
  return _learners(history).get(learner)


def learner_names(history: History) -> list[str]:
  """The names of a run's learners."""
  return list(_learners(history))


def _learners(history: History) -> dict[str, Any]:
  settings = history.get(("", ROOTS[0], LEARNERS), [])
  value, _ = followed(history, settings[-1].value if settings else None)
  return value if isinstance(value, dict) else {}


def unread_at_the_end(history: History, used: Iterable[Key], only: Sequence[str] = ()
                      ) -> list[Binding]:
  """The user's bindings that a finished run did not use although it could have.

  Args:
    history: of the run.
    used: arguments that gin passed, by the scope of the call: gin's operative config.
    only: the learners that were chosen; (): all. The run file may bind what others read, the
      command line may not.
  """
  final = {key: settings[-1:] for key, settings in history.items()}
  by_files, by_command, read = _Walk(final, only), _Walk(final), set()
  for scope, name, argument in used:
    read.add(next((key for key in inherited(scope, name, argument) if key in final), None))
  return [settings[0] for key, settings in final.items()
          if settings[0].is_users and key not in read
          and key in (by_files if settings[0].file else by_command).read]


def settings_of(history: History, learner: str) -> dict[Key, Any] | None:
  """All that decides what one learner of a run is, with the values of macros in their places.

  Args:
    history: of the run.
    learner: its name.

  Returns:
    values by key, the learner itself by a key without a scope and a name; None if the run does not
    bind the learner.
  """
  final = {key: settings[-1:] for key, settings in history.items()}
  given = final.get(("", ROOTS[0], LEARNERS))
  learners = None if given is None else resolved(final, given[0].value)
  if not isinstance(learners, dict) or learner not in learners:
    return None
  walk = _Walk(final, start=learners[learner])
  return {("", "", ", ".join(sorted(walk.names))): learners[learner], **{
      key: resolved(final, final[key][0].value)
      for key in sorted(walk.read) if key in final and key[1] != MACRO}}


def references(value: Any) -> Iterator[GinReference]:
  """All references in a value, however deep."""
  if isinstance(value, GinReference):
    yield value
  elif isinstance(value, dict):
    for part in (*value.keys(), *value.values()):
      yield from references(part)
  elif isinstance(value, (list, tuple)):
    for part in value:
      yield from references(part)


def followed(history: History, value: Any) -> tuple[Any, list[str]]:
  """Follows macros to a value: (the value, the macros on the way); None if the last one is not set.

  A macro of a circle, which `gin_files.scan` refuses, has no value.
  """
  macros: list[str] = []
  while isinstance(value, GinReference) and value.name == MACRO:
    settings = [] if value.scope in macros else history.get((value.scope, MACRO, "value"), [])
    macros.append(value.scope)
    value = settings[-1].value if settings else None
  return value, macros


def circle(history: History) -> list[str]:
  """The first macros whose values lead back to the first of them; [] if there are none."""
  finished: set[str] = set()

  def visit(macro: str, way: list[str]) -> list[str]:
    if macro in way:
      return way[way.index(macro):]
    settings = history.get((macro, MACRO, "value"), [])
    for reference in references(settings[-1].value) if settings and macro not in finished else ():
      if reference.name == MACRO and (found := visit(reference.scope, [*way, macro])):
        return found
    finished.add(macro)
    return []

  for scope, name, _ in history:
    if name == MACRO and (found := visit(scope, [])):
      return found
  return []


def inherited(scope: str, name: str, argument: str) -> Iterator[Key]:
  """The keys that may give an argument in a scope, the most specific first."""
  for enclosing in _enclosing(scope):
    yield enclosing, name, argument


@functools.lru_cache(maxsize=1024)
def _enclosing(scope: str) -> tuple[str, ...]:
  """The scope and those around it, the innermost first."""
  parts = scope.split("/") if scope else []
  return tuple("/".join(parts[:length]) for length in range(len(parts), -1, -1))


class _Walk:
  """Everything that calls from the roots can read.

  Args:
    history: of the run. only: of the learners, those that count; (): all.
    start: a value whose calls the walk begins with; None: the roots.

  Attributes:
    read: keys. names: functions and classes that are reached.
  """

  def __init__(self, history: History, only: Sequence[str] = (), start: Any = None):
    self.read: set[Key] = set()
    self.names: set[str] = set()
    self._history, self._only = history, only
    self._scopes: dict[str, set[str]] = {}  # By name.
    arguments: dict[str, set[str]] = {}
    for scope, name, argument in history:
      self._scopes.setdefault(name, set()).add(scope)
      arguments.setdefault(name, set()).add(argument)
    self._waiting: list[tuple[str, str]] = (
        [("", root) for root in ROOTS] if start is None else [])
    self._follow(start, "", ())
    self._seen: set[tuple[str, str]] = set()
    while self._waiting:
      scope, name = call = self._waiting.pop()  # A call of `name` while `scope` is open.
      if call in self._seen:
        continue
      self._seen.add(call)
      self.names.add(name)
      for argument in arguments.get(name, ()):
        key = next((k for k in inherited(scope, name, argument) if k in self._history), None)
        if key is not None:
          self.read.add(key)
          chosen = self._only if name in ROOTS and argument == LEARNERS else ()
          for setting in self._history[key]:
            self._follow(setting.value, scope, chosen)

  def _follow(self, value: Any, scope: str, only: Sequence[str]) -> None:
    """Notes the calls that a value refers to.

    If `only` is given and the value is a dictionary, behind macros too, only the entries with these
    names count.
    """
    if only:
      value, macros = followed(self._history, value)
      self.read |= {(macro, MACRO, "value") for macro in macros}
    if only and isinstance(value, dict):
      value = {entry: part for entry, part in value.items() if entry in only}
    for reference in references(value):
      if reference.scope or reference.is_called:
        self._waiting.append((reference.scope or scope, reference.name))
      else:  # Called later, while any scope may be open.
        scopes = {"", scope, *self._scopes.get(reference.name, ())}
        self._waiting += [(s, reference.name) for s in scopes]


def function_of(selector: str, imports: dict[str, str] | None) -> str:
  """The full name of `alias.attribute...`, by what each alias stands for."""
  first, dot, rest = selector.partition(".")
  return (imports or {}).get(first, first) + dot + rest
