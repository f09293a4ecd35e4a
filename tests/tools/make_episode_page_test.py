# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import os

import numpy as np
import pytest

from suite.data.episodes import episodes
from suite.data.episodes import task_types


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("make_episode_page")


def _source(kind, n, convention):
  labels = np.repeat(np.arange(12), 20)
  setting = task_types.named(kind, n, way=2, targets=1)
  made = episodes.Episodes(np.zeros([240, 1, 1, 1], np.uint8), labels, setting,
                           convention=convention)
  return made, labels


def test_a_class_of_two_labels_is_guessed(tool):
  # D under paper_apr: every class has two labels, and its images are the same in two sets.
  assert tool.ceiling(*_source("D", 4, "paper_apr"), 20) == (0.5, 0.0)
  assert tool.ceiling(*_source("D", 4, "spec"), 20) == (1.0, 0.0)


def test_a_target_that_was_shown_is_found(tool):
  most, leaked = tool.ceiling(*_source("A", 3, "paper_feb"), 200)
  # Each of 3 x 2 targets is one of the 2 other draws' images by 1 in 20 each.
  assert most == 1.0 and leaked == pytest.approx(2 / 20, abs=0.02)


@pytest.mark.skipif(not os.environ.get("LIFELONG_DATA_DIR"),
                    reason="$LIFELONG_DATA_DIR with a prepared cfsl_omniglot is not set")
def test_the_page_is_what_the_prepared_data_give(tool):
  assert tool.main(["--check", "--data_dir", os.environ["LIFELONG_DATA_DIR"]]) == 0
