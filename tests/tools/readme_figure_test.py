# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The figure of README.md is drawn from the committed tables."""

import pytest

PAGE = """**x/y: NEVIS mean error all against FLOPs**

| method | mean error all, % | deviation, % | FLOPs with answers | on the front |
| --- | ---: | ---: | ---: | ---: |
| ncm | 24.18 | 0.00 | 817 GFLOP | yes |
| ewc | 35.57 | 1.32 | 6.77 TFLOP |  |

- A note.
"""


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("readme_figure")


def test_tables_are_read(tool):
  assert tool.tables(PAGE) == {"NEVIS": ("mean error all", [
      ("ncm", 24.18, 817e9, True), ("ewc", 35.57, 6.77e12, False)])}


def test_the_figure_is_that_of_the_tables(tool, capsys):
  assert tool.main(["--check"]) == 0, capsys.readouterr().err
