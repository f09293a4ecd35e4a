# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Objectives of gradient learners: cross-entropy, and terms that preserve earlier phases."""
