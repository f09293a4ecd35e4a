# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The ways in which data is delivered to a learner, as `Context.delivery` names them.

    tasks      separate tasks, each with its classes; after its turn a task is tested
    buckets    portions of one task in turn, all with the same classes
    sequence   base classes at once, then single samples, with offline phases between them
    episodes   few-shot episodes: small support sets, then targets
    portions   portions of the updates of one pretraining

A learner reads it in `begin` and refuses what it cannot serve. A learner that can serve only some
of them, whatever its arguments, names these in an attribute `deliveries`; a protocol reads that
before anything is trained (see `refusals`).
"""

from __future__ import annotations

TASKS = "tasks"
BUCKETS = "buckets"
SEQUENCE = "sequence"
EPISODES = "episodes"
PORTIONS = "portions"
DELIVERIES = (TASKS, BUCKETS, SEQUENCE, EPISODES, PORTIONS)
