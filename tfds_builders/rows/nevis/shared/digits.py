# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: the classes of data sets of digits."""

CLASS_NAMES = tuple("0123456789")
