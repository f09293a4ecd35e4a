# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs from Python and from the command line; `suite.run` and its relatives."""
