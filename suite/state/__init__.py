# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""State of runs that resume: journal, snapshots, stored weights, the learner's context."""
