# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite new`: what it writes is tested where it lies, and is the method of the docs."""

from __future__ import annotations

import pathlib
import re
import sys

import numpy as np
import pytest

from suite import cli
from suite.commands import new_commands
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.data.own import image_sources

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "own" / "method.md"


@pytest.fixture(name="here", autouse=True)
def _here(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  monkeypatch.setattr(sys, "path", list(sys.path))


def test_new_images_are_read_as_classes(tmp_path, capsys):
  assert cli.main(["new", "images", str(tmp_path / "photos")]) == 0
  assert "Wrote 1,797 images of 10 classes" in capsys.readouterr().out
  found = image_sources.from_directory(tmp_path / "photos")
  assert found.size == 1797 and found.class_names == tuple(sorted(digits.WORDS))
  images, labels = digits.load()
  place = found.ids.tolist().index("zero/0000.png")
  batch = next(iter(found.subset([place]).eval_batches(1, transform=image_ops.Plain(8))))
  np.testing.assert_array_equal(batch["image"][0, ..., 0], images[0, ..., 0])
  assert labels[0] == 0
  assert cli.main(["new", "images", str(tmp_path / "photos")]) == 2
  assert "is there already, and nothing was written" in capsys.readouterr().err


def test_the_new_method_passes_its_test(tmp_path, capsys):
  assert cli.main(["new", "method", "half_er"]) == 0
  assert capsys.readouterr().out.endswith("Try it: cd half_er && pytest\n")
  folder = tmp_path / "half_er"
  assert sorted(path.name for path in folder.iterdir()) == [
      "README.md", "half_er.py", "half_er_test.py"]
  texts = {path.name: path.read_text() for path in folder.iterdir()}
  assert "class HalfEr(" in texts["half_er.py"] and len(texts["README.md"].splitlines()) == 10
  assert not any("my_method" in text or "MyMethod" in text for text in texts.values())
  assert _tested(folder) == 0
  method = folder / "half_er.py"
  method.write_text(method.read_text().replace("loss += self.share *", "loss +="))
  assert _tested(folder) == 1  # The test knows the method.


def _tested(folder):
  """The exit code of pytest in a folder, as in a new process."""
  with pytest.MonkeyPatch.context() as patch:
    patch.chdir(folder)
    patch.setattr(sys, "dont_write_bytecode", True)
    try:
      return pytest.main(["-q", "--rootdir", ".", "-p", "no:cacheprovider", "."])
    finally:
      for name in (folder.name, f"{folder.name}_test"):
        sys.modules.pop(name, None)


def test_the_page_shows_the_file():
  assert f"```python\n{new_commands.FILES['my_method.py']}```" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name, message", [
    ("taken", "taken is there already, and nothing was written. Give another name"),
    ("DER++", r"'DER\+\+' is no name for a Python file. .*: suite new method der"),
    ("class", "'class' is no name for a Python file. .*: suite new method method_class"),
    ("../er", "no name for a Python file. .*: suite new method er"),
    ("numpy", "'numpy' is the name of an installed package, .*: suite new method my_numpy"),
    ("suite", "'suite' is the name of an installed package, .*: suite new method my_suite")])
def test_other_names_are_refused_with_one_that_will_do(name, message, tmp_path, capsys):
  (tmp_path / "taken").mkdir()
  assert cli.main(["new", "method", name]) == 2
  found = capsys.readouterr().err
  assert len(found.strip().splitlines()) == 1 and re.search(message, found)
  assert [path.name for path in tmp_path.iterdir()] == ["taken"] and not any(
      (tmp_path / "taken").iterdir())
  if " suite new method " in found:  # The advice works.
    assert cli.main(["new", "method", found.split()[-1]]) == 0
