# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Memories of past examples, of a fixed capacity: what a learner keeps to train on again."""
