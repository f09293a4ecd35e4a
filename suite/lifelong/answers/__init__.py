# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Estimation on a 0/1 matrix of answers, [M models, N samples]."""
