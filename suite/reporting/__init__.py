# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Records are the truth; TensorBoard, tables and figures are views."""
