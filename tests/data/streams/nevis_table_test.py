# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of the stream against the counts of the paper."""

from __future__ import annotations

import collections

import pytest

from suite.data.streams import nevis_table


def test_the_full_stream_has_79_and_27_tasks_over_97_data_sets():
  lines = nevis_table.full()
  assert collections.Counter(line.role for line in lines) == {"meta_train": 79, "meta_test": 27}
  assert len(lines) == 106 and len({line.name for line in lines}) == 97
  assert {line.year >= 2019 for line in lines if line.role == "meta_test"} == {True}
  assert lines[0].key == "magellan_venus_volcanoes" and lines[-1].key == "synthetic_covid19_xray"


def test_nine_data_sets_come_twice_and_none_three_times():
  repeated = {line.name for line in nevis_table.full() if line.occurrence == 2}
  assert repeated == {"olivetti_face", "brodatz", "mnist", "caltech101", "scenes15", "coil20",
                      "coil100", "imagenet2012", "oxford_flowers102"}
  assert max(line.occurrence for line in nevis_table.full()) == 2


def test_multi_label_tasks_are_those_of_the_reference_code():
  assert {line.name for line in nevis_table.full() if line.kind == "multi_label"} == {
      "voc2007", "iaprtc12", "voc2012", "voc_actions", "celeb_a", "sun_attributes", "awa2", "biwi",
      "nih_chest_xray"}


def test_short_has_its_own_order_and_years():
  lines = nevis_table.short()
  assert [line.key for line in lines[:3]] == ["coil100", "mnist", "pascal_voc2005"]
  assert lines[19].key == "mnist@2" and lines[19].year == 2018
  assert collections.Counter(line.role for line in lines) == {"meta_train": 24, "meta_test": 5}
  assert len(lines) == 29 and len({line.name for line in lines}) == 28


@pytest.mark.parametrize("variant", ["full", "short", "tiny", "small"])
def test_years_never_go_back(variant):
  years = [line.year for line in nevis_table.select(variant)]
  assert years == sorted(years)


def test_occurrences_count_within_the_chosen_stream():
  only = nevis_table.select(["mnist@2"])[0]
  assert (only.key, only.year) == ("mnist", 2015)
  assert [line.key for line in nevis_table.select(["mnist", "mnist@2"])] == ["mnist", "mnist@2"]


def test_tiny_is_that_of_the_reference_code():
  assert [(line.key, line.year, line.role) for line in nevis_table.select("tiny")] == [
      ("mnist", 2004, "meta_train"), ("caltech101", 2010, "meta_train"),
      ("voc2012", 2014, "meta_train"), ("cifar100", 2018, "meta_train"),
      ("mnist@2", 2018, "meta_train"), ("melanoma", 2018, "meta_train"),
      ("caltech_birds2011", 2020, "meta_test")]


def test_each_task_has_the_facts_of_appendix_l():
  lines = nevis_table.full()
  assert all(line.domain and line.size and all(line.resolution) for line in lines)
  assert (lines[2].domain, lines[2].size, lines[2].resolution) == ("satellite", 3764, (3, 3))
  assert collections.Counter(line.domain for line in lines)["object"] == 51


@pytest.mark.parametrize("variant, num", [
    ("without_imagenet", 78), ("large", 40), ("random_40", 40), ("major_domains", 43),
    ("random_43", 43), ("without_first_30", 49), ("without_last_30", 49),
    ("without_random_30", 49)])
def test_the_variants_of_table_5_change_the_meta_train_part_only(variant, num):
  full, lines = nevis_table.full(), nevis_table.select(variant, seed=3)
  places = {(line.name, line.year): line.role for line in full}
  assert {(line.name, line.year): line.role for line in lines}.items() <= places.items()
  assert [line.role for line in lines] == ["meta_train"] * num + ["meta_test"] * 27
  assert [line.name for line in lines[num:]] == [line.name for line in full[79:]]
  assert len({line.key for line in lines}) == len(lines)
  again = nevis_table.select(variant, seed=4)
  assert (again != lines) == (variant in nevis_table.DRAWN)
  assert nevis_table.select(variant, seed=3) == lines


def test_variants_remove_what_their_names_say():
  full = nevis_table.full()
  names = lambda variant: [line.name for line in nevis_table.select(variant)]
  assert [n for n in names("without_imagenet") if n == "imagenet2012"] == ["imagenet2012"]
  assert names("without_first_30") == [line.name for line in full[30:]]
  assert names("without_last_30") == [line.name for line in full[:49] + full[79:]]
  assert {line.domain for line in nevis_table.select("major_domains")[:43]} == {"object", "scene"}
  sizes = [line.size for line in nevis_table.select("large")[:40]]
  assert sum(size >= 10_000 for size in sizes) == 24


@pytest.mark.parametrize("within_years", [True, False])
def test_shuffling_keeps_tasks_with_their_years_and_roles(within_years):
  full = nevis_table.full()
  lines = nevis_table.shuffled(full, 1, within_years=within_years)
  facts = lambda some: sorted((line.name, line.year, line.role) for line in some)
  assert facts(lines) == facts(full) and [x.name for x in lines] != [x.name for x in full]
  assert ([line.year for line in lines] == [line.year for line in full]) == within_years
  assert lines == nevis_table.shuffled(full, 1, within_years=within_years)
  assert lines != nevis_table.shuffled(full, 2, within_years=within_years)
  seen: set = set()
  for line in lines:  # Occurrences count in the order of delivery.
    assert line.occurrence == 1 + (line.name in seen)
    seen.add(line.name)


def test_a_stop_year_keeps_earlier_years():
  full = nevis_table.full()
  assert len(nevis_table.before(full, 2019)) == 79 and len(nevis_table.before(full, 1998)) == 2
  for year in (1992, 2022, 1066, "2015", None):
    with pytest.raises(ValueError, match=r"stop_year=.* tasks are of 1992 to 2021; .* Allowed are "
                                         "1993 to 2021, or None"):
      nevis_table.before(full, year)


def test_small_ends_with_a_meta_test_task():
  assert [line.role for line in nevis_table.select("small")] == ["meta_train"] * 5 + ["meta_test"]


@pytest.mark.parametrize("variant, message", [
    ("long", "Unknown NEVIS stream 'long'; allowed are 'full', 'short', 'tiny', 'small'"),
    (["mnist", "mnost"], r"Unknown NEVIS tasks \['mnost'\]; the full stream has: aberdeen"),
    ([], "Unknown NEVIS tasks"),
])
def test_unknown_streams_and_tasks_are_refused(variant, message):
  with pytest.raises(ValueError, match=message):
    nevis_table.select(variant)
