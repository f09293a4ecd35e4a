# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import weakref

from suite.system import host_memory


def test_the_smaller_of_machine_and_container_counts(tmp_path, monkeypatch):
  (tmp_path / "meminfo").write_text("MemTotal:  9000 kB\nMemAvailable:    4000 kB\n")
  monkeypatch.setattr(host_memory, "_SYSTEM", tmp_path / "meminfo")
  monkeypatch.setattr(host_memory, "_CONTAINER", tmp_path)
  assert host_memory.available_bytes() == 4000 * 1024
  (tmp_path / "memory.max").write_text("max\n")
  (tmp_path / "memory.current").write_text("700000\n")
  (tmp_path / "memory.stat").write_text("anon 500000\ninactive_file 150000\nactive_file 50000\n")
  assert host_memory.available_bytes() == 4000 * 1024
  (tmp_path / "memory.max").write_text("1000000\n")  # Its 200,000 bytes of files can be dropped.
  assert host_memory.available_bytes() == 500_000
  assert host_memory.total_bytes() == 1_000_000
  (tmp_path / "memory.max").write_text("max")
  assert host_memory.total_bytes() == 9000 * 1024
  (tmp_path / "memory.max").write_text("1000000")
  assert [host_memory.share(0.25, most) for most in (10**6, 99)] == [125_000, 99]


def test_what_holds_itself_is_freed():
  class Held:
    pass

  held = Held()
  held.itself, seen = held, weakref.ref(held)
  del held
  host_memory.collect()
  assert seen() is None
