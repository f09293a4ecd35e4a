# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What processes that plan cells of a table begin with; see `multiprocessing`'s fork server.

The server imports this module once; each process is a fork of it, which saves what the imports
take. TensorFlow comes first, since what it prints while it is imported is held back.
"""

from suite.running import this_process

this_process.import_tensorflow()

from suite.running import dry_run  # noqa: E402,F401
