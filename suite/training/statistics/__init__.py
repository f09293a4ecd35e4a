# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sums over frozen features that answer in closed form, one family a module."""
