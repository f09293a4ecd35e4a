# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Records of runs, and the views made from them: TensorBoard, tables and figures."""
