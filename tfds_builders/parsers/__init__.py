# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Shapes of archives, one module each: `parse` reads it, `write_fixture` writes a tiny one."""
