# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What gradient learners minimize: cross-entropy, and how earlier phases are remembered in it."""
