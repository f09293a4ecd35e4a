# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Messages that name a command, a flag or an argument: whoever follows them gets what they promise.

A case provokes a message, takes the advice out of its text by a pattern, and follows it.
"""

from __future__ import annotations

import ast
import io
import json
import re
import shlex

import numpy as np
import pandas as pd
from PIL import Image
import pytest

import suite
from suite import cli
from suite.configs import run_settings

ADD = ["lifelong", "add-models", "--cache", "cache"]
COLUMNS = r"(columns=\{.*?\})"
DATES = ("2025-01-02T03-04-05.678901", "2026-01-02T03-04-05.678901")


def _log(name, **metrics):
  """A log of lm-evaluation-harness: by metric the number of right answers of ten."""
  return {name: "".join(json.dumps({
      "doc_id": i, "filter": "none", "metrics": list(metrics),
      **{metric: float(i < num) for metric, num in metrics.items()}}) + "\n" for i in range(10))}


def _answers(header, rows):
  return {"answers.csv": "\n".join(",".join(map(str, row)) for row in (header, *rows)) + "\n"}


# Files, the command that is refused, the advice in its message; "more": flags of the same command,
# "instead": another command.
COMMANDS = {
    "a metric": (_log("a/samples_arc.jsonl", acc=3, acc_norm=6), [*ADD, "a/samples_arc.jsonl"],
                 r"(--score arc=acc)\b", "more"),
    "a threshold": (_answers(["model", "id", "correct"], [("a", 0, 0.25), ("a", 1, 0.75)]),
                    [*ADD, "answers.csv"], r"(--threshold 0\.5)\.", "more"),
    "values": (_answers(["model", "id", "correct"], [("a", 0, 0.25), ("a", 1, 0.75)]),
               [*ADD, "answers.csv"], r"(--values)\.", "more"),
    "a column of tasks": (
        _answers(["model", "topic", "id", "correct"],
                 [("a", topic, i, 1) for topic in ("arc", "boolq") for i in range(3)]),
        [*ADD, "answers.csv"], r"(--task topic)\b", "more"),
    "trials": (_answers(["model", "id", "trial", "correct"], [
        ("a", i, trial, int(i < 2 + trial)) for trial in range(2) for i in range(4)]),
               [*ADD, "answers.csv"], r"(--repeats mean --threshold 0\.5);", "more"),
    "trials, as they are": (_answers(["model", "id", "trial", "correct"], [
        ("a", i, trial, int(i < 2 + trial)) for trial in range(2) for i in range(4)]),
                            [*ADD, "answers.csv"], r"(--repeats mean --values)\.", "more"),
    "two runs in a folder": (
        {**_log(f"a/samples_arc_{DATES[0]}.jsonl", acc=3),
         **_log(f"a/samples_arc_{DATES[1]}.jsonl", acc=4)},
        [*ADD, "--repeats", "mean", *(f"a/samples_arc_{date}.jsonl" for date in DATES)],
        r"(--repeats folder --threshold 0\.5);", "more"),
    "no cache": (_answers(["model", "id", "correct"], [("a", 0, 1), ("b", 0, 0)]),
                 ["lifelong", "status", "--cache", "cache"],
                 r"suite (lifelong add-models --cache cache \.\.\.)", "instead"),
    "an unknown run": ({}, ["run", "quickstrat"], r"suite (list)\b", "instead"),
    "an unknown method": ({}, ["run", "digits/incremental", "--methods", "derpp2"],
                          r"suite (list --methods incremental)\b", "instead"),
    "another method": ({}, ["run", "quickstart", "--methods", "er"],
                       r"suite (list --methods nevis)\b", "instead"),
    "an unknown name": ({}, ["show", "foo"], r"suite (list --methods)\b", "instead"),
    "an unknown data set": ({}, ["data", "build", "nevis/mnst"], r"suite (data list --all)\b",
                            "instead"),
    "several seeds": ({}, ["run", "quickstart", "--seeds", "3"], r"(--seeds 0,1,2)\b", "parsed"),
    "one seed": ({}, ["run", "quickstart", "--seeds", "3"], r"(--seed 3)\b", "parsed"),
}


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  return tmp_path


@pytest.mark.parametrize("files, command, advice, way", COMMANDS.values(), ids=COMMANDS)
def test_commands(folder, capsys, files, command, advice, way):
  for name, text in files.items():
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
  assert cli.main(command) != 0
  message = capsys.readouterr().err
  found = _found(advice, message)
  words = shlex.split(found.replace("...", " ".join(files)))
  if way == "parsed":  # Nothing runs.
    cli.parser("run").parse_args([*command[:2], *words])
    return
  assert cli.main([*command, *words] if way == "more" else words) == 0, capsys.readouterr().err


def _found(pattern, message):
  found = re.search(pattern, message)
  assert found, message
  return found[1]


def _table(**columns):
  """Four images by their bytes, as Hugging Face's hub has them, with columns."""
  def png(value):
    file = io.BytesIO()
    Image.fromarray(np.full([8, 8, 3], value, np.uint8)).save(file, "PNG")
    return {"bytes": file.getvalue(), "path": f"{value}.png"}

  pd.DataFrame({name: [png(value + 40 * i) for i in range(4)] if isinstance(value, int) else value
                for name, value in columns.items()}).to_parquet("images.parquet")


TABLES = {
    "two columns of images": (dict(img=1, mask=2, label=[0, 1, 0, 1]), {}, COLUMNS),
    "another name of the labels": (dict(image=1, labels=["a", "b"] * 2), {}, COLUMNS),
    "splits of another name": (
        dict(image=1, label=["a", "b"] * 2, splits=["train"] * 2 + ["test"] * 2), {}, COLUMNS),
    "no splits after all": (
        dict(image=1, label=["a", "b"] * 2, splits=["train"] * 2 + ["test"] * 2), {},
        r"(columns=\{'split': None\})"),
    "images without a split": (
        dict(image=1, label=["a", "b"] * 2, split=["train", None, "test", "test"]), {}, COLUMNS),
    "several classes": (dict(image=1, label=["a;b", "b", "a", "b"]), {}, r"(kind='multi_label')"),
    "one class": (dict(image=1, label=["a;b", "b", "a", "b"]), {}, r"(kind='single_label')"),
    "two separators": (dict(image=1, label=["a;b", "b|a", "a", "b"]), {"kind": "multi_label"},
                       r"(separator='.')"),
}


@pytest.mark.parametrize("columns, given, advice", TABLES.values(), ids=TABLES)
def test_tables_of_images(columns, given, advice):
  _table(**columns)
  with pytest.raises(ValueError, match=advice) as caught:
    suite.images.from_csv("images.parquet", **given)
  name, _, value = _found(advice, str(caught.value)).partition("=")
  found = suite.images.from_csv("images.parquet", **given, **{name: ast.literal_eval(value)})
  assert sum(map(len, found.values())) == 4 if isinstance(found, dict) else len(found) == 4


def test_settings_of_a_run():
  with pytest.raises(ValueError, match="has no setting 'sed'") as caught:
    suite.run("quickstart", sed=1)
  name = _found(r"Nearest: (seed)\b", str(caught.value))
  assert run_settings.from_python({name: 1}).seed == 1


def test_one_image_set_for_buckets():
  images = suite.images.from_arrays(
      np.random.default_rng(0).integers(0, 255, [32, 2, 2, 3], np.uint8), np.arange(32) % 8)
  with pytest.raises(ValueError, match="give a list with one for each bucket"):
    suite.buckets.of(images)
  assert len(suite.buckets.of([images])) == 1
