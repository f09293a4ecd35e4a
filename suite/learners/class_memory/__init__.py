# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners on frozen features that keep more of a class than a mean or a row of weights."""
