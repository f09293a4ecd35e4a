# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cost accounting, distribution strategies and seeds: what every run needs below its learner."""
