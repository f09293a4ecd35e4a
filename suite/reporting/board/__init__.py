# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What TensorBoard shows of runs besides the plain numbers of their records."""
