# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import json


def test_a_pretraining_is_added_and_divided_by_hand(tmp_path, load_tool):
  pretraining_costs = load_tool("pretraining_costs")
  for name, sizes in {"a": {"train": 40, "test": 10}, "b": {"train": 50}}.items():
    folder = tmp_path / name
    folder.mkdir()
    (folder / "features.json").write_text(json.dumps({"splits": {
        split: {"num_examples": num, "of": 1000} for split, num in sizes.items()}}))
  column = pretraining_costs.column(["NEVIS", "4", str(tmp_path / "a"), str(tmp_path / "b")])
  assert column == ("NEVIS", 4, 100)
  # 100 images of 2 GFLOP; a pretraining of 10 TFLOP: (0.8 + 0.2 + 10) TFLOP / 4 tasks.
  made = pretraining_costs.rows({"er": 8e11, "odd": None}, 100 * 2e9, 1e13, 4)
  assert made == [("er", "800 GFLOP", "1.00 TFLOP", "11.0 TFLOP", "2.75 TFLOP"),
                  ("odd", "-", "-", "-", "-")]
