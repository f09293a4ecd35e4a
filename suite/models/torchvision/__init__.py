# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Networks as torchvision has them, and the names of their weights in PyTorch's checkpoints."""
