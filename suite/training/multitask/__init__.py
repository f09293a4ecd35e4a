# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Training on a task together with earlier ones: which ones, their data, their share of a step."""
