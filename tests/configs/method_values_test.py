# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of methods' values: settings that exist, with a source; no value is elsewhere."""

from __future__ import annotations

import functools
import re

import pytest

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import method_values
from suite.configs import methods

METHODS = {method.name: method for method in methods.load()}
ROWS = method_values.load()
CODE = re.compile(r"[\w.-]+/[\w.-]+(@[0-9a-f]{7,40}:|, branch(es)? )")


@functools.cache
def settings(name, protocol):
  """The settings of a method under a protocol, those of CLEAR's own rows, too."""
  found = dict(methods.settings_of(METHODS[name], protocol))
  if protocol == "clear":
    paths = [gin_files.find_file(file, "") for file in (
        *methods.shelves([METHODS[name]], protocol), "gin/learners/clear.gin")]
    scanned = gin_files.scan(paths, checks=False, protocol=protocol)
    found = {**methods.settings_in(scanned, METHODS[name]), **found}
  return found


def test_a_row_is_a_setting_of_its_method_that_reads_its_name():
  wrong = []
  for row in ROWS:
    places = [row.protocol] if row.protocol else METHODS[row.method].protocols if row.method else []
    found = {settings(row.method, place)[row.setting].binds for place in places
             if row.method and row.setting in settings(row.method, place)}
    if row.protocol not in ("", *methods.NAMED) or row.method and found != {row.macro}:
      wrong.append(f"{row.method} {row.setting} {row.protocol}: {row.macro}, {found or 'none'}")
  assert not wrong, "\n".join(wrong)


def test_what_methods_share_is_read_by_some_of_them():
  for row in ROWS:
    if not row.method:
      found = {one.binds for method in METHODS.values() for place in method.protocols
               for one in settings(method.name, place).values()}
      read = found | {value[1:] for place in methods.PROTOCOLS for value in _references(place)}
      assert row.macro in read, row


@functools.cache
def _references(place):
  paths = [gin_files.find_file(f"gin/learners/{place}.gin", "")]
  found = gin_files.scan(paths, checks=False, protocol=place)
  return {str(one) for given in found.history.values() for setting in given
          for one in gin_bindings.references(setting.value) if one.name == gin_bindings.MACRO}


def test_a_row_has_a_literal_and_a_source():
  for row in ROWS:
    assert row.value == row.value and row.source, row
    assert row.published == method_values.PUBLISHED or len(row.reason) > 20, row
    if row.published == method_values.PUBLISHED:
      assert re.search(r"\(\d{4}\)", row.source) or CODE.search(row.source), row
    assert not re.search("from memory|verified", f"{row.source} {row.published}"), row


def test_rows_are_given_once_and_agree_where_methods_share_a_name():
  keys = [(row.method, row.macro, row.protocol, row.settings) for row in ROWS]
  assert len(set(keys)) == len(keys)
  values = {}
  for row in ROWS:
    assert values.setdefault((row.macro, row.protocol, row.settings), row.text) == row.text, row


def test_few_values_are_ours():
  for rows in ([row for row in ROWS if not row.settings],
               [row for row in ROWS if not row.settings and row.method]):
    ours = [f"{row.method} {row.setting} {row.protocol}" for row in rows if row.reason]
    assert len(ours) <= 0.1 * len(rows), f"{len(ours)} of {len(rows)}: {ours}"


def test_no_value_is_from_memory():
  own = gin_files.root()
  files = [path for folder in ("suite", "gin", "tfds_builders", "docs/results")
           for path in (own / folder).rglob("*") if path.suffix in (".py", ".gin", ".csv")]
  assert len(files) > 500
  for path in files:
    found = re.search(r"from memory\b|unverified", path.read_text(encoding="utf-8"), re.IGNORECASE)
    assert not found, f"{path}: {found[0]!r}. Look the value up and give its source."


# What a method is made of stays in gin: the parameters that say which rows, head, part or form it
# has, names of what a run gives (networks, folders, images), and learners that are no methods of
# the table.
STRUCTURE = {
    "by", "keep", "train_on", "reset", "remember", "teacher", "similarity", "matrices", "oas",
    "exact", "weights", "adapted", "start", "static", "decoupled", "transductive", "joint_norms",
    "learn_rates", "parts", "pixel_range", "norm_last", "last_set_only", "updates",
    "optimizer_name", "base", "training", "uniform_in", "unit"}
OF_RUNS = {
    "BACKBONE", "WEIGHTS", "FEATURES", "RULES", "BASE", "EXAMPLES_ON", "META_IMAGES", "BASE_IMAGES",
    "META_START", "PROTOMAML_BASE", "RESNET", "EARLY_UNTIL", "CLASS_NAMES",
    "CLIP_FOLDER", "ENCODER_WEIGHTS", "ER_REMEMBER"}
NO_METHODS = {
    "fecam_vit/class_covariances.ClassCovariances.shrinkage = (1.0, 0.0)",
    "protomaml/composition.Base.epochs = 0", "mt/top3/auxiliary.Similar.num = 3",
              "minimum_distance.LeastShare.share = 0.05", "PSEUDO_THRESHOLD = 0.95"}


def test_shelves_set_no_value_of_a_method():
  wrong = []
  for path in sorted((gin_files.root() / "gin" / "learners").glob("*.gin")):
    for line in path.read_text(encoding="utf-8").splitlines():
      match = re.match(r"(?:[\w/]+/)?([\w.]+) = (?![%@{])", line)
      if (match and match[1].rpartition(".")[2] not in STRUCTURE | OF_RUNS
          and line not in NO_METHODS):
        wrong.append(f"{path.name}: {line}")
  assert not wrong, "\n".join(["rows of suite/configs/method_values.csv:", *wrong])


def test_the_rank_of_a_value_is_below_shelves_runs_and_users(tmp_path):
  run = tmp_path / "run.gin"
  run.write_text("include 'gin/learners/gradient.gin'\nMAS_STRENGTH = 3.0\n")
  found = gin_files.scan([run], ["SI_STRENGTH=4.0"], checks=False, protocol="fluid")
  macros = {name: found.macros[name].value for name in (
      "MAS_STRENGTH", "SI_STRENGTH", "EWC_STRENGTH", "HEAD_RATE", "REPLAY_BATCH")}
  assert macros == {"MAS_STRENGTH": 3.0, "SI_STRENGTH": 4.0, "EWC_STRENGTH": 0.05,
                    "HEAD_RATE": 0.1, "REPLAY_BATCH": 128}
  found = gin_files.scan([run], checks=False)
  assert found.macros["HEAD_RATE"].value == "%RATE"
  assert found.macros["EWC_STRENGTH"].where.startswith(f"{method_values.PATH}, line ")


def test_named_settings_replace_rows_of_theirs(tmp_path):
  run = tmp_path / "run.gin"
  run.write_text("from __gin__ import dynamic_registration\nfrom suite import experiment\n"
                 "include 'gin/learners/statistics.gin'\nACIL_STRENGTH = 2.0\n")
  cpu = gin_files.scan([run], [f"{gin_files.SETTINGS}='cpu'"], checks=False).macros
  assert (cpu["RANPAC_SIZE"].value, cpu["ACIL_STRENGTH"].value) == (2000, 2.0)
  assert gin_files.scan([run], checks=False).macros["RANPAC_SIZE"].value == 10000
  message = "no settings 'gpu'; allowed are cpu, or none: the published values"
  with pytest.raises(gin_files.ConfigError, match=message):
    gin_files.scan([run], [f"{gin_files.SETTINGS}='gpu'"], checks=False)
