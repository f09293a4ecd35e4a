# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from suite.compute import seeds


def test_the_same_on_any_machine():
  # Written down once: a change would change every result.
  assert seeds.derive(0, "event", 3) == (16411772, 371861895)


def test_names_are_told_apart_by_type_order_and_cut():
  values = [("a", "b"), ("ab",), ("b", "a"), ("1",), (1,), ()]
  assert len({seeds.derive(0, *v) for v in values}) == len(values)
  assert seeds.derive(0, "a") != seeds.derive(1, "a")


def test_a_child_continues_the_path():
  node = seeds.Seeds(7).child("event", 2)
  assert node.pair("x") == seeds.derive(7, "event", 2, "x")
  assert node.integer("x") == node.pair("x")[0]
  assert all(0 <= v < 2**31 for v in node.pair("x"))


def test_generators_repeat():
  a, b = (seeds.Seeds(1).generator("draw").integers(0, 100, 5) for _ in range(2))
  assert list(a) == list(b) == list(seeds.generator(1, "draw").integers(0, 100, 5))
