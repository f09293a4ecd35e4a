# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parts of a hyper-parameter search: proposals, ensembles of trials."""
