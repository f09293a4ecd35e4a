# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID's published sequences: their plans, and their images, read as they are delivered."""
