# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import pytest

from suite.data.episodes import task_types


@pytest.mark.parametrize("name, n, interval, overwrite, num_blocks, num_labels", [
    ("FSL", 1, 1, False, 1, 5),
    ("A", 3, 3, True, 1, 5),
    ("B", 3, 1, False, 3, 15),
    ("C", 10, 1, True, 10, 5),
    ("D", 4, 2, False, 2, 10),
    ("D", 8, 2, False, 4, 20),
])
def test_named_types_are_those_of_the_paper(name, n, interval, overwrite, num_blocks, num_labels):
  made = task_types.named(name, n)
  assert made == task_types.Setting(5, 1, 5, n, interval, overwrite)
  assert (made.num_blocks, made.num_labels, made.type_name) == (num_blocks, num_labels, name)


def test_type_d_may_have_another_interval():
  # The example of section 3.2: 5 classes, 10 sets, an interval of 5: 10 classes of 5 samples.
  made = task_types.named("D", 10, class_change_interval=5)
  assert made == task_types.Setting(5, 1, 5, 10, 5, False)
  assert made.num_labels == 10 and made.class_change_interval * made.shot == 5
  assert made.type_name == "D"


@pytest.mark.parametrize("name, n, interval, message", [
    ("B", 4, 2, "=2 is given for task type B, which has 1. Leave it out, or choose type D"),
    ("A", 3, 3, "is given for task type A, which has 3"),
    ("D", 4, 0, "class_change_interval=0; allowed are integers from 1 on"),
    ("D", 5, 5, "Choose 1 < class_change_interval < num_support_sets"),
    ("D", 5, 1, "Choose 1 < class_change_interval < num_support_sets"),
])
def test_an_interval_is_type_ds_alone(name, n, interval, message):
  with pytest.raises(ValueError, match=message):
    task_types.named(name, n, class_change_interval=interval)


@pytest.mark.parametrize("n, interval, overwrite, name", [
    (1, 1, True, "FSL"), (2, 2, True, "A"), (4, 2, True, "other"),
    # Type D is any 1 < I < S (equations 5 and 6); section 3.2 has 10 sets and I = 5.
    (10, 5, False, "D"), (6, 3, False, "D"), (2, 2, False, "other"), (3, 3, False, "other"),
])
def test_any_setting_has_a_type_name(n, interval, overwrite, name):
  assert task_types.Setting(2, 1, 1, n, interval, overwrite).type_name == name


@pytest.mark.parametrize("values, message", [
    (dict(way=1), "way=1; allowed are integers from 2 on. Choose way >= 2"),
    (dict(shot=0), "shot=0; allowed are integers from 1 on"),
    (dict(targets=0), "targets=0; allowed"),
    (dict(way=2.0), r"way=2\.0; allowed are integers"),
    (dict(num_support_sets=True), "num_support_sets=True; allowed"),
    (dict(class_change_interval=0), "class_change_interval=0; allowed are integers from 1 on"),
    (dict(num_support_sets=5, class_change_interval=2),
     "num_support_sets=5 is not a multiple of class_change_interval=2.* num_support_sets=4 or "
     "6, or an interval that divides it"),
    (dict(num_support_sets=1, class_change_interval=2), "Choose num_support_sets=2, or"),
])
def test_bad_settings_are_refused(values, message):
  with pytest.raises(ValueError, match=message):
    task_types.Setting(**values)


@pytest.mark.parametrize("name, n, message", [
    ("E", 1, "Unknown task type 'E'; allowed are FSL, A, B, C, D"),
    ("FSL", 3, "FSL has 1 support set, got num_support_sets=3"),
    ("D", 2, "=2 and class_change_interval=2. Choose 1 < class_change_interval < num_support_sets"),
    ("D", 3, "not a multiple of class_change_interval=2"),
    ("A", 0, "num_support_sets=0; allowed"),
])
def test_bad_names_are_refused(name, n, message):
  with pytest.raises(ValueError, match=message):
    task_types.named(name, n)
