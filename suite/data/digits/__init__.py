# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scikit-learn's handwritten digits as data for every protocol."""
