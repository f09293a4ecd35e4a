# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLIP (Radford et al., 2021): image tower, text tower, byte-pair encoder, weights from files."""
