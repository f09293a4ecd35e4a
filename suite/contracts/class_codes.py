# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Labels of examples of several tasks, whose classes are numbered on from task to task.

A row of codes, uint8 [C], has an entry for each class of all tasks. It says which classes belong to
the example's own task, which of them are present, and of which kind the task is:

    FOREIGN           a class of another task
    ABSENT, PRESENT   a class of the example's own task, which is single-label
    ABSENT + MULTI, PRESENT + MULTI   the same of a multi-label task
"""

from __future__ import annotations

FOREIGN, ABSENT, PRESENT = 0, 1, 2
MULTI = 2
