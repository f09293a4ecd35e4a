# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Templates of names as regular expressions."""

import re

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import templates

_IMAGE = re.compile(r"\.jpg$")
_NEVER = re.compile("(?!)")


def test_fields_are_listed_in_order():
  assert templates.fields("{split}/{label}_{item}.jpg") == ["split", "label", "item"]
  assert templates.fields("all.txt") == []


def test_a_field_is_a_piece_and_all_else_is_itself():
  pattern = re.compile(templates.expression("{label}/a+b.{item}"))
  assert pattern.fullmatch("cat/a+b.7").groupdict() == {"label": "cat", "item": "7"}
  assert not pattern.fullmatch("cat/aab.7") and not pattern.fullmatch("big/cat/a+b.7")


def test_fields_match_what_is_said():
  text = templates.expression("{label}{rest}", {"label": "[0-9]+", "rest": ".*"})
  assert re.fullmatch(text, "12/x/y").groupdict() == {"label": "12", "rest": "/x/y"}
  text = templates.expression("{label} {item}", other=r"[^\t]+?")
  assert re.fullmatch(text, "a/b c d").groupdict() == {"label": "a/b", "item": "c d"}


def test_only_named_fields_are_groups():
  text = templates.expression("{folder}/{label}/{item}", named=("item", "label"))
  assert re.fullmatch(text, "x/cat/7").groups() == ("cat", "7")


def test_the_longest_name_is_tried_first():
  assert templates.one_of(["car", "car.b", "ox"]) == r"car\.b|car|ox"
  pattern = templates.ending("{label}{rest}", {"label": templates.one_of(["car", "cart"]),
                                               "rest": ".*"})
  assert pattern.search("x/cart-1")["label"] == "cart"


@pytest.mark.parametrize("name, key", [
    ("cat/1.JPG", "cat/1"), ("any/folders/cat/1.jpeg", "cat/1"), ("cat/1.png", None),
    ("cat/1.jpg.txt", None), ("1.jpg", None)])
def test_a_name_ends_like_the_template(name, key):
  match = templates.ending("{label}/{item}", extensions=("jpg", "jpeg")).search(name)
  assert (match["key"] if match else None) == key


def test_a_template_with_its_extension_has_it_in_the_key():
  assert templates.ending("{label}/{item}.pgm").search("top/s1/2.pgm")["key"] == "s1/2.pgm"


def test_fields_without_a_value_are_filled():
  assert templates.filled("{set}/{label}/{item}", {"label": "cat", "item": 7}) == "a/cat/7"


def _matching(path, names, template="{label}/{item}.jpg", **args):
  fixtures.write_archive(path, dict.fromkeys(names, b""))
  pattern = templates.ending(template)
  args = {"images": _IMAGE, "ignore": _NEVER, **args}
  return [(match["label"], where)
          for match, where, _ in templates.matching(path, pattern, template, **args)]


def test_images_that_match_come_with_their_place(tmp_path):
  path = tmp_path / "a.zip"
  assert _matching(path, ["readme", "x/cat/1.jpg"]) == [("cat", f"{path}, member 'x/cat/1.jpg'")]


def test_images_that_do_not_match_are_an_error_unless_allowed_or_ignored(tmp_path):
  path, names = tmp_path / "a.zip", ["cat/1.jpg", "logo.jpg"]
  with pytest.raises(errors.DataError, match=r"a.zip has another layout than '{label}/{item}.jpg': "
                     r"1 image files match, 1 do not, such as \['logo.jpg'\]"):
    _matching(path, names)
  assert len(_matching(path, names, others=True)) == 1
  assert len(_matching(path, names, ignore=re.compile("logo"))) == 1


def test_an_archive_without_a_match_is_an_error(tmp_path):
  with pytest.raises(errors.DataError, match="0 image files match, 0 do not; its 1 files are no "
                     r"images: \['readme'\]"):
    _matching(tmp_path / "a.zip", ["readme"], others=True)
