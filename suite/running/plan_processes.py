# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The imports of the processes that plan cells of a table.

`multiprocessing`'s fork server imports this module once, and each process is a fork of the server,
which saves the time of the imports. TensorFlow comes first, since its messages are held back.
"""

from suite.running import this_process

this_process.import_tensorflow()

from suite.running import dry_run  # noqa: E402,F401
