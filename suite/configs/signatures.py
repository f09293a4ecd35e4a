# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parameters of the suite's functions and classes, read from their source: nothing is imported.

Settings of methods, `suite show` and messages about bindings name parameters before TensorFlow is
imported. A class has the parameters of its `__init__`, or its fields if it is a dataclass or a
NamedTuple, or those of its base class.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
import functools
import pathlib
import re
from typing import NamedTuple

_HOME = pathlib.Path(__file__).resolve().parents[2]
_SECTIONS = ("Args:", "Attributes:", "Returns:", "Raises:", "Yields:")
_PLAIN = {"int", "float", "str", "bool", "None", "Optional", "Union", "Sequence", "tuple", "Tuple",
          "list", "List", "Any"}
_ENTRY = re.compile(r"(?:^|(?<=[.;] ))(\w+(?:, \w+)*)(?: \[[^\]]*\])?: ")  # "a, b: text."
# A definition with its decorators and its body, at the left and in a class.
_DEFINITION, _METHOD = (re.compile(
    rf"^(?:{left}@[^\n]*\n(?:{left}[ )][^\n]*\n)*)*{left}(?:class|def|async def) (\w+)[^\n]*\n"
    rf"(?:(?:{left}[ )#][^\n]*)?\n)*", re.MULTILINE) for left in ("", "  "))
_CHOICES = re.compile(r"(?:typing\.)?Literal\[([^\]]*)\]")
_WORDS = {"int": "whole number", "float": "number", "str": "text", "bool": "True or False"}
_COUNTED = ("examples|images|samples|rows|epochs|passes|steps|updates|episodes|trials|classes|"
            "neighbors|phases|layers|blocks|clusters|stages|seconds|bytes|pixels|degrees")
# "passes over the data", "k, the number of examples held at most", "linear warm-up, in epochs".
_UNIT = re.compile(
    rf"(?:[A-Za-z]{{1,2}}, )?(?:the |at most |first |offline |gradient |support |target |residual "
    rf"|number of )*({_COUNTED})\b|[^.;(]*\bin ({_COUNTED})$")


class Parameter(NamedTuple):
  """A parameter of a function or class.

  Attributes:
    name: its name.
    kind: the annotation; "" without one.
    default: the text of its default; None if it is required.
    meaning: what the docstring says of it; "" if it says nothing.
  """

  name: str
  kind: str
  default: str | None
  meaning: str

  @property
  def is_plain(self) -> bool:
    """Whether its values are numbers, texts, True, False, None, or sequences of these."""
    return _is_plain(self.kind)

  @property
  def kind_in_words(self) -> str:
    """The type for people: "whole number or None"; "" if it is not plain."""
    return _in_words(self.kind)

  @property
  def unit(self) -> str:
    """The unit of a number, such as "examples", with which its docstring begins; "": none."""
    found = _UNIT.match(self.meaning) if re.search(r"\bint\b|\bfloat\b", self.kind) else None
    return "" if found is None else found[1] or found[2]


@functools.cache  # All methods together have a thousand parameters of twenty kinds.
def _is_plain(kind: str) -> bool:
  names = set(re.findall(r"\w+", _CHOICES.sub("str", kind)))
  return bool(names & set(_WORDS)) and names <= _PLAIN


@functools.cache
def _in_words(kind: str) -> str:
  if not _is_plain(kind):
    return ""
  rest = _CHOICES.sub("", kind)
  found = [word for name, word in _WORDS.items() if re.search(rf"\b{name}\b", rest)]
  found = _CHOICES.findall(kind) + found
  several = " (several)" if re.search(r"[Ss]equence|tuple|Tuple|[Ll]ist", rest) else ""
  is_open = re.search(r"\bNone\b|Optional", kind)
  return " or ".join(found) + several + (" or None" if is_open else "")


@functools.cache
def parameters(function: str) -> Mapping[str, Parameter]:
  """The parameters of a function or class of the suite by its full name; {} if it is not known."""
  module, tree = _module_of(function)
  if tree is None:
    return {}
  node: ast.AST | None = tree
  for name in function[len(module) + 1:].split("."):
    node = next((inner for inner in getattr(node, "body", ())
                 if getattr(inner, "name", "") == name), None)
  if isinstance(node, ast.ClassDef):
    return _of_class(node, module, tree)
  if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
    return _of_function(node, ast.get_docstring(node) or "", tree)
  return {}


def first_line(function: str) -> str:
  """The first line of a function's or class's docstring; "" if it is not known."""
  module, tree = _module_of(function)
  for node in getattr(tree, "body", ()):
    if getattr(node, "name", "") == function[len(module) + 1:]:
      return (ast.get_docstring(node) or "").partition("\n")[0]
  return ""


def _module_of(function: str) -> tuple[str, ast.Module | None]:
  """The module that a full name begins with, and its source; ("", None) if it is none of ours."""
  parts = function.split(".")
  for length in range(len(parts) - 1, 1, -1):
    path = _HOME.joinpath(*parts[:length]).with_suffix(".py")
    if parts[0] == "suite" and path.is_file():
      return ".".join(parts[:length]), _parsed(path, parts[length])
  return "", None


@functools.cache
def _parsed(path: pathlib.Path, name: str) -> ast.Module:
  """A module with one function or class, whose only method is `__init__`; the rest takes longest.
  """
  text = path.read_text(encoding="utf-8")

  def kept(match: re.Match[str]) -> str:
    return _METHOD.sub(lambda one: one[0] if one[1] == "__init__" else "", match[0]) if (
        match[1] == name) else ""

  try:
    return ast.parse(_DEFINITION.sub(kept, text))
  except SyntaxError:  # A text has lines that look like a definition, or a class had only methods.
    return ast.parse(text)


def _of_class(node: ast.ClassDef, module: str, tree: ast.Module) -> Mapping[str, Parameter]:
  text = ast.get_docstring(node) or ""
  for inner in node.body:
    if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
      return _of_function(inner, f"{text}\n{ast.get_docstring(inner) or ''}", tree)
  inherited: dict[str, Parameter] = {}
  for base in map(ast.unparse, node.bases):
    first, _, rest = base.partition(".")
    inherited.update(parameters(f"{_imported(tree, first)}.{rest}" if rest else f"{module}.{base}"))
  if not any(word in ast.unparse(one) for one in (*node.decorator_list, *node.bases)
             for word in ("dataclass", "NamedTuple")):
    return inherited
  fields = [(inner.target.id, _kind(inner.annotation, tree), inner.value) for inner in node.body
            if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name)
            and "ClassVar" not in ast.unparse(inner.annotation)]
  said = meanings(text, [name for name, _, _ in fields])
  return {**inherited, **{name: Parameter(
      name, kind, None if value is None else _text(value, tree), said.get(name, ""))
      for name, kind, value in fields}}


def _imported(tree: ast.Module, alias: str) -> str:
  """The full name of a module that an import statement gives a name."""
  for node in tree.body:
    for one in getattr(node, "names", ()):
      if (one.asname or one.name) == alias:
        return ".".join(filter(None, [getattr(node, "module", None), one.name]))
  return alias


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, text: str, tree: ast.Module
                 ) -> Mapping[str, Parameter]:
  positional = [*node.args.posonlyargs, *node.args.args]
  without = [None] * (len(positional) - len(node.args.defaults))
  found: list[tuple[ast.arg, ast.expr | None]] = [  # Each with its default.
      *zip(positional, [*without, *node.args.defaults]),
      *zip(node.args.kwonlyargs, node.args.kw_defaults)]
  said = meanings(text, [argument.arg for argument, _ in found])
  return {argument.arg: Parameter(
      argument.arg, _kind(argument.annotation, tree) if argument.annotation else "",
      None if default is None else _text(default, tree), said.get(argument.arg, ""))
      for argument, default in found if argument.arg not in ("self", "cls")}


def _kind(annotation: ast.expr, tree: ast.Module) -> str:
  """The source of an annotation; of a name that stands for a `Literal` its choices."""
  text = ast.unparse(annotation)
  first, _, name = text.rpartition(".")
  if first:
    path = _HOME.joinpath(*_imported(tree, first).split(".")).with_suffix(".py")
    if not name.isidentifier() or not path.is_file():
      return text
    tree = _parsed(path, "")
  found = next((node.value for node in tree.body if isinstance(node, ast.Assign) and any(
      isinstance(target, ast.Name) and target.id == name for target in node.targets)), None)
  choices = "" if found is None else ast.unparse(found)
  return choices if _CHOICES.fullmatch(choices) else text


def _text(value: ast.expr, tree: ast.Module) -> str:
  """The source of a default; of a constant of its module the value."""
  if isinstance(value, ast.Name):
    for node in tree.body:
      if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and any(
          isinstance(target, ast.Name) and target.id == value.id for target in node.targets):
        return ast.unparse(node.value)
  return ast.unparse(value)


def meanings(docstring: str, names: list[str]) -> dict[str, str]:
  """What a docstring says of each parameter, in one line.

  A section has entries "name: text.", some with several names ("a, b: text.") or on one line.
  """
  if not names:
    return {}
  sections: list[list[str]] = []
  is_inside = False
  for line in docstring.splitlines():
    if line.strip() in _SECTIONS:
      is_inside = line.strip() in _SECTIONS[:2]
      sections += [[]] if is_inside else []
    elif is_inside:
      sections[-1].append(line.strip())
  found: dict[str, str] = {}
  for text in map(" ".join, sections):
    matches = [one for one in _ENTRY.finditer(text) if set(one[1].split(", ")) <= set(names)]
    for match, after in zip(matches, [*matches[1:], None]):
      said = text[match.end():after.start() if after else len(text)].strip().rstrip(".;")
      for name in match[1].split(", "):
        found.setdefault(name, said)
  return found
