# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""JSON files with a digest: every changed byte of their values is found."""

from __future__ import annotations

import json

import pytest

from suite.system import sealed_json

VALUES = {"a": 1, "b": [0.5, "x"], "c": {"d": None}}


def test_what_was_written_is_read_and_a_missing_file_is_empty(tmp_path):
  path = tmp_path / "a.json"
  assert sealed_json.read(path) == {}
  path.write_text(sealed_json.text(VALUES))
  assert sealed_json.read(path, needs_digest=True) == VALUES
  path.write_text(json.dumps(VALUES))  # Of an earlier version.
  assert sealed_json.read(path) == VALUES
  with pytest.raises(ValueError, match="it has no digest"):
    sealed_json.read(path, needs_digest=True)


def test_no_flipped_byte_gives_other_values(tmp_path):
  path, text = tmp_path / "a.json", sealed_json.text(VALUES).encode()
  for place in range(len(text)):
    changed = bytearray(text)
    changed[place] ^= 1
    path.write_bytes(bytes(changed))
    try:
      found = sealed_json.read(path, needs_digest=True)
    except ValueError:
      continue
    assert found == VALUES  # White space.


@pytest.mark.parametrize("text, said", [
    ("[]", "no object"), ("{}", "no object"), ("[" * 100_000, "nested too deeply"),
    ("{", "Expecting")])
def test_other_files_are_named(tmp_path, text, said):
  path = tmp_path / "a.json"
  path.write_text(text)
  with pytest.raises(ValueError, match=said):
    sealed_json.read(path)


def test_a_folder_and_a_large_file_are_named(tmp_path, monkeypatch):
  with pytest.raises(ValueError, match="it is a folder"):
    sealed_json.read(tmp_path)
  monkeypatch.setattr(sealed_json, "_MAX_BYTES", 3)
  (tmp_path / "a.json").write_text("[1, 2]")
  with pytest.raises(ValueError, match="more than 3 bytes"):
    sealed_json.read(tmp_path / "a.json")


def test_a_file_that_must_be_there_says_what_it_is_and_what_to_do(tmp_path):
  path = tmp_path / "a.json"
  whole = sealed_json.text(VALUES)
  for text, said in ((None, "there is none"), ("{", "Expecting"), (whole, "it has no e"),
                     (whole.replace("0.5", "0.6"), "its digest differs")):
    if text is not None:
      path.write_text(text)
    with pytest.raises(KeyedError, match=f"a.json is damaged, or no list .{said}.* Make it."):
      sealed_json.load(path, "list", "Make it.", ["a", "e"], KeyedError)
  path.write_text(sealed_json.text(VALUES))
  assert sealed_json.load(path, "list", "Make it.", ["a"]) == VALUES


class KeyedError(ValueError):
  """Of the caller."""


def test_lines_of_a_log_have_digests(tmp_path):
  text = sealed_json.line(VALUES)
  assert sealed_json.parsed(text, needs_digest=True) == VALUES and text.count("\n") == 1
  with pytest.raises(ValueError, match="its digest differs"):
    sealed_json.parsed(text.replace("0.5", "0.6"))
