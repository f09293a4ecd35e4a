# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.data.published import published_plans
from suite.data.published import published_sequences
from tests.shared import published_fluid

_LINES = [f"data_256/{'ab'[label // 2]}/{place}/{i:08d}.jpg {label}"
          for label, place in enumerate(["airfield", "attic", "bar", "beach"])
          for i in range(4 - label)]


def test_all_images_come_once_and_base_classes_first(tmp_path):
  plan = published_plans.places_lt_of_list("\n".join(_LINES), "list", num_base=1, num_classes=4)
  planned = plan.planned
  assert len(plan.names) == 10 and planned.num_base == 1
  label_of = {line.split()[0]: int(line.split()[1]) for line in _LINES}
  np.testing.assert_array_equal(
      plan.slots[planned.labels], [label_of[name] for name in plan.names])
  other = published_plans.places_lt_of_list(
    "\n".join(_LINES), "list", num_base=1, num_classes=4, seed=1
  )
  assert other.names.tolist() != plan.names.tolist()
  assert sorted(other.names) == sorted(plan.names)


def test_images_whose_base_names_repeat_are_found_by_their_folders(tmp_path, monkeypatch):
  (tmp_path / published_plans.LIST).write_text("\n".join(_LINES))
  for i, line in enumerate(_LINES):
    path = tmp_path / line.split()[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(published_fluid.picture(int(line.split()[1]), i, (40, 40)))
  sequence = published_sequences.sequence("places_lt", folder=str(tmp_path))
  samples = published_sequences.samples("places_lt", folder=str(tmp_path), size=8, resize=9)
  assert (len(sequence), sequence.num_base_classes, sequence.num_classes) == (10, 91, 365)
  assert samples.evaluate(sequence.images(0, 3)).shape == (3, 8, 8, 3)
  read = samples.reader.read(np.arange(10))
  files = {line.split()[0]: published_fluid.picture(int(line.split()[1]), i, (40, 40))
           for i, line in enumerate(_LINES)}
  for data, identity in zip(read, sequence.ids):
    assert data == files[identity.split("/", 2)[2]]


@pytest.mark.parametrize("text, message", [
    ("a/b.jpg 0\na/c.jpg", "list, line 2: a path and a label"), ("", "a path and a label"),
    ("a/b.jpg 400", "labels up to 400"), ("a/b.jpg 1\na/b.jpg 2", "no image can be told")])
def test_another_list_is_refused(text, message):
  with pytest.raises(ValueError, match=message):
    published_plans.places_lt_of_list(text, "list")


def test_the_stand_in_has_as_many_images_as_the_list():
  plan = published_plans.stand_in_places_lt()
  counts = plan.planned.class_counts()
  assert counts.sum() == 62_500 and counts.max() == 4980 and len(plan.slots) == 365
