# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite show` and `suite list --methods`: what they say, and that it fits the terminal."""

from __future__ import annotations

import json
import re

import pytest

from suite import cli
from suite.commands import parsing


def shown(capsys, *words, code=0):
  assert cli.main(list(words)) == code
  found = capsys.readouterr()
  return found.err if code else found.out


def test_a_run_shows_its_parameters_and_where_they_are_set(capsys):
  found = json.loads(shown(capsys, "show", "digits/clear_table", "--json", "--set", "EPOCHS=3"))
  assert (found["data"], found["benchmark"], found["is_table"]) == ("digits", "clear", False)
  assert found["methods"]["er"] == "%ER"
  rows = {row["name"]: row for row in found["parameters"]}
  assert rows["EPOCHS"] == {
      "name": "EPOCHS", "value": "3", "kind": "number",
      "unit": "passes", "meaning": "passes over the data of a phase", "where": "the command line"}
  assert rows["MEMORY"]["value"] == "250"
  assert rows["SCHEDULE"]["where"].startswith("gin/learners/clear.gin:")
  assert re.fullmatch(r"suite/configs/method_values.csv:\d+ \(.*: temperature.*\)",
                      rows["LWF_TEMPERATURE"]["where"])
  assert "STEPS" not in rows  # The run reads no such macro.


def test_required_tables_and_methods(capsys):
  table = json.loads(shown(capsys, "show", "digits/cfsl_table", "--json"))
  assert table["is_table"] and list(table["methods"]) == ["protonet", "untrained"]
  method = json.loads(shown(capsys, "show", "der_plus_plus", "--json"))
  assert method["protocols"] == ["clear", "fluid"]
  assert {"name": "memory_size", "value": 1000, "kind": "whole number",
          "unit": "examples", "meaning": "k, the number of examples held at most",
          "parameter": "memory.Memory.memory_size", "binds": "MEMORY", "source": "none published: "
          "papers size the memory by their data, 2000 in PyCIL for CIFAR-100 and 200 to 5120 in "
          "Mammoth, which has no default; a run file has its own"} in method["settings"]
  assert "Nearest: quickstart" in shown(capsys, "show", "quikstart", code=2)


@pytest.mark.parametrize("words", [
    ("show", "digits/clear_table"), ("list",), ("list", "--methods", "clear"),
    ("show", "der_plus_plus")])
def test_lines_fit_the_terminal(words, capsys, monkeypatch):
  monkeypatch.setenv("COLUMNS", "120")
  assert max(map(len, shown(capsys, *words).splitlines())) <= 120


def test_methods_are_listed_with_paper_protocols_and_settings(capsys, monkeypatch):
  monkeypatch.setenv("COLUMNS", "2000")  # A row on one line, however many settings there are.
  lines = shown(capsys, "list", "--methods").splitlines()
  row = next(line for line in lines if line.startswith("der_plus_plus"))
  assert "DER++ (Buzzega et al., 2020)" in row and "clear fluid" in row
  assert "memory_size=1000 examples" in row and "beta=0.5" in row
  assert shown(capsys, "list", "--methods", "cfsl", "--names", "ridge") == "ridge\n"
  assert "er_ace" not in shown(capsys, "list", "--methods", "nevis", "--names").split()
  assert "Nearest: der_plus_plus" in shown(capsys, "list", "--methods", "der_pluss", code=2)
  assert shown(capsys, "list", "--methods", "DER++", "--names") == "der_plus_plus\n"
  of_clear = shown(capsys, "list", "--methods", "clear", "--names")
  assert shown(capsys, "list", "clear", "--methods", "--names") == of_clear  # A protocol.
  said = shown(capsys, "list", "nevis", "--methods", "clear", code=2)
  assert "No method of nevis has 'clear'. " in said and "Nearest: clear" not in said
  assert shown(capsys, "show", "derpp").startswith("der_plus_plus: ")


def test_a_table_wraps_its_widest_columns():
  assert parsing.fitted([["a", "text"], ["1", "some words that are long"], ["22", "x"]], 14) == [
      "a   text", "1   some words", "    that are", "    long", "22  x"]
  # Words are broken where nothing else fits, but for the names of the first column.
  assert parsing.fitted([["much/longer", "tiny_imagenet,", "small"]], 21) == [
      "much/longer  tiny_ima  small", "             genet,"]
