# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives of images whose names give label and split in a form that needs more than a folder.

In `class_folders` the label is one field of the template. Here it may be several pieces of the
name, be given by the beginning of a folder, and be renamed; and an archive may be a split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import io
import pathlib
import re

from tfds_builders import errors
from tfds_builders import splits as splits_lib
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import templates

_IMAGE = re.compile(r"(?i)\.(?:jpe?g|png|gif|bmp|tiff?|p[gp]m)$")
_POOLED = {splits_lib.POOL: splits_lib.POOL}


def parse(paths: Mapping[str, pathlib.Path], *, template: str, extensions: Sequence[str],
          label: str = "{label}", labels: Mapping[str, str] | None = None,
          split_folders: Mapping[str, str] | None = None,
          split_files: Mapping[str, str] | None = None,
          fields: Mapping[str, str] | None = None,
          renamed: Mapping[str, str] | None = None,
          test_numbers: Mapping[str, Sequence[int]] | None = None,
          ignore: str = "(?!)", others: bool = False) -> Iterator[example.Example]:
  """Yields the images whose names end like the template, in the order of files and archives.

  Args:
    paths: file name -> path.
    template: of the end of a name less its extension. Fields match a piece without a slash, as
      short as possible; {rest} matches anything.
    extensions: that images have ("jpg"), in small or capital letters.
    label: template of the label, with fields of `template`.
    labels: value of {label} -> class name; None: {label} is the class name.
    split_folders: value of {split} -> source split; None: all images are one pool.
    split_files: file name -> source split; the template then has no {split}.
    fields: field -> regular expression of its values, for fields that are not one piece.
    renamed: label -> another, for labels that have two names.
    test_numbers: label -> values of {number} in the source split "test"; the others are in "train".
    ignore: regular expression, searched for in the names of images that are not examples.
    others: whether images that do not match the template are allowed.
  """
  choices = {field: templates.one_of(known)
             for field, known in (("label", labels), ("split", split_folders)) if known}
  pattern = templates.ending(template, {"rest": ".*", **(fields or {}), **choices},
                             other=f"{templates.PIECE}?", extensions=extensions)
  seen = set()
  for file_name, path in paths.items():
    for match, where, data in templates.matching(
        path, pattern, template, images=_IMAGE, ignore=re.compile(ignore), others=others):
      found = match.groupdict()
      text = label.format(**found)
      text = (renamed or {}).get(text, text)
      seen.add(text)
      split = (split_files[file_name] if split_files else
               (split_folders or _POOLED)[found.get("split", splits_lib.POOL)])
      if test_numbers:
        listed = int(found["number"]) in test_numbers.get(text, ())
        split = splits_lib.TEST if listed else splits_lib.TRAIN
      yield example.Example(split, match["key"], labels[text] if labels else text,
                            images.encoded(data, where), where)
  lacking = sorted(set(labels or ()) - seen)
  if lacking:
    raise errors.DataError(f"{' and '.join(map(str, paths.values()))} have no images in {lacking}: "
                           "incomplete, or another edition. Get them again.")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, template: str, extensions: Sequence[str],
                  label: str = "{label}", labels: Mapping[str, str] | None = None,
                  split_folders: Mapping[str, str] | None = None,
                  split_files: Mapping[str, str] | None = None,
                  fields: Mapping[str, str] | None = None,
                  renamed: Mapping[str, str] | None = None,
                  test_numbers: Mapping[str, Sequence[int]] | None = None,
                  ignore: str = "(?!)", others: bool = False) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split.

  Each file that is a split has all classes; otherwise the classes are divided among the files.
  """
  del ignore, renamed
  texts = [_named(text, (fields or {}).get("label")) for text in labels or class_names]
  counts: dict[str, int] = {}
  members: dict[str, dict[str, bytes]] = {name: {"top/README": b"no image"} for name in file_names}
  folders = split_folders or _POOLED
  seed = 0
  for position, text in enumerate(texts):
    for file_name in (file_names if split_files else
                      (file_names[position % len(file_names)],)):
      for folder, split in folders.items():
        split = split_files[file_name] if split_files else split
        tested = list((test_numbers or {}).get(text, ()))[:2]
        for item in range(per_class + len(tested)):
          seed += 1
          number = tested[item] if item < len(tested) else 1000 + seed
          if test_numbers:
            split = splits_lib.TEST if item < len(tested) else splits_lib.TRAIN
          name = templates.filled(template, {
              **_pieces(label, text), "split": folder, "number": number,
              "item": str(seed) if fields else f"i{seed}",
              "rest": f"/i{seed}" if "/" in text else f"-{seed}"})
          members[file_name][f"top/{name}.{extensions[0]}"] = _image(extensions[0], seed)
          counts[split] = counts.get(split, 0) + 1
  for file_name, content in members.items():
    if others:
      content[f"top/masks/1.{extensions[0]}"] = b"not an example"
    fixtures.write_archive(directory / file_name, content)
  return counts


def _named(text: str, pattern: str | None) -> str:
  """Returns a class name that fits the pattern, made of this one: in letters, or as "007.x7"."""
  letters = "p" + text.translate(str.maketrans("0123456789", "abcdefghij"))
  choices = (text, letters, f"{text:>03}.x{text}")
  return next(one for one in choices if pattern is None or re.fullmatch(pattern, one))


def _pieces(label: str, text: str) -> Mapping[str, str]:
  """Returns fields for which the template `label` gives this text."""
  fields = templates.fields(label)
  match = re.fullmatch(templates.expression(label), text)
  if fields == ["label"] or match is None:
    return dict.fromkeys(fields, text)
  return match.groupdict()


def _image(extension: str, seed: int) -> bytes:
  if extension == "pgm":
    return fixtures.pgm((7, 5), seed)
  if extension == "jpg":
    return fixtures.jpeg((7, 5, 3), seed)
  if extension == "gif":
    return _gif(seed)
  return images.png(fixtures.pixels((7, 5, 3), seed))


def _gif(seed: int) -> bytes:
  from PIL import Image  # pylint: disable=g-import-not-at-top
  stream = io.BytesIO()
  Image.fromarray(fixtures.pixels((7, 5), seed)).save(stream, "GIF")
  return stream.getvalue()
