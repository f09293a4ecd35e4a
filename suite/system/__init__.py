# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Services of the operating system: whole files, locks, child processes."""
