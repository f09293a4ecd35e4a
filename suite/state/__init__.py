# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What lets a run stop and resume: journal, snapshots, stored weights, the learner's context."""
