# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Generated dated images of seven classes, with a table, as a user would have them."""

import csv
import pathlib

import numpy as np
from PIL import Image

CLASSES = tuple("abcdefg")
SIDE = 8


def write(folder, years=(2010, 2011, 2012), per_class=5, late="g", early="f"):
  """Writes JPEG and PNG images and images.csv; returns its path and the rows without the header.

  Class `late` is in the last year only, class `early` in the first only; buckets are of unequal
  size. Times take turns in four forms.
  """
  folder = pathlib.Path(folder)
  (folder / "photos").mkdir(parents=True)
  rng, rows = np.random.default_rng(0), []
  for place, year in enumerate(years):
    for number, name in enumerate(CLASSES):
      if (name == late and year != years[-1]) or (name == early and year != years[0]):
        continue
      for i in range(per_class + place):
        file = f"photos/{year}_{name}{i}.{'png' if i % 2 else 'jpg'}"
        pixels = rng.integers(0, 40, [SIDE, SIDE, 3]) + 30 * number
        Image.fromarray(pixels.astype(np.uint8)).save(folder / file)
        month = 1 + (3 * i + number) % 12
        times = (f"{year}-{month:02d}-03", f"{year}:{month:02d}:03 04:05:06",
                 f"{year}-{month:02d}-03T04:05:06+02:00", f"{year}/{month}/3")
        rows.append([file, times[i % 4], name])
  return write_table(folder / "images.csv", rows), rows


def write_table(path, rows):
  """Writes a table of path, time and label; returns its path."""
  with open(path, "w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([["path", "time", "label"], *rows])
  return path
