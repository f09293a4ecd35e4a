# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The space of a search of a method's settings, as users write it.

    learning_rate=0.01..0.3 log     a range, drawn uniformly, or log-uniformly
    memory_size=50..500             a range of whole numbers, both ends included
    alpha=0.1,0.5                   one of these values

Each dimension is drawn as a place from 0 to 1, or as one of the values, by the oracles of
NEVIS'22's searches; a setting's value is made of its place here.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
import dataclasses
import math
import re
from typing import Any

from suite.configs import gin_files
from suite.configs import methods

_RANGE = re.compile(r"\s*(?P<low>.*?)\s*\.\.\s*(?P<high>.*?)(?P<log>\s+log)?\s*")
_DIGITS = 4  # Of a number from a range, so that it is the same wherever a logarithm is rounded.
_MOST_VALUES = 100  # Of whole numbers that oracles see as a list.
_ALLOWED = ("a range of numbers LOW..HIGH, which 'log' may follow, or values with commas between "
            "them: 'learning_rate=0.01..0.3 log', 'alpha=0.1,0.5'")


@dataclasses.dataclass(frozen=True)
class Dimension:
  """A setting that is searched.

  Attributes:
    name: of the setting. text: as the user wrote it.
    values: those that are tried; (): a range.
    low, high: of the range. is_log: drawn log-uniformly. is_whole: of whole numbers.
  """

  name: str
  text: str
  values: tuple[Any, ...] = ()
  low: float = 0.0
  high: float = 1.0
  is_log: bool = False
  is_whole: bool = False

  @property
  def drawn(self) -> Any:
    """The dimension as the oracles draw it, see `search.Search`."""
    return list(range(len(self.values))) if self.values else (0.0, 1.0)

  def value(self, place: float) -> Any:
    """The setting's value of what was drawn."""
    if self.values:
      return self.values[int(place)]
    low, high = (self.low, self.high + 1) if self.is_whole else (self.low, self.high)
    found = (math.exp(math.log(low) + place * (math.log(high) - math.log(low))) if self.is_log else
             low + place * (high - low))
    if self.is_whole:
      return min(int(found), int(self.high))
    return min(max(float(f"{found:.{_DIGITS}g}"), self.low), self.high)


def parse(texts: Sequence[str], settings: Mapping[str, methods.Setting], what: str
          ) -> list[Dimension]:
  """The dimensions that texts NAME=RANGE say.

  Args:
    texts: as of --over.
    settings: of the method, by name.
    what: the method, for messages.

  Raises:
    ConfigError: a text is none, or its values are not those of a setting.
  """
  found = [_parsed(text, settings, what) for text in texts]
  names = [one.name for one in found]
  if twice := [name for name in names if names.count(name) > 1]:
    raise gin_files.ConfigError(f"--over has {twice[0]!r} twice; give each setting once, a range "
                                "or all its values.")
  return found


def _parsed(text: str, settings: Mapping[str, methods.Setting], what: str) -> Dimension:
  name, equals, space = text.partition("=")
  name = methods.setting_name(name.strip())
  if not equals or not name or not space.strip():
    raise gin_files.ConfigError(f"--over {text!r} is no space; give NAME= and {_ALLOWED}.")
  if name.rpartition(".")[2] == "seed":
    raise gin_files.ConfigError(
        f"--over {text!r}: the best of several seeds is luck, which no other run repeats. Leave it "
        "out; suite run --seeds 0,1,2 gives the mean over seeds.")
  methods.bindings(settings, {name: None}, what)  # Refuses a name that it has not.
  setting = settings[name]
  match = _RANGE.fullmatch(space)
  if match is None:
    values = _values(text, space, setting)
    return Dimension(name, text, tuple(values))
  low, high = (_number(text, match[end], setting) for end in ("low", "high"))
  is_log = match["log"] is not None
  if not low < high:
    raise gin_files.ConfigError(f"--over {text!r}: the range is empty; give LOW..HIGH with LOW "
                                "below HIGH, or one value by --set.")
  if is_log and low <= 0:
    raise gin_files.ConfigError(f"--over {text!r}: a logarithm needs a range above 0, and it "
                                f"begins with {match['low']}. Begin above 0, or leave 'log' out.")
  if _is_whole(setting) and not is_log and high - low < _MOST_VALUES:  # None is drawn twice.
    return Dimension(name, text, tuple(range(int(low), int(high) + 1)))
  return Dimension(name, text, (), low, high, is_log, _is_whole(setting))


def _is_whole(setting: methods.Setting) -> bool:
  return setting.kind.startswith("whole number") and "or number" not in setting.kind


def _number(text: str, word: str, setting: methods.Setting) -> float:
  """An end of a range."""
  value = _literal(word)
  if not _is_number(value) or setting.kind and "number" not in setting.kind:
    raise gin_files.ConfigError(
        f"--over {text!r}: {word!r} is no end of a range of {setting.name}, whose type is: "
        f"{setting.kind or 'no number'}. A space is {_ALLOWED}.")
  _check(text, value, setting)
  return value


def _values(text: str, space: str, setting: methods.Setting) -> list[Any]:
  """The values of a list."""
  whole = _literal(f"[{space}]")
  values = whole if isinstance(whole, list) else [_literal(word.strip())
                                                  for word in space.split(",") if word.strip()]
  if len(values) < 2 or len(set(map(repr, values))) < len(values):
    raise gin_files.ConfigError(f"--over {text!r}: a search needs two values or more, each once. "
                                "One value is given by --set NAME=VALUE.")
  for value in values:
    _check(text, value, setting)
  return values


def _check(text: str, value: Any, setting: methods.Setting) -> None:
  """Refuses a value of another type than the setting's."""
  kind = setting.kind
  fits = not kind or "(several)" in kind or (
      (value is None and kind.endswith("or None"))
      or (isinstance(value, bool) and "True or False" in kind)
      or (_is_number(value) and "number" in kind
          and (isinstance(value, int) or not _is_whole(setting)))
      or (isinstance(value, str) and ("text" in kind or "'" in kind or '"' in kind)))
  if not fits:
    raise gin_files.ConfigError(f"--over {text!r}: {value!r} is no value of {setting.name}, which "
                                f"takes {kind}, such as {setting.value!r}.")


def _is_number(value: Any) -> bool:
  return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _literal(word: str) -> Any:
  """A Python literal; a word that is none is text."""
  try:
    return ast.literal_eval(word)
  except (ValueError, SyntaxError):
    return word
