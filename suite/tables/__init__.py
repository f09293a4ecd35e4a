# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A table of runs: rows x columns x seeds, each cell an ordinary run."""
