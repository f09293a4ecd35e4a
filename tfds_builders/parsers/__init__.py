# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parsers, one module per layout of archives: `parse` reads one, `write_fixture` writes one."""
