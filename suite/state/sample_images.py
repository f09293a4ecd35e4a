# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A few test images of a run, small, so that pages can show them with their answers.

    LEARNER/samples/bucket_01.png    thumbnails of one test set side by side; its text names the ids
    LEARNER/samples/episode_0.png    those of a few-shot episode, some of its support images first

They are a view and no result: answers come from the saved predictions, and a run without the files
is the same run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import io
import json
import os
import pathlib
import re
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from PIL import ImageDraw
from PIL import PngImagePlugin

from suite.metrics import schema
from suite.state import predictions
from suite.system import atomic_files

FOLDER = "samples"
EPISODE = "episode 0"  # What stands for the test set of few-shot learning.
MOST = 8  # Images of a test set.
_SIDE = 64  # Pixels; a smaller image is enlarged by a whole number.
_MARGIN, _CAPTION, _ACROSS = 6, 16, 4  # Of a sheet.
_RIGHT, _WRONG = "#1a7f37", "#b2182b"
_GIVEN = "#6e7781"
_IDS, _LABELS = "ids", "given"


class Answered(NamedTuple):
  """A test image with an answer: class names, or numbers where there are none.

  Of an image with several labels, the answer has as many classes, those of the highest scores, and
  is correct if they are the labels; the probability is the mean of those of the labels.

  Attributes:
    id, image, label, answer, probability, is_correct: of the image.
    is_given: whether it is a support image, whose label the learner was given: it has no answer.
    is_multi_label: whether it may have several labels.
  """

  id: str
  image: Image.Image
  label: str
  answer: str
  probability: float | None
  is_correct: bool
  is_given: bool = False
  is_multi_label: bool = False

  @property
  def words(self) -> str:
    """The label, and a wrong answer before it."""
    if self.is_given:
      return f"given: {self.label}"
    return self.label if self.is_correct else f"{self.answer}, not {self.label}"


def chosen(num: int) -> np.ndarray:
  """Indices of the images of a test set of N that are kept, evenly spaced."""
  return np.unique(np.linspace(0, num - 1, min(num, MOST)).astype(np.int64))


def path(folder: str | os.PathLike, name: str) -> pathlib.Path:
  """The file of a test set in a run directory."""
  return pathlib.Path(folder) / FOLDER / (re.sub(r"[^A-Za-z0-9_.@+-]", "_", name) + ".png")


def save(file: pathlib.Path, ids: Sequence[str], images: Sequence[np.ndarray],
         given: Mapping[str, int] | None = None) -> None:
  """Saves uint8 images [H, W, 1 or 3] of any size; `given`: labels of support images, by id."""
  strip = Image.new("RGB", (_SIDE * len(images), _SIDE), "white")
  for i, pixels in enumerate(images):
    drawn = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).convert("RGB")
    scale = _SIDE / max(drawn.size)
    if scale >= 1:
      drawn = drawn.resize([side * int(scale) for side in drawn.size], Image.Resampling.NEAREST)
    else:
      drawn = drawn.resize([max(1, round(side * scale)) for side in drawn.size])
    strip.paste(drawn, (_SIDE * i + (_SIDE - drawn.width) // 2, (_SIDE - drawn.height) // 2))
  about = PngImagePlugin.PngInfo()
  about.add_itxt(_IDS, json.dumps(list(map(str, ids))))
  if given:
    about.add_itxt(_LABELS, json.dumps(dict(given)))
  with atomic_files.opening(file, sync=False) as out:
    out.write(png(strip, pnginfo=about))


def name_of(record: Mapping[str, Any]) -> str:
  """The test set of a record with predictions; "" of other records."""
  if not record.get(schema.PREDICTIONS):
    return ""
  return str(record.get(schema.BUCKET_NAME) or record.get(schema.TASK_KEY)
             or (EPISODE if record.get(schema.NUM_SUPPORT_SETS) else ""))


def answered(folder: str | os.PathLike, record: Mapping[str, Any]) -> list[Answered]:
  """The kept images of the record's test set with its answers; [] if either is missing."""
  file = path(folder, name_of(record))
  if not name_of(record) or not file.is_file():
    return []
  try:
    with Image.open(file) as opened:
      strip, ids = opened.convert("RGB"), json.loads(opened.info[_IDS])
      given = json.loads(opened.info.get(_LABELS, "{}"))
    found = predictions.load(pathlib.Path(folder) / record[schema.PREDICTIONS])
  except (OSError, KeyError, ValueError):  # Damaged; `suite verify` says so of predictions.
    return []
  places = {name: i for i, name in enumerate(found.id)}
  names = found.class_names

  def words(numbers: Any) -> str:
    return " + ".join(names[i] if names and 0 <= i < len(names) else str(i)
                      for i in map(int, numbers)) or "none"

  shown = []
  for i, name in enumerate(ids):
    image, row = strip.crop((_SIDE * i, 0, _SIDE * (i + 1), _SIDE)), places.get(name)
    if name in given:
      shown.append(Answered(name, image, words([given[name]]), "", None, True, is_given=True))
    elif row is not None and found.scores is not None:
      label = found.label[row]
      answer = np.sort(np.argsort(-found.scores[row], kind="stable")[:max(1, len(label))])
      shown.append(Answered(
          name, image, words(label), words(answer),
          float(np.mean(found.true_class_probability[row])) if len(label) else None,
          list(label) == list(answer), is_multi_label=True))
    elif row is not None:
      shown.append(Answered(
          name, image, words([found.label[row]]), words([found.top1[row]]),
          float(found.true_class_probability[row]), bool(found.correct[row])))
  return shown if any(not one.is_given for one in shown) else []


def sheet(found: Sequence[Answered]) -> Image.Image:
  """Images in rows, "label: answer" below each, with a frame whose color says if it is right."""
  side = _SIDE + 2 * _MARGIN
  down = -(-len(found) // _ACROSS)
  drawn = Image.new("RGB", (side * _ACROSS, (side + _CAPTION) * down), "white")
  pen = ImageDraw.Draw(drawn)
  for i, one in enumerate(found):
    left, top = side * (i % _ACROSS), (side + _CAPTION) * (i // _ACROSS)
    color = _GIVEN if one.is_given else _RIGHT if one.is_correct else _WRONG
    pen.rectangle((left + 2, top + 2, left + side - 3, top + side - 3), outline=color, width=3)
    drawn.paste(one.image, (left + _MARGIN, top + _MARGIN))
    words = one.words[:10] if one.is_correct else f"{one.label[:5]}: {one.answer[:5]}"
    pen.text((left + _MARGIN, top + side), words, fill=color)
  return drawn


def png(image: Image.Image, **options: Any) -> bytes:
  """The image as a file."""
  image.save(file := io.BytesIO(), format="png", **options)
  return file.getvalue()
