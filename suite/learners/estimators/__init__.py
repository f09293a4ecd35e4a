# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Estimators of the protocol lifelong that need scikit-learn, or TensorFlow's checkpoints."""
