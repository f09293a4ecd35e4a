# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a run costs and where it runs: ledger, FLOP counter, seeds, devices."""
