# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The spool: the reference's draw, images in two splits, damaged images."""

import types

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders import spool as spool_lib
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib


def _row(**changes):
  layout = row_lib.Layout(types.SimpleNamespace(), (row_lib.File("x"),), args={"a": 1})
  facts = {"layouts": (layout,), "splits": splits.POOLED, "num_classes": 2, "channels": 3,
           "citation": "", "homepage": "", **changes}
  return row_lib.Row("toy", title="Toy", **facts)


def _image(seed):
  return images.png(fixtures.pixels((3, 3, 3), seed))


def _examples(count, split=splits.POOL, first=0):
  """Keys run backwards, so that the stored order is not the sorted one."""
  return [example.Example(split, f"k{999 - i}", i % 2, _image(i), f"image {i}")
          for i in range(first, first + count)]


def _filled(row, examples, tmp_path):
  spool = spool_lib.Spool(row, tmp_path)
  spool.fill(examples, {})
  return spool, {split: [one.key for one in spool.read(split)] for split in spool.split_names}


def _reference(count):
  """The draw as the reference's documentation gives it, written out."""
  random = np.random.RandomState(0)
  names = ("dev", "dev_test", "test", "train")
  return [names[np.argmax(random.multinomial(1, (0.12, 0.12, 0.20, 0.56)))] for _ in range(count)]


@pytest.mark.parametrize("order", [row_lib.STORED, row_lib.SORTED])
def test_a_paper_variant_is_drawn_by_position(tmp_path, order):
  row = _row(paper={splits.POOL: paper_draws.POOLED}, paper_order=order)
  base, paper = row_lib.variants(row)
  assert (base, paper.name, paper.base_name) == (row, "toy_paper", "toy")
  examples = _examples(70)
  spool, found = _filled(paper, examples, tmp_path)
  assert spool.split_names == ["train", "dev", "validation", "test"]
  keys = [one.key for one in examples]
  keys = sorted(keys) if order == row_lib.SORTED else keys
  drawn = dict(zip(keys, _reference(70)))
  assert sum(len(part) for part in found.values()) == 70
  for split, part in found.items():
    assert part and {drawn[key] for key in part} == {
        "dev_test" if split == "validation" else split}


def test_a_compat_variant_changes_what_it_says_and_shares_the_draw_of_its_row(tmp_path):
  row = _row(compat=row_lib.Compat("labels off by one", args={"b": 2}, num_classes=3))
  _, compat = row_lib.variants(row)
  assert compat.layouts[0].args == {"a": 1, "b": 2} and compat.num_classes == 3
  assert compat.notes == "labels off by one" and compat.name == "toy_paper_compat"
  _, found = _filled(row, _examples(60), tmp_path)
  assert _filled(compat, _examples(60), tmp_path)[1] == found


def test_an_image_of_two_splits_stays_in_the_later_one_only(tmp_path):
  row = _row(splits={name: splits.whole(split) for name, split in (
      ("train", "train"), ("val", "validation"), ("test", "test"))})
  copies = [example.Example(split, key, 0, _image(seed), key) for split, key, seed in (
      ("train", "a", 1), ("train", "a again", 1), ("train", "b", 2), ("train", "c", 3),
      ("val", "b", 2), ("val", "d", 4), ("test", "a", 1), ("test", "e", 5))]
  copies = [one._replace(key=f"{one.split}/{one.key}") for one in copies]
  spool, found = _filled(row, copies, tmp_path)
  assert found == {"train": ["train/c"], "validation": ["val/b", "val/d"],
                   "test": ["test/a", "test/e"]}
  assert spool.digests.removed == {"train": 3, "validation": 0, "test": 0}
  assert spool.counts == {"train": 4, "val": 2, "test": 2}


def test_a_few_broken_images_are_left_out_and_named(tmp_path):
  examples = _examples(400)
  _, whole = _filled(_row(), examples, tmp_path)
  examples[7] = examples[7]._replace(image=b"broken")
  examples[300] = examples[300]._replace(image=examples[300].image[:40])
  spool, found = _filled(_row(), examples, tmp_path)
  assert sum(len(part) for part in found.values()) == 398 and spool.counts == {"all": 400}
  # The others stay in their splits: another decoder does not change the data.
  assert found == {split: [key for key in part if key not in ("k992", "k699")]
                   for split, part in whole.items()}
  assert len(spool.unreadable) == 2
  assert spool.unreadable[0].startswith("image 7 is not a JPEG or PNG image")
  assert spool.unreadable[1].startswith("image 300 cannot be decoded")


def test_many_broken_images_are_an_error(tmp_path):
  examples = [one._replace(image=b"broken") if i < 3 else one
              for i, one in enumerate(_examples(400))]
  with pytest.raises(errors.DataError, match="3 of 400 images of toy cannot be decoded; at most "
                     "0.5% may be left out. The first: image 0 is not"):
    _filled(_row(), examples, tmp_path)


def test_an_example_without_a_label_has_minus_one_and_keeps_extra_features(tmp_path):
  one = example.Example(splits.POOL, "k", None, _image(0), "w", extra={"domain": "clean"})
  spool, _ = _filled(_row(features={"domain": "text"}), [one], tmp_path)
  records = [record for split in spool.split_names for record in spool.read(split)]
  assert [(record.label, record.extra) for record in records] == [(-1, {"domain": "clean"})]
