# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image sets, streams, episodes and sequences: the data of the protocols."""
