# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite compare`: a folder of small images, two methods, one of them the user's, to the page."""

from __future__ import annotations

import pathlib
import re
import webbrowser

import cells_here
import numpy as np
from PIL import Image
import pytest

from suite import cli
from suite.commands import compare_commands
from suite.running import this_process
from suite.system import processes
from suite.tables import table

MINE = '''
import tensorflow as tf
from suite.training.statistics import class_means


class Mine(class_means.ClassMeans):
  pass


def net(image_shape):
  return tf.keras.Sequential([
      tf.keras.Input(image_shape), tf.keras.layers.Rescaling(1 / 255), tf.keras.layers.Flatten()])
'''


@pytest.fixture(name="photos")
def _photos(tmp_path, monkeypatch):
  """The current folder, with a folder of images and my.py; runs take this process."""
  monkeypatch.chdir(tmp_path)
  rng = np.random.default_rng(0)
  for label in range(4):
    folder = pathlib.Path("photos", f"kind{label}")
    folder.mkdir(parents=True)
    for i in range(10):
      pixels = (60 * label + rng.integers(0, 40, [6, 6, 3])).astype(np.uint8)
      Image.fromarray(pixels).save(folder / f"{i}.png")
  pathlib.Path("my.py").write_text(MINE)
  monkeypatch.setattr(processes, "run_all", cells_here.run_all)
  monkeypatch.setattr(table, "check_parameters", lambda *_: None)  # A further process.
  monkeypatch.setattr(this_process, "settle", lambda debug: None)
  return tmp_path


def test_a_command_makes_the_runs_and_the_page(photos, monkeypatch, capsys):
  opened = []
  monkeypatch.setenv("BROWSER", "one")
  monkeypatch.setattr(webbrowser, "open", lambda page: opened.append(
      pathlib.Path(page[len("file://"):]).read_text()) or True)
  command = ["compare", "photos", "--methods", "slda,my.py:Mine", "--net", "my.py:net", "--seeds",
             "1", "--tasks", "2", "--image_size", "6", "--open"]
  assert cli.main(command) == 0
  printed = capsys.readouterr().out
  assert printed.startswith("photos: 4 classes in 2 tasks, 28 training and 12 test images; my.py:n")
  out = photos / "runs" / "compare" / "photos-incremental"
  assert 'data-refresh="10"' in opened[0] and opened[0].count(">waits<") == 2  # Before the runs.
  page = (out / "index.html").read_text()
  assert "data-refresh" not in page and page.count(">finished<") >= 2
  for text in ("final average accuracy", "\\begin{tabular}", "FLOPs", "in the group of the best",
               "result = suite.run("):
    assert text in page
  before = (out / "runs/photos/incremental/0/Mine/records.jsonl").read_bytes()
  assert cli.main(command) == 0  # It reads what has finished.
  assert (out / "runs/photos/incremental/0/Mine/records.jsonl").read_bytes() == before
  program = printed[printed.index("import suite"):printed.index("print(result)")]
  found: dict = {}
  exec(program, found)
  assert set(found["result"].summaries) == {"slda", "Mine"}
  assert (out / "runs/photos/incremental/0/Mine/records.jsonl").read_bytes() == before


def test_files_are_named_after_the_data(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  (tmp_path / "my photos.v2").mkdir()
  (tmp_path / "photos.csv").write_text("")
  assert [compare_commands._title(data) for data in (
      "my photos.v2/", "photos.csv", "nevis/cifar10", ".")] == [
          "my_photos.v2", "photos", "cifar10", tmp_path.name]


def test_without_a_browser_one_line_names_the_page(tmp_path, monkeypatch, caplog):
  for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
    monkeypatch.delenv(name, raising=False)
  monkeypatch.setattr(compare_commands.sys, "platform", "linux")
  compare_commands._open(tmp_path / "index.html")
  assert f"Open the page elsewhere: {tmp_path}/index.html" in caplog.text


@pytest.mark.parametrize("words, message", [
    (["--seeds", "0"], "got '0', allowed is their number, 3, or a list, 5,6,7"),
    (["--seeds", "1,x"], "got '1,x', allowed is"),
    (["--out", "x.html"], "--out x.html is the folder of the run file"),
    (["--set", "memory_size"], "--set takes NAME=VALUE, each name once; got memory_size"),
    (["--methods", "my.py:Mine,my.py"], "my.py:Mine is given twice, or another method has its"),
    (["--method", "er"], "suite compare has no flag '--method'. Nearest: --methods"),
    (["--net", "resnet19"], "--net takes resnet18, resnet34, .*NET.py:FUNCTION and MODEL.keras"),
    (["--net", "my.py:net", "--head", "replace"], "cannot be divided|no classifier"),
    (["--protocol", "clear"], "photos has no dates, and buckets come in the order of time"),
    (["--protocol", "fluid", "--tasks", "3"], "--tasks divides classes for --protocol incremental"),
    (["--tasks", "5"], "The 4 classes of 'photos' do not make 5 tasks"),
    (["--set", "memory_sise=3"], "No method of --methods has a setting 'memory_sise'")])
@pytest.mark.usefixtures("photos")
def test_what_cannot_run_is_refused_in_one_line(words, message, capsys):
  assert cli.main(["compare", "photos", "--methods", "slda", *words]) == 2
  assert re.search(message, capsys.readouterr().err)
