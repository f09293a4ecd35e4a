# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Draws the figure of README.md from the committed tables of the leaderboard on real data.

  python tools/readme_figure.py            writes docs/images/protocols.png
  python tools/readme_figure.py --check    fails if the tables are not those that it was drawn from

The picture is PNG, so that letters are alike everywhere; its text chunk holds the tables' digest.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import pathlib
import re
import sys
from typing import NamedTuple

from PIL import Image
from PIL import PngImagePlugin

from suite.reporting import figures

_ROOT = pathlib.Path(__file__).resolve().parents[1]
_PAGE = _ROOT / "docs/results/leaderboard/cpu.md"
_OUT = _ROOT / "docs/images/protocols.png"
_UNITS = {"kFLOP": 1e3, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12, "PFLOP": 1e15}
_PROTOCOLS = {"NEVIS": "Tasks in a stream (NEVIS)", "CLEAR": "Buckets of time (CLEAR)",
              "FLUID": "Sample by sample (FLUID)", "CFSL": "Few-shot episodes (CFSL)"}
_SOURCE = "source"


class Point(NamedTuple):
  """A method: its score in percent, FLOPs, and whether no other is better and cheaper."""

  method: str
  score: float
  flops: float
  is_front: bool


def tables(page: str) -> dict[str, tuple[str, list[Point]]]:
  """{protocol: (measure, points)} of the page's tables of scores against FLOPs."""
  found = {}
  for title, body in re.findall(r"\*\*[^*\n]*: ([^*\n]*) against FLOPs\*\*\n\n((?:\|.*\n)+)", page):
    protocol, _, measure = title.partition(" ")
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")]
            for line in body.splitlines()[2:]]
    points = []
    for name, score, _, cost, front in rows:
      number, unit = cost.split()
      points.append(Point(name, float(score), float(number) * _UNITS[unit], front == "yes"))
    found[protocol] = measure, points
  return found


def draw(found: dict[str, tuple[str, list[Point]]]) -> bytes:
  """The picture: a pair of axes for each protocol, on which the best mean is named."""
  methods = list(dict.fromkeys(point.method for _, points in found.values() for point in points))
  with figures.style():
    figure, first = figures.new_axes("", width=11.0, height=6.6)
    grid = figure.add_gridspec(2, 2)
    first.set_subplotspec(grid[0])
    for i, (protocol, (measure, points)) in enumerate(found.items()):
      axes = first if not i else figure.add_subplot(grid[i])
      is_error = "error" in measure
      axes.set_xscale("log")
      best = (min if is_error else max)(points, key=lambda point: point.score)
      for point in points:
        look = figures.look(methods.index(point.method))
        axes.plot([point.flops], [point.score], linestyle="none", color=look["color"],
                  marker=look["marker"], markersize=15 if point is best else 9,
                  markeredgecolor="black" if point is best else "white", label=point.method)
      front = sorted((point for point in points if point.is_front), key=lambda one: one.flops)
      axes.step([one.flops for one in front], [one.score for one in front], where="post",
                color="#888888", linewidth=1.2, zorder=0)
      axes.margins(x=0.12, y=0.22)
      # Towards the middle of the axes.
      is_cheap = best.flops ** 2 < min(p.flops for p in points) * max(p.flops for p in points)
      axes.annotate(f"best mean: {best.method}", (best.flops, best.score),
                    xytext=(14 if is_cheap else -14, 9), textcoords="offset points",
                    ha="left" if is_cheap else "right", fontsize=13, fontweight="bold")
      axes.set_title(_PROTOCOLS.get(protocol, protocol), loc="left", fontsize=14)
      axes.set_ylabel("error, %" if is_error else "accuracy, %", fontsize=13)
      if is_error:
        axes.invert_yaxis()  # Up is better everywhere.
      axes.tick_params(labelsize=12)
      axes.grid(True, which="major")
      figures.flops_ticks(axes)
      if i >= 2:
        axes.set_xlabel("FLOPs of the run, answers included", fontsize=13)
    shown = {}
    for axes in figure.axes:
      shown.update({label: handle for handle, label in zip(*axes.get_legend_handles_labels())})
    legend = figure.legend([shown[name] for name in methods], methods, frameon=False, fontsize=13,
                           loc="outside right center")
    for handle in legend.legend_handles:
      handle.set_markersize(9)
      handle.set_markeredgecolor("white")
    figure.suptitle("Ten methods, four protocols, one count of FLOPs: each has another best mean",
                    x=0.01, ha="left", fontsize=16, fontweight="bold")
    figure.savefig(file := io.BytesIO(), format="png", dpi=110, facecolor="white",
                   metadata={"Software": None})
  return file.getvalue()


def main(argv: list[str]) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--check", action="store_true", help="only compare; exit 1 if stale")
  check = parser.parse_args(argv).check
  found = tables(_PAGE.read_text(encoding="utf-8"))
  digest = hashlib.sha256(repr(found).encode()).hexdigest()
  if check:
    with Image.open(_OUT) as picture:
      if picture.info.get(_SOURCE) == digest:
        return 0
    print(f"{_OUT} was drawn from other tables than those of {_PAGE}: run python "
          "tools/readme_figure.py.", file=sys.stderr)
    return 1
  with Image.open(io.BytesIO(draw(found))) as picture:
    about = PngImagePlugin.PngInfo()
    about.add_text(_SOURCE, digest)
    picture.convert("RGB").quantize(128).save(_OUT, pnginfo=about, optimize=True)
  print(f"Figure: {_OUT}")
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
