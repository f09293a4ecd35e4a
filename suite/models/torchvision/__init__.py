# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Networks that exist for PyTorch, and the names of their weights in its checkpoints."""
