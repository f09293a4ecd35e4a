# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The schema of records: each key has one name, and no module quotes it beside."""

from __future__ import annotations

import ast
import pathlib

from suite.metrics import schema

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = {name: value for name, value in vars(schema).items()
         if name.isupper() and isinstance(value, str)}
# Keys of records alone; others, such as "task", are words of summaries and files, too.
ALONE = {
    schema.TASK_KEY, schema.TRAINED_BUCKET, schema.BUCKET_NAME, schema.FIRST_STEP,
    schema.VALIDATION_ACCURACY, schema.ERROR_INTERVAL, schema.TEST_SIZE, schema.KNOWN_ANSWERS,
    schema.OCCURRENCE, schema.DATASET_VERSION, schema.CLOSED_CORRECT, schema.DEV_SIZE,
    schema.TRAIN_SIZE, schema.VALIDATION_SIZE, schema.UNLABELLED_SIZE, schema.SEEN_SO_FAR,
    schema.CORRECT_SO_FAR, schema.WINDOW_ACCURACY, schema.REVEALED_SO_FAR, schema.AVERAGE_ACCURACY,
    schema.CLASSES_SEEN, schema.ACCURACY_KNOWN, schema.NUM_KNOWN_CLASSES, schema.SEEN_UNKNOWN,
    schema.LEFT_OUT_SAMPLES, schema.UPDATE_MACS, schema.UPDATES_REFUSED, schema.BEST_TRIAL,
    schema.TASK_KIND, schema.EVENT_FLOPS, schema.EVENT_MACS,
    schema.RESIZED_IMAGES, schema.ESTIMATED_ACCURACY}


def test_each_key_has_one_name_a_meaning_and_a_kind_of_event():
  assert sorted(NAMES.values()) == sorted(schema.KEYS)
  assert set(schema.KEYS) == set().union(*(kind.__annotations__ for kind in schema.KINDS))
  assert all(key.meaning for key in schema.KEYS.values())
  assert len({kind.__name__ for kind in schema.KINDS}) == len(schema.KINDS)


def test_no_other_module_quotes_a_key_of_records_alone():
  for path in sorted((ROOT / "suite").rglob("*.py")):
    text = path.read_text()
    if path.name == "schema.py" or path.parts[-2] == "learners":
      continue
    if any(f'"{key}"' in text for key in ALONE):
      quoted = [f"line {node.lineno}: {node.value}" for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Constant) and node.value in ALONE]
      assert not quoted, f"{path}, {', '.join(quoted)}: take the name from suite/metrics/schema.py"


def test_events_are_told_by_their_keys():
  tested, step, phase = {"kind": "predict"}, {"kind": "predict", "first_step": 0}, {"phase": 1}
  records = [{"kind": "train"}, tested, step, phase]
  assert schema.of_tests(records) == [tested, step]
  assert schema.of_steps(records) == [step] and schema.of_phases(records) == [phase]
