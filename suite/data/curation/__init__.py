# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""From images with time stamps to a data set in the layout of CLEAR, step by step."""
