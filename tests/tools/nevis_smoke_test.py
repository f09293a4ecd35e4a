# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The tool that builds every data set of NEVIS'22 from generated archives."""

from __future__ import annotations

import pytest

import tfds_builders


def test_it_builds_the_data_sets_of_all_tasks(load_tool):
  names = load_tool("nevis_smoke").data_sets()
  assert len(names) == len(set(names)) == 97 and names[0] == "nevis/magellan_venus_volcanoes"


@pytest.mark.parametrize("name", ["nevis/semeion", "nevis/dtd"])
def test_an_archive_is_written_and_built_once(name, tmp_path, load_tool):
  nevis_smoke = load_tool("nevis_smoke")
  assert nevis_smoke.build(name, tmp_path) == name  # With a layout of ours, and by TFDS only.
  found = tfds_builders.status.inspect(name, tmp_path / "data")
  assert found.state == "prepared"
  before = [path.stat().st_mtime_ns for path in (tmp_path / "data").rglob("*") if path.is_file()]
  nevis_smoke.build(name, tmp_path)
  assert before == [p.stat().st_mtime_ns for p in (tmp_path / "data").rglob("*") if p.is_file()]
