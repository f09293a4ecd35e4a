# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Curation of dated images into a reviewed benchmark in time buckets (CLEAR, section 3)."""
