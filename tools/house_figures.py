# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Counts code, folders, import arrows, circles and names of a checkout, for docs/architecture.md.

    python tools/house_figures.py            # this checkout
    python tools/house_figures.py --frames   # the way from `suite run` to the gradient, a minute
    git worktree add /tmp/before 42ddff8 && python tools/house_figures.py /tmp/before

A room is a folder with at least one module; __init__.py does not count as one, and
suite/experiment.py is a room by itself: tables and commands use it, and it lies beside cli.py. An
arrow is a pair of rooms of which the first imports the second; it points up if the floor of the
second stands later in FLOORS. Every import counts, those inside functions too.

Code is what is no blank line, comment or docstring; a refusal is a `raise`. A climb is a frame that
calls one of a floor above its own.
"""

from __future__ import annotations

import argparse
import ast
import collections
from collections.abc import Iterator, Mapping, Sequence
import contextlib
import io
import pathlib
import re
import sys
import tempfile
import tokenize
import traceback
from typing import Any, NamedTuple

PACKAGES = ("suite", "tfds_builders")
SHORT = 60  # Lines of a short module.
# Low to high. The last floor is the modules directly in suite/: the command line.
FLOORS = ("tfds_builders", "suite/system", "suite/compute", "suite/metrics", "suite/lifelong",
          "suite/models", "suite/state", "suite/contracts", "suite/data", "suite/training",
          "suite/learners", "suite/protocols", "suite/reporting", "suite/configs",
          "suite/experiment.py", "suite/tables", "suite/running", "suite/commands", "suite/beside",
          "suite")

# Runs whose gradients are looked at, with bindings that make them short.
SHORT_RUNS: Mapping[str, Sequence[str]] = {
    "digits/clear": ("STEPS=2", "VALIDATE_EVERY=2", "experiment.run.only='ft_prev'"),
    "digits/clear_table": ("EPOCHS=1", "NUM_BUCKETS=2", "experiment.run.only='er'")}

Graph = dict[str, set[str]]
Trees = Mapping[str, tuple[pathlib.Path, ast.Module]]
_LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENDMARKER)


class Import(NamedTuple):
  """One import statement's name; `from a import b` is a.b; for_types: under `if TYPE_CHECKING`."""

  line: int
  name: str
  in_function: bool
  for_types: bool = False


def module_name(path: pathlib.PurePath) -> str:
  """suite/data/x.py -> suite.data.x; a package's __init__ is the package."""
  parts = path.with_suffix("").parts
  return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: pathlib.PurePath, tree: ast.AST) -> Iterator[Import]:
  """All imports of a module; `path` is relative to the checkout."""
  package = path.parent.parts

  def visit(node: ast.AST, in_function: bool, for_types: bool = False) -> Iterator[Import]:
    if isinstance(node, ast.Import):
      for alias in node.names:
        yield Import(node.lineno, alias.name, in_function, for_types)
    elif isinstance(node, ast.ImportFrom):
      above = package[:len(package) - node.level + 1] if node.level else ()
      base = ".".join([*above, *filter(None, [node.module])])
      for alias in node.names:
        yield Import(node.lineno, f"{base}.{alias.name}", in_function, for_types)
    in_function |= isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    for_types |= isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
    for child in ast.iter_child_nodes(node):
      if not isinstance(child, ast.expr):  # No expression holds an import.
        yield from visit(child, in_function, for_types)

  return visit(tree, False)


def known(name: str, modules: Mapping[str, object]) -> str:
  """The module that an imported name belongs to: the longest prefix that is one; "" if none."""
  while name and name not in modules:
    name = name.rpartition(".")[0]
  return name


def sources(root: pathlib.Path) -> dict[str, pathlib.Path]:
  """Module -> file, relative to the root, of all packages."""
  return {module_name(path.relative_to(root)): path.relative_to(root)
          for package in PACKAGES for path in sorted((root / package).rglob("*.py"))}


def parsed(root: pathlib.Path) -> Trees:
  """Module -> file, relative to the root, and its syntax tree, of all packages."""
  return {module: (path, ast.parse((root / path).read_text(encoding="utf-8")))
          for module, path in sources(root).items()}


def graph(trees: Trees) -> Graph:
  """Module -> modules that it imports."""
  return {module: {known(one.name, trees) for one in imports(path, tree)} - {"", module}
          for module, (path, tree) in trees.items()}


def between_rooms(arrows: Graph, files: Mapping[str, pathlib.Path]) -> Graph:
  """Room of `suite` -> other rooms that it imports."""
  found: Graph = collections.defaultdict(set)
  for module, others in arrows.items():
    room = room_of(files[module])
    if room.split("/")[0] == "suite":
      found[room] |= {room_of(files[other]) for other in others if other != "suite"} - {room}
  return {room: others for room, others in found.items() if others}


def circles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
  """Groups of nodes that reach each other, each sorted."""
  reached = {node: _reachable(node, arrows) for node in arrows}
  groups = {tuple(sorted({node} | {other for other in reached[node]
                                   if node in reached.get(other, ())})) for node in arrows}
  return [list(group) for group in sorted(groups) if len(group) > 1]


def _reachable(start: str, arrows: Mapping[str, set[str]]) -> set[str]:
  found: set[str] = set()
  waiting = [start]
  while waiting:
    new = arrows.get(waiting.pop(), set()) - found
    found |= new
    waiting += new
  return found


def room_of(path: pathlib.PurePath) -> str:
  """The room of a file, by its path within the checkout."""
  return path.as_posix() if path.as_posix() in FLOORS else path.parent.as_posix()


def _floor(room: str) -> int:
  return next(place for place, floor in enumerate(FLOORS)
              if room == floor or room.startswith(f"{floor}/"))


class Code(NamedTuple):
  """Lines and tokens of code, `raise` statements and their lines."""

  lines: int
  tokens: int
  refusals: int
  refusal_lines: int


def code(path: pathlib.Path) -> Code:
  """The code of a file."""
  text = path.read_text(encoding="utf-8")
  tree, docs = ast.parse(text), set()
  for node in ast.walk(tree):
    if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
      first = node.body[0] if node.body else None
      if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(
          first.value.value, str):
        docs |= set(range(first.lineno, first.end_lineno + 1))
  tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type not in _LAYOUT and token.start[0] not in docs]
  lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
  raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
  return Code(len(lines), len(tokens), len(raised),
              sum(node.end_lineno - node.lineno + 1 for node in raised))


def code_by_wing(root: pathlib.Path) -> dict[str, Code]:
  """Wing, a folder of `suite` or what lies directly in it -> the sum of its code."""
  found: dict[str, list[Code]] = collections.defaultdict(list)
  for path in sorted((root / "suite").rglob("*.py")):
    parts = path.relative_to(root).parts
    found["/".join(parts[:2]) if len(parts) > 2 else "suite"].append(code(path))
  return {wing: Code(*map(sum, zip(*parts))) for wing, parts in sorted(found.items())}


def climbs(way: Sequence[str]) -> int:
  """How often a frame "suite/...: ..." calls one of a floor above its own."""
  floors = [_floor(room_of(pathlib.PurePath(frame.split(":")[0]))) for frame in way]
  return sum(b > a for a, b in zip(floors, floors[1:]))


def figures(root: pathlib.Path) -> dict[str, object]:
  """Name -> figure, for the packages of a checkout; names used twice are those within suite."""
  files, arrows = sources(root), graph(parsed(root))
  modules = {module: path for module, path in files.items() if path.name != "__init__.py"}
  rooms = collections.Counter(room_of(path) for path in modules.values())
  suite_rooms = {room: num for room, num in rooms.items() if room.split("/")[0] == "suite"}
  by_room = between_rooms(arrows, files)
  between = [(a, b) for a, others in by_room.items() for b in others]
  twice = collections.Counter(path.stem for path in modules.values() if path.parts[0] == "suite")
  largest = max(suite_rooms, key=lambda room: suite_rooms[room])
  whole = Code(*map(sum, zip(*code_by_wing(root).values())))
  return {
      "code lines": whole.lines,
      "code tokens": whole.tokens,
      "refusals": whole.refusals,
      "lines of refusals": f"{whole.refusal_lines / max(whole.lines, 1):.1%}",
      "modules": sum(suite_rooms.values()),
      "rooms": len(suite_rooms),
      "floors": len({_floor(room) for room in suite_rooms}),
      "arrows between rooms": len(between),
      "arrows upward": sum(_floor(b) > _floor(a) for a, b in between),
      "circles of rooms": len(circles(by_room)),
      "circles of modules": len(circles(arrows)),
      "modules in the largest room": f"{suite_rooms[largest]} ({largest})",
      "module names used twice": sum(num > 1 for num in twice.values()),
      **_pages(root, files, arrows),
  }


def _pages(root: pathlib.Path, files: Mapping[str, pathlib.Path], arrows: Graph
           ) -> dict[str, object]:
  """How finely `suite` is cut: imports between its files, short files, functions called once.

  A function is private if its name begins with one underscore. Names count by module: one that
  stands once more there, besides its definition, is called once or passed once; see `_single_use`.
  """
  ours = {module: path for module, path in files.items()
          if path.parts[0] == "suite" and path.name != "__init__.py"}
  importers = collections.Counter(
      other for module, others in arrows.items() for other in others if other in ours)
  settings = "\n".join(path.read_text(encoding="utf-8") for path in (root / "gin").rglob("*.gin"))
  named = {f"{package}.{name}" for package, name in re.findall(
      r"^\s*from ([\w.]+) import (\w+)", settings, re.MULTILINE)}
  functions = lines = renamed = needless = short = 0
  uses: collections.Counter[str] = collections.Counter()
  for path in ours.values():
    text = (root / path).read_text(encoding="utf-8")
    tree = ast.parse(text)
    short += len(text.splitlines()) < SHORT
    uses.update(_single_use(text, tree))
    bound = _bound_names(tree)
    for node in ast.walk(tree):
      if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        functions += 1
        lines += node.end_lineno - node.lineno + 1
      elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "suite":
        aliases = [alias.name for alias in node.names if alias.asname is not None]
        renamed, needless = renamed + len(aliases), needless + len(set(aliases) - bound)
  return {
      "imports between modules": sum(len(others & set(ours)) for module, others in arrows.items()
                                     if module in ours),
      "modules with one importer": sum(importers[module] == 1 and module not in named
                                       for module in ours),
      f"modules under {SHORT} lines": short,
      "functions": functions,
      "lines of a function": round(lines / max(functions, 1), 1),
      **{f"private functions {how} once": f"{uses[how]} ({uses[how] / max(functions, 1):.1%})"
         for how in ("called", "passed")},
      "imports under another name": renamed,
      "of these without need": needless,
  }


def _bound_names(tree: ast.AST) -> set[str]:
  """Names that a module gives to something: with one of these an import needs another name."""
  found: set[str] = set()
  for node in ast.walk(tree):
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
      found.add(node.id)
    elif isinstance(node, ast.arg):
      found.add(node.arg)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
      found.add(node.name)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
      found |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
  return found


def _single_use(text: str, tree: ast.AST) -> Iterator[str]:
  """For each private function with one use in its module: "called" or "passed".

  Only what is called could be written in place. "passed" are functions that are values, such as
  callbacks and entries of tables; decorated ones, such as properties, caches and context managers;
  and overrides of a library's methods that call the original.
  """
  words = collections.Counter(re.findall(r"\w+", text))
  called = {ast.unparse(node.func).rpartition(".")[2] for node in ast.walk(tree)
            if isinstance(node, ast.Call) and not ast.unparse(node.func).startswith("super().")}
  for node in ast.walk(tree):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and re.match(
        r"_(?!_)", node.name) and words[node.name] == 2:
      yield "called" if node.name in called and not node.decorator_list else "passed"


def frames(root: pathlib.Path, run: str, params: Sequence[str] = ()) -> list[list[str]]:
  """The ways of a run from the command to `GradientTape.gradient`: "file:line function" by frame.

  TensorFlow takes a gradient where it makes a graph: once to count its operations, and once to
  execute it, or once for both. Frames are counted in files of the checkout's package `suite`.
  """
  sys.path.insert(0, str(root))
  from suite import cli
  from suite.running import this_process
  this_process.import_tensorflow()
  import tensorflow as tf
  package, found = root / "suite", {}
  original = tf.GradientTape.gradient

  def gradient(self: Any, *args: Any, **kwargs: Any) -> Any:
    stack = [frame for frame in traceback.extract_stack()
             if package in pathlib.Path(frame.filename).parents]
    found.setdefault(tuple((frame.filename, frame.name) for frame in stack), [
        f"{pathlib.Path(frame.filename).relative_to(root)}:{frame.lineno} {frame.name}"
        for frame in stack])
    return original(self, *args, **kwargs)

  bindings = [word for param in params for word in ("--gin_param", param)]
  with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
    tf.GradientTape.gradient = gradient
    try:
      code = cli.main(["run", run, "--workdir", str(pathlib.Path(folder) / "run"), *bindings])
    finally:
      tf.GradientTape.gradient = original
  if code:
    raise RuntimeError(f"suite run {run} ended with {code}.")
  return list(found.values())


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path("."),
                      help="of a checkout (.)")
  parser.add_argument("--frames", action="store_true",
                      help="list the own frames from `suite run` to the gradient instead")
  args = parser.parse_args()
  if args.frames:
    for run, params in SHORT_RUNS.items():
      for way in frames(args.root.resolve(), run, params):
        num_files = len({frame.split(":")[0] for frame in way})
        print(f"{run}: {len(way)} frames in {num_files} files, {climbs(way)} climbs", *way,
              sep="\n    ")
    return
  for name, figure in figures(args.root.resolve()).items():
    print(f"{name:32} {figure}")
  for wing, found in code_by_wing(args.root.resolve()).items():
    print(f"{wing:32} {found.lines} lines, {found.tokens} tokens, {found.refusals} refusals")


if __name__ == "__main__":
  main()
